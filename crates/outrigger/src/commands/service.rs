//! Commands about the companion itself: links to its page, variables for agents, restart and stop.

use std::process::ExitCode;
use std::time::Duration;

use companion::registry::Record;
use text::shell::{export_fish, export_sh};
use web::wire;

use super::client;
use crate::args::{EnvArgs, GlobalArgs, ShellSyntax, UrlArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::{Lines, note, print, print_json, print_line};
use crate::{browser, folders};

/// How often, and at what intervals, to look for a restarted companion.
const RESTART_CHECKS: u32 = 1000;
const RESTART_INTERVAL: Duration = Duration::from_millis(10);

/// How often to look whether a companion has heard that it should stop.
const STOP_CHECKS: u32 = 200;

pub(crate) async fn url(global: &GlobalArgs, args: &UrlArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let link: wire::PageLink = client(&record).post("/api/links", &()).await?;
    if args.json {
        print_json(&link);
    } else if args.open {
        browser::open(&link.url)?;
    } else {
        print_line(link.url);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn env(global: &GlobalArgs, args: &EnvArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let variables: wire::Environment = client(&record).get("/api/environment").await?;
    match args.shell {
        ShellSyntax::Json => print_json(&variables),
        ShellSyntax::Sh => print(&script(&variables, export_sh)),
        ShellSyntax::Fish => print(&script(&variables, export_fish)),
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
    // The next command must not meet it.
    let registry = folders::registry(global)?;
    let is_there = |other: &Record| other.pid == record.pid;
    for _ in 0..STOP_CHECKS {
        if !registry.running().iter().any(is_there) {
            break;
        }
        tokio::time::sleep(RESTART_INTERVAL).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// One assignment per line.
fn script(variables: &wire::Environment, export: fn(&str, &str) -> String) -> Lines {
    let lines = variables.iter().map(|(name, value)| export(name, value));
    lines.collect()
}
