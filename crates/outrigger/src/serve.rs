//! `outrigger serve` and `outrigger config`: a companion without an editor.

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use front::{Change, Front, Interest, Item, Topic, words};
use serde::Serialize;
use workbench::Agent;

use crate::args::{GlobalArgs, ServeArgs};
use crate::config::Layer;
use crate::failure::{CommandResult, Failure};
use crate::output::{note, one_line, print, print_error};
use crate::service::{Exit, Service, ServiceOptions, load_config};
use crate::{browser, folders, resume, runtime, signals};

/// How long work that blocks may keep the program from ending.
const LAST_WORK: Duration = Duration::from_millis(200);

/// What `--json` prints when the companion is ready. It holds no token.
#[derive(Serialize)]
struct Ready<'a> {
    pid: u32,
    port: u16,
    roots: &'a [PathBuf],
    version: &'a str,
}

pub(crate) fn serve(global: &GlobalArgs, args: &ServeArgs) -> CommandResult {
    let socket = resume::inherited_socket();
    let resumed = socket.is_some();
    let options = ServiceOptions {
        parent: args.parent,
        socket,
        ..ServiceOptions::load(global, &args.dirs, Layer::from_flags(args)?)?
    };
    runtime::log_to_stderr(options.config.log.value);
    for warning in &options.config.warnings {
        tracing::warn!("{warning}");
    }
    let already = options
        .roots
        .first()
        .and_then(|root| options.registry.serving(root));
    if let Some(other) = already.filter(|_| !resumed) {
        note(format_args!(
            "process {} serves this folder already (port {}); agents that start from now on find this one",
            other.pid, other.port
        ));
    }
    let is_terminal = std::io::stdout().is_terminal();
    let has_browser = browser::would_be_seen(&|name| std::env::var(name).ok(), is_terminal);
    let open = options.config.open.value && !args.json && has_browser;
    let agents = options.config.agents.value.clone();
    let runtime = runtime::start()?;
    let exit = runtime.block_on(async {
        let stop = signals::wait();
        let mut service = Service::start(options)?;
        let remover = service.discovery().remover();
        runtime::on_panic(move || remover.remove());
        if !resumed {
            say_ready(&mut service, &agents, args.json, open);
        }
        if !args.json {
            tokio::spawn(tell_who_connects(service.front().clone()));
        }
        Ok::<_, Failure>(service.run(stop).await)
    })?;
    // A look at a file of a dead network mount must not keep the program from ending.
    runtime.shutdown_timeout(LAST_WORK);
    match exit {
        Exit::Stopped => Ok(ExitCode::SUCCESS),
        Exit::Restart(socket) => Err(resume::restart(&socket)),
    }
}

/// `outrigger config`.
pub(crate) fn show_config(global: &GlobalArgs, args: &ServeArgs) -> CommandResult {
    let roots = folders::roots(global, &args.dirs)?;
    let config = load_config(&roots, Layer::from_flags(args)?)?;
    let daemon = config.daemon.target()?;
    print(&format!("{config}{daemon}"));
    Ok(ExitCode::SUCCESS)
}

/// Says who connects, and which of them were started in a mode that never asks.
async fn tell_who_connects(front: Front) {
    let mut feed = front.read(Interest::of(&[Topic::Review]), None);
    let mut known = HashSet::new();
    while let Ok(item) = feed.next().await {
        let agents = match &item {
            Item::Snapshot(snapshot) => &snapshot.overview.agents,
            Item::Change(change) => match &change.change {
                Change::Agents(agents) => agents,
                _ => continue,
            },
        };
        for session in agents {
            if !known.insert(session.id.clone()) {
                continue;
            }
            let said = words::unasking(session).map_or_else(String::new, |it| format!("; {it}"));
            note(format_args!("{} is connected{said}", words::label(session)));
        }
        known.retain(|id| agents.iter().any(|session| session.id == *id));
    }
}

/// Says that the companion is ready, and how to use it.
fn say_ready(service: &mut Service, agents: &[Agent], json: bool, open: bool) {
    let links = service.links().clone();
    let record = service.discovery().record();
    if json {
        let ready = Ready {
            pid: record.pid,
            port: record.port,
            roots: &record.roots,
            version: &record.version,
        };
        let line = serde_json::to_string(&ready).unwrap_or_default();
        return print(&(line + "\n"));
    }
    let roots: Vec<_> = record
        .roots
        .iter()
        .map(|root| one_line(root.display()))
        .collect();
    print_error(&format!(
        "outrigger {} serves {} on port {}\n",
        record.version,
        roots.join(", "),
        record.port
    ));
    // Without random numbers there is no link; the companion works all the same.
    if let Ok(link) = links.fresh() {
        print(&format!("  review in the browser: {link}\n"));
    }
    print_error(&format!(
        "  {};\n  \
         `outrigger url` gives a fresh link, `outrigger proposals` lists what they want to change.\n",
        words::how_to_start(agents)
    ));
    if open
        && let Ok(link) = links.fresh()
        && let Err(failure) = browser::open(&link)
    {
        failure.report();
    }
}
