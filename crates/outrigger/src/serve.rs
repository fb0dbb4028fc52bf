//! `outrigger serve`: a companion without an editor.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crate::args::{DaemonLink, Global, Serve};
use crate::browser::{self, Surroundings};
use crate::config::{Config, Sources};
use crate::failure::{Failure, Kind};
use crate::folders;
use crate::house::{Departure, House, Plan};
use crate::{daemon, resume, signals};

/// What `--json` prints when the companion is ready. It holds no token.
#[derive(Serialize)]
struct Ready<'a> {
    pid: u32,
    port: u16,
    roots: &'a [PathBuf],
    version: &'a str,
}

pub(crate) fn serve(global: &Global, args: &Serve) -> Result<ExitCode, Failure> {
    let socket = resume::taken_over();
    let resumed = socket.is_some();
    let plan = plan(global, args, socket)?;
    crate::log_to_stderr(plan.config.log.value);
    for warning in &plan.config.warnings {
        tracing::warn!("{warning}");
    }
    let already = plan
        .roots
        .first()
        .and_then(|root| plan.registry.serving(root));
    if let Some(other) = already.filter(|_| !resumed) {
        eprintln!(
            "outrigger: process {} serves this folder already (port {}); agents that start from now on find this one",
            other.pid, other.port
        );
    }
    let surroundings = Surroundings {
        variable: &|name| std::env::var(name).ok(),
        is_terminal: std::io::stdout().is_terminal(),
    };
    let opens = plan.config.open.value && !args.json && surroundings.has_a_browser();
    let runtime = crate::runtime()?;
    let departure = runtime.block_on(async {
        let stop = signals::wait();
        let mut house = House::open(plan)?;
        let remover = house.keeper().remover();
        crate::on_panic(move || remover.remove());
        if !resumed {
            announce(&mut house, args.json, opens);
        }
        Ok::<_, Failure>(house.live(stop).await)
    })?;
    drop(runtime);
    match departure {
        Departure::Exit => Ok(ExitCode::SUCCESS),
        Departure::Restart(listener) => Err(resume::hand_over(&listener)),
    }
}

/// What was typed, made into a plan.
pub(crate) fn plan(
    global: &Global,
    args: &Serve,
    socket: Option<std::net::TcpListener>,
) -> Result<Plan, Failure> {
    let roots = roots(global, args)?;
    Ok(Plan {
        config: config(args, &roots)?,
        daemon: daemon::settings::conversation(args)?,
        roots,
        registry: folders::registry(global)?,
        state: folders::state(global)?,
        parent: args.parent,
        restartable: true,
        socket,
    })
}

/// `outrigger config`.
pub(crate) fn show_config(global: &Global, args: &Serve) -> Result<ExitCode, Failure> {
    let roots = roots(global, args)?;
    let config = config(args, &roots)?;
    let link = crate::daemon::settings::resolve(&DaemonLink {
        url: args.daemon_url.clone(),
        token_file: None,
    })?;
    crate::output::print(&format!("{config}{link}"));
    Ok(ExitCode::SUCCESS)
}

fn config(args: &Serve, roots: &[PathBuf]) -> Result<Config, Failure> {
    Config::load(&Sources {
        flags: args,
        variable: &|name| std::env::var(name).ok(),
        user_file: folders::config_file(),
        roots,
    })
}

/// The folders to serve, without links, each once.
fn roots(global: &Global, args: &Serve) -> Result<Vec<PathBuf>, Failure> {
    let mut roots = Vec::new();
    for dir in &args.dirs {
        let root = folders::absolute(dir)?.canonicalize();
        let root = root.map_err(|error| no_folder(dir.display(), error))?;
        if !root.is_dir() {
            return Err(no_folder(dir.display(), "it is not a folder"));
        }
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    if roots.is_empty() {
        roots.push(folders::current(global)?);
    }
    Ok(roots)
}

fn no_folder(dir: impl std::fmt::Display, why: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::Start, format!("cannot serve {dir}: {why}"))
        .hint("name an existing folder, or none for the current one")
}

/// Says that the companion is ready, and how to see it.
fn announce(house: &mut House, json: bool, opens: bool) {
    let links = house.links().clone();
    let record = house.keeper().record();
    if json {
        let ready = Ready {
            pid: record.pid,
            port: record.port,
            roots: &record.roots,
            version: &record.version,
        };
        let line = serde_json::to_string(&ready).unwrap_or_default();
        // A reader that has gone away does not stop the companion.
        let _ = writeln!(std::io::stdout(), "{line}");
        return;
    }
    let roots: Vec<_> = record
        .roots
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    eprintln!(
        "outrigger {} serves {} on port {}",
        record.version,
        roots.join(", "),
        record.port
    );
    // Without randomness there is no link, and the companion does its work all the same.
    if let Ok(link) = links.fresh() {
        let _ = writeln!(std::io::stdout(), "  review in the browser: {link}");
    }
    eprintln!("  run `qwen` or `gemini` in this folder (the first time, say `/ide enable` there);");
    eprintln!(
        "  `outrigger url` gives a fresh link, `outrigger proposals` lists what they want to change."
    );
    if opens
        && let Ok(link) = links.fresh()
        && let Err(failure) = browser::open(&link)
    {
        eprintln!("outrigger: {failure}");
    }
}
