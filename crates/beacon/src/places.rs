//! Where agents look: the files to write for a port, as a pure function of the surroundings.
//!
//! What differs between agents is in the module of each agent. Nothing here does I/O.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use workbench::Agent;

use crate::{Surroundings, System, gemini, qwen};

/// A file that an agent reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryPath {
    /// The agent that reads it.
    pub agent: Agent,
    /// The folder that the user or the system has chosen; it may be a symlink.
    pub base: PathBuf,
    /// The folders below it, one inside the other, that must belong to this user.
    pub below: &'static [&'static str],
    /// The name of the file in the innermost folder.
    pub name: String,
}

impl DiscoveryPath {
    /// The whole path.
    pub fn path(&self) -> PathBuf {
        let mut path = self.base.clone();
        path.extend(self.below);
        path.push(&self.name);
        path
    }
}

/// Every file that announces a companion on `port` to one of `agents`, without duplicates.
///
/// `pids` are the processes that an agent may take for its editor: older versions read only
/// the file that carries the id of that process in its name.
pub fn places(
    surroundings: &Surroundings,
    agents: &[Agent],
    port: u16,
    pids: &[u32],
) -> Vec<DiscoveryPath> {
    let mut seen = BTreeSet::new();
    Agent::DISCOVERING
        .into_iter()
        .filter(|agent| agents.contains(agent))
        .flat_map(|agent| match agent {
            Agent::Qwen => qwen::places(surroundings, port, pids),
            Agent::Gemini => gemini::places(surroundings, port, pids),
            Agent::Unnamed => Vec::new(),
        })
        .filter(|place| seen.insert(place.path()))
        .collect()
}

/// The temporary folder as `os.tmpdir()` of Node finds it, because both agents use that.
///
/// On Unix that is the first of `TMPDIR`, `TMP` and `TEMP` that is not empty, else `/tmp`, with
/// one trailing slash cut off. The standard library of Rust looks at `TMPDIR` only. On Windows
/// it is `TEMP`, `TMP`, or `temp` in the system's folder.
fn node_tmpdir(surroundings: &Surroundings) -> PathBuf {
    let first = |names: &[&str]| names.iter().find_map(|name| surroundings.var(name));
    if surroundings.system == System::Windows {
        let path = match first(&["TEMP", "TMP"]) {
            Some(path) => path.to_owned(),
            None => format!(
                "{}\\temp",
                first(&["SystemRoot", "windir"]).unwrap_or("C:\\Windows")
            ),
        };
        let cut = path
            .strip_suffix('\\')
            .filter(|cut| !cut.is_empty() && !cut.ends_with(':'));
        return PathBuf::from(cut.unwrap_or(&path));
    }
    match first(&["TMPDIR", "TMP", "TEMP"]) {
        Some(path) => {
            let cut = path
                .strip_suffix('/')
                .filter(|cut| !cut.is_empty())
                .unwrap_or(path);
            absolute(surroundings, cut)
        }
        None => surroundings.tmp.clone(),
    }
}

