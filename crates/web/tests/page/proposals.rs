//! Proposals: list, show, draft, decide.

use std::fmt::Write as _;

use companion::Limits;
use serde_json::{Value, json};
use testkit::quiet_limits;
use workbench::Agent;

use crate::companion::CompanionWithPage;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
const NEW: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";

async fn detail(companion: &CompanionWithPage, id: u64) -> Value {
    let path = format!("/api/proposals/{id}");
    companion.page().get(&path).await.json()
}

async fn put_draft(companion: &CompanionWithPage, id: u64, text: &str) -> Value {
    let path = format!("/api/proposals/{id}/draft");
    let draft = json!({ "content": text });
    companion.page().put(&path, &draft).await.json()
}

#[tokio::test]
async fn a_proposal_is_shown_with_the_places_where_it_differs() {
    let companion = CompanionWithPage::start();
    let mut agent = companion.listener(Agent::Qwen).await;
    let path = companion.file("a.txt", OLD);
    agent.propose(&path, NEW).await;
    let shown = detail(&companion, 1).await;
    assert_eq!(shown["original"], OLD);
    assert_eq!(shown["proposed"], NEW);
    let both = json!([
        { "number": 1, "originalStart": 0, "originalEnd": 1, "proposedStart": 0, "proposedEnd": 1 },
        { "number": 2, "originalStart": 4, "originalEnd": 5, "proposedStart": 4, "proposedEnd": 5 },
    ]);
    assert_eq!(shown["hunksAt"], both);
    for absent in ["current", "currentHunksAt"] {
        assert_eq!(shown.get(absent), None);
    }

    let text = "zero\none\ntwo\nthree\nfour\nFIVE\n";
    let drafted = put_draft(&companion, 1, text).await;
    let places = json!([
        { "number": 1, "originalStart": 0, "originalEnd": 0, "proposedStart": 0, "proposedEnd": 1 },
        { "number": 2, "originalStart": 4, "originalEnd": 5, "proposedStart": 5, "proposedEnd": 6 },
    ]);
    assert_eq!(drafted["hunksAt"], places);
    let shown = detail(&companion, 1).await;
    assert_eq!(shown["current"], text);
    assert_eq!(shown["currentHunksAt"], places);
    assert_eq!(shown["hunksAt"], both, "the agent's own stay");

    assert_eq!(put_draft(&companion, 1, NEW).await["hunksAt"], both);
    assert_eq!(detail(&companion, 1).await.get("current"), None);
}

#[tokio::test]
async fn a_new_file_has_no_original() {
    let companion = CompanionWithPage::start();
    let mut agent = companion.listener(Agent::Gemini).await;
    agent.propose(&companion.path("new.txt"), "a\nb\n").await;
    let shown = detail(&companion, 1).await;
    assert_eq!(shown.get("original"), None);
    let all = json!([{ "number": 1, "originalStart": 0, "originalEnd": 0, "proposedStart": 0, "proposedEnd": 2 }]);
    assert_eq!(shown["hunksAt"], all);
}

#[tokio::test]
async fn an_agent_that_takes_its_proposal_back_gets_what_stands_in_the_page() {
    let companion = CompanionWithPage::start();
    for agent in [Agent::Qwen, Agent::Gemini] {
        let mut agent = companion.listener(agent).await;
        let path = companion.file("a.txt", OLD);
        agent.propose(&path, NEW).await;
        let list = companion.page().get("/api/proposals").await.json();
        let id = list[0]["id"].as_u64().unwrap();
        put_draft(&companion, id, "mine\r\n").await;
        assert_eq!(agent.withdraw(&path).await, "mine\r\n");
        agent.leave().await;
    }
}

#[tokio::test]
async fn every_byte_of_a_text_goes_through_unchanged() {
    let companion = CompanionWithPage::start();
    let mut agent = companion.listener(Agent::Qwen).await;
    let texts = [
        "\u{feff}one\r\ntwo\r\n",
        "\u{feff}no end",
        "mixed\r\nends\nhere\r",
        "tab\t nul\u{0} escape\u{1b}[31m",
        "<script>alert(1)</script> &amp; \u{2028}\u{202e}",
        "é漢🙂\u{fffd}",
        "\n\n",
    ];
    for (id, text) in (1..).zip(texts) {
        let path = companion.file("a.txt", "\u{feff}old\r\n");
        agent.propose(&path, "\u{feff}new\r\n").await;
        let shown = detail(&companion, id).await;
        assert_eq!(shown["original"], "\u{feff}old\r\n");
        assert_eq!(shown["proposed"], "\u{feff}new\r\n");
        put_draft(&companion, id, text).await;
        assert_eq!(detail(&companion, id).await["current"], text);
        let accept = format!("/api/proposals/{id}/accept");
        let accepted = companion
            .page()
            .post(&accept, &json!({ "content": text }))
            .await;
        assert_eq!(accepted.json()["agent"], "qwen");
        let heard = agent.hear_verdict().await;
        assert_eq!(heard["params"]["content"], text, "{text:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_drafted_is_refused() {
    let companion = CompanionWithPage::with(Limits {
        body: 1 << 20,
        ..quiet_limits()
    });
    let mut agent = companion.listener(Agent::Gemini).await;
    agent
        .propose(&companion.file("a.bin", b"\xff\xfe"), "text")
        .await;
    let page = companion.page();
    let draft = |text: &str| json!({ "content": text });
    let table = [
        ("/api/proposals/1/draft", draft("x"), (409, "refused")),
        ("/api/proposals/9/draft", draft("x"), (404, "not_found")),
        ("/api/proposals/x/draft", draft("x"), (422, "invalid")),
        ("/api/proposals/1/draft", json!({}), (422, "invalid")),
        (
            "/api/proposals/1/draft",
            json!({ "content": "x", "more": 1 }),
            (422, "invalid"),
        ),
        (
            "/api/proposals/1/draft",
            draft(&"x".repeat(2 << 20)),
            (422, "invalid"),
        ),
    ];
    for (path, body, (status, kind)) in table {
        let refused = page.put(path, &body).await;
        assert_eq!(refused.problem(), (status, kind.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_thousand_proposals_are_listed() {
    let companion = CompanionWithPage::start();
    let mut agents = Vec::new();
    for _ in 0..4 {
        let mut agent = companion.listener(Agent::Qwen).await;
        for n in 0..250 {
            let mut text = String::new();
            for line in 0..100 {
                writeln!(text, "line {line} of {n}").unwrap();
            }
            agent
                .propose(&companion.path(&format!("{n}.txt")), &text)
                .await;
        }
        agents.push(agent);
    }
    let list = companion.page().get("/api/proposals").await.json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 1000);
    let ids = list.iter().map(|proposal| proposal["id"].as_u64().unwrap());
    assert!(ids.eq(1..=1000), "oldest first");
    let live = companion.page().get("/api/live").await.json();
    assert_eq!(live["proposals"].as_array().unwrap().len(), 1000);
    assert_eq!(live["status"]["proposals"], 1000);
    assert!(live["log"].as_array().unwrap().len() <= 500);
}
