//! What one source says. A stronger layer replaces single values; patterns of all layers add up.

use std::time::Duration;

use tracing::level_filters::LevelFilter;
use workbench::Agent;

use super::daemon::DaemonLayer;
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::args::ServeArgs;
use crate::failure::Failure;

/// What one source says; `None` where it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(super) agents: Option<Setting<Vec<Agent>>>,
    pub(super) port: Option<Setting<u16>>,
    pub(super) name: Option<Setting<String>>,
    pub(super) log: Option<Setting<LevelFilter>>,
    pub(super) max_body: Option<Setting<usize>>,
    pub(super) debounce: Option<Setting<Duration>>,
    pub(super) open: Option<Setting<bool>>,
    pub(super) ignore: Vec<Setting<String>>,
    pub(super) daemon: DaemonLayer,
}

impl Layer {
    /// The flags of `outrigger serve` and `outrigger config`.
    pub(crate) fn from_flags(flags: &ServeArgs) -> Result<Layer, Failure> {
        let agents: Vec<Agent> = flags.agents.iter().map(|name| Agent::from(*name)).collect();
        Ok(Layer {
            agents: Setting::from_source(
                (!agents.is_empty()).then_some(agents),
                &Origin::Flag("--agents"),
            ),
            port: Setting::from_source(flags.port, &Origin::Flag("--port")),
            name: Setting::from_source(flags.name.clone(), &Origin::Flag("--name")),
            log: log_flag(flags.log.as_deref())?,
            max_body: None,
            debounce: None,
            open: Setting::from_source(flags.no_open.then_some(false), &Origin::Flag("--no-open")),
            ignore: patterns(flags.ignore.clone(), &Origin::Flag("--ignore")),
            daemon: DaemonLayer::from_serve_flags(flags),
        })
    }

    /// The settings that an editor sent in `initialize`, and the flags it was started with.
    pub(crate) fn from_editor(
        name: Option<String>,
        options: editor::Options,
        log: Option<&str>,
    ) -> Result<Layer, Failure> {
        let named = options.agents.iter().flatten();
        // An agent that we do not know is not accepted anyway.
        let agents: Vec<Agent> = named.filter_map(|name| parse::agent(name)).collect();
        Ok(Layer {
            agents: Setting::from_source((!agents.is_empty()).then_some(agents), &Origin::Editor),
            name: Setting::from_source(name, &Origin::Editor),
            log: log_flag(log)?,
            ignore: patterns(options.ignore, &Origin::Editor),
            daemon: DaemonLayer::from_editor(options.daemon),
            ..Layer::default()
        })
    }
}

impl Layer {
    /// How much is logged, if this source says so.
    pub(crate) fn log_level(&self) -> Option<LevelFilter> {
        self.log.as_ref().map(|log| log.value)
    }
}

/// Patterns of one source.
pub(super) fn patterns(patterns: Vec<String>, origin: &Origin) -> Vec<Setting<String>> {
    let with_origin = |value| Setting {
        value,
        origin: origin.clone(),
    };
    patterns.into_iter().map(with_origin).collect()
}

fn log_flag(level: Option<&str>) -> Result<Option<Setting<LevelFilter>>, Failure> {
    let origin = Origin::Flag("--log");
    let level = level.map(parse::level).transpose();
    let level = level.map_err(|why| invalid(&origin, why))?;
    Ok(Setting::from_source(level, &origin))
}
