//! The handle of a connection: what opens its session, whether there is one, what comes back from a call,
//! and its events as a stream.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::Stream;
use outrigger_daemon::connection::{
    CallError, ConnectError, ConnectOptions, IdeConnection, IdeEvent, SessionChoice, SessionFactory,
};
use outrigger_daemon::wire::{ApprovalMode, SessionId, SessionUpdate};
use outrigger_daemon::{Address, DaemonError, DisconnectMode, ResumeState, TurnEnd};
use serde_json::json;
use testkit::fake_daemon::OnPrompt;

use crate::fake::{FakeDaemon, SESSION};
use crate::person::{
    connected, connected_as, daemon, disconnected, first, next, options, said, stand, take_until,
};

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

/// The daemon ends in good order, which ends the session. What it brings back from disk has the mode of
/// its settings, and this connection knows another one.
#[tokio::test]
async fn a_reconnect_brings_back_the_mode_that_the_person_has_chosen() {
    let daemon = daemon().await;
    let wanted = ConnectOptions {
        session: SessionChoice::New,
        approval_mode: Some(ApprovalMode::Default),
        ..options(&daemon)
    };
    let (connection, mut events) = IdeConnection::new();
    connection.connect(wanted).await.unwrap();
    let plan = ApprovalMode::Plan;
    connection.set_approval_mode(&plan).await.unwrap();
    daemon.emit(
        "session_died",
        json!({"sessionId": SESSION, "reason": "daemon_shutdown"}),
    );
    disconnected(&mut events).await;
    // The first attempt fails, which must not cost it either.
    daemon.go_down().await;
    assert!(connection.reconnect().await.is_err());
    daemon.come_back().await;
    connection.reconnect().await.unwrap();
    assert_eq!(daemon.world().mode, "plan");
}

/// What was asked for is not what was opened, so its place belongs to nothing that is here.
#[tokio::test]
async fn a_place_belongs_to_the_session_that_was_opened() {
    let daemon = daemon().await;
    let elsewhere = SessionId::new("11111111-2222-4333-8444-555555555555").unwrap();
    let sessions = SessionFactory::new(|client, options| {
        let instead = ConnectOptions {
            session: SessionChoice::Shared,
            ..options
        };
        SessionFactory::default().open(client, instead)
    });
    let (connection, mut events) = IdeConnection::new();
    let wanted = ConnectOptions {
        session: SessionChoice::Resume(ResumeState {
            session_id: elsewhere,
            last_event_id: 7,
            epoch: None,
        }),
        sessions,
        ..options(&daemon)
    };
    connection.connect(wanted).await.unwrap();
    daemon.listened_to().await;
    daemon.say("here");
    crate::person::said(&mut events).await;
    let _ = events.try_next();
    let place = connection.resume_state().unwrap();
    assert_eq!(place.session_id.as_str(), SESSION);
}

/// Whoever saves the place after a reconnect and crashes goes on behind what was taken, however far the
/// connection had read.
#[tokio::test]
async fn a_reconnect_leaves_the_place_at_what_was_taken() {
    const WORDS: [&str; 3] = ["a", "b", "c"];
    for taken in 0..=WORDS.len() {
        let daemon = daemon().await;
        daemon.world().on_prompt = OnPrompt::FinishFirst(WORDS.map(String::from).into());
        let (connection, mut events) = connected(&daemon).await;
        let turn = connection.send_prompt("go").await.unwrap();
        turn.end().await;
        for word in &WORDS[..taken] {
            assert_eq!(said(&mut events).await, *word);
        }
        connection.reconnect().await.unwrap();
        let place = connection.resume_state().unwrap();

        let after_the_crash = ConnectOptions {
            session: SessionChoice::Resume(place),
            ..options(&daemon)
        };
        let (_connection, mut events) = connected_as(&daemon, after_the_crash).await;
        let mut heard = Vec::new();
        // The last one is in hand and not dealt with, so it always comes.
        while heard.last().map(String::as_str) != WORDS.last().copied() {
            match next(&mut events).await {
                IdeEvent::HistoryLoaded { events, .. } => {
                    heard.extend(events.iter().filter_map(word));
                }
                event => heard.extend(word(&event)),
            }
        }
        assert!(
            heard.ends_with(&WORDS.map(String::from)[taken..]),
            "{taken}: {heard:?}"
        );
    }
}

fn word(event: &IdeEvent) -> Option<String> {
    match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => Some(chunk.text().to_owned()),
        _ => None,
    }
}

/// Its dialog closes with it.
#[tokio::test]
async fn a_person_is_not_asked_on_when_nobody_waits_for_the_answer() {
    use testkit::fake_daemon::until;
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit("permission_request", crate::person::permission("r-1"));
    let request = crate::person::asked(&mut events).await;
    let dialog = Arc::new(());
    let open = dialog.clone();
    let deciding = connection.decide(&request.id, async move {
        std::future::pending::<()>().await;
        drop(open);
        None
    });
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), deciding).await;
    assert!(waited.is_err());
    until("the end of the dialog", || Arc::strong_count(&dialog) == 1).await;
}

/// Whoever comes later hears it only from the state that a stream begins with.
#[tokio::test]
async fn that_nothing_is_written_down_any_more_is_told_to_whoever_comes_later() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    for (degraded, is_told) in [(false, false), (true, true)] {
        let state = json!({"sessionId": SESSION, "recordingDegraded": degraded});
        daemon.emit("session_snapshot", state);
        daemon.say("on");
        let told = take_until(&mut events, |it| matches!(it, IdeEvent::Update { .. })).await;
        let others = told.iter().any(|it| matches!(it, IdeEvent::Other(_)));
        assert_eq!(others, is_told, "{told:?}");
    }
}

/// A daemon that sends rubbish without end makes nobody ask it without end.
#[tokio::test]
async fn rubbish_does_not_become_as_many_requests() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let route = format!("GET /session/{SESSION}/status");
    let before = daemon.requests(&route).len();
    daemon.refuse_next(&route, 503, "", &json!({"error": "busy"}));
    let pieces = 300;
    daemon.send("event: session_update\ndata: {\n\n".repeat(pieces));
    daemon.emit("permission_request", crate::person::permission("r-1"));
    let told = take_until(&mut events, |it| matches!(it, IdeEvent::RequestOpened(_))).await;
    let gaps = told.iter().filter(|it| matches!(it, IdeEvent::Gap { .. }));
    assert_eq!(gaps.count(), pieces);
    let asked = || daemon.requests(&route).len() - before;
    let mut counted = usize::MAX;
    while counted != asked() {
        counted = asked();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
    assert!(counted < pieces / 3, "{counted}");
    drop(connection);
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
    let named = [
        (None, "/home/dev/ws"),
        (Some("/home/dev/ws/"), "/home/dev/ws"),
        (Some("/home/dev/second"), "/home/dev/second"),
    ];
    for (folder, name) in named {
        let (connection, _events) = IdeConnection::new();
        let wanted = ConnectOptions {
            workspace: folder.map(Into::into),
            ..options(&daemon)
        };
        let connected = connection.connect(wanted).await.unwrap();
        assert_eq!(connected.folder, name);
    }
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
