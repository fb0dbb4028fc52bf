//! One machine with the program on it: its processes, its files and its disk.

use std::fs::{self, File, FileTimes};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;
use tempfile::NamedTempFile;
use testkit::Machine;

use crate::disk::{self, Disk};
use crate::schedule::Files;

/// How long the program may take to be ready, to run a command or to end. A bound for waiting: what
/// takes longer has failed.
pub(crate) const PROMISE: Duration = Duration::from_secs(10);
/// How often something is looked at.
const GLANCE: Duration = Duration::from_millis(10);
const DAY: Duration = Duration::from_hours(24);

/// A machine of one schedule.
pub(crate) struct World {
    /// The companion that was started last, if it has not been collected.
    child: Option<Child>,
    /// What all companions have written to stderr.
    log: NamedTempFile,
    disk: Option<Disk>,
    /// The last field: everything else is gone before its folders are.
    machine: Machine,
}

/// A command that has ended, or not.
#[derive(Debug)]
pub(crate) struct Done {
    /// `None` if it was ended because it took too long, or by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What is written down of a companion, as far as it is needed here.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) port: u16,
    /// What the page presents.
    pub(crate) page: String,
}

/// What the command line of a companion that belongs to editors has.
const OF_EDITORS: &str = "__editor-service";

impl World {
    pub(crate) fn new(program: &Path) -> io::Result<World> {
        let machine = Machine::new(program);
        let disk = if disk::is_ours() {
            Some(Disk::mount(&[machine.home(), machine.temporary()])?)
        } else {
            None
        };
        Ok(World {
            child: None,
            log: NamedTempFile::new()?,
            disk,
            machine,
        })
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Faults of the disk, where they are possible.
    pub(crate) fn disk(&mut self) -> Option<&mut Disk> {
        self.disk.as_mut()
    }

    /// Everything that companions have complained about.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    fn state(&self) -> PathBuf {
        self.machine.home().join(".local/state/outrigger")
    }

    /// The folders in which agents look for discovery files.
    pub(crate) fn discovery_folders(&self) -> [PathBuf; 3] {
        let (home, temporary) = (self.machine.home(), self.machine.temporary());
        [
            home.join(".qwen/ide"),
            temporary.join("gemini/ide"),
            temporary.join("qwen/ide"),
        ]
    }

    /// Every folder that is there and in which the program keeps something of this kind.
    pub(crate) fn folders_of_state(&self) -> Vec<PathBuf> {
        vec![self.state()]
    }

    /// Files of this kind that exist. A folder stands for all that is in it.
    fn files(&self, kind: Files) -> Vec<PathBuf> {
        let companions = entries(&self.state().join("companions"));
        let inside = || companions.iter().flat_map(|folder| entries(folder));
        let named = |name: &'static str| inside().filter(move |it| it.ends_with(name));
        match kind {
            Files::Record => named("companion.json").collect(),
            Files::Locks => {
                let starting = self.state().join("starting.lock");
                named("lock").chain(Some(starting)).collect()
            }
            Files::Journal => inside()
                .filter(|it| it.extension().is_some_and(|it| it == "json"))
                .filter(|it| !it.ends_with("companion.json"))
                .collect(),
            Files::Discovery => self
                .discovery_folders()
                .iter()
                .flat_map(|it| entries(it))
                .collect(),
            Files::State => vec![self.state()],
        }
    }

    /// Removes files of this kind.
    pub(crate) fn remove(&self, kind: Files) {
        for file in self.files(kind) {
            let _ = fs::remove_file(&file);
            if file.is_dir() {
                let _ = fs::remove_dir_all(&file);
            }
        }
    }

    /// Gives files of this kind the time of so many days ago.
    pub(crate) fn age(&self, kind: Files, days: i64) {
        let by = DAY * u32::try_from(days.unsigned_abs()).unwrap_or_default();
        let now = SystemTime::now();
        let time = if days < 0 { now + by } else { now - by };
        let times = FileTimes::new().set_accessed(time).set_modified(time);
        for file in self.files(kind) {
            let _ = File::open(&file).and_then(|file| file.set_times(times));
        }
    }

    /// The record of the youngest companion that is written down and has not ended in good order.
    pub(crate) fn record(&self) -> Option<Record> {
        let records = self.files(Files::Record).into_iter();
        let records = records.filter_map(|path| {
            let record: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            if record["ending"] == true {
                return None;
            }
            let known = Record {
                port: record["port"].as_u64()?.try_into().ok()?,
                page: record["page"].as_str()?.to_owned(),
            };
            Some((record["started_at"].as_u64(), known))
        });
        Some(records.max_by_key(|(started, _)| *started)?.1)
    }

    /// The process of the companion, if it runs: the one that was started here, or that of an editor.
    pub(crate) fn companion(&mut self) -> Option<Pid> {
        if let Some(child) = &mut self.child {
            if matches!(child.try_wait(), Ok(None)) {
                return Some(Pid::from_child(child));
            }
            self.child = None;
        }
        self.companion_of_editors()
    }

    /// The process of a companion that belongs to editors, if one runs.
    pub(crate) fn companion_of_editors(&self) -> Option<Pid> {
        let mut processes = self.processes().into_iter();
        let found = processes.find(|(_, words)| words.contains(OF_EDITORS));
        found.map(|(pid, _)| pid)
    }

