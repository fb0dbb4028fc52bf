//! Configuration: flags, then environment, then the person's file, then the workspace's.
//!
//! A workspace can be hostile, so its file may only narrow what is shared: it can switch
//! agents off and add patterns to ignore. Everything else in it is ignored, and said to be.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion::Limits;
use serde::Deserialize;
use workbench::Agent;

use crate::args::Serve;
use crate::failure::{Failure, Kind};

/// The workspace's own file.
const WORKSPACE_FILE: &str = ".outrigger.toml";
/// Larger files are not configuration.
const LARGEST: u64 = 1 << 20;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    Flag(&'static str),
    Variable(&'static str),
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Flag(name) => write!(f, "flag {name}"),
            Origin::Variable(name) => write!(f, "variable {name}"),
            Origin::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Setting<T> {
    fn default(value: T) -> Setting<T> {
        Setting {
            value,
            origin: Origin::Default,
        }
    }

    /// Replaces the value if there is a new one.
    fn set(&mut self, value: Option<T>, origin: Origin) {
        if let Some(value) = value {
            *self = Setting { value, origin };
        }
    }
}

/// The configuration in force.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) agents: Setting<Vec<Agent>>,
    /// `None` for any free port.
    pub(crate) port: Setting<Option<u16>>,
    pub(crate) name: Setting<String>,
    pub(crate) log: Setting<tracing::level_filters::LevelFilter>,
    pub(crate) max_body: Setting<usize>,
    pub(crate) debounce: Setting<Duration>,
    /// Whether `outrigger` opens the page where it can.
    pub(crate) open: Setting<bool>,
    /// Patterns from every source; they add up.
    pub(crate) ignore: Vec<Setting<String>>,
    /// What was found and not used, in words.
    pub(crate) warnings: Vec<String>,
}

/// A configuration file of the person.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct UserFile {
    agents: Option<Vec<String>>,
    port: Option<u16>,
    name: Option<String>,
    log: Option<String>,
    max_body: Option<usize>,
    debounce_ms: Option<u64>,
    open: Option<bool>,
    #[serde(default)]
    ignore: Vec<String>,
    /// Only `outrigger daemon` uses it.
    daemon: Option<crate::daemon::settings::Table>,
}

/// What the surroundings say; passed in so that the rules can be tested.
pub(crate) struct Sources<'a> {
    pub(crate) flags: &'a Serve,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) roots: &'a [PathBuf],
}

impl Config {
    /// Puts the sources together.
    pub(crate) fn load(sources: &Sources<'_>) -> Result<Config, Failure> {
        let limits = Limits::default();
        let mut config = Config {
            agents: Setting::default(Agent::DISCOVERING.to_vec()),
            port: Setting::default(None),
            name: Setting::default("Outrigger".into()),
            log: Setting::default(tracing::level_filters::LevelFilter::WARN),
            max_body: Setting::default(limits.body),
            debounce: Setting::default(limits.debounce),
            open: Setting::default(true),
            ignore: Vec::new(),
            warnings: Vec::new(),
        };
        if let Some(path) = &sources.user_file {
            config.read_user_file(path)?;
        }
        config.read_variables(sources.variable)?;
        config.read_flags(sources.flags)?;
        for root in sources.roots {
            config.read_workspace_file(&root.join(WORKSPACE_FILE));
        }
        if config.name.value.trim().is_empty() {
            return Err(wrong(&config.name.origin, "the name is empty"));
        }
        Ok(config)
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

    /// All patterns, wherever they come from.
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.ignore
            .iter()
            .map(|pattern| pattern.value.clone())
            .collect()
    }

    fn read_user_file(&mut self, path: &Path) -> Result<(), Failure> {
        let origin = Origin::File(path.to_owned());
        let Some(text) = read(path).map_err(|why| wrong(&origin, why))? else {
            return Ok(());
        };
        let file: UserFile =
            toml::from_str(&text).map_err(|error| wrong(&origin, error.message()))?;
        let agents = file.agents.map(|names| agents(&names)).transpose();
        self.agents
            .set(agents.map_err(|why| wrong(&origin, why))?, origin.clone());
        self.port.set(file.port.map(Some), origin.clone());
        self.name.set(file.name, origin.clone());
        let log = file.log.as_deref().map(level).transpose();
        self.log
            .set(log.map_err(|why| wrong(&origin, why))?, origin.clone());
        self.max_body.set(file.max_body, origin.clone());
        self.debounce
            .set(file.debounce_ms.map(Duration::from_millis), origin.clone());
        self.open.set(file.open, origin.clone());
        self.add_patterns(file.ignore, &origin);
        Ok(())
    }

