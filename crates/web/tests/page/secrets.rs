//! Nothing that a page can fetch holds an agent's token or the commands' secret.

use std::fmt::Write as _;

use serde_json::json;
use workbench::Agent;

use crate::companion::{CompanionWithPage, ENVIRONMENT};

#[tokio::test]
async fn no_answer_to_a_page_holds_anybody_elses_secret() {
    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let path = companion.file("a.txt", "old\n");
    companion.focus(&path, (1, 1), Some("old")).await;
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut gemini = companion.listener(Agent::Gemini).await;
    qwen.propose(&path, "new\n").await;
    gemini.propose(&path, "newer\n").await;
    let page = companion.page();
    let mut fetched = String::new();
    for route in [
        "/",
        "/assets/app.js",
        "/assets/editor.js",
        "/assets/app.css",
        "/assets/icon.svg",
        "/api/status",
        "/api/live",
        "/api/proposals",
        "/api/proposals/1",
        "/api/proposals/2",
        "/api/proposals/77",
        "/api/environment",
        "/mcp",
    ] {
        let answer = page.get(route).await;
        write!(fetched, "{:?}{}", answer.headers, answer.body).unwrap();
    }
    for (route, body) in [
        ("/api/proposals/1/accept", json!({ "content": "x" })),
        ("/api/proposals/2/reject", json!({})),
        ("/api/proposals/2/reject", json!({})),
        ("/api/focus", json!({ "path": path })),
        ("/api/guests", json!({ "pid": 1 })),
        ("/api/links", json!({})),
        ("/api/page", json!({ "ticket": "x" })),
    ] {
        let answer = page.post(route, &body).await;
        write!(fetched, "{:?}{}", answer.headers, answer.body).unwrap();
    }
    qwen.leave().await;
    gemini.leave().await;
    let mut gone = 0;
    while gone < 2 {
        let event = stream.next().await.unwrap();
        gone += usize::from(event.data["kind"] == "disconnected");
        write!(fetched, "{event:?}").unwrap();
    }
    assert!(fetched.contains("newer"), "something was fetched");
    let tokens = companion.tokens().iter().map(|(_, token)| token.expose());
    let secrets = tokens.chain([companion.keys.commands.expose(), ENVIRONMENT.1]);
    for secret in secrets {
        assert!(!fetched.contains(secret), "a secret is in what a page gets");
    }
    assert!(!fetched.contains(companion.keys.page.expose()));
}
