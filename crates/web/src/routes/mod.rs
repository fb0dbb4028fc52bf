//! The server's side of the page and its API: which routes there are, and who may ask for each.

mod chat;
mod events;
mod focus;
mod live;
mod page;
mod program;
mod proposals;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::chat::Chat;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post, put};
use companion::Ending;
use companion::desk::Desk;
use tokio::sync::{mpsc, oneshot, watch};
use workbench::Agent;

use crate::announcements::Announcements;
use crate::answer::Failure;
use crate::keys::{self, Keys};
use crate::links::Links;
use crate::recorder::Recorder;
use crate::seats::Seats;
use crate::wire;

/// What only the program itself can do.
#[derive(Debug)]
pub enum Order {
    /// Come back at once with the same port, tokens, sessions and proposals.
    Restart,
    /// End.
    Stop,
    /// Serve other folders from now on.
    SetRoots(Vec<PathBuf>),
    /// Let agents below this process find us, until it ends.
    Host(u32, oneshot::Sender<()>),
    /// The variables that an agent should see.
    Environment(oneshot::Sender<wire::Environment>),
    /// What is wrong with the discovery files, in words.
    Problems(oneshot::Sender<Vec<String>>),
}

/// What the page and its API need to know.
#[derive(Debug)]
pub struct Api {
    /// The port they are reached at.
    pub port: u16,
    /// The editor's name as agents show it.
    pub editor: String,
    /// The agents that are let in.
    pub agents: Vec<Agent>,
    /// Who may ask.
    pub keys: Keys,
    /// The way into the page.
    pub links: Links,
    /// The conversation with a daemon, if that is switched on.
    pub chat: Option<Chat>,
    /// The owner of all state.
    pub desk: Desk,
    /// The way to the program.
    pub orders: mpsc::Sender<Order>,
    /// Whether the companion can be restarted from outside; one inside an editor cannot.
    pub restartable: bool,
    /// Tells this run from the ones before and after it.
    pub instance: String,
    /// Says when the companion is about to end.
    pub ending: watch::Receiver<Ending>,
    /// The largest request body.
    pub body: usize,
    /// How often something is written to a stream on which nothing happens.
    pub keep_alive: Duration,
}

pub(crate) type Here = Shared<Arc<Server>>;

/// What every request can reach.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) api: Api,
    announcements: Arc<Announcements>,
    seats: Arc<Seats>,
}

/// A ticket is short, and whoever brings it has shown no key.
const TICKET_BODY: usize = 1024;

/// The page and its API. What happens from now on is announced to pages.
pub fn router(api: Api) -> Router {
    let body = api.body;
    let announcements = Arc::new(Announcements::new(api.instance.clone()));
    if let Ok(recorder) = Recorder::new(api.desk.clone(), announcements.clone()) {
        tokio::spawn(recorder.run(api.ending.clone()));
    }
    let server = Arc::new(Server {
        api,
        announcements,
        seats: Arc::default(),
    });
    let for_commands = Router::new()
        .route("/api/environment", get(program::environment))
        .route("/api/guests", post(program::host))
        .route("/api/links", post(program::link))
        .route("/api/restart", post(program::restart))
        .route("/api/stop", post(program::stop))
        .layer(middleware::from_fn(keys::commands_only));
    let for_both = Router::new()
        .route("/api/status", get(live::status))
        .route("/api/live", get(live::live))
        .route("/api/events", get(events::events))
        .route("/api/proposals", get(proposals::list))
        .route("/api/proposals/{id}", get(proposals::detail))
        .route("/api/proposals/{id}/draft", put(proposals::draft))
        .route("/api/proposals/{id}/accept", post(proposals::accept))
        .route("/api/proposals/{id}/reject", post(proposals::reject))
        .route("/api/focus", post(focus::focus))
        .route("/api/chat", get(chat::snapshot))
        .route("/api/chat/connect", post(chat::connect))
        .route("/api/chat/disconnect", post(chat::disconnect))
        .route("/api/chat/start", post(chat::start))
        .route("/api/chat/prompt", post(chat::prompt))
        .route("/api/chat/cancel", post(chat::cancel))
        .route("/api/chat/model", post(chat::model))
        .route("/api/chat/mode", post(chat::mode))
        .route("/api/chat/requests/{request}", post(chat::answer))
        .route("/api/chat/earlier", get(chat::earlier))
        .route("/api/chat/files", get(chat::files));
    let with_a_key = for_both
        .merge(for_commands)
        // Nothing of a request is read before it has shown a key.
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(server.clone(), keys::guard))
        .layer(middleware::map_response(unstored));
    let for_everybody = Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .route(
            "/api/page",
            post(page::enter).layer(middleware::map_response(unstored)),
        )
        .layer(DefaultBodyLimit::max(TICKET_BODY))
        .layer(middleware::from_fn_with_state(
            server.clone(),
            keys::neighbours,
        ));
    with_a_key
        .merge(for_everybody)
        .layer(middleware::map_response(contained))
        .with_state(server)
}

/// What the page may load, and who may show it: itself, and nobody.
///
/// Styles may stand in the page because the diff editor writes its own into it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

const CONTAINED: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Keeps every answer from being used by anything but our own page.
async fn contained(mut response: Response) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in CONTAINED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Keeps texts and keys out of the browser's cache.
async fn unstored(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

impl Server {
    async fn send(&self, order: Order) -> Result<(), Failure> {
        self.api.orders.send(order).await.map_err(|_| Failure::Gone)
    }

    async fn order<T>(
        &self,
        order: impl FnOnce(oneshot::Sender<T>) -> Order,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        self.send(order(answer)).await?;
        answered.await.map_err(|_| Failure::Gone)
    }
}
