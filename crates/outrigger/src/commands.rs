//! The commands that ask a running companion something.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use companion::registry::Record;
use serde::Serialize;
use web::{Client, ClientError, wire};

use crate::args::{Accept, Chosen, Env, EnvForm, Focus, Global, Listing, Show, Url};
use crate::browser;
use crate::failure::{Failure, Kind};
use crate::folders;
use crate::output::{harmless, print, print_diff};

type Done = Result<ExitCode, Failure>;

/// How often, and at what intervals, a restarted companion is looked for.
const RESTART_LOOKS: u32 = 1000;
const RESTART_PAUSE: Duration = Duration::from_millis(10);

/// A way to ask the companion of the folder that a command is about.
pub(crate) fn client(record: &Record) -> Client {
    Client::new(record.port, record.secret.clone())
}

pub(crate) async fn status(global: &Global, args: &Listing) -> Done {
    #[derive(Serialize)]
    struct All {
        companions: Vec<wire::Status>,
    }
    let mut companions = Vec::new();
    for record in folders::registry(global)?.running() {
        match client(&record).get::<wire::Status>("/api/status").await {
            Ok(status) => companions.push(status),
            // It may have ended between the look and the question.
            Err(error @ ClientError::Silent { .. }) => eprintln!("outrigger: {error}"),
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        print_json(&All { companions });
    } else if companions.is_empty() {
        print("no companion is running; start one with `outrigger` in a project folder\n");
    } else {
        for companion in &companions {
            print(&harmless(&describe(companion)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn proposals(global: &Global, args: &Listing) -> Done {
    let record = folders::companion(global)?;
    let proposals: Vec<wire::Proposal> = client(&record).get("/api/proposals").await?;
    if args.json {
        print_json(&proposals);
    } else if proposals.is_empty() {
        print("nothing is pending\n");
    } else {
        for proposal in &proposals {
            print(&harmless(&line(proposal)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn show(global: &Global, args: &Show) -> Done {
    let record = folders::companion(global)?;
    let detail: wire::Detail = client(&record)
        .get(&format!("/api/proposals/{}", args.id))
        .await?;
    if args.json {
        print_json(&detail);
    } else {
        if let Some(why) = &detail.proposal.terminal_only {
            eprintln!("outrigger: {}", harmless(why));
        }
        print_diff(&detail.diff);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn accept(global: &Global, args: &Accept) -> Done {
    let record = folders::companion(global)?;
    let content = args.content_from.as_deref().map(read_text).transpose()?;
    let how = wire::Accept {
        hunks: args.hunks.clone(),
        content,
    };
    let decided: wire::Decided = client(&record)
        .post(&format!("/api/proposals/{}/accept", args.id), &how)
        .await?;
    tell("accepted", args.id, &decided);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn reject(global: &Global, args: &Chosen) -> Done {
    let record = folders::companion(global)?;
    let decided: wire::Decided = client(&record)
        .post(&format!("/api/proposals/{}/reject", args.id), &())
        .await?;
    tell("rejected", args.id, &decided);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn focus(global: &Global, args: &Focus) -> Done {
    let record = folders::companion(global)?;
    let focus = wire::Focus {
        path: folders::absolute(&args.file)?,
        line: args.line,
        column: args.column,
        selection: args.selection_from.as_deref().map(read_text).transpose()?,
    };
    let focused: wire::Focused = client(&record).post("/api/focus", &focus).await?;
    if let Some(reason) = focused.reason {
        eprintln!("outrigger: agents are not told about this file: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn url(global: &Global, args: &Url) -> Done {
    let record = folders::companion(global)?;
    let link: wire::Link = client(&record).post("/api/links", &()).await?;
    if args.open {
        browser::open(&link.url)?;
    } else {
        print(&format!("{}\n", link.url));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn env(global: &Global, args: &Env) -> Done {
    let record = folders::companion(global)?;
    let variables: wire::Environment = client(&record).get("/api/environment").await?;
    match args.shell {
        EnvForm::Json => print_json(&variables),
        EnvForm::Sh => print(&script(&variables, for_sh)),
        EnvForm::Fish => print(&script(&variables, for_fish)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restart(global: &Global) -> Done {
    let before = folders::companion(global)?;
    let () = client(&before).post("/api/restart", &()).await?;
    // Done means done: what is typed next meets the new program.
    let registry = folders::registry(global)?;
    let is_back =
        |record: &Record| record.port == before.port && record.started_at > before.started_at;
    for _ in 0..RESTART_LOOKS {
        if registry.running().iter().any(is_back) {
            eprintln!("outrigger: restarted the companion on port {}", before.port);
            return Ok(ExitCode::SUCCESS);
        }
        tokio::time::sleep(RESTART_PAUSE).await;
    }
    let message = format!("the companion on port {} has not come back", before.port);
    Err(Failure::new(Kind::Silent, message)
        .hint("start it again with `outrigger`; nothing that was pending is lost"))
}

pub(crate) async fn stop(global: &Global) -> Done {
    let record = folders::companion(global)?;
    let () = client(&record).post("/api/stop", &()).await?;
    eprintln!("outrigger: stopping the companion on port {}", record.port);
    Ok(ExitCode::SUCCESS)
}

fn describe(status: &wire::Status) -> String {
    let mut text = String::new();
    let roots: Vec<_> = status
        .roots
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "{}\n  {} · port {} · process {} · version {}",
        roots.join(", "),
        status.editor,
        status.port,
        status.pid,
        status.version
    );
    if status.sessions.is_empty() {
        let _ = writeln!(text, "  no agent is connected");
    }
    for session in &status.sessions {
        let presence = if session.streaming {
            "connected"
        } else {
            "away"
        };
        let who = format!("{} {}", session.agent, session.client.version);
        let _ = write!(text, "  {} · {presence}", who.trim_end());
        let _ = match session.undelivered {
            0 => writeln!(text),
            waiting => writeln!(text, " · {} for it", counted(waiting, "decision")),
        };
    }
    let _ = writeln!(text, "  pending proposals: {}", status.proposals);
    for file in &status.files {
        let mark = if file.active { '*' } else { ' ' };
        let _ = write!(text, "  {mark} {}", file.path.display());
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
        let _ = writeln!(text, "  problem: {problem}");
    }
    text
}

fn line(proposal: &wire::Proposal) -> String {
    let what = match (&proposal.terminal_only, proposal.new_file, proposal.hunks) {
        (Some(why), ..) => why.clone(),
        (None, true, _) => "new file".to_owned(),
        (None, false, hunks) => counted(hunks, "hunk"),
    };
    format!(
        "{:>4}  {:<7} {}  ({what})\n",
        proposal.id, proposal.agent, proposal.path
    )
}

/// "1 file", "2 files".
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn tell(what: &str, id: u64, decided: &wire::Decided) {
    if decided.streaming {
        eprintln!("outrigger: {what} proposal {id}");
    } else {
        eprintln!(
            "outrigger: {what} proposal {id}; {} is away and gets the decision when it comes back",
            decided.agent
        );
    }
}

/// Reads a text from a file, or from stdin for `-`, exactly as it is.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| Failure::other(format!("cannot read {}", path.display()), error))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(
            Kind::Refused,
            format!(
                "{} is not UTF-8 text, and agents take no other",
                path.display()
            ),
        )
    })
}

pub(crate) fn print_json(value: &impl Serialize) {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    print(&text);
}

/// One assignment a line.
fn script(variables: &wire::Environment, form: fn(&str, &str) -> String) -> String {
    variables
        .iter()
        .map(|(name, value)| form(name, value) + "\n")
        .collect()
}

/// Between single quotes sh takes every character as it is, but for the quote itself.
fn for_sh(name: &str, value: &str) -> String {
    format!("export {name}='{}'", value.replace('\'', r"'\''"))
}

/// In fish the backslash is special between single quotes as well.
fn for_fish(name: &str, value: &str) -> String {
    format!(
        "set -gx {name} '{}'",
        value.replace('\\', r"\\").replace('\'', r"\'")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_quoted_for_shells() {
        let value = "it's $HOME `x` \\";
        assert_eq!(for_sh("A", value), r"export A='it'\''s $HOME `x` \'");
        assert_eq!(for_fish("A", value), r"set -gx A 'it\'s $HOME `x` \\'");
    }
}
