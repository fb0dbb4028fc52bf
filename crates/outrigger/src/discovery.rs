//! Keeps the discovery files true while a companion runs.
//!
//! `beacon` knows which files there are and writes them. This part decides what they say and
//! when: it follows the folders that are served, the editors that come and go, and the processes
//! that agents may take for their editor, and it writes the record from which commands and a later run learn the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use beacon::{Announcement, Beacon, IdeInfo, Leftovers, Remover, Surroundings, process};
use companion::Token;
use companion::registry::{self, Record, Slot};
use web::wire::Environment;
use workbench::Agent;

/// How often a companion that agents are connected to gives a sign of life.
pub(crate) const BEAT_INTERVAL: Duration = Duration::from_secs(10);

/// What has become of the folder that says that a companion is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordState {
    /// Nothing new.
    Intact,
    /// Somebody had deleted it; everything else in it has to be written again, too.
    Restored,
    /// Somebody had deleted it, and another companion has taken it since.
    Displaced,
    /// Somebody had deleted it, and a companion that was started then, because this one was not found,
    /// serves the same folders.
    Superseded,
}

/// For how many checks after that another companion is looked for. One that was about to start may
/// take its time.
const CHECKS_FOR_RIVALS: u8 = 20;

/// The discovery files of a running companion, and its record.
pub(crate) struct Discovery {
    beacon: Beacon,
    announcement: Announcement,
    agents: Vec<Agent>,
    record: Record,
    /// What discovery files of runs before can carry.
    former_tokens: Vec<Token>,
    /// Why others do not find the record, if it could not be written.
    record_trouble: Option<String>,
    slot: Slot,
    /// Whether the folder of the slot is another companion's now.
    is_displaced: bool,
    /// For how many checks another companion is looked for.
    checks_for_rivals: u8,
    /// When the last sign of life was given.
    beat_at: Option<Instant>,
    /// The processes that agents may take for their editor, as far as they follow from where we
    /// were started. Those that were added later stand in the record.
    candidates: Vec<u32>,
    /// The processes of the editors that are here, the one that joined last at the end.
    editors: Vec<u32>,
    /// The process that we serve without editors.
    serves: u32,
}

/// What a companion begins with.
pub(crate) struct Beginning {
    pub(crate) announcement: Announcement,
    pub(crate) agents: Vec<Agent>,
    pub(crate) record: Record,
    pub(crate) slot: Slot,
    /// The run before in the same slot.
    pub(crate) previous: Option<Record>,
    /// The process that the companion serves, if there is one.
    pub(crate) parent: Option<u32>,
    /// The editor for which it is started.
    pub(crate) editor: Option<u32>,
}

impl Discovery {
    /// Writes the files; when this returns, agents can find us.
    pub(crate) fn start(beginning: Beginning) -> Discovery {
        let Beginning {
            announcement,
            agents,
            mut record,
            slot,
            previous,
            parent,
            editor,
        } = beginning;
        let candidates = process::candidates(record.pid, parent);
        let editors: Vec<_> = editor.into_iter().collect();
        // Processes that were added to the run before may still be there.
        remove_ended(&mut record.guests);
        let pids = host_processes(&record, &editors, &candidates);
        let surroundings = Surroundings::capture();
        let mut beacon = Beacon::prepare(surroundings, &agents, announcement.clone(), &pids);
        let former_tokens = previous.iter().flat_map(Record::tokens_in_files).cloned();
        let former_tokens = former_tokens.collect();
        if let Some(previous) = &previous {
            beacon.adopt(leftovers(previous));
        }
        let mut discovery = Discovery {
            beacon,
            serves: announcement.serves,
            announcement,
            agents,
            record,
            former_tokens,
            record_trouble: None,
            slot,
            is_displaced: false,
            checks_for_rivals: 0,
            beat_at: None,
            candidates,
            editors,
        };
        // Written down first: whoever is killed now leaves nothing that the next run does not know.
        discovery.write_record();
        discovery.beacon.heal();
        discovery.beacon.sweep();
        discovery.files_changed();
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

    /// Whether the folder of this companion is another one's by now.
    pub(crate) fn is_displaced(&mut self) -> bool {
        self.is_displaced |= self.slot.is_taken();
        self.is_displaced
    }

    /// Why editors and commands do not find this companion.
    pub(crate) fn record_trouble(&self) -> Option<&str> {
        self.record_trouble.as_deref()
    }

    /// What keeps agents and commands from finding us, as sentences for the person.
    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.beacon.problems().iter();
        problems
            .map(|problem| format!("{} ({})", problem.message, problem.hint))
            .chain(self.record_trouble.clone())
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
        if remove_ended(&mut self.record.guests) {
            self.candidates_changed();
        }
        for healed in self.beacon.heal() {
            tracing::info!(path = %healed.display(), "wrote a discovery file again that had gone");
        }
        self.files_changed();
    }

