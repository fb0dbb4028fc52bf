//! Which key a route needs.
//!
//! The person's commands present the secret of the companion's record and may use every route. A
//! page presents a key of its own: a page can be attacked from within the browser, so it gets no
//! access to routes that return an agent's token or end the companion.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use companion::Token;
use companion::gate::{self, Denied};
use companion::server::{Caller, KeyHolder};

use crate::response::ApiError;
use crate::routes::Server;

/// The two keys of the API.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What the person's commands present.
    pub commands: Token,
    /// What the page presents.
    pub page: Token,
}

/// The holder of the key that a request presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Commands,
    Page,
}

/// Requires a key. No body is read before that.
pub(crate) async fn require_key(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Keys { commands, page } = server.api.keys.clone();
    let keys = [(Role::Commands, commands), (Role::Page, page)];
    match gate::admit(request.headers(), server.api.port, &keys) {
        Ok(role) => {
            if let Some(caller) = request.extensions().get::<Caller>().cloned()
                && let Err(crowded) = caller.admit(KeyHolder::Person).await
            {
                return ApiError::Crowded(crowded).into_response();
            }
            request.extensions_mut().insert(role);
            next.run(request).await
        }
        Err(denied) => deny(denied),
    }
}

/// Requires no key, but that `Host` and `Origin` name this server: for routes without secrets.
pub(crate) async fn require_own_address(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    match gate::check_address(request.headers(), server.api.port) {
        Ok(_) => next.run(request).await,
        Err(denied) => deny(denied),
    }
}

/// Requires the key of commands.
pub(crate) async fn commands_only(
    Extension(role): Extension<Role>,
    request: Request,
    next: Next,
) -> Response {
    match role {
        Role::Commands => next.run(request).await,
        Role::Page => ApiError::NotForPages.into_response(),
    }
}

fn deny(denied: Denied) -> Response {
    match denied {
        Denied::Bearer => ApiError::Unauthorized.into_response(),
        Denied::Host | Denied::Origin => ApiError::Forbidden(denied).into_response(),
    }
}
