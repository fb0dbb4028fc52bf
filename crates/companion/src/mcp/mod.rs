//! The agent-facing endpoint: MCP over Streamable HTTP at `/mcp`.
//!
//! Written by hand because the published clients disconnect for good on things that
//! general MCP servers do by default. What they need is listed, with the versions it was
//! seen with, in `docs/protocols/companion.md`; the rule behind most of this module is
//! that a message of a live session is never answered with an HTTP error, because the
//! client would not recover: mistakes are told inside JSON-RPC.

mod contexts;
mod feed;
pub(crate) mod ide;
pub(crate) mod rpc;
pub(crate) mod skim;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Request, State as Shared};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::RuntimeFlavor;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use workbench::{Agent, ProposalId, SessionId};

use crate::agents::{AgentProcess, identify};
use crate::body::{Budget, Received, Sender};
use crate::desk::{Desk, Gone};
use crate::gate::{self, Denied};
use crate::limits::Limits;
use crate::mailbox::{Mailbox, StreamId, StreamKind};
use crate::server::{Caller, Flushes, KeyHolder, SocketEnds};
use crate::token::Token;
pub use contexts::{ContextReceiver, ContextSender, context_channel};
use feed::Connections;
pub use feed::Ending;
use ide::Initialize;
use rpc::{Fault, Incoming, Message};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// With this header a bridge names the process that it speaks for.
pub const SPEAKS_FOR: HeaderName = HeaderName::from_static("outrigger-speaks-for");

/// How long a session waits for its process to be found before it is opened without. It is found in
/// some milliseconds, unless the machine is very busy or a folder of the person's does not answer.
const IDENTIFICATION: Duration = Duration::from_secs(1);

/// What the endpoint needs to know.
#[derive(Debug)]
pub struct Endpoint {
    /// The port it is reached at.
    pub port: u16,
    /// One token per agent; the clients cannot be told apart otherwise.
    pub tokens: Vec<(Agent, Token)>,
    /// The agents that may connect at this moment. One without a name always may.
    pub admitted: watch::Receiver<Vec<Agent>>,
    /// The owner of all state.
    pub desk: Desk,
    /// The contexts that the desk publishes.
    pub contexts: ContextReceiver,
    /// Says when the companion is about to end.
    pub ending: watch::Receiver<Ending>,
    /// Bounds on what peers may do.
    pub limits: Limits,
}

impl Endpoint {
    /// An agent that is switched off is treated as one with a wrong token.
    fn let_in(&self, agent: Agent) -> Result<Agent, Denied> {
        let is_admitted = agent == Agent::Unnamed || self.admitted.borrow().contains(&agent);
        is_admitted.then_some(agent).ok_or(Denied::Bearer)
    }
}

/// The routes of the endpoint.
pub fn router(endpoint: Endpoint) -> Router {
    let budget = Budget::new(&endpoint.limits);
    Router::new()
        .route("/mcp", routing::any(handle))
        .with_state(Arc::new(Server { endpoint, budget }))
}

struct Server {
    endpoint: Endpoint,
    budget: Budget,
}

async fn handle(
    Shared(server): Shared<Arc<Server>>,
    Extension(flushes): Extension<Flushes>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let endpoint = &server.endpoint;
    let known = gate::admit(request.headers(), endpoint.port, &endpoint.tokens);
    let agent = match known.and_then(|agent| endpoint.let_in(agent)) {
        Ok(agent) => agent,
        Err(denied) => {
            tracing::debug!(?denied, "denied a request");
            return denied.into_response();
        }
    };
    if let Err(crowded) = caller.admit(KeyHolder::Agent(agent)).await {
        tracing::warn!(%agent, "an agent has too many connections");
        return problem(StatusCode::SERVICE_UNAVAILABLE, &crowded.to_string());
    }
    if let Some(version) = request.headers().get(VERSION)
        && !ide::VERSIONS.iter().any(|known| version == known)
    {
        return problem(
            StatusCode::BAD_REQUEST,
            "this MCP version is not spoken here",
        );
    }
    let handler = RequestHandler {
        server: &server,
        agent,
        flushes,
        ends: request.extensions().get().copied(),
    };
    let done = match *request.method() {
        Method::POST => handler.post(request).await,
        Method::GET => handler.listen(request.headers()).await,
        Method::DELETE => handler.leave(request.headers()).await,
        _ => {
            let refused = problem(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE");
            return ([(header::ALLOW, "POST, GET, DELETE")], refused).into_response();
        }
    };
    done.unwrap_or_else(|Gone| {
        problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "the companion is shutting down",
        )
    })
}

