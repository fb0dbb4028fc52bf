//! The discovery files of one companion, from its start to its end.
//!
//! A [`Beacon`] owns its files: it writes them, restores them when another program has deleted
//! or changed them, and removes them. It has no clock: the owner calls [`Beacon::heal`]
//! periodically. A file that cannot be written is a [`Problem`] and never a reason to stop.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use private::Stamp;
use workbench::Agent;

use crate::leftovers::remove_if_ours;
use crate::{Announcement, DiscoveryPath, Leftovers, Problem, Remover, Surroundings, places};

/// The discovery files of one companion. They are removed when it is dropped.
pub struct Beacon {
    surroundings: Surroundings,
    agents: Vec<Agent>,
    announcement: Announcement,
    pids: Vec<u32>,
    /// The files that should be there, with their content.
    wanted: BTreeMap<PathBuf, WantedFile>,
    /// The files that we have written and not removed, and those of runs before that are left.
    written: BTreeMap<PathBuf, WrittenFile>,
    /// What is wrong with the announcement itself.
    announcement_problems: Vec<Problem>,
    /// All current problems, those of the announcement first.
    problems: Vec<Problem>,
    remover: Remover,
}

/// A file as it should be.
struct WantedFile {
    place: DiscoveryPath,
    bytes: Vec<u8>,
}

/// A file as we wrote it. Of a file of a run before, only its place is known.
struct WrittenFile {
    /// Who reads it.
    agents: Vec<Agent>,
    bytes: Vec<u8>,
    /// `None` when the file was gone before its stamp could be read.
    stamp: Option<Stamp>,
}

impl Beacon {
    /// Writes every file by which one of `agents` finds the companion.
    ///
    /// `pids` are the processes that an agent may take for its editor; see
    /// [`candidates`](crate::process::candidates). Call this once the companion listens and
    /// before an agent starts: agents decide at their start whether there is an editor at all.
    pub fn announce(
        surroundings: Surroundings,
        agents: &[Agent],
        announcement: Announcement,
        pids: &[u32],
    ) -> Beacon {
        let mut beacon = Beacon::prepare(surroundings, agents, announcement, pids);
        beacon.reconcile();
        beacon.sweep();
        beacon
    }

    /// Does the same in two steps: nothing is written before [`Beacon::heal`]. In between the owner
    /// can write down [which files there will be](Beacon::files), so that they are known even if it
    /// is killed at the next moment.
    pub fn prepare(
        surroundings: Surroundings,
        agents: &[Agent],
        announcement: Announcement,
        pids: &[u32],
    ) -> Beacon {
        let mut beacon = Beacon {
            surroundings,
            agents: agents.to_vec(),
            announcement,
            pids: pids.to_vec(),
            wanted: BTreeMap::new(),
            written: BTreeMap::new(),
            announcement_problems: Vec::new(),
            problems: Vec::new(),
            remover: Remover::new(),
        };
        beacon.plan();
        beacon
    }

    /// Takes over what a run before has left. It is removed by [`Beacon::heal`], as soon as that is
    /// possible.
    pub fn adopt(&mut self, leftovers: Leftovers) {
        let folders = self
            .files()
            .chain(leftovers.files.iter().map(PathBuf::as_path));
        let folders = folders.filter_map(Path::parent).map(Path::to_path_buf);
        for path in leftovers.find(&folders.collect()) {
            let left = WrittenFile {
                agents: self.agents.clone(),
                bytes: Vec::new(),
                stamp: None,
            };
            self.written.entry(path).or_insert(left);
        }
        self.remover.add_tokens(leftovers.tokens);
    }

    /// Removes unfinished files of a run that was killed.
    pub fn sweep(&self) {
        let folders: BTreeSet<_> = self.files().filter_map(Path::parent).collect();
        folders.into_iter().for_each(private::sweep);
    }

