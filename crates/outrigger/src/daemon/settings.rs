//! Which daemon, and the token for it: flags, then variables, then the person's file, then defaults.
//!
//! The token is never an argument, which everybody on the machine could read. The workspace's own
//! file has no say in this: it could send prompts elsewhere.

use std::fmt;
use std::path::{Path, PathBuf};

use ::daemon::{Address, Token};
use serde::Deserialize;

use crate::args::{DaemonLink, Serve};
use crate::config::{self, Origin};
use crate::failure::Failure;
use crate::folders;
use crate::output::harmless;

/// Larger files are not tokens.
const LARGEST: u64 = 1 << 16;

/// The table `[daemon]` of the person's file.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Table {
    enabled: Option<bool>,
    url: Option<String>,
    token: Option<String>,
    token_file: Option<PathBuf>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the token.
        f.debug_struct("Table")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A daemon, and the token for it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) token: Option<Token>,
    /// Where the address comes from.
    address_from: Origin,
    /// Where the token comes from.
    token_from: Origin,
}

impl fmt::Display for Link {
    /// In the form of the configuration. That there is a token is shown, the token is not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = format!("daemon.url = \"{}\"", self.address);
        writeln!(f, "{url:<28} {}", self.address_from)?;
        let token = if self.token.is_some() { "set" } else { "none" };
        let token = format!("daemon.token = {token}");
        writeln!(f, "{token:<28} {}", self.token_from)
    }
}

/// The daemon to hold conversations with in the page and in editors, if that is switched on: by a
/// flag, by the variable that names one, or by the person's file.
pub(crate) fn conversation(flags: &Serve) -> Result<Option<Link>, Failure> {
    let file = folders::config_file();
    let table = match &file {
        Some(path) => config::daemon_table(path)?.map(|table| (table, path.as_path())),
        None => None,
    };
    let variable = |name: &str| std::env::var(name).ok();
    let named = variable("QWEN_IDE_DAEMON_URL").is_some_and(|url| !url.trim().is_empty());
    let enabled = table.as_ref().and_then(|(table, _)| table.enabled);
    if !(flags.daemon || flags.daemon_url.is_some() || enabled.unwrap_or(named)) {
        return Ok(None);
    }
    let link = DaemonLink {
        url: flags.daemon_url.clone(),
        token_file: None,
    };
    from_sources(&link, &variable, table).map(Some)
}

/// Puts the sources together.
pub(crate) fn resolve(flags: &DaemonLink) -> Result<Link, Failure> {
    let file = folders::config_file();
    let table = match &file {
        Some(path) => config::daemon_table(path)?.map(|table| (table, path.as_path())),
        None => None,
    };
    let variable = |name: &str| std::env::var(name).ok();
    from_sources(flags, &variable, table)
}

fn from_sources(
    flags: &DaemonLink,
    variable: &dyn Fn(&str) -> Option<String>,
    table: Option<(Table, &Path)>,
) -> Result<Link, Failure> {
    let variable = |name: &'static str| {
        let value = variable(name).filter(|value| !value.trim().is_empty());
        value.map(|value| (value, Origin::Variable(name)))
    };
    let (table, file) = match table {
        Some((table, path)) => (table, Origin::File(path.to_owned())),
        None => (Table::default(), Origin::Default),
    };
    let flag = flags.url.clone().map(|url| (url, Origin::Flag("--url")));
    let address = flag
        .or_else(|| variable("QWEN_IDE_DAEMON_URL"))
        .or_else(|| table.url.clone().map(|url| (url, file.clone())));
    let (address, address_from) = match address {
        None => (Address::default(), Origin::Default),
        Some((text, origin)) => {
            let address = text.parse().map_err(|error: ::daemon::AddressError| {
                config::wrong(&origin, harmless(&error.to_string())).hint(error.hint())
            })?;
            (address, origin)
        }
    };
    let token = match &flags.token_file {
        Some(path) => Some((
            read(path, &Origin::Flag("--token-file"))?,
            Origin::Flag("--token-file"),
        )),
        None => match (variable("QWEN_SERVER_TOKEN"), table.token, table.token_file) {
            (Some(token), ..) => Some(token),
            (None, Some(_), Some(_)) => {
                return Err(config::wrong(&file, "token and token-file are both set"));
            }
            (None, Some(token), None) => Some((token, file)),
            (None, None, Some(path)) => Some((read(&path, &file)?, file)),
            (None, None, None) => None,
        },
    };
    let (token, token_from) = match token {
        Some((text, origin)) => {
            let token = Token::new(&text).map_err(|error| config::wrong(&origin, error))?;
            (Some(token), origin)
        }
        None => (None, Origin::Default),
    };
    Ok(Link {
        address,
        token,
        address_from,
        token_from,
    })
}

