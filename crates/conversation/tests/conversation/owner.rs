//! The owner with a backend that is no daemon: nothing of it depends on one.

use conversation::backend::{BackendEvent, Choices, Edit, ListedSession};
use conversation::names::OptionKind;
use conversation::requests::{AgentRequest, RequestOption, RequestOptions};
use conversation::tools::HostPath;
use conversation::view::{Choice, ConnectionState, EndReason, Speaker};
use conversation::{Prompt, Target, TroubleKind};
use workbench::{Agent, Decision};

use crate::scene::{Machine, Talk};
use testkit::scripted_backend::{Given, Script, scripted};

fn connected() -> BackendEvent {
    BackendEvent::Connected {
        version: Some("1.0".into()),
        workspace: HostPath {
            path: "/w".into(),
            line: None,
        },
    }
}

fn said(text: &str) -> BackendEvent {
    BackendEvent::Said {
        speaker: Speaker::Agent,
        text: text.into(),
    }
}

fn request(id: &str, title: &str, options: RequestOptions) -> AgentRequest {
    AgentRequest {
        id: id.into(),
        title: title.into(),
        options,
        ..AgentRequest::default()
    }
}

/// The agent asks permission for one edit.
fn asked(id: &str) -> BackendEvent {
    let option = RequestOption {
        id: "yes".into(),
        title: "Yes".into(),
        kind: Some(OptionKind::AllowOnce),
    };
    let edit = Edit {
        path: "/w/a.txt".into(),
        before: None,
        after: "text\n".into(),
    };
    let options = [option].into_iter().collect();
    BackendEvent::RequestOpened {
        request: Box::new(request(id, "Edit a.txt", options)),
        edits: vec![edit],
    }
}

/// A conversation that stands.
async fn standing(machine: &Machine) -> (Talk, Script) {
    let (backend, mut script) = scripted();
    let talk = machine.talk(backend);
    let conversation = talk.conversation.clone();
    let connecting = tokio::spawn(async move { conversation.connect(Target::Last).await });
    let call = script.expect("connect Shared").await;
    script.tell(connected());
    script.tell(BackendEvent::CaughtUp);
    call.give(Given::Session("s-1"));
    connecting.await.unwrap().unwrap();
    talk.is_live().await;
    (talk, script)
}

#[tokio::test]
async fn a_slow_call_holds_up_nothing() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let conversation = talk.conversation.clone();
    let slow = tokio::spawn(async move { conversation.earlier().await });
    let list = script.expect("list").await;
    // Events come through, questions are answered, and so are other commands.
    script.tell(said("Hello"));
    talk.ends_with(&["Agent: Hello"]).await;
    let conversation = talk.conversation.clone();
    let quick = tokio::spawn(async move { conversation.set_mode("plan").await });
    script.expect("mode plan").await.give(Given::Nothing);
    quick.await.unwrap().unwrap();
    assert!(!slow.is_finished());
    let session = ListedSession {
        id: "s-1".into(),
        title: Some("Tea".into()),
        updated_at: None,
        busy: false,
        current: true,
    };
    list.give(Given::Sessions(vec![session]));
    let listed = slow.await.unwrap().unwrap();
    assert_eq!(
        (listed[0].key, listed[0].title.as_deref()),
        (0, Some("Tea"))
    );
}

#[tokio::test]
async fn what_can_be_chosen_is_shown() {
    let machine = Machine::new();
    let (talk, script) = standing(&machine).await;
    let choice = |id: &str| Choice {
        id: id.into(),
        name: id.to_uppercase(),
    };
    script.tell(BackendEvent::Choices(Choices {
        models: Some(vec![choice("a"), choice("b")]),
        model: Some("a".into()),
        ..Choices::default()
    }));
    // What is left out stays.
    script.tell(BackendEvent::Choices(Choices {
        modes: Some(vec![choice("ask")]),
        mode: Some("ask".into()),
        ..Choices::default()
    }));
    let status = talk
        .until("the modes", |state| {
            let status = state.status();
            (!status.modes.is_empty()).then(|| status.clone())
        })
        .await;
    assert_eq!(
        (status.models.len(), status.model.as_deref()),
        (2, Some("a"))
    );
    assert_eq!(status.mode.as_deref(), Some("ask"));
}

