//! Whatever a daemon sends, pages and editors never see its token or its address, in one piece or
//! put together from several; and whoever has a snapshot and follows the changes sees what everybody
//! sees.

use std::sync::{Arc, LazyLock};

use conversation::backend::daemon::Translator;
use conversation::view::{ConversationStatus, EntryContent, Speaker};
use conversation::{Change, ConversationState, Snapshot, TranscriptLimits};
use daemon::fuzzing::ide_event;
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::{Address, DaemonEvent, Token};

use crate::input::all_texts;

const TOKEN: &str = "s3cr3t";
const PORT: u16 = 4170;
const ADDRESS: &str = "127.0.0.1:4170";
const ME: &str = "me";

/// Short, so that short cases go beyond them.
const TEXTS: TextLimits = TextLimits {
    text: 400,
    content: 400,
    line: 200,
    entries: 4,
};
const LIMITS: TranscriptLimits = TranscriptLimits {
    entries: 8,
    bytes: 2000,
    entry: 300,
};

static SANITISER: LazyLock<Sanitiser> =
    LazyLock::new(|| Sanitiser::new(TEXTS).hiding(Token::new(TOKEN).ok(), &Address::local(PORT)));

/// Takes the envelopes of events.
pub fn check(data: &[u8]) {
    let mut translator = Translator::new(SANITISER.clone());
    let mut state = ConversationState::new(LIMITS, None);
    let mut seen = state.snapshot();
    for text in all_texts(data) {
        let Ok(event) = DaemonEvent::read(&text) else {
            continue;
        };
        let Some(event) = ide_event(event, ME) else {
            continue;
        };
        for told in translator.translate(&event) {
            for change in state.apply(&told, None) {
                replay(&mut seen, &change);
            }
        }
        let now = state.snapshot();
        assert_eq!(seen, now);
        assert!(now.entries.len() <= LIMITS.entries);
    }
    check_hidden(&seen);
}

/// Neither secret is in what anybody sees, also where a text goes on in the next entry.
fn check_hidden(seen: &Snapshot) {
    let shown = format!("{:?} {:?} {:?}", seen.status, seen.requests, seen.entries);
    let mut said = String::new();
    let mut last: Option<Speaker> = None;
    for entry in &seen.entries {
        match &entry.content {
            EntryContent::Said { speaker, text } if Some(*speaker) == last => said += text,
            EntryContent::Said { speaker, text } => {
                last = Some(*speaker);
                said = said + " " + text;
            }
            _ => last = None,
        }
    }
    for secret in [TOKEN, ADDRESS] {
        assert!(!shown.contains(secret), "{shown}");
        assert!(!said.contains(secret), "{said}");
    }
}

/// What a change means to somebody who took a snapshot and has seen nothing since but the changes.
fn replay(snapshot: &mut Snapshot, change: &Change) {
    match change {
        Change::Clear => {
            snapshot.entries.clear();
            snapshot.shortened = false;
        }
        Change::Put(entry) => match snapshot.entries.iter_mut().find(|it| it.id == entry.id) {
            Some(known) => *known = entry.clone(),
            None => snapshot.entries.push(entry.clone()),
        },
        Change::Append { id, text: more } => {
            let entry = snapshot.entries.iter_mut().find(|it| it.id == *id);
            match &mut Arc::make_mut(entry.unwrap()).content {
                EntryContent::Said { text, .. } => text.push_str(more),
                content => panic!("only what is said goes on, not {content:?}"),
            }
        }
        Change::Shorten { first } => {
            snapshot.entries.retain(|it| it.id >= *first);
            snapshot.shortened = true;
        }
        Change::Status(status) => snapshot.status = ConversationStatus::clone(status),
        Change::Requests(requests) => snapshot.requests.clone_from(requests),
    }
}
