//! The discovery files of one companion, from the first to the last moment.
//!
//! A [`Beacon`] owns its files: it writes them, puts them back when somebody else has deleted
//! or changed them, and takes them away. It has no clock; whoever owns it calls
//! [`Beacon::heal`] as often as they see fit. A file that cannot be written is a [`Problem`] and
//! never a reason to stop.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use private::Stamp;
use workbench::Agent;

use crate::leftovers::take_down;
use crate::{Announcement, DiscoveryPath, Problem, Remover, Surroundings, places};

/// The discovery files of one companion. They are removed when it is dropped.
pub struct Beacon {
    surroundings: Surroundings,
    agents: Vec<Agent>,
    announcement: Announcement,
    pids: Vec<u32>,
    /// The files that should be there, with their content.
    wanted: BTreeMap<PathBuf, Sign>,
    /// The files that we have written and not removed.
    standing: BTreeMap<PathBuf, Standing>,
    /// What is wrong with the announcement itself.
    refusals: Vec<Problem>,
    /// All that is wrong at present, the refusals first.
    problems: Vec<Problem>,
    remover: Remover,
}

/// A file as it should be.
struct Sign {
    place: DiscoveryPath,
    bytes: Vec<u8>,
}

/// A file as we wrote it.
struct Standing {
    agent: Agent,
    bytes: Vec<u8>,
    /// `None` when it was gone again before we could look.
    stamp: Option<Stamp>,
}

