//! Paths inside a folder of the daemon.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is no path inside a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelativePathError {
    /// It begins at the root of the file system, or of a drive.
    #[error("a path inside a folder does not begin at the root")]
    Absolute,
    /// A part of it is empty, `.` or `..`.
    #[error("a path inside a folder has no empty parts and no dots for parts")]
    Part,
    /// It has characters that no path has.
    #[error("a path has characters that cannot be sent")]
    Characters,
}

/// A path inside a folder of the daemon, as the daemon writes it: relative, with `/` between the
/// parts, and without detours. It cannot leave the folder, unless over a link, which the daemon does
/// not follow out of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelativePath(String);

impl RelativePath {
    /// Validates `text` as a path; `.` is the folder itself.
    pub fn new(text: impl Into<String>) -> Result<Self, RelativePathError> {
        let text = text.into();
        if text == "." {
            return Ok(Self(text));
        }
        if text.starts_with('/') {
            return Err(RelativePathError::Absolute);
        }
        if text.contains('\0') || text.contains(['\\', ':']) && cfg!(windows) {
            return Err(RelativePathError::Characters);
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(RelativePathError::Part);
        }
        Ok(Self(text))
    }

    /// The folder itself.
    pub fn root() -> Self {
        Self(".".into())
    }

    /// Whether it is the folder itself.
    pub fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The path as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of what is called `name` in here.
    pub fn join(&self, name: &str) -> Result<Self, RelativePathError> {
        if self.is_root() {
            return Self::new(name);
        }
        Self::new(format!("{self}/{name}"))
    }

    /// Whether `other` is in here, at any depth.
    pub fn contains(&self, other: &RelativePath) -> bool {
        let below = other.0.strip_prefix(&self.0);
        self.is_root() || below.is_some_and(|rest| rest.starts_with('/'))
    }
}

impl TryFrom<String> for RelativePath {
    type Error = RelativePathError;

    fn try_from(text: String) -> Result<Self, RelativePathError> {
        Self::new(text)
    }
}

impl TryFrom<&str> for RelativePath {
    type Error = RelativePathError;

    fn try_from(text: &str) -> Result<Self, RelativePathError> {
        Self::new(text)
    }
}

impl From<RelativePath> for String {
    fn from(path: RelativePath) -> String {
        path.0
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_folder() {
        for good in [".", "a", "a/b", ".env", "...", "a/..b", "ü c.txt", "~", "-"] {
            assert!(RelativePath::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", "/", "/a", "..", "../a", "a/..", "a/../b", "a//b", "a/", "./a", "a/.", "a\0",
        ] {
            assert!(RelativePath::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_contains_what_is_below_it_and_not_what_is_named_like_it() {
        let path = |text: &str| RelativePath::new(text).unwrap();
        assert!(path("a").contains(&path("a/b")) && path("a").contains(&path("a/b/c")));
        assert!(!path("a").contains(&path("ab")) && !path("a").contains(&path("a")));
        assert!(RelativePath::root().contains(&path("a")));
        assert_eq!(path("a").join("b"), RelativePath::new("a/b"));
        assert_eq!(RelativePath::root().join("b"), RelativePath::new("b"));
        assert!(path("a").join("../b").is_err());
    }
}
