//! Nothing that an agent posts stops the companion, or makes it answer in a way that published
//! clients do not survive: a message of a live session never gets an HTTP error unless it is no
//! message at all, every request is answered once under its own id, and there is a `null` nowhere else
//! than in the id of what could not be read. What it proposes is reviewed byte for byte.

use std::cell::RefCell;
use std::path::PathBuf;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use companion::desk::{Desk, State};
use companion::fuzzing::respond;
use companion::journal::{Journal, Saved};
use companion::{Ending, Limits, Token, mcp};
use serde_json::{Value, json};
use tokio::sync::watch;
use workbench::{Agent, Privacy, Standing, Workbench};

use crate::block_on;

const PORT: u16 = 4711;
const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
/// After so many cases the companion is replaced, so that what one case leaves is of little effect.
const CASES: usize = 500;
/// Small, so that short cases go beyond it.
const BODY: usize = 2000;

struct Companion {
    app: Router,
    desk: Desk,
    /// The agents, each with its token and its session.
    agents: Vec<(Agent, Token, String)>,
    left: usize,
    // Dropped with it: without them the routes would take the companion for ended.
    _ending: watch::Sender<Ending>,
    _admitted: watch::Sender<Vec<Agent>>,
}

/// Takes a byte that chooses the agent, and the bodies that it posts.
pub fn check(data: &[u8]) {
    thread_local!(static COMPANION: RefCell<Option<Companion>> = const { RefCell::new(None) });
    COMPANION.with(|companion| {
        let mut companion = companion.borrow_mut();
        block_on(async {
            if companion.as_ref().is_none_or(|it| it.left == 0) {
                *companion = Some(Companion::start().await);
            }
            let companion = companion.as_mut().unwrap();
            let is_clean = companion.talk(data).await;
            companion.left = if is_clean { companion.left - 1 } else { 0 };
        });
    });
}

