//! The model finds what it is there to find, and excuses nothing else.

use super::*;

const PATH: &str = "/w/a";

/// What happens in a case, in a small language.
#[derive(Clone, Copy)]
enum Event {
    /// Agent 0 proposes the text, acknowledged or not.
    Proposes(&'static str, bool),
    /// The person accepts the text, acknowledged or not.
    Accepts(&'static str, bool),
    Rejects(&'static str, bool),
    /// An accepted text arrives.
    Arrives(&'static str),
    ArrivesRejected,
    Closes,
    Crashes,
    Stops,
    Restarts,
    Cut,
    Blocked,
    Unblocked,
    Hidden,
    JournalRemoved,
}

use Event::*;

fn promises(events: &[Event], listed: bool) -> Vec<&'static str> {
    let mut ledger = Ledger::default();
    for event in events {
        match *event {
            Proposes(text, acknowledged) => {
                let entry = ledger.proposing(0, "s", PATH, text);
                if acknowledged {
                    ledger.proposed(entry);
                }
            }
            Accepts(text, acknowledged) | Rejects(text, acknowledged) => {
                let outcome = match event {
                    Accepts(..) => Outcome::Accepted(Some(text.to_owned())),
                    _ => Outcome::Rejected,
                };
                let attempt = ledger.deciding("s", &[text.to_owned()], outcome).unwrap();
                if acknowledged {
                    ledger.decided(attempt);
                }
            }
            Arrives(text) => ledger.arrived(0, PATH, &Outcome::Accepted(Some(text.to_owned()))),
            ArrivesRejected => ledger.arrived(0, PATH, &Outcome::Rejected),
            Closes => {
                ledger.withdrawing(0, Some(PATH));
                ledger.withdrawn(0, Some(PATH));
            }
            Crashes => ledger.crashed(),
            Stops => ledger.stopping(|_| true),
            Restarts => ledger.restarting(),
            Cut => ledger.cut(0),
            Blocked => ledger.blocked(),
            Unblocked => ledger.unblocked(),
            Hidden => ledger.journal_hidden(),
            JournalRemoved => ledger.journal_removed(),
        }
    }
    let open = Listed {
        session: "s".to_owned(),
        path: PATH.to_owned(),
    };
    let listed = if listed { vec![open] } else { Vec::new() };
    let broken = ledger.judge(&listed);
    broken.into_iter().map(|it| it.promise).collect()
}

#[test]
fn what_is_kept_is_no_violation() {
    for (events, listed) in [
        (&[][..], false),
        (&[Proposes("x", true)], true),
        (&[Proposes("x", true), Crashes], true),
        // Nobody was told.
        (&[Proposes("x", false)], true),
        (&[Proposes("x", false), Crashes], false),
        (
            &[Proposes("x", true), Accepts("x", true), Arrives("x")],
            false,
        ),
        (
            &[Proposes("x", true), Rejects("x", true), ArrivesRejected],
            false,
        ),
        // Nobody was told whether it is decided: it is, or it is not.
        (&[Proposes("x", true), Accepts("x", false), Crashes], true),
        (
            &[
                Proposes("x", true),
                Accepts("x", false),
                Arrives("x"),
                Crashes,
            ],
            false,
        ),
        // A crash keeps the companion from knowing that it has arrived.
        (
            &[
                Proposes("x", true),
                Accepts("x", true),
                Arrives("x"),
                Crashes,
                Arrives("x"),
            ],
            false,
        ),
        // The agent's own doing.
        (&[Proposes("x", true), Closes], false),
        (&[Proposes("x", true), Accepts("x", true), Closes], false),
        (&[Proposes("x", true), Proposes("y", true)], true),
        // What was on its way when the agent proposed anew.
        (
            &[
                Proposes("x", true),
                Accepts("x", true),
                Proposes("y", true),
                Arrives("x"),
            ],
            true,
        ),
        // An end in good order says no to those that would hang.
        (&[Proposes("x", true), Stops, ArrivesRejected], false),
        // Its session ends with the companion.
        (&[Proposes("x", true), Stops], false),
        // What is not promised.
        (&[Proposes("x", true), Accepts("x", true), Cut], false),
        (&[Proposes("x", true), JournalRemoved, Crashes], false),
        (&[Hidden, Proposes("x", true), Crashes], false),
        (&[Blocked, Proposes("x", true), Unblocked, Restarts], false),
    ] {
        let number = events.len();
        assert_eq!(promises(events, listed), [""; 0], "{number} events");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn what_is_broken_is_named() {
    for (events, listed, promise) in [
        (
            &[Proposes("x", true)][..],
            false,
            "an acknowledged proposal stays open",
        ),
        (
            &[Proposes("x", true), Crashes],
            false,
            "an acknowledged proposal stays open",
        ),
        // Losing the journal is no excuse while the companion lives, nor is a bad disk that came later.
        (
            &[Proposes("x", true), JournalRemoved],
            false,
            "an acknowledged proposal stays open",
        ),
        (
            &[Proposes("x", true), Blocked, Crashes],
            false,
            "an acknowledged proposal stays open",
        ),
        (
            &[Hidden, Crashes, Proposes("x", true), Crashes],
            false,
            "an acknowledged proposal stays open",
        ),
        (
            &[Blocked, Unblocked, Proposes("x", true), Crashes],
            false,
            "an acknowledged proposal stays open",
        ),
        (
            &[Proposes("x", true), Accepts("x", true)],
            false,
            "an acknowledged decision arrives",
        ),
        (
            &[Proposes("x", true), Cut, Accepts("x", true)],
            false,
            "an acknowledged decision arrives",
        ),
        (
            &[
                Proposes("x", true),
                Accepts("x", true),
                Arrives("x"),
                Arrives("x"),
            ],
            false,
            "a verdict arrives once",
        ),
        (
            &[
                Proposes("x", true),
                Accepts("x", true),
                Crashes,
                Arrives("x"),
                Arrives("x"),
                Arrives("x"),
            ],
            false,
            "a verdict arrives once",
        ),
        (
            &[Proposes("x", true), Accepts("x", true), Arrives("other")],
            false,
            "only what was decided arrives",
        ),
        (
            &[Proposes("x", true), ArrivesRejected],
            false,
            "only what was decided arrives",
        ),
        (
            &[
                Proposes("x", true),
                Accepts("x", false),
                Arrives("x"),
                Crashes,
            ],
            true,
            "what is decided is not open again",
        ),
        (
            &[Proposes("x", true), Accepts("x", true), Arrives("x")],
            true,
            "what is decided is not open again",
        ),
        (
            &[
                Proposes("x", true),
                Accepts("x", true),
                Rejects("x", true),
                Arrives("x"),
            ],
            false,
            "a proposal is decided once",
        ),
        (
            &[Stops, Proposes("x", true)],
            false,
            "an acknowledged proposal stays open",
        ),
        (&[], true, "only what was proposed is listed"),
    ] {
        let found = promises(events, listed);
        assert!(found.contains(&promise), "{promise}: {found:?}");
    }
}
