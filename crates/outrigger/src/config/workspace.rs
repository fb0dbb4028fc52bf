//! The workspace's own file. A workspace can be hostile, so its file may only narrow what is
//! shared: it can switch agents off and add patterns to ignore.
//!
//! Whatever else is in it is reported and not used. A file that cannot be understood closes its
//! folder, and must not be able to keep the companion from starting.

use std::path::{Path, PathBuf};

use workbench::Scope;

use super::privacy::{FileKeys, PRIVACY_KEYS, PrivacyLayer};
use super::user_file;

pub(super) const WORKSPACE_FILE: &str = ".outrigger.toml";

/// The file of a root, whether it exists or not.
pub(super) fn file(root: &Path) -> PathBuf {
    root.join(WORKSPACE_FILE)
}

/// What the file of a root says.
pub(super) fn privacy(root: &Path) -> PrivacyLayer {
    let keys = FileKeys {
        usable: &PRIVACY_KEYS,
        known: &user_file::KEYS,
        unused: "a workspace may only narrow what is shared (agents, ignore)",
    };
    PrivacyLayer::from_file(&file(root), &Scope::Below(root.to_owned()), keys)
}
