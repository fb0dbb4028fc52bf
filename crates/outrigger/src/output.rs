//! Printing to the person: the only place that writes to stdout and stderr.
//!
//! Paths, names and texts come from workspaces and agents. They must not control the terminal,
//! and they must not look like lines of ours. So what is printed is made of [`Lines`], each of which
//! ends where we end it; a text that has lines of its own is [`speech`] or is quoted. What programs
//! read has functions of its own. A reader that has gone away (`outrigger proposals | head`) is not
//! an error, on stdout as on stderr.

use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal as _, Write};

use serde::Serialize;
pub(crate) use text::show::{Lines, one_line, printable};

/// Prints to stdout.
pub(crate) fn print(lines: &Lines) {
    write_out(lines.as_str());
}

/// Prints to stderr.
pub(crate) fn print_error(lines: &Lines) {
    write_error(lines.as_str());
}

/// Prints one line to stdout.
pub(crate) fn print_line(line: impl Display) {
    write_out(&(one_line(line) + "\n"));
}

/// Prints one line to stderr.
pub(crate) fn print_error_line(line: impl Display) {
    write_error(&(one_line(line) + "\n"));
}

/// Prints one line to stderr that says which program it comes from.
pub(crate) fn note(message: impl Display) {
    print_error_line(format_args!("outrigger: {message}"));
}

/// Asks on stderr: the person types behind the question.
pub(crate) fn ask(question: impl Display) {
    write_error(&(one_line(question) + " "));
}

/// Prints a piece of what an agent says, with lines of its own, to stdout.
pub(crate) fn speech(text: &str) {
    write_out(&printable(text));
}

/// Prints a foreign text with lines of its own to stderr.
pub(crate) fn print_foreign_error(text: &str) {
    write_error(&printable(text));
}

/// "1 file", "2 files".
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Prints a value for programs.
pub(crate) fn print_json(value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    write_out(&(text::show::json(&text) + "\n"));
}

/// Prints a value for programs that read lines.
pub(crate) fn print_json_line(value: &impl Serialize) {
    let text = serde_json::to_string(value).unwrap_or_default();
    write_out(&(text::show::json(&text) + "\n"));
}

/// Prints something for programs, byte for byte: a patch, a script, a manual page, a file.
pub(crate) fn print_exactly(bytes: impl AsRef<[u8]>) {
    write_all(&mut stdout(), bytes.as_ref());
}

/// Where the log goes: stderr, one line for each event, whatever a peer put into it.
#[derive(Default)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    /// The log writes every event with one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        write_error(&log_line(event));
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

/// Whether a person reads what is printed, and not a program.
pub(crate) fn is_terminal() -> bool {
    stdout().is_terminal()
}

/// Whether a person reads what is printed to stderr.
pub(crate) fn error_is_terminal() -> bool {
    stderr().is_terminal()
}

/// The rows and columns of the terminal.
#[cfg(unix)]
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    (size.ws_row > 0).then(|| (size.ws_row.into(), size.ws_col.into()))
}

/// Without a size there is no paging.
#[cfg(not(unix))]
pub(crate) fn size() -> Option<(usize, usize)> {
    None
}

/// The stdout of a process that speaks a protocol on it. It is never a person's.
#[expect(
    clippy::disallowed_methods,
    reason = "a peer reads it, and no terminal"
)]
pub(crate) fn protocol_pipe() -> tokio::io::Stdout {
    tokio::io::stdout()
}

/// The stderr of a process that forwards what another process of this program has printed.
#[expect(clippy::disallowed_methods, reason = "the other process has shown it")]
pub(crate) fn log_pipe() -> tokio::io::Stderr {
    tokio::io::stderr()
}

#[expect(
    clippy::disallowed_methods,
    reason = "everything else goes through here"
)]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(
    clippy::disallowed_methods,
    reason = "everything else goes through here"
)]
fn stderr() -> io::Stderr {
    io::stderr()
}

fn write_out(text: &str) {
    write_all(&mut stdout(), text.as_bytes());
}

fn write_error(text: &str) {
    write_all(&mut stderr(), text.as_bytes());
}

fn write_all(stream: &mut impl Write, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
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
