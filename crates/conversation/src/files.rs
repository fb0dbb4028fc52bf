//! Files to attach: those of the workspace whose path holds what the person typed; if none is here,
//! those that only the agent's side has.

use std::path::{Path, PathBuf};

use companion::desk::Gone;
use ignore::WalkBuilder;
use workbench::{Place, Visibility};

use crate::Conversation;
use crate::attach::is_elsewhere;

/// How many files of the workspace are looked at.
const LOOKED_AT: usize = 50_000;
/// How many are looked at more closely.
const CANDIDATES: usize = 200;
/// How many the agent's side is asked for.
const ELSEWHERE: u32 = 200;
/// How many are offered.
const OFFERED: usize = 50;

/// Files below the first folder of the workspace, best first, as seen from there. What version
/// control ignores is left out, and so is what agents may not see.
pub(crate) async fn find(conversation: &Conversation, typed: String) -> Result<Vec<String>, Gone> {
    let desk = conversation.desk();
    let roots = desk.ask(|state| state.workbench().roots().to_vec()).await?;
    let Some(root) = roots.into_iter().next() else {
        return Ok(Vec::new());
    };
    let (below, text) = (root.clone(), typed.clone());
    let found = tokio::task::spawn_blocking(move || candidates(&below, &text)).await;
    let mut found = found.unwrap_or_default();
    // Who has typed nothing wants to see what is here, and everything would be too much.
    if found.is_empty() && !typed.is_empty() {
        found = elsewhere(conversation, root.clone(), typed).await;
    }
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
    let below = files.filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_owned()));
    best(below, &typed)
}

/// What only the agent's side has. Without an answer that is nothing.
async fn elsewhere(conversation: &Conversation, root: PathBuf, typed: String) -> Vec<PathBuf> {
    let found = conversation.find(typed.clone(), ELSEWHERE).await;
    let found = found.unwrap_or_default();
    let ranked = tokio::task::spawn_blocking(move || {
        // What is here and did not fit is left out for a reason: version control ignores it.
        let is_there =
            |path: &Path| (path.symlink_metadata().err()).is_some_and(|error| is_elsewhere(&error));
        let found = found.into_iter().filter(|path| is_there(path));
        let below = found.filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_owned()));
        best(below, &typed.to_lowercase())
    });
    ranked.await.unwrap_or_default()
}

/// Those that fit, best first.
fn best(paths: impl Iterator<Item = PathBuf>, typed: &str) -> Vec<PathBuf> {
    let fitting = paths.filter_map(|path| Some((rank(path.to_str()?, typed)?, path)));
    let mut ranked: Vec<_> = fitting.collect();
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
