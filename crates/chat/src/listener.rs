//! Turns what the connection tells into what everybody sees, and brings back an agent that died.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use daemon::TurnEnd;
use daemon::connection::{Departure, IdeEvent, IdeEvents};

use crate::host::{Chat, Inner, Which, lock};

/// How often a conversation whose agent died is taken up again by itself, and in which time.
const REVIVALS: usize = 3;
const REVIVALS_IN: Duration = Duration::from_mins(1);
/// What is said after a break that a turn did not survive.
const UNANSWERED: &str =
    "The agent ended before it had answered. Say it again if you still want it.";

/// What turns the daemon's events into what everybody sees.
pub(crate) struct Listener {
    /// Not a handle of its own: the conversation ends with the last one.
    inner: Weak<Inner>,
    /// When agents that died were brought back.
    revivals: Vec<Instant>,
    /// Whether something that the person said was lost with the connection.
    unanswered: bool,
    /// Whether the last turn failed, which is what is told of it right before the agent's end.
    failed: bool,
}

impl Listener {
    pub(crate) fn new(chat: &Chat) -> Listener {
        Listener {
            inner: Arc::downgrade(&chat.0),
            revivals: Vec::new(),
            unanswered: false,
            failed: false,
        }
    }

    pub(crate) async fn run(mut self, mut events: IdeEvents) {
        while let Some(event) = events.next().await {
            let Some(inner) = self.inner.upgrade() else {
                return;
            };
            self.hear(&Chat(inner), event).await;
        }
    }

    async fn hear(&mut self, chat: &Chat, event: IdeEvent) {
        // First, so that whoever is asked sees at once where the edit stands.
        let proposal = match &event {
            IdeEvent::Asked(request) => chat.review(request).await,
            _ => None,
        };
        let told = lock(&chat.0.sanitiser).sanitise(&event);
        for told in &told {
            chat.0.board.hear(told, proposal);
        }
        match event {
            IdeEvent::TurnEnded {
                end: TurnEnd::Interrupted { .. } | TurnEnd::Unknown { .. },
                ..
            } => self.unanswered = true,
            IdeEvent::TurnEnded { end, .. } => {
                self.failed = matches!(end, TurnEnd::Failed { .. });
            }
            // Only now, because what was shown before is replaced after a break.
            IdeEvent::CaughtUp if std::mem::take(&mut self.unanswered) => {
                chat.0.board.note(UNANSWERED);
            }
            IdeEvent::Closed { request, .. } | IdeEvent::Declined { request, .. } => {
                chat.end_review(&request);
            }
            IdeEvent::Disconnected {
                reason: Departure::Died { .. },
                ..
            } => {
                self.unanswered |= std::mem::take(&mut self.failed);
                if self.may_revive() {
                    let chat = chat.clone();
                    // Not here: the events of the new connection have to be heard meanwhile.
                    tokio::spawn(async move { chat.connect(Which::Last).await });
                }
            }
            _ => {}
        }
    }

    /// Whether to bring an agent back that died, or to leave it to the person.
    fn may_revive(&mut self) -> bool {
        self.revivals.retain(|at| at.elapsed() < REVIVALS_IN);
        let may = self.revivals.len() < REVIVALS;
        if may {
            self.revivals.push(Instant::now());
        }
        may
    }
}
