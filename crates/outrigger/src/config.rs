//! The configuration: command line or editor, then variables, then the person's file, then
//! defaults; and last the workspace's file, which may only narrow what is shared.
//!
//! Each source becomes a [`Layer`], and every value remembers its [`Origin`]. Files and variables
//! are read once for each start, except what decides what is shared (`privacy`): that is read again
//! when a file changes.

mod daemon;
mod document;
mod layer;
mod parse;
mod privacy;
mod setting;
mod show;
mod user_file;
mod variables;
mod workspace;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::failure::{Failure, FailureKind};
use companion::Limits;
pub(crate) use daemon::{
    Conversations, DaemonLayer, DaemonSettings, DaemonTarget, NewConversation,
};
pub(crate) use layer::Layer;
pub(crate) use privacy::{PrivacyLayer, PrivacySettings, PrivacySources};
pub(crate) use setting::{Origin, Setting};
pub(crate) use show::ShownConfig;
use tracing::level_filters::LevelFilter;
pub(crate) use variables::hiding_patterns;

/// The configuration in force.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// What is shared, and with whom, at the start.
    pub(crate) privacy: PrivacySettings,
    /// Where that is read again.
    pub(crate) privacy_sources: PrivacySources,
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
    pub(crate) daemon: DaemonSettings,
    /// What was found and not used, as sentences for the person.
    warnings: Vec<String>,
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
        let file = user_file::layer(user_file)?;
        let variables = variables::layer(variable)?;
        let sources = PrivacySources {
            user_file: user_file.map(Path::to_owned),
            user_file_is_named: variable("OUTRIGGER_CONFIG").is_some_and(|it| !it.is_empty()),
            fixed: [variables.privacy.clone(), start.privacy.clone()],
            editors: Vec::new(),
            roots: roots.to_vec(),
            seen: None,
        };
        let config = Config::from_layers([file, variables, start], sources);
        if config.name.value.trim().is_empty() {
            return Err(invalid(&config.name.origin, "the name is empty"));
        }
        Ok(config)
    }

    /// The weakest layer first.
    fn from_layers(layers: [Layer; 3], sources: PrivacySources) -> Config {
        let limits = Limits::default();
        let mut config = Config {
            privacy: sources.load(),
            privacy_sources: sources,
            port: Setting::default(None),
            name: Setting::default("Outrigger".into()),
            log: Setting::default(LevelFilter::WARN),
            max_body: Setting::default(limits.body),
            debounce: Setting::default(limits.debounce),
            open: Setting::default(true),
            quiet: Setting::default(false),
            daemon: DaemonSettings::from_layers(layers.each_ref().map(|layer| &layer.daemon)),
            warnings: Vec::new(),
        };
        for layer in layers {
            config.port.replace(layer.port);
            config.name.replace(layer.name);
            config.log.replace(layer.log);
            config.max_body.replace(layer.max_body);
            config.debounce.replace(layer.debounce);
            config.open.replace(layer.open);
            config.quiet.replace(layer.quiet);
            config.warnings.extend(layer.warnings);
        }
        config
    }

    /// What was found and not used, as sentences for the person.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &str> {
        let warnings = self.warnings.iter().chain(&self.privacy.warnings);
        warnings.map(String::as_str)
    }

    /// The limits that follow from it.
    pub(crate) fn limits(&self) -> Limits {
        let defaults = Limits::default();
        Limits {
            body: self.max_body.value,
            bodies: defaults.bodies.max(self.max_body.value),
            drain: defaults.drain.max(self.max_body.value),
            // Two of the largest requests have room at the same time.
            texts: (self.max_body.value)
                .saturating_add(usize::try_from(defaults.original).unwrap_or(usize::MAX))
                .saturating_mul(4)
                .max(defaults.texts),
            debounce: self.debounce.value,
            ..defaults
        }
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
    use workbench::{Agent, Scope};

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

    /// The patterns, a list for each origin.
    fn patterns(config: &Config) -> Vec<Vec<&str>> {
        let lists = config.privacy.ignore.iter();
        lists
            .map(|list| list.patterns.iter().map(|it| it.text.as_str()).collect())
            .collect()
    }

    /// The faults, with the names of the files only.
    fn faults(config: &Config) -> Vec<String> {
        let faults = config.privacy.faults.iter();
        faults.map(|fault| short(&fault.to_string())).collect()
    }

    fn short(text: &str) -> String {
        text.rsplit('/').next().unwrap_or(text).to_owned()
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
        let mut patterns = patterns(&config);
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
        assert_eq!(config.privacy.agents.value, [Agent::Gemini]);
        assert_eq!(config.port.value, None);
        assert_eq!(config.name.value, "Outrigger");
        assert_eq!(config.max_body.value, Limits::default().body);
        assert_eq!(patterns(&config), [["*.md"]]);
        assert_eq!(faults(&config), [""; 0]);
        let warnings: Vec<_> = config.warnings().map(short).collect();
        let unused = |key: &str, line: u32| {
            format!(
                ".outrigger.toml:{line}:1: `{key}` is not used: a workspace may only narrow what is shared (agents, ignore)"
            )
        };
        assert_eq!(
            warnings,
            [
                ".outrigger.toml:6:21: there is no agent \"other\"; known are \"qwen\" and \"gemini\"".to_owned(),
                unused("port", 1),
                unused("name", 2),
                unused("log", 3),
                unused("max-body", 4),
                ".outrigger.toml:5:1: there is no setting `state-dir`".to_owned(),
            ]
        );

        let only_qwen = ServeArgs {
            agents: vec![AgentName::Qwen],
            ..ServeArgs::default()
        };
        let config = load(&only_qwen, &[], "", "agents = ['qwen', 'gemini']").unwrap();
        assert_eq!(
            config.privacy.agents.value,
            [Agent::Qwen],
            "what was switched off stays off"
        );
    }

    #[test]
    fn what_cannot_be_understood_closes_the_folder_and_stops_nothing() {
        let none: &[Agent] = &[];
        let all = &Agent::DISCOVERING[..];
        for (text, agents, expected) in [
            ("= broken", all, ".outrigger.toml:1:1: "),
            ("ignore = ['a'\nagents = []", all, ".outrigger.toml:2:1: "),
            (
                "ignore = '*.sql'",
                all,
                ".outrigger.toml:1:10: `ignore` has to be a list of strings",
            ),
            (
                "\nignore = ['a', 1]",
                all,
                ".outrigger.toml:2:10: `ignore` has to be a list of strings",
            ),
            (
                "ignor = ['*.sql']",
                all,
                ".outrigger.toml:1:1: there is no setting `ignor`; did you mean `ignore`?",
            ),
            (
                "agents = 3",
                none,
                ".outrigger.toml:1:10: `agents` has to be a list of strings",
            ),
            (
                "agents = 'qwen'",
                none,
                ".outrigger.toml:1:10: `agents` has to be a list of strings",
            ),
            (
                "agents = ['claude']",
                none,
                ".outrigger.toml:1:11: there is no agent \"claude\"; known are \"qwen\" and \"gemini\"",
            ),
            ("\u{0}", all, ".outrigger.toml:1:2: "),
        ] {
            let config = load(&ServeArgs::default(), &[], "", text).unwrap();
            let [fault] = &config.privacy.faults[..] else {
                panic!("{text}: {:?}", config.privacy.faults);
            };
            assert!(short(&fault.to_string()).starts_with(expected), "{fault}");
            assert!(matches!(fault.scope, Scope::Below(_)), "{text}");
            assert_eq!(config.privacy.agents.value, agents, "{text}");
            assert_eq!(config.warnings().count(), 0, "{text}");
        }
        // Nobody is let in by an empty list, and that is no mistake.
        let config = load(&ServeArgs::default(), &[], "", "agents = []").unwrap();
        assert_eq!(config.privacy.agents.value, none);
        assert_eq!(faults(&config), [""; 0]);
    }

    #[test]
    fn faulty_agents_of_one_folder_keep_nobody_from_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let roots: Vec<_> = ["a", "b"].map(|name| folder.path().join(name)).into();
        for root in &roots {
            std::fs::create_dir(root).unwrap();
        }
        std::fs::write(roots[0].join(WORKSPACE_FILE), "agents = 3").unwrap();
        let load = || {
            Config::load(Sources {
                start: Layer::default(),
                variable: &|_| None,
                user_file: None,
                roots: &roots,
            })
            .unwrap()
            .privacy
        };
        let one = load();
        assert_eq!(one.agents.value, Agent::DISCOVERING);
        assert_eq!(one.faults[0].scope, Scope::Below(roots[0].clone()));
        std::fs::write(roots[1].join(WORKSPACE_FILE), "agents = ['x']").unwrap();
        assert_eq!(load().agents.value, []);
    }

    #[test]
    fn the_persons_own_mistakes_about_privacy_close_all_folders() {
        type Variables = &'static [(&'static str, &'static str)];
        let none: &[Agent] = &[];
        let all = &Agent::DISCOVERING[..];
        let table: [(Variables, &str, &[Agent], &str); 6] = [
            (&[], "port = [", all, "config.toml:1:"),
            (
                &[],
                "port = 3\nignore = 'x'",
                all,
                "config.toml:2:10: `ignore` has to be a list of strings",
            ),
            (
                &[],
                "agents = [\n'claude']",
                none,
                "config.toml:2:1: there is no agent \"claude\"",
            ),
            (
                &[],
                "Ignore = ['x']",
                all,
                "config.toml:1:1: there is no setting `Ignore`; did you mean `ignore`?",
            ),
            (
                &[("OUTRIGGER_AGENTS", "claude")],
                "",
                none,
                "variable OUTRIGGER_AGENTS: there is no agent \"claude\"",
            ),
            (
                &[("OUTRIGGER_IGNORE", "a,\u{fffd}")],
                "",
                all,
                "variable OUTRIGGER_IGNORE: the patterns are not UTF-8 text",
            ),
        ];
        for (variables, user, agents, expected) in table {
            let config = load(&ServeArgs::default(), variables, user, "").unwrap();
            let [fault] = &config.privacy.faults[..] else {
                panic!("{expected}: {:?}", config.privacy.faults);
            };
            assert!(short(&fault.to_string()).starts_with(expected), "{fault}");
            assert_eq!(fault.scope, Scope::Everywhere, "{expected}");
            assert_eq!(config.privacy.agents.value, agents, "{expected}");
        }
    }

    #[test]
    fn the_persons_other_mistakes_are_errors_that_name_the_place() {
        for (user, part) in [
            (
                "port = 99999",
                "config.toml:1:8): `port` has to be a number from 0 to 65535",
            ),
            ("\nlog = 'loud'", "config.toml:2:7): \"loud\" is not one of"),
            ("name = ' '", "config.toml:1:8): the name is empty"),
            (
                "open = 'no'",
                "config.toml:1:8): `open` has to be true or false",
            ),
            (
                "max-body = -1",
                "config.toml:1:12): `max-body` has to be a number of bytes",
            ),
        ] {
            let failure = load(&ServeArgs::default(), &[], user, "")
                .unwrap_err()
                .to_string();
            assert!(failure.contains(part), "{failure}");
        }
        let failure = load(&ServeArgs::default(), &[("OUTRIGGER_PORT", "x")], "", "").unwrap_err();
        assert!(failure.to_string().contains("OUTRIGGER_PORT"));
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_its_place() {
        let user = "\nprot = 3\nquantum = 1\n[daemon]\nurls = 'x'\n";
        let config = load(&ServeArgs::default(), &[], user, "").unwrap();
        let mut warnings: Vec<_> = config.warnings().map(short).collect();
        warnings.sort();
        assert_eq!(
            warnings,
            [
                "config.toml:2:1: there is no setting `prot`; did you mean `port`?",
                "config.toml:3:1: there is no setting `quantum`",
                "config.toml:5:1: there is no setting `urls`; did you mean `url`?",
            ]
        );
        assert_eq!(faults(&config), [""; 0]);
    }

    #[test]
    fn an_editor_speaks_for_itself() {
        let options = editor::Options {
            agents: Some(vec!["gemini".into(), "unknown".into()]),
            ignore: vec!["*.log".into()],
            daemon: editor::DaemonOptions {
                enabled: Some(true),
                ..editor::DaemonOptions::default()
            },
            ..editor::Options::default()
        };
        let start = Layer::from_editor(Some("Helix".into()), &options, Some("debug")).unwrap();
        let config = Config::load(Sources {
            start,
            variable: &|name| (name == "OUTRIGGER_NAME").then(|| "Variable".into()),
            user_file: None,
            roots: &[],
        })
        .unwrap();
        assert_eq!(config.privacy.agents.value, [Agent::Gemini]);
        assert_eq!(config.privacy.agents.origin, Origin::Editor);
        assert_eq!(config.name.value, "Helix");
        assert_eq!(config.log.value, LevelFilter::DEBUG);
        assert_eq!(config.log.origin, Origin::Flag("--log"));
        assert_eq!(patterns(&config), [["*.log"]]);
        assert!(config.daemon.enabled.value);
        assert_eq!(config.daemon.enabled.origin, Origin::Editor);
    }

    #[test]
    fn an_editor_that_names_only_unknown_agents_lets_nobody_in() {
        for (names, count) in [(vec!["claude"], 1), (vec![], 0)] {
            let options = editor::Options {
                agents: Some(names.into_iter().map(str::to_owned).collect()),
                ..editor::Options::default()
            };
            let start = Layer::from_editor(None, &options, None).unwrap();
            let config = Config::load(Sources {
                start,
                variable: &|_| None,
                user_file: None,
                roots: &[],
            })
            .unwrap();
            assert_eq!(config.privacy.agents.value, []);
            assert_eq!(config.privacy.faults.len(), count);
        }
    }

    #[test]
    fn a_workspace_cannot_control_the_terminal() {
        let text = "\"a\\u001b[2J\\nport = 1\" = 1\n\"ignore\\n\" = 1";
        let config = load(&ServeArgs::default(), &[], "", text).unwrap();
        let state = Setting::default("/s".into());
        let shown = ShownConfig::new(&config, &[], &state, None).lines();
        let shown = shown.as_str();
        assert!(
            shown.contains("there is no setting `a␛[2J␊port = 1`"),
            "{shown}"
        );
        assert!(shown.contains("there is no setting `ignore␊`"), "{shown}");
    }
}
