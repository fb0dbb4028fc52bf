//! Removing discovery files that are ours, and only those.
//!
//! A file is ours when it carries a token of ours: tokens are random, so nobody else can have
//! written it, and a file of the same name that another program has put there since carries
//! another one. Stale files matter, because Gemini CLI picks one file and does not go on to the
//! next when nobody answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// More than any discovery file that we write.
const LIMIT: u64 = 1 << 20;

/// What a run that has ended may have left behind.
#[derive(Clone, Default)]
pub struct Leftovers {
    /// Where it listened. Every name of a discovery file contains the port.
    pub port: u16,
    /// What its files carry.
    pub tokens: BTreeSet<String>,
    /// The files that it has written down. It may have written more: the disk was full, or it was
    /// killed before it could write them down.
    pub files: BTreeSet<PathBuf>,
}

impl Leftovers {
    /// Removes what is still there, and returns the files that it removed.
    pub fn clear(&self) -> Vec<PathBuf> {
        let folders = self.files.iter().filter_map(|file| file.parent());
        let files = self.find(&folders.map(Path::to_path_buf).collect());
        let gone = |path: &PathBuf| matches!(remove_if_ours(path, &self.tokens), Ok(true));
        files.into_iter().filter(gone).collect()
    }

    /// The files that were written down, and those in these folders that may be of the same run.
    pub(crate) fn find(&self, folders: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let port = self.port.to_string();
        let entries = folders.iter().filter_map(|folder| folder.read_dir().ok());
        let named = entries.flatten().flatten().filter(|entry| {
            let name = entry.file_name();
            let mut words = name.to_str().unwrap_or_default().split(['-', '.']);
            words.any(|word| word == port)
        });
        let mut files: BTreeSet<_> = named.map(|entry| entry.path()).collect();
        files.retain(|path| matches!(carries(path, &self.tokens), Ok(true)));
        files.extend(self.files.iter().cloned());
        files
    }
}

/// Removes the file if it carries one of the tokens, and returns whether it did.
pub(crate) fn remove_if_ours(
    path: &Path,
    tokens: &BTreeSet<String>,
) -> Result<bool, private::Error> {
    if !carries(path, tokens)? {
        return Ok(false);
    }
    private::remove(path)?;
    Ok(true)
}

/// Whether this is a discovery file with one of the tokens. A symlink, a file of another user, and
/// anything that we cannot have written are not. An error means that it cannot be known now.
fn carries(path: &Path, tokens: &BTreeSet<String>) -> Result<bool, private::Error> {
    let bytes = match private::read(path, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Err(error) if error.is_transient() => return Err(error),
        Ok(None) | Err(_) => return Ok(false),
    };
    let file: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let token = file
        .get("authToken")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(!token.is_empty() && tokens.contains(token))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_files_that_carry_one_of_the_tokens_go() {
        let folder = tempfile::tempdir().unwrap();
        let table = [
            ("ours", Some(r#"{"authToken":"old-a","port":1}"#), true),
            ("ours too", Some(r#"{"port":1,"authToken":"old-b"}"#), true),
            (
                "another program's",
                Some(r#"{"authToken":"other","port":1}"#),
                false,
            ),
            (
                "mentions it",
                Some(r#"{"authToken":"other","note":"old-a"}"#),
                false,
            ),
            ("no token", Some(r#"{"authToken":""}"#), false),
            ("a list", Some(r#"["old-a"]"#), false),
            ("no json", Some("old-a"), false),
            ("gone", None, false),
        ];
        for (name, text, _) in table {
            if let Some(text) = text {
                fs::write(folder.path().join(name), text).unwrap();
            }
        }
        let files: Vec<_> = table
            .iter()
            .map(|(name, ..)| folder.path().join(name))
            .collect();
        let mut expected: Vec<_> = table
            .iter()
            .zip(&files)
            .filter(|(row, _)| row.2)
            .map(|(_, path)| path.clone())
            .collect();
        expected.sort();
        let leftovers = Leftovers {
            port: 1,
            tokens: ["old-a", "", "old-b"].map(String::from).into(),
            files: files.iter().cloned().collect(),
        };
        assert_eq!(leftovers.clear(), expected);
        for ((name, text, goes), path) in table.iter().zip(&files) {
            assert_eq!(path.exists(), text.is_some() && !goes, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_to_a_file_of_ours_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, r#"{"authToken":"old"}"#).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let leftovers = Leftovers {
            port: 1,
            tokens: ["old".into()].into(),
            files: [link].into(),
        };
        assert!(leftovers.clear().is_empty());
        assert!(file.exists());
    }

    #[test]
    fn files_that_nobody_wrote_down_are_found_by_their_port_and_token() {
        let folder = tempfile::tempdir().unwrap();
        let ours = ["4711.lock", "12-4711.lock", "gemini-ide-server-9-4711.json"];
        let others = ["14711.lock", "47110.lock", "x4711.json"];
        for name in ours.iter().chain(&others) {
            fs::write(folder.path().join(name), r#"{"authToken":"old"}"#).unwrap();
        }
        let theirs = folder.path().join("8-4711.lock");
        fs::write(&theirs, r#"{"authToken":"theirs"}"#).unwrap();
        let leftovers = Leftovers {
            port: 4711,
            tokens: ["old".into()].into(),
            files: [folder.path().join("4711.lock")].into(),
        };
        let mut expected: Vec<_> = ours.map(|name| folder.path().join(name)).into();
        expected.sort();
        assert_eq!(leftovers.clear(), expected);
        let left = folder.path().read_dir().unwrap().count();
        assert_eq!(left, others.len() + 1);
        assert!(theirs.exists());
    }
}
