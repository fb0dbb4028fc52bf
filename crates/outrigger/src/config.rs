//! The configuration: command line or editor, then variables, then the person's file, then
//! defaults; and last the workspace's file, which may only narrow what is shared.
//!
//! Each source becomes a [`Layer`], and every value remembers its [`Origin`]. Files and variables
//! are read once for each start.

mod daemon;
mod layer;
mod parse;
mod setting;
mod show;
mod user_file;
mod variables;
mod workspace;

use std::path::{Path, PathBuf};
use std::time::Duration;

use companion::Limits;
use tracing::level_filters::LevelFilter;
use workbench::Agent;

use crate::failure::{Failure, FailureKind};
pub(crate) use daemon::{DaemonSettings, DaemonTarget};
pub(crate) use layer::Layer;
pub(crate) use setting::{Origin, Setting};
use user_file::UserFile;

/// The configuration in force.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) agents: Setting<Vec<Agent>>,
    /// `None` for any free port.
    pub(crate) port: Setting<Option<u16>>,
    pub(crate) name: Setting<String>,
    pub(crate) log: Setting<LevelFilter>,
    pub(crate) max_body: Setting<usize>,
    pub(crate) debounce: Setting<Duration>,
    /// Whether `outrigger` opens the page where it can.
    pub(crate) open: Setting<bool>,
    /// Whether the terminal of `outrigger` is told nothing of what happens.
    pub(crate) quiet: Setting<bool>,
    /// Patterns from every source; they add up.
    pub(crate) ignore: Vec<Setting<String>>,
    pub(crate) daemon: DaemonSettings,
    /// What was found and not used, as sentences for the person.
    pub(crate) warnings: Vec<String>,
}

/// Where a configuration comes from; passed in so that the rules can be tested.
pub(crate) struct Sources<'a> {
    /// What this start asks for, on the command line or in the settings of an editor.
    pub(crate) start: Layer,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) user_file: Option<&'a Path>,
    pub(crate) roots: &'a [PathBuf],
}

impl Config {
    /// Reads the sources and puts them together.
    pub(crate) fn load(sources: Sources<'_>) -> Result<Config, Failure> {
        let Sources {
            start,
            variable,
            user_file,
            roots,
        } = sources;
        let file = UserFile::read(user_file)?.layer()?;
        let variables = variables::layer(variable)?;
        let mut config = Config::from_layers([file, variables, start]);
        for root in roots {
            workspace::narrow(&mut config, root);
        }
        if config.name.value.trim().is_empty() {
            return Err(invalid(&config.name.origin, "the name is empty"));
        }
        Ok(config)
    }

    /// The weakest layer first.
    fn from_layers(layers: [Layer; 3]) -> Config {
        let limits = Limits::default();
        let mut config = Config {
            agents: Setting::default(Agent::DISCOVERING.to_vec()),
            port: Setting::default(None),
            name: Setting::default("Outrigger".into()),
            log: Setting::default(LevelFilter::WARN),
            max_body: Setting::default(limits.body),
            debounce: Setting::default(limits.debounce),
            open: Setting::default(true),
            quiet: Setting::default(false),
            ignore: Vec::new(),
            daemon: DaemonSettings::from_layers(layers.each_ref().map(|layer| &layer.daemon)),
            warnings: Vec::new(),
        };
        for layer in layers {
            config.agents.replace(layer.agents);
            config.port.replace(layer.port);
            config.name.replace(layer.name);
            config.log.replace(layer.log);
            config.max_body.replace(layer.max_body);
            config.debounce.replace(layer.debounce);
            config.open.replace(layer.open);
            config.quiet.replace(layer.quiet);
            config.ignore.extend(layer.ignore);
        }
        config
    }

    /// The limits that follow from it.
    pub(crate) fn limits(&self) -> Limits {
        let defaults = Limits::default();
        Limits {
            body: self.max_body.value,
            bodies: defaults.bodies.max(self.max_body.value),
            drain: defaults.drain.max(self.max_body.value),
            debounce: self.debounce.value,
            ..defaults
        }
    }

    /// The patterns of files that agents are not told about, a list for each origin: one origin takes
    /// nothing back from another.
    pub(crate) fn patterns(&self) -> Vec<Vec<String>> {
        let mut lists: Vec<(&Origin, Vec<String>)> = Vec::new();
        for pattern in &self.ignore {
            let value = pattern.value.clone();
            match lists
                .iter_mut()
                .find(|(origin, _)| **origin == pattern.origin)
            {
                Some((_, list)) => list.push(value),
                None => lists.push((&pattern.origin, vec![value])),
            }
        }
        lists.into_iter().map(|(_, list)| list).collect()
    }
}

/// A mistake in the configuration, with the place where it stands.
fn invalid(origin: &Origin, why: impl std::fmt::Display) -> Failure {
    let message = format!("wrong configuration ({origin}): {why}");
    Failure::new(FailureKind::Configuration, message)
        .hint("`outrigger config` shows what is in force and where it comes from")
}

#[cfg(test)]
mod tests {
    use super::workspace::WORKSPACE_FILE;
    use super::*;
    use crate::args::{AgentName, ServeArgs};

