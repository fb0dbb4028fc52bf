//! Which daemon, and the token for it.
//!
//! The token is never an argument, which everybody on the machine could read. The workspace's own
//! file has no say in this: it could send prompts elsewhere.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::invalid;
use super::setting::{Origin, Setting};
use super::user_file::{self, SourceFile};
use crate::args::{DaemonOptions, ServeArgs};
use crate::failure::Failure;
use ::daemon::{Address, AddressError, DaemonClient, Token};

/// Larger files are not tokens.
const LARGEST: u64 = 1 << 16;
const URL_VARIABLE: &str = "QWEN_IDE_DAEMON_URL";
const TOKEN_VARIABLE: &str = "QWEN_SERVER_TOKEN";

/// Where a token is. What is wrong with it is said when it is needed.
#[derive(Clone)]
enum TokenSource {
    Text(String),
    File(PathBuf),
    /// Both are given, and nobody can tell which was meant.
    Ambiguous,
}

impl fmt::Debug for TokenSource {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenSource::Text(_) => f.write_str("Text"),
            TokenSource::File(path) => f.debug_tuple("File").field(path).finish(),
            TokenSource::Ambiguous => f.write_str("Ambiguous"),
        }
    }
}

/// What one source says about the daemon.
#[derive(Debug, Default)]
pub(crate) struct DaemonLayer {
    enabled: Option<Setting<bool>>,
    url: Option<Setting<String>>,
    token: Option<Setting<TokenSource>>,
}

impl DaemonLayer {
    /// The settings of the table `[daemon]`.
    pub(super) const KEYS: [&str; 4] = ["enabled", "url", "token", "token-file"];

    /// The table `[daemon]` of the person's file.
    pub(super) fn from_table(table: &SourceFile<'_>) -> Result<DaemonLayer, Failure> {
        let text = table.get::<String>("token", "a string")?;
        let file = table.get::<PathBuf>("token-file", "the path of a file")?;
        let token = match (text, file) {
            (Some(text), Some(_)) => Some(text.map(|_| TokenSource::Ambiguous)),
            (Some(text), None) => Some(text.map(TokenSource::Text)),
            (None, Some(file)) => Some(file.map(TokenSource::File)),
            (None, None) => None,
        };
        Ok(DaemonLayer {
            enabled: table.get("enabled", "true or false")?,
            url: table.get("url", "a string")?,
            token,
        })
    }

    /// A blank variable counts as not set.
    pub(super) fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> DaemonLayer {
        let read = |name| variable(name).filter(|value| !value.trim().is_empty());
        let token = read(TOKEN_VARIABLE).map(TokenSource::Text);
        DaemonLayer {
            enabled: None,
            url: Setting::from_source(read(URL_VARIABLE), &Origin::Variable(URL_VARIABLE)),
            token: Setting::from_source(token, &Origin::Variable(TOKEN_VARIABLE)),
        }
    }

    /// Naming a daemon switches it on.
    pub(super) fn from_serve_flags(flags: &ServeArgs) -> DaemonLayer {
        let named = Origin::Flag("--daemon-url");
        let enabled = Setting::from_source(flags.daemon.then_some(true), &Origin::Flag("--daemon"));
        let implied = flags.daemon_url.is_some().then_some(true);
        DaemonLayer {
            enabled: enabled.or_else(|| Setting::from_source(implied, &named)),
            url: Setting::from_source(flags.daemon_url.clone(), &named),
            token: None,
        }
    }

    /// An editor can switch the daemon on. Off is its default, and then it says nothing.
    pub(super) fn from_editor(daemon: bool) -> DaemonLayer {
        DaemonLayer {
            enabled: Setting::from_source(daemon.then_some(true), &Origin::Editor),
            ..DaemonLayer::default()
        }
    }

    fn from_daemon_flags(flags: &DaemonOptions) -> DaemonLayer {
        let token = flags.token_file.clone().map(TokenSource::File);
        DaemonLayer {
            enabled: None,
            url: Setting::from_source(flags.url.clone(), &Origin::Flag("--url")),
            token: Setting::from_source(token, &Origin::Flag("--token-file")),
        }
    }
}

/// What is set about the daemon. Nothing of it is checked before it is needed.
#[derive(Clone, Debug)]
pub(crate) struct DaemonSettings {
    /// Whether pages and editors are offered conversations.
    pub(crate) enabled: Setting<bool>,
    url: Setting<Option<String>>,
    token: Setting<Option<TokenSource>>,
}

