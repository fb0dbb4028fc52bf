//! Which process an agent is: what tells two agents of the same product apart, and whether one that
//! is silent still exists.
//!
//! Known on Linux only, for processes of this user. The published agents start themselves a second
//! and a third time to raise their memory limit, and it is the youngest process that connects. The
//! one that the person sees, and ends, is the oldest. If that one is killed, the younger ones live
//! on: connected, but with nobody in front of them. So an agent is the whole line of processes, and
//! it has ended as soon as one of them has.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use beacon::process::{self, ProcessDetails, ProcessId};
use workbench::{Agent, cut_utf16};

use super::{Mode, Profile, by_package, read_settings};
use crate::server::SocketEnds;

/// How many processes an agent may consist of.
const LONGEST_LINE: usize = 8;
/// How many folders above a script its package may be.
const DEEPEST_SCRIPT: usize = 6;
/// How many words of a command line are looked at for the script.
const MOST_WORDS: usize = 16;
/// How long a version may be: it is text from a file.
const LONGEST_VERSION: usize = 32;

/// The process of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProcess {
    /// The process that the person sees, first, and those that it has started for itself.
    pub line: Vec<ProcessId>,
    /// The terminal that it is in, such as `pts/3`.
    pub terminal: Option<String>,
    /// The folder that it was started in.
    pub folder: Option<PathBuf>,
    /// The product, if its package is known. An agent that speaks through a bridge does not say it.
    pub product: Option<Agent>,
    /// The version of the product.
    pub version: Option<String>,
    /// The mode in which it was started, if it does not ask before it writes in that mode.
    pub unasking: Option<UnaskingMode>,
}

/// A mode in which an agent does not ask before it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaskingMode {
    /// The agent's word for it.
    pub name: String,
    /// How to get to a mode that asks, in the agent's own words.
    pub remedy: String,
}

impl AgentProcess {
    /// The number of the process that the person sees.
    pub fn pid(&self) -> u32 {
        self.line.first().map_or(0, |process| process.pid)
    }

    /// Whether all of it still runs.
    pub fn is_running(&self) -> bool {
        self.line.iter().all(ProcessId::is_running)
    }
}

/// Finds the process of `agent` at the other end of a connection. A bridge names the process that it
/// speaks for in `claimed`, and is believed if that is the process that has started it.
///
/// It reads many small files of the system and some of the person's, so it must not run on a task.
pub(crate) fn identify(
    agent: Agent,
    ends: SocketEnds,
    claimed: Option<u32>,
) -> Option<AgentProcess> {
    let connected = private::peer_process(ends.ours, ends.theirs)?;
    // A peer inside this process is a part of us, and no agent.
    if connected == std::process::id() {
        return None;
    }
    let parent = || Some(process::details(connected)?.parent);
    let speaks = match claimed {
        Some(claimed) if parent() == Some(claimed) => claimed,
        _ => connected,
    };
    describe(agent, speaks)
}

fn describe(agent: Agent, pid: u32) -> Option<AgentProcess> {
    let mut line = vec![ProcessId::of(pid)?];
    let mut details = process::details(pid)?;
    let mut package = Package::of(&details);
    while let Some(below) = &package
        && line.len() < LONGEST_LINE
        && let Some(above) = process::details(details.parent)
        && let Some(same) = Package::of(&above).filter(|it| it.folder == below.folder)
        && let Some(id) = ProcessId::of(details.parent)
    {
        line.insert(0, id);
        details = above;
        package = Some(same);
    }
    let package = package.filter(|it| agent == Agent::Unnamed || it.profile.agent == agent);
    let unasking = package
        .as_ref()
        .and_then(|it| it.mode(line[0].pid, &details));
    Some(AgentProcess {
        line,
        terminal: details.terminal,
        folder: details.folder,
        product: package.as_ref().map(|it| it.profile.agent),
        version: package.map(|it| it.version),
        unasking: unasking.filter(|mode| !mode.asks).map(|mode| UnaskingMode {
            name: mode.name.into(),
            remedy: mode.remedy.into(),
        }),
    })
}

/// The package that a process runs a script of.
#[derive(Debug)]
struct Package {
    profile: &'static Profile,
    version: String,
    /// Where the arguments of the script begin in the command line.
    arguments_at: usize,
    folder: PathBuf,
}

impl Package {
    /// The package of the script in a command line. Words before it are the interpreter's.
    fn of(process: &ProcessDetails) -> Option<Package> {
        let mut words = process.arguments.iter().enumerate().take(MOST_WORDS);
        words.find_map(|(at, word)| {
            if word.as_encoded_bytes().starts_with(b"-") {
                return None;
            }
            let script = process.folder.as_ref()?.join(Path::new(word));
            let script = script.canonicalize().ok()?;
            let mut folders = script.ancestors().skip(1).take(DEEPEST_SCRIPT);
            folders.find_map(|folder| {
                let manifest = read_settings(&folder.join("package.json"))?;
                let text = |name: &str| manifest.get(name)?.as_str();
                Some(Package {
                    profile: by_package(text("name")?)?,
                    version: cut_utf16(text("version")?, LONGEST_VERSION).to_owned(),
                    arguments_at: at + 1,
                    folder: folder.to_owned(),
                })
            })
        })
    }

    /// The mode in which the process was started.
    fn mode(&self, pid: u32, process: &ProcessDetails) -> Option<&'static Mode> {
        let words = process.arguments.get(self.arguments_at..)?;
        let words: Vec<_> = words
            .iter()
            .filter_map(|word| OsStr::to_str(word))
            .collect();
        let variable = |name: &str| process::variable(pid, name);
        let files = self
            .profile
            .settings
            .files(&variable, process.folder.as_ref()?);
        let settings: Vec<_> = files
            .iter()
            .flatten()
            .filter_map(|file| read_settings(file))
            .collect();
        let rules = &self.profile.approval;
        rules.mode(&words, &settings, Some(&self.version))
    }
}