/// Handles one request of a peer whose token is known.
struct RequestHandler<'a> {
    server: &'a Arc<Server>,
    agent: Agent,
    flushes: Flushes,
    ends: Option<SocketEnds>,
}

/// The session that a request names.
struct FoundSession {
    id: SessionId,
    mailbox: Arc<Mailbox>,
    /// Whose room its bodies take.
    sender: Sender,
}

/// The response to one message.
enum Reply {
    /// None: it was a notification, or a response to a request of ours.
    None,
    Json(Vec<u8>),
    /// The response that opens this session.
    Welcome(SessionId, Vec<u8>),
    /// The response, on a stream that stays open until the proposal is decided.
    Stream(Vec<u8>, ProposalId),
}

impl RequestHandler<'_> {
    async fn post(&self, request: Request) -> Result<Response, Gone> {
        let (parts, body) = request.into_parts();
        let streams = accepts(&parts.headers, "text/event-stream", false);
        let found = self.find(&parts.headers).await?;
        let sender = match &found {
            Some(found) => found.sender.clone(),
            None => Sender::Agent(self.agent),
        };
        let (bytes, account) = match self.server.budget.receive(sender, body).await {
            Ok(Received::Whole(bytes, account)) => (bytes, account),
            Ok(Received::Skimmed(gist, excess)) => {
                return self.too_much(&gist, excess, found).await;
            }
            Err(cut) => return Ok(problem(StatusCode::BAD_REQUEST, &cut.to_string())),
        };
        // The room is given back when the texts have been handed over.
        let _account = account;
        let incoming = match heavy(bytes.len(), || rpc::parse(&bytes)) {
            Ok(incoming) => incoming,
            Err(error) => {
                let fault = Fault::new(
                    rpc::PARSE_ERROR,
                    format!("the body is not a JSON-RPC message: {error}"),
                );
                let answer = rpc::answer::<()>(None, Err(fault));
                return Ok((StatusCode::BAD_REQUEST, json_body(answer)).into_response());
            }
        };
        let message = match incoming {
            Incoming::One(message) => message,
            Incoming::Batch(messages) => return self.batch(messages, found).await,
        };
        if found.is_none() && message.method.as_deref() != Some("initialize") {
            return Ok(no_session(&parts.headers));
        }
        let reply = if message.method.as_deref() == Some("initialize") {
            self.initialize(&message, &parts.headers).await?
        } else {
            self.answer(&message, found.as_ref(), streams).await?
        };
        Ok(match (reply, found) {
            (Reply::None, _) => StatusCode::ACCEPTED.into_response(),
            (Reply::Welcome(id, json), _) => with_session(json_body(json).into_response(), &id),
            (Reply::Stream(json, proposal), Some(found)) => {
                let stream = self.attach(&found, StreamKind::Reply);
                let result = ide::frame(&json);
                event_stream(feed::reply(
                    self.connections(found),
                    stream,
                    result,
                    proposal,
                ))
            }
            (Reply::Json(json) | Reply::Stream(json, _), _) => json_body(json).into_response(),
        })
    }

    async fn batch(
        &self,
        messages: Vec<Message<'_>>,
        found: Option<FoundSession>,
    ) -> Result<Response, Gone> {
        let Some(found) = found else {
            return Ok(problem(
                StatusCode::BAD_REQUEST,
                "a batch needs a session; initialize first",
            ));
        };
        let mut answers = Vec::new();
        for message in &messages {
            if message.method.as_deref() == Some("initialize") {
                let fault = Fault::new(rpc::INVALID_REQUEST, "initialize cannot stand in a batch");
                answers.push(rpc::answer::<()>(message.id, Err(fault)));
            } else if let Reply::Json(json) = self.answer(message, Some(&found), false).await? {
                answers.push(json);
            }
        }
        if answers.is_empty() {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        let list = [&b"["[..], &answers.join(&b','), b"]"].concat();
        Ok(json_body(list).into_response())
    }

    /// Handles one message. `streams` says whether the verdict may follow on the same response.
    async fn answer(
        &self,
        message: &Message<'_>,
        found: Option<&FoundSession>,
        streams: bool,
    ) -> Result<Reply, Gone> {
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else {
            return Ok(Reply::None);
        };
        let answer = match (method, found) {
            ("ping", _) => rpc::answer(Some(id), Ok(json!({}))),
            ("tools/list", _) => rpc::answer(Some(id), Ok(ide::tools())),
            ("tools/call", Some(found)) => {
                return self.call(id, message.params, found, streams).await;
            }
            _ => {
                let fault = Fault::new(
                    rpc::METHOD_NOT_FOUND,
                    format!("there is no method {method:?}"),
                );
                rpc::answer::<()>(Some(id), Err(fault))
            }
        };
        Ok(Reply::Json(answer))
    }

    async fn initialize(&self, message: &Message<'_>, headers: &HeaderMap) -> Result<Reply, Gone> {
        let Some(id) = message.id else {
            return Ok(Reply::None);
        };
        let asked: Initialize = match read(message.params) {
            Ok(asked) => asked,
            Err(fault) => return Ok(Reply::Json(rpc::answer::<()>(Some(id), Err(fault)))),
        };
        let agent = self.agent;
        let welcome = ide::welcome(&asked.protocol_version);
        let mut identification = self.identification(headers);
        // Before the response: the peer may close this connection as soon as it has it.
        let found = tokio::time::timeout(IDENTIFICATION, &mut identification).await;
        let late = found.is_err();
        let process = found.ok().and_then(Result::ok).flatten();
        let opened = self
            .desk()
            .ask(move |state| state.open_session(agent, asked.client_info.into(), process))
            .await?;
        let session = match opened {
            Ok(session) => session,
            Err(full) => {
                let fault = Fault::new(rpc::TOO_MUCH, full.to_string());
                return Ok(Reply::Json(rpc::answer::<()>(Some(id), Err(fault))));
            }
        };
        if late {
            let (desk, session) = (self.desk().clone(), session.clone());
            tokio::spawn(async move {
                let process = identification.await.ok().flatten();
                desk.tell(move |state| state.identify_session(&session, process))
                    .await;
            });
        }
        Ok(Reply::Welcome(session, rpc::answer(Some(id), Ok(welcome))))
    }

    /// Finds the process at the other end, on a thread of its own.
    fn identification(&self, headers: &HeaderMap) -> JoinHandle<Option<AgentProcess>> {
        let (agent, ends) = (self.agent, self.ends);
        let claimed = headers.get(SPEAKS_FOR).and_then(|pid| pid.to_str().ok());
        let claimed = claimed.and_then(|pid| pid.parse().ok());
        tokio::task::spawn_blocking(move || identify(agent, ends?, claimed))
    }

    async fn listen(&self, headers: &HeaderMap) -> Result<Response, Gone> {
        if !accepts(headers, "text/event-stream", true) {
            return Ok(problem(
                StatusCode::NOT_ACCEPTABLE,
                "this is an event stream; accept text/event-stream",
            ));
        }
        let Some(found) = self.find(headers).await? else {
            return Ok(no_session(headers));
        };
        let id = found.id.clone();
        let stream = self.attach(&found, StreamKind::Listening);
        let began = id.clone();
        self.desk()
            .tell(move |state| state.stream_began(&began))
            .await;
        let response = event_stream(feed::listening(self.connections(found), stream));
        Ok(with_session(response, &id))
    }

    async fn leave(&self, headers: &HeaderMap) -> Result<Response, Gone> {
        let Some(found) = self.find(headers).await? else {
            return Ok(no_session(headers));
        };
        self.desk()
            .ask(move |state| state.close_session(&found.id))
            .await?;
        Ok(StatusCode::OK.into_response())
    }

    /// The session that a request names, if it is one of this agent's.
    async fn find(&self, headers: &HeaderMap) -> Result<Option<FoundSession>, Gone> {
        let Some(id) = headers.get(SESSION).and_then(|id| id.to_str().ok()) else {
            return Ok(None);
        };
        let id = SessionId::new(id);
        let agent = self.agent;
        self.desk()
            .ask(move |state| {
                let mailbox = state.mailbox(&id, agent)?;
                let sender = match state.process_of(&id) {
                    Some(process) => Sender::Process(process),
                    None => Sender::Session(id.clone()),
                };
                Some(FoundSession {
                    id,
                    mailbox,
                    sender,
                })
            })
            .await
    }

    fn attach(&self, found: &FoundSession, kind: StreamKind) -> StreamId {
        let most = self.server.endpoint.limits.streams_per_session;
        found.mailbox.attach(kind, most)
    }

    fn connections(&self, found: FoundSession) -> Connections {
        let endpoint = &self.server.endpoint;
        Connections {
            mailbox: found.mailbox,
            context: endpoint.contexts.0.clone(),
            ending: endpoint.ending.clone(),
            flushes: self.flushes.clone(),
            keep_alive: endpoint.limits.keep_alive,
        }
    }

    fn desk(&self) -> &Desk {
        &self.server.endpoint.desk
    }
}

