//! Every way in which the daemon says no, and everything that is not a daemon at all.

use std::fs;
use std::path::Path;
use std::time::Duration;

use outrigger_daemon::wire::{NewSession, SessionId};
use outrigger_daemon::{Address, DaemonClient, DaemonError, ErrorReason, Timeouts};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::fake::{FakeDaemon, http};
use crate::routes::captured;
use crate::watching::Opens;

async fn refused_with(daemon: &FakeDaemon, answer: Vec<u8>) -> DaemonError {
    daemon.answer_next("GET /capabilities", answer);
    daemon.client().capabilities().await.unwrap_err()
}

#[tokio::test]
async fn every_captured_refusal_has_its_reason() {
    let known = [
        ("session-workspace-mismatch", ErrorReason::WorkspaceMismatch),
        ("load-mismatch", ErrorReason::WorkspaceMismatch),
        ("prompt-unknown-client", ErrorReason::InvalidClientId),
        ("heartbeat.unknown", ErrorReason::InvalidClientId),
        ("session-no-token", ErrorReason::Unauthorized),
        ("capabilities-bad-token", ErrorReason::Unauthorized),
        ("bad-host", ErrorReason::Forbidden),
        ("bad-origin", ErrorReason::Forbidden),
        ("policy-designated.vote-other", ErrorReason::VoteForbidden),
        ("sse-unknown-session", ErrorReason::SessionNotFound),
        ("load-unknown", ErrorReason::SessionNotFound),
        ("queue-remove.turn-unknown", ErrorReason::PromptNotFound),
        ("http.unknown-route", ErrorReason::NotFound),
        ("perm-vote-late-session-route", ErrorReason::NotFound),
        ("create-with-id-conflict", ErrorReason::Conflict),
        ("http.body-too-large", ErrorReason::TooLarge),
        ("http.rate-limit-4", ErrorReason::RateLimited),
        ("sse-subscriber-limit", ErrorReason::SubscriberLimit),
        ("queue.p6-full", ErrorReason::QueueFull),
        ("session-limit", ErrorReason::SessionLimit),
        ("noauth.session", ErrorReason::NoModelProvider),
        ("model-switch.unknown", ErrorReason::Failed),
        ("prompt-empty", ErrorReason::BadRequest),
        ("session-bad-json", ErrorReason::BadRequest),
    ];
    let daemon = FakeDaemon::start().await;
    for (name, reason) in known {
        let error = refused_with(&daemon, captured(&format!("{name}.http.txt"))).await;
        assert_eq!(error.reason(), Some(reason), "{name}: {error}");
        assert!(!error.to_string().contains('<'), "{name}: {error}");
    }
    // And every other captured refusal is at least read.
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")).unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".http.txt") || name.starts_with("daemon-down") {
            continue;
        }
        let answer = captured(&name);
        if answer.starts_with(b"HTTP/1.1 4") || answer.starts_with(b"HTTP/1.1 5") {
            let error = refused_with(&daemon, answer).await;
            let refusal = error
                .response()
                .unwrap_or_else(|| panic!("{name}: {error}"));
            assert!(
                !refusal.message.is_empty() && refusal.message != "no reason given",
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn waits_and_details_are_kept() {
    let daemon = FakeDaemon::start().await;
    let error = refused_with(&daemon, captured("http.rate-limit-4.http.txt")).await;
    assert_eq!(
        error.response().unwrap().retry_after,
        Some(Duration::from_secs(20))
    );
    let error = refused_with(&daemon, captured("queue.p6-full.http.txt")).await;
    assert_eq!(
        error.response().unwrap().retry_after,
        Some(Duration::from_secs(5))
    );
    let error = refused_with(&daemon, captured("session-workspace-mismatch.http.txt")).await;
    assert_eq!(
        error.response().unwrap().field("boundWorkspace"),
        Some("/home/dev/ws")
    );
    assert!(error.hint().unwrap().contains("folder"));
}

#[tokio::test]
async fn answers_that_are_not_a_daemons_are_strange() {
    let daemon = FakeDaemon::start().await;
    let cases = [
        http(200, "Content-Type: text/html\r\n", "<html>hello</html>"),
        http(200, "", ""),
        http(200, "", "[]"),
        http(200, "", r#"{"v":1}"#),
        http(200, "", "\u{fffd}\0"),
    ];
    for answer in cases {
        let error = refused_with(&daemon, answer).await;
        assert!(
            matches!(error, DaemonError::InvalidResponse { .. }),
            "{error:?}"
        );
    }
    let session = SessionId::new("s").unwrap();
    daemon.answer_next(
        "GET /session/s/events",
        http(200, "Content-Type: application/json\r\n", "{}"),
    );
    let error = daemon
        .client()
        .events(
            &session,
            &outrigger_daemon::client::Subscription::default(),
            None,
        )
        .await
        .unwrap_err();
    assert!(
        matches!(error, DaemonError::InvalidResponse { .. }),
        "{error:?}"
    );
}

/// A redirect would take the token to somebody else.
#[tokio::test]
async fn redirects_are_not_followed() {
    let daemon = FakeDaemon::start().await;
    let elsewhere = format!("Location: http://127.0.0.1:{}/stolen\r\n", daemon.port);
    for status in [301, 302, 307, 308] {
        let error = refused_with(&daemon, http(status, &elsewhere, "")).await;
        assert_eq!(error.reason(), Some(ErrorReason::Redirect));
    }
    assert!(daemon.requests("GET /stolen").is_empty());
}

#[tokio::test]
async fn broken_answers_are_cut_and_silence_ends() {
    let daemon = FakeDaemon::start().await;
    let cases: [&[u8]; 5] = [
        b"",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"v\":1",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x00\x05",
    ];
    for answer in cases {
        let error = refused_with(&daemon, answer.to_vec()).await;
        assert!(
            matches!(error, DaemonError::ConnectionLost { .. }),
            "{error:?}"
        );
        assert!(!error.nothing_was_sent());
    }

    // Somebody takes the connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let timeouts = Timeouts {
        response: Duration::from_millis(50),
        ..Timeouts::default()
    };
    let client = DaemonClient::new(Address::local(port), None).with_timeouts(timeouts);
    let error = client.health().await.unwrap_err();
    assert!(matches!(error, DaemonError::Timeout { .. }), "{error:?}");

    // Somebody never stops talking.
    let endless = tokio::spawn(async move {
        let (_first, _) = listener.accept().await.unwrap();
        let (mut socket, _) = listener.accept().await.unwrap();
        // The request first: an answer to nothing is another fault.
        socket.read_buf(&mut Vec::new()).await.unwrap();
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while socket.write_all(&[b'x'; 8192]).await.is_ok() {}
    });
    let client = DaemonClient::new(Address::local(port), None);
    let error = client.health().await.unwrap_err();
    assert!(
        matches!(error, DaemonError::InvalidResponse { .. }),
        "{error:?}"
    );
    endless.await.unwrap();
}

#[tokio::test]
async fn a_daemon_that_is_not_there_is_unreachable_and_nothing_was_sent() {
    let daemon = FakeDaemon::start().await;
    daemon.go_down().await;
    let error = daemon
        .client()
        .create_session(&NewSession::default())
        .await
        .unwrap_err();
    assert!(matches!(error, DaemonError::Unreachable { .. }) && error.nothing_was_sent());
    assert!(error.hint().unwrap().contains("qwen serve"));
}

/// The name is pinned: whatever a resolver says, only loopback addresses are tried.
#[tokio::test]
async fn localhost_reaches_a_daemon_on_the_loopback_address() {
    let daemon = FakeDaemon::start().await;
    let address: Address = format!("http://localhost:{}", daemon.port).parse().unwrap();
    daemon.answer_next("GET /health", http(200, "", r#"{"status":"ok"}"#));
    DaemonClient::new(address, None).health().await.unwrap();
    assert_eq!(
        daemon.requests("GET /health")[0].headers["host"],
        format!("localhost:{}", daemon.port)
    );
}

#[tokio::test]
async fn a_secret_never_shows_in_an_error() {
    let daemon = FakeDaemon::start().await;
    let body = json!({"error": "no", "code": -1});
    let error = refused_with(&daemon, http(500, "", &body.to_string())).await;
    let client = daemon.client();
    assert!(!format!("{error:?} {error} {client:?}").contains(crate::fake::TOKEN));
}
