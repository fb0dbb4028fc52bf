//! Checks what comes in with dependencies against the policy in `deny.toml`: licences, bans, sources.
//!
//! The file and its meaning are those of cargo-deny, which anybody may run on it as well. It is not
//! run here because it comes only as source, and building it takes longer than building Outrigger.
//! A setting that is not known here is an error, so that no part of the policy is left out in silence.

mod policy;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::chore::{self, Chore, tell};
use policy::{Level, Policy};

/// What `cargo metadata` tells.
#[derive(Deserialize)]
struct Metadata {
    /// All packages that are needed for any platform, our own included.
    packages: Vec<Package>,
}

#[derive(Clone, Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Where it comes from; nothing for a folder.
    source: Option<String>,
    /// The registries that it may be published to; nothing means any.
    publish: Option<Vec<String>>,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, Deserialize)]
struct Dependency {
    name: String,
    /// The versions that it may have.
    req: String,
    /// Nothing for one of the program itself.
    kind: Option<String>,
    source: Option<String>,
}

/// What is wrong with the dependencies, by how much that matters.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// Fails if anything comes in that the policy forbids.
pub(crate) fn check() -> Result<()> {
    let text = std::fs::read_to_string(chore::root().join("deny.toml"))?;
    let policy = Policy::parse(&text).context("deny.toml")?;
    let arguments = [
        "metadata",
        "--format-version=1",
        "--all-features",
        "--locked",
    ];
    let metadata = Chore::cargo(arguments).output()?;
    let metadata: Metadata = serde_json::from_slice(&metadata)?;
    let findings = look(&policy, &metadata.packages);
    for warning in &findings.warnings {
        tell(&format!("warning: {warning}"));
    }
    if !findings.errors.is_empty() {
        let errors = findings.errors.join("\n");
        bail!("the dependencies do not fit deny.toml\n{errors}");
    }
    tell(&format!(
        "{} packages fit deny.toml",
        metadata.packages.len()
    ));
    Ok(())
}

fn look(policy: &Policy, packages: &[Package]) -> Findings {
    let mut findings = Findings::default();
    let mut versions = BTreeMap::<&str, Vec<&str>>::new();
    for package in packages {
        versions
            .entry(&package.name)
            .or_default()
            .push(&package.version);
        let mut found = |level, what: String| findings.add(level, package, &what);
        if let Some(why) = licence(policy, package) {
            found(Level::Deny, why);
        }
        if policy.bans(&package.name) {
            found(Level::Deny, "is banned".into());
        }
        for dependency in wildcards(policy, package) {
            found(
                policy.bans.wildcards,
                format!("takes any version of {dependency}"),
            );
        }
        if let Some((level, source)) = policy.stranger(package.source.as_deref()) {
            found(level, format!("comes from {source}"));
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    if !versions.is_empty() {
        let several: Vec<_> = versions
            .iter()
            .map(|(name, versions)| format!("{name} ({})", versions.join(", ")))
            .collect();
        let what = format!("in several versions: {}", several.join(", "));
        findings.sort(policy.bans.multiple_versions, what);
    }
    findings
}

impl Findings {
    fn add(&mut self, level: Level, package: &Package, what: &str) {
        let Package { name, version, .. } = package;
        self.sort(level, format!("{name} {version} {what}"));
    }

    fn sort(&mut self, level: Level, what: String) {
        match level {
            Level::Deny => self.errors.push(what),
            Level::Warn => self.warnings.push(what),
            Level::Allow => {}
        }
    }
}

impl Package {
    /// Whether it is published nowhere.
    fn is_private(&self) -> bool {
        self.publish.as_ref().is_some_and(Vec::is_empty)
    }
}

/// What is wrong with the licence of a package.
fn licence(policy: &Policy, package: &Package) -> Option<String> {
    if package.is_private() && policy.licenses.private.ignore {
        return None;
    }
    let Some(text) = &package.license else {
        return Some("names no licence".into());
    };
    let expression = match spdx::Expression::parse_mode(text, spdx::ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("has a licence that cannot be read: {error}")),
    };
    let fits = expression.evaluate(|wanted| policy.allows(&package.name, wanted));
    (!fits).then(|| format!("has the licence {text}"))
}

/// The dependencies that a package takes in any version. For a folder or a git repository that is no
/// promise, and is let pass where nobody who uses the package is affected.
fn wildcards<'a>(policy: &Policy, package: &'a Package) -> Vec<&'a str> {
    let is_git = |source: &Option<String>| {
        source
            .as_ref()
            .is_some_and(|source| source.starts_with("git+"))
    };
    if is_git(&package.source) {
        return Vec::new();
    }
    let passes = |dependency: &Dependency| {
        policy.bans.allow_wildcard_paths
            && (dependency.source.is_none() || is_git(&dependency.source))
            && (package.is_private() || dependency.kind.as_deref() == Some("dev"))
    };
    let any = package.dependencies.iter().filter(|it| it.req == "*");
    any.filter(|dependency| !passes(dependency))
        .map(|dependency| dependency.name.as_str())
        .collect()
}

#[cfg(test)]
mod tests;
