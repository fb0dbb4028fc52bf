//! The JSON of a conversation, byte for byte.
//!
//! `conversation.txt` has a line for each event, for each change that it makes, and for everything
//! at once now and then. Pages and plugins of other versions read this: a line that changes is a change
//! of the protocol.

#![allow(
    clippy::unwrap_used,
    reason = "a test that meets something unexpected has to fail"
)]

use std::fmt::Write as _;

use conversation::backend::Choices;
use conversation::names::QueueState;
use conversation::requests::{AgentRequest, RequestOption, RequestQuestion};
use conversation::tools::{HostPath, ToolCall, ToolOutput};
use conversation::view::{
    Choice, ConnectionState, EarlierSession, EndReason, PlanStep, Speaker, TurnOutcome, Usage,
};
use conversation::{
    BackendEvent, Change, ConversationState, TranscriptLimits, Trouble, TroubleKind,
};
use serde::Serialize;
use wire::conversation as json;

const EXPECTED: &str = include_str!("conversation.txt");

/// What was written, a line each.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, what: &str, value: impl Serialize) {
        let text = serde_json::to_string(&value).unwrap();
        writeln!(self.0, "{what} {text}").unwrap();
    }

    fn changes(&mut self, changes: &[Change]) {
        for change in changes {
            self.add("change", json::change(change));
        }
    }

    fn all(&mut self, state: &ConversationState) {
        let snapshot = state.snapshot();
        let borrowed = serde_json::to_string(&json::snapshot(&snapshot)).unwrap();
        let owned = json::Snapshot(snapshot);
        assert_eq!(serde_json::to_string(&owned).unwrap(), borrowed);
        self.add("all", owned);
    }

    fn connection(&mut self, state: &ConversationState) {
        let change = Change::Status(Box::new(state.status().clone()));
        let text = serde_json::to_string(&json::change(&change)).unwrap();
        let from = text.find(r#""connection":"#).unwrap() + r#""connection":"#.len();
        let to = text[from..].find('}').unwrap() + from + 1;
        writeln!(self.0, "connection {}", &text[from..to]).unwrap();
    }
}

fn path(line: Option<u64>) -> HostPath {
    let path = "/w/a.rs".into();
    HostPath { path, line }
}

fn tool() -> ToolCall {
    let diff = |old: Option<&str>, new: &str| ToolOutput::Diff {
        path: path(None),
        old_text: old.map(str::to_owned),
        new_text: new.into(),
    };
    ToolCall {
        id: "t1".into(),
        title: Some("Edit a.rs".into()),
        tool: Some("edit".into()),
        kind: Some("edit".into()),
        status: Some("in_progress".into()),
        content: Some(vec![
            ToolOutput::Text("some \"text\"\n".into()),
            diff(Some("a"), "b"),
            diff(None, "c"),
        ]),
        files: Some(vec![path(Some(3)), path(None)]),
        command: Some("ls -l".into()),
    }
}

fn asked(
    id: &str,
    title: &str,
    tool: ToolCall,
    options: &[(&str, Option<&str>)],
    questions: Option<Vec<RequestQuestion>>,
) -> BackendEvent {
    let option = |(id, kind): &(&str, Option<&str>)| RequestOption {
        id: (*id).into(),
        title: id.to_uppercase(),
        kind: kind.map(Into::into),
    };
    let request = AgentRequest {
        id: id.into(),
        title: title.into(),
        tool,
        options: options.iter().map(option).collect(),
        background: questions.is_some(),
        questions,
        ..AgentRequest::default()
    };
    BackendEvent::RequestOpened {
        request: Box::new(request),
        edits: Vec::new(),
    }
}

fn said(speaker: Speaker, text: &str) -> BackendEvent {
    let text = text.into();
    BackendEvent::Said { speaker, text }
}

fn queue(prompt: &str, text: Option<&str>, state: &str) -> BackendEvent {
    BackendEvent::Queue {
        prompt: prompt.into(),
        text: text.map(str::to_owned),
        state: QueueState::from(state),
    }
}

