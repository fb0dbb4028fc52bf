//! Folders and files of this user, and the folder that a command is about.

use std::path::{Path, PathBuf};

use companion::registry::{Record, Registry};

use crate::args::GlobalArgs;
use crate::config::{Origin, Setting};
use crate::failure::{Failure, FailureKind};

/// The folder where this user's programs keep their state.
///
/// It depends on the home folder and not on the login session, so that every terminal of the
/// user, also one over SSH, finds the same companions.
pub(crate) fn state(global: &GlobalArgs) -> Result<PathBuf, Failure> {
    match &global.state_dir {
        Some(folder) => absolute(folder),
        None => base("XDG_STATE_HOME", ".local/state"),
    }
}

/// The same folder, and who says so.
pub(crate) fn state_setting(global: &GlobalArgs) -> Result<Setting<PathBuf>, Failure> {
    const VARIABLE: &str = "OUTRIGGER_STATE_DIR";
    let by_variable = std::env::var_os(VARIABLE).map(PathBuf::from);
    let origin = match &global.state_dir {
        None => Origin::Default,
        set if *set == by_variable => Origin::Variable(VARIABLE),
        Some(_) => Origin::Flag("--state-dir"),
    };
    Ok(Setting {
        value: state(global)?,
        origin,
    })
}

/// The person's configuration file, whether it exists or not.
pub(crate) fn config_file() -> Option<PathBuf> {
    match std::env::var_os("OUTRIGGER_CONFIG").filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => Some(
            base("XDG_CONFIG_HOME", ".config")
                .ok()?
                .join("outrigger")
                .join("config.toml"),
        ),
    }
}

/// All companions of this user.
pub(crate) fn registry(global: &GlobalArgs) -> Result<Registry, Failure> {
    let state = state(global)?;
    Registry::open(&state).map_err(|error| {
        Failure::other("cannot use the state folder", error)
            .hint("choose another one with --state-dir")
    })
}

/// The folder that a command is about, without symbolic links.
pub(crate) fn current(global: &GlobalArgs) -> Result<PathBuf, Failure> {
    if let Some(folder) = &global.folder {
        return existing(folder);
    }
    let here = std::env::current_dir();
    let here = here.map_err(|error| Failure::other("cannot tell the current folder", error))?;
    existing(&here)
}

/// The folders to serve: `dirs`, or the current one if there are none; without symbolic links, each
/// once.
pub(crate) fn roots(global: &GlobalArgs, dirs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut roots = Vec::new();
    for dir in dirs {
        let root = existing(dir)?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    if roots.is_empty() {
        roots.push(current(global)?);
    }
    Ok(roots)
}

/// A folder that the person named, without symbolic links.
fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let why = match absolute(folder)?.canonicalize() {
        Ok(found) if found.is_dir() => return Ok(found),
        Ok(_) => format!("{shown} is not a folder"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("there is no folder {shown}")
        }
        Err(error) => format!("cannot use the folder {shown}: {error}"),
    };
    Err(Failure::new(FailureKind::Start, why)
        .hint("name an existing folder, or none for the current one"))
}

/// The companion that serves the folder that a command is about.
pub(crate) fn companion(global: &GlobalArgs) -> Result<Record, Failure> {
    let folder = current(global)?;
    registry(global)?.serving(&folder).ok_or_else(|| {
        Failure::new(
            FailureKind::NoCompanion,
            format!("no companion serves {}", folder.display()),
        )
        .hint("start one with `outrigger` in that folder, or name another folder with --folder")
    })
}

/// `path` as people read it: from the current folder if it lies below it.
pub(crate) fn relative(path: &Path) -> &Path {
    let Ok(here) = std::env::current_dir() else {
        return path;
    };
    let below = path.strip_prefix(here).ok();
    below
        .filter(|below| !below.as_os_str().is_empty())
        .unwrap_or(path)
}

/// `path` from the current folder; symbolic links stay as they are.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::other(format!("cannot use the path {}", path.display()), error))
}

fn base(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    // The XDG rules say that a relative value counts as not set.
    let set = std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    set.or_else(|| {
        Some(
            std::env::home_dir()
                .filter(|home| home.is_absolute())?
                .join(below_home),
        )
    })
    .ok_or_else(|| {
        Failure::other("cannot tell your home folder", "HOME is not set")
            .hint("set HOME, or choose a folder with --state-dir")
    })
}
