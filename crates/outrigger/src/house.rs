//! The house: a companion with everything that keeps it found, reachable and alive.
//!
//! It puts the crates together and holds no rules of its own: the desk, the endpoint for
//! agents, the API for the person, and the discovery files.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use beacon::{Announcement, IdeInfo, Stdio};
use chat::Chat;
use companion::desk::Desk;
use companion::registry::{Record, Registry};
use companion::{Ending, Limits, Token, mcp, random_hex, server};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;
use web::{Keys, Links, Order};
use workbench::{Agent, Privacy, Workbench};

use crate::config::Config;
use crate::daemon::settings::Link;
use crate::failure::{Failure, Kind};
use crate::keeper::{Keeper, Keeping};
use crate::privacy::IgnoreFiles;

/// How often the discovery files and the processes that we depend on are looked at.
const ROUND: Duration = Duration::from_millis(500);
/// How long agents are asked to wait before they come back after a planned restart.
const RETRY: Duration = Duration::from_secs(1);

/// What a house is opened with.
pub(crate) struct Plan {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) config: Config,
    pub(crate) registry: Registry,
    pub(crate) state: PathBuf,
    /// The daemon to hold conversations with, if that is switched on.
    pub(crate) daemon: Option<Link>,
    /// The process that we live for, if there is one.
    pub(crate) parent: Option<u32>,
    /// Whether the process may become a new program to restart.
    pub(crate) restartable: bool,
    /// The socket of the run that we continue, if we do.
    pub(crate) socket: Option<std::net::TcpListener>,
}

/// An open house.
pub(crate) struct House {
    listener: TcpListener,
    app: Router,
    limits: Limits,
    order: mpsc::Sender<Order>,
    orders: mpsc::Receiver<Order>,
    ending: watch::Sender<Ending>,
    links: Links,
    chat: Option<Chat>,
    desk: Desk,
    keeper: Keeper,
}

/// Why a house was left.
pub(crate) enum Departure {
    /// For good.
    Exit,
    /// To come back at once on the same socket.
    Restart(std::net::TcpListener),
}

impl House {
    /// Opens a house. When this returns, agents can find it and connect.
    pub(crate) fn open(plan: Plan) -> Result<House, Failure> {
        let Plan {
            roots,
            config,
            registry,
            state,
            daemon,
            parent,
            restartable,
            socket,
        } = plan;
        if let Some(pid) = parent
            && !beacon::process::exists(pid)
        {
            let message = format!("there is no process {pid} to live for (--parent)");
            return Err(Failure::new(Kind::Start, message));
        }
        let mut ignore_files = IgnoreFiles::new(roots.clone(), config.patterns());
        let privacy = first_privacy(&mut ignore_files)?;

        let (slot, previous) = (registry.claim(&roots, socket.is_some())).map_err(cannot_start)?;
        for abandoned in registry.abandoned() {
            clear_leftovers(&abandoned);
        }
        let listener = listen(socket, &config, previous.as_ref())?;
        let port = listener.local_addr().map_err(cannot_start)?.port();
        let record = record(port, roots, &config, previous.as_ref())?;

        let limits = config.limits();
        let (saved, journal) = slot.journal().map_err(cannot_start)?;
        let workbench = Workbench::new(record.roots.clone(), privacy);
        let desk = Desk::start(workbench, saved, journal, limits.clone());
        let (ending, ended) = watch::channel(Ending::No);
        let (order, orders) = mpsc::channel(16);
        let links = Links::new(port);
        let chat = daemon.map(|link| converse(link, &record, slot.folder(), &desk));
        let agents = config.agents.value;
        let let_in = HOLDERS
            .into_iter()
            .filter(|agent| *agent == Agent::Unnamed || agents.contains(agent));
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: let_in
                .filter_map(|agent| Some((agent, token(&record, agent)?.clone())))
                .collect(),
            desk: desk.clone(),
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge(web::router(web::Api {
            port,
            editor: record.editor.clone(),
            agents: agents.clone(),
            keys: Keys {
                commands: record.secret.clone(),
                page: record.page.clone(),
            },
            links: links.clone(),
            chat: chat.clone(),
            desk: desk.clone(),
            orders: order.clone(),
            restartable,
            instance: random_hex::<8>().map_err(cannot_start)?,
            ending: ended,
            body: limits.body,
            keep_alive: limits.keep_alive,
        }));
        let keeper = Keeper::new(Keeping {
            announcement: announcement(&record, &state, parent),
            record,
            slot,
            agents,
            ignore_files,
            parent,
            desk: desk.clone(),
        });
        if let Some(mut previous) = previous {
            // What the run before wrote and this one has not written again names processes that are gone.
            previous
                .files
                .retain(|file| !keeper.record().files.contains(file));
            clear_leftovers(&previous);
        }
        for problem in keeper.problems() {
            tracing::warn!("{problem}");
        }
        Ok(House {
            listener,
            app,
            limits,
            order,
            orders,
            ending,
            links,
            chat,
            desk,
            keeper,
        })
    }

