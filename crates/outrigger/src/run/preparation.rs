//! What an agent is started with, so that it is connected without a question and asks before it
//! writes.
//!
//! How that is done is data of the agent ([`Introduction`]). Where it can be, it is a file of ours that
//! a variable names, and that the agent reads as the administrator's defaults. Everything overrides
//! them: the person's settings, those of the workspace, and flags. So whatever a person has set stays
//! as it is, and no file of theirs is touched. Defaults that an administrator has really set are in our
//! file too, and go before ours.
//!
//! An agent that does not read such a file needs the settings in the person's own. They are asked
//! before it starts, and told what to do themselves if they do not agree ([`Switch`]).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use companion::agents::{self, Introduction, Profile, read_settings};
use serde_json::Value;

use super::switch::Switch;

/// What starting an agent needs, apart from the companion.
#[derive(Debug, Default)]
pub(super) struct Preparation {
    /// The agent, if it is one that we know.
    pub(super) profile: Option<&'static Profile>,
    /// The variable that names our file, and its path.
    pub(super) variable: Option<(&'static str, PathBuf)>,
    /// What the person is asked to agree to.
    pub(super) switch: Option<Switch>,
    /// What the person should know before the agent starts.
    pub(super) remarks: Vec<String>,
}

/// Prepares the start of the agent in `command` in `folder`. What is written goes below the state
/// folder.
pub(super) fn prepare(state: &Path, command: &[String], folder: &Path) -> Preparation {
    let Some((profile, arguments)) = agent_in(command) else {
        return Preparation::default();
    };
    let variable = |name: &str| std::env::var_os(name);
    let name = profile.agent.slug();
    let mut preparation = Preparation {
        profile: Some(profile),
        ..Preparation::default()
    };
    if let Introduction::Defaults(ours) = profile.introduction {
        match write(state, profile, ours, &variable) {
            Ok(path) => preparation.variable = Some((profile.settings.defaults_variable, path)),
            Err(why) => preparation.remarks.push(format!(
                "cannot prepare {name}: {why}; if it asks whether to connect, answer no and type `/ide enable` there"
            )),
        }
    }
    let ours = preparation.variable.clone();
    let read_by_it = |name: &str| match &ours {
        Some((known, path)) if *known == name => Some(OsString::from(path)),
        _ => variable(name),
    };
    let files = profile.settings.files(&read_by_it, folder);
    let settings: Vec<_> = files
        .iter()
        .flatten()
        .filter_map(|file| read_settings(file))
        .collect();
    if let Introduction::Consent {
        settings: wanted,
        by_hand,
    } = profile.introduction
        && ide_mode(&settings).is_none()
    {
        let file = profile.settings.person(&variable);
        match (file, serde_json::from_str(wanted)) {
            (Some(file), Ok(settings)) => {
                preparation.switch = Some(Switch {
                    file,
                    settings,
                    by_hand,
                });
            }
            _ => preparation.remarks.push(by_hand.to_owned()),
        }
    }
    preparation
        .remarks
        .extend(remarks(profile, &arguments, &settings));
    preparation
}

/// Whether IDE mode is on, if any of the settings says so; they are by growing precedence.
fn ide_mode(settings: &[Value]) -> Option<bool> {
    let mut files = settings.iter().rev();
    files.find_map(|file| file.get("ide")?.get("enabled")?.as_bool())
}

/// What the person has set so that the agent is not connected or does not ask. `settings` are by
/// growing precedence.
fn remarks(profile: &Profile, arguments: &[&str], settings: &[Value]) -> Vec<String> {
    let name = profile.agent.slug();
    let mut remarks = Vec::new();
    if ide_mode(settings) == Some(false) {
        remarks.push(format!(
            "your settings of {name} switch its IDE mode off (ide.enabled), so it does not connect; type `/ide enable` there"
        ));
    }
    if let Some(mode) = profile.approval.mode(arguments, settings, None)
        && !mode.asks
    {
        remarks.push(format!(
            "{name} starts in {} mode, as you have set, and does not ask before it writes; to be asked, {}",
            mode.name, mode.remedy
        ));
    }
    remarks
}

/// The agent that a command line starts, with its arguments.
fn agent_in(command: &[String]) -> Option<(&'static Profile, Vec<&str>)> {
    let (program, arguments) = command.split_first()?;
    // On Windows a command has an ending.
    let name = Path::new(program).file_stem().and_then(OsStr::to_str)?;
    let profile = agents::by_command(name)?;
    Some((profile, arguments.iter().map(String::as_str).collect()))
}

/// Writes the defaults of an agent; the path of the file.
fn write(
    state: &Path,
    profile: &Profile,
    ours: &str,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, String> {
    let theirs = profile.settings.defaults(variable);
    let theirs = match read_settings(&theirs) {
        Some(settings) => settings,
        None if !theirs.exists() => Value::Null,
        // To hide what the administrator has set would be worse than to set nothing.
        None => return Err(format!("cannot read {}", theirs.display())),
    };
    let ours = serde_json::from_str(ours).map_err(|error| error.to_string())?;
    let merged = overridden(ours, theirs);
    let folder = private::ensure_folder(state, &["outrigger", "defaults"]);
    let folder = folder.map_err(|error| error.to_string())?;
    let file = format!("{}.json", profile.agent.slug());
    let text = merged.to_string();
    private::write(&folder, &file, text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(folder.join(file))
}

/// `value` with everything that `by` says instead.
fn overridden(value: Value, by: Value) -> Value {
    match (value, by) {
        (Value::Object(mut value), Value::Object(by)) => {
            for (name, theirs) in by {
                let ours = value.remove(&name).unwrap_or_default();
                value.insert(name, overridden(ours, theirs));
            }
            Value::Object(value)
        }
        (value, Value::Null) => value,
        (_, by) => by,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn an_agent_is_known_by_its_command() {
        let table = [
            ("qwen", Some("qwen")),
            ("/opt/bin/gemini --model x", Some("gemini")),
            ("qwen.cmd -y", Some("qwen")),
            ("sh -c qwen", None),
            ("qwen-like", None),
        ];
        for (line, expected) in table {
            let command = command(line);
            let found = agent_in(&command).map(|(profile, _)| profile.agent.slug());
            assert_eq!(found, expected, "{line}");
        }
    }

    fn ours(profile: &Profile) -> &'static str {
        match profile.introduction {
            Introduction::Defaults(text) => text,
            Introduction::Consent { .. } => "{}",
        }
    }

    #[test]
    fn what_the_administrator_has_set_goes_before_our_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("system-defaults.json");
        let profile = agents::by_command("qwen").unwrap();
        let variable = |name: &str| {
            (name == profile.settings.defaults_variable).then(|| theirs.clone().into())
        };
        let state = folder.path().join("state");
        std::fs::create_dir(&state).unwrap();
        let written = || {
            let path = write(&state, profile, ours(profile), &variable);
            path.map(|path| read_settings(&path).unwrap())
        };

        let alone: Value = serde_json::from_str(ours(profile)).unwrap();
        assert_eq!(written(), Ok(alone));
        let set =
            r#"{ "tools": { "approvalMode": "plan", "x": [1] }, "ui": { "theme": "t" } } // mine"#;
        std::fs::write(&theirs, set).unwrap();
        assert_eq!(
            written(),
            Ok(json!({
                "ide": { "enabled": true, "hasSeenNudge": true },
                "tools": { "approvalMode": "plan", "x": [1] },
                "ui": { "theme": "t" },
            }))
        );
        std::fs::write(&theirs, "{ not settings").unwrap();
        assert!(written().unwrap_err().contains("system-defaults.json"));
    }

    #[test]
    fn what_the_person_has_set_otherwise_is_said() {
        let said = |line: &str, settings: &[Value]| {
            let command = command(line);
            let (profile, arguments) = agent_in(&command).unwrap();
            let ours = serde_json::from_str(ours(profile)).unwrap();
            let settings = [&[ours], settings].concat();
            remarks(profile, &arguments, &settings).join("|")
        };
        let off = json!({ "ide": { "enabled": false } });
        let on = json!({ "ide": { "enabled": true } });
        let auto = json!({ "tools": { "approvalMode": "auto" } });
        assert_eq!(said("qwen", &[]), "");
        assert_eq!(said("gemini", std::slice::from_ref(&on)), "");
        assert!(said("qwen", std::slice::from_ref(&off)).contains("ide.enabled"));
        assert_eq!(said("qwen", &[off, on]), "");
        assert!(said("qwen", std::slice::from_ref(&auto)).starts_with("qwen starts in auto mode"));
        assert_eq!(said("qwen --approval-mode default", &[auto]), "");
        assert_eq!(said("gemini", &[]), "", "it is asked for");
        assert!(said("gemini -y", &[]).contains("Ctrl+Y"));
    }
}
