//! How request bodies are read, and how failures are answered.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use companion::gate::Denied;
use companion::server::Crowded;
use front::{FrontError, NoConversation};
use workbench::Refusal;

use crate::routes::NoSeat;
use crate::wire;

/// The `kind` of a refusal that does not depend on the moment.
pub(crate) const REFUSED_KIND: &str = "refused";

/// The result of a handler.
pub(crate) type ApiResult<T> = Result<Json<T>, ApiError>;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
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
    #[error("this link was made for another user of this machine")]
    ForeignLink,
    #[error("{0}")]
    Forbidden(Denied),
    #[error("{0}")]
    Crowded(Crowded),
    #[error("{0}")]
    NoSeat(NoSeat),
    #[error("pages may not do this; use the command line")]
    NotForPages,
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error(
        "the conversation with a daemon is switched off; start outrigger with --daemon, or set `enabled = true` in the table [daemon] of its configuration"
    )]
    Off,
    #[error(transparent)]
    Front(FrontError),
}

impl From<FrontError> for ApiError {
    fn from(error: FrontError) -> ApiError {
        match error {
            FrontError::NoConversation(NoConversation::Off) => ApiError::Off,
            other => ApiError::Front(other),
        }
    }
}

impl ApiError {
    /// The HTTP status, and the `kind` of the body.
    fn kind(&self) -> (StatusCode, &'static str) {
        const NOT_FOUND: (StatusCode, &str) = (StatusCode::NOT_FOUND, "not_found");
        const REFUSED: (StatusCode, &str) = (StatusCode::CONFLICT, REFUSED_KIND);
        const INVALID: (StatusCode, &str) = (StatusCode::UNPROCESSABLE_ENTITY, "invalid");
        const UNAVAILABLE: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "unavailable");
        match self {
            ApiError::Refused(_) | ApiError::Off | ApiError::NoSeat(_) => REFUSED,
            ApiError::Invalid(_) => INVALID,
            ApiError::Unauthorized | ApiError::UsedLink => {
                (StatusCode::UNAUTHORIZED, "unauthorized")
            }
            ApiError::Forbidden(_) | ApiError::NotForPages | ApiError::ForeignLink => {
                (StatusCode::FORBIDDEN, "forbidden")
            }
            ApiError::NoRandomness(_) | ApiError::Crowded(_) => UNAVAILABLE,
            ApiError::Front(error) => match error {
                FrontError::Refused(Refusal::Unknown(_) | Refusal::AgentGone(_))
                | FrontError::NoSuchFile { .. } => NOT_FOUND,
                FrontError::Refused(Refusal::Stale) => (StatusCode::CONFLICT, "stale"),
                FrontError::Refused(Refusal::UnknownHunk(_))
                | FrontError::RelativePath(_)
                | FrontError::NotAFile(_) => INVALID,
                FrontError::Refused(_)
                | FrontError::Conversation(_)
                | FrontError::NoConversation(_)
                | FrontError::Unsaved(_) => REFUSED,
                FrontError::Gone => UNAVAILABLE,
            },
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, kind) = self.kind();
        let problem = wire::Problem {
            kind: kind.into(),
            message: self.to_string(),
            hint: match self {
                ApiError::Front(FrontError::Conversation(trouble)) => trouble.hint,
                _ => None,
            },
        };
        (status, Json(problem)).into_response()
    }
}

/// A JSON body. Unlike [`Json`], it is rejected with an [`ApiError`].
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T, S> FromRequest<S> for JsonBody<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match Json::from_request(request, state).await {
            Ok(Json(value)) => Ok(JsonBody(value)),
            Err(rejection) => Err(ApiError::Invalid(rejection.body_text())),
        }
    }
}
