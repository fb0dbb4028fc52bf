//! Who may ask for what.
//!
//! The commands of the person present the secret of the companion's record and may do
//! everything. A page presents a key of its own: what runs in a browser can be attacked from
//! there, so it is kept from whatever holds an agent's token or ends the companion.

use std::sync::Arc;

use axum::extract::{Extension, Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use companion::Token;
use companion::gate::{self, Denied};

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

/// Whose key a request presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Commands,
    Page,
}

/// Lets in who presents a key. Nothing of a body is read before that.
pub(crate) async fn guard(
    Shared(server): Shared<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Keys { commands, page } = server.api.keys.clone();
    let keys = [(Role::Commands, commands), (Role::Page, page)];
    match gate::admit(request.headers(), server.api.port, &keys) {
        Ok(role) => {
            request.extensions_mut().insert(role);
            next.run(request).await
        }
        Err(denied) => deny(denied),
    }
}

/// Lets in everybody who has reached us by our own address: for what holds no secret.
pub(crate) async fn neighbours(
    Shared(server): Shared<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    match gate::check_address(request.headers(), server.api.port) {
        Ok(_) => next.run(request).await,
        Err(denied) => deny(denied),
    }
}

/// Lets in commands only.
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
