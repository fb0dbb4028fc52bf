//! Values as they stand in files and variables. Errors are the reason only: the caller knows the place.

use std::path::Path;
use std::str::FromStr;

use tracing::level_filters::LevelFilter;
use workbench::Agent;

/// Larger files are not configuration.
const LARGEST: u64 = 1 << 20;

/// The text of a configuration file; `None` if there is no such file.
pub(super) fn file(path: &Path) -> Result<Option<String>, String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(metadata) if !metadata.is_file() => return Err("not a regular file".into()),
        Ok(metadata) if metadata.len() > LARGEST => {
            return Err("too large for a configuration file".into());
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(|error| error.to_string())
}

/// A list in a variable: parts between commas.
pub(super) fn list(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// An agent that can be switched on and off.
pub(super) fn agent(name: &str) -> Option<Agent> {
    Agent::from_slug(name).filter(|agent| Agent::DISCOVERING.contains(agent))
}

pub(super) fn agents(names: &[String]) -> Result<Vec<Agent>, String> {
    let unknown = |name| format!("there is no agent {name:?}; known are \"qwen\" and \"gemini\"");
    let known = names
        .iter()
        .map(|name| agent(name).ok_or_else(|| unknown(name)));
    known.collect()
}

pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a number that fits"))
}

pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not one of true, false"))
}

pub(super) fn level(text: &str) -> Result<LevelFilter, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not one of off, error, warn, info, debug, trace"))
}
