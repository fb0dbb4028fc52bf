//! Ids that the daemon issues. None of them is a secret.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text cannot be an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("an id is empty")]
    Empty,
    /// Longer than any id of the daemon. Holds the length.
    #[error("an id has {0} characters")]
    Long(usize),
    /// It has characters that an HTTP header cannot carry.
    #[error("an id has characters that cannot be sent")]
    Characters,
}

/// The longest id that is accepted. Ids of the daemon are far shorter.
const LONGEST: usize = 1024;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Validates `text` as an id.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let check: fn(&str) -> Result<(), IdError> = $check;
                check(&text)?;
                Ok(Self(text))
            }

            /// The id as a string.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A session. It outlives the daemon: its transcript is on disk.
    SessionId,
    in_path
);
id!(
    /// One prompt and the turn it causes. Background turns have composite ids.
    PromptId,
    in_path
);
id!(
    /// A request of the agent to the user.
    RequestId,
    in_path
);
id!(
    /// A turn that a session can be taken back to.
    RewindPointId,
    in_path
);
id!(
    /// A file that a session has.
    AttachmentId,
    in_path
);
id!(
    /// A task in the background.
    TaskId,
    in_path
);
id!(
    /// A client in one session. The daemon issues it, and accepts no other.
    ClientId,
    in_header
);
id!(
    /// The epoch of a session's event ids. Ids of two epochs cannot be compared.
    Epoch,
    in_header
);

/// Ids in a path are percent-encoded, so only their length is checked.
fn in_path(text: &str) -> Result<(), IdError> {
    match text.len() {
        0 => Err(IdError::Empty),
        1..=LONGEST => Ok(()),
        long => Err(IdError::Long(long)),
    }
}

/// Ids in a header must be visible ASCII.
fn in_header(text: &str) -> Result<(), IdError> {
    in_path(text)?;
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err(IdError::Characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_checked_while_they_are_read() {
        assert!(serde_json::from_str::<SessionId>("\"abc\"").is_ok());
        for bad in ["\"\"", "5", "null", &format!("\"{}\"", "x".repeat(2000))] {
            assert!(serde_json::from_str::<SessionId>(bad).is_err(), "{bad:.20}");
        }
        assert_eq!(ClientId::new("a b"), Err(IdError::Characters));
        assert_eq!(Epoch::new("e\r\nX: y"), Err(IdError::Characters));
    }
}