fn ended(prompt: Option<&str>, outcome: TurnOutcome, background: bool) -> BackendEvent {
    BackendEvent::TurnEnded {
        prompt: prompt.map(str::to_owned),
        outcome,
        background,
    }
}

fn questions() -> Vec<RequestQuestion> {
    let several = RequestQuestion {
        question: "Which?".into(),
        header: Some("H".into()),
        answers: vec![("A".into(), Some("first".into())), ("B".into(), None)],
        several: true,
    };
    let plain = RequestQuestion {
        question: "What?".into(),
        header: None,
        answers: vec![],
        several: false,
    };
    vec![several, plain]
}

fn beginning() -> Vec<BackendEvent> {
    let before = BackendEvent::History {
        events: vec![
            said(Speaker::Other, "before"),
            BackendEvent::TitleChanged {
                title: "Tea".into(),
            },
        ],
        busy: true,
        incomplete: true,
    };
    let steps = [("read", Some("completed")), ("write", None)];
    let steps = steps.map(|(text, status)| PlanStep {
        text: text.into(),
        status: status.map(Into::into),
    });
    vec![
        BackendEvent::Connected {
            version: Some("0.24.4".into()),
            workspace: HostPath {
                path: "/w".into(),
                line: None,
            },
        },
        before,
        BackendEvent::CaughtUp,
        said(Speaker::Me, "hello"),
        said(Speaker::Thought, "hm"),
        said(Speaker::Agent, "Hi"),
        said(Speaker::Agent, " there"),
        BackendEvent::Tool(tool()),
        BackendEvent::Tool(ToolCall {
            id: "t2".into(),
            status: Some("odd".into()),
            ..ToolCall::default()
        }),
        BackendEvent::Plan(steps.into()),
        BackendEvent::Commands(vec![
            ("init".into(), None),
            ("help".into(), Some("Helps".into())),
        ]),
        BackendEvent::Usage(Usage { used: 1, size: 10 }),
    ]
}

fn middle() -> Vec<BackendEvent> {
    let options = [
        ("once", Some("allow_once")),
        ("always", Some("allow_always")),
        ("no", Some("reject_once")),
        ("never", Some("reject_always")),
        ("odd", Some("odd")),
        ("none", None),
    ];
    let counted = |request: &str, received| BackendEvent::VoteCounted {
        request: request.into(),
        received,
        needed: Some(2),
    };
    vec![
        asked("r1", "Edit a.rs", tool(), &options, None),
        asked("r2", "Ask", ToolCall::default(), &[], Some(questions())),
        counted("r1", Some(1)),
        counted("r2", None),
        BackendEvent::RequestClosed {
            request: "r1".into(),
            by_me: true,
            reply: None,
        },
        BackendEvent::RequestDeclined {
            request: "r2".into(),
        },
        queue("p2", Some("later"), "queued"),
        queue("p3", None, "queued"),
        queue("p4", None, "removed"),
        queue("p5", None, "odd"),
    ]
}

fn end() -> Vec<BackendEvent> {
    let failed = TurnOutcome::Failed {
        code: Some("-32603".into()),
    };
    let early = TurnOutcome::Complete {
        early: Some("max_tokens".into()),
    };
    vec![
        ended(Some("p1"), failed, false),
        ended(None, TurnOutcome::Interrupted, true),
        ended(None, TurnOutcome::Cancelled, false),
        ended(None, TurnOutcome::Unknown, false),
        ended(None, early, false),
        ended(None, TurnOutcome::Complete { early: None }, false),
        BackendEvent::ModelChanged { model: "m".into() },
        BackendEvent::ModelRefused {
            model: Some("n".into()),
        },
        BackendEvent::ModelRefused { model: None },
        BackendEvent::ModeChanged {
            mode: "plan".into(),
        },
        BackendEvent::Suggestion { text: "go".into() },
        BackendEvent::ConnectionLost,
        BackendEvent::ConnectionRestored,
        BackendEvent::EventsLost,
    ]
}

