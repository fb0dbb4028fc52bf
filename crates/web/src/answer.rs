//! How requests are read, and how they are answered when something is wrong.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chat::Trouble;
use companion::desk::Gone;
use companion::gate::Turned;
use workbench::Refusal;

use crate::wire;

pub(crate) type Answer<T> = Result<Json<T>, Failure>;

/// Why a request fails, as the API says it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
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
    #[error("this link was used or is too old; run `outrigger url` for a fresh one")]
    UsedLink,
    #[error("{0}")]
    Forbidden(Turned),
    #[error("pages may not do this; use the command line")]
    NotForPages,
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error("{0}")]
    Trouble(#[from] Trouble),
    #[error(
        "the conversation with a daemon is switched off; start outrigger with --daemon, or set `enabled = true` in the table [daemon] of its configuration"
    )]
    NoChat,
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
        let (status, kind) = match &self {
            Failure::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            Failure::Refused(_) | Failure::Trouble(_) | Failure::NoChat => {
                (StatusCode::CONFLICT, "refused")
            }
            Failure::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Failure::Unauthorized | Failure::UsedLink => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Failure::Forbidden(_) | Failure::NotForPages => (StatusCode::FORBIDDEN, "forbidden"),
            Failure::NoRandomness(_) | Failure::Gone => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
        };
        let problem = wire::Problem {
            kind: kind.into(),
            message: self.to_string(),
            hint: match self {
                Failure::Trouble(trouble) => trouble.hint,
                _ => None,
            },
        };
        (status, Json(problem)).into_response()
    }
}

/// A JSON body whose mistakes are told like every other failure.
pub(crate) struct Body<T>(pub(crate) T);

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

/// Runs work that takes long for large texts away from the threads that serve peers.
pub(crate) async fn off_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Gone> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Gone)
}
