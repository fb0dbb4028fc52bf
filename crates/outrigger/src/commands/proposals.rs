//! `outrigger proposals` and `outrigger show`: what agents want to change.

use std::process::ExitCode;

use companion::registry::Record;
use text::shell;
use web::{Client, wire};

use super::client;
use crate::args::{GlobalArgs, ProposalsArgs, ShowArgs};
use crate::display::Display;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::output::{Lines, counted, note, one_line, print_error, print_json};

pub(crate) async fn proposals(global: &GlobalArgs, args: &ProposalsArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let proposals = list(&client(&record)).await?;
    if args.json {
        print_json(&proposals);
        return Ok(ExitCode::SUCCESS);
    }
    let lines = match proposals.as_slice() {
        [] => ["nothing is pending"].into_iter().collect(),
        proposals => summaries(proposals),
    };
    Display::of_stdout(&args.display).show_summaries(&lines);
    for other in nested(&record, folders::registry(global)?.running()) {
        note_elsewhere(&other).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// The companions of folders below or above those of this one.
fn nested(record: &Record, running: Vec<Record>) -> Vec<Record> {
    let is_nested = |other: &Record| {
        let mut pairs = other
            .roots
            .iter()
            .flat_map(|root| record.roots.iter().map(move |own| (root, own)));
        other.port != record.port
            && pairs.any(|(root, own)| root.starts_with(own) || own.starts_with(root))
    };
    running.into_iter().filter(is_nested).collect()
}

/// Says how many proposals wait in a companion that the person may have forgotten.
async fn note_elsewhere(other: &Record) {
    // It may have ended since the registry was read.
    let Ok(status) = client(other).get::<wire::Status>("/api/status").await else {
        return;
    };
    if let Some(root) = status.roots.first().filter(|_| status.proposals > 0) {
        let folder = shell::word(root);
        note(format_args!(
            "{} in {folder}; see `outrigger -C {folder} proposals`",
            counted(status.proposals, "more proposal")
        ));
    }
}

pub(crate) async fn show(global: &GlobalArgs, args: &ShowArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let client = client(&record);
    let id = match args.id {
        Some(id) => id,
        None => only(&list(&client).await?, "show")?.id,
    };
    let detail: wire::Detail = client.get(&format!("/api/proposals/{id}")).await?;
    if args.json {
        print_json(&detail);
        return Ok(ExitCode::SUCCESS);
    }
    let proposal = &detail.proposal;
    let notes = proposal.terminal_only.iter().chain(&proposal.stale);
    for why in notes.chain(&proposal.withheld) {
        note(why);
    }
    let mut diff = with_relative_paths(proposal, &detail.diff);
    if let Some(edited) = detail.current_diff.filter(|_| !args.proposed) {
        note(format_args!(
            "it was edited in a page or an editor: this is what `outrigger accept {id}` takes; for what the agent proposes, and the numbers of its hunks, see `outrigger show {id} --proposed`"
        ));
        diff = without_numbers(&with_relative_paths(proposal, &edited));
    }
    let head = summaries(std::slice::from_ref(proposal));
    Display::of_stdout(&args.display).show_diff(&head, &diff);
    Ok(ExitCode::SUCCESS)
}

/// The pending proposals, oldest first.
pub(super) async fn list(client: &Client) -> Result<Vec<wire::Proposal>, Failure> {
    Ok(client.get("/api/proposals").await?)
}

/// The only proposal there is. If there are several, they are listed: `command` needs a number.
pub(super) fn only<'a>(
    proposals: &'a [wire::Proposal],
    command: &str,
) -> Result<&'a wire::Proposal, Failure> {
    match proposals {
        [only] => Ok(only),
        [] => Err(Failure::new(FailureKind::Refused, "nothing is pending")),
        several => {
            print_error(&summaries(several));
            let message = format!("{} are pending", counted(several.len(), "proposal"));
            let hint = format!("name one of them: `outrigger {command} {}`", several[0].id);
            Err(Failure::new(FailureKind::Refused, message).hint(hint))
        }
    }
}

/// One line for each proposal.
pub(super) fn summaries(proposals: &[wire::Proposal]) -> Lines {
    let agents = proposals.iter().map(|proposal| one_line(&proposal.agent));
    let width = agents.map(|agent| agent.chars().count()).max();
    let lines = proposals.iter();
    lines
        .map(|proposal| summary(proposal, width.unwrap_or_default()))
        .collect()
}

fn summary(proposal: &wire::Proposal, width: usize) -> String {
    let who = &proposal.who;
    let mut what = match (&proposal.terminal_only, proposal.new_file) {
        (Some(why), _) => format!("({why}; {who})"),
        (None, true) => format!("{}  (new file; {who})", lines(proposal)),
        (None, false) => {
            let hunks = counted(proposal.hunks, "hunk");
            format!("{}  ({hunks}; {who})", lines(proposal))
        }
    };
    if proposal.stale.is_some() {
        what.push_str("  the file has changed since");
    }
    if proposal.conflicts > 0 {
        what = format!("{what}, {}", counted(proposal.conflicts, "conflict"));
    }
    if proposal.withheld.is_some() {
        what.push_str("  not shared with agents: whole or not at all");
    }
    let path = shown_path(&proposal.path);
    let agent = one_line(&proposal.agent);
    format!("{:>3}  {agent:<width$}  {path}  {what}", proposal.id)
}