impl DaemonSettings {
    /// The settings of a command that starts no companion. What else is wrong in the configuration
    /// does not concern it.
    pub(crate) fn load(
        flags: &DaemonOptions,
        variable: &dyn Fn(&str) -> Option<String>,
        user_file: Option<&Path>,
    ) -> Result<DaemonSettings, Failure> {
        let file = user_file::daemon_layer(user_file)?;
        let variables = DaemonLayer::from_variables(variable);
        let flags = DaemonLayer::from_daemon_flags(flags);
        Ok(DaemonSettings::from_layers([&file, &variables, &flags]))
    }

    /// The weakest layer first.
    pub(super) fn from_layers(layers: [&DaemonLayer; 3]) -> DaemonSettings {
        let (mut enabled, mut url, mut token) =
            (None, Setting::default(None), Setting::default(None));
        for layer in layers {
            enabled = layer.enabled.clone().or(enabled);
            url.replace(layer.url.clone());
            token.replace(layer.token.clone());
        }
        // The variable that names a daemon switches it on, unless another source says otherwise.
        let enabled = enabled.unwrap_or_else(|| match &url.origin {
            origin @ Origin::Variable(_) => Setting {
                value: true,
                origin: origin.clone(),
            },
            _ => Setting::default(false),
        });
        DaemonSettings {
            enabled,
            url,
            token,
        }
    }

    /// What is set, each with its origin, in words. Whether there is a token is said; the token
    /// is not.
    pub(super) fn shown(&self) -> [Setting<(&'static str, String)>; 3] {
        let url = match &self.url.value {
            Some(url) => url.clone(),
            None => Address::default().to_string(),
        };
        let token = match &self.token.value {
            None => "none".to_owned(),
            Some(TokenSource::Text(_)) => "set".to_owned(),
            Some(TokenSource::File(path)) => format!("in {}", path.display()),
            Some(TokenSource::Ambiguous) => "set twice".to_owned(),
        };
        let setting = |name, value, origin: &Origin| Setting {
            value: (name, value),
            origin: origin.clone(),
        };
        [
            setting(
                "daemon.enabled",
                self.enabled.value.to_string(),
                &self.enabled.origin,
            ),
            setting("daemon.url", url, &self.url.origin),
            setting("daemon.token", token, &self.token.origin),
        ]
    }

    /// The daemon to hold conversations with, if that is switched on.
    pub(crate) fn enabled_target(&self) -> Result<Option<DaemonTarget>, Failure> {
        self.enabled.value.then(|| self.target()).transpose()
    }

    /// The daemon that is meant. Reads the file with the token, if there is one.
    pub(crate) fn target(&self) -> Result<DaemonTarget, Failure> {
        let address = match &self.url.value {
            None => Address::default(),
            Some(text) => text.parse().map_err(|error: AddressError| {
                invalid(&self.url.origin, &error).hint(error.hint())
            })?,
        };
        let origin = &self.token.origin;
        let text = match &self.token.value {
            None => None,
            Some(TokenSource::Text(token)) => Some(token.clone()),
            Some(TokenSource::File(path)) => Some(read_token(path, origin)?),
            Some(TokenSource::Ambiguous) => {
                return Err(invalid(origin, "token and token-file are both set"));
            }
        };
        let token = text.map(|text| Token::new(&text)).transpose();
        Ok(DaemonTarget {
            address,
            token: token.map_err(|error| invalid(origin, error))?,
        })
    }
}

/// A daemon, and the token for it.
#[derive(Debug)]
pub(crate) struct DaemonTarget {
    pub(crate) address: Address,
    pub(crate) token: Option<Token>,
}

impl DaemonTarget {
    pub(crate) fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), self.token.clone())
    }
}

