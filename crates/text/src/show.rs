//! Untrusted text on a terminal: paths, names and texts from an agent, a workspace or a daemon.
//!
//! A control character could move the cursor, change colours, or forge a line of ours. So it is
//! replaced by its picture (`␛`) or its code point (`<U+009B>`).

use std::fmt::{Display, Write as _};

/// Untrusted text inside a line: replaces all control characters, including line breaks.
pub fn one_line(text: impl Display) -> String {
    let mut shown = String::new();
    for c in text.to_string().chars() {
        push_shown(&mut shown, c);
    }
    shown
}

/// Untrusted text of several lines: keeps line breaks and tabs, and replaces other control
/// characters.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ => push_shown(&mut shown, c),
        }
    }
    shown
}

fn push_shown(shown: &mut String, c: char) {
    match c {
        // The pictures of C0 characters are in the same order as the characters.
        '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
        // C1 characters control terminals too. Line and paragraph separators break lines in some
        // of them, and bidirectional overrides make text read differently from what it is.
        '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "<U+{:04X}>", c as u32);
        }
        _ => shown.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        for (text, shown) in [
            ("", ""),
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("\u{202e}evil", "<U+202E>evil"),
            ("\u{2028}next", "<U+2028>next"),
            ("é漢🙂", "é漢🙂"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn one_line_stays_one_line() {
        for (text, shown) in [
            ("a path/with spaces", "a path/with spaces"),
            ("a\n  problem: none", "a␊  problem: none"),
            ("a\tb\r\n", "a␉b␍␊"),
            ("\u{85}\u{2029}\u{1b}", "<U+0085><U+2029>␛"),
        ] {
            assert_eq!(one_line(text), shown);
        }
    }

    proptest! {
        #[test]
        fn no_control_character_is_left(text: String) {
            prop_assert!(!one_line(&text).contains(char::is_control));
            let other = |c: char| c.is_control() && c != '\n' && c != '\t';
            prop_assert!(!printable(&text).contains(other));
        }
    }
}
