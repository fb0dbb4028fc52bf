//! Values as they stand in files and variables. Errors are the reason only: the caller knows the place.

use std::str::FromStr;

use ::daemon::wire::ApprovalMode;
use tracing::level_filters::LevelFilter;
use workbench::Agent;

use super::document::meant;

/// The modes of a conversation.
const MODES: [&str; 5] = ["plan", ASKING, "auto-edit", "auto", "yolo"];
/// The one that asks before edits, and before commands that do not only read.
pub(super) const ASKING: &str = "default";

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

pub(super) fn unknown_agent(name: &str) -> String {
    format!("there is no agent \"{name}\"; known are \"qwen\" and \"gemini\"")
}

pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("\"{text}\" is not a number that fits"))
}

pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_| format!("\"{text}\" is not one of true, false"))
}

pub(super) fn level(text: &str) -> Result<LevelFilter, String> {
    text.parse()
        .map_err(|_| format!("\"{text}\" is not one of off, error, warn, info, debug, trace"))
}

/// The mode of a conversation.
pub(super) fn mode(name: &str) -> Result<ApprovalMode, String> {
    if MODES.contains(&name) {
        return Ok(ApprovalMode::from(name));
    }
    let known = MODES.join(", ");
    Err(format!("there is no mode \"{name}\"; known are {known}"))
}

/// The mode that somebody may have meant.
pub(super) fn meant_mode(name: &str) -> Option<&'static str> {
    meant(name, &MODES)
}
