//! Asking the person in the terminal: one request after the other, on stderr, answered by lines.

use std::fmt::Write as _;
use std::sync::Arc;

use ::daemon::connection::{Answer, Request};
use ::daemon::wire::{Question, ToolContent};
use tokio::sync::{Mutex, mpsc};

use crate::output::harmless;

/// How many lines of a change are shown.
const LINES: usize = 40;

/// The person's lines. Whoever holds the lock is the one who is being answered.
pub(super) type Lines = Arc<Mutex<mpsc::Receiver<String>>>;

/// Reads lines of stdin from now on.
pub(super) fn lines() -> Lines {
    let (sender, receiver) = mpsc::channel(1);
    // Reading cannot be given up, so it is done on a thread that ends with the program.
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    Arc::new(Mutex::new(receiver))
}

/// Asks the person. Dropped when somebody else answers; then the next dialog gets its turn.
pub(super) async fn ask(request: Request, lines: Lines) -> Option<Answer> {
    let mut lines = lines.lock().await;
    let Some(questions) = &request.questions else {
        eprint!("{}", harmless(&describe(&request)));
        let line = lines.recv().await?;
        return Some(permission(&request, &line));
    };
    let mut replies = Vec::new();
    for question in questions {
        eprint!("{}", harmless(&pose(question)));
        replies.push(reply(question, &lines.recv().await?));
    }
    Some(Answer::Reply(replies))
}

fn describe(request: &Request) -> String {
    let mut text = format!("\nThe agent asks: {}\n", request.title);
    let command = request
        .input
        .as_ref()
        .and_then(|it| it.get("command")?.as_str());
    if let Some(command) = command {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  $ {command}");
    }
    for diff in request.content.iter().filter_map(ToolContent::as_diff) {
        let _ = writeln!(text, "  {}", diff.path);
        let old = diff
            .old_text
            .unwrap_or_default()
            .lines()
            .map(|line| ('-', line));
        let changed = old.chain(diff.new_text.lines().map(|line| ('+', line)));
        for (sign, line) in changed.clone().take(LINES) {
            let _ = writeln!(text, "  {sign}{line}");
        }
        if changed.count() > LINES {
            let _ = writeln!(text, "  …");
        }
    }
    for (at, option) in request.options.iter().enumerate() {
        let _ = writeln!(text, "  {}) {}", at + 1, option.title());
    }
    text + "y for yes this time, a number, or anything else for no: "
}

/// Anything but a clear yes is a no.
fn permission(request: &Request, line: &str) -> Answer {
    let line = line.trim();
    if line.eq_ignore_ascii_case("y") || line.eq_ignore_ascii_case("yes") {
        return Answer::Allow;
    }
    let chosen = line
        .parse::<usize>()
        .ok()
        .and_then(|it| request.options.get(it.checked_sub(1)?));
    chosen.map_or(Answer::Decline, |option| {
        Answer::Choose(option.option_id.clone())
    })
}

fn pose(question: &Question) -> String {
    let mut text = format!("\nThe agent asks: {}\n", question.question);
    for (at, option) in question.options.iter().enumerate() {
        let about = option
            .description
            .as_deref()
            .map(|it| format!(": {it}"))
            .unwrap_or_default();
        let _ = writeln!(text, "  {}) {}{about}", at + 1, option.label);
    }
    let several = if question.multi_select {
        "numbers with commas"
    } else {
        "a number"
    };
    let _ = write!(text, "{several}, or words of your own: ");
    text
}

/// Labels for numbers, and the line itself for anything else.
fn reply(question: &Question, line: &str) -> Vec<String> {
    let label = |number: &str| {
        let at = number.trim().parse::<usize>().ok()?.checked_sub(1)?;
        Some(question.options.get(at)?.label.clone())
    };
    let numbers: Vec<&str> = if question.multi_select {
        line.split(',').collect()
    } else {
        vec![line]
    };
    let labels: Option<Vec<String>> = numbers.into_iter().map(label).collect();
    labels.unwrap_or_else(|| vec![line.trim().to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn numbers_are_labels_and_everything_else_is_the_persons_own() {
        let question = |several: bool| -> Question {
            from_value(json!({"question": "?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": several})).unwrap()
        };
        for (several, line, expected) in [
            (false, "2", vec!["B"]),
            (false, "1,2", vec!["1,2"]),
            (false, "3", vec!["3"]),
            (true, "1, 2", vec!["A", "B"]),
            (true, "1, C", vec!["1, C"]),
            (true, " my own ", vec!["my own"]),
        ] {
            assert_eq!(reply(&question(several), line), expected, "{line}");
        }
    }
}
