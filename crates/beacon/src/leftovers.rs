//! Removing discovery files that are ours, and only those.
//!
//! A file is ours when it carries a token of ours: tokens are random, so nobody else can have
//! written it, and a file of the same name that another program has put there since carries
//! another one. Stale files matter, because Gemini CLI picks one file and does not go on to the
//! next when nobody answers.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// More than any discovery file that we write.
const LIMIT: u64 = 1 << 20;

/// Removes those files of an earlier run that still carry one of that run's tokens, and returns
/// the files that it removed. Call it at start with what a crashed run has recorded.
pub fn clear(files: &[PathBuf], tokens: &[String]) -> Vec<PathBuf> {
    let tokens: Vec<_> = tokens.iter().map(String::as_str).collect();
    files
        .iter()
        .filter(|path| matches!(remove_if_ours(path, &tokens), Ok(true)))
        .cloned()
        .collect()
}

/// Removes the file if it carries one of the tokens, and returns whether it did.
pub(crate) fn remove_if_ours(path: &Path, tokens: &[&str]) -> Result<bool, private::Error> {
    if !carries(path, tokens) {
        return Ok(false);
    }
    private::remove(path)?;
    Ok(true)
}

/// Whether this is a discovery file with one of the tokens. A symlink, a file of another user,
/// and anything that cannot be read are not.
fn carries(path: &Path, tokens: &[&str]) -> bool {
    let Ok(Some(bytes)) = private::read(path, LIMIT) else {
        return false;
    };
    let file: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let token = file
        .get("authToken")
        .and_then(Value::as_str)
        .unwrap_or_default();
    !token.is_empty() && tokens.contains(&token)
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
        let expected: Vec<_> = table
            .iter()
            .zip(&files)
            .filter(|(row, _)| row.2)
            .map(|(_, path)| path.clone())
            .collect();
        let tokens = ["old-a", "", "old-b"].map(String::from);
        assert_eq!(clear(&files, &tokens), expected);
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
        assert!(clear(&[link], &["old".into()]).is_empty());
        assert!(file.exists());
    }
}
