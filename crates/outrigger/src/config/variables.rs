//! The environment variables of a companion.

use std::time::Duration;

use workbench::{Fault, Scope};

use super::daemon::DaemonLayer;
use super::layer::Layer;
use super::privacy::PrivacyLayer;
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::failure::Failure;

/// Stands for what is not Unicode in a variable.
const NO_UNICODE: char = char::REPLACEMENT_CHARACTER;

pub(super) fn layer(variable: &dyn Fn(&str) -> Option<String>) -> Result<Layer, Failure> {
    let variables = Variables(variable);
    let own = |text: &str| Ok(text.to_owned());
    let milliseconds = |text: &str| parse::number(text).map(Duration::from_millis);
    Ok(Layer {
        privacy: privacy(&variables)?,
        port: variables.read("OUTRIGGER_PORT", parse::number)?,
        name: variables.read("OUTRIGGER_NAME", own)?,
        log: variables.read("OUTRIGGER_LOG", parse::level)?,
        max_body: variables.read("OUTRIGGER_MAX_BODY", parse::number)?,
        debounce: variables.read("OUTRIGGER_DEBOUNCE_MS", milliseconds)?,
        open: variables.read("OUTRIGGER_OPEN", parse::yes_or_no)?,
        quiet: variables.read("OUTRIGGER_QUIET", parse::yes_or_no)?,
        daemon: DaemonLayer::from_variables(variable),
        warnings: Vec::new(),
    })
}

/// The patterns of this process's own variable that hide something. Those that take something back
/// are left out: they are about each other, and mean nothing among other patterns.
pub(crate) fn hiding_patterns() -> Vec<String> {
    let text = std::env::var_os("OUTRIGGER_IGNORE").unwrap_or_default();
    let mut patterns = parse::list(&text.to_string_lossy());
    patterns.retain(|pattern| !pattern.starts_with('!'));
    patterns
}

fn privacy(variables: &Variables<'_>) -> Result<PrivacyLayer, Failure> {
    let list = |text: &str| Ok(parse::list(text));
    let mut layer = PrivacyLayer::default();
    if let Some(names) = variables.read("OUTRIGGER_AGENTS", list)? {
        let named: Vec<_> = names.value.iter().map(|it| (it.as_str(), None)).collect();
        layer.set_agents(&named, &names.origin, &Scope::Everywhere);
    }
    if let Some(patterns) = variables.read("OUTRIGGER_IGNORE", list)? {
        if patterns.value.iter().any(|it| it.contains(NO_UNICODE)) {
            layer.faults.push(Fault {
                source: patterns.origin.source(),
                position: None,
                message: "the patterns are not UTF-8 text".into(),
                scope: Scope::Everywhere,
            });
        }
        layer.set_patterns(&patterns.value, &patterns.origin);
    }
    Ok(layer)
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