    /// Makes the record and its folder again if somebody has deleted them.
    pub(crate) fn restore_record(&mut self) -> RecordState {
        if self.record_trouble.is_none() && self.slot.is_intact() {
            return self.look_for_rival();
        }
        let was_intact = self.slot.is_intact();
        let written = match self.slot.restore() {
            Ok(true) => self.slot.record(&self.record),
            Ok(false) => {
                self.is_displaced = true;
                return RecordState::Displaced;
            }
            Err(error) => Err(error),
        };
        let is_written = written.is_ok();
        self.recorded(written);
        if !was_intact {
            self.checks_for_rivals = CHECKS_FOR_RIVALS;
        }
        if !is_written {
            return RecordState::Intact;
        }
        tracing::info!(folder = %self.slot.folder().display(), "wrote the state of this companion again");
        RecordState::Restored
    }

    /// Whether another companion was started while nobody could find this one. The older one gives
    /// way: editors and commands found the younger one, and agents come to it.
    fn look_for_rival(&mut self) -> RecordState {
        if self.checks_for_rivals == 0 {
            return RecordState::Intact;
        }
        self.checks_for_rivals -= 1;
        match self.slot.rival(&self.record) {
            Some(_) => RecordState::Superseded,
            None => RecordState::Intact,
        }
    }

    /// Gives a sign of life if one is due. `is_used` says whether an agent is connected: only then
    /// there is something that a run that follows at once could go on with.
    pub(crate) fn beat(&mut self, is_used: bool) {
        if is_used && self.beat_at.is_none_or(|at| at.elapsed() >= BEAT_INTERVAL) {
            self.slot.beat();
            self.beat_at = Some(Instant::now());
        }
    }

    /// Removes the files, and tells everybody who knows the record that this is about to end, and
    /// whether it is started again at once.
    pub(crate) fn remove(&mut self, returns: bool) {
        self.beacon.remove();
        self.record.ending = true;
        self.record.returns = returns;
        self.write_record();
    }

    /// Leaves files and record in place for the program that this process becomes at once. It gets
    /// the lock that says that the companion is alive.
    pub(crate) fn hand_over(self) -> File {
        self.beacon.hand_over();
        self.slot.into_lock()
    }

    fn candidates_changed(&mut self) {
        let pids = host_processes(&self.record, &self.editors, &self.candidates);
        self.beacon.set_pids(&pids);
        self.write_record();
    }

    /// Writes the record again if it names other files than there are.
    fn files_changed(&mut self) {
        let recorded = self.record.files.iter().map(PathBuf::as_path);
        let had_leftovers = !self.record.former_tokens.is_empty();
        if !recorded.eq(self.beacon.files()) || had_leftovers != self.beacon.has_leftovers() {
            self.write_record();
        }
    }

    fn write_record(&mut self) {
        if self.is_displaced() {
            return;
        }
        self.record.files = self.beacon.files().map(Into::into).collect();
        self.record.former_tokens.clear();
        if self.beacon.has_leftovers() {
            self.record
                .former_tokens
                .extend_from_slice(&self.former_tokens);
        }
        let written = self.slot.record(&self.record);
        self.recorded(written);
    }

    /// Notes how it went, and tells the log what is new.
    fn recorded(&mut self, written: Result<(), registry::Error>) {
        let trouble = written.err().map(|error| {
            format!(
                "commands and editors may not find this companion, or find what it was: {error}"
            )
        });
        if let Some(trouble) = trouble
            .as_ref()
            .filter(|it| self.record_trouble.as_ref() != Some(it))
        {
            tracing::warn!("{trouble}");
        }
        self.record_trouble = trouble;
    }
}

/// What a run that has ended may have left for agents to find.
pub(crate) fn leftovers(of: &Record) -> Leftovers {
    Leftovers {
        port: of.port,
        tokens: of.tokens_in_files().map(|it| it.expose().into()).collect(),
        files: of.files.iter().cloned().collect(),
    }
}

/// The processes that agents may take for their editor, the likeliest first.
fn host_processes(record: &Record, editors: &[u32], candidates: &[u32]) -> Vec<u32> {
    let editors = editors.iter().rev();
    let editors = editors.flat_map(|pid| process::candidates(record.pid, Some(*pid)));
    let added = record.guests.keys().copied();
    let mut pids: Vec<u32> = Vec::new();
    for pid in editors.chain(candidates.iter().copied()).chain(added) {
        if !pids.contains(&pid) {
            pids.push(pid);
        }
    }
    pids
}

/// Forgets the processes that have ended, and says whether there were any.
fn remove_ended(processes: &mut BTreeMap<u32, Option<u64>>) -> bool {
    let before = processes.len();
    processes.retain(|pid, started| is_running(*pid, *started));
    processes.len() != before
}

/// Whether the process still runs. `started` tells it from a later one with the same id.
pub(crate) fn is_running(pid: u32, started: Option<u64>) -> bool {
    process::exists(pid) && process::is_same_run(started, process::started(pid))
}
