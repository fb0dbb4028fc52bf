//! What one source says. A stronger layer replaces single values; patterns of all layers add up.

use std::time::Duration;

use tracing::level_filters::LevelFilter;
use workbench::{Agent, Privacy};

use super::daemon::DaemonLayer;
use super::privacy::PrivacyLayer;
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::args::ServeArgs;
use crate::failure::Failure;

/// What one source says; `None` where it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(super) privacy: PrivacyLayer,
    pub(super) port: Option<Setting<u16>>,
    pub(super) name: Option<Setting<String>>,
    pub(super) log: Option<Setting<LevelFilter>>,
    pub(super) max_body: Option<Setting<usize>>,
    pub(super) debounce: Option<Setting<Duration>>,
    pub(super) open: Option<Setting<bool>>,
    pub(super) quiet: Option<Setting<bool>>,
    pub(super) daemon: DaemonLayer,
    /// What was found and not used, as sentences for the person.
    pub(super) warnings: Vec<String>,
}

impl Layer {
    /// The flags of `outrigger serve` and `outrigger config`.
    pub(crate) fn from_flags(flags: &ServeArgs) -> Result<Layer, Failure> {
        Ok(Layer {
            privacy: privacy_flags(flags)?,
            port: Setting::from_source(flags.port, &Origin::Flag("--port")),
            name: Setting::from_source(flags.name.clone(), &Origin::Flag("--name")),
            log: log_flag(flags.log.as_deref())?,
            max_body: None,
            debounce: None,
            open: Setting::from_source(flags.no_open.then_some(false), &Origin::Flag("--no-open")),
            quiet: Setting::from_source(flags.quiet.then_some(true), &Origin::Flag("--quiet")),
            daemon: DaemonLayer::from_serve_flags(flags),
            warnings: Vec::new(),
        })
    }

    /// The settings that an editor sent in `initialize`, and the flags it was started with.
    pub(crate) fn from_editor(
        name: Option<String>,
        options: &editor::Options,
        log: Option<&str>,
    ) -> Result<Layer, Failure> {
        Ok(Layer {
            privacy: PrivacyLayer::of_editor(options),
            name: Setting::from_source(name, &Origin::Editor),
            log: log_flag(log)?,
            daemon: DaemonLayer::from_editor(&options.daemon),
            ..Layer::default()
        })
    }
}

impl Layer {
    /// How much is logged, if this source says so.
    pub(crate) fn log_level(&self) -> Option<LevelFilter> {
        self.log.as_ref().map(|log| log.value)
    }

    /// What it says about what is shared.
    pub(crate) fn privacy(&self) -> &PrivacyLayer {
        &self.privacy
    }

    /// What it says about conversations with a daemon.
    pub(crate) fn daemon(&self) -> &DaemonLayer {
        &self.daemon
    }
}

/// Whoever types a flag is there to mend it, and it cannot be mended later: a pattern that cannot be
/// used is an error.
fn privacy_flags(flags: &ServeArgs) -> Result<PrivacyLayer, Failure> {
    let mut layer = PrivacyLayer::default();
    let agents: Vec<Agent> = flags.agents.iter().map(|name| Agent::from(*name)).collect();
    let named = (!agents.is_empty()).then_some(agents);
    layer.agents = Setting::from_source(named, &Origin::Flag("--agents"));
    let origin = Origin::Flag("--ignore");
    layer.set_patterns(&flags.ignore, &origin);
    let lists: Vec<_> = layer.ignore.iter().cloned().collect();
    match Privacy::new(&[], &lists, &[]).faults() {
        [] => Ok(layer),
        [fault, ..] => Err(invalid(&origin, &fault.message)),
    }
}

fn log_flag(level: Option<&str>) -> Result<Option<Setting<LevelFilter>>, Failure> {
    let origin = Origin::Flag("--log");
    let level = level.map(parse::level).transpose();
    let level = level.map_err(|why| invalid(&origin, why))?;
    Ok(Setting::from_source(level, &origin))
}