    fn read_variables(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
        /// Reads one variable; an empty one counts as not set.
        fn read<T>(
            variable: &dyn Fn(&str) -> Option<String>,
            name: &'static str,
            parse: impl FnOnce(&str) -> Result<T, String>,
        ) -> Result<(Option<T>, Origin), Failure> {
            let origin = Origin::Variable(name);
            let text = variable(name).filter(|text| !text.is_empty());
            let value = text
                .as_deref()
                .map(parse)
                .transpose()
                .map_err(|why| wrong(&origin, why))?;
            Ok((value, origin))
        }
        let (value, origin) = read(variable, "OUTRIGGER_AGENTS", |text| agents(&split(text)))?;
        self.agents.set(value, origin);
        let (value, origin) = read(variable, "OUTRIGGER_PORT", number)?;
        self.port.set(value.map(Some), origin);
        let (value, origin) = read(variable, "OUTRIGGER_NAME", |text| Ok(text.to_owned()))?;
        self.name.set(value, origin);
        let (value, origin) = read(variable, "OUTRIGGER_LOG", level)?;
        self.log.set(value, origin);
        let (value, origin) = read(variable, "OUTRIGGER_MAX_BODY", number)?;
        self.max_body.set(value, origin);
        let (value, origin) = read(variable, "OUTRIGGER_DEBOUNCE_MS", number)?;
        self.debounce.set(value.map(Duration::from_millis), origin);
        let (value, origin) = read(variable, "OUTRIGGER_OPEN", yes_or_no)?;
        self.open.set(value, origin);
        let (value, origin) = read(variable, "OUTRIGGER_IGNORE", |text| Ok(split(text)))?;
        self.add_patterns(value.unwrap_or_default(), &origin);
        Ok(())
    }

    fn read_flags(&mut self, flags: &Serve) -> Result<(), Failure> {
        let named: Vec<Agent> = flags.agents.iter().map(|name| Agent::from(*name)).collect();
        self.agents.set(
            (!named.is_empty()).then_some(named),
            Origin::Flag("--agents"),
        );
        self.port.set(flags.port.map(Some), Origin::Flag("--port"));
        self.name.set(flags.name.clone(), Origin::Flag("--name"));
        let origin = Origin::Flag("--log");
        let log = flags.log.as_deref().map(level).transpose();
        self.log
            .set(log.map_err(|why| wrong(&origin, why))?, origin);
        self.open
            .set(flags.no_open.then_some(false), Origin::Flag("--no-open"));
        self.add_patterns(flags.ignore.clone(), &Origin::Flag("--ignore"));
        Ok(())
    }

    /// Takes from a workspace's file what narrows, and reports the rest. A file that cannot be
    /// understood is reported too: it must not be able to keep the companion from starting.
    fn read_workspace_file(&mut self, path: &Path) {
        let origin = Origin::File(path.to_owned());
        let table = match read(path) {
            Ok(None) => return,
            Ok(Some(text)) => text
                .parse::<toml::Table>()
                .map_err(|error| error.message().to_owned()),
            Err(why) => Err(why),
        };
        let table = match table {
            Ok(table) => table,
            Err(why) => {
                return self
                    .warnings
                    .push(format!("{}: not used: {why}", path.display()));
            }
        };
        for (key, value) in table {
            let strings = value.as_array().map(|list| {
                list.iter()
                    .map(toml::Value::as_str)
                    .collect::<Option<Vec<_>>>()
            });
            match (key.as_str(), strings) {
                ("ignore", Some(Some(patterns))) => {
                    self.add_patterns(patterns.into_iter().map(str::to_owned).collect(), &origin);
                }
                ("agents", Some(Some(names))) => {
                    let before = self.agents.value.len();
                    self.agents.value.retain(|agent| names.contains(&agent.slug()));
                    if self.agents.value.len() < before {
                        self.agents.origin = origin.clone();
                    }
                }
                ("ignore" | "agents", _) => self
                    .warnings
                    .push(format!("{}: {key} is not a list of strings", path.display())),
                _ => self.warnings.push(format!(
                    "{}: {key} is not used: a workspace may only narrow what is shared (agents, ignore)",
                    path.display()
                )),
            }
        }
    }

