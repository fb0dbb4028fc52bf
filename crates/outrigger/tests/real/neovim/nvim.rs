//! A person with Neovim in a terminal, and the plugin installed as a package.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use testkit::{Household, Terminal, run_to_end, wait_for};

/// The plugin as it is in this repository.
pub(crate) const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/nvim");

/// A running Neovim. Dropping it ends it.
pub(crate) struct Neovim {
    pub(crate) terminal: Terminal,
    /// Which of the two it is.
    pub(crate) which: usize,
    program: PathBuf,
    socket: PathBuf,
    home: PathBuf,
}

impl Neovim {
    /// Starts Neovim in the workspace and waits until its companion is ready.
    #[track_caller]
    pub(crate) fn start(house: &Household, which: usize, arguments: &[&str]) -> Self {
        let this = Self::start_bare(house, which, arguments, house.environment());
        this.wait_for_ready();
        this
    }

    /// Starts Neovim with this environment, in which the program is found as well.
    pub(crate) fn start_bare(
        house: &Household,
        which: usize,
        arguments: &[&str],
        environment: Vec<(String, String)>,
    ) -> Self {
        let environment = house.with_program(environment);
        Self::launch(house, which, arguments, |command| {
            Terminal::edit(command, &house.workspace(), &environment)
        })
    }

    /// Starts Neovim as a job of a shell, which can suspend it.
    pub(crate) fn start_in_a_shell(house: &Household, which: usize, arguments: &[&str]) -> Self {
        let environment = house.with_program(house.environment());
        Self::launch(house, which, arguments, |command| {
            let shell = ["bash", "--norc", "-i"];
            let mut terminal = Terminal::edit(&shell, &house.workspace(), &environment);
            terminal.wait_until("a prompt", |screen| screen.contains("bash"));
            terminal.type_keys(&format!("{}\r", command.join(" ")));
            terminal
        })
    }

    fn launch(
        house: &Household,
        which: usize,
        arguments: &[&str],
        start: impl FnOnce(&[&str]) -> Terminal,
    ) -> Self {
        // What makes the workspace a project.
        fs::create_dir_all(house.path(".hg")).unwrap();
        let packages = house.home().join(".local/share/nvim/site/pack/test/start");
        fs::create_dir_all(&packages).unwrap();
        if !packages.join("outrigger").exists() {
            symlink(PLUGIN, packages.join("outrigger")).unwrap();
        }
        let sockets = (1..).map(|number| house.temporary().join(format!("nvim{number}")));
        let socket = sockets.into_iter().find(|socket| !socket.exists()).unwrap();
        let program = house.clients().neovims()[which].clone();
        let mut command = vec![program.to_str().unwrap(), "-n", "-i", "NONE"];
        command.extend(["--listen", socket.to_str().unwrap()]);
        command.extend(arguments);
        let this = Self {
            terminal: start(&command),
            which,
            program: program.clone(),
            socket: socket.clone(),
            home: house.home(),
        };
        this.wait_until("Neovim to listen", |it| {
            UnixStream::connect(&it.socket).is_ok()
        });
        this
    }

    /// Waits until the companion has said that it is ready, and has told its status.
    #[track_caller]
    pub(crate) fn wait_for_ready(&self) {
        self.wait_for(r#"luaeval('require("outrigger").status() ~= nil')"#, "true");
    }

    /// Types keys, control characters included.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.terminal.type_keys(keys);
    }

    /// Types a command and waits until it has been run.
    #[track_caller]
    pub(crate) fn command(&mut self, command: &str) {
        let before: u32 = self.eval("get(g:, 'test_commands', 0)").parse().unwrap();
        self.keys(&format!(
            ":{command}\r:let g:test_commands = {}\r",
            before + 1
        ));
        self.wait_for("get(g:, 'test_commands', 0)", &(before + 1).to_string());
    }

    /// The value of a Vim expression.
    #[track_caller]
    pub(crate) fn eval(&self, expression: &str) -> String {
        let mut command = Command::new(&self.program);
        command.arg("--server").arg(&self.socket);
        command.args(["--remote-expr", expression]);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin");
        let output = run_to_end(&mut command, "");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap().replace("\r\n", "\n");
        assert!(output.status.success(), "{expression}: {said}\n{self}");
        said.trim_end_matches('\n').to_owned()
    }

    /// The text of the buffer in front of the person.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        self.eval(r#"join(getline(1, '$'), "\n")"#)
    }

    /// Waits until an expression has a value.
    #[track_caller]
    pub(crate) fn wait_for(&self, expression: &str, value: &str) {
        let mut last = String::new();
        wait_for(
            &format!("{expression} to be {value:?}"),
            || {
                last = self.eval(expression);
                (last == value).then_some(())
            },
            || self.to_string(),
        );
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        wait_for(what, || condition(self).then_some(()), || self.to_string());
    }

    /// Waits until the person has the diff for a file in front of them, on its right side.
    #[track_caller]
    pub(crate) fn wait_for_review(&self, name: &str) {
        let in_front = format!("/proposed/{name}");
        self.wait_until(&format!("the diff of {name}"), |it| {
            it.eval("bufname('%')").ends_with(&in_front)
        });
        assert_eq!(self.eval("&diff"), "1");
    }

    /// Waits until the person is back in a file, in the only tab.
    #[track_caller]
    pub(crate) fn wait_until_back_in(&self, name: &str) {
        self.wait_for("fnamemodify(bufname('%'), ':t')", name);
        self.wait_for("tabpagenr('$')", "1");
    }

    /// Everything that Neovim has said so far.
    #[track_caller]
    pub(crate) fn messages(&self) -> String {
        self.eval("execute('messages')")
    }
}

impl Display for Neovim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.program.display();
        write!(f, "{name}\n{}", self.terminal)
    }
}

impl Drop for Neovim {
    fn drop(&mut self) {
        // A question that it does not answer may be due to what is on its screen.
        if std::thread::panicking() {
            eprintln!("{self}");
        }
    }
}
