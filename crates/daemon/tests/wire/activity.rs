//! The routes of a session besides its turns: attachments, messages in the middle of a turn, tasks, what is
//! used, and the way back.

use outrigger_daemon::ErrorReason;
use outrigger_daemon::wire::{
    Attachment, AttachmentId, ClientId, ContentBlock, MidTurnMessage, NewAttachment, PromptId,
    RewindFiles, RewindPointId, SessionId, TaskId, TaskKind,
};
use serde_json::json;

use crate::fake::{FakeDaemon, SESSION};
use crate::routes::captured;
use crate::watching::Opens;

fn session() -> SessionId {
    SessionId::new(SESSION).unwrap()
}

fn at(method: &str, tail: &str) -> String {
    format!("{method} /session/{SESSION}{tail}")
}

#[tokio::test]
async fn attachments() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let us = ClientId::new("client_1").unwrap();
    let post = at("POST", "/attachments");
    daemon.answer_next(&post, captured("attachment-upload.http.txt"));
    let new = NewAttachment {
        name: "a note.txt".into(),
        mime_type: "text/plain".into(),
        content: b"hello attachment".to_vec(),
    };
    let attachment = client
        .upload_attachment(&session(), &new, Some(&us))
        .await
        .unwrap();
    assert_eq!(
        (attachment.attachment_id.as_str(), attachment.size),
        ("note.txt", 16)
    );
    let seen = &daemon.requests(&post)[0];
    assert_eq!(seen.query, "name=a%20note%2Etxt");
    assert_eq!(seen.headers["content-type"], "text/plain");
    assert_eq!(seen.headers["x-qwen-client-id"], "client_1");
    // What the daemon told about it is what a prompt sends.
    let block = serde_json::to_value(ContentBlock::attachment(&attachment)).unwrap();
    let expected = json!({"type": "resource", "attachmentId": "note.txt", "mimeType": "text/plain", "size": 16});
    assert_eq!(block, expected);

    daemon.answer_next(
        &at("GET", "/attachments"),
        captured("attachment-list.http.txt"),
    );
    let listed: Vec<Attachment> = client.attachments(&session()).await.unwrap();
    assert!(listed.iter().any(|it| it.kind == "image"));

    let id = AttachmentId::new("no/te.txt").unwrap();
    let get = at("GET", "/attachments/no%2Fte%2Etxt");
    daemon.answer_next(&get, captured("attachment-get.http.txt"));
    let content = client.attachment(&session(), &id).await.unwrap();
    assert_eq!(content.content, b"hello attachment");
    assert_eq!(content.mime_type.as_deref(), Some("text/plain"));
    daemon.answer_next(&get, captured("attachment-get-unknown.http.txt"));
    let gone = client.attachment(&session(), &id).await.unwrap_err();
    assert_eq!(gone.reason(), Some(ErrorReason::NotFound));

    let delete = at("DELETE", "/attachments/no%2Fte%2Etxt");
    for (name, removed) in [
        ("attachment-delete.http.txt", true),
        ("attachment-delete-again.http.txt", false),
    ] {
        daemon.answer_next(&delete, captured(name));
        assert_eq!(
            client
                .remove_attachment(&session(), &id, None)
                .await
                .unwrap(),
            removed
        );
    }
}

#[tokio::test]
async fn messages_in_the_middle_of_a_turn() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let post = at("POST", "/mid-turn-message");
    daemon.answer_next(&post, captured("mid-turn-idle.http.txt"));
    let receipt = client
        .send_mid_turn(&session(), &"wait".into(), None)
        .await
        .unwrap();
    assert_eq!(
        (receipt.accepted, receipt.reason.as_deref()),
        (false, Some("session_idle"))
    );
    assert_eq!(daemon.requests(&post)[0].body, json!({"message": "wait"}));
    daemon.answer_next(&post, captured("mid-turn-post.http.txt"));
    let message = MidTurnMessage {
        message: "look".into(),
        message_id: PromptId::new("mine-1").ok(),
        content: vec![ContentBlock::image("aGk=", "image/png")],
    };
    let receipt = client
        .send_mid_turn(&session(), &message, None)
        .await
        .unwrap();
    assert_eq!(receipt.message_id, message.message_id);
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    assert_eq!(
        daemon.requests(&post)[1].body,
        json!({"message": "look", "messageId": "mine-1", "content": [image]})
    );

    let list = at("GET", "/mid-turn-messages");
    daemon.answer_next(&list, captured("mid-turn-list-anonymous.http.txt"));
    assert!(
        client
            .mid_turn_queue(&session())
            .await
            .unwrap()
            .messages
            .is_empty()
    );
    let delete = at("DELETE", "/mid-turn-messages/mine-1");
    let id = receipt.message_id.unwrap();
    for (name, removed) in [
        ("mid-turn-delete.http.txt", true),
        ("mid-turn-delete-again.http.txt", false),
    ] {
        daemon.answer_next(&delete, captured(name));
        assert_eq!(
            client.remove_mid_turn(&session(), &id, None).await.unwrap(),
            removed
        );
    }
}