    fn add_patterns(&mut self, patterns: Vec<String>, origin: &Origin) {
        self.ignore
            .extend(patterns.into_iter().map(|value| Setting {
                value,
                origin: origin.clone(),
            }));
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &dyn fmt::Display, origin: &Origin| {
            writeln!(f, "{:<28} {origin}", format!("{name} = {value}"))
        };
        let agents: Vec<_> = self.agents.value.iter().map(|agent| agent.slug()).collect();
        line("agents", &format!("{agents:?}"), &self.agents.origin)?;
        let port = self
            .port
            .value
            .map_or("any".to_owned(), |port| port.to_string());
        line("port", &port, &self.port.origin)?;
        line("name", &format!("{:?}", self.name.value), &self.name.origin)?;
        line("log", &format!("\"{}\"", self.log.value), &self.log.origin)?;
        line("max-body", &self.max_body.value, &self.max_body.origin)?;
        line(
            "debounce-ms",
            &self.debounce.value.as_millis(),
            &self.debounce.origin,
        )?;
        line("open", &self.open.value, &self.open.origin)?;
        for pattern in &self.ignore {
            line("ignore", &format!("{:?}", pattern.value), &pattern.origin)?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}

/// The table `[daemon]` of the person's file.
pub(crate) fn daemon_table(path: &Path) -> Result<Option<crate::daemon::settings::Table>, Failure> {
    let origin = Origin::File(path.to_owned());
    let Some(text) = read(path).map_err(|why| wrong(&origin, why))? else {
        return Ok(None);
    };
    let file: UserFile = toml::from_str(&text).map_err(|error| wrong(&origin, error.message()))?;
    Ok(file.daemon)
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(facts) if !facts.is_file() => return Err("not a regular file".into()),
        Ok(facts) if facts.len() > LARGEST => {
            return Err("too large for a configuration file".into());
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(|error| error.to_string())
}

pub(crate) fn wrong(origin: &Origin, why: impl fmt::Display) -> Failure {
    Failure::new(
        Kind::Configuration,
        format!("wrong configuration ({origin}): {why}"),
    )
    .hint("`outrigger config` shows what is in force and where it comes from")
}

fn split(text: &str) -> Vec<String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn agents(names: &[String]) -> Result<Vec<Agent>, String> {
    let known = |name: &String| {
        let agent = Agent::from_slug(name).filter(|agent| Agent::DISCOVERING.contains(agent));
        agent
            .ok_or_else(|| format!("there is no agent {name:?}; known are \"qwen\" and \"gemini\""))
    };
    names.iter().map(known).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a number that fits"))
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not one of true, false"))
}

fn level(text: &str) -> Result<tracing::level_filters::LevelFilter, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not one of off, error, warn, info, debug, trace"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::AgentName;

    /// Loads a configuration from the text of each source.
    fn load(
        flags: &Serve,
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
        Config::load(&Sources {
            flags,
            variable: &variable,
            user_file: Some(folder.path().join("config.toml")),
            roots: &[root],
        })
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_defaults() {
        let flags = Serve {
            port: Some(1),
            ..Serve::default()
        };
        let none = Serve::default();
        let port = |flags: &Serve, variables: &[(&str, &str)], user: &str| {
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
        let flags = Serve {
            ignore: vec!["a".into()],
            ..Serve::default()
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
        assert_eq!(patterns, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn a_workspace_can_only_narrow() {
        let hostile = "port = 1\nname = 'x'\nlog = 'trace'\nmax-body = 1\nstate-dir = '/x'\nagents = ['gemini', 'other']\nignore = ['*.md']";
        let config = load(
            &Serve::default(),
            &[],
            "agents = ['qwen', 'gemini']",
            hostile,
        )
        .unwrap();
        assert_eq!(config.agents.value, [Agent::Gemini]);
        assert_eq!(config.port.value, None);
        assert_eq!(config.name.value, "Outrigger");
        assert_eq!(config.max_body.value, Limits::default().body);
        assert_eq!(config.patterns(), ["*.md"]);
        assert_eq!(config.warnings.len(), 5);

        let only_qwen = Serve {
            agents: vec![AgentName::Qwen],
            ..Serve::default()
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
            let config = load(&Serve::default(), &[], "", text).unwrap();
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
            let failure = load(&Serve::default(), &[], user, "")
                .unwrap_err()
                .to_string();
            assert!(
                failure.contains(part) && failure.contains("config.toml"),
                "{failure}"
            );
        }
        let failure = load(&Serve::default(), &[("OUTRIGGER_PORT", "x")], "", "").unwrap_err();
        assert!(failure.to_string().contains("OUTRIGGER_PORT"));
    }
}
