//! From events to entries; the tables of what each event becomes.

use proptest::prelude::*;

use super::*;
use crate::attachment::Attachment;
use crate::names::ToolStatus;
use crate::requests::AgentRequest;
use crate::tools::HostPath;
use crate::view::{Notice, PlanStep};

fn said(speaker: Speaker, text: &str) -> BackendEvent {
    BackendEvent::Said {
        speaker,
        text: text.into(),
    }
}

fn tool(id: &str, status: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        status: Some(status.into()),
        ..ToolCall::default()
    }
}

/// Permission is asked for a call.
fn asked(id: &str, title: &str) -> BackendEvent {
    let request = AgentRequest {
        id: "r1".into(),
        title: title.into(),
        tool: ToolCall {
            id: id.into(),
            ..ToolCall::default()
        },
        ..AgentRequest::default()
    };
    BackendEvent::RequestOpened {
        request: Box::new(request),
        edits: Vec::new(),
    }
}

fn ended(outcome: TurnOutcome, background: bool) -> BackendEvent {
    BackendEvent::TurnEnded {
        prompt: None,
        outcome,
        background,
    }
}

const COMPLETE: TurnOutcome = TurnOutcome::Complete { early: None };
const FAILED: TurnOutcome = TurnOutcome::Failed { code: None };

fn plan(text: &str) -> BackendEvent {
    let step = PlanStep {
        text: text.into(),
        status: None,
    };
    BackendEvent::Plan(vec![step])
}

/// A transcript as lines.
fn lines(transcript: &Transcript) -> Vec<String> {
    let line = |entry: &Arc<TranscriptEntry>| {
        let body = match &entry.content {
            EntryContent::Said { speaker, text } => format!("{speaker:?}: {text}"),
            EntryContent::Attached {
                speaker,
                attachment,
            } => format!("{speaker:?} attached {}", attachment.describe()),
            EntryContent::Tool(tool) => {
                let status = tool.status.as_ref().map(ToolStatus::as_str);
                format!("tool {} {:?} {status:?}", tool.id, tool.title)
            }
            EntryContent::Plan(steps) => format!("plan {}", steps[0].text),
            EntryContent::Ended {
                outcome,
                background,
            } => match outcome {
                TurnOutcome::Failed { .. } => format!("Failed {background}"),
                outcome => format!("{outcome:?} {background}"),
            },
            EntryContent::Note(text) => format!("note {text}"),
        };
        format!("{} {body}", entry.id)
    };
    transcript.entries().map(line).collect()
}

/// Somebody who saw nothing but the changes.
#[derive(Default)]
struct Follower(Vec<TranscriptEntry>);

impl Follower {
    fn see(&mut self, change: &Change) {
        match change {
            Change::Clear => self.0.clear(),
            Change::Put(entry) => match self.0.iter_mut().find(|it| it.id == entry.id) {
                Some(known) => *known = (**entry).clone(),
                None => self.0.push((**entry).clone()),
            },
            Change::Append { id, text: more } => {
                let entry = self.0.iter_mut().find(|it| it.id == *id).unwrap();
                let EntryContent::Said { text, .. } = &mut entry.content else {
                    panic!("only what is said goes on");
                };
                text.push_str(more);
            }
            Change::Shorten { first } => self.0.retain(|it| it.id >= *first),
            Change::Status(_) | Change::Requests(_) => {}
        }
    }
}