#[tokio::test]
async fn tasks_commands_and_usage() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    daemon.answer_next(&at("GET", "/tasks"), captured("tasks.http.txt"));
    let tasks = client.tasks(&session()).await.unwrap().tasks;
    assert_eq!((tasks.len(), &tasks[0].kind), (1, &TaskKind::Shell));
    assert_eq!(tasks[0].status.as_deref(), Some("running"));
    let cancel = at("POST", "/tasks/bg%2F1/cancel");
    let id = TaskId::new("bg/1").unwrap();
    for (name, cancelled) in [
        ("task-cancel.http.txt", true),
        ("task-cancel-again.http.txt", false),
        ("task-cancel-unknown.http.txt", false),
    ] {
        daemon.answer_next(&cancel, captured(name));
        let answer = client
            .cancel_task(&session(), &id, &TaskKind::Shell, None)
            .await
            .unwrap();
        assert_eq!(
            (answer.cancelled, answer.reason.is_none()),
            (cancelled, cancelled)
        );
    }
    assert_eq!(daemon.requests(&cancel)[0].body, json!({"kind": "shell"}));

    daemon.answer_next(
        &at("GET", "/supported-commands"),
        captured("supported-commands.http.txt"),
    );
    let commands = client.supported_commands(&session()).await.unwrap();
    assert!(
        commands
            .available_commands
            .iter()
            .any(|it| it.name == "status")
    );
    assert!(!commands.available_skills.is_empty());

    let usage = at("GET", "/context-usage");
    daemon.answer_next(&usage, captured("context-usage.http.txt"));
    let report = client.context_usage(&session(), false).await.unwrap();
    assert_eq!(report.usage.context_window_size, Some(200_000));
    assert!(report.usage.builtin_tools.is_empty());
    daemon.answer_next(&usage, captured("context-usage-detail.http.txt"));
    let report = client.context_usage(&session(), true).await.unwrap();
    assert_eq!(
        report.usage.memory_files[0].path,
        "~/.qwen/output-language.md"
    );
    let queries: Vec<String> = daemon
        .requests(&usage)
        .into_iter()
        .map(|it| it.query)
        .collect();
    assert_eq!(queries, ["", "detail=true"]);
    daemon.answer_next(&at("GET", "/stats"), captured("session-stats.http.txt"));
    assert_eq!(
        client.session_stats(&session()).await.unwrap().prompt_count,
        Some(3)
    );
}

#[tokio::test]
async fn the_way_back_and_a_copy() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    daemon.answer_next(
        &at("GET", "/rewind/snapshots"),
        captured("rewind-snapshots.http.txt"),
    );
    let list = client.rewind_points(&session()).await.unwrap().points;
    assert_eq!((list.len(), list[1].turn_index), (4, 1));
    let rewind = at("POST", "/rewind");
    daemon.answer_next(&rewind, captured("rewind.http.txt"));
    let rewound = client
        .rewind(&session(), &list[1].id, RewindFiles::PutBack, None)
        .await
        .unwrap();
    assert!(rewound.rewound && rewound.files_changed.len() == 2);
    daemon.answer_next(&rewind, captured("rewind-unknown.http.txt"));
    let id = RewindPointId::new("nope").unwrap();
    let refused = client
        .rewind(&session(), &id, RewindFiles::Stay, None)
        .await;
    assert_eq!(refused.unwrap_err().reason(), Some(ErrorReason::BadRequest));
    let bodies: Vec<_> = daemon
        .requests(&rewind)
        .into_iter()
        .map(|it| it.body)
        .collect();
    assert_eq!(bodies[0]["rewindFiles"], true);
    assert_eq!(bodies[1], json!({"promptId": "nope", "rewindFiles": false}));

    let branch = at("POST", "/branch");
    daemon.answer_next(&branch, captured("branch.http.txt"));
    let copy = client
        .branch(&session(), Some("a copy"), None)
        .await
        .unwrap();
    assert_eq!(copy.display_name.as_deref(), Some("a copy(1)"));
    assert!(copy.copy.opened.client_id.is_some() && copy.forked_from.is_some());
    assert_ne!(copy.copy.opened.session_id, session());
    assert_eq!(daemon.requests(&branch)[0].body, json!({"name": "a copy"}));
}
