//! The routes of the page and its API, and which key each of them needs.

mod conversation;
mod editor;
mod events;
mod focus;
mod page;
mod proposals;
mod service;
mod status;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::{delete, get, post, put};
use companion::Ending;
use front::Front;
use tokio::sync::watch;
use workbench::Agent;

use crate::keys::{self, Keys};
use crate::links::Links;
use crate::stream_slots::StreamSlots;

pub(crate) use editor::PROTOCOL;
pub use editor::{EditorDoor, EditorKnock, EditorPipe, EditorSeat, NoSeat};

/// What the router needs.
#[derive(Debug)]
pub struct Api {
    /// The port that the page is served on.
    pub port: u16,
    /// The agents that may connect at this moment.
    pub agents: watch::Receiver<Vec<Agent>>,
    /// The keys of commands and pages.
    pub keys: Keys,
    /// The tickets by which pages get their key.
    pub links: Links,
    /// What a person can do and see.
    pub front: Front,
    /// Where editors are let in.
    pub editors: EditorDoor,
    /// What the companion's process belongs to.
    pub owner: Owner,
    /// The id of this run of the companion.
    pub instance: String,
    /// Changes when the companion is about to end.
    pub ending: watch::Receiver<Ending>,
    /// The largest request body in bytes.
    pub body: usize,
    /// How often a comment is written to an idle stream.
    pub keep_alive: Duration,
}

/// What the process of a companion belongs to, and so who can restart it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nothing: it can become a new program by itself.
    Itself,
    /// The editors that are in it: it ends when the last one has left.
    Editor,
    /// `outrigger run`, which has an agent in the foreground.
    Launcher,
}

impl Owner {
    /// Why such a companion cannot be restarted by a command, and what to do instead.
    pub(crate) const fn no_restart(self) -> Option<&'static str> {
        match self {
            Owner::Itself => None,
            Owner::Editor => Some("this companion belongs to an editor; restart it from there"),
            Owner::Launcher => Some(
                "this companion belongs to `outrigger run`; quit the agent there and start it again",
            ),
        }
    }
}

pub(crate) type ServerState = State<Arc<Server>>;

/// The state of all handlers.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) api: Api,
    slots: Arc<StreamSlots>,
}

/// The limit for the body with a ticket: it is short, and its sender has shown no key.
const TICKET_BODY: usize = 1024;

/// The page and its API.
pub fn router(api: Api) -> Router {
    let body = api.body;
    let server = Arc::new(Server {
        api,
        slots: Arc::default(),
    });
    let for_commands = Router::new()
        .route("/api/editor", get(editor::join))
        .route("/api/environment", get(service::environment))
        .route("/api/guests", post(service::add_host_process))
        .route("/api/links", post(service::link))
        .route("/api/restart", post(service::restart))
        .route("/api/stop", post(service::stop))
        .route("/api/stop-unused", post(service::stop_unused))
        .layer(middleware::from_fn(keys::commands_only));
    let for_both = Router::new()
        .route("/api/status", get(status::status))
        .route("/api/live", get(status::live))
        .route("/api/events", get(events::events))
        .route("/api/proposals", get(proposals::list))
        .route("/api/proposals/{id}", get(proposals::detail))
        .route("/api/proposals/{id}/draft", put(proposals::draft))
        .route("/api/proposals/{id}/accept", post(proposals::accept))
        .route("/api/proposals/{id}/reject", post(proposals::reject))
        .route("/api/focus", post(focus::focus))
        .route("/api/chat", get(conversation::snapshot))
        .route("/api/chat/connect", post(conversation::connect))
        .route("/api/chat/disconnect", post(conversation::disconnect))
        .route("/api/chat/start", post(conversation::start))
        .route("/api/chat/prompt", post(conversation::prompt))
        .route("/api/chat/cancel", post(conversation::cancel))
        .route("/api/chat/queue/{prompt}", delete(conversation::withdraw))
        .route("/api/chat/model", post(conversation::model))
        .route("/api/chat/mode", post(conversation::mode))
        .route("/api/chat/requests/{request}", post(conversation::answer))
        .route("/api/chat/earlier", get(conversation::earlier))
        .route("/api/chat/files", get(conversation::files));
    let with_a_key = for_both
        .merge(for_commands)
        // Runs inside `require_key`: no body is read before the request has shown a key.
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(
            server.clone(),
            keys::require_key,
        ))
        .layer(middleware::map_response(forbid_caching));
    let for_everybody = Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .route(
            "/api/page",
            post(page::redeem_ticket).layer(middleware::map_response(forbid_caching)),
        )
        .layer(DefaultBodyLimit::max(TICKET_BODY))
        .layer(middleware::from_fn_with_state(
            server.clone(),
            keys::require_own_address,
        ));
    with_a_key
        .merge(for_everybody)
        .layer(middleware::map_response(add_security_headers))
        .with_state(server)
}

/// The page may load only its own files, and no other page may embed it.
///
/// Inline styles are allowed because the diff editor inserts its own, and pictures as `data:` because
/// those of a conversation come with it: nothing is fetched to show them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

const SECURITY_HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Keeps other sites from using a response.
async fn add_security_headers(mut response: Response) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Keeps texts and keys out of the browser's cache.
async fn forbid_caching(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}
