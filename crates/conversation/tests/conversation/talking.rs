//! What the person says, what goes with it, and what comes back.

use conversation::{Prompt, TroubleKind};
use serde_json::json;
use testkit::fake_daemon::{SESSION, until};
use workbench::{Focus, Place};

use crate::scene::{Machine, transcript};

fn prompt(text: &str) -> Prompt {
    Prompt {
        text: text.into(),
        ..Prompt::default()
    }
}

fn prompts() -> String {
    format!("POST /session/{SESSION}/prompt")
}

#[tokio::test]
async fn a_turn_from_its_prompt_to_its_end() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    talk.conversation.prompt(prompt("hello")).await.unwrap();
    let sent = &daemon.requests(&prompts())[0].body;
    assert_eq!(sent["prompt"], json!([{"type": "text", "text": "hello"}]));
    let mine = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hello"}});
    daemon.emit(
        "session_update",
        json!({"sessionId": SESSION, "update": mine}),
    );
    daemon.say("Hi ");
    daemon.say("there");
    talk.until("the turn", |state| state.status().busy.then_some(()))
        .await;
    talk.ends_with(&["Other: hello", "Agent: Hi there"]).await;
    daemon.complete();
    talk.until("its end", |state| (!state.status().busy).then_some(()))
        .await;
}

#[tokio::test]
async fn files_and_the_selection_go_with_a_prompt() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    machine.companion.file("a.rs", "fn a() {}\n");
    machine.companion.file("b c.rs", "fn b() {}\n");
    let folder = machine.companion.root();
    let path = folder.join("a.rs");
    let place = Place {
        real: path.clone(),
        path,
    };
    let focus = Focus {
        place,
        cursor: None,
        selection: Some("fn a".into()),
    };
    machine
        .companion
        .desk
        .ask(|state| state.focus(workbench::Holder::COMMANDS, focus))
        .await
        .unwrap();
    let mut context = machine.companion.desk.context();
    let has_selection = |published: &companion::desk::Published| {
        let file = published.context.files.first();
        file.is_some_and(|file| {
            file.active
                .as_ref()
                .is_some_and(|it| it.selection.is_some())
        })
    };
    context.wait_for(has_selection).await.unwrap();
    let said = Prompt {
        files: vec!["b c.rs".into()],
        selection: true,
        ..prompt("look")
    };
    talk.conversation.prompt(said).await.unwrap();
    let mentioned = Prompt {
        mentions: true,
        ..prompt("compare @a.rs with @nothing.rs and @selection")
    };
    talk.conversation.prompt(mentioned).await.unwrap();
    let sent = daemon.requests(&prompts());
    let uri = |name: &str| format!("file://{}/{name}", folder.display());
    let block = |name: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri(name), "mimeType": "text/plain", "text": text}});
    let expected = json!([
        {"type": "text", "text": "look\n\n"},
        block("a.rs", "fn a"),
        block("b%20c.rs", "fn b() {}\n"),
    ]);
    assert_eq!(sent[0].body["prompt"], expected);
    let expected = json!([
        {"type": "text", "text": "compare @a.rs with @nothing.rs and @selection\n\n"},
        block("a.rs", "fn a"),
        block("a.rs", "fn a() {}\n"),
    ]);
    assert_eq!(sent[1].body["prompt"], expected);
}

#[tokio::test]
async fn what_agents_may_not_see_does_not_go_with_a_prompt() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    machine.companion.file("run.log", "held back");
    machine.companion.file(".env", "KEY=1");
    let attach = |name: &str| Prompt {
        files: vec![name.into()],
        ..prompt("look")
    };
    let many = Prompt {
        files: vec!["a.rs".into(); 33],
        ..prompt("look")
    };
    for (prompt, kind) in [
        (attach("run.log"), TroubleKind::NotAttached),
        (attach(".env"), TroubleKind::NotAttached),
        (attach("missing.rs"), TroubleKind::NotAttached),
        (attach("/etc/hostname"), TroubleKind::NotAttached),
        (many, TroubleKind::TooMany),
        (prompt("  \n"), TroubleKind::Empty),
    ] {
        let error = talk.conversation.prompt(prompt.clone()).await;
        assert_eq!(error.unwrap_err().kind, kind, "{prompt:?}");
    }
    assert!(daemon.requests(&prompts()).is_empty());
    let found = talk.conversation.files("o".into()).await.unwrap();
    assert!(!found.contains(&"run.log".to_owned()));
}