    /// What keeps the house found, for those who run it.
    pub(crate) fn keeper(&mut self) -> &mut Keeper {
        &mut self.keeper
    }

    /// The owner of all state.
    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The way into the page.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The conversation with a daemon, if that is switched on.
    pub(crate) fn chat(&self) -> Option<&Chat> {
        self.chat.as_ref()
    }

    /// A way to give orders while the house lives.
    pub(crate) fn orders(&self) -> mpsc::Sender<Order> {
        self.order.clone()
    }

    /// Lives until `stop` resolves, somebody orders an end, or the process we live for is gone.
    pub(crate) async fn live(self, stop: impl Future<Output = ()>) -> Departure {
        let House {
            listener,
            app,
            limits,
            order: _,
            mut orders,
            ending,
            links: _,
            chat,
            desk,
            mut keeper,
        } = self;
        let (close, closed) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            let closed = async { drop(closed.await) };
            server::serve(&listener, app, &limits, closed).await;
            listener
        });
        let mut stop = pin!(stop);
        let mut round = tokio::time::interval(ROUND);
        round.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = loop {
            tokio::select! {
                () = &mut stop => break Ending::Exit,
                _ = round.tick() => if !keeper.make_round() {
                    break Ending::Exit;
                },
                // The API holds the other end for as long as the server runs.
                Some(order) = orders.recv() => match order {
                    Order::Restart => break Ending::Restart { retry: RETRY },
                    Order::Stop => break Ending::Exit,
                    other => keeper.obey(other),
                },
            }
        };
        // The files go first: nobody should find a house that is being left.
        if end == Ending::Exit {
            keeper.put_out();
        }
        ending.send_replace(end);
        let _ = close.send(());
        let listener = serving
            .await
            .ok()
            .and_then(|listener| listener.into_std().ok());
        let returning = end != Ending::Exit;
        if let Some(chat) = chat {
            chat.close(returning).await;
        }
        let _ = desk.ask(move |state| state.settle(returning)).await;
        match (end, listener) {
            (Ending::Restart { .. }, Some(listener)) => {
                keeper.leave_the_light_on();
                Departure::Restart(listener)
            }
            _ => Departure::Exit,
        }
    }
}

/// Finds a socket: the one that was handed over, the port that was asked for, the one that was
/// used for these folders before, or any.
fn listen(
    handed: Option<std::net::TcpListener>,
    config: &Config,
    previous: Option<&Record>,
) -> Result<TcpListener, Failure> {
    let bind = |port| std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let socket = match (handed, config.port.value) {
        (Some(socket), _) => Ok(socket),
        (None, Some(port)) => bind(port).map_err(|error| {
            let origin = &config.port.origin;
            Failure::new(
                Kind::Start,
                format!("cannot listen on port {port} ({origin}): {error}"),
            )
            .hint("stop the program that uses it, or leave the port out to take any free one")
        }),
        (None, None) => {
            // Agents that are still there look for the old port, and old ones for no other.
            let before = previous.and_then(|previous| bind(previous.port).ok());
            before.map_or_else(|| bind(0).map_err(cannot_start), Ok)
        }
    }?;
    socket.set_nonblocking(true).map_err(cannot_start)?;
    TcpListener::from_std(socket).map_err(cannot_start)
}

/// Begins the conversation with a daemon. It must not keep the companion from starting: if there is
/// no daemon, the page and the editor say so, and what to do.
fn converse(link: Link, record: &Record, memory: &Path, desk: &Desk) -> Chat {
    let settings = chat::Settings {
        address: link.address,
        token: link.token,
        workspace: record.roots.first().cloned().unwrap_or_default(),
        memory: memory.to_owned(),
        program: "qwen".into(),
    };
    let chat = Chat::new(settings, desk.clone());
    let begin = chat.clone();
    tokio::spawn(async move { begin.begin().await });
    chat
}

