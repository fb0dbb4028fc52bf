//! Printing to the person: never lets a text of an agent take over the terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

/// Prints to stdout. A reader that has gone away (`outrigger proposals | head`) is no error.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// Prints a diff with the texts of an agent: as it is into a file or pipe; on a terminal made
/// harmless and, unless the person does not want that, coloured.
pub(crate) fn print_diff(diff: &str) {
    if !std::io::stdout().is_terminal() {
        return print(diff);
    }
    let diff = harmless(diff);
    if std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty()) {
        print(&diff);
    } else {
        print(&coloured(&diff));
    }
}

fn coloured(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len() + diff.len() / 8);
    for line in diff.split_inclusive('\n') {
        let colour = match line.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => "1",
            [b'@', b'@', ..] => "36",
            [b'+', ..] => "32",
            [b'-', ..] => "31",
            _ => {
                text.push_str(line);
                continue;
            }
        };
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\u{1b}[{colour}m{line}\u{1b}[m{end}");
    }
    text
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
    use super::{coloured, harmless};

    #[test]
    fn colours_say_what_is_added_and_what_goes() {
        assert_eq!(
            coloured("@@ -1 +1 @@ hunk 1\n-a\n+b\n c"),
            "\u{1b}[36m@@ -1 +1 @@ hunk 1\u{1b}[m\n\u{1b}[31m-a\u{1b}[m\n\u{1b}[32m+b\u{1b}[m\n c"
        );
    }

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
