//! The configuration as `outrigger config` prints it: one value a line with its origin, or JSON.

use std::fmt;
use std::path::PathBuf;

use companion::IgnoreFiles;
use serde::Serialize;
use serde_json::{Value, json};
use web::wire;
use workbench::{Fault, PatternList, Privacy, Scope};

use super::{Config, Origin, Setting};
use crate::output::{Lines, one_line};

/// The configuration in force, with the ignore files of the folders.
pub(crate) struct ShownConfig {
    values: Vec<ShownValue>,
    ignore: Vec<PatternList>,
    faults: Vec<Fault>,
    warnings: Vec<String>,
}

struct ShownValue {
    name: &'static str,
    value: Value,
    origin: Origin,
}

impl ShownConfig {
    /// Reads the ignore files of `roots`. `state` is where companions keep their state, `warning` what
    /// a companion would say about conversations.
    pub(crate) fn new(
        config: &Config,
        roots: &[PathBuf],
        state: &Setting<PathBuf>,
        warning: Option<String>,
    ) -> ShownConfig {
        let agents = config.privacy.agents.value.iter();
        let agents: Vec<_> = agents.map(|agent| agent.slug()).collect();
        let debounce = u64::try_from(config.debounce.value.as_millis()).unwrap_or(u64::MAX);
        let mut values = vec![
            shown("agents", json!(agents), &config.privacy.agents.origin),
            shown("port", json!(config.port.value), &config.port.origin),
            shown("name", json!(config.name.value), &config.name.origin),
            shown(
                "log",
                json!(config.log.value.to_string()),
                &config.log.origin,
            ),
            shown(
                "max-body",
                json!(config.max_body.value),
                &config.max_body.origin,
            ),
            shown("debounce-ms", json!(debounce), &config.debounce.origin),
            shown("open", json!(config.open.value), &config.open.origin),
            shown("quiet", json!(config.quiet.value), &config.quiet.origin),
            shown(
                "state-dir",
                json!(state.value.to_string_lossy()),
                &state.origin,
            ),
        ];
        for setting in config.daemon.shown() {
            let (name, value) = setting.value;
            let value = match value.as_str() {
                "true" | "false" => json!(value == "true"),
                _ => json!(value),
            };
            values.push(shown(name, value, &setting.origin));
        }
        let warnings = config.warnings().map(str::to_owned);
        let privacy = &config.privacy;
        let mut files = IgnoreFiles::new(roots.to_vec());
        files.set_configuration(privacy.ignore.clone(), privacy.faults.clone());
        let (ignore, faults) = files.sources();
        ShownConfig {
            values,
            // A pattern that cannot be used is found when they are put together.
            faults: Privacy::new(roots, &ignore, &faults).faults().to_vec(),
            ignore,
            warnings: warnings.chain(warning).collect(),
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> impl Serialize {
        let values = self.values.iter().map(|shown| {
            let value = json!({ "value": shown.value, "origin": shown.origin.to_string() });
            (shown.name.to_owned(), value)
        });
        let ignore = self.ignore.iter().map(|list| {
            let patterns: Vec<_> = written(list).map(|(text, _)| text).collect();
            let folder = match &list.scope {
                Scope::Everywhere => None,
                Scope::Below(root) => Some(root.to_string_lossy()),
            };
            json!({ "source": list.source, "folder": folder, "patterns": patterns })
        });
        let faults = self.faults.iter().map(wire::Fault::from);
        json!({
            "values": values.collect::<serde_json::Map<_, _>>(),
            "ignore": ignore.collect::<Vec<_>>(),
            "faults": faults.collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }

    /// For people.
    pub(crate) fn lines(&self) -> Lines {
        let mut lines = Lines::new();
        for ShownValue {
            name,
            value,
            origin,
        } in &self.values
        {
            // A port that is not set is any free one.
            match value {
                Value::Null => lines.push(line(name, "any", origin)),
                value => lines.push(line(name, value, origin)),
            }
        }
        for list in &self.ignore {
            for (text, place) in written(list) {
                lines.push(line("ignore", json!(text), place));
            }
        }
        for warning in &self.warnings {
            lines.push(format_args!("warning: {warning}"));
        }
        for fault in &self.faults {
            lines.push(format_args!("fault: {}", front::words::fault(fault)));
        }
        lines
    }
}

fn shown(name: &'static str, value: Value, origin: &Origin) -> ShownValue {
    ShownValue {
        name,
        value,
        origin: origin.clone(),
    }
}

/// The patterns of a list, each with where it is written, without empty lines and comments.
fn written(list: &PatternList) -> impl Iterator<Item = (&str, String)> {
    let patterns = list.patterns.iter().map(|pattern| {
        let place = match pattern.position {
            Some(position) => format!("{}:{position}", list.source),
            None => list.source.clone(),
        };
        (pattern.text.trim_end_matches('\r'), place)
    });
    patterns.filter(|(text, _)| !text.trim().is_empty() && !text.starts_with('#'))
}

fn line(name: &str, value: impl fmt::Display, origin: impl fmt::Display) -> String {
    // As wide as it is shown.
    let value = one_line(format_args!("{name} = {value}"));
    format!("{value:<28} {origin}")
}