/// Every temporary folder that an agent on this machine may use.
///
/// The agent's environment can differ from ours: an editor that was started from a desktop, a
/// `nix-shell`, a login over SSH each have or lack a `TMPDIR` of their own. So besides our own
/// folder there is the one that Node takes when nothing is set, and on macOS the one that the
/// system gives to each user.
pub(crate) fn temporary_folders(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut folders = vec![node_tmpdir(surroundings)];
    if surroundings.system != System::Windows {
        folders.push(surroundings.tmp.clone());
    }
    if surroundings.system == System::MacOs
        && let Some(path) = surroundings.var("DARWIN_USER_TEMP_DIR")
    {
        folders.push(absolute(surroundings, path));
    }
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// The path resolved against the current folder, with `.` and `..` taken out by name alone, as
/// `path.resolve()` of Node does it.
pub(crate) fn absolute(surroundings: &Surroundings, path: &str) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in surroundings.folder.join(Path::new(path)).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vars = &'static [(&'static str, &'static str)];

    fn machine(system: System, vars: &[(&str, &str)]) -> Surroundings {
        Surroundings {
            system,
            vars: vars
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            ..Surroundings::new(Some("/home/ada".into()), "/projects/here".into())
        }
    }

    #[test]
    fn the_temporary_folder_is_the_one_of_node() {
        use System::{MacOs, Unix, Windows};
        let table: &[(System, Vars, &str)] = &[
            (Unix, &[], "/tmp"),
            (Unix, &[("TMPDIR", "/t")], "/t"),
            (Unix, &[("TMPDIR", "/t/")], "/t"),
            (Unix, &[("TMPDIR", "/")], "/"),
            (Unix, &[("TMPDIR", "")], "/tmp"),
            (Unix, &[("TMPDIR", ""), ("TMP", "/u"), ("TEMP", "/v")], "/u"),
            (Unix, &[("TEMP", "/v")], "/v"),
            (Unix, &[("TEMP", "/v"), ("TMPDIR", "/t")], "/t"),
            (Unix, &[("TMPDIR", "scratch/../t")], "/projects/here/t"),
            (
                MacOs,
                &[("TMPDIR", "/var/folders/x/T/")],
                "/var/folders/x/T",
            ),
            (Windows, &[("TEMP", "C:\\T"), ("TMP", "C:\\U")], "C:\\T"),
            (Windows, &[("TMP", "C:\\U\\")], "C:\\U"),
            (Windows, &[("TMP", "C:\\")], "C:\\"),
            (
                Windows,
                &[("TMPDIR", "C:\\V"), ("SystemRoot", "C:\\Windows")],
                "C:\\Windows\\temp",
            ),
            (Windows, &[("windir", "D:\\Win")], "D:\\Win\\temp"),
        ];
        for (system, vars, expected) in table {
            let found = node_tmpdir(&machine(*system, vars));
            assert_eq!(found, Path::new(expected), "{system:?} {vars:?}");
        }
    }

    #[test]
    fn every_temporary_folder_that_an_agent_may_use_is_served_once() {
        use System::{MacOs, Unix, Windows};
        let table: &[(System, Vars, &[&str])] = &[
            (Unix, &[], &["/tmp"]),
            (Unix, &[("TMPDIR", "/tmp/")], &["/tmp"]),
            (
                Unix,
                &[("TMPDIR", "/run/user/1000")],
                &["/run/user/1000", "/tmp"],
            ),
            (Unix, &[("DARWIN_USER_TEMP_DIR", "/d/")], &["/tmp"]),
            (MacOs, &[("DARWIN_USER_TEMP_DIR", "/d/")], &["/tmp", "/d"]),
            (
                MacOs,
                &[("TMPDIR", "/d/"), ("DARWIN_USER_TEMP_DIR", "/d/")],
                &["/d", "/tmp"],
            ),
            (Windows, &[("TEMP", "C:\\T")], &["C:\\T"]),
        ];
        for (system, vars, expected) in table {
            let found = temporary_folders(&machine(*system, vars));
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{system:?} {vars:?}");
        }
    }

    /// The paths of all places, one per line.
    #[cfg(unix)]
    fn listing(surroundings: &Surroundings, agents: &[Agent], pids: &[u32]) -> String {
        let places = places(surroundings, agents, 4711, pids);
        let lines: Vec<_> = places
            .iter()
            .map(|place| place.path().display().to_string())
            .collect();
        lines.join("\n")
    }

    #[cfg(unix)]
    #[test]
    fn a_plain_machine() {
        let machine = machine(System::Unix, &[]);
        insta::assert_snapshot!(listing(&machine, &Agent::DISCOVERING, &[10, 20]), @r"
        /home/ada/.qwen/ide/4711.lock
        /home/ada/.qwen/ide/10-4711.lock
        /home/ada/.qwen/ide/20-4711.lock
        /tmp/gemini/ide/qwen-code-ide-server-10-4711.json
        /tmp/gemini/ide/qwen-code-ide-server-20-4711.json
        /tmp/qwen/ide/qwen-code-ide-server-10-4711.json
        /tmp/qwen/ide/qwen-code-ide-server-20-4711.json
        /tmp/gemini/ide/gemini-ide-server-10-4711.json
        /tmp/gemini/ide/gemini-ide-server-20-4711.json
        ");
    }

    #[cfg(unix)]
    #[test]
    fn a_machine_with_everything_moved() {
        let machine = machine(
            System::Unix,
            &[
                ("QWEN_HOME", "~/q"),
                ("QWEN_RUNTIME_DIR", "run"),
                ("TMPDIR", "/t"),
            ],
        );
        insta::assert_snapshot!(listing(&machine, &Agent::DISCOVERING, &[10]), @r"
        /home/ada/.qwen/ide/4711.lock
        /home/ada/.qwen/ide/10-4711.lock
        /home/ada/q/ide/4711.lock
        /home/ada/q/ide/10-4711.lock
        /projects/here/run/ide/4711.lock
        /t/gemini/ide/qwen-code-ide-server-10-4711.json
        /t/qwen/ide/qwen-code-ide-server-10-4711.json
        /tmp/gemini/ide/qwen-code-ide-server-10-4711.json
        /tmp/qwen/ide/qwen-code-ide-server-10-4711.json
        /t/gemini/ide/gemini-ide-server-10-4711.json
        /tmp/gemini/ide/gemini-ide-server-10-4711.json
        ");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_agents_that_are_switched_on() {
        let machine = machine(System::Unix, &[]);
        insta::assert_snapshot!(listing(&machine, &[Agent::Gemini, Agent::Unnamed], &[10]), @"/tmp/gemini/ide/gemini-ide-server-10-4711.json");
        assert_eq!(listing(&machine, &[Agent::Unnamed], &[10]), "");
    }
}