fn read(path: &Path, origin: &Origin) -> Result<String, Failure> {
    let cannot =
        |why: String| config::wrong(origin, format!("cannot read {}: {why}", path.display()));
    let facts = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?;
    if facts.len() > LARGEST {
        return Err(cannot("it is too large for a token".into()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if facts.is_file() && facts.permissions().mode() & 0o077 != 0 {
            let path = harmless(&path.display().to_string());
            eprintln!("outrigger: other users of this machine may read {path}; `chmod 600` it");
        }
    }
    std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(
        url: Option<&str>,
        token_file: Option<&Path>,
        variables: &[(&str, &str)],
        table: &str,
    ) -> Result<(String, Option<String>), String> {
        let flags = DaemonLink {
            url: url.map(str::to_owned),
            token_file: token_file.map(Path::to_owned),
        };
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let table: Table = toml::from_str(table).unwrap();
        let link = from_sources(&flags, &variable, Some((table, Path::new("/c.toml"))));
        let link = link.map_err(|failure| failure.to_string())?;
        let token = link.token.map(|token| token.expose().to_owned());
        Ok((link.address.to_string(), token))
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_the_default() {
        let table = "url = 'http://127.0.0.1:3'\ntoken = 'from-file'";
        let variables = [
            ("QWEN_IDE_DAEMON_URL", "http://127.0.0.1:2"),
            ("QWEN_SERVER_TOKEN", " from-env\n"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "from-flag\n").unwrap();
        let expect =
            |url: &str, token: Option<&str>| Ok((url.to_owned(), token.map(str::to_owned)));
        let flag = link(Some("http://127.0.0.1:1"), Some(&file), &variables, table);
        assert_eq!(flag, expect("http://127.0.0.1:1", Some("from-flag")));
        assert_eq!(
            link(None, None, &variables, table),
            expect("http://127.0.0.1:2", Some("from-env"))
        );
        let empty = [("QWEN_IDE_DAEMON_URL", ""), ("QWEN_SERVER_TOKEN", " ")];
        assert_eq!(
            link(None, None, &empty, table),
            expect("http://127.0.0.1:3", Some("from-file"))
        );
        let by_file = format!("token-file = '{}'", file.display());
        assert_eq!(
            link(None, None, &[], &by_file),
            expect("http://127.0.0.1:4170", Some("from-flag"))
        );
        assert_eq!(
            link(None, None, &[], ""),
            expect("http://127.0.0.1:4170", None)
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_origin_and_without_the_token() {
        let refused = |url: Option<&str>, variables: &[(&str, &str)], table: &str| {
            link(url, None, variables, table).unwrap_err()
        };
        let error = refused(Some("http://example.com"), &[], "");
        assert!(
            error.contains("--url") && error.contains("hint: only a daemon on this machine"),
            "{error}"
        );
        let error = refused(None, &[("QWEN_SERVER_TOKEN", "my secret")], "");
        assert!(
            error.contains("QWEN_SERVER_TOKEN") && !error.contains("my secret"),
            "{error}"
        );
        let error = refused(None, &[], "token = 'a'\ntoken-file = 'b'");
        assert!(error.contains("/c.toml"), "{error}");
        assert!(link(None, Some(Path::new("/nonexistent")), &[], "").is_err());
    }
}