    /// Whether more than one companion runs.
    pub(crate) fn has_rivals(&self) -> bool {
        let is_companion = |words: &str| words.contains(OF_EDITORS) || words.contains(" serve ");
        let processes = self.processes().into_iter();
        processes.filter(|(_, words)| is_companion(words)).count() > 1
    }

    /// Starts the companion, unless it runs; what happened, for the log.
    pub(crate) fn start(&mut self) -> Result<&'static str, String> {
        if self.companion().is_some() {
            return Ok("it runs");
        }
        let failed = |error: io::Error| error.to_string();
        let stdout = NamedTempFile::new().map_err(failed)?;
        let log = File::options().append(true).open(self.log.path());
        let mut command = self.machine.command(&["serve", "--json"]);
        command.stdin(Stdio::null());
        command.stdout(stdout.reopen().map_err(failed)?);
        command.stderr(log.map_err(failed)?);
        let mut child = command.spawn().map_err(failed)?;
        let end = Instant::now() + PROMISE;
        loop {
            let said = fs::read_to_string(stdout.path()).unwrap_or_default();
            if said.ends_with('\n') {
                self.child = Some(child);
                return Ok("ready");
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("it ended before it was ready ({status})"));
            }
            if Instant::now() > end {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it was not ready in time".to_owned());
            }
            thread::sleep(GLANCE);
        }
    }

    /// Waits until the companion has ended.
    pub(crate) fn wait_for_end(&mut self) -> bool {
        wait_until(PROMISE, || self.companion().is_none())
    }

    /// Runs a command of the program to its end.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Done {
        let command = self.machine.command(arguments);
        run(command, input).unwrap_or_else(|error| Done {
            code: None,
            stdout: String::new(),
            stderr: error.to_string(),
        })
    }

    /// The processes of the program on this machine: those with its home.
    pub(crate) fn processes(&self) -> Vec<(Pid, String)> {
        let home = format!("HOME={}", self.machine.home().display());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut found = Vec::new();
        for process in processes {
            let number = process.file_name().to_string_lossy().parse::<i32>();
            let Some(pid) = number.ok().and_then(Pid::from_raw) else {
                continue;
            };
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            if environment
                .split(|byte| *byte == 0)
                .any(|it| it == home.as_bytes())
            {
                let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                found.push((pid, words));
            }
        }
        found
    }

    /// Discovery files that are there.
    pub(crate) fn discovery_files(&self) -> Vec<PathBuf> {
        self.files(Files::Discovery)
    }

    /// Locks that somebody holds.
    pub(crate) fn held_locks(&self) -> Vec<PathBuf> {
        let mut locks = self.files(Files::Locks);
        let is_held = |path: &PathBuf| {
            let file = File::open(path);
            file.is_ok_and(|file| {
                matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
            })
        };
        locks.retain(is_held);
        locks
    }
}

impl Drop for World {
    /// Nothing of a schedule outlives it, however it ended.
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = kill_process(pid, Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
    }
}

/// The resident memory of a process, in bytes.
pub(crate) fn memory(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// A process that cannot open files. Dropping it gives the process its descriptors back.
pub(crate) struct Starved(Pid);

impl Starved {
    pub(crate) fn new(pid: Pid) -> Option<Starved> {
        // What is open stays open.
        let none_left = Rlimit {
            current: Some(0),
            ..getrlimit(Resource::Nofile)
        };
        prlimit(Some(pid), Resource::Nofile, none_left).ok()?;
        Some(Starved(pid))
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        // The process has inherited our own limit. It may have ended meanwhile.
        let _ = prlimit(Some(self.0), Resource::Nofile, getrlimit(Resource::Nofile));
    }
}

/// A process that stands still. Dropping it lets the process go on.
pub(crate) struct Frozen(Pid);

impl Frozen {
    pub(crate) fn new(pid: Pid) -> Frozen {
        let _ = kill_process(pid, Signal::STOP);
        Frozen(pid)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

/// Waits for a condition; whether it came true in time.
pub(crate) fn wait_until(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        thread::sleep(GLANCE);
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

fn run(mut command: Command, input: &str) -> io::Result<Done> {
    use std::io::Write as _;

    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input may have gone already.
        let _ = stdin.write_all(input.as_bytes());
    }
    let read = |pipe: Option<Box<dyn io::Read + Send>>| {
        let text = Arc::<Mutex<String>>::default();
        let written = text.clone();
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            *written.lock().unwrap_or_else(PoisonError::into_inner) = text;
        });
        (reader, text)
    };
    let stdout = child
        .stdout
        .take()
        .map(|it| Box::new(it) as Box<dyn io::Read + Send>);
    let stderr = child
        .stderr
        .take()
        .map(|it| Box::new(it) as Box<dyn io::Read + Send>);
    let readers = [read(stdout), read(stderr)];
    // A command waits 20 s for a companion that stands still, which is longer than any fault lasts.
    let mut code = None;
    let ended = wait_until(PROMISE * 2, || match child.try_wait() {
        Ok(Some(status)) => {
            code = status.code();
            true
        }
        Ok(None) => false,
        Err(error) => error.kind() != ErrorKind::Interrupted,
    });
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
    }
    let [stdout, stderr] = readers.map(|(reader, text)| {
        let _ = reader.join();
        std::mem::take(&mut *text.lock().unwrap_or_else(PoisonError::into_inner))
    });
    Ok(Done {
        code,
        stdout,
        stderr,
    })
}
