//! The workspace's own file. A workspace can be hostile, so its file may only narrow what is
//! shared: it can switch agents off and add patterns to ignore.
//!
//! Whatever else stands in it is reported and not used. A file that cannot be understood is
//! reported too: it must not be able to keep the companion from starting.

use std::path::Path;

use toml::{Table, Value};

use super::layer::patterns;
use super::setting::Origin;
use super::{Config, parse};
use crate::output::one_line;

pub(super) const WORKSPACE_FILE: &str = ".outrigger.toml";

/// Applies the file of one root.
pub(super) fn narrow(config: &mut Config, root: &Path) {
    let path = root.join(WORKSPACE_FILE);
    let mut warn = |why: String| {
        let warning = format!("{}: {why}", path.display());
        config.warnings.push(one_line(warning));
    };
    let table = match read(&path) {
        Ok(Some(table)) => table,
        Ok(None) => return,
        Err(why) => return warn(format!("not used: {why}")),
    };
    let origin = Origin::File(path.clone());
    for (key, value) in table {
        match (key.as_str(), strings(&value)) {
            ("ignore", Some(list)) => config.ignore.extend(patterns(list, &origin)),
            ("agents", Some(names)) => {
                let before = config.agents.value.len();
                let stays = |slug: &str| names.iter().any(|name| name == slug);
                config.agents.value.retain(|agent| stays(agent.slug()));
                if config.agents.value.len() < before {
                    config.agents.origin = origin.clone();
                }
            }
            ("ignore" | "agents", None) => warn(format!("{key} is not a list of strings")),
            _ => warn(format!(
                "{key} is not used: a workspace may only narrow what is shared (agents, ignore)"
            )),
        }
    }
}

fn read(path: &Path) -> Result<Option<Table>, String> {
    let Some(text) = parse::file(path)? else {
        return Ok(None);
    };
    text.parse::<Table>()
        .map(Some)
        .map_err(|error| error.message().to_owned())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?.iter();
    list.map(|item| item.as_str().map(str::to_owned)).collect()
}
