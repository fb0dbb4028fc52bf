//! What each source says about the daemon.

use std::path::PathBuf;

use super::super::setting::{Origin, Setting};
use super::super::user_file::SourceFile;
use super::token::TokenSource;
use crate::args::{DaemonOptions, ModeName, PromptArgs, ServeArgs};

const URL_VARIABLE: &str = "QWEN_IDE_DAEMON_URL";
const TOKEN_VARIABLE: &str = "QWEN_SERVER_TOKEN";

/// What one source says about the daemon.
#[derive(Clone, Debug, Default)]
pub(crate) struct DaemonLayer {
    pub(super) enabled: Option<Setting<bool>>,
    pub(super) url: Option<Setting<String>>,
    pub(super) token: Option<Setting<TokenSource>>,
    pub(super) mode: Option<Setting<String>>,
    pub(super) model: Option<Setting<String>>,
    /// What it says and nobody can understand, in words.
    pub(super) mistake: Option<Setting<String>>,
}

impl DaemonLayer {
    /// The settings of the table `[daemon]`.
    pub(in super::super) const KEYS: [&str; 6] =
        ["enabled", "url", "token", "token-file", "mode", "model"];

    /// The table `[daemon]` of the person's file.
    pub(in super::super) fn from_table(table: &SourceFile<'_>) -> DaemonLayer {
        let mut mistake = None;
        let text = known(table.value::<String>("token", "a string"), &mut mistake);
        let file = table.value::<PathBuf>("token-file", "the path of a file");
        let file = known(file, &mut mistake);
        let token = match (text, file) {
            (Some(text), Some(_)) => Some(text.map(|_| TokenSource::Ambiguous)),
            (Some(text), None) => Some(text.map(TokenSource::Text)),
            (None, Some(file)) => Some(file.map(TokenSource::File)),
            (None, None) => None,
        };
        let enabled = match table.value("enabled", "true or false") {
            Ok(enabled) => enabled,
            Err(wrong) => return DaemonLayer::unreadable(wrong),
        };
        DaemonLayer {
            enabled,
            url: known(table.value("url", "a string"), &mut mistake),
            token,
            mode: known(table.value("mode", "a string"), &mut mistake),
            model: known(table.value("model", "a string"), &mut mistake),
            mistake,
        }
    }

    /// Nobody can tell whether conversations are wanted. They count as wanted, because otherwise the
    /// mistake would be kept from the person.
    pub(in super::super) fn unreadable(mistake: Setting<String>) -> DaemonLayer {
        DaemonLayer {
            enabled: Some(Setting {
                value: true,
                origin: mistake.origin.clone(),
            }),
            mistake: Some(mistake),
            ..DaemonLayer::default()
        }
    }

    /// What nobody can understand in it, in words.
    pub(in super::super) fn mistake(&self) -> Option<&Setting<String>> {
        self.mistake.as_ref()
    }

    /// A blank variable counts as not set.
    pub(in super::super) fn from_variables(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> DaemonLayer {
        let read = |name| variable(name).filter(|value| !value.trim().is_empty());
        let token = read(TOKEN_VARIABLE).map(TokenSource::Text);
        DaemonLayer {
            url: Setting::from_source(read(URL_VARIABLE), &Origin::Variable(URL_VARIABLE)),
            token: Setting::from_source(token, &Origin::Variable(TOKEN_VARIABLE)),
            ..DaemonLayer::default()
        }
    }

    /// Whoever types a flag about conversations wants to have them.
    pub(in super::super) fn from_serve_flags(flags: &ServeArgs) -> DaemonLayer {
        let named = Origin::Flag("--daemon-url");
        let (mode, model) = (
            Origin::Flag("--daemon-mode"),
            Origin::Flag("--daemon-model"),
        );
        let typed = [
            (flags.daemon, &Origin::Flag("--daemon")),
            (flags.daemon_url.is_some(), &named),
            (flags.daemon_mode.is_some(), &mode),
            (flags.daemon_model.is_some(), &model),
        ];
        let first = typed.into_iter().find(|(is_typed, _)| *is_typed);
        DaemonLayer {
            enabled: first.and_then(|(_, origin)| Setting::from_source(Some(true), origin)),
            url: Setting::from_source(flags.daemon_url.clone(), &named),
            mode: Setting::from_source(flags.daemon_mode.map(ModeName::id), &mode),
            model: Setting::from_source(flags.daemon_model.clone(), &model),
            ..DaemonLayer::default()
        }
    }

    /// An editor that names a daemon switches conversations on, unless it says otherwise.
    pub(in super::super) fn from_editor(options: &editor::DaemonOptions) -> DaemonLayer {
        let enabled = options.enabled.or(options.url.is_some().then_some(true));
        let token = options.token_file.clone().map(TokenSource::File);
        let mistake = (!options.mistakes.is_empty()).then(|| options.mistakes.join("; "));
        DaemonLayer {
            enabled: Setting::from_source(enabled, &Origin::Editor),
            url: Setting::from_source(options.url.clone(), &Origin::Editor),
            token: Setting::from_source(token, &Origin::Editor),
            mode: Setting::from_source(options.mode.clone(), &Origin::Editor),
            model: Setting::from_source(options.model.clone(), &Origin::Editor),
            mistake: Setting::from_source(mistake, &Origin::Editor),
        }
    }

    /// Whether it switches conversations on or off.
    pub(crate) fn switches(&self) -> Option<bool> {
        self.enabled.as_ref().map(|enabled| enabled.value)
    }

    /// The flags of `outrigger daemon`, and those of its command that can start a conversation.
    pub(super) fn from_daemon_flags(
        flags: &DaemonOptions,
        prompt: Option<&PromptArgs>,
    ) -> DaemonLayer {
        let token = flags.token_file.clone().map(TokenSource::File);
        let mode = prompt.and_then(|prompt| prompt.mode).map(ModeName::id);
        let model = prompt.and_then(|prompt| prompt.model.clone());
        DaemonLayer {
            url: Setting::from_source(flags.url.clone(), &Origin::Flag("--url")),
            token: Setting::from_source(token, &Origin::Flag("--token-file")),
            mode: Setting::from_source(mode, &Origin::Flag("--mode")),
            model: Setting::from_source(model, &Origin::Flag("--model")),
            ..DaemonLayer::default()
        }
    }
}

/// What a source says, if it can be understood. The first mistake is kept.
fn known<T>(
    said: Result<Option<Setting<T>>, Setting<String>>,
    mistake: &mut Option<Setting<String>>,
) -> Option<Setting<T>> {
    said.unwrap_or_else(|wrong| {
        mistake.get_or_insert(wrong);
        None
    })
}