    /// Loads a configuration from the text of each source.
    fn load(
        flags: &ServeArgs,
        variables: &[(&str, &str)],
        user: &str,
        workspace: &str,
    ) -> Result<Config, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("w");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(folder.path().join("config.toml"), user).unwrap();
        std::fs::write(root.join(WORKSPACE_FILE), workspace).unwrap();
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Config::load(Sources {
            start: Layer::from_flags(flags)?,
            variable: &variable,
            user_file: Some(&folder.path().join("config.toml")),
            roots: &[root],
        })
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_defaults() {
        let flags = ServeArgs {
            port: Some(1),
            ..ServeArgs::default()
        };
        let none = ServeArgs::default();
        let port = |flags: &ServeArgs, variables: &[(&str, &str)], user: &str| {
            load(flags, variables, user, "").unwrap().port.value
        };
        assert_eq!(
            port(&flags, &[("OUTRIGGER_PORT", "2")], "port = 3"),
            Some(1)
        );
        assert_eq!(port(&none, &[("OUTRIGGER_PORT", "2")], "port = 3"), Some(2));
        assert_eq!(port(&none, &[("OUTRIGGER_PORT", "")], "port = 3"), Some(3));
        assert_eq!(port(&none, &[], ""), None);
    }

    #[test]
    fn patterns_add_up() {
        let flags = ServeArgs {
            ignore: vec!["a".into()],
            ..ServeArgs::default()
        };
        let config = load(
            &flags,
            &[("OUTRIGGER_IGNORE", "b, c")],
            "ignore = ['d']",
            "ignore = ['e']",
        )
        .unwrap();
        let mut patterns = config.patterns();
        patterns.sort();
        let lists: [&[&str]; 4] = [&["a"], &["b", "c"], &["d"], &["e"]];
        assert_eq!(patterns, lists, "a list for each origin");
    }

    #[test]
    fn a_workspace_can_only_narrow() {
        let hostile = "port = 1\nname = 'x'\nlog = 'trace'\nmax-body = 1\nstate-dir = '/x'\nagents = ['gemini', 'other']\nignore = ['*.md']";
        let config = load(
            &ServeArgs::default(),
            &[],
            "agents = ['qwen', 'gemini']",
            hostile,
        )
        .unwrap();
        assert_eq!(config.agents.value, [Agent::Gemini]);
        assert_eq!(config.port.value, None);
        assert_eq!(config.name.value, "Outrigger");
        assert_eq!(config.max_body.value, Limits::default().body);
        assert_eq!(config.patterns(), [["*.md"]]);
        assert_eq!(config.warnings.len(), 5);

        let only_qwen = ServeArgs {
            agents: vec![AgentName::Qwen],
            ..ServeArgs::default()
        };
        let config = load(&only_qwen, &[], "", "agents = ['qwen', 'gemini']").unwrap();
        assert_eq!(
            config.agents.value,
            [Agent::Qwen],
            "what was switched off stays off"
        );
    }

    #[test]
    fn a_workspace_cannot_keep_the_companion_from_starting() {
        for text in ["= broken", "agents = 3", "ignore = [1]", "\u{0}"] {
            let config = load(&ServeArgs::default(), &[], "", text).unwrap();
            assert_eq!(config.warnings.len(), 1, "{text}");
        }
    }

    #[test]
    fn the_persons_own_mistakes_are_errors_that_name_the_place() {
        for (user, part) in [
            ("prot = 3", "prot"),
            ("port = 99999", "99999"),
            ("agents = ['claude']", "claude"),
            ("log = 'loud'", "loud"),
            ("name = ' '", "empty"),
            ("open = 'no'", "bool"),
        ] {
            let failure = load(&ServeArgs::default(), &[], user, "")
                .unwrap_err()
                .to_string();
            assert!(
                failure.contains(part) && failure.contains("config.toml"),
                "{failure}"
            );
        }
        let failure = load(&ServeArgs::default(), &[("OUTRIGGER_PORT", "x")], "", "").unwrap_err();
        assert!(failure.to_string().contains("OUTRIGGER_PORT"));
    }

    #[test]
    fn an_editor_speaks_for_itself() {
        let options = editor::Options {
            agents: Some(vec!["gemini".into(), "unknown".into()]),
            ignore: vec!["*.log".into()],
            daemon: true,
            ..editor::Options::default()
        };
        let start = Layer::from_editor(Some("Helix".into()), options, Some("debug")).unwrap();
        let config = Config::load(Sources {
            start,
            variable: &|name| (name == "OUTRIGGER_NAME").then(|| "Variable".into()),
            user_file: None,
            roots: &[],
        })
        .unwrap();
        assert_eq!(config.agents.value, [Agent::Gemini]);
        assert_eq!(config.agents.origin, Origin::Editor);
        assert_eq!(config.name.value, "Helix");
        assert_eq!(config.log.value, LevelFilter::DEBUG);
        assert_eq!(config.log.origin, Origin::Flag("--log"));
        assert_eq!(config.patterns(), [["*.log"]]);
        assert!(config.daemon.enabled.value);
        assert_eq!(config.daemon.enabled.origin, Origin::Editor);
    }

    #[test]
    fn a_workspace_cannot_control_the_terminal() {
        let config = load(
            &ServeArgs::default(),
            &[],
            "",
            "\"a\\u001b[2J\\nport = 1\" = 1",
        )
        .unwrap();
        let shown = config.to_string();
        assert!(shown.contains("a␛[2J␊port = 1 is not used"), "{shown}");
    }
}
