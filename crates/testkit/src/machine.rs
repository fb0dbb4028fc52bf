//! A machine of a test's own in a temporary folder: a home, a place for temporary files, a workspace,
//! and the program under test in them.
//!
//! Nothing is shared between two machines, so tests can run side by side. The program sees nothing of
//! the real environment but the path.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Companion, PATIENCE};

/// A machine of a test's own, as far as a program can tell.
pub struct Machine {
    /// The program under test.
    program: PathBuf,
    /// Home, temporary folder and workspace, under their real path.
    root: PathBuf,
    /// The name of the workspace.
    workspace: String,
    /// The variables of a plain terminal.
    environment: Vec<(String, String)>,
    /// Removes everything at the end.
    _folder: TempDir,
}

impl Machine {
    /// A machine on which nobody has done anything yet.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self::with_workspace(program, "work")
    }

    /// The same, with another name of the workspace.
    pub fn with_workspace(program: impl AsRef<Path>, name: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("outrigger-")
            .tempdir()
            .unwrap();
        let mut this = Self {
            program: program.as_ref().into(),
            root: folder.path().canonicalize().unwrap(),
            workspace: name.into(),
            environment: Vec::new(),
            _folder: folder,
        };
        for folder in [this.home(), this.temporary(), this.workspace()] {
            fs::create_dir(folder).unwrap();
        }
        this.set("PATH", std::env::var("PATH").unwrap());
        this.set("HOME", this.home().display().to_string());
        this.set("TMPDIR", this.temporary().display().to_string());
        this
    }

    /// Sets a variable of every terminal.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.into()));
    }

    /// The program under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The temporary folder.
    pub fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The workspace.
    pub fn workspace(&self) -> PathBuf {
        self.root.join(&self.workspace)
    }

    /// The path of a file in the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    /// Writes a file in the workspace; its path, as messages have it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A file in the workspace, if it exists.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    /// The environment of a plain terminal on this machine.
    pub fn environment(&self) -> Vec<(String, String)> {
        self.environment.clone()
    }

    /// An environment in which the program is where a person has installed it: on the path.
    pub fn with_program(&self, mut environment: Vec<(String, String)>) -> Vec<(String, String)> {
        let folder = self.program.parent().unwrap();
        for (name, value) in &mut environment {
            if name == "PATH" {
                *value = format!("{}:{value}", folder.display());
            }
        }
        environment
    }

    /// The program under test, as typed in a plain terminal in the workspace.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.workspace());
        command.env_clear().envs(self.environment());
        command
    }

    /// Starts a companion for the workspace.
    #[track_caller]
    pub fn start_companion(&self, arguments: &[&str]) -> Companion {
        Companion::start(self.command(&[&["serve", "--json"], arguments].concat()))
    }

    /// The discovery files of a port.
    pub fn discovery_files(&self, port: u16) -> Vec<PathBuf> {
        let folders = [
            self.home().join(".qwen/ide"),
            self.temporary().join("gemini/ide"),
            self.temporary().join("qwen/ide"),
        ];
        let mut found = Vec::new();
        for folder in folders {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            found.extend(entries.map(|entry| entry.path()).filter(|path| {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                stem.rsplit('-').next() == Some(&port.to_string())
            }));
        }
        found.sort();
        found
    }

    /// The token that Qwen Code finds for a port.
    pub fn qwen_token(&self, port: u16) -> String {
        token(&self.home().join(format!(".qwen/ide/{port}.lock")))
    }

    /// The token that Gemini CLI finds for a port.
    pub fn gemini_token(&self, port: u16) -> String {
        let files = self.discovery_files(port);
        let name = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("gemini-ide-server-")
        };
        token(files.iter().find(name).unwrap())
    }
}

impl Drop for Machine {
    /// Ends companions that wait for the next editor: nothing must be left on a machine that goes.
    fn drop(&mut self) {
        let companions = self.home().join(".local/state/outrigger/companions");
        let companions = fs::read_dir(companions).into_iter().flatten().flatten();
        for folder in companions {
            let record = fs::read(folder.path().join("companion.json")).unwrap_or_default();
            let record: Value = serde_json::from_slice(&record).unwrap_or_default();
            let pid = record["pid"].as_i64().and_then(|pid| pid.try_into().ok());
            let is_ours = |pid: &i32| {
                let program = fs::read_link(format!("/proc/{pid}/exe"));
                record["ending"] == false && program.is_ok_and(|it| it == self.program)
            };
            let Some(pid) = pid.filter(is_ours) else {
                continue;
            };
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::TERM));
            let end = Instant::now() + PATIENCE;
            while is_ours(&pid) && Instant::now() < end {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn token(path: &Path) -> String {
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    file["authToken"].as_str().unwrap().to_owned()
}
