//! Looks at the files of pending proposals, so that one that has become stale says so by itself.
//!
//! It costs nothing while nothing is pending, and little however much is. A look asks for a file's
//! size and times, not for its content, and runs on a thread of its own: a file on a dead network
//! mount delays no other.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use companion::desk::{Event, Gone};
use companion::original;
use private::Stamp;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};
use workbench::{Proposal, ProposalId, Standing};

use crate::front::{Front, Inner};

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(500);
/// How many files are looked at each time; if there are more, they take turns.
const AT_A_TIME: usize = 16;
/// A file that was written this shortly before its proposal may have been read before that.
const DOUBT: Duration = Duration::from_secs(2);

pub(crate) struct FileWatch {
    /// Weak, so that the task ends with the last handle.
    front: Weak<Inner>,
    events: broadcast::Receiver<Event>,
    files: BTreeMap<ProposalId, Watched>,
    /// The file that was looked at last.
    last: Option<ProposalId>,
}

/// A pending proposal, for which its file is looked at.
struct Watched {
    path: PathBuf,
    opened_at: SystemTime,
    /// What the last look has found; `None` before the first one.
    found: Option<Found>,
    look: Option<JoinHandle<Found>>,
    /// Whether the proposal has to be compared with the file.
    due: bool,
    refreshing: Option<JoinHandle<()>>,
}

/// What a look finds: the file, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Found(Option<Stamp>);

impl FileWatch {
    pub(crate) fn new(front: &Front, events: broadcast::Receiver<Event>) -> FileWatch {
        FileWatch {
            front: Arc::downgrade(&front.0),
            events,
            files: BTreeMap::new(),
            last: None,
        }
    }

    pub(crate) async fn run(mut self) {
        // Proposals that an earlier run has left.
        if self.look_for_proposals().await.is_err() {
            return;
        }
        let mut ticks = tokio::time::interval_at(Instant::now() + INTERVAL, INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let continues = tokio::select! {
                event = self.events.recv() => match event {
                    Ok(event) => self.take(event).await,
                    Err(RecvError::Lagged(_)) => self.look_for_proposals().await,
                    Err(RecvError::Closed) => return,
                },
                _ = ticks.tick(), if !self.files.is_empty() => {
                    self.look().await;
                    self.refresh()
                }
            };
            if continues.is_err() {
                return;
            }
        }
    }

    async fn take(&mut self, event: Event) -> Result<(), Gone> {
        match event {
            Event::Opened(id) => return self.add(id).await,
            Event::Closed(id, _) => drop(self.files.remove(&id)),
            Event::Touched(id) => {
                if let Some(file) = self.files.get_mut(&id) {
                    file.due = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Watches the file of a proposal, if it is still pending.
    async fn add(&mut self, id: ProposalId) -> Result<(), Gone> {
        let front = self.front.upgrade().ok_or(Gone)?;
        let found = front.desk.ask(move |state| {
            let proposal = state.proposal(id)?;
            Watched::of(proposal, state.workbench().roots())
        });
        if let Some(file) = found.await? {
            self.files.insert(id, file);
        }
        Ok(())
    }

    /// Watches exactly the files of what is pending.
    async fn look_for_proposals(&mut self) -> Result<(), Gone> {
        let front = self.front.upgrade().ok_or(Gone)?;
        let pending = front.desk.ask(|state| {
            let roots = state.workbench().roots();
            let watched = state
                .proposals()
                .filter_map(|proposal| Some((proposal.id, Watched::of(proposal, roots)?)));
            watched.collect::<BTreeMap<_, _>>()
        });
        let pending = pending.await?;
        self.files.retain(|id, _| pending.contains_key(id));
        for (id, file) in pending {
            self.files.entry(id).or_insert(file);
        }
        Ok(())
    }

    /// The files whose turn it is.
    fn next_files(&mut self) -> Vec<ProposalId> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.files.range((after, Bound::Unbounded));
        let all = rest.chain(&self.files).map(|(id, _)| *id);
        let next: Vec<_> = all.take(AT_A_TIME.min(self.files.len())).collect();
        self.last = next.last().copied();
        next
    }

    /// Takes in the looks that have ended, and begins new ones.
    async fn look(&mut self) {
        for id in self.next_files() {
            let Some(file) = self.files.get_mut(&id) else {
                continue;
            };
            if let Some(look) = &mut file.look {
                if !look.is_finished() {
                    continue;
                }
                // It is finished, so this does not wait.
                if let Ok(found) = look.await {
                    file.due |= match file.found.replace(found) {
                        Some(before) => before != found,
                        None => (found.0).is_none_or(|it| it.is_after(file.doubtful_from())),
                    };
                }
            }
            let path = file.path.clone();
            file.look = Some(tokio::task::spawn_blocking(move || {
                Found(private::stamp_of_target(&path))
            }));
        }
    }

    /// Compares the proposals whose files have changed.
    fn refresh(&mut self) -> Result<(), Gone> {
        let front = Front(self.front.upgrade().ok_or(Gone)?);
        for (id, file) in &mut self.files {
            let is_busy = (file.refreshing.as_ref()).is_some_and(|task| !task.is_finished());
            if !file.due || is_busy {
                continue;
            }
            file.due = false;
            let (id, front) = (*id, front.clone());
            file.refreshing = Some(tokio::spawn(async move {
                // One that cannot be compared is refused when somebody accepts it.
                let _ = front.refresh(id).await;
            }));
        }
        Ok(())
    }
}

impl Watched {
    /// None for a proposal that cannot be shown.
    fn of(proposal: &Proposal, roots: &[PathBuf]) -> Option<Watched> {
        (proposal.standing == Standing::Open).then(|| Watched {
            path: original::path(&proposal.path, roots),
            opened_at: UNIX_EPOCH + Duration::from_millis(proposal.opened_at),
            found: None,
            look: None,
            due: false,
            refreshing: None,
        })
    }

    fn doubtful_from(&self) -> SystemTime {
        self.opened_at.checked_sub(DOUBT).unwrap_or(UNIX_EPOCH)
    }
}
