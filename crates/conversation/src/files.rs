//! Files to attach: those of the workspace whose path holds what the person typed.

use std::path::{Path, PathBuf};

use companion::desk::{Desk, Gone};
use ignore::WalkBuilder;
use workbench::{Place, Visibility};

/// How many files of the workspace are looked at.
const LOOKED_AT: usize = 50_000;
/// How many are looked at more closely.
const CANDIDATES: usize = 200;
/// How many are offered.
const OFFERED: usize = 50;

/// Files below the first folder of the workspace, best first, as seen from there. What version
/// control ignores is left out, and so is what agents may not see.
pub(crate) async fn find(desk: &Desk, typed: String) -> Result<Vec<String>, Gone> {
    let roots = desk.ask(|state| state.workbench().roots().to_vec()).await?;
    let Some(root) = roots.into_iter().next() else {
        return Ok(Vec::new());
    };
    let below = root.clone();
    let found = tokio::task::spawn_blocking(move || candidates(&below, &typed)).await;
    let found = found.unwrap_or_default();
    desk.ask(move |state| {
        let shown = |path: &PathBuf| {
            let path = root.join(path);
            let real = path.clone();
            state.workbench().judge(&Place { path, real }) == Visibility::Shown
        };
        let shown = found.into_iter().filter(shown).take(OFFERED);
        shown.map(|path| path.display().to_string()).collect()
    })
    .await
}

fn candidates(root: &Path, typed: &str) -> Vec<PathBuf> {
    let typed = typed.to_lowercase();
    let files = WalkBuilder::new(root)
        .require_git(false)
        .build()
        .filter_map(Result::ok);
    let files = files
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .take(LOOKED_AT);
    let mut ranked: Vec<_> = files
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(root).ok()?.to_owned();
            Some((rank(path.to_str()?, &typed)?, path))
        })
        .collect();
    ranked.sort_unstable();
    ranked.truncate(CANDIDATES);
    ranked.into_iter().map(|(_, path)| path).collect()
}

/// How well a path fits, smaller is better: in its last name before anywhere else, early before
/// late, short before long.
fn rank(path: &str, typed: &str) -> Option<(bool, usize, usize)> {
    let path = path.to_lowercase();
    let at = path.rfind(typed)?;
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    Some((at < name, at.abs_diff(name), path.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts_most() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("main/deep")).unwrap();
        std::fs::write(root.join(".gitignore"), "*.log\n").unwrap();
        for name in ["main.rs", "main/deep/other.rs", "xmain.rs", "main.log"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let found = |typed: &str| -> Vec<_> {
            let found = candidates(root, typed);
            let names = found.iter().map(|path| path.display().to_string());
            names.collect()
        };
        assert_eq!(found("MAIN"), ["main.rs", "xmain.rs", "main/deep/other.rs"]);
        assert_eq!(found("deep/o"), ["main/deep/other.rs"]);
        assert!(found("nothing").is_empty());
    }
}
