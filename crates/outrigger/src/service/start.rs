//! The start of a service: everything is put together here.

use std::path::{Path, PathBuf};

use beacon::process;
use companion::desk::Desk;
use companion::journal::{Journal, Saved};
use companion::registry::{Record, Registry, Slot};
use companion::{Ending, mcp, random_hex};
use conversation::Conversation;
use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use front::{Front, NoConversation, PublishChange};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use web::{Keys, Links, Owner};
use workbench::Workbench;

use super::privacy::PrivacyWatch;
use super::reception::{OwnPart, Reception};
use super::server::{HttpServer, listen};
use super::succession::Succession;
use super::{Service, ServiceOptions, Start, identity};
use crate::config::{Config, Conversations};
use crate::discovery::{Beginning, Discovery, leftovers};
use crate::failure::{Failure, FailureKind};
use crate::resume::Handover;

impl Service {
    /// Starts a companion, unless one serves these folders. When this returns, agents can find it
    /// and connect.
    pub(crate) fn start(options: ServiceOptions) -> Result<Start, Failure> {
        let ServiceOptions {
            roots,
            config,
            conversations,
            registry,
            state,
            parent,
            editor,
            owner,
            handover,
        } = options;
        check_parent(parent)?;
        let (watched, privacy) = PrivacyWatch::start(&config, &roots);
        let mut admitted = watched.admitted();

        // Held until the record is written, from which others learn that these folders are served.
        let _turn = registry.turn().map_err(cannot_start)?;
        if handover.is_none()
            && let Some(record) = served_by(&registry, &roots, owner)
        {
            return Ok(Start::Served(Box::new(record)));
        }
        let place = Place::take(&registry, &roots, &config, handover)?;
        let (slot, port) = (place.slot, place.port);
        let (process, settings) = editor.map(|it| (it.process, it.settings)).unzip();
        let before = (place.previous.as_ref(), place.succession);
        let record = identity::record(port, roots, &config, settings, before)?;

        let limits = config.limits();
        let (saved, journal) = journal(&slot, place.succession)?;
        let workbench = Workbench::new(record.roots.clone(), privacy);
        let (sink, contexts) = mcp::context_channel();
        let desk = Desk::start(workbench, saved, journal, limits.clone(), sink);
        let (ending, ended) = watch::channel(Ending::No);
        let (sender, commands) = mpsc::channel(16);
        let links = Links::new(port);
        let warning = conversations.warning();
        let front = Front::start(desk.clone(), sender, |publish| {
            start_conversation(conversations, &record, slot.folder(), &desk, publish)
        });
        let front = front.map_err(cannot_start)?;
        let own = OwnPart::new(owner, &record);
        let (reception, door) = Reception::new(owner);
        let agents = admitted.borrow_and_update().clone();
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: identity::tokens(&record),
            admitted: admitted.clone(),
            desk: desk.clone(),
            contexts,
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge(web::router(web::Api {
            port,
            agents: admitted.clone(),
            keys: Keys {
                commands: record.secret.clone(),
                page: record.page.clone(),
            },
            links: links.clone(),
            front: front.clone(),
            editors: door,
            owner,
            instance: random_hex::<8>().map_err(cannot_start)?,
            ending: ended,
            body: limits.body,
            keep_alive: limits.keep_alive,
        }));
        let process = process.flatten();
        let announcement = identity::announcement(&record, &state, process.or(parent));
        let beginning = Beginning {
            announcement,
            agents,
            record,
            slot,
            previous: place.previous,
            parent,
            editor: process,
        };
        let discovery = announce(beginning, owner)?;
        // Only now, because a companion that does not start would leave a registration at the daemon.
        if let Ok(conversation) = front.conversation().cloned() {
            // What goes wrong shows in the status of the conversation.
            tokio::spawn(async move { conversation.begin().await });
        }
        Ok(Start::Started(Box::new(Service {
            server: HttpServer::start(place.listener, app, limits),
            ending,
            commands,
            front,
            links,
            desk,
            discovery,
            privacy: watched,
            admitted,
            parent: parent.map(|pid| (pid, process::started(pid))),
            owner,
            returns: false,
            own,
            daemon: config.daemon,
            conversation_warning: warning,
            reception,
        })))
    }
}

/// Where a companion keeps its state and where it listens, and what was there before.
struct Place {
    slot: Slot,
    listener: TcpListener,
    port: u16,
    previous: Option<Record>,
    succession: Succession,
}

