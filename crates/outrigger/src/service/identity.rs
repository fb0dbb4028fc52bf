//! How a companion is known: its record for commands and later runs, and what agents are told.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use beacon::{Announcement, IdeInfo, Stdio};
use companion::Token;
use companion::registry::Record;
use workbench::Agent;

use super::start::cannot_start;
use super::succession::Succession;
use crate::config::Config;
use crate::failure::Failure;

/// Everybody who may have a token.
const HOLDERS: [Agent; 3] = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];

/// The record of this companion. Added candidates of the run before are kept, and of its tokens and
/// keys what the succession allows.
pub(super) fn record(
    port: u16,
    roots: Vec<PathBuf>,
    config: &Config,
    editor_settings: Option<String>,
    (previous, succession): (Option<&Record>, Succession),
) -> Result<Record, Failure> {
    let kept_or_new = |kept: Option<&Token>| match kept {
        Some(token) => Ok(token.clone()),
        None => Token::random().map_err(cannot_start),
    };
    let with_tokens = previous.filter(|_| succession.keeps_tokens());
    let with_keys = previous.filter(|_| succession.keeps_keys());
    let tokens = HOLDERS.into_iter().map(|agent| {
        let kept = with_tokens.and_then(|previous| token(previous, agent));
        Ok((agent.slug().to_owned(), kept_or_new(kept)?))
    });
    Ok(Record {
        pid: std::process::id(),
        port,
        started_for: roots.clone(),
        roots,
        editor_settings,
        ending: false,
        returns: false,
        editor: config.name.value.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        started_at: now(),
        tokens: tokens.collect::<Result<_, Failure>>()?,
        secret: kept_or_new(with_keys.map(|previous| &previous.secret))?,
        page: kept_or_new(with_keys.map(|previous| &previous.page))?,
        files: Vec::new(),
        former_tokens: Vec::new(),
        guests: previous
            .map(|previous| previous.guests.clone())
            .unwrap_or_default(),
    })
}

/// The token of each agent, and the one of agents without a name, which `outrigger bridge`
/// presents.
pub(super) fn tokens(record: &Record) -> Vec<(Agent, Token)> {
    let holders = HOLDERS.into_iter();
    holders
        .filter_map(|agent| Some((agent, token(record, agent)?.clone())))
        .collect()
}

/// What the discovery files say.
pub(super) fn announcement(record: &Record, state: &Path, parent: Option<u32>) -> Announcement {
    let tokens = HOLDERS
        .into_iter()
        .filter_map(|agent| Some((agent, token(record, agent)?.expose().to_owned())));
    Announcement {
        port: record.port,
        roots: record.roots.clone(),
        ide: ide(&record.editor),
        tokens: tokens.collect(),
        // Qwen Code deletes a file whose process it may not send a signal to.
        serves: parent
            .filter(|pid| beacon::process::alive(*pid))
            .unwrap_or(record.pid),
        stdio: stdio(state),
    }
}

/// The names under which agents know an editor.
pub(super) fn ide(name: &str) -> IdeInfo {
    IdeInfo {
        name: slug(name),
        display_name: name.to_owned(),
    }
}

fn token(record: &Record, agent: Agent) -> Option<&Token> {
    record
        .tokens
        .iter()
        .find(|(slug, _)| slug == agent.slug())
        .map(|(_, token)| token)
}

/// How an agent that cannot reach the port can start a bridge to us.
///
/// Agents pass hardly any variable on to such a child, so the state folder is an argument.
fn stdio(state: &Path) -> Option<Stdio> {
    let command = std::env::current_exe().ok()?.to_str()?.to_owned();
    let args = ["bridge", "--state-dir", state.to_str()?];
    Some(Stdio {
        command,
        args: args.map(str::to_owned).to_vec(),
    })
}

/// Names of editors that agents have an installer for. Under one of these names an agent would
/// offer to install that editor's own extension.
const INSTALLABLE: [&str; 5] = [
    "vscode",
    "vscodefork",
    "firebasestudio",
    "positron",
    "antigravity",
];

/// The editor's name for programs: lower case, words joined with hyphens, and none of
/// [`INSTALLABLE`].
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() || INSTALLABLE.contains(&slug.as_str()) {
        format!("outrigger-{slug}").trim_end_matches('-').to_owned()
    } else {
        slug
    }
}

/// In unix milliseconds.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn the_name_for_programs_is_plain_and_triggers_no_installer() {
        for (name, plain) in [
            ("Outrigger", "outrigger"),
            ("GNU Emacs 28", "gnu-emacs-28"),
            ("VSCode", "outrigger-vscode"),
            ("…", "outrigger"),
        ] {
            assert_eq!(slug(name), plain);
        }
    }
}
