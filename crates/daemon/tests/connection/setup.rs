//! What keeps a person from connecting comes back once, with a hint, and is never tried again.

use outrigger_daemon::connection::{
    ConnectError, ConnectOptions, IdeConnection, SessionChoice, SetupError,
};
use outrigger_daemon::wire::SessionId;
use outrigger_daemon::{Address, ResumeState};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, http};
use crate::person::{capabilities, daemon, options, stand};

async fn attempt(options: ConnectOptions) -> SetupError {
    let (connection, mut events) = IdeConnection::new();
    match connection.connect(options).await {
        Err(ConnectError::Setup(error)) => {
            assert!(!error.hint().is_empty(), "{error}");
            assert!(events.try_next().is_none() && connection.session().is_none());
            error
        }
        other => panic!("{other:?}"),
    }
}

fn once(daemon: &FakeDaemon, what: &str) {
    assert_eq!(daemon.requests(what).len(), 1, "{what}");
}

#[tokio::test]
async fn nobody_there() {
    let daemon = daemon().await;
    daemon.go_down().await;
    assert!(matches!(
        attempt(options(&daemon)).await,
        SetupError::NoDaemon(_)
    ));
}

#[tokio::test]
async fn a_wrong_or_missing_token() {
    let daemon = daemon().await;
    let without = ConnectOptions {
        token: None,
        ..options(&daemon)
    };
    assert!(matches!(attempt(without).await, SetupError::Unauthorized));
    once(&daemon, "GET /capabilities");
}

#[tokio::test]
async fn another_program_on_the_port() {
    for answer in [
        http(
            200,
            "Content-Type: text/html\r\n",
            "<html>a web site</html>",
        ),
        http(
            404,
            "Content-Type: text/html\r\n",
            "<html>Cannot GET</html>",
        ),
        http(302, "Location: http://127.0.0.1:1/\r\n", ""),
        http(200, "", "{}"),
        b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
    ] {
        let daemon = daemon().await;
        daemon.answer_next("GET /capabilities", &answer);
        let (connection, _events) = IdeConnection::new();
        let error = connection.connect(options(&daemon)).await.unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        if answer.starts_with(b"HTTP") {
            assert!(
                matches!(error, ConnectError::Setup(SetupError::NotADaemon(_))),
                "{error:?}"
            );
        }
        once(&daemon, "GET /capabilities");
    }
}

#[tokio::test]
async fn a_daemon_of_another_folder() {
    let daemon = daemon().await;
    let elsewhere = || ConnectOptions {
        workspace: Some("/home/dev/other".into()),
        ..options(&daemon)
    };
    let error = attempt(elsewhere()).await;
    assert_eq!(
        error.to_string(),
        "the daemon works in /home/dev/ws, not in /home/dev/other"
    );
    assert!(daemon.requests("POST /session").is_empty());
    // One that is still starting does not tell; then the session is refused.
    let mut early = capabilities("/home/dev/ws");
    early.as_object_mut().unwrap().remove("workspaces");
    stand(&daemon, "GET /capabilities", 200, &early);
    let mismatch = json!({"error": "no", "code": "workspace_mismatch", "boundWorkspace": "/home/dev/ws", "requestedWorkspace": "/home/dev/other"});
    daemon.refuse_next("POST /session", 400, "", &mismatch);
    let error = attempt(elsewhere()).await;
    assert_eq!(
        error.to_string(),
        "the daemon works in /home/dev/ws, not in /home/dev/other"
    );
    once(&daemon, "POST /session");
}

#[tokio::test]
async fn the_right_folder_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().join("real");
    std::fs::create_dir(&real).unwrap();
    let link = real.with_file_name("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for written in [real.clone(), link, real.join("")] {
        let daemon = daemon().await;
        stand(
            &daemon,
            "GET /capabilities",
            200,
            &capabilities(real.to_str().unwrap()),
        );
        let (connection, _events) = IdeConnection::new();
        let options = ConnectOptions {
            workspace: Some(written.clone()),
            ..options(&daemon)
        };
        connection.connect(options).await.unwrap();
        // The daemon gets it as it is written, and is the judge.
        assert_eq!(
            daemon.requests("POST /session")[0].body["cwd"],
            written.to_str().unwrap()
        );
    }
}

#[tokio::test]
async fn no_model_provider() {
    let daemon = daemon().await;
    let refused =
        json!({"error": "Authentication required", "code": -32000, "data": {"authMethods": []}});
    daemon.refuse_next("POST /session", 500, "", &refused);
    assert!(matches!(
        attempt(options(&daemon)).await,
        SetupError::NoModelProvider
    ));
    once(&daemon, "POST /session");
}

#[tokio::test]
async fn another_protocol_or_too_little_of_ours() {
    let change = |field: &str, value: Value| {
        let mut capabilities = capabilities("/home/dev/ws");
        capabilities[field] = value;
        capabilities
    };
    let daemon = daemon().await;
    let newer = change("protocolVersions", json!({"supported": ["v2", "v3"]}));
    stand(&daemon, "GET /capabilities", 200, &newer);
    let error = attempt(options(&daemon)).await;
    assert!(
        matches!(&error, SetupError::UnsupportedProtocol(it) if it == "v2, v3"),
        "{error}"
    );
    let less = change(
        "features",
        json!(["session_create", "session_prompt", "session_events"]),
    );
    stand(&daemon, "GET /capabilities", 200, &less);
    let error = attempt(options(&daemon)).await;
    assert_eq!(
        error.to_string(),
        "the daemon lacks session_cancel, session_permission_vote"
    );
    assert!(daemon.requests("POST /session").is_empty());
}

#[tokio::test]
async fn a_conversation_that_is_gone() {
    let daemon = daemon().await;
    let id = SessionId::new(crate::fake::SESSION).unwrap();
    let state = ResumeState {
        session_id: id.clone(),
        epoch: None,
        last_event_id: 7,
    };
    for conversation in [SessionChoice::Known(id), SessionChoice::Resume(state)] {
        let options = ConnectOptions {
            session: conversation,
            ..options(&daemon)
        };
        assert!(matches!(attempt(options).await, SetupError::NoSuchSession));
    }
}

#[tokio::test]
async fn what_may_pass_is_not_a_set_up_error() {
    let daemon = daemon().await;
    daemon.refuse_next(
        "POST /session",
        503,
        "Retry-After: 5\r\n",
        &json!({"error": "full", "code": "session_limit_exceeded"}),
    );
    let (connection, _events) = IdeConnection::new();
    let error = connection.connect(options(&daemon)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Daemon(_)), "{error:?}");
    once(&daemon, "POST /session");
    assert!(matches!(
        IdeConnection::new().0.reconnect().await,
        Err(ConnectError::NoPreviousConnection)
    ));
    assert_eq!(ConnectOptions::default().address, Address::local(4170));
}
