//! From events to entries; the tables of what each event of the daemon becomes.

use daemon::sanitiser::{AppStep, HostPath};
use proptest::prelude::*;

use super::*;

fn said(speaker: Speaker, text: &str) -> AppEvent {
    AppEvent::Said {
        speaker,
        text: text.into(),
    }
}

fn tool(id: &str, status: &str) -> AppTool {
    AppTool {
        id: id.into(),
        status: Some(status.into()),
        ..AppTool::default()
    }
}

/// Leave is asked for a call.
fn asked(id: &str, title: &str) -> AppEvent {
    AppEvent::Asked {
        request: "r1".into(),
        title: title.into(),
        tool: AppTool {
            id: id.into(),
            ..AppTool::default()
        },
        options: Vec::new(),
        questions: None,
        background: false,
    }
}

fn ended(how: TurnResult, background: bool) -> AppEvent {
    AppEvent::TurnEnded {
        prompt: None,
        how,
        why: None,
        background,
    }
}

fn plan(text: &str) -> AppEvent {
    let step = AppStep {
        text: text.into(),
        status: None,
    };
    AppEvent::Plan { steps: vec![step] }
}

/// A transcript as lines.
fn lines(transcript: &Transcript) -> Vec<String> {
    let line = |entry: &Arc<Entry>| {
        let body = match &entry.body {
            Body::Said { speaker, text } => format!("{speaker:?}: {text}"),
            Body::Tool { tool } => format!("tool {} {:?} {:?}", tool.id, tool.title, tool.status),
            Body::Plan { steps } => format!("plan {}", steps[0].text),
            Body::Ended {
                how, background, ..
            } => format!("{how:?} {background}"),
            Body::Note { text } => format!("note {text}"),
        };
        format!("{} {body}", entry.id)
    };
    transcript.entries().map(line).collect()
}

/// Somebody who saw nothing but the changes.
#[derive(Default)]
struct Follower(Vec<Entry>);

impl Follower {
    fn see(&mut self, change: &Change) {
        match change {
            Change::Clear => self.0.clear(),
            Change::Put { entry } => match self.0.iter_mut().find(|it| it.id == entry.id) {
                Some(known) => *known = (**entry).clone(),
                None => self.0.push((**entry).clone()),
            },
            Change::Append { id, text: more } => {
                let entry = self.0.iter_mut().find(|it| it.id == *id).unwrap();
                let Body::Said { text, .. } = &mut entry.body else {
                    panic!("only what is said goes on");
                };
                text.push_str(more);
            }
            Change::Shorten { first } => self.0.retain(|it| it.id >= *first),
            Change::Status { .. } | Change::Requests { .. } => {}
        }
    }
}

#[test]
fn pieces_become_entries() {
    let mut transcript = Transcript::new(Limits::default());
    let with_title = AppTool {
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
        AppEvent::Tool(with_title),
        AppEvent::Tool(tool("t2", "pending")),
        asked("t2", "touch a.txt"),
        asked("unknown", "touch b.txt"),
        AppEvent::Tool(tool("t1", "completed")),
        plan("read, done"),
        said(Speaker::Agent, "done"),
        ended(TurnResult::Complete, false),
        plan("another"),
        ended(TurnResult::Cancelled, false),
        ended(TurnResult::Failed, true),
    ] {
        transcript.hear(&event);
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
    let mut transcript = Transcript::new(Limits::default());
    transcript.hear(&said(Speaker::Me, "before"));
    let over = AppEvent::StartOver {
        events: vec![said(Speaker::Me, "one"), said(Speaker::Agent, "two")],
        busy: false,
        incomplete: true,
    };
    let changes = transcript.hear(&over);
    assert_eq!(changes[0], Change::Clear);
    assert_eq!(
        lines(&transcript),
        [
            "2 note The oldest part of this conversation is not available.",
            "3 Me: one",
            "4 Agent: two"
        ]
    );
    let connected = AppEvent::Connected {
        daemon_version: None,
        workspace: HostPath {
            daemon_path: "/w".into(),
            line: None,
        },
    };
    assert_eq!(transcript.hear(&connected), [Change::Clear]);
    assert!(lines(&transcript).is_empty());
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_too_large() {
    let limits = Limits {
        entries: 2,
        ..Limits::default()
    };
    let mut transcript = Transcript::new(limits);
    for event in [
        AppEvent::Tool(tool("t", "pending")),
        said(Speaker::Me, "a"),
        said(Speaker::Agent, "b"),
    ] {
        transcript.hear(&event);
    }
    assert_eq!(lines(&transcript), ["2 Me: a", "3 Agent: b"]);
    assert!(transcript.is_shortened());
    // Its entry is gone, so it gets a new one.
    transcript.hear(&AppEvent::Tool(tool("t", "completed")));
    assert_eq!(
        lines(&transcript),
        ["3 Agent: b", r#"4 tool t None Some("completed")"#]
    );

    let limits = Limits {
        bytes: 2000,
        ..Limits::default()
    };
    let mut transcript = Transcript::new(limits);
    transcript.hear(&said(Speaker::Me, &"x".repeat(1500)));
    transcript.hear(&said(Speaker::Agent, &"y".repeat(1500)));
    assert_eq!(transcript.entries().count(), 1);
    // One that is too large alone stays: it is what the person wants to read.
    transcript.hear(&said(Speaker::Agent, &"z".repeat(1500)));
    assert_eq!(transcript.entries().count(), 1);
}

proptest! {
    /// Whoever follows the changes has the same entries as whoever looks, and no text is lost,
    /// doubled or out of order.
    #[test]
    fn followers_see_what_is_there(
        steps in prop::collection::vec((0..7u8, "[a-z]{0,12}"), 0..80),
        entries in 1..20usize,
        entry in 1..40usize,
    ) {
        let limits = Limits { entries, entry, ..Limits::default() };
        let mut transcript = Transcript::new(limits);
        let mut follower = Follower::default();
        let mut spoken = String::new();
        for (kind, text) in steps {
            let event = match kind {
                0 | 1 => said(Speaker::Agent, &text),
                2 => said(Speaker::Me, &text),
                3 => AppEvent::Tool(tool(&text, "pending")),
                4 => plan(&text),
                5 => ended(TurnResult::Failed, false),
                _ => AppEvent::Gap,
            };
            if let AppEvent::Said { text, .. } = &event {
                spoken.push_str(text);
            }
            for change in transcript.hear(&event) {
                follower.see(&change);
            }
        }
        let kept: Vec<Entry> = transcript.entries().map(|entry| (**entry).clone()).collect();
        prop_assert_eq!(&kept, &follower.0);
        prop_assert!(kept.len() <= entries);
        let said = |entry: &Entry| match &entry.body {
            Body::Said { text, .. } => text.clone(),
            _ => String::new(),
        };
        let kept: String = kept.iter().map(said).collect();
        prop_assert!(spoken.ends_with(&kept));
        prop_assert!(transcript.is_shortened() || kept == spoken);
        let counted: usize = transcript.entries().map(|entry| size(&entry.body)).sum();
        prop_assert_eq!(transcript.bytes, counted);
    }
}
