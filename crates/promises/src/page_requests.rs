//! Nothing that a page or a command asks for stops the companion: every request gets an answer that is
//! no failure of ours, and an error says in JSON what is wrong. Without a key nothing is answered but
//! the page itself, and with the page's key never the secret of the commands.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use companion::fuzzing::respond;
use companion::{Ending, Token};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use web::{Api, Keys, Links, Owner};
use workbench::Agent;

use crate::block_on;
use crate::workplace::workplace;

const PORT: u16 = 4711;
/// Small, so that short cases go beyond it.
const BODY: usize = 1000;

/// Takes a byte that chooses the key, and requests: a line with method and path, and the body below.
pub fn check(data: &[u8]) {
    let (which, rest) = data.split_first().unwrap_or((&0, &[]));
    block_on(talk(*which, rest));
}

async fn talk(which: u8, data: &[u8]) {
    let keys = Keys {
        commands: Token::random().unwrap(),
        page: Token::random().unwrap(),
    };
    let (_ending, ended) = watch::channel(Ending::No);
    let app = app(&keys, ended).await;
    let key = match which % 3 {
        0 => Some(keys.page.expose()),
        1 => Some(keys.commands.expose()),
        _ => None,
    };
    for part in data.split(|byte| *byte == 255) {
        let Some(request) = request(part, key) else {
            continue;
        };
        let path = request.uri().path().to_owned();
        let (head, body) = respond(&app, request).await.into_parts();
        let status = head.status;
        assert!(!status.is_server_error(), "{status} for {path}");
        let kind = head
            .headers
            .get("content-type")
            .map(|it| it.to_str().unwrap());
        if kind == Some("text/event-stream") {
            // It goes on for ever; what comes on it is tried elsewhere.
            assert!(key.is_some());
            continue;
        }
        let body = to_bytes(body, usize::MAX).await.unwrap();
        if key.is_none() && path.starts_with("/api/") && path != "/api/page" {
            let refused = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND];
            assert!(refused.contains(&status), "{status} for {path}");
        }
        let text = String::from_utf8_lossy(&body);
        let secret = keys.commands.expose();
        assert!(!text.contains(secret), "the secret is in {path}");
        if status.is_client_error() && kind == Some("application/json") {
            let answer: Value = serde_json::from_slice(&body).unwrap();
            for field in ["kind", "message"] {
                assert!(answer[field].is_string(), "{answer} for {path}");
            }
        }
    }
}

async fn app(keys: &Keys, ending: watch::Receiver<Ending>) -> Router {
    let workplace = workplace().await;
    web::router(Api {
        port: PORT,
        agents: watch::channel(vec![Agent::Qwen, Agent::Gemini]).1,
        keys: keys.clone(),
        links: Links::new(PORT),
        front: workplace,
        editors: mpsc::channel(1).0,
        owner: Owner::Itself,
        instance: "instance".into(),
        ending,
        body: BODY,
        keep_alive: Duration::from_hours(1),
    })
}

/// The request that a part stands for, if it is one.
fn request(part: &[u8], key: Option<&str>) -> Option<Request> {
    let at = part
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(part.len());
    let line = std::str::from_utf8(&part[..at]).ok()?;
    let (method, path) = line.split_once(' ')?;
    let body = part.get(at + 1..).unwrap_or_default();
    let is_editors = path.starts_with("/api/editor");
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", format!("127.0.0.1:{PORT}"))
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    // Here is no program that lets editors in.
    request
        .body(Body::from(body.to_vec()))
        .ok()
        .filter(|_| !is_editors)
}
