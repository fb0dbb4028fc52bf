//! Printing to the person.
//!
//! Paths, names and texts come from workspaces and agents. They must not control the terminal,
//! and they must not look like lines of ours: [`one_line`] is for everything that stands inside a
//! line, [`printable`] for texts that have lines of their own. A reader that has gone away
//! (`outrigger proposals | head`) is not an error, on stdout as on stderr.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use serde::Serialize;
pub(crate) use text::show::{one_line, printable};

/// Prints to stdout, as it is.
pub(crate) fn print(text: &str) {
    write_all(&mut io::stdout(), text);
}

/// Prints to stderr, as it is.
pub(crate) fn print_error(text: &str) {
    write_all(&mut io::stderr(), text);
}

/// Prints one line to stderr that says which program it comes from.
pub(crate) fn note(message: impl Display) {
    print_error(&format!("outrigger: {}\n", one_line(message)));
}

/// "1 file", "2 files".
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Prints a value for programs.
pub(crate) fn print_json(value: &impl Serialize) {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    print(&text);
}

/// Where the log goes: stderr, one line for each event, whatever a peer put into it.
#[derive(Default)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    /// The log writes every event with one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        print_error(&log_line(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    one_line(text.trim_end_matches('\n')) + "\n"
}

fn write_all(stream: &mut impl Write, text: &str) {
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}

/// Summaries of proposals with colours: what is added and what goes, as in a diff. A path that looks
/// like a count is coloured too, which does no harm.
pub(crate) fn with_coloured_counts(text: &str) -> String {
    let is_count = |word: &str| {
        let digits = word.strip_prefix(['+', '−']);
        digits.is_some_and(|it| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit()))
    };
    let words = text.split_inclusive([' ', '\n']).map(|piece| {
        let word = piece.trim_end_matches([' ', '\n']);
        let colour = if word.starts_with('+') { "32" } else { "31" };
        if is_count(word) {
            format!("\u{1b}[{colour}m{word}\u{1b}[m{}", &piece[word.len()..])
        } else {
            piece.to_owned()
        }
    });
    words.collect()
}

/// A diff with colours.
pub(crate) fn coloured(diff: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::{coloured, log_line, with_coloured_counts};

    #[test]
    fn counts_are_coloured_and_nothing_else() {
        assert_eq!(
            with_coloured_counts("  3  qwen  a+1 -2 +x  +3 −2  (1 hunk)\n  4  q  b  +1 −0\n"),
            "  3  qwen  a+1 -2 +x  \u{1b}[32m+3\u{1b}[m \u{1b}[31m−2\u{1b}[m  (1 hunk)\n  \
             4  q  b  \u{1b}[32m+1\u{1b}[m \u{1b}[31m−0\u{1b}[m\n"
        );
    }

    #[test]
    fn colours_say_what_is_added_and_what_goes() {
        assert_eq!(
            coloured("@@ -1 +1 @@ hunk 1\n-a\n+b\n c"),
            "\u{1b}[36m@@ -1 +1 @@ hunk 1\u{1b}[m\n\u{1b}[31m-a\u{1b}[m\n\u{1b}[32m+b\u{1b}[m\n c"
        );
    }

    #[test]
    fn an_event_of_the_log_is_one_line() {
        assert_eq!(
            log_line(b"WARN path=/w/a\n ERROR \x1b[2J\n"),
            "WARN path=/w/a␊ ERROR ␛[2J\n"
        );
    }
}
