//! The person's own file. A mistake in it is an error: it was meant, and it would not be in force.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::daemon::{DaemonLayer, DaemonTable};
use super::layer::{Layer, patterns};
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::failure::Failure;

/// The file as it was read, and where it stands.
pub(super) struct UserFile {
    values: Values,
    origin: Origin,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Values {
    agents: Option<Vec<String>>,
    port: Option<u16>,
    name: Option<String>,
    log: Option<String>,
    max_body: Option<usize>,
    debounce_ms: Option<u64>,
    open: Option<bool>,
    quiet: Option<bool>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    daemon: DaemonTable,
}

impl UserFile {
    /// Reads the file. One that does not exist says nothing.
    pub(super) fn read(path: Option<&Path>) -> Result<UserFile, Failure> {
        let Some(path) = path else {
            return Ok(UserFile {
                values: Values::default(),
                origin: Origin::Default,
            });
        };
        let origin = Origin::File(path.to_owned());
        let text = parse::file(path).map_err(|why| invalid(&origin, why))?;
        let values = match text {
            Some(text) => {
                toml::from_str(&text).map_err(|error| invalid(&origin, error.message()))?
            }
            None => Values::default(),
        };
        Ok(UserFile { values, origin })
    }

    pub(super) fn layer(self) -> Result<Layer, Failure> {
        let UserFile { values, origin } = self;
        let wrong = |why| invalid(&origin, why);
        let agents = values.agents.as_deref().map(parse::agents).transpose();
        let log = values.log.as_deref().map(parse::level).transpose();
        let debounce = values.debounce_ms.map(Duration::from_millis);
        Ok(Layer {
            agents: Setting::from_source(agents.map_err(wrong)?, &origin),
            port: Setting::from_source(values.port, &origin),
            name: Setting::from_source(values.name, &origin),
            log: Setting::from_source(log.map_err(wrong)?, &origin),
            max_body: Setting::from_source(values.max_body, &origin),
            debounce: Setting::from_source(debounce, &origin),
            open: Setting::from_source(values.open, &origin),
            quiet: Setting::from_source(values.quiet, &origin),
            ignore: patterns(values.ignore, &origin),
            daemon: DaemonLayer::from_table(values.daemon, &origin),
        })
    }

    /// The table `[daemon]` alone, for commands that start no companion.
    pub(super) fn daemon_layer(self) -> DaemonLayer {
        DaemonLayer::from_table(self.values.daemon, &self.origin)
    }
}
