//! Whatever the records of other companions say, a new one starts beside them: a record that cannot be
//! read is none, one that can is written again as it was, and its tokens are never shown.

use companion::registry::{Record, Registry};
use std::path::PathBuf;

use crate::scratch::Scratch;

struct State {
    _scratch: Scratch,
    registry: Registry,
    record: PathBuf,
}

impl State {
    fn new() -> State {
        let scratch = Scratch::new();
        let registry = Registry::open(scratch.path()).unwrap();
        let (slot, _) = registry.claim(&["/w".into()]).unwrap();
        State {
            registry,
            record: slot.folder().join("companion.json"),
            _scratch: scratch,
        }
    }
}

/// Takes the record of a companion.
pub fn check(data: &[u8]) {
    thread_local!(static STATE: State = State::new());
    let parsed: Option<Record> = serde_json::from_slice(data).ok();
    STATE.with(|state| {
        std::fs::write(&state.record, data).unwrap();
        let mut abandoned = 0;
        state.registry.clear_abandoned(|_| abandoned += 1);
        assert_eq!(abandoned, usize::from(parsed.is_some()));
        assert!(state.registry.running().is_empty(), "nobody holds the slot");
    });
    let Some(record) = parsed else { return };
    let shown = format!("{record:?}");
    let secrets = [&record.secret, &record.page];
    for token in secrets
        .into_iter()
        .chain(record.tokens.iter().map(|(_, token)| token))
    {
        // A short text may be in the record for another reason.
        if token.expose().len() >= 16 && !said_elsewhere(data, token.expose()) {
            assert!(!shown.contains(token.expose()));
        }
    }
    let written = serde_json::to_vec(&record).unwrap();
    let again: Record = serde_json::from_slice(&written).unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), written);
}

/// Whether a text is there more often than the one time that is the token itself.
fn said_elsewhere(data: &[u8], token: &str) -> bool {
    String::from_utf8_lossy(data).matches(token).count() != 1
}
