//! `outrigger serve` and `outrigger config`: a companion without an editor.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use companion::registry::Record;
use front::words;
use serde::Serialize;
use web::wire;
use workbench::Agent;

use crate::args::{GlobalArgs, ServeArgs};
use crate::commands::client;
use crate::config::{Conversations, Layer, ShownConfig};
use crate::failure::{CommandResult, Failure};
use crate::output::{self, note, print, print_error_line, print_json, print_json_line, print_line};
use crate::service::{Exit, Service, ServiceOptions, Start, is_same_version, load_config};
use crate::{browser, folders, narration, resume, runtime, signals};

/// How long work that blocks may keep the program from ending.
const LAST_WORK: Duration = Duration::from_millis(200);

/// What `--json` prints when the companion is ready. It holds no token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    pid: u32,
    port: u16,
    roots: &'a [PathBuf],
    version: &'a str,
    /// Whether it ran before: this process has started nothing and ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    already_running: bool,
}

impl Ready<'_> {
    fn of(record: &Record, already_running: bool) -> Ready<'_> {
        Ready {
            pid: record.pid,
            port: record.port,
            roots: &record.roots,
            version: &record.version,
            already_running,
        }
    }

    fn print(&self) {
        print_json_line(self);
    }
}

pub(crate) fn serve(global: &GlobalArgs, args: &ServeArgs) -> CommandResult {
    let handover = resume::handover();
    let resumed = handover.is_some();
    let options = ServiceOptions {
        parent: args.parent,
        handover,
        ..ServiceOptions::load(global, &args.dirs, Layer::from_flags(args)?)?
    };
    runtime::log_to_stderr(options.config.log.value);
    for warning in options.config.warnings() {
        tracing::warn!("{warning}");
    }
    let is_terminal = output::is_terminal();
    let has_browser = browser::would_be_seen(&|name| std::env::var(name).ok(), is_terminal);
    let open = options.config.open.value && !args.json && has_browser;
    let narrate = !options.config.quiet.value && !args.json;
    let agents = options.config.privacy.agents.value.clone();
    let runtime = runtime::start()?;
    let exit = runtime.block_on(async {
        let stop = signals::wait();
        let mut service = match Service::start(options)? {
            Start::Started(service) => service,
            Start::Served(record) => {
                say_served(&record, args, open).await?;
                return Ok(Exit::Stopped);
            }
        };
        let remover = service.discovery().remover();
        runtime::on_panic(move || {
            remover.remove();
        });
        if !resumed {
            say_ready(&mut service, &agents, args.json, open);
        }
        // Whatever is logged, and however quiet it is to be: this is about what is not reviewed.
        if let Some(warning) = service.conversation_warning() {
            note(format_args!("warning: {warning}"));
        }
        if narrate {
            let roots = service.discovery().record().roots.clone();
            narration::start(service.front(), roots, resumed);
        }
        Ok::<_, Failure>(service.run(stop).await)
    })?;
    // A look at a file of a dead network mount must not keep the program from ending.
    runtime.shutdown_timeout(LAST_WORK);
    match exit {
        Exit::Stopped => Ok(ExitCode::SUCCESS),
        Exit::Restart(handover) => Err(resume::restart(handover)),
    }
}

/// `outrigger config`.
pub(crate) fn show_config(global: &GlobalArgs, args: &ServeArgs) -> CommandResult {
    let roots = folders::roots(global, &args.dirs)?;
    let config = load_config(&roots, Layer::from_flags(args)?)?;
    let state = folders::state_setting(global)?;
    let conversations = config.daemon.conversations();
    let warning = conversations.as_ref().ok().and_then(Conversations::warning);
    let shown = ShownConfig::new(&config, &roots, &state, warning);
    if args.json {
        print_json(&shown.json());
    } else {
        print(&shown.lines());
    }
    // What would keep a companion from starting is a failure here, too.
    conversations?;
    Ok(ExitCode::SUCCESS)
}

/// Says that the companion is ready, and how to use it.
fn say_ready(service: &mut Service, agents: &[Agent], json: bool, open: bool) {
    let links = service.links().clone();
    let record = service.discovery().record();
    if json {
        return Ready::of(record, false).print();
    }
    let roots = record.roots.iter().map(|root| root.display().to_string());
    let roots: Vec<_> = roots.collect();
    print_error_line(format_args!(
        "outrigger {} serves {} on port {}",
        record.version,
        roots.join(", "),
        record.port
    ));
    // Without random numbers there is no link; the companion works all the same.
    if let Ok(link) = links.fresh() {
        print_line(format_args!("  review in the browser: {link}"));
    }
    print_error_line(format_args!("  {};", words::how_to_start(agents)));
    print_error_line(
        "  `outrigger url` gives a fresh link, `outrigger proposals` lists what they want to change.",
    );
    if open
        && let Ok(link) = links.fresh()
        && let Err(failure) = browser::open(&link)
    {
        failure.report();
    }
}

/// Says who serves these folders already, and how to use that one.
async fn say_served(record: &Record, args: &ServeArgs, open: bool) -> Result<(), Failure> {
    let client = client(record);
    let status: wire::Status = client.get("/api/status").await?;
    print_error_line(format_args!(
        "{} serves this folder on port {}",
        who(&status),
        record.port
    ));
    if !is_same_version(record) {
        // Another version may not say why it cannot be restarted; the command says so then.
        let remedy = status.no_restart.as_deref();
        let remedy = remedy.unwrap_or("`outrigger restart` brings it up to date");
        note(format_args!(
            "that is version {} of outrigger, this is {}; {remedy}",
            record.version,
            env!("CARGO_PKG_VERSION")
        ));
    }
    let unused = flags_in_vain(record, args);
    if !unused.is_empty() {
        note(format_args!(
            "{} cannot be applied to a companion that runs; run `outrigger stop`, then this command again",
            unused.join(", ")
        ));
    }
    if args.json {
        Ready::of(record, true).print();
        return Ok(());
    }
    let link: wire::PageLink = client.post("/api/links", &()).await?;
    print_line(format_args!("  review in the browser: {}", link.url));
    if open {
        let link: wire::PageLink = client.post("/api/links", &()).await?;
        if let Err(failure) = browser::open(&link.url) {
            failure.report();
        }
    }
    Ok(())
}

/// Whoever the person knows it by: the editor that joined last, or the program itself.
fn who(status: &wire::Status) -> String {
    match status.editors.last() {
        Some(wire::Editor {
            name,
            pid: Some(pid),
        }) => format!("{name} (process {pid})"),
        Some(editor) => editor.name.clone(),
        None => format!("{} (process {})", status.editor, status.pid),
    }
}

/// The flags that ask for something else than the running companion may have.
fn flags_in_vain(record: &Record, args: &ServeArgs) -> Vec<&'static str> {
    let flags = [
        ("--port", args.port.is_some_and(|port| port != record.port)),
        ("--daemon", args.daemon),
        ("--daemon-url", args.daemon_url.is_some()),
        ("--daemon-mode", args.daemon_mode.is_some()),
        ("--daemon-model", args.daemon_model.is_some()),
        ("--parent", args.parent.is_some()),
        ("--agents", !args.agents.is_empty()),
        ("--ignore", !args.ignore.is_empty()),
        ("--name", args.name.is_some()),
    ];
    let given = flags.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(flag, _)| flag).collect()
}
