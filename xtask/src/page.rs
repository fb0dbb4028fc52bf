//! The page. It is written in TypeScript in `page/` and committed as built, in
//! `crates/web/assets`, so that the program is built with Rust alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::chore::{self, Chore};

/// Checks and tests the page, and builds it into the place it is served from.
pub(crate) fn build() -> Result<()> {
    check()?;
    npm(["run", "build"]).run()
}

/// Checks and tests the page, builds it elsewhere, and compares it with what stands there, byte for
/// byte. What stands there is left alone, because cargo may be reading it.
pub(crate) fn verify() -> Result<()> {
    check()?;
    let folder = tempfile::tempdir()?;
    npm(["run", "build", "--", "--emptyOutDir", "--outDir"])
        .arg(folder.path())
        .run_beside_others()?;
    ensure!(
        files(folder.path())? == files(&assets())?,
        "{} is not what page/ builds; run `cargo xtask page`, look at it and commit it",
        assets().display()
    );
    Ok(())
}

fn check() -> Result<()> {
    // The scripts of packages are not ours to run.
    npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .arg("--loglevel=error")
        .run_beside_others()?;
    npm(["run", "check"]).run_beside_others()?;
    npm(["test"]).run_beside_others()
}

fn npm<const N: usize>(arguments: [&str; N]) -> Chore {
    let folder = chore::root().join("page");
    Chore::new("npm").args(arguments).inside(&folder)
}

fn assets() -> PathBuf {
    chore::root().join("crates/web/assets")
}

/// The files of a folder by name.
fn files(folder: &Path) -> Result<BTreeMap<OsString, Vec<u8>>> {
    let unread = || format!("cannot read {}", folder.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(unread)? {
        let entry = entry.with_context(unread)?;
        files.insert(
            entry.file_name(),
            fs::read(entry.path()).with_context(unread)?,
        );
    }
    Ok(files)
}
