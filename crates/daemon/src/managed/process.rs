//! A child process in its own process group, and the last lines of its output.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::address::Address;
use crate::token::Token;

/// The daemon prints this before its address.
const LISTENING: &str = "listening on ";
/// How many lines of output are kept to explain an exit.
const LAST_LINES: usize = 20;
/// Longer lines are split at this many bytes.
const LONGEST_LINE: u64 = 4096;

/// A process in a process group of its own. Dropping this kills the group. On Linux the process
/// also ends when this process is killed.
pub(super) struct Process {
    child: Child,
    /// The thread that started the process runs until this is dropped.
    _parent: mpsc::Sender<()>,
}

impl Process {
    /// Starts a process in a process group of its own. So signals of a terminal to our group do not
    /// reach it, and the processes that it starts can be killed with it.
    ///
    /// It is started by a thread that lives as long as it does: the kernel sends the parent-death
    /// signal when the *thread* that forked ends, and threads of a runtime come and go.
    pub(super) async fn start(mut command: Command) -> io::Result<Process> {
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(target_os = "linux")]
        end_with_the_parent(&mut command);
        command.kill_on_drop(true);
        let runtime = Handle::current();
        let (tell, started) = oneshot::channel();
        let (parent, dropped) = mpsc::channel::<()>();
        thread::Builder::new()
            .name("daemon".into())
            .spawn(move || {
                let _context = runtime.enter();
                // If the caller is gone, the child is dropped here, which kills it.
                let _ = tell.send(command.spawn());
                let _ = dropped.recv();
            })?;
        let child = started.await.map_err(io::Error::other)??;
        Ok(Process {
            child,
            _parent: parent,
        })
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Standard output and standard error; `None` after the first call.
    pub(super) fn pipes(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    pub(super) async fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Sends SIGTERM, and kills the group if the process has not ended after `grace`.
    pub(super) async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            // It may have ended by itself meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            if let Ok(status) = tokio::time::timeout(grace, self.child.wait()).await {
                return status.ok();
            }
        }
        #[cfg(not(unix))]
        let _ = grace;
        self.kill();
        self.wait().await
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }

    /// The process id until the process was waited for. After that the system may reuse the number.
    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.child.id()?).ok()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Has the kernel send SIGTERM to the process when the thread that starts it ends.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "there is no safe way to do something between the fork and the start of a program"
)]
fn end_with_the_parent(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // SAFETY: between fork and exec only async-signal-safe operations are allowed, because another
    // thread may have held a lock, for example of the allocator, at the fork. The closure captures
    // nothing and makes one system call (`prctl`). It does not allocate, also not for the error,
    // which is a plain error number, and it takes no lock.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
}

/// The last lines that a daemon printed, without its token.
#[derive(Clone, Debug)]
pub(super) struct LastOutput {
    lines: Arc<Mutex<VecDeque<String>>>,
    token: Token,
}

impl LastOutput {
    pub(super) fn new(token: Token) -> Self {
        Self {
            lines: Arc::default(),
            token,
        }
    }

    fn add(&self, line: &str) {
        let mut lines = crate::locked(&self.lines);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line.replace(self.token.expose(), "[hidden]"));
    }

    pub(super) fn text(&self) -> String {
        let lines = crate::locked(&self.lines);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        if lines.is_empty() {
            "it printed nothing".into()
        } else {
            lines.join("\n")
        }
    }
}

/// Reads the output of a daemon to its end, so that the daemon never blocks on a full pipe.
pub(super) async fn drain(
    pipe: impl AsyncRead + Unpin,
    words: LastOutput,
    mut found: Option<oneshot::Sender<Address>>,
) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut pipe)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        words.add(text);
        if let Some(address) = listening(text)
            && let Some(found) = found.take()
        {
            // The caller may have given up.
            let _ = found.send(address);
        }
    }
}

/// The address in the line that reports where the daemon listens.
pub(super) fn listening(line: &str) -> Option<Address> {
    let (_, rest) = line.split_once(LISTENING)?;
    rest.split_whitespace().next()?.parse().ok()
}
