//! What a run may take over from the one before.
//!
//! Agents and pages come back to the port that they know, and show their key to whoever listens
//! there. While no companion does, that can be another user of the machine, who then has the key.
//! So a key outlives its run only where nobody else can have listened, or not for long.

use std::time::Duration;

use companion::registry::Previous;

use crate::discovery::BEAT_INTERVAL;

/// How long a companion may have been silent before it is not taken for one that has just ended: a
/// few times as long as it is silent while it lives. Agents come back within three seconds or not
/// at all.
const RECENT: Duration = Duration::from_secs(3 * BEAT_INTERVAL.as_secs());

/// How a run follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Succession {
    /// In the same process, with the socket that the other had: nobody else could listen.
    Handover,
    /// Moments after the other has crashed, or has ended for this one, on the same port. Somebody
    /// else had these moments at most.
    Immediate,
    /// In no such way.
    Fresh,
}

impl Succession {
    /// How a run on `port` follows `previous`.
    pub(super) fn of(previous: Option<&Previous>, port: u16, is_handed_over: bool) -> Succession {
        let Some(previous) = previous else {
            return Succession::Fresh;
        };
        let ended_for_good = previous.record.ending && !previous.record.returns;
        let is_recent = previous.silence.is_some_and(|silence| silence <= RECENT);
        if previous.record.port != port {
            Succession::Fresh
        } else if is_handed_over {
            Succession::Handover
        } else if is_recent && !ended_for_good {
            Succession::Immediate
        } else {
            Succession::Fresh
        }
    }

    /// Whether agents are let in with the tokens of the run before, and into its sessions.
    pub(super) fn keeps_tokens(self) -> bool {
        self != Succession::Fresh
    }

    /// Whether pages and commands are let in with the keys of the run before. With those one can
    /// decide and stop; commands and editors find new ones in the record.
    pub(super) fn keeps_keys(self) -> bool {
        self == Succession::Handover
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use companion::Token;
    use companion::registry::Record;

    use super::*;

    fn previous(ending: bool, returns: bool, silence: Option<Duration>) -> Previous {
        let record = Record {
            pid: 1,
            port: 7,
            roots: Vec::new(),
            started_for: Vec::new(),
            editor_settings: None,
            ending,
            returns,
            editor: "none".into(),
            version: "0".into(),
            started_at: 1,
            tokens: Vec::new(),
            secret: Token::random().unwrap(),
            page: Token::random().unwrap(),
            files: Vec::new(),
            former_tokens: Vec::new(),
            guests: BTreeMap::new(),
        };
        Previous { record, silence }
    }

    #[test]
    fn keys_outlive_a_run_only_where_nobody_else_can_have_listened_for_long() {
        use Succession::{Fresh, Handover, Immediate};

        let moment = Some(Duration::from_secs(1));
        let [crashed, stopped, returning] = [(false, false), (true, false), (true, true)]
            .map(|(ending, returns)| move |silence| Some(previous(ending, returns, silence)));
        for (case, previous, port, is_handed_over, expected) in [
            ("the first run", None, 7, false, Fresh),
            ("a socket, and no record", None, 7, true, Fresh),
            ("a restart", crashed(moment), 7, true, Handover),
            (
                "a restart after an idle day",
                crashed(Some(Duration::from_hours(24))),
                7,
                true,
                Handover,
            ),
            ("a crash", crashed(moment), 7, false, Immediate),
            (
                "a crash at the last moment",
                crashed(Some(RECENT)),
                7,
                false,
                Immediate,
            ),
            (
                "a crash some time ago",
                crashed(Some(RECENT + Duration::from_millis(1))),
                7,
                false,
                Fresh,
            ),
            (
                "a crash that nobody knows the time of",
                crashed(None),
                7,
                false,
                Fresh,
            ),
            (
                "a crash, and somebody has the port",
                crashed(moment),
                8,
                false,
                Fresh,
            ),
            ("a clean end", stopped(moment), 7, false, Fresh),
            (
                "an editor starts it again",
                returning(moment),
                7,
                false,
                Immediate,
            ),
            (
                "an editor starts it again, late",
                returning(Some(Duration::from_hours(1))),
                7,
                false,
                Fresh,
            ),
            (
                "an editor starts it again, elsewhere",
                returning(moment),
                8,
                false,
                Fresh,
            ),
        ] {
            let found = Succession::of(previous.as_ref(), port, is_handed_over);
            assert_eq!(found, expected, "{case}");
        }
        let kept = [Handover, Immediate, Fresh].map(|it| (it.keeps_tokens(), it.keeps_keys()));
        assert_eq!(kept, [(true, true), (true, false), (false, false)]);
    }
}
