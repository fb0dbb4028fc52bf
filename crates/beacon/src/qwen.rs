//! Where Qwen Code looks for a companion.
//!
//! - `<qwen home>/ide/<port>.lock` is read by every version since 0.5.2. Up to 0.10 the port has
//!   to be in the environment as well; later ones scan the folder.
//! - `<tmpdir>/gemini/ide/qwen-code-ide-server-<pid>-<port>.json` is read up to 0.5.0, and the
//!   process id must be that of the process which the client takes for its editor.
//! - The written specification also names `<qwen home>/ide/<pid>-<port>.lock` and
//!   `<tmpdir>/qwen/ide/qwen-code-ide-server-<pid>-<port>.json`. No published version reads
//!   them and their names match no pattern that one scans for, so they do no harm. They are
//!   there for clients that follow the specification.

use std::path::PathBuf;

use workbench::Agent;

use crate::places::{DiscoveryPath, absolute, temporary_folders};
use crate::{Surroundings, dotenv, gemini};

pub(crate) fn places(surroundings: &Surroundings, port: u16, pids: &[u32]) -> Vec<DiscoveryPath> {
    let place = |base: &PathBuf, below, name| DiscoveryPath {
        agent: Agent::Qwen,
        base: base.clone(),
        below,
        name,
    };
    let mut places = Vec::new();
    for home in homes(surroundings) {
        places.push(place(&home, &["ide"], format!("{port}.lock")));
        for pid in pids {
            places.push(place(&home, &["ide"], format!("{pid}-{port}.lock")));
        }
    }
    // Version 0.15.6 alone keeps its locks in the folder for run-time data.
    if let Some(path) = surroundings.var("QWEN_RUNTIME_DIR") {
        let base = expand(surroundings, path);
        places.push(place(&base, &["ide"], format!("{port}.lock")));
    }
    for tmp in temporary_folders(surroundings) {
        for below in [gemini::BELOW, &["qwen", "ide"]] {
            for pid in pids {
                places.push(place(
                    &tmp,
                    below,
                    format!("qwen-code-ide-server-{pid}-{port}.json"),
                ));
            }
        }
    }
    places
}

/// The folders that a version of Qwen Code may take for its own: `~/.qwen`, and the one that
/// `QWEN_HOME` names. Versions before 0.15.10 do not know that variable, and later ones read only
/// the folder that it names, so both get files.
fn homes(surroundings: &Surroundings) -> Vec<PathBuf> {
    let default = surroundings.home.as_ref().map(|home| home.join(".qwen"));
    let moved = qwen_home(surroundings).map(|path| expand(surroundings, &path));
    let mut homes: Vec<_> = default.into_iter().chain(moved).collect();
    homes.dedup();
    homes
}

/// `QWEN_HOME` from the environment, else from `~/.qwen/.env`, else from `~/.env`, which the
/// client reads first. A variable that is set to an empty value overrides the files and still
/// means the default, because the client takes from the files only what is not set at all.
fn qwen_home(surroundings: &Surroundings) -> Option<String> {
    const NAME: &str = "QWEN_HOME";
    if let Some(value) = surroundings.vars.get(NAME) {
        return Some(value.clone()).filter(|value| !value.is_empty());
    }
    [&surroundings.qwen_dotenv, &surroundings.home_dotenv]
        .into_iter()
        .flatten()
        .filter_map(|text| dotenv::value(text, NAME))
        .find(|value| !value.is_empty())
}

/// The path with a leading `~` replaced by the home folder and resolved against the current
/// folder, as the client does it.
fn expand(surroundings: &Surroundings, path: &str) -> PathBuf {
    if let (Some(home), Some(below)) = (&surroundings.home, path.strip_prefix('~'))
        && (below.is_empty() || below.starts_with(['/', '\\']))
    {
        let mut expanded = home.clone();
        expanded.extend(below.split(['/', '\\']).filter(|name| !name.is_empty()));
        return absolute(surroundings, &expanded.to_string_lossy());
    }
    absolute(surroundings, path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// `QWEN_HOME` in the environment, `~/.qwen/.env`, `~/.env`, and the folders that follow.
    type Case = (
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
        &'static [&'static str],
    );

    #[test]
    fn the_folders_of_qwen() {
        const DEFAULT: &str = "/home/ada/.qwen";
        let table: &[Case] = &[
            (None, None, None, &[DEFAULT]),
            (Some("/q"), None, None, &[DEFAULT, "/q"]),
            (Some("/q/"), None, None, &[DEFAULT, "/q"]),
            (Some("~"), None, None, &[DEFAULT, "/home/ada"]),
            (Some("~/q//r"), None, None, &[DEFAULT, "/home/ada/q/r"]),
            (Some("~\\q"), None, None, &[DEFAULT, "/home/ada/q"]),
            (Some("~/../bob"), None, None, &[DEFAULT, "/home/bob"]),
            (
                Some("~bob/q"),
                None,
                None,
                &[DEFAULT, "/projects/here/~bob/q"],
            ),
            (Some("q/./r"), None, None, &[DEFAULT, "/projects/here/q/r"]),
            (Some("../q"), None, None, &[DEFAULT, "/projects/q"]),
            (Some("~/.qwen"), None, None, &[DEFAULT]),
            (
                None,
                Some("QWEN_HOME=/a"),
                Some("QWEN_HOME=/b"),
                &[DEFAULT, "/a"],
            ),
            (
                None,
                Some("OTHER=1"),
                Some("QWEN_HOME=~/b"),
                &[DEFAULT, "/home/ada/b"],
            ),
            (
                None,
                Some("QWEN_HOME="),
                Some("QWEN_HOME=/b"),
                &[DEFAULT, "/b"],
            ),
            (
                Some("/q"),
                Some("QWEN_HOME=/a"),
                Some("QWEN_HOME=/b"),
                &[DEFAULT, "/q"],
            ),
            (
                Some(""),
                Some("QWEN_HOME=/a"),
                Some("QWEN_HOME=/b"),
                &[DEFAULT],
            ),
        ];
        for case @ (variable, qwen_dotenv, home_dotenv, expected) in table {
            let surroundings = Surroundings {
                vars: variable
                    .iter()
                    .map(|value| ("QWEN_HOME".into(), (*value).into()))
                    .collect(),
                qwen_dotenv: qwen_dotenv.map(Into::into),
                home_dotenv: home_dotenv.map(Into::into),
                ..Surroundings::new(Some("/home/ada".into()), "/projects/here".into())
            };
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(homes(&surroundings), expected, "{case:?}");
        }
    }

    #[test]
    fn without_a_home_only_what_is_named_is_served() {
        let surroundings = Surroundings::new(None, "/project".into());
        assert!(homes(&surroundings).is_empty());
        let names: Vec<_> = places(&surroundings, 7, &[9])
            .into_iter()
            .map(|place| place.path())
            .collect();
        assert_eq!(
            names,
            [
                PathBuf::from("/tmp/gemini/ide/qwen-code-ide-server-9-7.json"),
                PathBuf::from("/tmp/qwen/ide/qwen-code-ide-server-9-7.json"),
            ]
        );
    }
}
