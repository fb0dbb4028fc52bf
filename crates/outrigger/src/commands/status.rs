//! `outrigger status`: the companions that run.

use std::fmt::Write as _;
use std::process::ExitCode;

use front::words;
use serde::Serialize;
use web::{ClientError, wire};

use super::client;
use crate::args::{GlobalArgs, ListArgs};
use crate::failure::CommandResult;
use crate::folders;
use crate::output::{counted, note, one_line, print, print_json};

pub(crate) async fn status(global: &GlobalArgs, args: &ListArgs) -> CommandResult {
    #[derive(Serialize)]
    struct Companions {
        companions: Vec<wire::Status>,
    }
    if global.folder.is_some() {
        // All companions are shown; a folder that does not exist is a typing error all the same.
        folders::current(global)?;
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
    if !status.editors.is_empty() {
        let editors = status.editors.iter().map(|editor| match editor.pid {
            Some(pid) => one_line(format_args!("{} (process {pid})", editor.name)),
            None => one_line(&editor.name),
        });
        let editors: Vec<_> = editors.collect();
        let _ = writeln!(text, "  editors: {}", editors.join(", "));
    }
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
        let _ = write!(
            text,
            "  {mark} {}",
            one_line(folders::relative(&file.path).display())
        );
        if let Some(line) = file.line {
            let _ = write!(text, ":{line}:{}", file.column.unwrap_or(1));
        }
        let _ = match file.selected {
            Some(selected) => writeln!(text, " ({} selected)", counted(selected, "character")),
            None => writeln!(text),
        };
    }
    if status.held_back.total > 0 {
        let wire::HeldBack {
            total,
            secret,
            ignored,
            outside,
            closed,
        } = status.held_back;
        let in_closed = match closed {
            0 => String::new(),
            closed => format!(", {closed} in a closed folder"),
        };
        let _ = writeln!(
            text,
            "  held back from agents: {} ({secret} secret, {ignored} ignored, {outside} outside the workspace{in_closed})",
            counted(total, "file")
        );
    }
    for fault in &status.faults {
        let _ = writeln!(text, "  {}", words::fault(&fault.clone().into()));
    }
    for problem in &status.problems {
        let _ = writeln!(text, "  problem: {}", one_line(problem));
    }
    text
}
