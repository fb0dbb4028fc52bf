//! The configuration as `outrigger config` prints it: one value a line, with its origin.

use std::fmt;

use super::daemon::DaemonTarget;
use super::{Config, Origin};
use crate::output::one_line;

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<_> = self.agents.value.iter().map(|agent| agent.slug()).collect();
        let port = match self.port.value {
            Some(port) => port.to_string(),
            None => "any".to_owned(),
        };
        line(f, "agents", format_args!("{agents:?}"), &self.agents.origin)?;
        line(f, "port", port, &self.port.origin)?;
        let name = &self.name;
        line(f, "name", format_args!("{:?}", name.value), &name.origin)?;
        let log = &self.log;
        line(f, "log", format_args!("\"{}\"", log.value), &log.origin)?;
        line(f, "max-body", self.max_body.value, &self.max_body.origin)?;
        let debounce = &self.debounce;
        line(
            f,
            "debounce-ms",
            debounce.value.as_millis(),
            &debounce.origin,
        )?;
        line(f, "open", self.open.value, &self.open.origin)?;
        line(f, "quiet", self.quiet.value, &self.quiet.origin)?;
        for pattern in &self.ignore {
            let shown = format_args!("{:?}", pattern.value);
            line(f, "ignore", shown, &pattern.origin)?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for DaemonTarget {
    /// Whether there is a token is shown; the token is not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        let shown = format_args!("\"{address}\"");
        line(f, "daemon.url", shown, &self.address_origin)?;
        let token = if self.token.is_some() { "set" } else { "none" };
        line(f, "daemon.token", token, &self.token_origin)
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: impl fmt::Display,
    origin: &Origin,
) -> fmt::Result {
    let value = one_line(format_args!("{name} = {value}"));
    writeln!(f, "{value:<28} {origin}")
}
