//! Redaction: texts of a daemon without its token and its address, cut to limits.
//!
//! An agent can read its own environment and repeat it in a message. So every text for a reader who
//! must not know the daemon's token or address passes a [`Sanitiser`]. It handles texts only; which
//! events and which of their fields may be shown is for the caller to decide.
//!
//! ```
//! use outrigger_daemon::sanitiser::{Sanitiser, TextLimits};
//! use outrigger_daemon::{Address, Token};
//!
//! let token = Token::new("the-secret")?;
//! let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Some(token), &Address::local(4170));
//! let text = "curl -H 'Authorization: the-secret' http://127.0.0.1:4170/session";
//! assert_eq!(sanitiser.text(text), "curl -H 'Authorization: [hidden]' http://[hidden]/session");
//! # Ok::<(), outrigger_daemon::TokenError>(())
//! ```

mod secrets;

use crate::address::Address;
use crate::token::Token;
use secrets::Secrets;

/// Limits for what may be shown, in characters and in list entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// For a message, or one chunk of it.
    pub text: usize,
    /// For a file in a diff, or for the output of a tool.
    pub content: usize,
    /// For titles, names, paths and ids.
    pub line: usize,
    /// For lists. The code that builds a list applies it.
    pub entries: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self {
            text: 256 * 1024,
            content: 1024 * 1024,
            line: 2048,
            entries: 512,
        }
    }
}

/// Marks where a text was cut.
const CUT: &str = "…";

/// Hides a daemon's token and address in texts, and cuts texts that are too long.
#[derive(Clone, Debug)]
pub struct Sanitiser {
    limits: TextLimits,
    secrets: Secrets,
}

/// The end of a text in chunks that may be the beginning of a secret. It is held back until more
/// text arrives. Its `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Held(String);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held(…)")
    }
}

impl Sanitiser {
    /// A sanitiser that cuts at these limits and hides nothing yet.
    pub fn new(limits: TextLimits) -> Self {
        Self {
            limits,
            secrets: Secrets::default(),
        }
    }

    /// Also hides this token and this address wherever they occur in a text.
    #[must_use]
    pub fn hiding(mut self, token: Option<Token>, address: &Address) -> Self {
        let token = token.map(|it| it.expose().to_owned());
        self.secrets = Secrets::new(token.into_iter().chain(address.spellings()));
        self
    }

    /// The limits that it applies.
    pub fn limits(&self) -> TextLimits {
        self.limits
    }

    /// Cleans a title, a name, a path or an id.
    pub fn line(&self, text: &str) -> String {
        self.clean(text, self.limits.line)
    }

    /// Cleans a whole message.
    pub fn text(&self, text: &str) -> String {
        self.clean(text, self.limits.text)
    }

    /// Cleans a file, or the output of a tool.
    pub fn content(&self, text: &str) -> String {
        self.clean(text, self.limits.content)
    }

    /// Cleans the next chunk of a text: returns what was held back and as much of the chunk as
    /// cannot be the beginning of a secret. The final text does not depend on where it was split.
    pub fn piece(&self, held: &mut Held, piece: &str) -> String {
        let text = self.secrets.hide_in_pieces(&mut held.0, piece);
        cut(text, self.limits.text)
    }

    /// Cleans the rest of a text that came in chunks. Nothing may follow.
    pub fn rest(&self, held: &mut Held) -> String {
        self.secrets.hide(&std::mem::take(&mut held.0))
    }

    fn clean(&self, text: &str, limit: usize) -> String {
        cut(self.secrets.hide(text), limit)
    }
}

fn cut(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitiser() -> Sanitiser {
        let limits = TextLimits {
            text: 12,
            content: 11,
            line: 10,
            entries: 2,
        };
        Sanitiser::new(limits).hiding(Token::new("the-secret").ok(), &Address::local(4170))
    }

    #[test]
    fn secrets_are_hidden_and_long_texts_cut_between_characters() {
        let sanitiser = sanitiser();
        let long = "é".repeat(20);
        for (told, expected) in [
            (sanitiser.line("the-secret"), "[hidden]".to_owned()),
            (sanitiser.text("127.0.0.1:4170"), "[hidden]".to_owned()),
            (sanitiser.line(&long), "é".repeat(10) + "…"),
            (sanitiser.content(&long), "é".repeat(11) + "…"),
            (sanitiser.text(&long), "é".repeat(12) + "…"),
            (sanitiser.line("short"), "short".to_owned()),
        ] {
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_secret_in_pieces_is_held_back_until_it_is_known() {
        let sanitiser = sanitiser();
        let mut held = Held::default();
        let told = ["is the-", "sec", "ret, th"].map(|piece| sanitiser.piece(&mut held, piece));
        assert_eq!(told, ["is ", "", "[hidden], "]);
        assert_eq!(format!("{held:?}"), "Held(…)");
        assert_eq!(sanitiser.rest(&mut held), "th");
    }
}
