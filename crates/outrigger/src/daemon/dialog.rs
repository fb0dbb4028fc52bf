//! Asks the person in the terminal: one request at a time, on stderr; a line of stdin answers it.

use std::sync::Arc;

use ::daemon::connection::{InteractionRequest, UserAnswer};
use ::daemon::wire::{PermissionOption, Question, ToolContent};
use conversation::requests::{RequestOption, RequestOptions};
use conversation::unreviewed_with;
use tokio::sync::{Mutex, mpsc};

use crate::output::{Lines, ask as ask_line, print_error};

/// How many lines of a diff are shown.
const LINES: usize = 40;

/// Lines of stdin. The dialog that holds the lock gets the next ones.
pub(super) type TypedLines = Arc<Mutex<mpsc::Receiver<String>>>;

/// Reads lines of stdin from now on.
pub(super) fn lines() -> TypedLines {
    let (sender, receiver) = mpsc::channel(1);
    // A read of stdin cannot be cancelled, so it is done on a thread that ends with the program.
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

/// Asks the person; `None` when stdin has ended. The future is dropped when somebody else answers,
/// and the next dialog begins.
pub(super) async fn ask(request: InteractionRequest, lines: TypedLines) -> Option<UserAnswer> {
    let mut lines = lines.lock().await;
    let Some(questions) = &request.questions else {
        print_error(&describe(&request));
        ask_line("y for yes this time, a number, or anything else for no (Ctrl-C leaves it open):");
        let line = lines.recv().await?;
        return Some(permission(&request, &line));
    };
    let mut replies = Vec::new();
    for question in questions {
        print_error(&describe_question(question));
        ask_line(format_args!(
            "{}, or words of your own:",
            how_many(question)
        ));
        replies.push(reply(question, &lines.recv().await?));
    }
    Some(UserAnswer::Reply(replies))
}

fn describe(request: &InteractionRequest) -> Lines {
    let mut lines = Lines::new();
    lines.push("");
    lines.push(format_args!("The agent asks: {}", request.title));
    let command = request
        .input
        .as_ref()
        .and_then(|it| it.get("command")?.as_str());
    if let Some(command) = command {
        quote(&mut lines, "  $ ", command);
    }
    for diff in request.content.iter().filter_map(ToolContent::as_diff) {
        lines.push(format_args!("  {}", diff.path));
        let old = diff
            .old_text
            .unwrap_or_default()
            .lines()
            .map(|line| ("  -", line));
        let changed = old.chain(diff.new_text.lines().map(|line| ("  +", line)));
        for (sign, line) in changed.clone().take(LINES) {
            lines.quote(sign, line);
        }
        if changed.count() > LINES {
            lines.push("  …");
        }
    }
    let unreviewed = request.tool_name.as_deref().and_then(unreviewed_with);
    if let Some(unreviewed) = unreviewed {
        lines.push(format_args!("  {unreviewed}"));
    }
    let options = options(request);
    let mut lasting = false;
    for (number, option) in (1..).zip(options.as_slice()) {
        if option.lasts() && !lasting {
            lines.push("  and without asking again:");
            lasting = true;
        }
        let indent = if lasting { "    " } else { "  " };
        lines.push(format_args!("{indent}{number}) {}", option.title));
    }
    lines
}

/// The options in the order of [`RequestOptions`], which is the order of their numbers.
fn options(request: &InteractionRequest) -> RequestOptions {
    let option = |option: &PermissionOption| RequestOption {
        id: option.option_id.clone(),
        title: option.title().to_owned(),
        kind: option.kind.as_ref().map(|kind| kind.as_str().into()),
    };
    request.options.iter().map(option).collect()
}

/// Everything but a clear yes declines.
fn permission(request: &InteractionRequest, line: &str) -> UserAnswer {
    let line = line.trim();
    if line.eq_ignore_ascii_case("y") || line.eq_ignore_ascii_case("yes") {
        return UserAnswer::Allow;
    }
    let options = options(request);
    let chosen = line
        .parse::<usize>()
        .ok()
        .and_then(|it| options.as_slice().get(it.checked_sub(1)?));
    chosen.map_or(UserAnswer::Decline, |option| {
        UserAnswer::Choose(option.id.clone())
    })
}

fn describe_question(question: &Question) -> Lines {
    let mut lines = Lines::new();
    lines.push("");
    quote(&mut lines, "The agent asks: ", &question.question);
    for (number, option) in (1..).zip(&question.options) {
        let about = option.description.as_deref().map(|it| format!(": {it}"));
        let about = about.unwrap_or_default();
        lines.push(format_args!("  {number}) {}{about}", option.label));
    }
    lines
}

fn how_many(question: &Question) -> &'static str {
    if question.multi_select {
        "numbers with commas"
    } else {
        "a number"
    }
}

/// Foreign text of several lines. Those after the first are marked, so that none of them looks like
/// one of ours.
fn quote(lines: &mut Lines, mark: &str, text: &str) {
    let mut each = text.lines();
    lines.quote(mark, each.next().unwrap_or_default());
    for line in each {
        lines.quote("    | ", line);
    }
}

/// The labels for numbers, or the line itself.
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

    #[test]
    fn an_agent_cannot_write_a_line_of_ours() {
        let question = json!({
            "question": "Go on?\n  1) No",
            "options": [{"label": "Delete all\n  2) No", "description": "\u{1b}[2J"}],
        });
        assert_eq!(
            describe_question(&from_value(question).unwrap()).as_str(),
            "\nThe agent asks: Go on?\n    |   1) No\n  1) Delete all␊  2) No: ␛[2J\n"
        );
    }
}
