//! Where the token of a daemon is.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::super::invalid;
use super::super::setting::{Origin, Setting};
use crate::failure::Failure;
use ::daemon::Token;

/// Larger files are not tokens.
const LARGEST: u64 = 1 << 16;

/// Where a token is. What is wrong with it is said when it is needed.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum TokenSource {
    Text(String),
    File(PathBuf),
    /// Both are given, and nobody can tell which was meant.
    Ambiguous,
}

impl fmt::Debug for TokenSource {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenSource::Text(_) => f.write_str("Text"),
            TokenSource::File(path) => f.debug_tuple("File").field(path).finish(),
            TokenSource::Ambiguous => f.write_str("Ambiguous"),
        }
    }
}

/// The token, if there is one. Reads the file that it is in.
pub(super) fn token(setting: &Setting<Option<TokenSource>>) -> Result<Option<Token>, Failure> {
    let origin = &setting.origin;
    let text = match &setting.value {
        None => return Ok(None),
        Some(TokenSource::Text(token)) => token.clone(),
        Some(TokenSource::File(path)) => read(path, origin)?,
        Some(TokenSource::Ambiguous) => {
            return Err(invalid(origin, "token and token-file are both set"));
        }
    };
    let token = Token::new(&text);
    token.map(Some).map_err(|error| invalid(origin, error))
}

fn read(path: &Path, origin: &Origin) -> Result<String, Failure> {
    let cannot = |why: String| invalid(origin, format!("cannot read {}: {why}", path.display()));
    // The person has named it, and it may be a pipe on purpose: some shells give a program's output
    // like that. So it is waited for, but never read without end.
    let file = File::open(path).map_err(|error| cannot(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| cannot(error.to_string()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            let path = path.display();
            crate::output::note(format_args!(
                "other users of this machine may read {path}; `chmod 600` it"
            ));
        }
    }
    let mut text = String::new();
    file.take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| cannot(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(cannot("it is too large for a token".into()));
    }
    Ok(text)
}
