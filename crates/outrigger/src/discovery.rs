//! Keeps the discovery files true while a companion runs.
//!
//! `beacon` knows which files there are and writes them. This part decides what they say and
//! when: it follows the folders that are served and the processes that agents may take for their
//! editor, and it writes the record from which commands and a later run learn the same.

use std::path::{Path, PathBuf};

use beacon::{Announcement, Beacon, Remover, Surroundings, process};
use companion::registry::{Record, Slot};
use web::wire::Environment;
use workbench::Agent;

/// The discovery files of a running companion, and its record.
pub(crate) struct Discovery {
    beacon: Beacon,
    announcement: Announcement,
    agents: Vec<Agent>,
    record: Record,
    slot: Slot,
    /// The processes that agents may take for their editor, as far as they follow from where we
    /// were started. Those that were added later stand in the record.
    candidates: Vec<u32>,
}

impl Discovery {
    /// Writes the files; when this returns, agents can find us. `parent` is the process that the
    /// companion serves, if there is one.
    pub(crate) fn start(
        announcement: Announcement,
        agents: Vec<Agent>,
        record: Record,
        slot: Slot,
        parent: Option<u32>,
    ) -> Discovery {
        let candidates = process::candidates(record.pid, parent);
        let surroundings = Surroundings::capture();
        let mut discovery = Discovery {
            beacon: Beacon::announce(surroundings, &agents, announcement.clone(), &candidates),
            announcement,
            agents,
            record,
            slot,
            candidates,
        };
        // Processes that were added to the run before may still be there.
        discovery.remove_ended_candidates();
        discovery.candidates_changed();
        discovery
    }

    /// What commands, and a run that follows, know of this companion.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// The private folder of this companion.
    pub(crate) fn folder(&self) -> &Path {
        self.slot.folder()
    }

    /// A handle that removes the files from a panic hook.
    pub(crate) fn remover(&self) -> Remover {
        self.beacon.remover()
    }

    /// What keeps agents from finding us, as sentences for the person.
    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.beacon.problems().iter();
        problems
            .map(|problem| format!("{} ({})", problem.message, problem.hint))
            .collect()
    }

    /// The environment variables with which agents find us.
    pub(crate) fn environment(&self) -> Environment {
        beacon::environment(&self.announcement, &self.agents)
            .into_iter()
            .collect()
    }

    /// Lets agents find us that take the process `pid` for their editor, until it ends.
    pub(crate) fn add_candidate(&mut self, pid: u32) {
        let started = process::started(pid);
        self.record.guests.insert(pid, started);
        self.candidates_changed();
    }

    /// Announces other folders.
    pub(crate) fn set_roots(&mut self, roots: &[PathBuf]) {
        self.announcement.roots = roots.to_vec();
        self.beacon.set_announcement(self.announcement.clone());
        self.record.roots = roots.to_vec();
        self.write_record();
    }

    /// Lets these agents find us, and no others.
    pub(crate) fn set_agents(&mut self, agents: Vec<Agent>) {
        self.beacon.set_agents(&agents);
        self.agents = agents;
        self.write_record();
    }

    /// Follows processes that have ended, and writes files again that somebody deleted.
    pub(crate) fn check(&mut self) {
        if self.remove_ended_candidates() {
            self.candidates_changed();
        }
        for healed in self.beacon.heal() {
            tracing::info!(path = %healed.display(), "wrote a discovery file again that had gone");
        }
    }

    /// Removes the files.
    pub(crate) fn remove(&mut self) {
        self.beacon.remove();
    }

    /// Leaves files and record in place for the program that this process becomes at once.
    pub(crate) fn hand_over(self) {
        self.beacon.hand_over();
        self.slot.hand_down();
    }

    /// Says whether there were any.
    fn remove_ended_candidates(&mut self) -> bool {
        let added = &mut self.record.guests;
        let before = added.len();
        added.retain(|pid, started| is_running(*pid, *started));
        added.len() != before
    }

    fn candidates_changed(&mut self) {
        let added = self.record.guests.keys();
        let pids: Vec<_> = self.candidates.iter().chain(added).copied().collect();
        self.beacon.set_pids(&pids);
        self.write_record();
    }

    fn write_record(&mut self) {
        self.record.files = self.beacon.files().map(Into::into).collect();
        if let Err(error) = self.slot.record(&self.record) {
            tracing::warn!(%error, "cannot write the record of this companion; commands will not find it");
        }
    }
}

/// Whether the process still runs. `started` tells it from a later one with the same id.
pub(crate) fn is_running(pid: u32, started: Option<u64>) -> bool {
    process::exists(pid) && process::started(pid) == started
}
