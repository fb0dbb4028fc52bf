//! Whatever an earlier run has left on disk, the next one starts: what cannot be read is left out,
//! nothing is there twice, no number is given again that was given before, and what was read and is
//! written again is read as the same.

use companion::desk::State;
use companion::journal::Journal;
use workbench::ProposalId;

use crate::block_on;
use crate::input::parts;
use crate::scratch::Scratch;
use crate::workplace::{desk, proposal};

/// The files of a journal, in the order of the parts.
const FILES: [&str; 7] = [
    "sessions.json",
    "documents.json",
    "proposal-1.json",
    "proposal-2.json",
    "verdict-1.json",
    "verdict-2.json",
    "counter.json",
];

/// Takes the files of a journal.
pub fn check(data: &[u8]) {
    thread_local!(static SCRATCH: Scratch = Scratch::new());
    let saved = SCRATCH.with(|scratch| {
        for (name, content) in FILES.iter().zip(parts(data)) {
            scratch.write(name, content);
        }
        Journal::load(scratch.path())
    });
    block_on(async {
        // All at once: the agents of these sessions are not there, and go sooner or later.
        desk(saved).ask(check_state).await.unwrap();
    });
}

fn check_state(state: &mut State) {
    let restored: Vec<ProposalId> = state.proposals().map(|it| it.id).collect();
    let mut numbers = restored.clone();
    numbers.extend([propose(state), propose(state)]);
    for (at, number) in numbers.iter().enumerate() {
        assert!(!numbers[..at].contains(number), "{number} is there twice");
    }
    let now: Vec<ProposalId> = state.proposals().map(|it| it.id).collect();
    assert!(restored.iter().all(|id| now.contains(id)));
}

/// Proposes an edit of a file that no proposal is about.
fn propose(state: &mut State) -> ProposalId {
    let session = format!("nobody's {}", state.proposals().count());
    state.propose(proposal(&session, "/w/new")).unwrap().0
}
