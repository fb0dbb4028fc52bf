//! A real pty with one program in it, and the person in front of it.
//!
//! The program is the leader of its own session, so everything it starts can be found and ended
//! without touching anything else on the machine.

use std::fmt::{self, Display, Formatter};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::{PATIENCE, wait_for};

const ROWS: NonZero<u16> = NonZero::new(50).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(140).unwrap();

/// The agents take text that is followed at once by Enter for a paste.
const AFTER_TYPING: Duration = Duration::from_millis(800);

/// How fast the person types; slower than a paste.
const BETWEEN_KEYS: Duration = Duration::from_millis(12);

/// How long a program may take to leave after it was asked to.
const LEAVING: Duration = Duration::from_secs(10);

/// How long the last words of a program may take to the screen.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A key that is not a character.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Control and C together.
    CtrlC,
}

/// A terminal with a program in it. Dropping it ends the program and all it started.
pub struct Terminal {
    /// Keeps the pty open, too.
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// Whether the program leaves on Ctrl+C; editors do not.
    leaves: bool,
    /// What the program has drawn so far.
    screen: Arc<Mutex<vt100::Parser>>,
    /// Draws it, until nobody is left who could.
    painter: thread::JoinHandle<()>,
}

impl Terminal {
    /// Starts `command` in `folder` with exactly this environment.
    pub fn start(command: &[&str], folder: &Path, environment: &[(String, String)]) -> Self {
        let size = PtySize {
            rows: ROWS.get(),
            cols: COLUMNS.get(),
            ..PtySize::default()
        };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut builder = CommandBuilder::new(command[0]);
        builder.args(&command[1..]);
        builder.cwd(folder);
        builder.env_clear();
        for (name, value) in environment {
            builder.env(name, value);
        }
        let child = pty.slave.spawn_command(builder).unwrap();
        drop(pty.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)));
        let mut output = pty.master.try_clone_reader().unwrap();
        let drawn = screen.clone();
        let painter = thread::spawn(move || {
            let mut buffer = [0; 8192];
            // The read fails, rather than ends, when the last program has left the pty.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                drawn.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self {
            keyboard: pty.master.take_writer().unwrap(),
            master: pty.master,
            child,
            leaves: true,
            screen,
            painter,
        }
    }

    /// Starts an editor: the same, but it does not leave on Ctrl+C, so dropping the terminal ends it
    /// without asking.
    pub fn edit(command: &[&str], folder: &Path, environment: &[(String, String)]) -> Self {
        let mut this = Self::start(command, folder, environment);
        this.leaves = false;
        this
    }

    /// The process id of the program.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Ends the program without any warning, as a crash would. What it started is left alone until
    /// the terminal is dropped.
    pub fn kill(&mut self) {
        let pid = Pid::from_raw(self.pid().try_into().unwrap()).unwrap();
        let _ = kill_process(pid, Signal::KILL);
        let _ = self.child.wait();
    }

    /// Waits until the program has left by itself, and what it has said last is on the screen.
    #[track_caller]
    pub fn ended(&mut self) {
        let (child, screen) = (&mut self.child, &self.screen);
        wait_for(
            "the end of the program",
            || child.try_wait().unwrap(),
            || screen.lock().unwrap().screen().contents(),
        );
        // What it has started may stay and keep the terminal open.
        let end = Instant::now() + LAST_WORDS;
        while !self.painter.is_finished() && Instant::now() < end {
            thread::sleep(BETWEEN_KEYS);
        }
    }

    /// Gives the window another size, in rows and columns.
    pub fn resize(&self, rows: NonZero<u16>, columns: NonZero<u16>) {
        let size = PtySize {
            rows: rows.get(),
            cols: columns.get(),
            ..PtySize::default()
        };
        self.master.resize(size).unwrap();
        let mut screen = self.screen.lock().unwrap();
        screen.screen_mut().set_size(rows, columns);
    }

    /// What is drawn now, with its colours.
    pub fn look(&self) -> vt100::Screen {
        self.screen.lock().unwrap().screen().clone()
    }

    /// What the person sees.
    pub fn screen(&self) -> String {
        let screen = self.screen.lock().unwrap().screen().contents();
        screen.trim_end().to_owned()
    }

    /// Types `text` and, once the program shows it, presses Enter.
    #[track_caller]
    pub fn say(&mut self, text: &str) {
        for character in text.chars() {
            self.send(character.to_string().as_bytes());
            thread::sleep(BETWEEN_KEYS);
        }
        self.wait_until("the typed text on the screen", |screen| {
            screen.contains(text)
        });
        thread::sleep(AFTER_TYPING);
        self.press(Key::Enter);
    }

    /// Types `keys` as they are, control characters included, without looking at the screen.
    pub fn type_keys(&mut self, keys: &str) {
        self.send(keys.as_bytes());
    }

    /// Presses one key.
    pub fn press(&mut self, key: Key) {
        self.send(match key {
            Key::Enter => b"\r",
            Key::Escape => b"\x1b",
            Key::CtrlC => b"\x03",
        });
    }

    /// Answers a numbered question.
    pub fn choose(&mut self, number: u8) {
        self.send(number.to_string().as_bytes());
    }

    /// Waits until the screen satisfies `condition`.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        wait_for(
            what,
            || condition(&self.screen()).then_some(()),
            || self.to_string(),
        );
    }

    /// Leaves the program as a person does, with Ctrl+C until it is gone.
    ///
    /// # Panics
    /// When it does not leave.
    #[track_caller]
    pub fn quit(mut self) {
        assert!(
            self.leave(PATIENCE),
            "the program does not leave on Ctrl+C\n{self}"
        );
    }

    /// The first Ctrl+C may only cancel what the program is doing, and one more asks whether the
    /// person means it; that question is open for about a second.
    fn leave(&mut self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            self.press(Key::CtrlC);
            for _ in 0..10 {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return true;
                }
                thread::sleep(Duration::from_millis(40));
            }
        }
        false
    }

    /// A program that has gone is noticed elsewhere; the person may type at any time.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.keyboard.write_all(bytes);
        let _ = self.keyboard.flush();
    }
}

impl Display for Terminal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "--- screen ---\n{}\n--- end of screen ---",
            self.screen()
        )
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let leader = self.child.process_id();
        let runs = matches!(self.child.try_wait(), Ok(None));
        if runs && self.leaves && !thread::panicking() {
            self.leave(LEAVING);
        }
        // Whatever is left, a program that re-started itself for instance, is in the same session.
        for pid in leader.map(session_of).unwrap_or_default() {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The living processes of the session that `leader` opened.
fn session_of(leader: u32) -> Vec<Pid> {
    let in_session = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything; the fields after it are plain.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        (fields.get(3) == Some(&leader.to_string().as_str())).then(|| Pid::from_raw(pid))?
    };
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| in_session(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outlives_its_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        // A background job of a script is deaf to Ctrl+C, so only the sweep can end it.
        let script = "sleep 300 & echo \"child=$!.\"; wait";
        let terminal = Terminal::start(&["sh", "-c", script], folder.path(), &[path]);
        terminal.wait_until("the child's id", |screen| screen.contains('.'));
        let screen = terminal.screen();
        let child = screen.split(['=', '.']).nth(1).unwrap();
        let alive = format!("/proc/{child}");
        assert!(Path::new(&alive).exists());
        drop(terminal);
        wait_for(
            "the end of the child",
            || (!Path::new(&alive).exists()).then_some(()),
            || alive.clone(),
        );
    }
}
