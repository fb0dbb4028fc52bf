//! The handle of a connection: what opens its session, whether there is one, what comes back from a call,
//! and its events as a stream.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::Stream;
use outrigger_daemon::connection::{
    CallError, ConnectError, ConnectOptions, IdeConnection, IdeEvent, SessionChoice, SessionFactory,
};
use outrigger_daemon::wire::{ApprovalMode, SessionId};
use outrigger_daemon::{Address, DaemonError, DisconnectMode, TurnEnd};
use serde_json::json;

use crate::fake::{FakeDaemon, SESSION};
use crate::person::{connected, daemon, disconnected, first, options, stand, take_until};

/// The first attempt fails, whatever the daemon says; the later ones do what the default does.
#[tokio::test]
async fn what_opens_the_session_can_be_injected() {
    let daemon = daemon().await;
    let (opens, given) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Mutex::new(Vec::new())),
    );
    let (count, keep) = (opens.clone(), given.clone());
    let sessions = SessionFactory::new(move |client, options| {
        let attempt = count.fetch_add(1, Ordering::SeqCst);
        let address = client.address().clone();
        keep.lock().unwrap().push((address, options.clone()));
        if attempt == 0 {
            return Box::pin(async { Err(DaemonError::SessionEnded) });
        }
        SessionFactory::default().open(client, options)
    });
    let wanted = ConnectOptions {
        sessions,
        session: SessionChoice::New,
        model: Some("a-model".into()),
        approval_mode: Some(ApprovalMode::Plan),
        ..options(&daemon)
    };
    let (connection, mut events) = IdeConnection::new();
    let failed = connection.connect(wanted.clone()).await;
    assert!(
        matches!(failed, Err(ConnectError::Daemon(DaemonError::SessionEnded))),
        "{failed:?}"
    );
    assert!(!connection.is_connected() && events.try_next().is_none());
    assert!(daemon.requests("POST /session").is_empty());
    assert_eq!(opens.load(Ordering::SeqCst), 1);

    let connected = connection.connect(wanted).await.unwrap();
    assert_eq!(connected.session.as_str(), SESSION);
    assert_eq!(opens.load(Ordering::SeqCst), 2);
    for (address, options) in given.lock().unwrap().iter() {
        assert_eq!(*address, Address::local(daemon.port));
        assert_eq!(options.session, SessionChoice::New);
        assert_eq!(options.model.as_deref(), Some("a-model"));
        assert_eq!(options.approval_mode, Some(ApprovalMode::Plan));
    }
    let body = &daemon.requests("POST /session")[0].body;
    assert_eq!(body["modelServiceId"], "a-model");
}

#[tokio::test]
async fn whether_there_is_a_connection() {
    let daemon = daemon().await;
    let (connection, mut events) = IdeConnection::new();
    assert!(!connection.is_connected());
    assert!(matches!(
        connection.context().await,
        Err(CallError::NotConnected)
    ));
    connection.connect(options(&daemon)).await.unwrap();
    assert!(connection.is_connected());
    // While it makes contact again it is one, too.
    daemon.listened_to().await;
    daemon.cut();
    take_until(&mut events, |it| {
        matches!(it, IdeEvent::ConnectionLost { .. })
    })
    .await;
    assert!(connection.is_connected());
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    assert!(!connection.is_connected());
    assert!(matches!(
        connection.context().await,
        Err(CallError::NotConnected)
    ));

    connection.connect(options(&daemon)).await.unwrap();
    assert!(connection.is_connected());
    daemon.listened_to().await;
    take_until(&mut events, |it| matches!(it, IdeEvent::CaughtUp)).await;
    daemon.emit(
        "session_died",
        json!({"sessionId": SESSION, "reason": "killed"}),
    );
    disconnected(&mut events).await;
    assert!(!connection.is_connected());
}

