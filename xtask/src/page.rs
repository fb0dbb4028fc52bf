//! The page. It is written in TypeScript in `page/` and committed as built, in
//! `crates/web/assets`, so that the program is built with Rust alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::chore::{self, Chore};

/// Checks and tests the page, and builds it into the place it is served from.
pub(crate) fn build() -> Result<()> {
    let folder = chore::root().join("page");
    let npm = |arguments: &[&str]| Chore::new("npm").args(arguments).inside(&folder).run();
    // The scripts of packages are not ours to run.
    npm(&[
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ])?;
    npm(&["run", "check"])?;
    npm(&["test"])?;
    npm(&["run", "build"])
}

/// Builds the page and compares it with what stood there, byte for byte.
pub(crate) fn verify() -> Result<()> {
    let before = built()?;
    build()?;
    ensure!(
        before == built()?,
        "{} was not what page/ builds; it is now, so look at it and commit it",
        assets().display()
    );
    Ok(())
}

fn assets() -> PathBuf {
    chore::root().join("crates/web/assets")
}

/// The built files by name.
fn built() -> Result<BTreeMap<OsString, Vec<u8>>> {
    let folder = assets();
    let unread = || format!("cannot read {}", folder.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(unread)? {
        let entry = entry.with_context(unread)?;
        files.insert(
            entry.file_name(),
            fs::read(entry.path()).with_context(unread)?,
        );
    }
    Ok(files)
}
