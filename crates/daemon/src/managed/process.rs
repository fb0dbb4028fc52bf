//! A process that prints and has to end: what it said last, and how it is made to go.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::address::Address;
use crate::token::Token;

/// What the daemon prints before the address it listens on.
const LISTENING: &str = "listening on ";
/// How much of what it printed last is kept to explain its death.
const LAST_LINES: usize = 20;
/// Longer lines are cut, and taken in pieces.
const LONGEST_LINE: u64 = 4096;

/// A process with everything that it has started, in a group of their own. They end when this is
/// dropped; on Linux the process also ends when we are killed.
pub(super) struct Process {
    child: Child,
    /// The thread that started it waits until this is dropped.
    _parent: mpsc::Sender<()>,
}

impl Process {
    /// Starts a process. A group of its own has two uses: what a terminal sends to ours is not meant
    /// for it, and what it starts can be ended with it.
    ///
    /// It is started by a thread that lives as long as it does, because the system takes the end of
    /// that thread for the end of the parent; those of a runtime come and go.
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
                // Nobody waits for it any more: then it ends at once.
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

    /// What it prints, and what it complains about.
    pub(super) fn pipes(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    pub(super) async fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Asks it to end, and makes it after a while.
    pub(super) async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            // It may have ended by itself a moment ago.
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

    /// Its process id, as long as it has not been waited for: then the number may be somebody else's.
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

/// Has the system ask it to end when we cannot any more.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "there is no safe way to do something between the fork and the start of a program"
)]
fn end_with_the_parent(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // SAFETY: the closure makes one system call, and touches no memory but its own stack.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
}

/// What a daemon printed last.
#[derive(Clone, Debug)]
pub(super) struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    token: Token,
}

impl LastWords {
    pub(super) fn new(token: Token) -> Self {
        Self {
            lines: Arc::default(),
            token,
        }
    }

    fn add(&self, line: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line.replace(self.token.expose(), "[hidden]"));
    }

    pub(super) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        if lines.is_empty() {
            "it printed nothing".into()
        } else {
            lines.join("\n")
        }
    }
}

/// Reads what a daemon prints until it prints no more, so that it never has to wait for us.
pub(super) async fn drain(
    pipe: impl AsyncRead + Unpin,
    words: LastWords,
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
            // Nobody may be waiting any more.
            let _ = found.send(address);
        }
    }
}

/// The address in the line that says where the daemon listens.
pub(super) fn listening(line: &str) -> Option<Address> {
    let (_, rest) = line.split_once(LISTENING)?;
    rest.split_whitespace().next()?.parse().ok()
}
