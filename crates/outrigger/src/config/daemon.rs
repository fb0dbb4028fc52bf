//! Which daemon, the token for it, and what a conversation that starts here begins with.
//!
//! The token is never an argument, which everybody on the machine could read. The workspace's own
//! file has no say in this: it could send prompts elsewhere, or let an agent write without asking.

mod layer;
#[cfg(test)]
mod tests;
mod token;

use std::path::Path;

use super::setting::{Origin, Setting};
use super::user_file;
use super::{invalid, parse};
use crate::args::{DaemonOptions, PromptArgs};
use crate::failure::{Failure, FailureKind};
use ::daemon::sanitiser::{Sanitiser, TextLimits};
use ::daemon::wire::ApprovalMode;
use ::daemon::{Address, AddressError, DaemonClient, Token};
use conversation::unreviewed;
use front::NoConversation;
pub(crate) use layer::DaemonLayer;
use token::TokenSource;

/// What is set about the daemon. Nothing of it is checked before it is needed.
#[derive(Clone, Debug)]
pub(crate) struct DaemonSettings {
    /// Whether pages and editors are offered conversations.
    pub(crate) enabled: Setting<bool>,
    url: Setting<Option<String>>,
    token: Setting<Option<TokenSource>>,
    /// `None` for the mode that asks.
    mode: Setting<Option<String>>,
    /// `None` for the daemon's own choice.
    model: Setting<Option<String>>,
    mistake: Option<Setting<String>>,
}

impl DaemonSettings {
    /// The settings of a command that starts no companion. What else is wrong in the configuration
    /// does not concern it.
    pub(crate) fn load(
        flags: &DaemonOptions,
        prompt: Option<&PromptArgs>,
        variable: &dyn Fn(&str) -> Option<String>,
        user_file: Option<&Path>,
    ) -> Result<DaemonSettings, Failure> {
        let file = user_file::daemon_layer(user_file)?;
        let variables = DaemonLayer::from_variables(variable);
        let flags = DaemonLayer::from_daemon_flags(flags, prompt);
        Ok(DaemonSettings::from_layers([&file, &variables, &flags]))
    }

    /// The weakest layer first.
    pub(super) fn from_layers(layers: [&DaemonLayer; 3]) -> DaemonSettings {
        let (mut enabled, mut mistake) = (None, None);
        let (mut url, mut token) = (Setting::default(None), Setting::default(None));
        let (mut mode, mut model) = (Setting::default(None), Setting::default(None));
        for layer in layers {
            enabled = layer.enabled.clone().or(enabled);
            mistake = layer.mistake.clone().or(mistake);
            url.replace(layer.url.clone());
            token.replace(layer.token.clone());
            mode.replace(layer.mode.clone());
            model.replace(layer.model.clone());
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
            mode,
            model,
            mistake,
        }
    }

    /// What is set, each with its origin, in words. Whether there is a token is said; the token
    /// is not.
    pub(super) fn shown(&self) -> [Setting<(&'static str, String)>; 5] {
        // Only what an address consists of: what is written behind it may be a token.
        let url = match self.address() {
            Ok(address) => address.to_string(),
            Err(_) => "not an address of a daemon".to_owned(),
        };
        let token = match &self.token.value {
            None => "none".to_owned(),
            Some(TokenSource::Text(_)) => "set".to_owned(),
            Some(TokenSource::File(path)) => format!("in {}", path.display()),
            Some(TokenSource::Ambiguous) => "set twice".to_owned(),
        };
        let mode = self.mode.value.as_deref();
        let model = self.model.value.as_deref();
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
            setting(
                "daemon.mode",
                mode.unwrap_or(parse::ASKING).to_owned(),
                &self.mode.origin,
            ),
            setting(
                "daemon.model",
                model.unwrap_or("the daemon's own").to_owned(),
                &self.model.origin,
            ),
        ]
    }

    /// The conversations that a companion offers with these settings. A mistake in them does not keep
    /// it from starting, unless it was just typed: whoever types a flag is there to mend it.
    pub(crate) fn conversations(&self) -> Result<Conversations, Failure> {
        if !self.enabled.value {
            return Ok(Conversations::Off);
        }
        let is_typed = matches!(self.url.origin, Origin::Flag(_));
        match self.usable() {
            Ok(usable) => Ok(Conversations::On(usable)),
            Err(failure) if is_typed && self.address().is_err() => Err(failure),
            Err(failure) => Ok(Conversations::Unusable(format!(
                "{failure} (restart the companion once it is corrected)"
            ))),
        }
    }

