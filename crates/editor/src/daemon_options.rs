//! What a plugin may say about conversations with a daemon: `daemon` in `initializationOptions`.
//!
//! A mistake in it is about conversations alone, so it must not keep the companion from starting.
//! It is kept as a sentence for the person instead of failing, and what it is about is left out.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use text::show::one_line;

/// What can be said, as it is called there.
const KEYS: [&str; 5] = ["enabled", "url", "tokenFile", "mode", "model"];

/// What a plugin may say about conversations with a daemon: true, false, or an object. The token
/// itself is never among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonOptions {
    /// Whether to offer conversations.
    pub enabled: Option<bool>,
    /// Where the daemon is.
    pub url: Option<String>,
    /// The file with its token.
    pub token_file: Option<PathBuf>,
    /// What the agent may do without asking in a conversation that starts here.
    pub mode: Option<String>,
    /// The model of a conversation that starts here.
    pub model: Option<String>,
    /// What is wrong, as sentences. There are no conversations on the strength of these options then.
    pub mistakes: Vec<String>,
    /// What nobody knows and is not used, as sentences.
    pub unused: Vec<String>,
}

impl<'de> Deserialize<'de> for DaemonOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(DaemonOptions::read)
    }
}

impl DaemonOptions {
    fn read(said: Value) -> DaemonOptions {
        let mut options = DaemonOptions::default();
        match said {
            Value::Null => {}
            // An empty table of Lua.
            Value::Array(list) if list.is_empty() => {}
            Value::Bool(enabled) => options.enabled = Some(enabled),
            Value::Object(said) => options.read_object(said),
            _ => options
                .mistakes
                .push("`daemon` has to be true, false or an object".into()),
        }
        options
    }

    fn read_object(&mut self, said: Map<String, Value>) {
        for (key, value) in said {
            if value.is_null() {
                continue;
            }
            match (key.as_str(), value) {
                ("enabled", Value::Bool(enabled)) => self.enabled = Some(enabled),
                ("url", Value::String(url)) => self.url = Some(url),
                ("tokenFile", Value::String(path)) => self.read_token_file(path.into()),
                ("mode", Value::String(mode)) => self.mode = Some(mode),
                ("model", Value::String(model)) => self.model = Some(model),
                ("enabled", _) => self.mistake("`daemon.enabled` has to be true or false"),
                ("token", _) => self.mistake(
                    "`daemon.token` is not taken, because settings of editors are copied, shared and \
                     recorded: write the token to a file that only you can read, and name that in \
                     `daemon.tokenFile`",
                ),
                (key, _) if KEYS.contains(&key) => {
                    self.mistakes
                        .push(format!("`daemon.{key}` has to be a string"));
                }
                (key, _) => self.unused.push(format!(
                    "there is no option `daemon.{}`; known are {}",
                    one_line(key),
                    KEYS.join(", ")
                )),
            }
        }
    }

    /// Where a relative path would begin depends on how the editor was started.
    fn read_token_file(&mut self, path: PathBuf) {
        if path.is_absolute() {
            self.token_file = Some(path);
        } else {
            self.mistake("`daemon.tokenFile` has to be an absolute path");
        }
    }

    fn mistake(&mut self, words: &str) {
        self.mistakes.push(words.into());
    }
}

/// Puts words in the place of a token that an editor sends all the same, in a message that is about to
/// be recorded.
pub(crate) fn hide_token(message: &mut Value) {
    if let Some(token) = message.pointer_mut("/params/initializationOptions/daemon/token") {
        *token = "left out".into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_said_is_taken_and_what_is_wrong_is_told() {
        let with = |change: fn(&mut DaemonOptions)| {
            let mut options = DaemonOptions::default();
            change(&mut options);
            options
        };
        let all = DaemonOptions {
            enabled: Some(false),
            url: Some("http://127.0.0.1:1".into()),
            token_file: Some("/t".into()),
            mode: Some("plan".into()),
            model: Some("m".into()),
            ..DaemonOptions::default()
        };
        let wrong = |words: &str| DaemonOptions {
            mistakes: vec![words.into()],
            ..DaemonOptions::default()
        };
        for (said, expected) in [
            (json!(null), DaemonOptions::default()),
            (json!([]), DaemonOptions::default()),
            (json!({}), DaemonOptions::default()),
            (json!({ "url": null }), DaemonOptions::default()),
            (json!(true), with(|it| it.enabled = Some(true))),
            (json!(false), with(|it| it.enabled = Some(false))),
            (
                json!({ "enabled": false, "url": "http://127.0.0.1:1", "tokenFile": "/t", "mode": "plan", "model": "m" }),
                all,
            ),
            (
                json!("yes"),
                wrong("`daemon` has to be true, false or an object"),
            ),
            (
                json!(["x"]),
                wrong("`daemon` has to be true, false or an object"),
            ),
            (
                json!({ "enabled": 1 }),
                wrong("`daemon.enabled` has to be true or false"),
            ),
            (
                json!({ "url": 1 }),
                wrong("`daemon.url` has to be a string"),
            ),
            (
                json!({ "tokenFile": "t" }),
                wrong("`daemon.tokenFile` has to be an absolute path"),
            ),
            (
                json!({ "urls\n": 1 }),
                with(|it| {
                    it.unused = vec![
                        "there is no option `daemon.urls␊`; known are enabled, url, tokenFile, mode, model"
                            .into(),
                    ];
                }),
            ),
        ] {
            assert_eq!(DaemonOptions::read(said.clone()), expected, "{said}");
        }
    }

    #[test]
    fn a_token_is_neither_taken_nor_repeated() {
        let secret = json!({ "enabled": true, "token": "hunter2" });
        let options = DaemonOptions::read(secret.clone());
        assert!(!format!("{options:?}").contains("hunter2"));
        assert!(options.mistakes[0].contains("`daemon.tokenFile`"));
        let mut message = json!({ "params": { "initializationOptions": { "daemon": secret } } });
        hide_token(&mut message);
        assert!(!message.to_string().contains("hunter2"), "{message}");
    }
}