impl Place {
    /// Takes the place of the program before in this process, of the run before, or a new one.
    fn take(
        registry: &Registry,
        roots: &[PathBuf],
        config: &Config,
        handover: Option<Handover>,
    ) -> Result<Place, Failure> {
        let (socket, lock) = handover.map(|it| (it.socket, it.lock)).unzip();
        let is_handed_over = socket.is_some();
        let resumed = lock.and_then(|lock| registry.resume(lock));
        let (slot, previous) = match resumed {
            Some((slot, previous)) => (slot, Some(previous)),
            None => registry.claim(roots).map_err(cannot_start)?,
        };
        registry.clear_abandoned(remove_leftovers);
        let listener = listen(socket, config, previous.as_ref().map(|it| &it.record))?;
        let port = listener.local_addr().map_err(cannot_start)?.port();
        Ok(Place {
            slot,
            listener,
            port,
            succession: Succession::of(previous.as_ref(), port, is_handed_over),
            previous: previous.map(|previous| previous.record),
        })
    }
}

/// Lets agents and commands find the companion.
fn announce(beginning: Beginning, owner: Owner) -> Result<Discovery, Failure> {
    let discovery = Discovery::start(beginning);
    match discovery.record_trouble() {
        // Its editor would not find it, and start another one, and another.
        Some(trouble) if owner == Owner::Editor => return Err(cannot_start(trouble)),
        _ => {}
    }
    for problem in discovery.problems() {
        tracing::warn!("{problem}");
    }
    Ok(discovery)
}

/// The journal, and what counts of what the run before has written into it.
fn journal(slot: &Slot, succession: Succession) -> Result<(Saved, Journal), Failure> {
    let (mut saved, journal) = slot.journal().map_err(cannot_start)?;
    if !succession.keeps_tokens() {
        for path in saved.end_sessions() {
            tracing::warn!(
                path,
                "a decision has not reached its agent, which cannot come back to this companion; \
                 decide it in the agent's terminal"
            );
        }
    }
    Ok((saved, journal))
}

fn check_parent(parent: Option<u32>) -> Result<(), Failure> {
    match parent.filter(|pid| !process::exists(*pid)) {
        None => Ok(()),
        Some(pid) => {
            let message = format!("there is no process {pid} (--parent)");
            Err(Failure::new(FailureKind::Start, message))
        }
    }
}

/// The companion that serves all of these folders. An editor can join only one of its own version.
fn served_by(registry: &Registry, roots: &[PathBuf], owner: Owner) -> Option<Record> {
    let mut serving = registry.covering(roots).into_iter();
    serving.rfind(|record| owner != Owner::Editor || is_same_version(record))
}

/// Whether a running companion is the same program as this one, so that an editor can join it.
pub(crate) fn is_same_version(record: &Record) -> bool {
    record.version == env!("CARGO_PKG_VERSION")
}

/// Starts the conversation with a daemon, if one is offered. It must not keep the companion from
/// starting: if there is no daemon, the page and the editor say so, and what to do.
fn start_conversation(
    conversations: Conversations,
    record: &Record,
    memory: &Path,
    desk: &Desk,
    publish: PublishChange,
) -> Result<Conversation, NoConversation> {
    let (target, new) = match conversations {
        Conversations::Off => return Err(NoConversation::Off),
        Conversations::Unusable(why) => return Err(NoConversation::Misconfigured(why)),
        Conversations::On(with) => with,
    };
    let backend = DaemonBackend::new(DaemonSettings {
        address: target.address,
        token: target.token,
        workspace: record.roots.first().cloned().unwrap_or_default(),
        program: "qwen".into(),
        mode: new.mode.value,
        model: new.model,
        session: ::daemon::SessionSettings::default(),
        timeouts: ::daemon::Timeouts::default(),
    });
    let settings = conversation::Settings {
        memory: memory.to_owned(),
        machine: conversation::machine_name(),
    };
    Ok(Conversation::start(
        backend,
        settings,
        desk.clone(),
        publish,
    ))
}

/// Removes the discovery files that a run could not remove because it crashed.
fn remove_leftovers(of: &Record) {
    for file in leftovers(of).clear() {
        tracing::info!(path = %file.display(), "removed a discovery file of an earlier run");
    }
}

pub(super) fn cannot_start(error: impl std::fmt::Display) -> Failure {
    let message = format!("cannot start the companion: {error}");
    Failure::new(FailureKind::Start, message)
}