#[test]
fn what_is_written_is_as_it_was() {
    let mut state = ConversationState::new(TranscriptLimits::default(), Some("elm".into()));
    let mut lines = Lines::default();
    for event in [beginning(), middle(), end()].concat() {
        lines.add("event", json::event(&event).unwrap());
        let is_edit =
            matches!(&event, BackendEvent::RequestOpened { request, .. } if request.id == "r1");
        lines.changes(&state.apply(&event, is_edit.then_some(7)));
    }
    lines.all(&state);

    let choice = |id: &str, name: &str| Choice {
        id: id.into(),
        name: name.into(),
    };
    let choices = BackendEvent::Choices(Choices {
        models: Some(vec![choice("m", "M")]),
        modes: Some(vec![choice("plan", "Plan")]),
        ..Choices::default()
    });
    assert!(json::event(&choices).is_none());
    state.set_managed();
    // One change of the status in all.
    state.apply(&choices, None);
    lines.all(&state);

    let trouble = |kind, why: &str, hint: Option<&str>| {
        ConnectionState::Failed(Trouble {
            hint: hint.map(str::to_owned),
            ..Trouble::new(kind, why)
        })
    };
    for connection in [
        ConnectionState::Off,
        ConnectionState::Starting,
        ConnectionState::Connecting,
        trouble(
            TroubleKind::NoDaemon,
            "no daemon is running",
            Some("run it"),
        ),
        trouble(TroubleKind::Over, "gone", None),
    ] {
        state.set_connection(connection);
        lines.connection(&state);
    }
    for reason in EndReason::ALL {
        let event = BackendEvent::Disconnected(*reason);
        lines.add("event", json::event(&event).unwrap());
        state.apply(&event, None);
        lines.connection(&state);
    }

    let earlier = json::earlier(&[
        EarlierSession {
            key: 3,
            title: Some("Tea".into()),
            updated_at: Some("2026".into()),
            busy: true,
            current: false,
        },
        EarlierSession {
            key: 0,
            title: None,
            updated_at: None,
            busy: false,
            current: true,
        },
    ]);
    for session in earlier {
        lines.add("earlier", session);
    }
    for (written, expected) in lines.0.lines().zip(EXPECTED.lines()) {
        assert_eq!(written, expected);
    }
    assert_eq!(lines.0.lines().count(), EXPECTED.lines().count());
}

#[test]
fn what_is_read() {
    let target =
        |text| serde_json::from_str(text).map(|it: json::Target| conversation::Target::from(it));
    for (text, expected) in [
        (r#""last""#, conversation::Target::Last),
        (r#""new""#, conversation::Target::New),
        (r#"{"earlier":3}"#, conversation::Target::Earlier(3)),
    ] {
        assert_eq!(target(text).unwrap(), expected);
    }
    assert_eq!(json::Target::default(), json::Target::Last);
    assert!(target(r#""never""#).is_err());

    let reply =
        |text| serde_json::from_str(text).map(|it: json::Reply| conversation::Reply::from(it));
    for (text, expected) in [
        (r#"{"option":"a"}"#, conversation::Reply::Option("a".into())),
        (r#""decline""#, conversation::Reply::Decline),
        (
            r#"{"answers":[["a","b"],[]]}"#,
            conversation::Reply::Answers(vec![vec!["a".into(), "b".into()], vec![]]),
        ),
    ] {
        assert_eq!(reply(text).unwrap(), expected);
    }

    let prompt =
        |text| serde_json::from_str(text).map(|it: json::Prompt| conversation::Prompt::from(it));
    let short = conversation::Prompt {
        text: "hi".into(),
        ..conversation::Prompt::default()
    };
    assert_eq!(prompt(r#"{"text":"hi"}"#).unwrap(), short);
    let long = conversation::Prompt {
        files: vec!["a.rs".into()],
        selection: true,
        mentions: true,
        ..short
    };
    let text = r#"{"text":"hi","files":["a.rs"],"selection":true,"mentions":true}"#;
    assert_eq!(prompt(text).unwrap(), long);
    assert!(prompt(r#"{"text":"hi","file":"a.rs"}"#).is_err());
}
