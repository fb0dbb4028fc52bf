//! The environment variables of a companion.

use std::time::Duration;

use super::daemon::DaemonLayer;
use super::layer::{Layer, patterns};
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::failure::Failure;

pub(super) fn layer(variable: &dyn Fn(&str) -> Option<String>) -> Result<Layer, Failure> {
    let variables = Variables(variable);
    let own = |text: &str| Ok(text.to_owned());
    let milliseconds = |text: &str| parse::number(text).map(Duration::from_millis);
    let ignore = variables.read("OUTRIGGER_IGNORE", |text| Ok(parse::list(text)))?;
    Ok(Layer {
        agents: variables.read("OUTRIGGER_AGENTS", |text| parse::agents(&parse::list(text)))?,
        port: variables.read("OUTRIGGER_PORT", parse::number)?,
        name: variables.read("OUTRIGGER_NAME", own)?,
        log: variables.read("OUTRIGGER_LOG", parse::level)?,
        max_body: variables.read("OUTRIGGER_MAX_BODY", parse::number)?,
        debounce: variables.read("OUTRIGGER_DEBOUNCE_MS", milliseconds)?,
        open: variables.read("OUTRIGGER_OPEN", parse::yes_or_no)?,
        quiet: variables.read("OUTRIGGER_QUIET", parse::yes_or_no)?,
        ignore: ignore.map_or_else(Vec::new, |list| patterns(list.value, &list.origin)),
        daemon: DaemonLayer::from_variables(variable),
    })
}

struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// Reads one variable. An empty one counts as not set.
    fn read<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<T>>, Failure> {
        let origin = Origin::Variable(name);
        let text = (self.0)(name).filter(|text| !text.is_empty());
        let value = text.as_deref().map(parse).transpose();
        let value = value.map_err(|why| invalid(&origin, why))?;
        Ok(Setting::from_source(value, &origin))
    }
}
