//! What is tried with random input and has no other way in from outside: the program itself uses none
//! of this.

use std::path::{Path, PathBuf};

use workbench::{Agent, Fault, PatternList};

use crate::config::{Config, Layer, Sources};

/// A configuration, as far as others can tell whether it is right.
#[derive(Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The agents that may connect.
    pub agents: Vec<Agent>,
    /// Patterns from every source.
    pub ignore: Vec<PatternList>,
    /// What could not be understood and closes folders.
    pub faults: Vec<Fault>,
    /// All that concerns what is not shared: port, name, log, limits, page, daemon.
    pub rest: String,
    /// What was found and not used, as sentences for the person.
    pub warnings: Vec<String>,
}

/// Reads the configuration of these folders from files and variables. An error is what the person is
/// told.
pub fn configuration(
    user_file: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
    roots: &[PathBuf],
) -> Result<Configuration, String> {
    let config = Config::load(Sources {
        start: Layer::default(),
        variable,
        user_file: Some(user_file),
        roots,
    });
    let config = config.map_err(|failure| format!("{failure:?}"))?;
    let warnings = config.warnings().map(str::to_owned).collect();
    let Config {
        privacy,
        port,
        name,
        log,
        max_body,
        debounce,
        open,
        quiet,
        daemon,
        ..
    } = config;
    let rest = format!(
        "{port:?} {name:?} {log:?} {max_body:?} {debounce:?} {open:?} {quiet:?} {daemon:?}"
    );
    Ok(Configuration {
        agents: privacy.agents.value,
        ignore: privacy.ignore,
        faults: privacy.faults,
        rest,
        warnings,
    })
}

/// Whether a text is TOML at all.
pub fn is_toml(text: &str) -> bool {
    toml::de::DeTable::parse(text).is_ok()
}
