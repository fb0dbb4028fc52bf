//! One command of a chore: said before it runs, and an error if it fails.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Whether a program stands in one of the folders of `PATH`.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Tells the person what happens, in one piece, because several chores may tell at once.
pub(crate) fn tell(what: &str) {
    eprintln!("xtask: {what}");
}

/// A command to run in the workspace.
pub(crate) struct Chore {
    command: Command,
}

impl Chore {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Chore {
        let mut command = Command::new(program);
        command.current_dir(root());
        Chore { command }
    }

    pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Chore {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        Chore::new(cargo).args(arguments)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Chore {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Chore {
        self.command.args(arguments);
        self
    }

    pub(crate) fn set(mut self, variable: &str, value: impl AsRef<OsStr>) -> Chore {
        self.command.env(variable, value);
        self
    }

    pub(crate) fn inside(mut self, folder: &Path) -> Chore {
        self.command.current_dir(folder);
        self
    }

    /// The command as a person would type it, with the program's name for its path.
    pub(crate) fn line(&self) -> String {
        let program = Path::new(self.command.get_program());
        let name = program.file_name().unwrap_or(program.as_os_str());
        let words = std::iter::once(name).chain(self.command.get_args());
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        words.join(" ")
    }

    /// Runs it and waits.
    pub(crate) fn run(mut self) -> Result<()> {
        let line = self.line();
        tell(&line);
        let status = self.command.status().with_context(|| cannot_run(&line))?;
        ensure!(status.success(), "{line} failed ({status})");
        Ok(())
    }

    /// Runs it beside others and waits. What it says is shown only if it fails.
    pub(crate) fn run_beside_others(mut self) -> Result<()> {
        let line = self.line();
        tell(&line);
        let began = Instant::now();
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.with_context(|| cannot_run(&line))?;
        let said = [output.stdout, output.stderr].concat();
        let (said, status) = (String::from_utf8_lossy(&said), output.status);
        ensure!(status.success(), "{line} failed ({status})\n{said}");
        tell(&format!(
            "done after {} s: {line}",
            began.elapsed().as_secs()
        ));
        Ok(())
    }

    /// Runs it and hands out what it writes to its standard output; the rest is shown.
    pub(crate) fn output(mut self) -> Result<Vec<u8>> {
        let line = self.line();
        tell(&line);
        let output = self.command.stderr(Stdio::inherit()).output();
        let output = output.with_context(|| cannot_run(&line))?;
        ensure!(output.status.success(), "{line} failed ({})", output.status);
        Ok(output.stdout)
    }

    /// The command itself.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

fn cannot_run(line: &str) -> String {
    format!("cannot run {line}")
}
