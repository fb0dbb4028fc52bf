//! A home, a temporary folder and a project of a test's own, and the program in them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything that has to happen may take before the test counts as failed.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// Waits for a condition.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A machine of the test's own, as far as the program can tell.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) tmp: PathBuf,
    pub(crate) work: PathBuf,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// The output of a command that went well.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.good()).unwrap()
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox::with_project("project")
    }

    /// A sandbox whose project has a certain name.
    pub(crate) fn with_project(name: &str) -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [home, tmp, work] = ["home", "tmp", name].map(|name| root.join(name));
        for folder in [&home, &tmp, &work] {
            fs::create_dir(folder).unwrap();
        }
        Sandbox {
            folder,
            home,
            tmp,
            work,
        }
    }

    /// The program, in the project's folder, with nothing of the real environment.
    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outrigger"));
        command.args(args).env_clear().current_dir(&self.work);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", &self.home).env("TMPDIR", &self.tmp);
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args), b"")
    }

    #[track_caller]
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Done {
        finish(self.command(args), stdin)
    }

    #[track_caller]
    pub(crate) fn serve(&self, args: &[&str]) -> Served {
        let args = [&["serve", "--json"], args].concat();
        self.served(self.command(&args))
    }

    /// Starts a companion and waits until it is ready.
    #[track_caller]
    pub(crate) fn served(&self, mut command: Command) -> Served {
        let log = tempfile::tempdir_in(self.folder.path()).unwrap();
        let [out, err] = ["out", "err"].map(|name| log.path().join(name));
        command.stdin(Stdio::null());
        command.stdout(fs::File::create(&out).unwrap());
        command.stderr(fs::File::create(&err).unwrap());
        let mut served = Served {
            child: command.spawn().unwrap(),
            port: 0,
            log,
        };
        let ready: Value = until("the companion is ready", || {
            if let Some(status) = served.child.try_wait().unwrap() {
                panic!("it ended with {status}: {}", served.printed());
            }
            let line = fs::read_to_string(&out).unwrap();
            line.ends_with('\n')
                .then(|| serde_json::from_str(&line).unwrap())
        });
        served.port = ready["port"].as_u64().unwrap().try_into().unwrap();
        served
    }

    /// Writes a file of the project and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.work.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The discovery files of a port in this sandbox, by their path below it.
    pub(crate) fn files(&self, port: u16) -> Vec<PathBuf> {
        let folders = [
            self.home.join(".qwen/ide"),
            self.tmp.join("gemini/ide"),
            self.tmp.join("qwen/ide"),
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
    pub(crate) fn qwen_token(&self, port: u16) -> String {
        token(&self.home.join(format!(".qwen/ide/{port}.lock")))
    }

    /// The token that Gemini CLI finds for a port.
    pub(crate) fn gemini_token(&self, port: u16) -> String {
        let files = self.files(port);
        let name = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("gemini-ide-server-")
        };
        token(files.iter().find(name).unwrap())
    }

    /// What the running companion of the project says of itself.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        let all = self.run(&["status", "--json"]).json();
        all["companions"][0].clone()
    }
}

fn token(path: &Path) -> String {
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    file["authToken"].as_str().unwrap().to_owned()
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Done {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    // A command that does not read its input has closed it, which is its own affair.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let (send, ended) = mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    let Ok(output) = ended.recv_timeout(DEADLINE) else {
        let _ = kill_process(pid, Signal::KILL);
        panic!("it does not end: {command:?}");
    };
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running companion. It is ended when dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
    log: tempfile::TempDir,
}

impl Served {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn ready_line(&self) -> String {
        fs::read_to_string(self.log.path().join("out")).unwrap()
    }

    /// Everything that it has printed.
    pub(crate) fn printed(&self) -> String {
        let read = |name| fs::read_to_string(self.log.path().join(name)).unwrap();
        read("out") + &read("err")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        until("the companion ends", || self.child.try_wait().unwrap())
    }

    /// Ends it as a crash would.
    pub(crate) fn crash(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- printed by the companion ---\n{}", self.printed());
        }
        // It may have ended already; then there is nobody to tell.
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::TERM);
            let end = Instant::now() + DEADLINE;
            while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
                if Instant::now() > end {
                    let _ = self.child.kill();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
