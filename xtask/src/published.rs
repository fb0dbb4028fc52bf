//! The crates that others can use: that each can be packaged as it is, and what of its surface has
//! changed.
//!
//! The surface of a crate is the file `api.txt` beside its manifest, a line for each public item. It
//! is compared and not judged: whoever changes it sees the change in the review, and decides what it
//! means for the version. A tool that judges needs a published version to compare with, and there is
//! none yet.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::chore::{self, Chore, tell};

/// The crates, each after those that it needs.
const CRATES: [&str; 5] = ["text", "private", "workbench", "beacon", "daemon"];

/// The compiler whose description of a crate is understood. The description is not stable, and what
/// reads it is of one version.
const COMPILER: &str = "rustc 1.95.";

/// Fails if a crate cannot be packaged, or if its surface is not the one that is written down.
pub(crate) fn check() -> Result<()> {
    keep_the_others()?;
    package()?;
    let mut changed = Vec::new();
    for name in CRATES {
        let surface = surface(name)?;
        let file = file(name);
        let known = fs::read_to_string(&file).unwrap_or_default();
        if known != surface {
            tell(&format!("the surface of {name} has changed:"));
            differences(&known, &surface);
            changed.push(name);
        }
    }
    ensure!(
        changed.is_empty(),
        "the surface of {} is not the one in api.txt; if that is meant, run `cargo xtask api` and commit it",
        changed.join(", ")
    );
    Ok(())
}

/// Writes the surface of each crate down.
pub(crate) fn write_down() -> Result<()> {
    for name in CRATES {
        fs::write(file(name), surface(name)?)?;
    }
    Ok(())
}

fn file(name: &str) -> PathBuf {
    chore::root().join("crates").join(name).join("api.txt")
}

/// What is not meant for others says so, and cannot be published by mistake.
fn keep_the_others() -> Result<()> {
    for folder in fs::read_dir(chore::root().join("crates"))? {
        let folder = folder?;
        if CRATES.iter().any(|name| folder.file_name() == *name) {
            continue;
        }
        let manifest = folder.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("cannot read {}", manifest.display()))?;
        ensure!(
            text.lines().any(|line| line == "publish = false"),
            "{} has to say `publish = false`, or be one of the crates in {}",
            manifest.display(),
            file!(),
        );
    }
    Ok(())
}

/// Builds the packages as somebody who takes them from the registry would.
fn package() -> Result<()> {
    let mut chore = Chore::cargo(["package", "--quiet", "--allow-dirty"]);
    for name in CRATES {
        chore = chore.args(["-p", &format!("outrigger-{name}")]);
    }
    chore
        .arg("--target-dir")
        .arg(chore::target().join("published"))
        .run_beside_others()
}

/// The public items of a crate, a line each.
fn surface(name: &str) -> Result<String> {
    let compiler = Chore::new("rustc").arg("--version").output()?;
    let compiler = String::from_utf8_lossy(&compiler);
    if !compiler.starts_with(COMPILER) {
        bail!("the surface is compared with {COMPILER}x, and this is {compiler}");
    }
    // In a folder of its own: the variable would make the other builds begin anew.
    let target = chore::target().join("published");
    Chore::cargo(["rustdoc", "--quiet", "--lib", "--all-features"])
        .args(["-p", &format!("outrigger-{name}"), "--target-dir"])
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .set("RUSTC_BOOTSTRAP", "1")
        .run_beside_others()?;
    let json = target.join(format!("doc/outrigger_{name}.json"));
    let api = public_api::Builder::from_rustdoc_json(&json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| format!("cannot read {}", json.display()))?;
    let items: Vec<String> = api.items().map(ToString::to_string).collect();
    Ok(items.join("\n") + "\n")
}

/// Prints what is only in one of two lists.
fn differences(before: &str, after: &str) {
    for (sign, list, other) in [("-", before, after), ("+", after, before)] {
        let other: std::collections::HashSet<&str> = other.lines().collect();
        for line in list.lines().filter(|line| !other.contains(line)) {
            tell(&format!("{sign} {line}"));
        }
    }
}
