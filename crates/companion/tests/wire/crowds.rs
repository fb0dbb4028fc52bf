//! Many peers, slow peers, peers that stop half-way: none of them is in another's way.

use std::collections::BTreeSet;
use std::time::Duration;

use companion::Limits;
use testkit::http::{Connection, StreamEnd, message};
use testkit::{InProcessCompanion, quiet_limits, soon};
use tokio::task::JoinSet;
use workbench::{Agent, Decision};

#[tokio::test]
async fn a_thousand_sessions_at_once_stay_within_the_limit_and_end_nobody_elses() {
    let limits = Limits {
        sessions: 8,
        // A busy machine may take long to get to all of them, and they are no strangers.
        stranger_silence: Duration::from_hours(1),
        patience: Duration::from_hours(1),
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut listening = companion.listener(Agent::Qwen).await;
    let mut asking = companion.peer(Agent::Gemini);
    asking.initialize().await;
    let answer = asking.open_diff_streaming("/x", "new").await;
    companion.lose(answer).await;

    let mut crowd = JoinSet::new();
    for _ in 0..1000 {
        let mut peer = companion.peer(Agent::Qwen);
        crowd.spawn(async move {
            let asked = serde_json::json!({ "protocolVersion": "2025-11-25" });
            let answer = peer.request("initialize", asked).await;
            let session = answer.header("mcp-session-id").map(str::to_owned);
            (answer.status, session)
        });
    }
    let mut sessions = BTreeSet::new();
    while let Some(joined) = crowd.join_next().await {
        let (status, session) = joined.unwrap();
        assert_eq!(
            status, 200,
            "a client that gets an error disconnects for good"
        );
        sessions.extend(session);
    }
    assert_eq!(
        sessions.len(),
        1000,
        "idle ones make room, and no id comes twice"
    );
    let status = companion.desk.ask(|state| state.status()).await.unwrap();
    assert_eq!(status.sessions.len(), 8);
    listening.nothing_more(&companion).await;
    companion.decide(1, Decision::Accept).await.unwrap();
    asking.listen_for_anything().await;
    let heard = [asking.hear().await, asking.hear().await];
    assert!(heard.iter().any(|it| it["method"] == "ide/diffAccepted"));
}

#[tokio::test]
async fn the_sessions_of_one_agent_end_no_session_of_another() {
    let limits = Limits {
        sessions: 4,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    // It has no stream and waits for nothing, but goes on to send requests.
    let mut gemini = companion.peer(Agent::Gemini);
    gemini.initialize().await;
    for _ in 0..20 {
        companion.peer(Agent::Qwen).initialize().await;
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(gemini.post(ping).await.status, 200);

    // Whoever has none gets one of those that the other has too many of.
    let mut late = companion.peer(Agent::Unnamed);
    late.initialize().await;
    assert_eq!(late.post(ping).await.status, 200);
    assert_eq!(gemini.post(ping).await.status, 200);
}

#[tokio::test]
async fn a_full_house_says_so_inside_the_answer() {
    let limits = Limits {
        sessions: 2,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let _here = [
        companion.listener(Agent::Qwen).await,
        companion.listener(Agent::Gemini).await,
    ];
    let mut late = companion.peer(Agent::Qwen);
    let asked = serde_json::json!({ "protocolVersion": "2025-11-25" });
    let answer = late.request("initialize", asked).await;
    assert_eq!(
        (answer.status, answer.header("mcp-session-id")),
        (200, None)
    );
    insta::assert_snapshot!(answer.body, @r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"too many agents are connected; end one of them or wait a minute"},"id":1}"#);
}

#[tokio::test]
async fn a_peer_that_stops_half_way_is_cut_off_and_bothers_nobody() {
    let limits = Limits {
        patience: Duration::from_millis(200),
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let whole = qwen.http_request("POST").body(ping).bytes();
    for cut in [0, 1, 30, whole.len() - ping.len(), whole.len() - 1] {
        let mut stuck = Connection::open(companion.port).await;
        stuck.send(&whole[..cut]).await;
        assert_eq!(qwen.post(ping).await.status, 200, "meanwhile");
        let said = stuck.rest().await;
        let polite = said.is_empty() || said.starts_with("HTTP/1.1 4");
        assert!(polite, "cut at {cut}: {said}");
    }
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn strangers_keep_nobody_out() {
    let limits = Limits {
        connections: 8,
        strangers: 4,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let ask = qwen
        .http_request("POST")
        .header("authorization", "Bearer wrong")
        .body("{}")
        .bytes();
    let mut strangers = Vec::new();
    for number in 0..60 {
        let mut stranger = Connection::open(companion.port).await;
        // Nothing, half a request, and all of one that is denied.
        stranger.send(&ask[..ask.len() * (number % 3) / 2]).await;
        strangers.push(stranger);
    }
    let mut late = companion.listener(Agent::Gemini).await;
    late.propose("/x", "new").await;
    companion.decide(1, Decision::Accept).await.unwrap();
    assert_eq!(late.hear().await["method"], "ide/diffAccepted");
    qwen.nothing_more(&companion).await;
    // The oldest have lost their places, long before their time was over.
    for stranger in strangers.drain(..56) {
        let said = stranger.rest().await;
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 401"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn the_connections_of_one_agent_keep_no_other_out() {
    let limits = Limits {
        connections: 2,
        stranger_silence: Duration::from_millis(200),
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let qwen = companion.listener(Agent::Qwen).await;
    let _second = Connection::open(companion.port)
        .await
        .listen(&qwen.http_request("GET"))
        .await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let crowded = qwen.post(ping).await;
    assert_eq!(crowded.status, 503);
    assert!(
        crowded.body.contains("too many connections"),
        "{}",
        crowded.body
    );
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.nothing_more(&companion).await;
}

#[tokio::test]
async fn connections_that_are_only_kept_make_room_for_others() {
    let limits = Limits {
        connections: 2,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let ping = qwen
        .http_request("POST")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let mut kept = Vec::new();
    for _ in 0..10 {
        let mut connection = Connection::open(companion.port).await;
        assert_eq!(connection.request(&ping).await.status, 200);
        kept.push(connection);
    }
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn connections_over_the_limit_wait_their_turn() {
    let limits = Limits {
        connections: 3,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut pings = JoinSet::new();
    let ask = qwen
        .http_request("POST")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    for _ in 0..50 {
        let (ask, port) = (ask.clone().header("connection", "close"), companion.port);
        pings.spawn(async move { Connection::open(port).await.request(&ask).await.status });
    }
    while let Some(status) = pings.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn a_reader_that_stalls_gets_the_newest_context_and_its_verdict_once() {
    const CONTEXTS: u64 = 2000;
    let limits = Limits {
        debounce: Duration::ZERO,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let path = companion.file("a.rs", "");
    let mut gemini = companion.peer(Agent::Gemini);
    gemini.initialize().await;
    let connection = Connection::with_window(companion.port, Some(4096)).await;
    let mut stalled = connection.listen(&gemini.http_request("GET")).await;
    gemini.open_diff("/x", "new").await;

    // Each context has nearly 50 kB: together far more than any system takes in for a
    // connection that nobody reads from.
    let selection = "漢".repeat(16384);
    let mut published = companion.desk.context();
    for line in 1..=CONTEXTS {
        published.mark_unchanged();
        let line = u32::try_from(line).unwrap();
        companion.focus(&path, (line, 1), Some(&selection)).await;
        soon("a context", published.changed()).await.unwrap();
        if line == 1000 {
            companion.decide(1, Decision::Accept).await.unwrap();
        }
    }
    companion
        .until("the verdict waits", |status| {
            status.sessions[0].undelivered == 1
        })
        .await;

    let (mut lines, mut verdicts) = (Vec::new(), 0);
    while lines.last() != Some(&CONTEXTS) {
        let heard = message(&stalled.block().await.unwrap()).unwrap();
        if heard["method"] == "ide/diffAccepted" {
            verdicts += 1;
            continue;
        }
        let files = &heard["params"]["workspaceState"]["openFiles"];
        lines.push(files[0]["cursor"]["line"].as_u64().unwrap_or(0));
    }
    assert!(lines.is_sorted(), "{lines:?}");
    let before = lines[lines.len() - 2];
    assert!(before < 1000, "only what was on its way is old: {lines:?}");
    assert!(lines.len() < 500, "{} contexts were kept", lines.len());
    companion
        .until("the verdict left", |status| {
            status.sessions[0].undelivered == 0
        })
        .await;
    assert_eq!(verdicts, 1);
    companion.end(companion::Ending::Exit).await;
    let (blocks, end) = stalled.rest().await;
    assert_eq!((blocks.as_slice(), end), (&[][..], StreamEnd::Clean));
}

#[tokio::test]
async fn a_reader_that_stalls_delays_no_other() {
    let limits = Limits {
        debounce: Duration::ZERO,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let path = companion.file("a.rs", "");
    let mut slow = companion.peer(Agent::Gemini);
    slow.initialize().await;
    let connection = Connection::with_window(companion.port, Some(4096)).await;
    let _stalled = connection.listen(&slow.http_request("GET")).await;
    let mut quick = companion.listener(Agent::Qwen).await;
    let selection = "漢".repeat(16384);
    for line in 1..=200 {
        companion.focus(&path, (line, 1), Some(&selection)).await;
        let heard = quick.hear().await;
        let files = &heard["params"]["workspaceState"]["openFiles"];
        assert_eq!(files[0]["cursor"]["line"], line);
    }
}