#[tokio::test]
async fn nothing_of_a_closed_folder_goes_with_a_prompt() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let path = machine.companion.file("open.rs", "fn main() {}");
    machine.companion.focus(&path, (1, 1), Some("main")).await;
    machine.companion.set_fault(Some("no list")).await;
    let is_closed = |status: companion::desk::Status| status.context.files.is_empty();
    machine.companion.until("it is closed", is_closed).await;

    let with_file = Prompt {
        files: vec!["open.rs".into()],
        ..prompt("look")
    };
    let error = talk.conversation.prompt(with_file.clone()).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, TroubleKind::NotAttached);
    assert!(error.why.contains("until a fault"), "{}", error.why);
    let found = talk.conversation.files("o".into()).await.unwrap();
    assert!(!found.contains(&"open.rs".to_owned()), "{found:?}");
    let with_selection = Prompt {
        selection: true,
        ..prompt("what is this")
    };
    talk.conversation.prompt(with_selection).await.unwrap();
    let sent = &daemon.requests(&prompts())[0].body;
    assert!(!sent.to_string().contains("open.rs"), "{sent}");

    machine.companion.set_fault(None).await;
    talk.conversation.prompt(with_file).await.unwrap();
    let sent = &daemon.requests(&prompts())[1].body;
    assert!(sent.to_string().contains("fn main"), "{sent}");
}

#[tokio::test]
async fn a_turn_can_be_cancelled() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    talk.conversation.prompt(prompt("hello")).await.unwrap();
    daemon.say("Well, ");
    talk.ends_with(&["Agent: Well, "]).await;
    talk.conversation.cancel().await.unwrap();
    talk.ends_with(&["Agent: Well, ", "ended Cancelled"]).await;
}

#[tokio::test]
async fn model_and_mode_are_switched_and_everybody_sees_it() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let route = format!("POST /session/{SESSION}/model");
    testkit::fake_daemon::stand(&daemon, &route, 200, &json!({"modelId": "n"}));
    talk.conversation.set_model("n").await.unwrap();
    talk.conversation.set_mode("plan").await.unwrap();
    let sent = |route: &str| daemon.requests(&format!("POST /session/{SESSION}/{route}"));
    assert_eq!(sent("model")[0].body["modelId"], "n");
    assert_eq!(sent("approval-mode").last().unwrap().body["mode"], "plan");
    daemon.emit("model_switched", json!({"modelId": "n"}));
    talk.until("model and mode", |state| {
        let status = state.status();
        let shown = (status.model.as_deref(), status.mode.as_deref());
        (shown == (Some("n"), Some("plan"))).then_some(())
    })
    .await;
    daemon.emit(
        "model_switch_failed",
        json!({"requestedModelId": "o", "error": "https://api.provider"}),
    );
    talk.ends_with(&["note o could not be used."]).await;
}

#[tokio::test]
async fn without_a_connection_there_is_nobody_to_talk_to() {
    let machine = Machine::new();
    let talk = machine.talk_to(1);
    let conversation = &talk.conversation;
    for done in [
        conversation.prompt(prompt("hello")).await,
        conversation.set_model("m").await,
        conversation.set_mode("plan").await,
    ] {
        let error = done.unwrap_err();
        assert_eq!(error.kind, TroubleKind::NotConnected);
        assert_eq!(error.hint.as_deref(), Some("connect first"));
    }
    // There is no turn to cancel, which is what was wanted.
    conversation.cancel().await.unwrap();
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_again_without_a_gap() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.say("one ");
    talk.ends_with(&["Agent: one "]).await;
    daemon.cut();
    daemon.world().emit_quietly("two ");
    until("a new stream", || !daemon.streams_are_gone()).await;
    daemon.say("three");
    talk.is_live().await;
    talk.ends_with(&["Agent: one two three"]).await;
    assert_eq!(transcript(&talk.snapshot().await), ["Agent: one two three"]);
}
