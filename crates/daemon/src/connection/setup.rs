//! What has to be right before a conversation can begin, and what to do if it is not.
//!
//! These are mistakes of the surroundings: another folder, a missing token, no model, somebody
//! else's program on the port. Trying again changes none of them, so nothing here does.

use std::path::Path;

use crate::client::DaemonClient;
use crate::error::{DaemonError, Reason};
use crate::wire::Capabilities;

/// What a daemon must be able to do to be of use here.
const NEEDED: &[&str] = &[
    "session_create",
    "session_prompt",
    "session_cancel",
    "session_events",
    "session_permission_vote",
];

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Something has to be set up differently first.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The daemon did not answer as it should; trying again later may help.
    #[error(transparent)]
    Daemon(DaemonError),
    /// There was no connection before that could be repeated.
    #[error("there is no earlier connection to go back to")]
    NoEarlier,
    /// The runtime is ending.
    #[error("the connection is being dropped")]
    Over,
}

impl ConnectError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Setup(setup) => Some(setup.hint()),
            Self::Daemon(error) => error.hint().map(str::to_owned),
            Self::NoEarlier | Self::Over => None,
        }
    }
}

/// What has to be set up differently.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Nobody is there.
    #[error("{0}")]
    NoDaemon(DaemonError),
    /// Somebody is there who is not a daemon.
    #[error("what answers there is not a daemon: {0}")]
    NotADaemon(DaemonError),
    /// The daemon works elsewhere.
    #[error("the daemon works in {}, not in {wanted}", .folders.join(", "))]
    WrongFolder {
        /// Where the person works.
        wanted: String,
        /// Where the daemon works.
        folders: Vec<String>,
    },
    /// The token is missing or wrong.
    #[error("the daemon does not accept our token")]
    Unauthorized,
    /// The daemon has no credentials for a model.
    #[error("the daemon has no model provider")]
    NoModelProvider,
    /// The folder is not trusted.
    #[error("the folder is not trusted on the daemon's machine")]
    Untrusted,
    /// The daemon does not accept the address we call it by.
    #[error("the daemon does not accept this address")]
    WrongAddress,
    /// The daemon speaks another protocol.
    #[error("the daemon speaks another version of the protocol ({0})")]
    OtherProtocol(String),
    /// The daemon cannot do what is needed.
    #[error("the daemon lacks {}", .0.join(", "))]
    Lacking(Vec<&'static str>),
    /// The conversation is neither alive nor on disk.
    #[error("the daemon does not know this conversation")]
    NoSuchSession,
}

impl SetupError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        let from = |reason: Reason| reason.hint().unwrap_or_default().to_owned();
        match self {
            Self::NoDaemon(error) => error.hint().unwrap_or_default().into(),
            Self::NotADaemon(_) => {
                "another program may be listening on this port; use the address that `qwen serve` \
                 prints when it starts"
                    .into()
            }
            Self::WrongFolder { wanted, .. } => format!(
                "run `qwen serve` in {wanted} and use the address it prints: a daemon that finds \
                 its port taken moves to the next one"
            ),
            Self::Unauthorized => from(Reason::Unauthorized),
            Self::NoModelProvider => from(Reason::NoModelProvider),
            Self::Untrusted => from(Reason::Untrusted),
            Self::WrongAddress => from(Reason::Forbidden),
            Self::OtherProtocol(_) | Self::Lacking(_) => "update Qwen Code, or this program".into(),
            Self::NoSuchSession => "begin a new conversation".into(),
        }
    }
}

/// Sorts an error of a request that was made to connect.
pub(super) fn sort(error: DaemonError, wanted: Option<&Path>) -> ConnectError {
    let setup = match &error {
        DaemonError::Unreachable { .. } => SetupError::NoDaemon(error),
        DaemonError::Strange { .. } => SetupError::NotADaemon(error),
        DaemonError::Refused(refusal) => match refusal.reason() {
            Reason::Unauthorized => SetupError::Unauthorized,
            Reason::NoModelProvider => SetupError::NoModelProvider,
            Reason::Untrusted => SetupError::Untrusted,
            Reason::Forbidden => SetupError::WrongAddress,
            Reason::SessionNotFound => SetupError::NoSuchSession,
            Reason::NotFound | Reason::Redirect => SetupError::NotADaemon(error),
            Reason::WorkspaceMismatch => {
                let asked = || {
                    wanted
                        .map(|it| it.display().to_string())
                        .unwrap_or_default()
                };
                let told = refusal.field("requestedWorkspace").map(str::to_owned);
                SetupError::WrongFolder {
                    wanted: told.unwrap_or_else(asked),
                    folders: refusal
                        .field("boundWorkspace")
                        .map(str::to_owned)
                        .into_iter()
                        .collect(),
                }
            }
            _ => return ConnectError::Daemon(error),
        },
        _ => return ConnectError::Daemon(error),
    };
    setup.into()
}

/// Asks who is there, and whether that is who we want.
pub(super) async fn check(
    client: &DaemonClient,
    workspace: Option<&Path>,
) -> Result<Capabilities, ConnectError> {
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| sort(error, workspace))?;
    if !capabilities.speaks_v1() {
        let supported = capabilities
            .protocol_versions
            .map(|it| it.supported.join(", "));
        let version = supported.unwrap_or_else(|| capabilities.v.to_string());
        return Err(SetupError::OtherProtocol(version).into());
    }
    let lacking = NEEDED.iter().filter(|feature| !capabilities.has(feature));
    let lacking: Vec<&'static str> = lacking.copied().collect();
    if !lacking.is_empty() {
        return Err(SetupError::Lacking(lacking).into());
    }
    // A daemon that is still starting names only its first folder; then it is for the session to say.
    if let Some(wanted) = workspace
        && capabilities.workspaces.is_some()
        && !serves(&capabilities, wanted)
    {
        return Err(SetupError::WrongFolder {
            wanted: wanted.display().to_string(),
            folders: capabilities.folders().map(str::to_owned).collect(),
        }
        .into());
    }
    Ok(capabilities)
}

/// Whether a folder is one of the daemon's: as it is written, or with its links resolved.
fn serves(capabilities: &Capabilities, wanted: &Path) -> bool {
    let real = wanted.canonicalize().ok();
    capabilities
        .folders()
        .map(Path::new)
        // Comparing paths rather than texts ignores a slash at the end.
        .any(|folder| folder == wanted || Some(folder) == real.as_deref())
}
