//! One command of a chore: said before it runs, and an error if it fails.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

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

    /// Runs it and waits.
    pub(crate) fn run(mut self) -> Result<()> {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let line: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        let line = line.join(" ");
        eprintln!("xtask: {line}");
        let status = self
            .command
            .status()
            .with_context(|| format!("cannot run {line}"))?;
        ensure!(status.success(), "{line} failed ({status})");
        Ok(())
    }
}
