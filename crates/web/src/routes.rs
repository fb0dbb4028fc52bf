//! The server's side of the API.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path as Named, Request, State as Shared};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use companion::Token;
use companion::desk::{Desk, Gone};
use companion::gate::{self, Turned};
use tokio::sync::{mpsc, oneshot};
use workbench::{Cursor, Decision, Original, Place, ProposalId, Reason, Refusal, Sight, Standing};

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

/// What the API needs to know.
#[derive(Debug)]
pub struct Api {
    /// The port it is reached at.
    pub port: u16,
    /// The editor's name as agents show it.
    pub editor: String,
    /// What the person's commands present.
    pub secret: Token,
    /// The owner of all state.
    pub desk: Desk,
    /// The way to the program.
    pub orders: mpsc::Sender<Order>,
    /// Whether the companion can be restarted from outside; one inside an editor cannot.
    pub restartable: bool,
    /// The largest request body.
    pub body: usize,
}

/// The routes of the API.
pub fn router(api: Api) -> Router {
    let body = api.body;
    let api = Arc::new(api);
    Router::new()
        .route("/api/status", get(status))
        .route("/api/proposals", get(proposals))
        .route("/api/proposals/{id}", get(proposal))
        .route("/api/proposals/{id}/accept", post(accept))
        .route("/api/proposals/{id}/reject", post(reject))
        .route("/api/focus", post(focus))
        .route("/api/environment", get(environment))
        .route("/api/guests", post(host))
        .route("/api/restart", post(restart))
        .route("/api/stop", post(stop))
        // Nothing of a request is read before it has shown the secret.
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(api.clone(), guard))
        .with_state(api)
}

type Answer<T> = Result<Json<T>, Failure>;
type Server = Shared<Arc<Api>>;

/// Why a request fails, as the API says it.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Invalid(String),
    #[error(
        "missing or wrong secret; it stands in the companion's record, which only its user can read"
    )]
    Unauthorized,
    #[error("{0}")]
    Forbidden(Turned),
    #[error("the companion is shutting down")]
    Gone,
}

impl From<Gone> for Failure {
    fn from(Gone: Gone) -> Failure {
        Failure::Gone
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Unknown(_) => Failure::NotFound(refusal.to_string()),
            _ => Failure::Refused(refusal.to_string()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, kind) = match self {
            Failure::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            Failure::Refused(_) => (StatusCode::CONFLICT, "refused"),
            Failure::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Failure::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Failure::Forbidden(_) => (StatusCode::FORBIDDEN, "forbidden"),
            Failure::Gone => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        let problem = wire::Problem {
            kind: kind.into(),
            message: self.to_string(),
        };
        (status, Json(problem)).into_response()
    }
}

/// A JSON body whose mistakes are told like every other failure.
struct Body<T>(T);

impl<T, S> FromRequest<S> for Body<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
    S: Send + Sync,
{
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        match Json::from_request(request, state).await {
            Ok(Json(value)) => Ok(Body(value)),
            Err(rejection) => Err(Failure::Invalid(rejection.body_text())),
        }
    }
}

async fn guard(Shared(api): Server, request: Request, next: Next) -> Response {
    let keys = [((), api.secret.clone())];
    match gate::admit(request.headers(), api.port, &keys) {
        Ok(()) => next.run(request).await,
        Err(Turned::Bearer) => Failure::Unauthorized.into_response(),
        Err(turned @ (Turned::Host | Turned::Origin)) => Failure::Forbidden(turned).into_response(),
    }
}

async fn status(Shared(api): Server) -> Answer<wire::Status> {
    let (roots, status) = api
        .desk
        .ask(|state| (state.workbench().roots().to_vec(), state.status()))
        .await?;
    let problems = api.order(Order::Problems).await?;
    let files = status.context.files.iter().map(|file| {
        let active = file.active.as_ref();
        let cursor = active.and_then(|active| active.cursor);
        wire::File {
            path: file.path.clone(),
            active: active.is_some(),
            line: cursor.map(|cursor| cursor.line),
            column: cursor.map(|cursor| cursor.character),
            selected: active.and_then(|active| Some(active.selection.as_ref()?.chars().count())),
        }
    });
    let sessions = status.sessions.into_iter().map(|session| wire::Session {
        id: session.id.to_string(),
        agent: session.agent.slug().into(),
        client: session.client,
        since: session.opened_at,
        streaming: session.streaming,
        undelivered: session.undelivered,
    });
    Ok(Json(wire::Status {
        pid: std::process::id(),
        port: api.port,
        version: env!("CARGO_PKG_VERSION").into(),
        editor: api.editor.clone(),
        roots,
        sessions: sessions.collect(),
        proposals: status.proposals.len(),
        files: files.collect(),
        held_back: wire::HeldBack {
            total: status.held_back.total(),
            secret: status.held_back.secret,
            ignored: status.held_back.ignored,
            outside: status.held_back.outside,
        },
        problems,
    }))
}

async fn proposals(Shared(api): Server) -> Answer<Vec<wire::Proposal>> {
    let (proposals, receipt) = api
        .desk
        .ask(|state| (state.status().proposals, state.receipt()))
        .await?;
    // What the person has seen is still there after a crash.
    receipt.written().await;
    off_thread(move || proposals.iter().map(summary).collect())
        .await
        .map(Json)
}

async fn proposal(Shared(api): Server, Named(id): Named<String>) -> Answer<wire::Detail> {
    let proposal = api.proposal(&id).await?;
    let detail = off_thread(move || wire::Detail {
        proposal: summary(&proposal),
        diff: proposal.texts.unified(&proposal.path),
        original: proposal.texts.original.text().map(str::to_owned),
        proposed: proposal.texts.proposed.clone(),
    });
    detail.await.map(Json)
}

