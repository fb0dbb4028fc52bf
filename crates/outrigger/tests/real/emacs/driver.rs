//! A person with Emacs in a terminal, and the package on its path.

use std::cell::Cell;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use testkit::{Household, PATIENCE, Terminal, run_to_end};

/// Control and X, and what a terminal sends for Meta and X.
pub(crate) const CTRL_X: &str = "\x18";
const META_X: &str = "\x1bx";
/// Control and G, which does nothing but say so.
const QUIT: &str = "\x07";
pub(crate) const ACCEPT: &str = "\x03\x03";
pub(crate) const REJECT: &str = "\x03\x0b";

/// A running Emacs. Dropping it ends it.
pub(crate) struct Emacs {
    pub(crate) terminal: Terminal,
    environment: Vec<(String, String)>,
}

impl Emacs {
    /// Starts Emacs with the package and waits until the companion runs.
    #[track_caller]
    pub(crate) fn start(house: &Household, files: &[&str]) -> Self {
        Self::start_with(house, files, house.environment())
    }

    /// The same, with this environment.
    #[track_caller]
    pub(crate) fn start_with(
        house: &Household,
        files: &[&str],
        environment: Vec<(String, String)>,
    ) -> Self {
        let this = Self::launch(house, &command_line(house, files), environment);
        this.wait_for_ready();
        this
    }

    /// Runs a command in the workspace that is, or brings, an Emacs.
    pub(crate) fn launch(
        house: &Household,
        command: &[String],
        environment: Vec<(String, String)>,
    ) -> Self {
        let command: Vec<_> = command.iter().map(String::as_str).collect();
        Self {
            terminal: Terminal::edit(&command, &house.workspace(), &environment),
            environment,
        }
    }

    #[track_caller]
    pub(crate) fn wait_for_ready(&self) {
        // What follows the name says that it was drawn to its end.
        self.wait_until("the companion in the mode line", |screen| {
            ["Outr)", "Outr ElDoc", "Outr1", "Outr2"]
                .iter()
                .any(|ready| screen.contains(ready))
        });
    }

    /// Types keys, control characters included.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.terminal.type_keys(keys);
    }

    /// Waits until what is typed is taken for keys. In a terminal that has just come, Emacs first takes it
    /// for answers to what it has asked the terminal, and loses it.
    #[track_caller]
    pub(crate) fn wait_until_it_listens(&mut self) {
        let listens = |terminal: &Terminal| terminal.screen().contains("Quit");
        for _ in 0..PATIENCE.as_secs() * 5 {
            self.keys(QUIT);
            std::thread::sleep(Duration::from_millis(200));
            if listens(&self.terminal) {
                break;
            }
        }
        assert!(listens(&self.terminal), "Emacs does not listen: {self}");
    }

    /// Runs a command by its name.
    pub(crate) fn command(&mut self, name: &str) {
        self.keys(&format!("{META_X}{name}\r"));
    }

    #[track_caller]
    pub(crate) fn visit(&mut self, name: &str) {
        self.keys(&format!("{CTRL_X}\x06{name}\r"));
        self.wait_until("the file", |screen| screen.contains(name));
    }

    /// The text that a Lisp expression gives.
    #[track_caller]
    pub(crate) fn eval(&self, expression: &str) -> String {
        let mut command = Command::new("emacsclient");
        command.args(["--eval", expression]);
        command.env_clear().envs(self.environment.iter().cloned());
        let output = run_to_end(&mut command, "");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{expression}: {output:?}\n{self}");
        let said = said.trim_end();
        let text = said.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        assert!(text.is_some(), "{expression} is no text but {said}");
        unquote(text.unwrap_or_default())
    }

    /// Waits until the screen satisfies `condition`.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        self.terminal.wait_until(what, condition);
    }

    /// Waits until no diff is on the screen. It may seem so for a moment while Emacs draws, so one
    /// glance is not enough.
    #[track_caller]
    pub(crate) fn wait_for_no_diff(&self) {
        let glances = Cell::new(0);
        self.wait_until("the end of the diff", |screen| {
            let gone = !screen.contains("*proposal") && !screen.contains("*proposed");
            glances.set(if gone { glances.get() + 1 } else { 0 });
            glances.get() == 5
        });
    }
}

impl Display for Emacs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.terminal.fmt(f)
    }
}

/// What stands in a Lisp string as `emacsclient` prints it.
fn unquote(literal: &str) -> String {
    let mut text = String::new();
    let mut characters = literal.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            other => text.extend(other),
        }
    }
    text
}

/// What starts Emacs with the package and `files`.
pub(crate) fn command_line(house: &Household, files: &[&str]) -> Vec<String> {
    // After M-x Emacs looks for a shorter name to suggest, and may lose keys meanwhile. In a new home
    // it would compile its own library beside the test.
    let setup = format!(
        "(setq outrigger-program \"{}\" inhibit-startup-screen t create-lockfiles nil \
         suggest-key-bindings nil extended-command-suggest-shorter nil \
         native-comp-deferred-compilation nil native-comp-jit-compilation nil)",
        house.program().display()
    );
    let mut words = vec![
        "emacs".to_owned(),
        "-nw".to_owned(),
        "-Q".to_owned(),
        format!("--directory={}", package().display()),
        format!("--eval={setup}"),
        "--load=outrigger".to_owned(),
        "--funcall=outrigger-mode".to_owned(),
    ];
    words.extend(files.iter().map(|file| (*file).to_owned()));
    words
}

/// The package as it is in this repository.
pub(crate) fn package() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/emacs");
    package.canonicalize().unwrap()
}
