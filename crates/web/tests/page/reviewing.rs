//! Proposals: listed, shown, edited, decided.

use std::fmt::Write as _;

use companion::Limits;
use serde_json::{Value, json};
use workbench::Agent;

use crate::house::House;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
const NEW: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";

async fn detail(house: &House, id: u64) -> Value {
    let path = format!("/api/proposals/{id}");
    house.page().get(&path).await.json()
}

async fn put_draft(house: &House, id: u64, text: &str) -> Value {
    let path = format!("/api/proposals/{id}/draft");
    let draft = json!({ "content": text });
    house.page().put(&path, &draft).await.json()
}

#[tokio::test]
async fn a_proposal_is_shown_with_the_places_where_it_differs() {
    let house = House::open().await;
    let agent = house.agent(Agent::Qwen).await;
    let path = house.file("a.txt", OLD);
    agent.open_diff(&path, NEW).await;
    let shown = detail(&house, 1).await;
    assert_eq!(shown["original"], OLD);
    assert_eq!(shown["proposed"], NEW);
    let both = json!([
        { "id": 1, "original": [0, 1], "proposed": [0, 1] },
        { "id": 2, "original": [4, 5], "proposed": [4, 5] },
    ]);
    assert_eq!(shown["hunks_at"], both);
    for absent in ["current", "current_hunks_at"] {
        assert_eq!(shown.get(absent), None);
    }

    let text = "zero\none\ntwo\nthree\nfour\nFIVE\n";
    let drafted = put_draft(&house, 1, text).await;
    let places = json!([
        { "id": 1, "original": [0, 0], "proposed": [0, 1] },
        { "id": 2, "original": [4, 5], "proposed": [5, 6] },
    ]);
    assert_eq!(drafted["hunks_at"], places);
    let shown = detail(&house, 1).await;
    assert_eq!(shown["current"], text);
    assert_eq!(shown["current_hunks_at"], places);
    assert_eq!(shown["hunks_at"], both, "the agent's own stay");

    assert_eq!(put_draft(&house, 1, NEW).await["hunks_at"], both);
    assert_eq!(detail(&house, 1).await.get("current"), None);
}

#[tokio::test]
async fn a_new_file_has_no_original() {
    let house = House::open().await;
    let agent = house.agent(Agent::Gemini).await;
    agent.open_diff(&house.path("new.txt"), "a\nb\n").await;
    let shown = detail(&house, 1).await;
    assert_eq!(shown.get("original"), None);
    let all = json!([{ "id": 1, "original": [0, 0], "proposed": [0, 2] }]);
    assert_eq!(shown["hunks_at"], all);
}

#[tokio::test]
async fn an_agent_that_takes_its_proposal_back_gets_what_stands_in_the_page() {
    let house = House::open().await;
    for agent in [Agent::Qwen, Agent::Gemini] {
        let agent = house.agent(agent).await;
        let path = house.file("a.txt", OLD);
        agent.open_diff(&path, NEW).await;
        let list = house.page().get("/api/proposals").await.json();
        let id = list[0]["id"].as_u64().unwrap();
        put_draft(&house, id, "mine\r\n").await;
        assert_eq!(agent.close_diff(&path).await, "mine\r\n");
        agent.leave().await;
    }
}

#[tokio::test]
async fn every_byte_of_a_text_goes_through_unchanged() {
    let house = House::open().await;
    let mut agent = house.agent(Agent::Qwen).await;
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
        let path = house.file("a.txt", "\u{feff}old\r\n");
        agent.open_diff(&path, "\u{feff}new\r\n").await;
        let shown = detail(&house, id).await;
        assert_eq!(shown["original"], "\u{feff}old\r\n");
        assert_eq!(shown["proposed"], "\u{feff}new\r\n");
        put_draft(&house, id, text).await;
        assert_eq!(detail(&house, id).await["current"], text);
        let accept = format!("/api/proposals/{id}/accept");
        let accepted = house
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
    let house = House::with(Limits {
        body: 1 << 20,
        ..Limits::default()
    })
    .await;
    let agent = house.agent(Agent::Gemini).await;
    agent
        .open_diff(&house.file("a.bin", b"\xff\xfe"), "text")
        .await;
    let page = house.page();
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
    let house = House::open().await;
    let mut agents = Vec::new();
    for _ in 0..4 {
        let agent = house.agent(Agent::Qwen).await;
        for n in 0..250 {
            let mut text = String::new();
            for line in 0..100 {
                writeln!(text, "line {line} of {n}").unwrap();
            }
            agent
                .open_diff(&house.path(&format!("{n}.txt")), &text)
                .await;
        }
        agents.push(agent);
    }
    let list = house.page().get("/api/proposals").await.json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 1000);
    let ids = list.iter().map(|proposal| proposal["id"].as_u64().unwrap());
    assert!(ids.eq(1..=1000), "oldest first");
    let live = house.page().get("/api/live").await.json();
    assert_eq!(live["proposals"].as_array().unwrap().len(), 1000);
    assert_eq!(live["status"]["proposals"], 1000);
    assert!(live["log"].as_array().unwrap().len() <= 500);
}
