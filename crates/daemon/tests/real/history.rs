//! The conversations of a folder, the way back in one, and copies of one, with the published daemon.

use std::fs;

use outrigger_daemon::EventBody;
use outrigger_daemon::connection::{
    ConnectError, ConnectOptions, DisconnectReason, IdeConnection, IdeEvent, IdeEvents,
    SessionChoice, SetupError,
};
use outrigger_daemon::event::SessionRewound;
use outrigger_daemon::wire::{
    ApprovalMode, ContentBlock, NewAttachment, PageRequest, RewindFiles, SessionId, SessionUpdate,
    TranscriptRequest,
};
use testkit::Call;

use crate::conversations::complete;
use crate::house::{House, end_of};
use crate::ide::{connected, first, options};

async fn rewound(events: &mut IdeEvents) -> SessionRewound {
    let pick = |event: &IdeEvent| match event {
        IdeEvent::Other(event) => match event.body() {
            EventBody::SessionRewound(rewound) => Some(rewound),
            _ => None,
        },
        _ => None,
    };
    first(events, "the way back", pick).await
}

/// All that was said in a conversation, by both sides.
fn said(events: &[IdeEvent]) -> String {
    let texts = events.iter().map(|event| match event {
        IdeEvent::Update {
            update: SessionUpdate::UserMessage(chunk) | SessionUpdate::AgentMessage(chunk),
            ..
        } => chunk.text(),
        _ => "",
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_conversation_is_taken_back_with_and_without_its_files() {
    let Some(house) = House::open() else { return };
    let (first_file, second_file) = (house.path("first.txt"), house.path("second.txt"));
    house
        .model
        .on("FIRST", vec![vec![Call::write(&first_file, "one\n")]]);
    house
        .model
        .on("SECOND", vec![vec![Call::write(&second_file, "two\n")]]);
    house.model.speak("AFTER", vec![]).say("gone on");
    let (connection, mut events) = connected(&house).await;
    connection
        .set_approval_mode(&ApprovalMode::Yolo)
        .await
        .unwrap();
    for mark in ["FIRST", "SECOND"] {
        let turn = connection.send_prompt(mark).await.unwrap();
        assert_eq!(end_of(turn).await, complete());
    }
    assert!(first_file.exists() && second_file.exists());
    let points = connection.rewind_points().await.unwrap().points;
    let places: Vec<usize> = points.iter().map(|it| it.turn_index).collect();
    assert_eq!(places, [0, 1]);

    let answer = connection
        .rewind(&points[1].id, RewindFiles::PutBack)
        .await
        .unwrap();
    assert!(
        answer.rewound && answer.files_failed.is_empty(),
        "{answer:?}"
    );
    let told = rewound(&mut events).await;
    assert_eq!(told.rewind_point.as_ref(), Some(&points[1].id));
    assert_eq!(told.target_turn_index, 1);
    assert_eq!(told.files_changed, [second_file.to_str().unwrap()]);
    assert!(first_file.exists() && !second_file.exists());
    // What was taken back cannot be taken back again.
    let again = connection.rewind(&points[1].id, RewindFiles::PutBack);
    assert!(again.await.is_err());

    let answer = connection
        .rewind(&points[0].id, RewindFiles::Stay)
        .await
        .unwrap();
    assert!(answer.rewound && answer.files_changed.is_empty());
    assert_eq!(rewound(&mut events).await.target_turn_index, 0);
    assert_eq!(fs::read_to_string(&first_file).unwrap(), "one\n");
    // The agent has forgotten both, and works.
    let turn = connection.send_prompt("AFTER").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let asked = house.model.requests_containing("AFTER");
    assert!(!asked.last().unwrap().to_string().contains("SECOND"));
}

#[tokio::test]
async fn a_copy_goes_its_own_way_and_nobody_is_left_in_it() {
    let Some(house) = House::open() else { return };
    house.model.speak("TOGETHER", vec![]).say("the common part");
    house.model.speak("APART", vec![]).say("only in the copy");
    let (connection, mut events) = connected(&house).await;
    let origin = connection.session().unwrap();
    let turn = connection.send_prompt("TOGETHER").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let copy = connection.branch(Some("another way")).await.unwrap();
    assert!(copy.title.unwrap().starts_with("another way"));
    assert_ne!(copy.session, origin);
    // Our registration was given back, so the daemon has closed it again.
    let left = house.client().session_status(&copy.session).await;
    assert!(left.is_err(), "{left:?}");

    let known = |session: &SessionId| ConnectOptions {
        session: SessionChoice::Known(session.clone()),
        ..options(&house)
    };
    connection.connect(known(&copy.session)).await.unwrap();
    let history = |event: &IdeEvent| match event {
        IdeEvent::HistoryLoaded { events, .. } => Some(said(events)),
        _ => None,
    };
    let text = first(&mut events, "the copy", history).await;
    assert!(text.contains("the common part"), "{text}");
    let turn = connection.send_prompt("APART").await.unwrap();
    assert_eq!(end_of(turn).await, complete());

    connection.connect(known(&origin)).await.unwrap();
    let text = first(&mut events, "the origin", history).await;
    assert!(text.contains("the common part") && !text.contains("only in the copy"));
}

/// The published daemon loses its agent over this copy. Nothing hangs, and one can go on.
#[tokio::test]
async fn a_copy_of_a_conversation_with_an_attachment_costs_the_agent() {
    let Some(house) = House::open() else { return };
    house.model.speak("LOOK", vec![]).say("I see");
    let (connection, mut events) = connected(&house).await;
    let note = NewAttachment {
        name: "note.txt".into(),
        mime_type: "text/plain".into(),
        content: b"attached words".to_vec(),
    };
    let attachment = connection.upload_attachment(&note).await.unwrap();
    let blocks = vec![
        ContentBlock::text("please LOOK\n"),
        ContentBlock::attachment(&attachment),
    ];
    let turn = connection.send_prompt(blocks).await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let failed = connection.branch(None).await.unwrap_err();
    assert!(
        failed.to_string().contains("agent channel closed"),
        "{failed}"
    );
    let ended = |event: &IdeEvent| match event {
        IdeEvent::Disconnected { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    let reason = first(&mut events, "the end", ended).await;
    assert!(
        matches!(reason, DisconnectReason::Died { .. }),
        "{reason:?}"
    );
    once_it_is_written(&connection).await;
    assert_eq!(connection.attachments().await.unwrap(), [attachment]);
}

/// Connects again. Right after its agent has died, the daemon may not find a transcript yet.
async fn once_it_is_written(connection: &IdeConnection) {
    let connected = async {
        while let Err(error) = connection.reconnect().await {
            assert!(
                matches!(
                    error,
                    ConnectError::Setup(SetupError::NoSuchSession) | ConnectError::Daemon(_)
                ),
                "{error:?}"
            );
        }
    };
    testkit::soon("the conversation is back", connected).await;
}

#[tokio::test]
async fn conversations_are_listed_renamed_read_and_closed() {
    let Some(house) = House::open() else { return };
    house.model.speak("HELLO", vec![]).say("good day");
    let (connection, mut events) = connected(&house).await;
    let early = connection.session().unwrap();
    let turn = connection.send_prompt("HELLO").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    connection.connect(options(&house)).await.unwrap();
    let current = connection.session().unwrap();
    assert_ne!(early, current);
    let turn = connection.send_prompt("HELLO").await.unwrap();
    assert_eq!(end_of(turn).await, complete());

    connection.rename(&current, "the second").await.unwrap();
    connection.rename(&early, "the first").await.unwrap();
    let page = connection
        .conversations(&PageRequest::default())
        .await
        .unwrap();
    let title = |id: &SessionId| {
        let found = page.sessions.iter().find(|it| it.session_id == *id);
        found.unwrap().display_name.clone().unwrap_or_default()
    };
    assert_eq!(
        (title(&early), title(&current)),
        ("the first".into(), "the second".into())
    );
    let first_page = PageRequest {
        size: Some(1),
        ..PageRequest::default()
    };
    let page = connection.conversations(&first_page).await.unwrap();
    assert!(page.sessions.len() == 1 && page.next_cursor.is_some());
    let transcript = connection.transcript(&TranscriptRequest::default()).await;
    assert!(!transcript.unwrap().events.is_empty());
    assert!(connection.pending_prompts().await.unwrap().is_empty());

    assert!(connection.close(&early).await.unwrap());
    assert!(!connection.close(&early).await.unwrap());
    assert!(connection.is_connected());
    // It is on disk only, and has a title there, too.
    connection.rename(&early, "on disk").await.unwrap();
    let page = connection.conversations(&PageRequest::default()).await;
    let page = page.unwrap();
    let found = page.sessions.iter().find(|it| it.session_id == early);
    assert_eq!(found.unwrap().display_name.as_deref(), Some("on disk"));
    assert!(connection.close(&current).await.unwrap());
    let closed = |event: &IdeEvent| matches!(event, IdeEvent::Disconnected { .. }).then_some(());
    let ended = async {
        while connection.is_connected() {
            first(&mut events, "the end", closed).await;
        }
    };
    testkit::soon("the connection ends", ended).await;
}