#[test]
fn pieces_become_entries() {
    let mut transcript = Transcript::new(TranscriptLimits::default());
    let with_title = ToolCall {
        title: Some("Read a.txt".into()),
        ..tool("t1", "pending")
    };
    for event in [
        said(Speaker::Other, "are you there?"),
        said(Speaker::Me, "hello"),
        said(Speaker::Me, "hello?"),
        said(Speaker::Thought, "hm"),
        said(Speaker::Thought, "m"),
        said(Speaker::Agent, "Hi "),
        said(Speaker::Agent, "there"),
        plan("read"),
        BackendEvent::Tool(with_title),
        BackendEvent::Tool(tool("t2", "pending")),
        asked("t2", "touch a.txt"),
        asked("unknown", "touch b.txt"),
        BackendEvent::Tool(tool("t1", "completed")),
        plan("read, done"),
        said(Speaker::Agent, "done"),
        ended(COMPLETE, false),
        plan("another"),
        ended(TurnOutcome::Cancelled, false),
        ended(FAILED, true),
    ] {
        transcript.apply(&event);
    }
    insta::assert_snapshot!(lines(&transcript).join("\n"), @r#"
    1 Other: are you there?
    2 Me: hello
    3 Me: hello?
    4 Thought: hmm
    5 Agent: Hi there
    6 plan read, done
    7 tool t1 Some("Read a.txt") Some("completed")
    8 tool t2 Some("touch a.txt") Some("pending")
    9 Agent: done
    10 plan another
    11 Cancelled false
    12 Failed true
    "#);
}

#[test]
fn a_new_connection_and_a_new_history_start_over() {
    let mut transcript = Transcript::new(TranscriptLimits::default());
    transcript.apply(&said(Speaker::Me, "before"));
    let over = BackendEvent::History {
        events: vec![said(Speaker::Me, "one"), said(Speaker::Agent, "two")],
        busy: false,
        incomplete: true,
    };
    let changes = transcript.apply(&over);
    assert_eq!(changes[0], Change::Clear);
    assert_eq!(
        lines(&transcript),
        [
            "2 note The oldest part of this conversation is not available.",
            "3 Me: one",
            "4 Agent: two"
        ]
    );
    let connected = BackendEvent::Connected {
        version: None,
        workspace: HostPath {
            path: "/w".into(),
            line: None,
        },
    };
    assert_eq!(transcript.apply(&connected), [Change::Clear]);
    assert!(lines(&transcript).is_empty());
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_too_large() {
    let limits = TranscriptLimits {
        entries: 2,
        ..TranscriptLimits::default()
    };
    let mut transcript = Transcript::new(limits);
    for event in [
        BackendEvent::Tool(tool("t", "pending")),
        said(Speaker::Me, "a"),
        said(Speaker::Agent, "b"),
    ] {
        transcript.apply(&event);
    }
    assert_eq!(lines(&transcript), ["2 Me: a", "3 Agent: b"]);
    assert!(transcript.is_shortened());
    // Its entry is gone, so it gets a new one.
    transcript.apply(&BackendEvent::Tool(tool("t", "completed")));
    assert_eq!(
        lines(&transcript),
        ["3 Agent: b", r#"4 tool t None Some("completed")"#]
    );

    let limits = TranscriptLimits {
        bytes: 2000,
        ..TranscriptLimits::default()
    };
    let mut transcript = Transcript::new(limits);
    transcript.apply(&said(Speaker::Me, &"x".repeat(1500)));
    transcript.apply(&said(Speaker::Agent, &"y".repeat(1500)));
    assert_eq!(transcript.entries().count(), 1);
    // One that is too large alone stays: it is what the person wants to read.
    transcript.apply(&said(Speaker::Agent, &"z".repeat(1500)));
    assert_eq!(transcript.entries().count(), 1);
}

/// The conversation is taken back to before this turn.
fn rewound(turn: usize, files: RestoredFiles) -> BackendEvent {
    BackendEvent::Rewound { turn, files }
}

fn picture() -> BackendEvent {
    BackendEvent::Attached {
        speaker: Speaker::Me,
        attachment: Attachment::Image {
            mime_type: "image/png".into(),
            data: Some("AAAA".into()),
        },
    }
}

/// Prompts with an answer each.
fn turns(count: usize) -> impl Iterator<Item = BackendEvent> {
    (0..count).flat_map(|turn| {
        [
            BackendEvent::TurnBegan,
            said(Speaker::Me, &format!("prompt {turn}")),
            said(Speaker::Agent, &format!("answer {turn}")),
        ]
    })
}

#[test]
fn what_the_agent_forgets_is_not_shown_any_more() {
    let files = |restored: &[&str], failed: &[&str]| RestoredFiles {
        restored: restored.iter().map(|it| (*it).into()).collect(),
        failed: failed.iter().map(|it| (*it).into()).collect(),
    };
    let back = "The conversation was taken back to this point.";
    let elsewhere = "The conversation was taken back to an earlier point, which is not shown here.";
    let cases = [
        (0, files(&[], &[]), vec![format!("1 note {back}")]),
        (
            1,
            files(&["/w/a", "/w/b"], &["/w/c"]),
            vec![
                "1 Me: prompt 0".into(),
                "2 Agent: answer 0".into(),
                format!("3 note {back} Put back: /w/a, /w/b. Could not be put back: /w/c."),
            ],
        ),
        // A turn that nobody has heard of: nothing is taken away on a guess.
        (
            9,
            files(&[], &[]),
            vec![
                "1 Me: prompt 0".into(),
                "2 Agent: answer 0".into(),
                "3 Me: prompt 1".into(),
                "4 Agent: answer 1".into(),
                format!("5 note {elsewhere}"),
            ],
        ),
    ];
    for (turn, files, expected) in cases {
        let mut transcript = Transcript::new(TranscriptLimits::default());
        let mut follower = Follower::default();
        for event in turns(2).chain([rewound(turn, files)]) {
            for change in transcript.apply(&event) {
                follower.see(&change);
            }
        }
        assert_eq!(lines(&transcript), expected, "{turn}");
        assert!(transcript.entries().map(|it| &**it).eq(&follower.0));
    }
}

#[test]
fn a_point_before_what_is_known_is_not_guessed() {
    let mut transcript = Transcript::new(TranscriptLimits::default());
    transcript.apply(&BackendEvent::History {
        events: turns(2).collect(),
        busy: false,
        incomplete: true,
    });
    transcript.apply(&rewound(1, RestoredFiles::default()));
    // Which of the shown turns is the second one, nobody can tell.
    let shown = lines(&transcript);
    assert_eq!(shown.len(), 6, "{shown:?}");
    assert!(shown[5].contains("not shown here"), "{shown:?}");
}

#[test]
fn a_point_among_those_that_were_let_go_takes_all_away() {
    let limits = TranscriptLimits {
        entries: 3,
        ..TranscriptLimits::default()
    };
    let mut transcript = Transcript::new(limits);
    for event in turns(4) {
        transcript.apply(&event);
    }
    assert_eq!(transcript.entries().count(), 3);
    transcript.apply(&rewound(1, RestoredFiles::default()));
    let shown = lines(&transcript);
    assert_eq!(shown.len(), 1, "{shown:?}");
    // And the next prompt is the second turn.
    for event in turns(1).chain([rewound(1, RestoredFiles::default())]) {
        transcript.apply(&event);
    }
    let shown = lines(&transcript);
    assert!(!shown.iter().any(|it| it.contains("prompt")), "{shown:?}");
}

#[test]
fn notices_and_attachments_are_entries() {
    let mut transcript = Transcript::new(TranscriptLimits::default());
    for event in [
        said(Speaker::Me, "look"),
        picture(),
        said(Speaker::Agent, "I see "),
        BackendEvent::Notice(Notice::NotRecorded),
        said(Speaker::Agent, "it"),
        said(Speaker::Task, "Done."),
        said(Speaker::Task, "Done, too."),
    ] {
        transcript.apply(&event);
    }
    insta::assert_snapshot!(lines(&transcript).join("\n"), @r"
    1 Me: look
    2 Me attached a picture (image/png, 1 kB)
    3 Agent: I see 
    4 note The agent cannot write this conversation to its disk any more. What is said from here on will be missing when it is opened again.
    5 Agent: it
    6 Task: Done.
    7 Task: Done, too.
    ");
}

proptest! {
    /// A conversation that is taken back again and again shows what a list of its turns holds.
    #[test]
    fn after_rewinds_the_turns_that_are_left_are_shown(
        steps in prop::collection::vec((0..4u8, 0..6usize), 0..60),
        entries in 1..12usize,
    ) {
        let mut whole = Transcript::new(TranscriptLimits::default());
        let mut short = Transcript::new(TranscriptLimits { entries, ..TranscriptLimits::default() });
        let (mut whole_seen, mut short_seen) = (Follower::default(), Follower::default());
        let mut expected: Vec<Vec<String>> = Vec::new();
        for (n, (kind, turn)) in steps.into_iter().enumerate() {
            let text = format!("{n}");
            let events = match (kind, expected.last_mut()) {
                (0, _) | (_, None) => {
                    expected.push(vec![text.clone()]);
                    vec![BackendEvent::TurnBegan, said(Speaker::Me, &text)]
                }
                (1, Some(turn)) => {
                    turn.push(text.clone());
                    vec![BackendEvent::Tool(tool(&text, "pending")), said(Speaker::Agent, &text)]
                }
                (2, Some(_)) => vec![picture()],
                _ => {
                    let turn = turn % expected.len();
                    expected.truncate(turn);
                    vec![rewound(turn, RestoredFiles::default())]
                }
            };
            for event in events {
                whole.apply(&event).iter().for_each(|change| whole_seen.see(change));
                short.apply(&event).iter().for_each(|change| short_seen.see(change));
            }
        }
        let said: Vec<String> = whole.entries().filter_map(|entry| match &entry.content {
            EntryContent::Said { text, .. } => Some(text.clone()),
            _ => None,
        }).collect();
        prop_assert_eq!(said, expected.concat());
        for (transcript, follower) in [(&whole, &whole_seen), (&short, &short_seen)] {
            let kept: Vec<TranscriptEntry> = transcript.entries().map(|entry| (**entry).clone()).collect();
            prop_assert_eq!(&kept, &follower.0);
            let counted: usize = kept.iter().map(|entry| size(&entry.content)).sum();
            prop_assert_eq!(transcript.bytes, counted);
        }
        prop_assert!(short.entries().count() <= entries);
        // The short one shows the end of the long one, or less.
        let texts = |transcript: &Transcript| -> Vec<String> {
            lines(transcript).iter().filter_map(|line| line.split_once(": ")).map(|(_, text)| text.to_owned()).collect()
        };
        prop_assert!(texts(&whole).ends_with(&texts(&short)));
    }

    /// Whoever follows the changes has the same entries as whoever looks, and no text is lost,
    /// doubled or out of order.
    #[test]
    fn followers_see_what_is_there(
        steps in prop::collection::vec((0..7u8, "[a-z]{0,12}"), 0..80),
        entries in 1..20usize,
        entry in 1..40usize,
    ) {
        let limits = TranscriptLimits { entries, entry, ..TranscriptLimits::default() };
        let mut transcript = Transcript::new(limits);
        let mut follower = Follower::default();
        let mut spoken = String::new();
        for (kind, text) in steps {
            let event = match kind {
                0 | 1 => said(Speaker::Agent, &text),
                2 => said(Speaker::Me, &text),
                3 => BackendEvent::Tool(tool(&text, "pending")),
                4 => plan(&text),
                5 => ended(FAILED, false),
                _ => BackendEvent::EventsLost,
            };
            if let BackendEvent::Said { text, .. } = &event {
                spoken.push_str(text);
            }
            for change in transcript.apply(&event) {
                follower.see(&change);
            }
        }
        let kept: Vec<TranscriptEntry> = transcript.entries().map(|entry| (**entry).clone()).collect();
        prop_assert_eq!(&kept, &follower.0);
        prop_assert!(kept.len() <= entries);
        let said = |entry: &TranscriptEntry| match &entry.content {
            EntryContent::Said { text, .. } => text.clone(),
            _ => String::new(),
        };
        let kept: String = kept.iter().map(said).collect();
        prop_assert!(spoken.ends_with(&kept));
        prop_assert!(transcript.is_shortened() || kept == spoken);
        let counted: usize = transcript.entries().map(|entry| size(&entry.content)).sum();
        prop_assert_eq!(transcript.bytes, counted);
    }
}
