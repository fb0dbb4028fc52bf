//! Which requests are denied, and which routes each key opens.

use axum::http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use workbench::Agent;

use crate::companion::CompanionWithPage;

/// Every route that needs a key; the last ones are for commands only.
const ROUTES: [(Method, &str); 16] = [
    (Method::GET, "/api/status"),
    (Method::GET, "/api/live"),
    (Method::GET, "/api/events"),
    (Method::GET, "/api/proposals"),
    (Method::GET, "/api/proposals/1"),
    (Method::PUT, "/api/proposals/1/draft"),
    (Method::POST, "/api/proposals/1/accept"),
    (Method::POST, "/api/proposals/1/reject"),
    (Method::POST, "/api/focus"),
    (Method::GET, "/api/environment"),
    (Method::POST, "/api/guests"),
    (Method::POST, "/api/links"),
    (Method::POST, "/api/restart"),
    (Method::POST, "/api/stop"),
    (Method::POST, "/api/stop-unused"),
    (Method::GET, "/api/editor"),
];
const FOR_BOTH: usize = 9;

/// What needs no key.
const OPEN: [(Method, &str); 3] = [
    (Method::GET, "/"),
    (Method::GET, "/assets/app.js"),
    (Method::POST, "/api/page"),
];

#[tokio::test]
async fn without_a_key_every_route_is_denied() {
    let companion = CompanionWithPage::start();
    let page = companion.keys.page.expose();
    let wrong = [
        String::new(),
        "Bearer".into(),
        format!("Basic {page}"),
        format!("Bearer {}", &page[1..]),
        format!("Bearer {page}0"),
        format!("Bearer {}", companion.token(Agent::Qwen)),
    ];
    for (method, path) in ROUTES {
        for header in &wrong {
            let client = companion.stranger().with("authorization", header);
            let answer = client.request(method.clone(), path, "{}").await;
            let unauthorized = (401, "unauthorized".to_owned());
            assert_eq!(answer.problem(), unauthorized, "{method} {path} {header}");
        }
    }
}