/// Removes what a run that crashed could not remove itself.
fn clear_leftovers(of: &Record) {
    let tokens: Vec<_> = of
        .tokens
        .iter()
        .map(|(_, token)| token.expose().to_owned())
        .collect();
    for file in beacon::leftovers::clear(&of.files, &tokens) {
        tracing::info!(path = %file.display(), "removed a leftover of an earlier run");
    }
}

/// The privacy filter to start with. A mistake in a pattern is an error here, because to go on
/// without it would share what the person wanted to keep.
fn first_privacy(ignore_files: &mut IgnoreFiles) -> Result<Privacy, Failure> {
    match ignore_files.changed() {
        Some(Ok(privacy)) => Ok(privacy),
        Some(Err(bad)) => Err(Failure::new(Kind::Configuration, bad.to_string())
            .hint("patterns are written as in .gitignore")),
        None => Err(cannot_start("no privacy filter could be built")),
    }
}

/// Everybody who may have a token.
const HOLDERS: [Agent; 3] = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];

/// What is to be known of this companion: new, or with the secrets and guests of the run before.
fn record(
    port: u16,
    roots: Vec<PathBuf>,
    config: &Config,
    previous: Option<&Record>,
) -> Result<Record, Failure> {
    let kept_or_new = |kept: Option<&Token>| match kept {
        Some(token) => Ok(token.clone()),
        None => Token::random().map_err(cannot_start),
    };
    let tokens = HOLDERS.into_iter().map(|agent| {
        let kept = previous.and_then(|previous| token(previous, agent));
        Ok((agent.slug().to_owned(), kept_or_new(kept)?))
    });
    Ok(Record {
        pid: std::process::id(),
        port,
        roots,
        editor: config.name.value.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        started_at: now(),
        tokens: tokens.collect::<Result<_, Failure>>()?,
        secret: kept_or_new(previous.map(|previous| &previous.secret))?,
        page: kept_or_new(previous.map(|previous| &previous.page))?,
        files: Vec::new(),
        guests: previous
            .map(|previous| previous.guests.clone())
            .unwrap_or_default(),
    })
}

fn token(record: &Record, agent: Agent) -> Option<&Token> {
    record
        .tokens
        .iter()
        .find(|(slug, _)| slug == agent.slug())
        .map(|(_, token)| token)
}

fn announcement(record: &Record, state: &Path, parent: Option<u32>) -> Announcement {
    let tokens = HOLDERS
        .into_iter()
        .filter_map(|agent| Some((agent, token(record, agent)?.expose().to_owned())));
    Announcement {
        port: record.port,
        roots: record.roots.clone(),
        ide: IdeInfo {
            name: slug(&record.editor),
            display_name: record.editor.clone(),
        },
        tokens: tokens.collect(),
        // Qwen Code deletes a file whose process it may not send a signal to.
        serves: parent
            .filter(|pid| beacon::process::alive(*pid))
            .unwrap_or(record.pid),
        stdio: stdio(state),
    }
}

/// How an agent that cannot reach the port can start a bridge to us.
///
/// Agents pass hardly any variable on to such a child, so the state folder is an argument.
fn stdio(state: &Path) -> Option<Stdio> {
    let command = std::env::current_exe().ok()?.to_str()?.to_owned();
    let args = ["bridge", "--state-dir", state.to_str()?];
    Some(Stdio {
        command,
        args: args.map(str::to_owned).to_vec(),
    })
}

/// Names of editors that agents have an installer for. Under one of these names an agent would
/// offer to install that editor's own extension.
const INSTALLABLE: [&str; 5] = [
    "vscode",
    "vscodefork",
    "firebasestudio",
    "positron",
    "antigravity",
];

/// The editor's name as programs write it: lower case, no spaces, and none that agents act upon.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() || INSTALLABLE.contains(&slug.as_str()) {
        format!("outrigger-{slug}").trim_end_matches('-').to_owned()
    } else {
        slug
    }
}

fn cannot_start(error: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::Start, format!("cannot start the companion: {error}"))
}

fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn the_name_for_programs_is_plain_and_triggers_no_installer() {
        for (name, plain) in [
            ("Outrigger", "outrigger"),
            ("GNU Emacs 28", "gnu-emacs-28"),
            ("VSCode", "outrigger-vscode"),
            ("…", "outrigger"),
        ] {
            assert_eq!(slug(name), plain);
        }
    }
}