    /// What currently keeps agents from finding the companion.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The files that are there, may be there, or are about to be, so that a later run can remove
    /// them if this one crashes.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files: BTreeSet<_> = self.wanted.keys().chain(self.written.keys()).collect();
        files.into_iter().map(PathBuf::as_path)
    }

    /// Whether some of these files may carry other tokens than the announced ones, because they could
    /// be neither removed nor rewritten yet.
    pub fn has_leftovers(&self) -> bool {
        let is_current = |(path, file): (&PathBuf, &WrittenFile)| {
            let wanted = self.wanted.get(path);
            wanted.is_some_and(|wanted| wanted.bytes == file.bytes)
        };
        !self.written.iter().all(is_current)
    }

    /// Replaces the announcement: other roots, another editor, another port.
    pub fn set_announcement(&mut self, announcement: Announcement) {
        if self.announcement != announcement {
            self.announcement = announcement;
            self.plan();
            self.reconcile();
        }
    }

    /// Replaces the agents that may find the companion.
    pub fn set_agents(&mut self, agents: &[Agent]) {
        if self.agents != agents {
            self.agents = agents.to_vec();
            self.plan();
            self.reconcile();
        }
    }

    /// Replaces the processes that an agent may take for its editor.
    pub fn set_pids(&mut self, pids: &[u32]) {
        if self.pids != pids {
            self.pids = pids.to_vec();
            self.plan();
            self.reconcile();
        }
    }

    /// Restores files that are missing or that another program has changed, retries what failed
    /// before, and returns the files that it wrote.
    ///
    /// This is needed because Qwen Code deletes every lock whose process it cannot see, and in
    /// a container that shares the home folder it sees none of ours. When nothing has changed,
    /// it costs one `stat` per file.
    pub fn heal(&mut self) -> Vec<PathBuf> {
        self.reconcile()
    }

    /// Removes the files for good; nothing is written afterwards. What cannot be removed stays in
    /// the list, for a later run.
    pub fn remove(&mut self) {
        let left = self.remover.remove();
        self.wanted.clear();
        self.written.retain(|path, _| left.contains(path));
    }

    /// Keeps the files on disk, for a companion that takes over the same port and tokens at
    /// once: an agent that starts in between must find them.
    pub fn hand_over(self) {
        self.remover.forget();
    }

    /// A handle that removes the files from elsewhere, such as a panic hook.
    pub fn remover(&self) -> Remover {
        self.remover.clone()
    }

    /// Computes which files should exist.
    fn plan(&mut self) {
        let mut problems = Vec::new();
        let mut contents = BTreeMap::new();
        for agent in Agent::DISCOVERING
            .into_iter()
            .filter(|agent| self.agents.contains(agent))
        {
            match self.announcement.json(agent) {
                Ok(bytes) => {
                    contents.insert(agent, bytes);
                }
                Err(error) => Problem::announcement(agent, &error).add_to(&mut problems),
            }
        }
        if let Ok(workspace) = self.announcement.workspace() {
            for left_out in &workspace.left_out {
                Problem::root(&self.agents, left_out).add_to(&mut problems);
            }
        }
        // Current clients take a file with any process id in its name, so there must be one.
        let serves = [self.announcement.serves];
        let pids = if self.pids.is_empty() {
            &serves[..]
        } else {
            &self.pids
        };
        self.wanted = places(
            &self.surroundings,
            &self.agents,
            self.announcement.port,
            pids,
        )
        .into_iter()
        .filter_map(|place| {
            let bytes = contents.get(&place.agent)?.clone();
            Some((place.path(), WantedFile { place, bytes }))
        })
        .collect();
        self.announcement_problems = problems;
    }

    /// Removes unwanted files, writes wanted ones, and returns what it wrote.
    fn reconcile(&mut self) -> Vec<PathBuf> {
        if self.remover.is_done() {
            return Vec::new();
        }
        // The files are recorded before they are written, so that there is no moment in which
        // one exists that the remover does not know of.
        let files: BTreeSet<_> = self
            .wanted
            .keys()
            .chain(self.written.keys())
            .cloned()
            .collect();
        self.remover
            .track(files, self.announcement.tokens.values().cloned());

        let mut problems = self.announcement_problems.clone();
        self.remove_unwanted(&mut problems);
        let mut newly_written = Vec::new();
        for (path, wanted) in &self.wanted {
            if is_intact(self.written.get_mut(path), path, &wanted.bytes) {
                continue;
            }
            match write_file(wanted) {
                Ok(written) => {
                    self.written.insert(path.clone(), written);
                    newly_written.push(path.clone());
                }
                Err(error) => {
                    Problem::file(&[wanted.place.agent], &error).add_to(&mut problems);
                }
            }
        }
        self.problems = problems;
        if self.remover.is_done() {
            self.retract(&newly_written);
            return Vec::new();
        }
        newly_written
    }

    /// Removes the files that we wrote and that are not wanted any more. A file that cannot be
    /// removed stays in the list, and the removal is retried.
    fn remove_unwanted(&mut self, problems: &mut Vec<Problem>) {
        let tokens = self.remover.tokens();
        let wanted = &self.wanted;
        self.written.retain(|path, written| {
            if wanted.contains_key(path) {
                return true;
            }
            match remove_if_ours(path, &tokens) {
                Ok(_) => false,
                Err(error) => {
                    Problem::stuck(&written.agents, &error).add_to(problems);
                    true
                }
            }
        });
    }

    /// Removes files that were written while a remover was at work on another thread.
    fn retract(&mut self, newly_written: &[PathBuf]) {
        let tokens = self.announcement.tokens.values().cloned().collect();
        for path in newly_written {
            // The program is ending, so nobody can be notified; the next start clears the file.
            let _ = remove_if_ours(path, &tokens);
        }
        self.written.clear();
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        self.remove();
    }
}

impl fmt::Debug for Beacon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beacon")
            .field("announcement", &self.announcement)
            .field("files", &self.written.keys())
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

/// Whether the file on disk has these bytes. It is read only when its stamp has changed.
fn is_intact(written: Option<&mut WrittenFile>, path: &Path, bytes: &[u8]) -> bool {
    let Some(written) = written.filter(|written| written.bytes == bytes) else {
        return false;
    };
    let now = private::stamp(path);
    if now.is_some() && now == written.stamp {
        return true;
    }
    let limit = bytes.len() as u64;
    if now.is_some() && matches!(private::read(path, limit), Ok(Some(read)) if read == bytes) {
        written.stamp = now;
        return true;
    }
    false
}

/// Writes one file.
///
/// An existing file of that name is replaced, even when another program wrote it. Every name
/// contains the port, and the port is ours while we listen on it, so a file that another program
/// left for it can only lead agents to us with a token that we do not know.
fn write_file(wanted: &WantedFile) -> Result<WrittenFile, private::Error> {
    let place = &wanted.place;
    let folder = private::ensure_folder(&place.base, place.below)?;
    private::write(&folder, &place.name, &wanted.bytes)?;
    let stamp = private::stamp(&folder.join(&place.name));
    Ok(WrittenFile {
        agents: vec![place.agent],
        bytes: wanted.bytes.clone(),
        stamp,
    })
}
