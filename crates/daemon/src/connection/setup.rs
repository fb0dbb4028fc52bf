//! The checks before a session is opened, and hints for the user when one fails.
//!
//! The errors are those of the set-up: another folder, a missing token, no model, another program
//! on the port. Retrying fixes none of them, so nothing here retries.

use std::path::Path;

use super::ServedFolder;
use crate::client::DaemonClient;
use crate::error::{DaemonError, ErrorReason};
use crate::wire::DaemonCapabilities;

/// Features without which a daemon cannot be used here.
const NEEDED: &[&str] = &[
    "session_create",
    "session_prompt",
    "session_cancel",
    "session_events",
    "session_permission_vote",
];

/// Why a connect failed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Something has to be set up differently first. Retrying does not help.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A request failed; trying again later may help.
    #[error(transparent)]
    Daemon(DaemonError),
    /// A reconnect without an earlier connect.
    #[error("there is no earlier connection to go back to")]
    NoPreviousConnection,
    /// The actor has ended, because the runtime is shutting down.
    #[error("the connection is being dropped")]
    ShuttingDown,
}

impl ConnectError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Setup(setup) => Some(setup.hint()),
            Self::Daemon(error) => error.hint().map(str::to_owned),
            Self::NoPreviousConnection | Self::ShuttingDown => None,
        }
    }
}

/// What the user has to set up differently.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Nothing listens at the address.
    #[error("{0}")]
    NoDaemon(DaemonError),
    /// Another user of the machine listens at the address.
    #[error("{0}")]
    ForeignServer(DaemonError),
    /// Another program listens at the address.
    #[error("what answers there is not a daemon: {0}")]
    NotADaemon(DaemonError),
    /// The daemon serves other folders.
    #[error("the daemon works in {}, not in {wanted}", .folders.join(", "))]
    WrongFolder {
        /// The folder that the user works in.
        wanted: String,
        /// The folders that the daemon serves.
        folders: Vec<String>,
    },
    /// The token is missing or wrong.
    #[error("the daemon does not accept our token")]
    Unauthorized,
    /// The daemon has no credentials for a model provider.
    #[error("the daemon has no model provider")]
    NoModelProvider,
    /// The folder is not trusted by the user.
    #[error("the folder is not trusted on the daemon's machine")]
    Untrusted,
    /// The daemon rejects the `Host` header that follows from the address.
    #[error("the daemon does not accept this address")]
    WrongAddress,
    /// The daemon does not speak version 1 of the protocol. Holds the versions it speaks.
    #[error("the daemon speaks another version of the protocol ({0})")]
    UnsupportedProtocol(String),
    /// The daemon lacks features that are needed here.
    #[error("the daemon lacks {}", .0.join(", "))]
    MissingFeatures(Vec<&'static str>),
    /// The session is neither live nor on disk.
    #[error("the daemon does not know this conversation")]
    NoSuchSession,
}

impl SetupError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        let from = |reason: ErrorReason| reason.hint().unwrap_or_default().to_owned();
        match self {
            Self::NoDaemon(error) | Self::ForeignServer(error) => {
                error.hint().unwrap_or_default().into()
            }
            Self::NotADaemon(_) => {
                "another program may be listening on this port; use the address that `qwen serve` \
                 prints when it starts"
                    .into()
            }
            Self::WrongFolder { wanted, .. } => format!(
                "run `qwen serve` in {wanted} and use the address it prints: a daemon that finds \
                 its port taken moves to the next one"
            ),
            Self::Unauthorized => from(ErrorReason::Unauthorized),
            Self::NoModelProvider => from(ErrorReason::NoModelProvider),
            Self::Untrusted => from(ErrorReason::Untrusted),
            Self::WrongAddress => from(ErrorReason::Forbidden),
            Self::UnsupportedProtocol(_) | Self::MissingFeatures(_) => {
                "update Qwen Code, or this program".into()
            }
            Self::NoSuchSession => "begin a new conversation".into(),
        }
    }
}

/// Classifies the error of a request that was sent to connect.
pub(super) fn sort(error: DaemonError, wanted: Option<&Path>) -> ConnectError {
    let setup = match &error {
        DaemonError::Unreachable { .. } => SetupError::NoDaemon(error),
        DaemonError::Foreign { .. } => SetupError::ForeignServer(error),
        DaemonError::InvalidResponse { .. } => SetupError::NotADaemon(error),
        DaemonError::Refused(response) => match response.reason() {
            ErrorReason::Unauthorized => SetupError::Unauthorized,
            ErrorReason::NoModelProvider => SetupError::NoModelProvider,
            ErrorReason::Untrusted => SetupError::Untrusted,
            ErrorReason::Forbidden => SetupError::WrongAddress,
            ErrorReason::SessionNotFound => SetupError::NoSuchSession,
            ErrorReason::NotFound | ErrorReason::Redirect => SetupError::NotADaemon(error),
            ErrorReason::WorkspaceMismatch => {
                let asked = || {
                    wanted
                        .map(|it| it.display().to_string())
                        .unwrap_or_default()
                };
                let told = response.field("requestedWorkspace").map(str::to_owned);
                SetupError::WrongFolder {
                    wanted: told.unwrap_or_else(asked),
                    folders: response
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

/// Fetches the capabilities, and checks that this is a daemon we can use for `workspace`.
pub(super) async fn check(
    client: &DaemonClient,
    workspace: Option<&Path>,
) -> Result<DaemonCapabilities, ConnectError> {
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| sort(error, workspace))?;
    if !capabilities.speaks_v1() {
        let supported = capabilities
            .protocol_versions
            .map(|it| it.supported.join(", "));
        let version = supported.unwrap_or_else(|| capabilities.v.to_string());
        return Err(SetupError::UnsupportedProtocol(version).into());
    }
    let lacking = NEEDED.iter().filter(|feature| !capabilities.has(feature));
    let lacking: Vec<&'static str> = lacking.copied().collect();
    if !lacking.is_empty() {
        return Err(SetupError::MissingFeatures(lacking).into());
    }
    // A daemon that is still starting lists no workspaces; then creating the session decides.
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

/// Whether the daemon serves a folder: as the path is written, or with its links resolved.
fn serves(capabilities: &DaemonCapabilities, wanted: &Path) -> bool {
    served(capabilities, wanted).is_some()
}

fn served<'a>(capabilities: &'a DaemonCapabilities, wanted: &Path) -> Option<&'a str> {
    let real = wanted.canonicalize().ok();
    capabilities.folders().find(|folder| {
        // Comparing as paths ignores a trailing slash.
        let folder = Path::new(folder);
        folder == wanted || Some(folder) == real.as_deref()
    })
}

/// The folder of a connection. A daemon that is still starting does not list the others yet.
pub(super) fn folder(capabilities: &DaemonCapabilities, wanted: Option<&Path>) -> ServedFolder {
    let primary = capabilities.workspace_cwd.as_str();
    let path = match wanted {
        None => primary.to_owned(),
        Some(wanted) => served(capabilities, wanted)
            .map_or_else(|| wanted.to_string_lossy().into_owned(), str::to_owned),
    };
    let is_primary = path == primary;
    ServedFolder { path, is_primary }
}
