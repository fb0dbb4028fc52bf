//! The policy as it is written in `deny.toml`.

use anyhow::{Result, anyhow};
use serde::Deserialize;
use spdx::{LicenseReq, Licensee};

/// The index of crates.io, in both forms in which cargo names it.
const CRATES_IO: [&str; 2] = [
    "registry+https://github.com/rust-lang/crates.io-index",
    "sparse+https://index.crates.io/",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Licenses {
    /// What every package may have.
    allow: Vec<License>,
    /// What a single one may have besides.
    #[serde(default)]
    exceptions: Vec<Exception>,
    #[serde(default)]
    pub(super) private: Private,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct License(Licensee);

impl TryFrom<String> for License {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<License> {
        let parsed = Licensee::parse(&text);
        Ok(License(parsed.map_err(|error| anyhow!("{error}"))?))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<License>,
}

/// Packages that are published nowhere.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Private {
    /// Whether their licence does not matter.
    pub(super) ignore: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bans {
    pub(super) multiple_versions: Level,
    pub(super) wildcards: Level,
    pub(super) allow_wildcard_paths: bool,
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: Level,
    unknown_git: Level,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Level {
    Deny,
    Warn,
    Allow,
}

impl Policy {
    pub(super) fn parse(text: &str) -> Result<Policy> {
        Ok(toml::from_str(text)?)
    }

    /// Whether a package of this name may have this licence.
    pub(super) fn allows(&self, name: &str, wanted: &LicenseReq) -> bool {
        let exceptions = self.licenses.exceptions.iter();
        let exceptions = exceptions
            .filter(|exception| exception.name == name)
            .flat_map(|exception| &exception.allow);
        let mut allowed = self.licenses.allow.iter().chain(exceptions);
        allowed.any(|License(allowed)| allowed.satisfies(wanted))
    }

    /// Whether no package may have this name.
    pub(super) fn bans(&self, name: &str) -> bool {
        self.bans.deny.iter().any(|banned| banned.name == name)
    }

    /// A source that is not known, without what identifies its kind, and how much that matters.
    pub(super) fn stranger<'a>(&self, source: Option<&'a str>) -> Option<(Level, &'a str)> {
        let source = source.filter(|source| !CRATES_IO.contains(source))?;
        match source.strip_prefix("git+") {
            Some(repository) => Some((self.sources.unknown_git, repository)),
            None => Some((self.sources.unknown_registry, source)),
        }
    }
}