/// "+3 −2": the lines that a proposal adds and removes.
fn lines(proposal: &wire::Proposal) -> String {
    format!("+{} −{}", proposal.added, proposal.removed)
}

/// The path of a proposal as people read it here.
pub(super) fn shown_path(path: &str) -> String {
    folders::relative(path.as_ref()).display().to_string()
}

/// The diff with the path in its head as it is shown elsewhere.
fn with_relative_paths(proposal: &wire::Proposal, diff: &str) -> String {
    let path = &proposal.path;
    let (sent, shown) = (one_line(path), one_line(shown_path(path)));
    // The head ends with the first hunk; a line of the file may look like one of it.
    let (head, hunks) = match diff.find("\n@@ ") {
        Some(at) => diff.split_at(at),
        None => (diff, ""),
    };
    let line = |line: &str| {
        let marks = ["--- ", "+++ "];
        let mark = marks
            .into_iter()
            .find(|mark| line.strip_prefix(mark) == Some(&sent));
        mark.map_or_else(|| line.to_owned(), |mark| format!("{mark}{shown}"))
    };
    let head: Vec<_> = head.split('\n').map(line).collect();
    head.join("\n") + hunks
}

/// The diff without the numbers of its hunks. `accept --hunks` counts those of what the agent
/// proposes, and not those of what somebody has made of it.
fn without_numbers(diff: &str) -> String {
    let lines = diff.split_inclusive('\n');
    lines
        .map(|line| match line.rsplit_once(" @@ hunk ") {
            Some((head, _)) if line.starts_with("@@ ") => format!("{head} @@\n"),
            _ => line.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(id: u64, agent: &str, path: &str) -> wire::Proposal {
        wire::Proposal {
            id,
            path: path.into(),
            agent: agent.into(),
            who: format!("{agent} · pts/3"),
            session: "s".into(),
            opened_at: 0,
            new_file: false,
            hunks: 1,
            added: 3,
            removed: 2,
            revision: 1,
            stale: None,
            conflicts: 0,
            editable: true,
            withheld: None,
            terminal_only: None,
        }
    }

    #[test]
    fn a_list_is_aligned() {
        let mut new = proposal(12, "gemini", "/w/new.txt");
        new.new_file = true;
        new.removed = 0;
        let mut binary = proposal(13, "qwen", "/w/a.bin");
        binary.terminal_only = Some("it is not UTF-8".into());
        let mut several = proposal(3, "qwen", "/w/a.txt");
        several.hunks = 2;
        let mut stale = proposal(4, "qwen", "/w/a.txt");
        stale.stale = Some("in more words".into());
        stale.conflicts = 1;
        assert_eq!(
            summaries(&[several, stale, new, binary]).as_str(),
            "  3  qwen    /w/a.txt  +3 −2  (2 hunks; qwen · pts/3)\n  \
             4  qwen    /w/a.txt  +3 −2  (1 hunk; qwen · pts/3)  the file has changed since, 1 conflict\n \
             12  gemini  /w/new.txt  +3 −0  (new file; gemini · pts/3)\n \
             13  qwen    /w/a.bin  (it is not UTF-8; qwen · pts/3)\n"
        );
    }

    #[test]
    fn foreign_text_cannot_make_a_line_of_its_own() {
        let hostile = proposal(7, "qwen", "/w/a\n   8  gemini  /w/b\u{1b}[2J");
        assert_eq!(
            summaries(&[hostile]).as_str(),
            "  7  qwen  /w/a␊   8  gemini  /w/b␛[2J  +3 −2  (1 hunk; qwen · pts/3)\n"
        );
    }

    #[test]
    fn only_the_head_of_a_diff_has_paths() {
        let here = std::env::current_dir().unwrap().join("src/a.txt");
        let path = here.to_str().unwrap();
        let diff = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@ hunk 1\n--- {path}\n+++ {path}\n");
        let shown = with_relative_paths(&proposal(1, "qwen", path), &diff);
        let expected =
            format!("--- src/a.txt\n+++ src/a.txt\n@@ -1 +1 @@ hunk 1\n--- {path}\n+++ {path}\n");
        assert_eq!(shown, expected);
        let plain = expected.replace(" hunk 1", "");
        assert_eq!(without_numbers(&shown), plain);
        let lines_of_the_file = "-@@ -1 +1 @@ hunk 1\n";
        assert_eq!(without_numbers(lines_of_the_file), lines_of_the_file);
    }
}
