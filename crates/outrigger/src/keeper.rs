//! The keeper: keeps the discovery files true while a companion lives.
//!
//! Twice a second it looks whether somebody deleted a file, whether the processes that
//! agents take for their editor are still there, whether the workspace's ignore files have
//! changed, and whether the process that the companion lives for is gone.

use std::path::{Path, PathBuf};

use beacon::{Announcement, Beacon, Remover, Surroundings, process};
use companion::desk::Desk;
use companion::registry::{Record, Slot};
use web::Order;
use workbench::Agent;

use crate::privacy::IgnoreFiles;

/// What a keeper starts with.
pub(crate) struct Keeping {
    pub(crate) record: Record,
    pub(crate) slot: Slot,
    pub(crate) announcement: Announcement,
    pub(crate) agents: Vec<Agent>,
    pub(crate) ignore_files: IgnoreFiles,
    pub(crate) parent: Option<u32>,
    pub(crate) desk: Desk,
}

pub(crate) struct Keeper {
    with: Keeping,
    beacon: Beacon,
    /// The processes that were candidates from the start.
    pids: Vec<u32>,
    parent: Option<(u32, Option<u64>)>,
}

impl Keeper {
    /// Lights the beacon; when this returns, agents can find us.
    pub(crate) fn new(with: Keeping) -> Keeper {
        let pids = process::candidates(with.record.pid, with.parent);
        let announcement = with.announcement.clone();
        let mut keeper = Keeper {
            beacon: Beacon::light(Surroundings::capture(), &with.agents, announcement, &pids),
            pids,
            parent: with.parent.map(|pid| (pid, process::started(pid))),
            with,
        };
        // Some guests of the run before may still be there.
        let guests = &mut keeper.with.record.guests;
        guests.retain(|pid, started| is_same(*pid, *started));
        keeper.guests_changed();
        keeper
    }

    /// What is known of this companion.
    pub(crate) fn record(&self) -> &Record {
        &self.with.record
    }

    /// Removes the discovery files from wherever it is called, for a panic.
    pub(crate) fn remover(&self) -> Remover {
        self.beacon.remover()
    }

    /// What is wrong, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.beacon.problems().iter();
        problems
            .map(|problem| format!("{} ({})", problem.message, problem.hint))
            .collect()
    }

    /// The variables that an agent should see.
    pub(crate) fn environment(&self) -> web::wire::Environment {
        beacon::environment(&self.with.announcement, &self.with.agents)
            .into_iter()
            .collect()
    }

    /// Lets agents below the process `pid` find us, until it ends.
    pub(crate) fn host(&mut self, pid: u32) {
        let guests = &mut self.with.record.guests;
        guests.insert(pid, process::started(pid));
        self.guests_changed();
    }

    /// Does what only the program can do. Those who asked may have left; then nobody hears the answer.
    pub(crate) fn obey(&mut self, order: Order) {
        match order {
            Order::Host(pid, done) => {
                self.host(pid);
                let _ = done.send(());
            }
            Order::Environment(answer) => drop(answer.send(self.environment())),
            Order::Problems(answer) => drop(answer.send(self.problems())),
            Order::SetRoots(roots) => self.set_roots(roots),
            Order::Restart | Order::Stop => {}
        }
    }

    /// Serves other folders from now on: agents, commands and the privacy filter learn of them.
    fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.with.ignore_files.set_roots(roots.clone());
        self.look_at_patterns();
        self.with.announcement.roots.clone_from(&roots);
        self.beacon.set_announcement(self.with.announcement.clone());
        self.with.record.roots.clone_from(&roots);
        self.write_record();
        self.with
            .desk
            .tell(move |state| state.workbench_mut().set_roots(roots));
    }

    /// Looks after everything once; `false` means that there is nobody left to live for.
    pub(crate) fn make_round(&mut self) -> bool {
        if let Some((pid, started)) = self.parent
            && !is_same(pid, started)
        {
            tracing::info!(pid, "the process that this companion lives for has ended");
            return false;
        }
        let guests = &mut self.with.record.guests;
        let before = guests.len();
        guests.retain(|pid, started| is_same(*pid, *started));
        if guests.len() != before {
            self.guests_changed();
        }
        for healed in self.beacon.heal() {
            tracing::info!(path = %healed.display(), "wrote a discovery file again that had gone");
        }
        self.look_at_patterns();
        true
    }

    /// Reads the ignore files again if they have changed.
    fn look_at_patterns(&mut self) {
        match self.with.ignore_files.changed() {
            Some(Ok(privacy)) => self
                .with
                .desk
                .tell(move |state| state.workbench_mut().set_privacy(privacy)),
            Some(Err(bad)) => tracing::warn!("{bad}; the patterns from before stay in force"),
            None => {}
        }
    }

    /// The private folder of this companion.
    pub(crate) fn folder(&self) -> &Path {
        self.with.slot.folder()
    }

    /// Removes the discovery files.
    pub(crate) fn put_out(&mut self) {
        self.beacon.remove();
    }

    /// Leaves everything in place for the program that this process becomes at once.
    pub(crate) fn leave_the_light_on(self) {
        self.beacon.leave();
        self.with.slot.hand_down();
    }

    fn guests_changed(&mut self) {
        let guests = self.with.record.guests.keys();
        let pids: Vec<_> = self.pids.iter().chain(guests).copied().collect();
        self.beacon.set_pids(&pids);
        self.write_record();
    }

    fn write_record(&mut self) {
        self.with.record.files = self.beacon.files().map(Into::into).collect();
        if let Err(error) = self.with.slot.record(&self.with.record) {
            tracing::warn!(%error, "cannot write down where this companion is; commands will not find it");
        }
    }
}

fn is_same(pid: u32, started: Option<u64>) -> bool {
    process::exists(pid) && process::started(pid) == started
}
