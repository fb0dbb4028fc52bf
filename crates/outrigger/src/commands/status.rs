//! `outrigger status`: the companions that run.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use companion::registry::Record;
use front::words;
use serde::Serialize;
use web::{ClientError, wire};

use super::client;
use crate::args::{GlobalArgs, ListArgs};
use crate::failure::CommandResult;
use crate::folders;
use crate::output::{Lines, counted, note, print, print_json, print_line};

pub(crate) async fn status(global: &GlobalArgs, args: &ListArgs) -> CommandResult {
    if global.folder.is_some() {
        // All companions are shown; a folder that does not exist is a typing error all the same.
        folders::current(global)?;
    }
    let registry = folders::registry(global)?;
    let mut found = Companions::default();
    for record in registry.running() {
        let client = client(&record).with_patience(PATIENCE);
        match client.get::<wire::Status>("/api/status").await {
            Ok(status) => found.companions.push(status),
            Err(error @ ClientError::Silent { .. }) => {
                note(error);
                // It may have ended since the registry was read.
                let same = |other: &Record| other.pid == record.pid;
                if registry.running().iter().any(same) {
                    found.silent.push(SilentCompanion {
                        pid: record.pid,
                        port: record.port,
                        roots: record.roots,
                    });
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        print_json(&found);
        return Ok(ExitCode::SUCCESS);
    }
    if found.companions.is_empty() && found.silent.is_empty() {
        print_line("no companion is running; start one with `outrigger` in a project folder");
    }
    for companion in &found.companions {
        print(&describe(companion));
    }
    for silent in &found.silent {
        print(&describe_silent(silent));
    }
    Ok(ExitCode::SUCCESS)
}

/// How long a companion may take to say how things stand.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default, Serialize)]
struct Companions {
    companions: Vec<wire::Status>,
    /// Those that run but do not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    silent: Vec<SilentCompanion>,
}

/// What its record says of a companion that does not answer.
#[derive(Serialize)]
struct SilentCompanion {
    pid: u32,
    port: u16,
    roots: Vec<PathBuf>,
}

fn describe_silent(silent: &SilentCompanion) -> Lines {
    let mut lines = Lines::new();
    let roots = silent.roots.iter().map(|root| root.display().to_string());
    lines.push(roots.collect::<Vec<_>>().join(", "));
    lines.push(format_args!(
        "  a companion runs (process {pid}, port {}) but does not answer; try again, or end it with `kill {pid}`",
        silent.port,
        pid = silent.pid,
    ));
    lines
}

fn describe(status: &wire::Status) -> Lines {
    let mut lines = Lines::new();
    let roots = status.roots.iter().map(|root| root.display().to_string());
    lines.push(roots.collect::<Vec<_>>().join(", "));
    lines.push(format_args!(
        "  {} · port {} · process {} · version {}",
        status.editor, status.port, status.pid, status.version
    ));
    if !status.editors.is_empty() {
        let editors = status.editors.iter().map(|editor| match editor.pid {
            Some(pid) => format!("{} (process {pid})", editor.name),
            None => editor.name.clone(),
        });
        let editors: Vec<_> = editors.collect();
        lines.push(format_args!("  editors: {}", editors.join(", ")));
    }
    if status.sessions.is_empty() {
        lines.push("  no agent is connected");
    }
    for session in &status.sessions {
        let waiting = match session.undelivered {
            0 => String::new(),
            waiting => format!(" · {} for it", counted(waiting, "decision")),
        };
        lines.push(format_args!(
            "  {} · {}{waiting}",
            session.label, session.presence
        ));
        if let Some(note) = &session.note {
            lines.push(format_args!("    {note}"));
        }
    }
    lines.push(format_args!("  pending proposals: {}", status.proposals));
    for file in &status.files {
        let mark = if file.active { '*' } else { ' ' };
        let place = file.line.map_or_else(String::new, |line| {
            format!(":{line}:{}", file.column.unwrap_or(1))
        });
        let selected = file.selected.map_or_else(String::new, |selected| {
            format!(" ({} selected)", counted(selected, "character"))
        });
        let path = folders::relative(&file.path).display();
        lines.push(format_args!("  {mark} {path}{place}{selected}"));
    }
    if status.held_back.total > 0 {
        lines.push(format_args!("  {}", held_back(&status.held_back)));
    }
    for fault in &status.faults {
        lines.push(format_args!("  {}", words::fault(&fault.clone().into())));
    }
    for problem in &status.problems {
        lines.push(format_args!("  problem: {problem}"));
    }
    if let Some(why) = &status.no_conversation {
        lines.push(format_args!("  no conversations with a daemon: {why}"));
    }
    lines
}

fn held_back(held_back: &wire::HeldBack) -> String {
    let wire::HeldBack {
        total,
        secret,
        ignored,
        outside,
        closed,
    } = held_back;
    let in_closed = match closed {
        0 => String::new(),
        closed => format!(", {closed} in a closed folder"),
    };
    format!(
        "held back from agents: {} ({secret} secret, {ignored} ignored, {outside} outside the workspace{in_closed})",
        counted(*total, "file")
    )
}
