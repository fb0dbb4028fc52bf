//! What the state shows after each kind of event, and what followers see of it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

#[path = "replay/mod.rs"]
mod replay;

use conversation::attachment::Attachment;
use conversation::backend::RestoredFiles;
use conversation::names::{OptionKind, QueueState, ToolStatus};
use conversation::requests::{AgentRequest, Reply, RequestOption};
use conversation::tools::{HostPath, ToolCall};
use conversation::view::{
    AgentPlace, EndReason, EntryContent, Notice, PlanStep, Speaker, TurnOutcome, Usage,
};
use conversation::{BackendEvent, Change, ConversationState, TranscriptLimits};
use proptest::prelude::*;
use replay::replay;

fn state() -> ConversationState {
    ConversationState::new(TranscriptLimits::default(), Some("elm".into()))
}

fn connected() -> BackendEvent {
    BackendEvent::Connected {
        version: Some("0.24.4".into()),
        workspace: HostPath {
            path: "/w".into(),
            line: None,
        },
    }
}

fn said(speaker: Speaker, text: &str) -> BackendEvent {
    let text = text.into();
    BackendEvent::Said { speaker, text }
}

fn asked(request: &str) -> BackendEvent {
    let request = AgentRequest {
        id: request.into(),
        title: "Run it?".into(),
        ..AgentRequest::default()
    };
    BackendEvent::RequestOpened {
        request: Box::new(request),
        edits: Vec::new(),
    }
}

fn queue(prompt: &str, state: QueueState) -> BackendEvent {
    BackendEvent::Queue {
        prompt: prompt.into(),
        text: Some("later".into()),
        state,
    }
}

fn ended(prompt: &str, background: bool) -> BackendEvent {
    BackendEvent::TurnEnded {
        prompt: Some(prompt.into()),
        outcome: TurnOutcome::Complete { early: None },
        background,
    }
}

/// How things stand, without what is empty.
fn standing(state: &ConversationState) -> String {
    let change = Change::Status(Box::new(state.status().clone()));
    let change = serde_json::to_value(wire::conversation::change(&change)).unwrap();
    let status = change["status"].as_object().unwrap();
    let fields = status.iter().filter(|(_, value)| {
        !value.is_null() && **value != serde_json::json!([]) && **value != serde_json::json!(false)
    });
    let fields: Vec<_> = fields
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    fields.join(" ")
}

