//! The companion as a process: started in a household of its own, watched through `/proc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long a start or an end may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often something that should appear is looked for: often enough not to blur a start of a
/// few milliseconds, seldom enough not to take the processor from it.
const GLANCE: Duration = Duration::from_micros(100);

/// A home, a temporary folder and a workspace that nobody else uses.
pub(crate) struct Household(TempDir);

impl Household {
    pub(crate) fn new() -> Household {
        let household = Household(tempfile::tempdir().unwrap());
        for folder in [household.home(), household.tmp(), household.workspace()] {
            fs::create_dir(folder).unwrap();
        }
        household
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.0.path().join("tmp")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.0.path().join("workspace")
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.workspace().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A command that knows nothing of the surroundings of the benchmark.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// What the companion wrote down for the person's own commands.
    fn record(&self) -> Option<Value> {
        let companions = self.home().join(".local/state/outrigger/companions");
        let slot = fs::read_dir(companions).ok()?.flatten().next()?;
        let text = fs::read(slot.path().join("companion.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// A process that is asked to leave when it is dropped, and awaited.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn spawn(mut command: Command) -> Running {
        let child = command.spawn();
        Running(child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Ok(Some(_)) = self.0.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A companion that is ready.
pub(crate) struct Companion {
    pub(crate) port: u16,
    /// What the person's commands present.
    pub(crate) secret: String,
    /// What an agent presents.
    pub(crate) token: String,
    /// What an agent of another kind presents.
    pub(crate) other_token: String,
    /// Ended before the household goes.
    running: Running,
    pub(crate) household: Household,
}

impl Companion {
    /// Starts a companion with these variables and waits until it is ready.
    pub(crate) fn start(program: &Path, variables: &[(&str, &str)]) -> Companion {
        let household = Household::new();
        let mut command = household.command(program);
        command.envs(variables.iter().copied());
        let running = Running::spawn(command);
        Starting { running, household }.ready()
    }

    /// Starts a program that speaks on its pipes, and hands them out.
    pub(crate) fn start_piped(
        program: &Path,
        arguments: &[&str],
    ) -> (Starting, ChildStdin, ChildStdout) {
        let household = Household::new();
        let mut command = household.command(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::spawn(command);
        let pipes = (running.0.stdin.take(), running.0.stdout.take());
        let starting = Starting { running, household };
        (starting, pipes.0.unwrap(), pipes.1.unwrap())
    }

    /// Resident memory in kB: now, and at its highest.
    pub(crate) fn memory(&self) -> (u64, u64) {
        memory_of(self.running.0.id())
    }

    /// Processor time used so far by all threads, also those that have ended.
    pub(crate) fn cpu(&self) -> Duration {
        cpu(&self.proc("stat"))
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.running.0.id()))
    }
}

/// A companion that was started and may not be ready yet.
pub(crate) struct Starting {
    running: Running,
    household: Household,
}

impl Starting {
    pub(crate) fn workspace(&self) -> PathBuf {
        self.household.workspace()
    }

    /// Waits until it is ready.
    pub(crate) fn ready(self) -> Companion {
        let Starting { running, household } = self;
        let record = wait_for("the companion's record", || household.record());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let tokens = record["tokens"].as_array().unwrap();
        let token_of = |agent: &str| {
            let token = tokens.iter().find(|token| token[0] == agent).unwrap();
            text(&token[1])
        };
        Companion {
            port: u16::try_from(record["port"].as_u64().unwrap()).unwrap(),
            secret: text(&record["secret"]),
            token: token_of("qwen"),
            other_token: token_of("gemini"),
            running,
            household,
        }
    }
}

/// Resident memory of a process in kB: now, and at its highest.
pub(crate) fn memory_of(pid: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
        kilobytes.and_then(|kb| kb.parse().ok()).unwrap()
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Processor time used so far by the benchmark itself.
pub(crate) fn own_cpu() -> Duration {
    cpu(Path::new("/proc/self/stat"))
}

fn cpu(stat: &Path) -> Duration {
    let stat = fs::read_to_string(stat).unwrap();
    // The name in parentheses may contain anything; what follows is numbers.
    let (_, numbers) = stat.rsplit_once(')').unwrap();
    let spent = numbers.split_whitespace().skip(11).take(2);
    let ticks: u64 = spent.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

/// Looks until there is something to see.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "{what} did not appear");
        thread::sleep(GLANCE);
    }
}

/// Kilobytes as megabytes, for people.
pub(crate) fn megabytes(kilobytes: u64) -> String {
    format!("{}.{} MB", kilobytes / 1024, kilobytes % 1024 * 10 / 1024)
}