#[tokio::test]
async fn a_page_may_not_use_the_routes_of_commands() {
    let companion = CompanionWithPage::start();
    for (method, path) in &ROUTES[FOR_BOTH..] {
        let answer = companion
            .page()
            .request(method.clone(), path, r#"{"pid":1}"#)
            .await;
        let forbidden = (403, "forbidden".to_owned());
        assert_eq!(answer.problem(), forbidden, "{method} {path}");
        let answer = companion
            .command()
            .request(method.clone(), path, r#"{"pid":1}"#)
            .await;
        // A request that does not ask for a pipe gets none.
        let expected = if *path == "/api/editor" { 422 } else { 200 };
        assert_eq!(answer.status, expected, "{method} {path}");
    }
    for (method, path) in &ROUTES[..FOR_BOTH] {
        if *path != "/api/events" {
            let answer = companion.page().request(method.clone(), path, "{}").await;
            let status = answer.status.as_u16();
            assert!([200, 404, 422].contains(&status), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn neither_a_foreign_site_nor_a_foreign_name_gets_in() {
    let companion = CompanionWithPage::start();
    let port = companion.port;
    let foreign = [
        ("host", "evil.example".to_owned()),
        ("host", format!("evil.example:{port}")),
        ("host", "127.0.0.1:1".to_owned()),
        ("origin", "http://evil.example".to_owned()),
        ("origin", "null".to_owned()),
        ("origin", format!("http://localhost:{port}")),
        ("origin", format!("https://127.0.0.1:{port}")),
    ];
    for (method, path) in ROUTES.into_iter().chain(OPEN) {
        for (name, value) in &foreign {
            let client = companion.command().with(name, value);
            let answer = client.request(method.clone(), path, "{}").await;
            let forbidden = (403, "forbidden".to_owned());
            assert_eq!(
                answer.problem(),
                forbidden,
                "{method} {path} {name}: {value}"
            );
        }
    }
    let own = companion
        .page()
        .with("origin", &format!("http://127.0.0.1:{port}"));
    assert_eq!(own.get("/api/live").await.status, 200);
}

#[tokio::test]
async fn every_answer_keeps_other_sites_out() {
    let companion = CompanionWithPage::start();
    let mut answers = vec![
        companion.stranger().get("/api/live").await,
        companion.page().get("/api/proposals/77").await,
        companion.page().get("/api/environment").await,
        companion
            .page()
            .request(Method::DELETE, "/api/live", "")
            .await,
        companion.stranger().get("/assets/missing.js").await,
        companion
            .stranger()
            .with("host", "evil.example")
            .get("/")
            .await,
    ];
    for (method, path) in OPEN {
        answers.push(companion.stranger().request(method, path, "{}").await);
    }
    for path in ["/api/live", "/api/status", "/api/proposals"] {
        let answer = companion.page().get(path).await;
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        answers.push(answer);
    }
    for answer in &answers {
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            // The pictures of a conversation are in its text; none is fetched from anywhere.
            "img-src 'self' data:;",
            "connect-src 'self';",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{part}: {answer:?}");
        }
        assert!(!policy.contains("http"), "nothing from elsewhere: {policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_link_opens_the_page_once() {
    let companion = CompanionWithPage::start();
    let link = companion
        .command()
        .post("/api/links", &json!({}))
        .await
        .json();
    let link = link["url"].as_str().unwrap();
    assert!(!link.contains(companion.keys.page.expose()));
    let (address, ticket) = link.split_once('#').unwrap();
    assert_eq!(address, format!("http://127.0.0.1:{}/", companion.port));

    let entering = json!({ "ticket": ticket });
    let entered = companion.stranger().post("/api/page", &entering).await;
    assert_eq!(entered.json()["key"], companion.keys.page.expose());
    assert_eq!(entered.header("cache-control"), "no-store");
    for ticket in [ticket, "", "x", companion.keys.page.expose()] {
        let entering = json!({ "ticket": ticket });
        let refused = companion.stranger().post("/api/page", &entering).await;
        assert_eq!(refused.problem(), (401, "unauthorized".to_owned()));
        assert!(refused.body.contains("outrigger url"), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_stranger_cannot_make_us_read_much() {
    let companion = CompanionWithPage::start();
    let large = json!({ "ticket": "x".repeat(5000) });
    let refused = companion.stranger().post("/api/page", &large).await;
    assert_eq!(refused.problem(), (422, "invalid".to_owned()));
    let odd = json!({ "ticket": "x", "more": 1 });
    let refused = companion.stranger().post("/api/page", &odd).await;
    assert_eq!(refused.problem(), (422, "invalid".to_owned()));
}

#[tokio::test]
async fn what_does_not_exist_is_not_found_whoever_asks() {
    let companion = CompanionWithPage::start();
    for client in [companion.page(), companion.stranger()] {
        for path in ["/api/nothing", "/nothing", "/assets/../src/lib.rs", "/api/"] {
            assert_eq!(client.get(path).await.status, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn an_editor_gets_a_pipe_for_its_bytes() {
    let companion = CompanionWithPage::start();
    let with = |key: &companion::Token| web::Client::new(companion.port, key.clone());
    let page = with(&companion.keys.page).join().await;
    assert!(matches!(page, Err(web::ClientError::Refused(problem)) if problem.kind == "forbidden"));
    let client = with(&companion.keys.commands);
    let mut pipe = client.join().await.unwrap();
    let said: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    let (mut from, mut to) = tokio::io::split(&mut pipe);
    let says = async {
        to.write_all(&said).await.unwrap();
        to.shutdown().await.unwrap();
    };
    let mut heard = Vec::new();
    let (read, ()) = tokio::join!(from.read_to_end(&mut heard), says);
    read.unwrap();
    assert!(heard == said);
    // One that is about to end lets nobody in.
    let late = client.join().await;
    assert!(
        matches!(late, Err(web::ClientError::Refused(problem)) if problem.kind == "unavailable")
    );
}
