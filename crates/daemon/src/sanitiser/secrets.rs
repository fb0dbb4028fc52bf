//! Hides secrets in texts, also in a text that arrives in chunks.
//!
//! A secret may begin in one chunk and end in the next. So the end of a chunk that may be the
//! beginning of a secret is held back until more text arrives. The final text does not depend on
//! where it was split.

/// Replaces a secret.
const HIDDEN: &str = "[hidden]";

/// Texts that must not be shown.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|it| !it.is_empty()).collect();
        // Where two secrets match at the same position, the longer one is hidden.
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self(secrets)
    }

    /// A whole text without secrets.
    pub(super) fn hide(&self, text: &str) -> String {
        self.scan(text, true).0
    }

    /// Appends a chunk to the text that was held back, and returns what can be shown of both.
    pub(super) fn hide_in_pieces(&self, held: &mut String, piece: &str) -> String {
        held.push_str(piece);
        let (told, length) = self.scan(held, false);
        held.drain(..length);
        told
    }

    /// The text to show, and how many bytes of the input it covers: all of them, unless more text
    /// follows and the end may be the beginning of a secret.
    fn scan(&self, text: &str, is_whole: bool) -> (String, usize) {
        let mut told = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let rest = &text[at..];
            if !is_whole && self.0.iter().any(|it| is_longer(it, rest)) {
                break;
            }
            if let Some(secret) = self.0.iter().find(|it| rest.starts_with(it.as_str())) {
                told.push_str(HIDDEN);
                at += secret.len();
            } else {
                told.push(next);
                at += next.len_utf8();
            }
        }
        (told, at)
    }
}

/// Whether `text` is a proper prefix of the secret.
fn is_longer(secret: &str, text: &str) -> bool {
    secret.len() > text.len() && secret.starts_with(text)
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_leftmost_and_then_the_longest_is_hidden() {
        let secrets = Secrets::new(["ab", "abc", "", "ca"].map(str::to_owned));
        for (text, told) in [
            ("abcab", "[hidden][hidden]"),
            ("xabx", "x[hidden]x"),
            ("abca", "[hidden]a"),
            ("cab", "[hidden]b"),
            ("ä", "ä"),
            ("", ""),
        ] {
            assert_eq!(secrets.hide(text), told, "{text}");
        }
        assert_eq!(format!("{secrets:?}"), "Secrets(…)");
    }

    proptest! {
        #[test]
        fn where_the_cuts_are_makes_no_difference(
            secrets in prop::collection::vec("[abä]{1,5}", 0..4),
            pieces in prop::collection::vec("[abcä]{0,6}", 0..12),
        ) {
            let hidden = Secrets::new(secrets.clone());
            let mut held = String::new();
            let mut told = String::new();
            for piece in &pieces {
                told += &hidden.hide_in_pieces(&mut held, piece);
                // Nothing is held back without need.
                prop_assert!(held.is_empty() || secrets.iter().any(|it| is_longer(it, &held)));
            }
            told += &hidden.hide(&held);
            prop_assert_eq!(told, hidden.hide(&pieces.concat()));
        }
    }
}
