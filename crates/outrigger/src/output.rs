//! Printing to the person: never lets a text of an agent take over the terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

/// Prints to stdout. A reader that has gone away (`outrigger proposals | head`) is no error.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// Prints a text that came from an agent: as it is into a file or pipe, made harmless on a terminal.
pub(crate) fn print_untrusted(text: &str) {
    if std::io::stdout().is_terminal() {
        print(&harmless(text));
    } else {
        print(text);
    }
}

/// Shows control characters instead of obeying them.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // The pictures of C0 characters stand in the same order as the characters.
            '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            // Bidirectional overrides can make code read differently from what it is.
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(shown, "<U+{:04X}>", c as u32);
            }
            _ => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("\u{202e}evil", "<U+202E>evil"),
            ("é漢🙂", "é漢🙂"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }
}