fn read_token(path: &Path, origin: &Origin) -> Result<String, Failure> {
    let cannot = |why: String| invalid(origin, format!("cannot read {}: {why}", path.display()));
    // The person has named it, and it may be a pipe on purpose: some shells give a program's output
    // like that. So it is waited for, but never read without end.
    let file = File::open(path).map_err(|error| cannot(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| cannot(error.to_string()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            let path = path.display();
            crate::output::note(format_args!(
                "other users of this machine may read {path}; `chmod 600` it"
            ));
        }
    }
    let mut text = String::new();
    file.take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| cannot(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(cannot("it is too large for a token".into()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::document::Table;
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    /// The settings that follow from the text of each source.
    fn settings(flags: &DaemonLayer, variables: Variables<'_>, table: &str) -> DaemonSettings {
        let variables = DaemonLayer::from_variables(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        let file = SourceFile {
            path: Path::new("/c.toml"),
            table: Table::parse(table).unwrap(),
        };
        let file = DaemonLayer::from_table(&file).unwrap();
        DaemonSettings::from_layers([&file, &variables, flags])
    }

    /// The address and the token.
    fn target(
        url: Option<&str>,
        token_file: Option<&Path>,
        variables: Variables<'_>,
        table: &str,
    ) -> Result<(String, Option<String>), String> {
        let flags = DaemonLayer::from_daemon_flags(&DaemonOptions {
            url: url.map(str::to_owned),
            token_file: token_file.map(Path::to_owned),
        });
        let target = settings(&flags, variables, table).target();
        let target = target.map_err(|failure| failure.to_string())?;
        let token = target.token.map(|token| token.expose().to_owned());
        Ok((target.address.to_string(), token))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_token_is_not_read_without_end() {
        let endless = Some(Path::new("/dev/zero"));
        let refused = target(None, endless, &[], "").unwrap_err();
        assert!(refused.contains("too large for a token"), "{refused}");
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_the_default() {
        let table = "url = 'http://127.0.0.1:3'\ntoken = 'from-file'";
        let variables = [
            ("QWEN_IDE_DAEMON_URL", "http://127.0.0.1:2"),
            ("QWEN_SERVER_TOKEN", " from-env\n"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "from-flag\n").unwrap();
        let expect =
            |url: &str, token: Option<&str>| Ok((url.to_owned(), token.map(str::to_owned)));
        let flag = target(Some("http://127.0.0.1:1"), Some(&file), &variables, table);
        assert_eq!(flag, expect("http://127.0.0.1:1", Some("from-flag")));
        assert_eq!(
            target(None, None, &variables, table),
            expect("http://127.0.0.1:2", Some("from-env"))
        );
        let empty = [("QWEN_IDE_DAEMON_URL", ""), ("QWEN_SERVER_TOKEN", " ")];
        assert_eq!(
            target(None, None, &empty, table),
            expect("http://127.0.0.1:3", Some("from-file"))
        );
        let by_file = format!("token-file = '{}'", file.display());
        assert_eq!(
            target(None, None, &[], &by_file),
            expect("http://127.0.0.1:4170", Some("from-flag"))
        );
        assert_eq!(
            target(None, None, &[], ""),
            expect("http://127.0.0.1:4170", None)
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_origin_and_without_the_token() {
        let refused = |url: Option<&str>, variables: &[(&str, &str)], table: &str| {
            target(url, None, variables, table).unwrap_err()
        };
        let error = refused(Some("http://example.com"), &[], "");
        assert!(
            error.contains("--url") && error.contains("; only a daemon on this machine"),
            "{error}"
        );
        let error = refused(None, &[("QWEN_SERVER_TOKEN", "my secret")], "");
        assert!(
            error.contains("QWEN_SERVER_TOKEN") && !error.contains("my secret"),
            "{error}"
        );
        let error = refused(None, &[], "token = 'a'\ntoken-file = 'b'");
        assert!(error.contains("/c.toml"), "{error}");
        assert!(target(None, Some(Path::new("/nonexistent")), &[], "").is_err());
    }

    #[test]
    fn who_switches_the_daemon_on() {
        let named = [("QWEN_IDE_DAEMON_URL", "http://127.0.0.1:2")];
        let by_flag = ServeArgs {
            daemon: true,
            ..ServeArgs::default()
        };
        let by_url = ServeArgs {
            daemon_url: Some("http://127.0.0.1:1".into()),
            ..ServeArgs::default()
        };
        let nothing = ServeArgs::default();
        let table: [(_, Variables<'_>, _, _, _); 7] = [
            (&nothing, &[], "", false, "default"),
            (&nothing, &[], "enabled = true", true, "/c.toml:1:11"),
            (&nothing, &named, "", true, "variable QWEN_IDE_DAEMON_URL"),
            (&nothing, &named, "enabled = false", false, "/c.toml:1:11"),
            (
                &nothing,
                &[],
                "url = 'http://127.0.0.1:3'",
                false,
                "default",
            ),
            (&by_flag, &[], "enabled = false", true, "flag --daemon"),
            (&by_url, &[], "enabled = false", true, "flag --daemon-url"),
        ];
        for (flags, variables, file, enabled, origin) in table {
            let flags = DaemonLayer::from_serve_flags(flags);
            let found = settings(&flags, variables, file).enabled;
            assert_eq!(found.value, enabled, "{file} {flags:?}");
            assert_eq!(found.origin.to_string(), origin);
        }
    }

    #[test]
    fn what_is_not_used_is_not_checked() {
        let wrong = "url = 'ftp://x'\ntoken = 'a'\ntoken-file = 'b'";
        let off = settings(&DaemonLayer::default(), &[], wrong);
        assert!(off.enabled_target().unwrap().is_none());
        let on = settings(&DaemonLayer::from_editor(true), &[], wrong);
        assert!(on.enabled_target().is_err());
    }
}