#[tokio::test]
async fn what_was_launched_is_connected_to_and_remembered() {
    let machine = Machine::new();
    let (backend, mut script) = scripted();
    let talk = machine.talk(backend);
    let conversation = talk.conversation.clone();
    let launching = tokio::spawn(async move { conversation.launch().await });
    let launch = script.expect("launch").await;
    talk.is(ConnectionState::Starting).await;
    launch.give(Given::Nothing);
    let connect = script.expect("connect Shared").await;
    talk.is(ConnectionState::Connecting).await;
    script.tell(connected());
    connect.give(Given::Session("s-1"));
    launching.await.unwrap().unwrap();
    assert!(talk.snapshot().await.status.managed);
    assert_eq!(machine.remembered("conversation").as_deref(), Some("s-1"));
    // It is remembered by a run that comes back, and by no other.
    for (returning, remembered) in [(true, true), (false, false)] {
        let conversation = talk.conversation.clone();
        let closing = tokio::spawn(async move { conversation.close(returning).await });
        script.expect("close").await.give(Given::Nothing);
        closing.await.unwrap();
        assert_eq!(machine.remembered("own-daemon").is_some(), remembered);
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_replaced_only_if_nobody_chose_it() {
    let machine = Machine::new();
    machine.remember("conversation", "s-0");
    let (backend, mut script) = scripted();
    let talk = machine.talk(backend);
    let conversation = talk.conversation.clone();
    let connecting = tokio::spawn(async move { conversation.connect(Target::Last).await });
    let known = script
        .expect(r#"connect Known { id: "s-0", mode: None }"#)
        .await;
    known.fail(TroubleKind::NoSession);
    let shared = script.expect("connect Shared").await;
    shared.fail(TroubleKind::NoSession);
    let error = connecting.await.unwrap().unwrap_err();
    assert_eq!(error.kind, TroubleKind::NoSession);
    talk.is(ConnectionState::Failed(error)).await;
}

/// The process in which the agent had it is gone by then, and its default may ask nobody.
#[tokio::test]
async fn the_mode_that_was_chosen_is_that_of_the_next_run() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let changed = |mode: &str| BackendEvent::ModeChanged { mode: mode.into() };
    // This is how the session was found. It is nobody's choice here.
    script.tell(changed("auto"));
    talk.until("the mode", |state| state.status().mode.clone())
        .await;
    assert_eq!(machine.remembered("conversation").as_deref(), Some("s-1"));

    let conversation = talk.conversation.clone();
    let setting = tokio::spawn(async move { conversation.set_mode("plan").await });
    let call = script.expect("mode plan").await;
    call.give(Given::Nothing);
    setting.await.unwrap().unwrap();
    assert_eq!(
        machine.remembered("conversation").as_deref(),
        Some("s-1\nplan")
    );
    // The agent has left it, for example because the person liked its plan.
    script.tell(changed("plan"));
    script.tell(changed("default"));
    talk.until("the mode", |state| {
        (state.status().mode.as_deref() == Some("default")).then_some(())
    })
    .await;

    let (backend, mut script) = scripted();
    let talk = machine.talk(backend);
    let conversation = talk.conversation.clone();
    let connecting = tokio::spawn(async move { conversation.connect(Target::Last).await });
    let call = r#"connect Known { id: "s-1", mode: Some("default") }"#;
    script.expect(call).await.give(Given::Session("s-1"));
    connecting.await.unwrap().unwrap();
    // Another one begins without it.
    let conversation = talk.conversation.clone();
    let connecting = tokio::spawn(async move { conversation.connect(Target::New).await });
    script
        .expect("connect New")
        .await
        .give(Given::Session("s-2"));
    connecting.await.unwrap().unwrap();
    assert_eq!(machine.remembered("conversation").as_deref(), Some("s-2"));
}

#[tokio::test]
async fn an_agent_that_dies_is_brought_back_three_times() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    for _ in 0..3 {
        script.tell(BackendEvent::Disconnected(EndReason::Died));
        let connect = script
            .expect(r#"connect Known { id: "s-1", mode: None }"#)
            .await;
        script.tell(connected());
        script.tell(BackendEvent::CaughtUp);
        connect.give(Given::Session("s-1"));
        talk.is_live().await;
    }
    script.tell(BackendEvent::Disconnected(EndReason::Died));
    talk.is(ConnectionState::Lost(EndReason::Died)).await;
    // The next call is the person's.
    let conversation = talk.conversation.clone();
    let cancelling = tokio::spawn(async move { conversation.cancel().await });
    script.expect("cancel").await.give(Given::Nothing);
    cancelling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_queued_prompt_is_withdrawn_by_its_name() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    for withdrawn in [true, false] {
        let conversation = talk.conversation.clone();
        let asking = tokio::spawn(async move { conversation.withdraw("p-2").await });
        let call = script.expect("withdraw p-2").await;
        call.give(Given::Counted(withdrawn));
        assert_eq!(asking.await.unwrap().unwrap(), withdrawn);
    }
}

/// The agent works where the files are; here is only a part of them.
#[tokio::test]
async fn files_that_are_not_here_are_offered_where_none_here_fits() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let root = machine.companion.root().clone();
    std::fs::write(root.join("here.txt"), "").unwrap();
    std::fs::write(root.join(".gitignore"), "*.there\n").unwrap();
    std::fs::write(root.join("ignored.there"), "").unwrap();
    let find = |typed: &str| {
        let (conversation, typed) = (talk.conversation.clone(), typed.to_owned());
        tokio::spawn(async move { conversation.files(typed).await })
    };
    assert_eq!(find("here.t").await.unwrap().unwrap(), ["here.txt"]);
    let finding = find("there");
    let found = [
        "deep/there/a.txt",
        "there.txt",
        "ignored.there",
        ".env.there",
    ];
    let mut found: Vec<_> = found.map(|name| root.join(name)).into();
    found.push("/elsewhere/there.txt".into());
    script.expect("find there").await.give(Given::Paths(found));
    // What may not be shared is not offered, and the rest best first.
    let offered = finding.await.unwrap().unwrap();
    assert_eq!(offered, ["there.txt", "deep/there/a.txt"]);
    // Without an answer there is nothing to offer, and that is no trouble.
    let finding = find("nowhere");
    script
        .expect("find nowhere")
        .await
        .fail(TroubleKind::NotConnected);
    assert_eq!(finding.await.unwrap().unwrap(), Vec::<String>::new());
}

/// The agent works where the files are; here is only a part of them.
#[tokio::test]
async fn a_file_that_is_not_here_is_read_where_the_agent_works() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let say = |file: &str| {
        let prompt = Prompt {
            text: "look".into(),
            files: vec![file.into()],
            ..Prompt::default()
        };
        let conversation = talk.conversation.clone();
        tokio::spawn(async move { conversation.prompt(prompt).await })
    };
    let root = machine.companion.root().display().to_string();
    let saying = say("sub/there.txt");
    let call = script.expect(&format!("read {root}/sub/there.txt")).await;
    call.give(Given::Text("tea"));
    let uri = format!("file://{root}/sub/there.txt");
    let sent = format!(r#"prompt [Text("look\n\n"), Attachment {{ uri: "{uri}", text: "tea" }}]"#);
    script.expect(&sent).await.give(Given::Nothing);
    saying.await.unwrap().unwrap();
    // What the person hides is not asked for, wherever it is, and neither is what lies elsewhere.
    for file in ["run.log", "/nowhere/at/all.txt", "../all.txt"] {
        let refused = say(file).await.unwrap().unwrap_err();
        assert_eq!(refused.kind, TroubleKind::NotAttached, "{file}");
    }
    let saying = say("absent.txt");
    let call = script.expect(&format!("read {root}/absent.txt")).await;
    call.fail(TroubleKind::Refused);
    let refused = saying.await.unwrap().unwrap_err();
    assert_eq!(
        refused.why,
        "cannot attach absent.txt: there is no such file"
    );
}

#[tokio::test]
async fn a_text_names_a_file_that_only_the_agent_has() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let root = machine.companion.root().display().to_string();
    let words: Vec<String> = (0..100).map(|n| format!("word{n}")).collect();
    let text = format!("@{} @there.txt @there.txt @a.txt", words.join(" @"));
    machine.companion.file("a.txt", "here");
    let prompt = Prompt {
        text: text.clone(),
        mentions: true,
        ..Prompt::default()
    };
    let conversation = talk.conversation.clone();
    let saying = tokio::spawn(async move { conversation.prompt(prompt).await });
    // Each name once, and of a text full of such words only the first in their order.
    let mut asked = [words, vec!["there.txt".into()]].concat();
    asked.sort_unstable();
    for name in &asked[..32] {
        let call = script.expect(&format!("has {root}/{name}")).await;
        call.give(Given::Counted(name == "there.txt"));
    }
    let call = script.expect(&format!("read {root}/there.txt")).await;
    call.give(Given::Text("tea"));
    let part = |name: &str, text: &str| {
        format!(r#"Attachment {{ uri: "file://{root}/{name}", text: "{text}" }}"#)
    };
    let (here, there) = (part("a.txt", "here"), part("there.txt", "tea"));
    let sent = format!(r#"prompt [Text("{text}\n\n"), {here}, {there}]"#);
    script.expect(&sent).await.give(Given::Nothing);
    saying.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_verdict_of_the_review_reaches_the_agent() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    for (id, decision, call) in [
        ("r-1", Decision::Accept, r#"answer r-1 Option("yes")"#),
        ("r-2", Decision::Reject, "answer r-2 Decline"),
    ] {
        script.tell(asked(id));
        let request = talk
            .until("the request", |state| state.requests().first().cloned())
            .await;
        let proposal = machine.companion.proposals().await.remove(0);
        assert_eq!(request.proposal, Some(proposal.id.get()));
        assert_eq!(proposal.agent, Agent::Gemini);
        let decided =
            (machine.companion.desk).ask(move |state| state.decide(proposal.id, decision, None));
        decided.await.unwrap().unwrap();
        script.expect(call).await.give(Given::Counted(true));
        script.tell(BackendEvent::RequestClosed {
            request: id.into(),
            by_me: true,
            reply: None,
        });
        talk.until("its end", |state| state.requests().is_empty().then_some(()))
            .await;
    }
    // Asked again after a reconnect, it is the same proposal.
    script.tell(asked("r-3"));
    script.tell(asked("r-3"));
    script.tell(said("asked twice"));
    talk.ends_with(&["Agent: asked twice"]).await;
    assert_eq!(machine.companion.proposals().await.len(), 1);
}

#[tokio::test]
async fn a_backend_that_has_nothing_more_to_tell_can_still_be_called() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    script.fall_silent();
    let conversation = talk.conversation.clone();
    let prompt = Prompt {
        text: "hello".into(),
        ..Prompt::default()
    };
    let saying = tokio::spawn(async move { conversation.prompt(prompt).await });
    let call = script.expect(r#"prompt [Text("hello")]"#).await;
    call.give(Given::Nothing);
    saying.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_owner_ends_with_the_last_handle() {
    let machine = Machine::new();
    let (talk, mut script) = standing(&machine).await;
    let another = talk.conversation.clone();
    drop(talk);
    assert!(another.ask(|_| ()).await.is_ok());
    drop(another);
    script.is_dropped().await;
}

/// Whoever takes a snapshot and the number of the last change in one question misses and doubles
/// nothing, however fast things change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_and_its_number_belong_together() {
    let machine = Machine::new();
    let (talk, script) = standing(&machine).await;
    let telling = tokio::spawn(async move {
        for number in 0..500 {
            script.tell(said(&format!("{number} ")));
            if number % 7 == 0 {
                script.tell(asked(&format!("r-{}", number % 3)));
            }
            tokio::task::yield_now().await;
        }
        script
    });
    for _ in 0..50 {
        let count = talk.counter();
        let look = (talk.conversation).ask(move |state| (state.snapshot(), count()));
        let (snapshot, changes) = look.await.unwrap();
        assert_eq!(talk.replayed(changes), snapshot);
    }
    telling.await.unwrap();
}