    fn usable(&self) -> Result<(DaemonTarget, NewConversation), Failure> {
        if let Some(Setting { value, origin }) = &self.mistake {
            return Err(Failure::new(
                FailureKind::Configuration,
                format_args!("wrong configuration ({origin}): {value}"),
            ));
        }
        Ok((self.target()?, self.new_conversation()?))
    }

    /// The daemon that is meant. Reads the file with the token, if there is one.
    pub(crate) fn target(&self) -> Result<DaemonTarget, Failure> {
        Ok(DaemonTarget {
            address: self.address()?,
            token: token::token(&self.token)?,
        })
    }

    fn address(&self) -> Result<Address, Failure> {
        match &self.url.value {
            None => Ok(Address::default()),
            Some(text) => text.parse().map_err(|error: AddressError| {
                invalid(&self.url.origin, &error).hint(error.hint())
            }),
        }
    }

    /// What a conversation that starts here begins with.
    pub(crate) fn new_conversation(&self) -> Result<NewConversation, Failure> {
        let mode = self.mode.value.as_deref().unwrap_or(parse::ASKING);
        let mode = parse::mode(mode).map_err(|why| {
            let failure = invalid(&self.mode.origin, why);
            match parse::meant_mode(mode) {
                Some(meant) => failure.hint(format_args!("did you mean `{meant}`?")),
                None => failure,
            }
        })?;
        let model = self.model.value.as_deref().map(str::trim);
        if model == Some("") {
            return Err(invalid(
                &self.model.origin,
                "the name of the model is empty",
            ));
        }
        Ok(NewConversation {
            mode: Setting {
                value: mode,
                origin: self.mode.origin.clone(),
            },
            model: model.map(str::to_owned),
        })
    }

    /// What a source asks for that is different here, in words. It says nothing about what it leaves
    /// open.
    pub(crate) fn differences(&self, asked: &DaemonLayer) -> Vec<String> {
        let mut found = Vec::new();
        let mode = self.mode.value.as_deref().unwrap_or(parse::ASKING);
        if let Some(Setting { value, .. }) = &asked.mode
            && value != mode
        {
            found.push(format!("mode {mode}, not {value}"));
        }
        if let Some(Setting { value, .. }) = &asked.model
            && Some(value) != self.model.value.as_ref()
        {
            let here = match &self.model.value {
                Some(model) => format!("model {model}"),
                None => "the daemon's own model".into(),
            };
            found.push(format!("{here}, not {value}"));
        }
        // Addresses are for nobody to see, and may be written in several ways.
        let address = |text: &Option<String>| match text {
            None => Some(Address::default()),
            Some(text) => text.parse().ok(),
        };
        if let Some(url) = &asked.url
            && address(&Some(url.value.clone())) != address(&self.url.value)
        {
            found.push("another daemon".into());
        }
        if let Some(token) = &asked.token
            && self.token.value.as_ref() != Some(&token.value)
        {
            found.push("a token from elsewhere".into());
        }
        found
    }
}

/// The conversations that a companion offers.
#[derive(Debug)]
pub(crate) enum Conversations {
    /// None, and nobody wants any.
    Off,
    /// None, because what is set cannot be used: what is wrong, where it comes from, what to do.
    Unusable(String),
    /// Those with this daemon.
    On((DaemonTarget, NewConversation)),
}

impl Conversations {
    /// What the person should know before the first prompt.
    pub(crate) fn warning(&self) -> Option<String> {
        match self {
            Conversations::Off => None,
            Conversations::Unusable(why) => {
                Some(NoConversation::Misconfigured(why.clone()).to_string())
            }
            Conversations::On((_, new)) => new.warning(),
        }
    }
}

/// What a conversation that starts here begins with. One that others have started goes on as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewConversation {
    pub(crate) mode: Setting<ApprovalMode>,
    /// `None` for the daemon's own choice.
    pub(crate) model: Option<String>,
}

impl NewConversation {
    /// What is not reviewed in it, if there is something.
    pub(crate) fn warning(&self) -> Option<String> {
        let unreviewed = unreviewed(self.mode.value.as_str())?;
        Some(format!(
            "conversations start in a mode that does not ask about everything ({}). {unreviewed}",
            self.mode.origin
        ))
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

    /// Hides the token and the address in what the daemon tells.
    pub(crate) fn sanitiser(&self) -> Sanitiser {
        Sanitiser::new(TextLimits::default()).hiding(self.token.clone(), &self.address)
    }
}
