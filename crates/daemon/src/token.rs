//! The bearer token of a daemon.

use std::fmt;

use hyper::header::HeaderValue;

/// A bearer token of a daemon.
///
/// Its `Debug` form shows nothing and it has no `Display`, so that it cannot slip into a log, an
/// error or a page. The only way out is the header of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

/// Why a text cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is empty, or only white space.
    #[error("the token is empty")]
    Empty,
    /// A character that no HTTP header can carry.
    #[error("the token has a character that cannot be sent in an HTTP header")]
    Characters,
}

impl Token {
    /// Makes a token of `text` without white space around it. The daemon trims its own copy too.
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TokenError::Empty);
        }
        // Only visible ASCII: other characters would reach the daemon changed.
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        let header = HeaderValue::from_str(&format!("Bearer {text}"));
        let mut header = header.map_err(|_| TokenError::Characters)?;
        header.set_sensitive(true);
        Ok(Token(header))
    }

    /// The value of the `Authorization` header.
    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// The token itself, for the environment of a daemon that is started with it.
    pub fn expose(&self) -> &str {
        self.0
            .to_str()
            .ok()
            .and_then(|header| header.strip_prefix("Bearer "))
            .unwrap_or_default()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_trimmed_and_shows_nothing() {
        let token = Token::new("  s3cret\n").unwrap();
        assert_eq!(token.expose(), "s3cret");
        assert_eq!(
            format!("{token:?} {:?}", token.header()),
            "Token(…) Sensitive"
        );
    }

    #[test]
    fn what_no_header_can_carry_is_refused() {
        assert_eq!(Token::new(" \t"), Err(TokenError::Empty));
        for text in ["a b", "a\nb", "schlüssel", "a\0"] {
            assert_eq!(Token::new(text), Err(TokenError::Characters), "{text:?}");
        }
    }
}
