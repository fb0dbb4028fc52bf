//! Secrets that peers present to prove that they may speak to us.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// A bearer secret of 256 random bits.
///
/// It is written only into private files and into the environment of processes
/// that the person starts through us; its `Debug` form shows nothing, so that it
/// cannot slip into a log or an error.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// A new secret from the operating system's source of randomness.
    pub fn random() -> Result<Token, getrandom::Error> {
        Ok(Token(random_hex::<32>()?))
    }

    /// The text that a peer has to present.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `presented` is this secret, in a time that does not tell how much of it was right.
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// `N` random bytes as lower-case hexadecimal digits.
pub fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    use fmt::Write as _;

    let mut bytes = [0u8; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes
        .iter()
        .fold(String::with_capacity(2 * N), |mut text, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_itself_and_nothing_else() {
        let token = Token::random().unwrap();
        let other = Token::random().unwrap();
        assert_eq!(token.expose().len(), 64);
        assert!(token.matches(token.expose()));
        for wrong in [
            "",
            other.expose(),
            &token.expose()[1..],
            &format!("{}0", token.expose()),
        ] {
            assert!(!token.matches(wrong));
        }
    }

    #[test]
    fn debug_shows_nothing() {
        let token = Token::random().unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