/// Work on more bytes than this takes long enough for other peers to notice.
const LARGE: usize = 256 * 1024;

/// Does work on `size` bytes; while it takes long, another thread serves the other peers.
fn heavy<R>(size: usize, work: impl FnOnce() -> R) -> R {
    let threads = tokio::runtime::Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match threads {
        Ok(RuntimeFlavor::MultiThread) if size > LARGE => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Parses the parameters of a request; absent ones are an empty object.
fn read<'a, T: serde::Deserialize<'a>>(raw: Option<&'a RawValue>) -> Result<T, Fault> {
    let text = raw.map_or("{}", RawValue::get);
    serde_json::from_str(text)
        .map_err(|error| Fault::new(rpc::INVALID_PARAMS, format!("wrong parameters: {error}")))
}

/// Whether `Accept` allows `kind`; `when_silent` is the answer if the header is absent.
fn accepts(headers: &HeaderMap, kind: &str, when_silent: bool) -> bool {
    let mut values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .peekable();
    if values.peek().is_none() {
        return when_silent;
    }
    let (family, _) = kind.split_once('/').unwrap_or((kind, ""));
    values
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .map(str::trim)
        .any(|range| {
            range.eq_ignore_ascii_case(kind)
                || range == "*/*"
                || range.strip_suffix("/*") == Some(family)
        })
}

fn json_body(json: Vec<u8>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        Bytes::from(json),
    )
}

fn event_stream(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
    ];
    (headers, body).into_response()
}

fn with_session(mut response: Response, id: &SessionId) -> Response {
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(SESSION, id);
    }
    response
}

/// A request without a session gets 400, one with an unknown session 404, which tells
/// a client of the specification to initialize again.
fn no_session(headers: &HeaderMap) -> Response {
    if headers.contains_key(SESSION) {
        problem(
            StatusCode::NOT_FOUND,
            "there is no such session; initialize again",
        )
    } else {
        problem(
            StatusCode::BAD_REQUEST,
            "the request names no session; initialize first",
        )
    }
}

fn problem(status: StatusCode, why: &str) -> Response {
    let body: Value = json!({ "jsonrpc": "2.0", "error": { "code": rpc::INVALID_REQUEST, "message": why }, "id": null });
    (status, axum::Json(body)).into_response()
}
