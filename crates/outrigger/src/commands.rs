//! The commands that send a request to a running companion.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use companion::registry::Record;
use serde::Serialize;
use text::shell;
use web::{Client, ClientError, wire};

use crate::args::{
    AcceptArgs, EnvArgs, FocusArgs, GlobalArgs, ListArgs, RejectArgs, ShellSyntax, ShowArgs,
    UrlArgs,
};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::input::read_text;
use crate::output::{note, one_line, print, print_diff, print_json};
use crate::{browser, folders};

/// How often, and at what intervals, to look for a restarted companion.
const RESTART_CHECKS: u32 = 1000;
const RESTART_INTERVAL: Duration = Duration::from_millis(10);

/// A client of this companion.
pub(crate) fn client(record: &Record) -> Client {
    Client::new(record.port, record.secret.clone())
}

pub(crate) async fn status(global: &GlobalArgs, args: &ListArgs) -> CommandResult {
    #[derive(Serialize)]
    struct Companions {
        companions: Vec<wire::Status>,
    }
    let mut companions = Vec::new();
    for record in folders::registry(global)?.running() {
        match client(&record).get::<wire::Status>("/api/status").await {
            Ok(status) => companions.push(status),
            // It may have ended since the registry was read.
            Err(error @ ClientError::Silent { .. }) => note(error),
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        print_json(&Companions { companions });
    } else if companions.is_empty() {
        print("no companion is running; start one with `outrigger` in a project folder\n");
    } else {
        for companion in &companions {
            print(&describe(companion));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn proposals(global: &GlobalArgs, args: &ListArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let proposals: Vec<wire::Proposal> = client(&record).get("/api/proposals").await?;
    if args.json {
        print_json(&proposals);
    } else if proposals.is_empty() {
        print("nothing is pending\n");
    } else {
        for proposal in &proposals {
            print(&summary(proposal));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn show(global: &GlobalArgs, args: &ShowArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let detail: wire::Detail = client(&record)
        .get(&format!("/api/proposals/{}", args.id))
        .await?;
    if args.json {
        print_json(&detail);
    } else {
        if let Some(why) = &detail.proposal.terminal_only {
            note(why);
        }
        print_diff(&detail.diff);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn accept(global: &GlobalArgs, args: &AcceptArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let content = args.content_from.as_deref().map(read_text).transpose()?;
    let accept = wire::Accept {
        hunks: args.hunks.clone(),
        content,
    };
    let decided: wire::Decided = client(&record)
        .post(&format!("/api/proposals/{}/accept", args.id), &accept)
        .await?;
    note_decision("accepted", args.id, &decided);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn reject(global: &GlobalArgs, args: &RejectArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let decided: wire::Decided = client(&record)
        .post(&format!("/api/proposals/{}/reject", args.id), &())
        .await?;
    note_decision("rejected", args.id, &decided);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn focus(global: &GlobalArgs, args: &FocusArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let focus = wire::Focus {
        path: folders::absolute(&args.file)?,
        line: args.line,
        column: args.column,
        selection: args.selection_from.as_deref().map(read_text).transpose()?,
    };
    let focused: wire::Focused = client(&record).post("/api/focus", &focus).await?;
    if let Some(reason) = focused.reason {
        note(format_args!(
            "agents are not told about this file: {reason}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn url(global: &GlobalArgs, args: &UrlArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let link: wire::PageLink = client(&record).post("/api/links", &()).await?;
    if args.open {
        browser::open(&link.url)?;
    } else {
        print(&format!("{}\n", link.url));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn env(global: &GlobalArgs, args: &EnvArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let variables: wire::Environment = client(&record).get("/api/environment").await?;
    match args.shell {
        ShellSyntax::Json => print_json(&variables),
        ShellSyntax::Sh => print(&script(&variables, for_sh)),
        ShellSyntax::Fish => print(&script(&variables, for_fish)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restart(global: &GlobalArgs) -> CommandResult {
    let before = folders::companion(global)?;
    let () = client(&before).post("/api/restart", &()).await?;
    // The next command must meet the new program, so wait until it is there.
    let registry = folders::registry(global)?;
    let is_back =
        |record: &Record| record.port == before.port && record.started_at > before.started_at;
    for _ in 0..RESTART_CHECKS {
        if registry.running().iter().any(is_back) {
            note(format_args!(
                "restarted the companion on port {}",
                before.port
            ));
            return Ok(ExitCode::SUCCESS);
        }
        tokio::time::sleep(RESTART_INTERVAL).await;
    }
    let message = format!("the companion on port {} has not come back", before.port);
    Err(Failure::new(FailureKind::Silent, message)
        .hint("start it again with `outrigger`; nothing that was pending is lost"))
}

pub(crate) async fn stop(global: &GlobalArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let () = client(&record).post("/api/stop", &()).await?;
    note(format_args!(
        "stopping the companion on port {}",
        record.port
    ));
    Ok(ExitCode::SUCCESS)
}

fn describe(status: &wire::Status) -> String {
    let mut text = String::new();
    let roots = status.roots.iter().map(|root| one_line(root.display()));
    let roots: Vec<_> = roots.collect();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "{}\n  {} · port {} · process {} · version {}",
        roots.join(", "),
        one_line(&status.editor),
        status.port,
        status.pid,
        one_line(&status.version)
    );
    if status.sessions.is_empty() {
        let _ = writeln!(text, "  no agent is connected");
    }
    for session in &status.sessions {
        let (label, presence) = (one_line(&session.label), one_line(&session.presence));
        let _ = write!(text, "  {label} · {presence}");
        let _ = match session.undelivered {
            0 => writeln!(text),
            waiting => writeln!(text, " · {} for it", counted(waiting, "decision")),
        };
        if let Some(note) = &session.note {
            let _ = writeln!(text, "    {}", one_line(note));
        }
    }
    let _ = writeln!(text, "  pending proposals: {}", status.proposals);
    for file in &status.files {
        let mark = if file.active { '*' } else { ' ' };
        let _ = write!(text, "  {mark} {}", one_line(file.path.display()));
        if let Some(line) = file.line {
            let _ = write!(text, ":{line}:{}", file.column.unwrap_or(1));
        }
        let _ = match file.selected {
            Some(selected) => writeln!(text, " ({selected} characters selected)"),
            None => writeln!(text),
        };
    }
    if status.held_back.total > 0 {
        let wire::HeldBack {
            total,
            secret,
            ignored,
            outside,
        } = status.held_back;
        let _ = writeln!(
            text,
            "  held back from agents: {} ({secret} secret, {ignored} ignored, {outside} outside the workspace)",
            counted(total, "file")
        );
    }
    for problem in &status.problems {
        let _ = writeln!(text, "  problem: {}", one_line(problem));
    }
    text
}

fn summary(proposal: &wire::Proposal) -> String {
    let what = match (&proposal.terminal_only, proposal.new_file, proposal.hunks) {
        (Some(why), ..) => why.clone(),
        (None, true, _) => "new file".to_owned(),
        (None, false, hunks) => counted(hunks, "hunk"),
    };
    let (id, path, who) = (proposal.id, &proposal.path, &proposal.who);
    one_line(format_args!("{id:>4}  {path}  ({what}; {who})")) + "\n"
}

/// "1 file", "2 files".
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn note_decision(what: &str, id: u64, decided: &wire::Decided) {
    if decided.streaming {
        note(format_args!("{what} proposal {id}"));
    } else {
        note(format_args!(
            "{what} proposal {id}; {} is away and gets the decision when it comes back",
            decided.agent
        ));
    }
}

/// One assignment per line.
fn script(variables: &wire::Environment, assign: fn(&str, &str) -> String) -> String {
    variables
        .iter()
        .map(|(name, value)| assign(name, value) + "\n")
        .collect()
}

fn for_sh(name: &str, value: &str) -> String {
    format!("export {name}={}", shell::quote_sh(value))
}

fn for_fish(name: &str, value: &str) -> String {
    format!("set -gx {name} {}", shell::quote_fish(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_make_a_line_of_its_own() {
        let proposal = wire::Proposal {
            id: 7,
            path: "/w/a\n   8  gemini  /w/b\u{1b}[2J".into(),
            agent: "qwen".into(),
            who: "Qwen Code · pts/3\n · process 7".into(),
            session: "s".into(),
            opened_at: 0,
            new_file: false,
            hunks: 1,
            editable: true,
            terminal_only: None,
        };
        assert_eq!(
            summary(&proposal),
            "   7  /w/a␊   8  gemini  /w/b␛[2J  (1 hunk; Qwen Code · pts/3␊ · process 7)\n"
        );
    }

    #[test]
    fn variables_are_quoted_for_shells() {
        let value = "it's $HOME `x` \\";
        assert_eq!(for_sh("A", value), r"export A='it'\''s $HOME `x` \'");
        assert_eq!(for_fish("A", value), r"set -gx A 'it\'s $HOME `x` \\'");
    }
}
