//! Texts on the person's terminal: with colours, and in a pager where they do not fit.
//!
//! The rules are those of git. What is decided here depends on flags, variables and the terminal;
//! they are passed in to the rules, so that the rules can be tested.

use crate::args::{ColorChoice, DisplayArgs};
use crate::output::{
    Lines, coloured, is_terminal, print_exactly, printable, size, with_coloured_counts,
};

/// How texts are shown, decided once for a command.
#[derive(Debug)]
pub(crate) struct Display {
    is_terminal: bool,
    colour: bool,
    pager: Option<String>,
}

impl Display {
    /// For the stdout of this process.
    pub(crate) fn of_stdout(args: &DisplayArgs) -> Display {
        let variable = |name: &str| std::env::var(name).ok();
        let is_terminal = is_terminal();
        Display {
            is_terminal,
            colour: colour(args.color, is_terminal, &variable),
            pager: pager(args.no_pager, is_terminal, &variable),
        }
    }

    /// Shows a diff, with `head` above it where a person reads it. A program gets a diff and nothing
    /// else, byte for byte; before a person, what steers a terminal is replaced.
    pub(crate) fn show_diff(&self, head: &Lines, diff: &str) {
        let head = if self.is_terminal { head.as_str() } else { "" };
        let text = head.to_owned() + &printable(diff);
        match (self.is_terminal, self.colour) {
            (false, false) => print_exactly(diff),
            (_, true) => self.show(&text, &coloured(&text)),
            (true, false) => self.show(&text, &text),
        }
    }

    /// Shows summaries of proposals.
    pub(crate) fn show_summaries(&self, summaries: &Lines) {
        let text = summaries.as_str();
        if self.colour {
            self.show(text, &with_coloured_counts(text));
        } else {
            self.show(text, text);
        }
    }

    /// Shows `text`, which has no colours but ours; `plain` is the same without them, to measure it.
    fn show(&self, plain: &str, text: &str) {
        let Some(pager) = &self.pager else {
            return print_exactly(text);
        };
        match size() {
            Some((rows, columns)) if !fits(plain, rows, columns) => {
                if !paged(pager, text) {
                    print_exactly(text);
                }
            }
            _ => print_exactly(text),
        }
    }
}

/// Whether to use colours.
fn colour(
    choice: ColorChoice,
    is_terminal: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let forbidden = variable("NO_COLOR").is_some_and(|set| !set.is_empty());
            let dumb = variable("TERM").as_deref() == Some("dumb");
            is_terminal && !forbidden && !dumb
        }
    }
}

/// The command line of the pager; `None` if none is wanted.
fn pager(
    unwanted: bool,
    is_terminal: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    if unwanted || !is_terminal {
        return None;
    }
    let chosen = variable("OUTRIGGER_PAGER").or_else(|| variable("PAGER"));
    let pager = chosen.unwrap_or_else(|| "less".into());
    // Empty and `cat` both say that there is to be none.
    (!matches!(pager.trim(), "" | "cat")).then_some(pager)
}

/// Whether a text fits a terminal, with a row left for the next prompt.
fn fits(text: &str, rows: usize, columns: usize) -> bool {
    let columns = columns.max(1);
    let used: usize = text
        .lines()
        .map(|line| line.chars().count().div_ceil(columns).max(1))
        .sum();
    used < rows
}

/// Shows a text in the pager and waits for its end; `false` if there is no such pager.
#[cfg(unix)]
fn paged(pager: &str, text: &str) -> bool {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// What a shell answers if there is no such command, or none that it may run.
    const NO_COMMAND: [i32; 2] = [126, 127];

    // Ctrl-C in the pager is the pager's. A program that it ended would leave the terminal to two
    // readers.
    let _ignored = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    // A single word needs no shell, and then nobody complains if there is no such program.
    let is_word = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
    let mut command = if pager.chars().all(is_word) {
        Command::new(pager)
    } else {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(pager);
        shell
    };
    command.stdin(Stdio::piped());
    // As git: end if it fits one screen, pass colours on, leave the screen as it is.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // A pager that was left before the end of the text is no failure.
        let _ = input.write_all(text.as_bytes());
    }
    let ended = child.wait().ok().and_then(|status| status.code());
    !ended.is_some_and(|code| NO_COMMAND.contains(&code))
}

#[cfg(not(unix))]
fn paged(_pager: &str, _text: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(set: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        use ColorChoice::{Always, Auto, Never};
        for (choice, is_terminal, set, expected) in [
            (Auto, true, &[][..], true),
            (Auto, false, &[], false),
            (Auto, true, &[("NO_COLOR", "1")], false),
            (Auto, true, &[("NO_COLOR", "")], true),
            (Auto, true, &[("TERM", "dumb")], false),
            (Always, false, &[("NO_COLOR", "1")], true),
            (Never, true, &[], false),
        ] {
            let decided = colour(choice, is_terminal, &variables(set));
            assert_eq!(decided, expected, "{choice:?} {is_terminal} {set:?}");
        }
    }

    #[test]
    fn the_pager_is_the_one_that_the_person_chose() {
        for (unwanted, is_terminal, set, expected) in [
            (false, true, &[][..], Some("less")),
            (false, true, &[("PAGER", "more -s")], Some("more -s")),
            (
                false,
                true,
                &[("PAGER", "more"), ("OUTRIGGER_PAGER", "most")],
                Some("most"),
            ),
            (
                false,
                true,
                &[("PAGER", "more"), ("OUTRIGGER_PAGER", "")],
                None,
            ),
            (false, true, &[("PAGER", "cat")], None),
            (true, true, &[("PAGER", "more")], None),
            (false, false, &[("PAGER", "more")], None),
        ] {
            let chosen = pager(unwanted, is_terminal, &variables(set));
            assert_eq!(
                chosen.as_deref(),
                expected,
                "{unwanted} {is_terminal} {set:?}"
            );
        }
    }

    #[test]
    fn a_text_fits_if_a_row_is_left() {
        for (text, rows, columns, expected) in [
            ("", 2, 10, true),
            ("a\n", 2, 10, true),
            ("a\nb\n", 2, 10, false),
            ("a\n\nb\n", 4, 10, true),
            ("0123456789\n", 2, 10, true),
            ("0123456789a\n", 2, 10, false),
            ("é漢é漢é漢é漢é漢\n", 2, 10, true),
            ("a\n", 2, 0, true),
        ] {
            assert_eq!(
                fits(text, rows, columns),
                expected,
                "{text:?} {rows} {columns}"
            );
        }
    }
}