async fn accept(
    Shared(api): Server,
    Named(id): Named<String>,
    Body(how): Body<wire::Accept>,
) -> Answer<wire::Decided> {
    let proposal = api.proposal(&id).await?;
    let decision = match how {
        wire::Accept {
            hunks: Some(_),
            content: Some(_),
        } => {
            return Err(Failure::Invalid(
                "give either hunks or content, not both".into(),
            ));
        }
        wire::Accept {
            content: Some(text),
            ..
        } => Decision::AcceptText(text),
        wire::Accept {
            hunks: Some(hunks), ..
        } => {
            let texts = proposal.texts.clone();
            let merged = off_thread(move || texts.merge(&hunks.into_iter().collect())).await?;
            Decision::AcceptText(merged.map_err(|unknown| Failure::Invalid(unknown.to_string()))?)
        }
        wire::Accept { .. } => Decision::Accept,
    };
    api.decide(proposal.id, decision).await
}

async fn reject(Shared(api): Server, Named(id): Named<String>) -> Answer<wire::Decided> {
    let id = parse(&id)?;
    api.decide(id, Decision::Reject).await
}

async fn focus(Shared(api): Server, Body(focus): Body<wire::Focus>) -> Answer<wire::Focused> {
    let roots = api
        .desk
        .ask(|state| state.workbench().roots().to_vec())
        .await?;
    let path = focus.path;
    let place = off_thread(move || locate(&path, &roots)).await??;
    let cursor = focus
        .line
        .map(|line| Cursor::new(line, focus.column.unwrap_or(1)));
    let focus = workbench::Focus {
        place,
        cursor,
        selection: focus.selection,
    };
    let sight = api.desk.ask(move |state| {
        let path = focus.place.path.clone();
        state.focus(focus);
        state
            .workbench()
            .documents()
            .find(|document| document.path() == path)
            .map(workbench::Document::sight)
    });
    let reason = match sight.await? {
        Some(Sight::HeldBack(reason)) => Some(explain(reason)),
        _ => None,
    };
    Ok(Json(wire::Focused {
        shown: reason.is_none(),
        reason: reason.map(str::to_owned),
    }))
}

async fn environment(Shared(api): Server) -> Answer<wire::Environment> {
    api.order(Order::Environment).await.map(Json)
}

async fn host(Shared(api): Server, Body(guest): Body<wire::Guest>) -> Answer<()> {
    api.order(|done| Order::Host(guest.pid, done))
        .await
        .map(Json)
}

async fn restart(Shared(api): Server) -> Answer<()> {
    if !api.restartable {
        let message = "this companion belongs to an editor; restart it from there";
        return Err(Failure::Refused(message.into()));
    }
    api.send(Order::Restart).await.map(Json)
}

async fn stop(Shared(api): Server) -> Answer<()> {
    api.send(Order::Stop).await.map(Json)
}

impl Api {
    async fn proposal(&self, id: &str) -> Result<workbench::Proposal, Failure> {
        let id = parse(id)?;
        let found = self
            .desk
            .ask(move |state| state.proposal(id).cloned())
            .await?;
        found.ok_or_else(|| Refusal::Unknown(id).into())
    }

    async fn decide(&self, id: ProposalId, decision: Decision) -> Answer<wire::Decided> {
        let (answered, receipt) = self
            .desk
            .ask(move |state| (state.decide(id, decision), state.receipt()))
            .await?;
        let answered = answered?;
        receipt.written().await;
        Ok(Json(wire::Decided {
            agent: answered.agent.slug().into(),
            streaming: answered.streaming,
        }))
    }

    async fn send(&self, order: Order) -> Result<(), Failure> {
        self.orders.send(order).await.map_err(|_| Failure::Gone)
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

fn summary(proposal: &workbench::Proposal) -> wire::Proposal {
    wire::Proposal {
        id: proposal.id.get(),
        path: proposal.path.clone(),
        agent: proposal.agent.slug().into(),
        session: proposal.session.to_string(),
        opened_at: proposal.opened_at,
        new_file: proposal.texts.original == Original::Absent,
        hunks: proposal.texts.review().hunks().len(),
        terminal_only: match &proposal.standing {
            Standing::Open => None,
            Standing::TerminalOnly(why) => Some(why.clone()),
        },
    }
}

fn parse(id: &str) -> Result<ProposalId, Failure> {
    id.parse()
        .map_err(|_| Failure::Invalid(format!("{id:?} is not the number of a proposal")))
}

fn explain(reason: Reason) -> &'static str {
    match reason {
        Reason::Secret => "it looks like a file that holds secrets",
        Reason::Ignored => "your ignore patterns match it",
        Reason::Outside => "it is outside the workspace",
    }
}

/// Finds out where the file is that the person is in.
fn locate(path: &Path, roots: &[PathBuf]) -> Result<Place, Failure> {
    if !path.is_absolute() {
        let message = format!("{} is not an absolute path", path.display());
        return Err(Failure::Invalid(message));
    }
    let place = companion::locate(path, roots)
        .map_err(|error| Failure::NotFound(format!("cannot find {}: {error}", path.display())))?;
    if !place.real.is_file() {
        return Err(Failure::Invalid(format!(
            "{} is not a file",
            path.display()
        )));
    }
    Ok(place)
}

/// Runs work that takes long for large texts away from the threads that serve peers.
async fn off_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Failure::Gone)
}