#[test]
fn every_event_shows_in_how_things_stand() {
    let mut state = state();
    let mut shown = Vec::new();
    let over = BackendEvent::History {
        events: vec![BackendEvent::TitleChanged {
            title: "Tea".into(),
        }],
        busy: true,
        incomplete: false,
    };
    for event in [
        connected(),
        over,
        BackendEvent::CaughtUp,
        ended("p0", false),
        queue("p1", QueueState::Running),
        queue("p2", QueueState::Queued),
        ended("p9", true),
        ended("p1", false),
        queue("p2", QueueState::Running),
        ended("p2", false),
        BackendEvent::ModelChanged { model: "m".into() },
        BackendEvent::ModeChanged {
            mode: "plan".into(),
        },
        BackendEvent::Usage(Usage { used: 1, size: 10 }),
        BackendEvent::Commands(vec![("init".into(), None)]),
        BackendEvent::Suggestion { text: "go".into() },
        BackendEvent::ConnectionLost,
        BackendEvent::ConnectionRestored,
        BackendEvent::CaughtUp,
        BackendEvent::Disconnected(EndReason::Unreachable),
        connected(),
    ] {
        state.apply(&event, None);
        shown.push(standing(&state));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn requests_wait_until_somebody_answered() {
    let mut state = state();
    state.apply(&asked("r1"), None);
    state.apply(&asked("r2"), None);
    state.apply(
        &BackendEvent::VoteCounted {
            request: "r2".into(),
            received: Some(1),
            needed: Some(2),
        },
        None,
    );
    // Asked again after a reconnect.
    state.apply(&asked("r1"), Some(7));
    let seen: Vec<_> = (state.requests().iter())
        .map(|it| (it.id.as_str(), it.proposal, it.votes))
        .collect();
    assert_eq!(seen, [("r2", None, Some((1, 2))), ("r1", Some(7), None)]);
    state.apply(
        &BackendEvent::RequestClosed {
            request: "r1".into(),
            by_me: false,
            reply: None,
        },
        None,
    );
    state.apply(
        &BackendEvent::RequestDeclined {
            request: "r2".into(),
        },
        None,
    );
    assert!(state.requests().is_empty());
}

/// Why a connection is over, and what that means, in one table.
#[test]
fn every_end_of_a_connection_has_words() {
    let mut state = state();
    let table = EndReason::ALL.iter().map(|reason| {
        state.apply(&BackendEvent::Disconnected(*reason), None);
        format!("{} {}", reason.as_str(), standing(&state))
    });
    let table: Vec<_> = table.collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
    left connection={"canRetry":true,"state":"lost","why":"You disconnected."}
    closed connection={"canRetry":true,"state":"lost","why":"Somebody closed this conversation."}
    died connection={"canRetry":true,"state":"lost","why":"The agent behind the daemon ended."}
    lost connection={"canRetry":false,"state":"lost","why":"The daemon does not know this conversation any more."}
    refused connection={"canRetry":false,"state":"lost","why":"The daemon does not let us in any more."}
    unreachable connection={"canRetry":true,"state":"lost","why":"The daemon could not be reached for too long."}
    "#);
}

fn event() -> impl Strategy<Value = BackendEvent> {
    let text = "[a-z]{0,6}";
    let name = "[a-c]";
    let speaker = prop::sample::select(vec![
        Speaker::Me,
        Speaker::Other,
        Speaker::Agent,
        Speaker::Agent,
        Speaker::Thought,
    ]);
    let outcome = prop::sample::select(vec![
        TurnOutcome::Complete { early: None },
        TurnOutcome::Cancelled,
        TurnOutcome::Failed { code: None },
        TurnOutcome::Interrupted,
    ]);
    let queued = prop::sample::select(vec![
        QueueState::Queued,
        QueueState::Running,
        QueueState::Completed,
    ]);
    let simple = prop::sample::select(vec![
        connected(),
        BackendEvent::CaughtUp,
        BackendEvent::ConnectionLost,
        BackendEvent::ConnectionRestored,
        BackendEvent::EventsLost,
        BackendEvent::ModelRefused { model: None },
        BackendEvent::Usage(Usage { used: 1, size: 2 }),
        BackendEvent::Disconnected(EndReason::Died),
        BackendEvent::Disconnected(EndReason::Left),
    ]);
    let plan = |text: String| BackendEvent::Plan(vec![PlanStep { text, status: None }]);
    let tool = |(id, title): (String, String)| {
        BackendEvent::Tool(ToolCall {
            id,
            title: Some(title),
            status: Some(ToolStatus::Pending),
            ..ToolCall::default()
        })
    };
    prop_oneof![
        6 => (speaker, text).prop_map(|(speaker, text)| said(speaker, &text)),
        2 => (name, text).prop_map(tool),
        1 => text.prop_map(plan),
        2 => name.prop_map(|id| asked(&id)),
        1 => name.prop_map(|request| BackendEvent::RequestClosed {
            request, by_me: true, reply: Some(Reply::Decline),
        }),
        1 => name.prop_map(|request| BackendEvent::RequestDeclined { request }),
        1 => (name, outcome, any::<bool>()).prop_map(|(prompt, outcome, background)| {
            let prompt = Some(prompt);
            BackendEvent::TurnEnded { prompt, outcome, background }
        }),
        1 => (name, queued).prop_map(|(prompt, state)| queue(&prompt, state)),
        1 => text.prop_map(|title| BackendEvent::TitleChanged { title }),
        2 => simple,
        6 => beside_words(),
    ]
}

/// What is in a transcript beside words and tools, and what takes from it.
fn beside_words() -> impl Strategy<Value = BackendEvent> {
    let text = "[a-z]{0,6}";
    let speaker = prop::sample::select(vec![Speaker::Me, Speaker::Agent, Speaker::Task]);
    let attachment = prop_oneof![
        (0..600usize).prop_map(|length| Attachment::Image {
            mime_type: "image/png".into(),
            data: Some("A".repeat(length)),
        }),
        (text, text).prop_map(|(name, uri)| Attachment::Link { name, uri }),
        text.prop_map(|uri| Attachment::File { text: None, uri }),
    ];
    let notice = prop_oneof![
        Just(Notice::NotRecorded),
        text.prop_map(|kind| Notice::NotShown { kind }),
        text.prop_map(|path| Notice::FolderChanged {
            folder: HostPath { path, line: None },
        }),
    ];
    let files = prop::collection::vec(text, 0..3);
    let files = (files.clone(), files);
    prop_oneof![
        3 => Just(BackendEvent::TurnBegan),
        2 => (speaker, attachment)
            .prop_map(|(speaker, attachment)| BackendEvent::Attached { speaker, attachment }),
        1 => notice.prop_map(BackendEvent::Notice),
        1 => (0..5usize, files).prop_map(|(turn, (restored, failed))| BackendEvent::Rewound {
            turn,
            files: RestoredFiles { restored, failed },
        }),
    ]
}

/// Single events, and now and then a whole past.
fn happening() -> impl Strategy<Value = BackendEvent> {
    let past = (prop::collection::vec(event(), 0..8), any::<(bool, bool)>());
    let over = past.prop_map(|(events, (busy, incomplete))| BackendEvent::History {
        events,
        busy,
        incomplete,
    });
    prop_oneof![12 => event(), 1 => over]
}

proptest! {
    /// A snapshot, whenever it is taken, and all changes after it give every later snapshot.
    #[test]
    fn changes_over_a_snapshot_give_the_later_snapshot(
        before in prop::collection::vec(happening(), 0..12),
        after in prop::collection::vec(happening(), 0..40),
        entries in 1..12usize,
        entry in 1..20usize,
        bytes in 300..4000usize,
        middle in 0..20usize,
    ) {
        let limits = TranscriptLimits { entries, bytes, entry };
        let mut state = ConversationState::new(limits, None);
        for event in &before {
            state.apply(event, None);
        }
        let mut seen = state.snapshot();
        let mut late = None;
        for (at, event) in after.iter().enumerate() {
            for change in state.apply(event, Some(1)) {
                replay(&mut seen, &change);
                if let Some(late) = &mut late {
                    replay(late, &change);
                }
            }
            prop_assert_eq!(&seen, &state.snapshot());
            if at == middle {
                late = Some(state.snapshot());
            }
        }
        if let Some(late) = late {
            prop_assert_eq!(late, state.snapshot());
        }
    }
}

/// (the reply that closed the request, what the failed call is then)
#[test]
fn a_call_that_a_person_rejected_has_not_failed() {
    let option = |id: &str| Some(Reply::Option(id.into()));
    let cases = [
        (Some(Reply::Decline), ToolStatus::Rejected),
        (option("no"), ToolStatus::Rejected),
        (option("never"), ToolStatus::Rejected),
        (option("once"), ToolStatus::Failed),
        (option("invented"), ToolStatus::Failed),
        (Some(Reply::Answers(Vec::new())), ToolStatus::Failed),
        (None, ToolStatus::Failed),
    ];
    for (reply, expected) in cases {
        // The agent tells the failure before or after the end of the request.
        for fails_first in [true, false] {
            let mut state = state();
            let call = |status| {
                BackendEvent::Tool(ToolCall {
                    id: "t1".into(),
                    status: Some(status),
                    ..ToolCall::default()
                })
            };
            state.apply(&call(ToolStatus::Pending), None);
            state.apply(&asked_about("t1"), None);
            let closed = BackendEvent::RequestClosed {
                request: "r1".into(),
                by_me: true,
                reply: reply.clone(),
            };
            let mut events = [call(ToolStatus::Failed), closed];
            if !fails_first {
                events.reverse();
            }
            for event in &events {
                state.apply(event, None);
            }
            let snapshot = state.snapshot();
            let entry = &snapshot.entries.last().unwrap().content;
            let EntryContent::Tool(tool) = entry else {
                panic!("{entry:?}")
            };
            assert_eq!(tool.status, Some(expected.clone()), "{reply:?}");
        }
    }
}

fn asked_about(tool: &str) -> BackendEvent {
    let options = [
        ("once", OptionKind::AllowOnce),
        ("no", OptionKind::RejectOnce),
        ("never", OptionKind::RejectAlways),
    ];
    let options = options.into_iter().map(|(id, kind)| RequestOption {
        id: id.into(),
        title: id.into(),
        kind: Some(kind),
    });
    let request = AgentRequest {
        id: "r1".into(),
        tool: ToolCall {
            id: tool.into(),
            ..ToolCall::default()
        },
        options: options.collect(),
        ..AgentRequest::default()
    };
    BackendEvent::RequestOpened {
        request: Box::new(request),
        edits: Vec::new(),
    }
}

#[test]
fn a_place_says_what_is_used_from_there() {
    let mut state = state();
    state.apply(&connected(), None);
    let place = state.status().place.clone().unwrap();
    insta::assert_snapshot!(place.locality().join("\n"), @r"
    The agent works where its daemon runs: on elm, or where a forwarded port leads, in /w. Files, MCP servers, skills and credentials are those of that place.
    Nothing goes along from here: no extension of your editor, no profile of your browser. Services on localhost, SSH keys and cluster credentials are those of that place, too.
    ");
    let unnamed = AgentPlace {
        machine: None,
        workspace: HostPath {
            path: "/w\n\u{1b}[2J".into(),
            line: None,
        },
        ..place
    };
    let lines = unnamed.locality();
    assert!(lines[0].contains("on this machine, "), "{lines:?}");
    assert!(lines[0].contains("in /w␊␛[2J. "), "{lines:?}");
}
