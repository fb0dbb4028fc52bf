//! Keeps the discovery files true while a companion runs.
//!
//! `beacon` knows which files there are and writes them. This part decides what they say and
//! when: it follows the folders that are served, the editors that come and go, and the processes
//! that agents may take for their editor, and it writes the record from which commands and a later run learn the same.

use std::path::{Path, PathBuf};

use beacon::{Announcement, Beacon, IdeInfo, Remover, Surroundings, process};
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
    /// The processes of the editors that are here, the one that joined last at the end.
    editors: Vec<u32>,
    /// The process that we serve without editors.
    serves: u32,
}

impl Discovery {
    /// Writes the files; when this returns, agents can find us. `parent` is the process that the
    /// companion serves, if there is one, and `editor` that of the editor for which it is started.
    pub(crate) fn start(
        announcement: Announcement,
        agents: Vec<Agent>,
        record: Record,
        slot: Slot,
        parent: Option<u32>,
        editor: Option<u32>,
    ) -> Discovery {
        let candidates = process::candidates(record.pid, parent);
        let surroundings = Surroundings::capture();
        let first = process::candidates(record.pid, editor.or(parent));
        let mut discovery = Discovery {
            beacon: Beacon::announce(surroundings, &agents, announcement.clone(), &first),
            serves: announcement.serves,
            announcement,
            agents,
            record,
            slot,
            candidates,
            editors: editor.into_iter().collect(),
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

    /// Announces other editors: the name that agents show, and the processes that they may take for
    /// their editor.
    pub(crate) fn set_editors(&mut self, ide: IdeInfo, processes: Vec<u32>) {
        self.record.editor.clone_from(&ide.display_name);
        // Qwen Code deletes a file whose process is gone.
        let alive = processes
            .iter()
            .rev()
            .copied()
            .find(|pid| process::alive(*pid));
        let serves = Some(self.serves).filter(|pid| process::alive(*pid));
        self.announcement.serves = alive.or(serves).unwrap_or(self.record.pid);
        self.announcement.ide = ide;
        self.beacon.set_announcement(self.announcement.clone());
        self.editors = processes;
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

    /// Removes the files, and tells everybody who knows the record that this is about to end.
    pub(crate) fn remove(&mut self) {
        self.beacon.remove();
        self.record.ending = true;
        self.write_record();
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
        let own = self.record.pid;
        let editors = self.editors.iter().rev();
        let editors = editors.flat_map(|pid| process::candidates(own, Some(*pid)));
        let added = self.record.guests.keys().copied();
        let mut pids: Vec<u32> = Vec::new();
        for pid in editors.chain(self.candidates.iter().copied()).chain(added) {
            if !pids.contains(&pid) {
                pids.push(pid);
            }
        }
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