impl Companion {
    async fn start() -> Companion {
        let root = PathBuf::from("/nonexistent/w");
        let privacy = Privacy::new(std::slice::from_ref(&root), &[], &[]);
        let workbench = Workbench::new(vec![root], privacy);
        let (sink, contexts) = mcp::context_channel();
        let limits = Limits {
            body: BODY,
            ..Limits::default()
        };
        let (saved, journal) = (Saved::default(), Journal::none());
        let desk = Desk::start(workbench, saved, journal, limits.clone(), sink);
        let tokens = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];
        let tokens: Vec<_> = tokens.map(|agent| (agent, Token::random().unwrap())).into();
        let (ending, ended) = watch::channel(Ending::No);
        let (admitted, may_come) = watch::channel(Agent::DISCOVERING.to_vec());
        let app = mcp::router(mcp::Endpoint {
            port: PORT,
            tokens: tokens.clone(),
            admitted: may_come,
            desk: desk.clone(),
            contexts,
            ending: ended,
            limits,
        });
        let mut companion = Companion {
            app,
            desk,
            agents: Vec::new(),
            left: CASES,
            _ending: ending,
            _admitted: admitted,
        };
        for (agent, token) in tokens {
            let welcome = companion.send(&token, "", HELLO).await;
            assert_eq!(welcome.status(), StatusCode::OK);
            let session = welcome.headers()["mcp-session-id"].to_str().unwrap();
            companion.agents.push((agent, token, session.to_owned()));
        }
        companion
    }

    async fn send(&self, token: &Token, session: &str, body: &[u8]) -> Response {
        let request = Request::builder()
            .method("POST")
            .uri("/mcp")
            .header("host", format!("127.0.0.1:{PORT}"))
            .header("authorization", format!("Bearer {}", token.expose()))
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .header("mcp-session-id", session)
            .body(Body::from(body.to_vec()));
        respond(&self.app, request.unwrap()).await
    }

    /// Says whether nothing of it is left.
    async fn talk(&self, data: &[u8]) -> bool {
        let (which, rest) = data.split_first().unwrap_or((&0, &[]));
        let (agent, token, session) = &self.agents[usize::from(*which) % self.agents.len()];
        for body in rest.split(|byte| *byte == 255) {
            let (head, answer) = self.send(token, session, body).await.into_parts();
            let answer = to_bytes(answer, usize::MAX).await.unwrap();
            check_answer(body, head.status, &answer);
            self.check_proposal(*agent, session, body, &answer).await;
        }
        self.take_back(token, session).await
    }

    /// Takes back what is pending, so that the next case finds what this one has found.
    async fn take_back(&self, token: &Token, session: &str) -> bool {
        let listed = |state: &mut State| state.proposals().cloned().collect::<Vec<_>>();
        for proposal in self.desk.ask(listed).await.unwrap() {
            let arguments = json!({ "filePath": proposal.path });
            let params = json!({ "name": "closeDiff", "arguments": arguments });
            let close =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let answer = self
                .send(token, session, close.to_string().as_bytes())
                .await;
            let answer = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if proposal.standing == Standing::Open && answer.get("error").is_none() {
                let said = answer["result"]["content"][0]["text"].as_str().unwrap();
                let said: Value = serde_json::from_str(said).unwrap();
                assert_eq!(said["content"], proposal.texts.proposed);
            }
        }
        // A path that makes the request too large stays where it is.
        let pending = self.desk.ask(|state: &mut State| state.proposals().count());
        pending.await.unwrap() == 0
    }

    /// What was proposed is there, as it was sent.
    async fn check_proposal(&self, agent: Agent, session: &str, body: &[u8], answer: &[u8]) {
        let (Ok(asked), Ok(answer)) = (
            serde_json::from_slice::<Value>(body),
            serde_json::from_slice::<Value>(answer),
        ) else {
            return;
        };
        let is_once = |name: &str| {
            let name = format!("\"{name}\"");
            String::from_utf8_lossy(body).matches(&name).count() == 1
        };
        let names = [
            "id",
            "method",
            "params",
            "name",
            "arguments",
            "filePath",
            "newContent",
        ];
        let proposes = asked["method"] == "tools/call"
            && asked["params"]["name"] == "openDiff"
            && !asked["id"].is_null()
            && names.into_iter().all(is_once);
        let arguments = &asked["params"]["arguments"];
        let (Some(path), Some(text)) = (
            arguments["filePath"].as_str().map(str::to_owned),
            arguments["newContent"].as_str().map(str::to_owned),
        ) else {
            return;
        };
        if !proposes || answer.get("error").is_some() || answer["result"]["isError"] == true {
            return;
        }
        let session = session.to_owned();
        let is_large = body.len() > BODY;
        let found = self.desk.ask(move |state: &mut State| {
            let mut pending = state.proposals();
            let found = pending.find(|it| it.path == path && it.session.as_str() == session);
            found.is_some_and(|it| {
                let is_text =
                    it.texts.proposed == text || (is_large && it.standing != Standing::Open);
                is_text && it.agent == agent
            })
        });
        assert!(found.await.unwrap(), "{asked}");
    }
}

fn check_answer(body: &[u8], status: StatusCode, answer: &[u8]) {
    let asked: Option<Value> = serde_json::from_slice(body).ok();
    let is_message = |value: &Value| value.is_object();
    let is_readable = match &asked {
        Some(Value::Array(list)) => list.iter().all(is_message),
        Some(other) => is_message(other),
        None => false,
    };
    let expected = [StatusCode::OK, StatusCode::ACCEPTED];
    if !expected.contains(&status) {
        assert_eq!(status, StatusCode::BAD_REQUEST);
        let typed = |value: &Value| {
            value
                .get("method")
                .is_some_and(|it| !it.is_string() && !it.is_null())
        };
        let is_odd = match &asked {
            Some(Value::Array(list)) => list.iter().any(typed),
            Some(other) => typed(other),
            None => true,
        };
        // Two fields of one name are none to us, and one to the parser of this test.
        let repeats = |name: &str| String::from_utf8_lossy(body).matches(name).count() > 1;
        let is_twice = ["id", "method", "params", "\\u"].into_iter().any(repeats);
        assert!(!is_readable || is_odd || is_twice, "{status} for {asked:?}");
    }
    if answer.is_empty() {
        return;
    }
    let answer: Value = serde_json::from_slice(answer).unwrap();
    let answers = match &answer {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    for mut answer in answers {
        assert_eq!(answer["jsonrpc"], "2.0");
        let id = answer.as_object_mut().unwrap().remove("id").unwrap();
        assert!(!has_null(&answer), "{answer}");
        if let Some(Value::Object(asked)) = &asked
            && status == StatusCode::OK
            && body.len() <= BODY
        {
            assert_eq!(Some(&id), asked.get("id"), "{answer}");
        }
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}