/// Whoever shows the conversation need not be the one who has sent the prompt.
#[tokio::test]
async fn a_prompt_that_was_not_accepted_ends_for_both() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let route = format!("POST /session/{SESSION}/prompt");
    let full = json!({"error": "the queue is full", "code": "prompt_queue_full"});
    daemon.refuse_next(&route, 503, "", &full);
    let refused = connection.send_prompt("hello").await.unwrap_err();
    assert!(
        refused.to_string().contains("the queue is full"),
        "{refused}"
    );
    let end = first(&mut events, |event| match event {
        IdeEvent::TurnEnded {
            prompt: None, end, ..
        } => Some(end),
        _ => None,
    });
    match end.await {
        TurnEnd::NotAccepted { why } => assert!(why.contains("the queue is full"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(daemon.requests(&route).len(), 1);
}

#[tokio::test]
async fn setting_the_model_tells_the_model_and_no_address_or_key() {
    let daemon = daemon().await;
    let (connection, _events) = connected(&daemon).await;
    let answer = json!({"_meta": {"qwenModelSwitch": {
        "authType": "openai", "modelId": "fake-model-2", "isRuntime": false,
        "baseUrl": "http://127.0.0.1:4555/v1", "apiKey": "fak...-key",
    }}});
    let route = format!("POST /session/{SESSION}/model");
    stand(&daemon, &route, 200, &answer);
    let selected = connection.set_model("fake-model-2(openai)").await.unwrap();
    assert_eq!(selected.model_id.as_deref(), Some("fake-model-2"));
    assert_eq!(selected.auth_type.as_deref(), Some("openai"));
    assert_eq!(selected.is_runtime, Some(false));
    let shown = format!("{selected:?}");
    assert!(!shown.contains("4555") && !shown.contains("key"), "{shown}");
    let body = &daemon.requests(&route)[0].body;
    assert_eq!(*body, json!({"modelId": "fake-model-2(openai)"}));
}

#[tokio::test]
async fn events_are_a_stream() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.say("through the stream");
    let mut is_said = false;
    while !is_said {
        let next = std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context));
        let event = testkit::soon("an event", next).await;
        if let Some(IdeEvent::Update { update, .. }) = event {
            is_said = format!("{update:?}").contains("through the stream");
        }
    }
    // It ends with the last handle, after everything that was sent before.
    drop(connection);
    let mut seen_end = false;
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context));
        match testkit::soon("the end", next).await {
            Some(event) => seen_end |= matches!(event, IdeEvent::Disconnected { .. }),
            None => break,
        }
    }
    assert!(seen_end);
}

/// A model is for a session that this connect creates: the daemon would switch the model of the others
/// who are in one that exists.
#[tokio::test]
async fn a_model_is_sent_for_a_new_session_only() {
    let switches = |daemon: &FakeDaemon| {
        let seen = daemon.requests(&format!("POST /session/{SESSION}/model"));
        seen.into_iter().map(|it| it.body).collect::<Vec<_>>()
    };
    let known = || SessionChoice::Known(SessionId::new(SESSION).unwrap());
    // The choice, whether the session is live before, where the model is sent.
    let cases = [
        (SessionChoice::New, false, "create"),
        (SessionChoice::Shared, false, "switch"),
        (SessionChoice::Shared, true, "nowhere"),
        (known(), true, "nowhere"),
        (known(), false, "nowhere"),
    ];
    for (session, alive, place) in cases {
        let daemon = daemon().await;
        {
            let mut world = daemon.world();
            world.alive = alive;
            world.on_disk = true;
        }
        let what = format!("{session:?}, {alive}");
        let wanted = ConnectOptions {
            session,
            model: Some("a-model".into()),
            ..options(&daemon)
        };
        let (connection, _events) = IdeConnection::new();
        connection.connect(wanted).await.unwrap();
        let bodies = [
            "POST /session".into(),
            format!("POST /session/{SESSION}/load"),
        ];
        let opened = bodies.iter().flat_map(|route| daemon.requests(route));
        let created = opened.filter(|it| it.body["modelServiceId"] == "a-model");
        assert_eq!(created.count(), usize::from(place == "create"), "{what}");
        let expected = match place {
            "switch" => vec![json!({"modelId": "a-model"})],
            _ => vec![],
        };
        assert_eq!(switches(&daemon), expected, "{what}");
    }
}

/// The folder of the connection decides which of the daemon's routes are asked.
#[tokio::test]
async fn the_folder_is_the_one_that_was_connected_to() {
    use outrigger_daemon::wire::{PageRequest, RelativePath};

    let daemon = daemon().await;
    let mut both = crate::person::capabilities("/home/dev/ws");
    let second = json!({"cwd": "/home/dev/second"});
    both["workspaces"].as_array_mut().unwrap().push(second);
    stand(&daemon, "GET /capabilities", 200, &both);
    let stat = json!({"path": ".", "type": "directory"});
    let list = json!({"sessions": []});
    for (folder, files, sessions) in [
        (None, "GET /stat", "%2Fhome%2Fdev%2Fws"),
        (Some("/home/dev/ws/"), "GET /stat", "%2Fhome%2Fdev%2Fws"),
        (
            Some("/home/dev/second"),
            "GET /workspaces/%2Fhome%2Fdev%2Fsecond/stat",
            "%2Fhome%2Fdev%2Fsecond",
        ),
    ] {
        let (connection, _events) = IdeConnection::new();
        let wanted = ConnectOptions {
            workspace: folder.map(Into::into),
            ..options(&daemon)
        };
        connection.connect(wanted).await.unwrap();
        stand(&daemon, files, 200, &stat);
        let root = RelativePath::root();
        connection.workspace().unwrap().stat(&root).await.unwrap();
        let sessions = format!("GET /workspace/{sessions}/sessions");
        stand(&daemon, &sessions, 200, &list);
        connection
            .conversations(&PageRequest::default())
            .await
            .unwrap();
    }
    assert_eq!(daemon.requests("GET /stat").len(), 2);
}