impl Beacon {
    /// Writes every file that tells one of `agents` about the companion.
    ///
    /// `pids` are the processes that an agent may take for its editor; see
    /// [`candidates`](crate::process::candidates). Call this once the companion listens and
    /// before an agent starts: agents decide at their start whether there is an editor at all.
    pub fn light(
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
            standing: BTreeMap::new(),
            refusals: Vec::new(),
            problems: Vec::new(),
            remover: Remover::new(),
        };
        beacon.plan();
        let folders: BTreeSet<_> = beacon.files().filter_map(Path::parent).collect();
        folders.into_iter().for_each(private::sweep);
        beacon
    }

    /// What keeps agents from finding us at present.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The files that stand, so that a later run can remove them should this one crash.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.standing.keys().map(PathBuf::as_path)
    }

    /// Announces something else: other roots, another editor, another port.
    pub fn set_announcement(&mut self, announcement: Announcement) {
        if self.announcement != announcement {
            self.announcement = announcement;
            self.plan();
        }
    }

    /// Names other processes that an agent may take for its editor.
    pub fn set_pids(&mut self, pids: &[u32]) {
        if self.pids != pids {
            self.pids = pids.to_vec();
            self.plan();
        }
    }

    /// Puts back what is missing or was changed by somebody else, tries again what failed
    /// before, and returns the files that it wrote.
    ///
    /// This is needed because Qwen Code deletes every lock whose process it cannot see, and in
    /// a container that shares the home folder it sees none of ours. When nothing has happened
    /// it costs one look at each file.
    pub fn heal(&mut self) -> Vec<PathBuf> {
        self.settle()
    }

    /// Takes the files away for good; nothing is written afterwards.
    pub fn remove(&mut self) {
        self.remover.remove();
        self.standing.clear();
    }

    /// Leaves the files where they are, for a companion that takes over the same port and
    /// tokens at once: an agent that starts in between must find them.
    pub fn leave(self) {
        self.remover.let_stand();
    }

    /// A handle that takes the files away from elsewhere, such as a panic hook.
    pub fn remover(&self) -> Remover {
        self.remover.clone()
    }

    /// Works out which files should be there, and makes it so.
    fn plan(&mut self) {
        let mut refusals = Vec::new();
        let mut contents = BTreeMap::new();
        for agent in Agent::DISCOVERING
            .into_iter()
            .filter(|agent| self.agents.contains(agent))
        {
            match self.announcement.json(agent) {
                Ok(bytes) => {
                    contents.insert(agent, bytes);
                }
                Err(error) => Problem::announcement(agent, &error).add_to(&mut refusals),
            }
        }
        if let Ok(workspace) = self.announcement.workspace() {
            for left_out in &workspace.left_out {
                Problem::root(&self.agents, left_out).add_to(&mut refusals);
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
            Some((place.path(), Sign { place, bytes }))
        })
        .collect();
        self.refusals = refusals;
        self.settle();
    }

    /// Removes what should not be there, writes what should, and returns what it wrote.
    fn settle(&mut self) -> Vec<PathBuf> {
        if self.remover.is_done() {
            return Vec::new();
        }
        // The files are recorded before they are written, so that there is no moment in which
        // one exists that the remover does not know of.
        let files: BTreeSet<_> = self
            .wanted
            .keys()
            .chain(self.standing.keys())
            .cloned()
            .collect();
        self.remover
            .record(files, self.announcement.tokens.values().cloned());

        let mut problems = self.refusals.clone();
        self.remove_unwanted(&mut problems);
        let mut written = Vec::new();
        for (path, sign) in &self.wanted {
            if stands(self.standing.get_mut(path), path, &sign.bytes) {
                continue;
            }
            match put(sign) {
                Ok(standing) => {
                    self.standing.insert(path.clone(), standing);
                    written.push(path.clone());
                }
                Err(error) => {
                    Problem::file(sign.place.agent, &error).add_to(&mut problems);
                }
            }
        }
        self.problems = problems;
        if self.remover.is_done() {
            self.retract(&written);
            return Vec::new();
        }
        written
    }

    /// Removes the files that we wrote and that are not wanted any more. What cannot be removed
    /// is kept in mind and tried again.
    fn remove_unwanted(&mut self, problems: &mut Vec<Problem>) {
        let tokens = self.remover.tokens();
        let tokens: Vec<_> = tokens.iter().map(String::as_str).collect();
        let wanted = &self.wanted;
        self.standing.retain(|path, standing| {
            if wanted.contains_key(path) {
                return true;
            }
            match take_down(path, &tokens) {
                Ok(_) => false,
                Err(error) => {
                    Problem::stuck(standing.agent, &error).add_to(problems);
                    true
                }
            }
        });
    }

    /// Takes back what was written while a remover was at work on another thread.
    fn retract(&mut self, written: &[PathBuf]) {
        let tokens: Vec<_> = self
            .announcement
            .tokens
            .values()
            .map(String::as_str)
            .collect();
        for path in written {
            // A failure leaves a file that the next start clears; nobody is left to be told.
            let _ = take_down(path, &tokens);
        }
        self.standing.clear();
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
            .field("files", &self.standing.keys())
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

/// Whether the file is there as it should be. It is read only when its stamp has changed.
fn stands(standing: Option<&mut Standing>, path: &Path, bytes: &[u8]) -> bool {
    let Some(standing) = standing.filter(|standing| standing.bytes == bytes) else {
        return false;
    };
    let now = private::stamp(path);
    if now.is_some() && now == standing.stamp {
        return true;
    }
    let limit = bytes.len() as u64;
    if now.is_some() && matches!(private::read(path, limit), Ok(Some(read)) if read == bytes) {
        standing.stamp = now;
        return true;
    }
    false
}

/// Writes one file.
///
/// Whatever stands there under that name is replaced, even when another program wrote it. Every
/// name contains the port, and the port is ours while we listen on it, so a file that another
/// program left for it can only lead agents to us with a token that we do not know.
fn put(sign: &Sign) -> Result<Standing, private::Error> {
    let place = &sign.place;
    let folder = private::ensure_folder(&place.base, place.below)?;
    private::write(&folder, &place.name, &sign.bytes)?;
    let stamp = private::stamp(&folder.join(&place.name));
    Ok(Standing {
        agent: place.agent,
        bytes: sign.bytes.clone(),
        stamp,
    })
}
