//! Attachments, messages in the middle of a turn, background tasks, commands and usage, with the published
//! daemon.

use outrigger_daemon::EventBody;
use outrigger_daemon::connection::{CallError, IdeConnection, IdeEvent, IdeEvents, UserAnswer};
use outrigger_daemon::event::MidTurnMessagesRead;
use outrigger_daemon::wire::{
    ApprovalMode, ContentBlock, MidTurnMessage, NewAttachment, PromptId, TaskKind,
};
use serde_json::json;
use testkit::Call;

use crate::conversations::complete;
use crate::house::{House, end_of};
use crate::ide::{asked, connected, first};

async fn read_by_the_agent(events: &mut IdeEvents) -> MidTurnMessagesRead {
    let pick = |event: &IdeEvent| match event {
        IdeEvent::Other(event) => match event.body() {
            EventBody::MidTurnMessagesRead(messages) => Some(messages),
            _ => None,
        },
        _ => None,
    };
    first(events, "the messages", pick).await
}

#[tokio::test]
async fn a_message_reaches_the_agent_while_it_works() {
    let Some(house) = House::open() else { return };
    let task = vec![vec![Call::write(house.path("new.txt"), "new\n")]];
    house.model.on("WORK", task);
    let (connection, mut events) = connected(&house).await;
    let early = connection.send_mid_turn("too early").await.unwrap();
    assert_eq!(early.reason.as_deref(), Some("session_idle"));
    assert!(!early.accepted);

    let turn = connection.send_prompt("please WORK").await.unwrap();
    let request = asked(&mut events).await;
    let message = MidTurnMessage {
        message: "and mind the gap".into(),
        message_id: PromptId::new("ours-1").ok(),
        ..MidTurnMessage::default()
    };
    // Under one id it is sent once, however often it is repeated.
    for _ in 0..2 {
        let receipt = connection.send_mid_turn(message.clone()).await.unwrap();
        assert!(receipt.accepted && receipt.message_id == message.message_id);
    }
    let regretted = connection.send_mid_turn("forget this").await.unwrap();
    let regretted = regretted.message_id.unwrap();
    let waiting = connection.mid_turn_queue().await.unwrap();
    let texts: Vec<&str> = waiting.messages.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["and mind the gap", "forget this"]);
    assert!(connection.remove_mid_turn(&regretted).await.unwrap());
    assert!(!connection.remove_mid_turn(&regretted).await.unwrap());

    connection
        .answer(&request.id, &UserAnswer::Allow)
        .await
        .unwrap();
    let read = read_by_the_agent(&mut events).await;
    assert_eq!(read.messages, ["and mind the gap"]);
    assert_eq!(read.message_ids.unwrap(), ["ours-1"]);
    assert_eq!(end_of(turn).await, complete());
    assert!(!house.model.requests_containing("mind the gap").is_empty());
    assert!(house.model.requests_containing("forget this").is_empty());
    assert!(
        connection
            .mid_turn_queue()
            .await
            .unwrap()
            .messages
            .is_empty()
    );
}

#[tokio::test]
async fn an_attachment_is_sent_once_and_read_by_the_model() {
    let Some(house) = House::open() else { return };
    house.model.speak("LOOK", vec![]).say("I see");
    let (connection, _events) = connected(&house).await;
    let note = |words: &str| NewAttachment {
        name: "a note.txt".into(),
        mime_type: "text/plain".into(),
        content: words.as_bytes().to_vec(),
    };
    let attachment = connection
        .upload_attachment(&note("attached words"))
        .await
        .unwrap();
    assert_eq!(
        (attachment.attachment_id.as_str(), attachment.size),
        ("a note.txt", 14)
    );
    let second = connection
        .upload_attachment(&note("other words"))
        .await
        .unwrap();
    assert_ne!(second.attachment_id, attachment.attachment_id);
    let content = connection
        .attachment(&attachment.attachment_id)
        .await
        .unwrap();
    assert_eq!(content.content, b"attached words");
    assert_eq!(content.mime_type.as_deref(), Some("text/plain"));

    let blocks = vec![
        ContentBlock::text("please LOOK\n"),
        ContentBlock::attachment(&attachment),
    ];
    let turn = connection.send_prompt(blocks).await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let heard = house.model.requests_containing("please LOOK");
    assert!(heard.last().unwrap().to_string().contains("attached words"));

    assert!(
        connection
            .remove_attachment(&second.attachment_id)
            .await
            .unwrap()
    );
    assert!(
        !connection
            .remove_attachment(&second.attachment_id)
            .await
            .unwrap()
    );
    let left = connection.attachments().await.unwrap();
    assert_eq!(left, [attachment]);
    let gone = connection.attachment(&second.attachment_id).await;
    assert!(matches!(gone, Err(CallError::Daemon(_))), "{gone:?}");
}

#[tokio::test]
async fn background_tasks_are_listed_and_cancelled() {
    let Some(house) = House::open() else { return };
    let waits = json!({"command": "sleep 300", "description": "wait", "is_background": true});
    let task = vec![vec![Call::Other("run_shell_command", waits)]];
    house.model.on("WAIT", task);
    let (connection, _events) = connected(&house).await;
    connection
        .set_approval_mode(&ApprovalMode::Yolo)
        .await
        .unwrap();
    let turn = connection.send_prompt("please WAIT").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let tasks = connection.tasks().await.unwrap().tasks;
    assert_eq!((tasks.len(), &tasks[0].kind), (1, &TaskKind::Shell));
    assert_eq!(tasks[0].command.as_deref(), Some("sleep 300"));
    let cancel = async |connection: &IdeConnection| {
        let answer = connection.cancel_task(&tasks[0].id, &tasks[0].kind).await;
        answer.unwrap().cancelled
    };
    assert!(cancel(&connection).await);
    let stopped = async {
        while connection.tasks().await.unwrap().tasks[0].status.as_deref() == Some("running") {
            tokio::task::yield_now().await;
        }
    };
    testkit::soon("the command ends", stopped).await;
    assert!(!cancel(&connection).await);
}

#[tokio::test]
async fn commands_usage_and_numbers() {
    let Some(house) = House::open() else { return };
    house.model.speak("TALK", vec![]).say("well");
    let (connection, _events) = connected(&house).await;
    let turn = connection.send_prompt("TALK").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let commands = connection.supported_commands().await.unwrap();
    let has = |name: &str| commands.available_commands.iter().any(|it| it.name == name);
    assert!(has("compress") && has("clear"));
    let usage = connection.context_usage(false).await.unwrap().usage;
    // What the fake model says about every request.
    assert_eq!(usage.total_tokens, Some(10));
    assert!(usage.context_window_size > Some(1000) && usage.builtin_tools.is_empty());
    let usage = connection.context_usage(true).await.unwrap().usage;
    assert!(usage.builtin_tools.iter().any(|it| it.name == "read_file"));
    let stats = connection.stats().await.unwrap();
    assert_eq!(stats.prompt_count, Some(1));
    let (unconnected, _) = IdeConnection::new();
    assert!(matches!(
        unconnected.stats().await,
        Err(CallError::NotConnected)
    ));
    assert!(matches!(
        unconnected.workspace(),
        Err(CallError::NotConnected)
    ));
}
