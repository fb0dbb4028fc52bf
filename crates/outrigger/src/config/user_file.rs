//! The person's own file. A mistake in it is an error: it was meant, and it would not be in force.
//! A mistake in what concerns privacy closes all folders instead, so that it can be mended while
//! the companion runs; so does a file that cannot be read at all, because it may have said
//! something about privacy. And one about the daemon costs only conversations.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use workbench::Scope;

use super::daemon::DaemonLayer;
use super::document::{Found, Mistake, Table};
use super::layer::Layer;
use super::privacy::{self, FileKeys, PrivacyLayer};
use super::setting::{Origin, Setting};
use super::{invalid, parse};
use crate::failure::Failure;

/// The settings that exist.
pub(super) const KEYS: [&str; 10] = [
    "agents",
    "port",
    "name",
    "log",
    "max-body",
    "debounce-ms",
    "open",
    "quiet",
    "ignore",
    "daemon",
];

const FILE_KEYS: FileKeys<'static> = FileKeys {
    usable: &KEYS,
    known: &KEYS,
    unused: "",
};

/// What the file says about privacy, whatever else is wrong in it.
pub(super) fn privacy(path: &Path) -> PrivacyLayer {
    PrivacyLayer::from_file(path, &Scope::Everywhere, FILE_KEYS)
}

/// What the file says, apart from privacy. One that does not exist, or that cannot be read at all,
/// says nothing.
pub(super) fn layer(path: Option<&Path>) -> Result<Layer, Failure> {
    let text = path.map(|path| (path, privacy::read(path)));
    let Some((path, Ok(Some(text)))) = text else {
        return Ok(Layer::default());
    };
    let Ok(table) = Table::parse(&text) else {
        return Ok(Layer::default());
    };
    let file = SourceFile { path, table };
    let log = file.get::<String>("log", "one of off, error, warn, info, debug, trace")?;
    let log = log.map(|log| {
        let level = parse::level(&log.value);
        let level = level.map_err(|why| invalid(&log.origin, why))?;
        Ok::<_, Failure>(Setting {
            value: level,
            origin: log.origin,
        })
    });
    let debounce = file.get::<u64>("debounce-ms", "a number of milliseconds")?;
    Ok(Layer {
        port: file.get("port", "a number from 0 to 65535")?,
        name: file.get("name", "a string")?,
        log: log.transpose()?,
        max_body: file.get("max-body", "a number of bytes")?,
        debounce: debounce.map(|setting| setting.map(Duration::from_millis)),
        open: file.get("open", "true or false")?,
        quiet: file.get("quiet", "true or false")?,
        daemon: file.daemon(),
        warnings: file.daemon_warnings(),
        ..Layer::default()
    })
}

/// The table `[daemon]` alone, for commands that start no companion.
pub(super) fn daemon_layer(path: Option<&Path>) -> Result<DaemonLayer, Failure> {
    let Some(path) = path else {
        return Ok(DaemonLayer::default());
    };
    let wrong = |mistake: Mistake| {
        let origin = Origin::File(path.to_owned(), mistake.position);
        invalid(&origin, mistake.message)
    };
    let Some(text) = privacy::read(path).map_err(wrong)? else {
        return Ok(DaemonLayer::default());
    };
    let table = Table::parse(&text).map_err(wrong)?;
    let layer = SourceFile { path, table }.daemon();
    match layer.mistake() {
        // A command of this daemon can do nothing with it.
        Some(mistake) => Err(invalid(&mistake.origin, &mistake.value)),
        None => Ok(layer),
    }
}

/// A file that could be parsed. Its mistakes name the place.
pub(super) struct SourceFile<'a> {
    pub(super) path: &'a Path,
    pub(super) table: Table<'a>,
}

impl SourceFile<'_> {
    /// The value of a key, if there is one.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<Setting<T>>, Failure> {
        let value = self.value(key, expected);
        value.map_err(|mistake| invalid(&mistake.origin, mistake.value))
    }

    /// The same, with what is wrong in words.
    pub(super) fn value<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<Setting<T>>, Setting<String>> {
        let found = self.table.get(key, expected);
        let found = found.map_err(|mistake| self.located(mistake))?;
        Ok(found.map(|Found { value, position }| Setting {
            value,
            origin: Origin::File(self.path.to_owned(), Some(position)),
        }))
    }

    fn daemon(&self) -> DaemonLayer {
        match self.daemon_table() {
            Ok(Some(table)) => DaemonLayer::from_table(&table),
            Ok(None) => DaemonLayer::default(),
            Err(mistake) => DaemonLayer::unreadable(mistake),
        }
    }

    /// Keys of the table `[daemon]` that nobody knows. Those of the whole file are judged with its
    /// privacy.
    fn daemon_warnings(&self) -> Vec<String> {
        let Ok(Some(daemon)) = self.daemon_table() else {
            return Vec::new();
        };
        let path = self.path.display().to_string();
        let known = DaemonLayer::KEYS;
        let unknown = daemon.table.keys().filter(|(key, _)| !known.contains(key));
        let warnings = unknown.map(|(key, position)| {
            privacy::located(&path, Some(position), &privacy::unknown_key(key, &known))
        });
        warnings.collect()
    }

    fn daemon_table(&self) -> Result<Option<SourceFile<'_>>, Setting<String>> {
        let table = self.table.table("daemon");
        let table = table.map_err(|mistake| self.located(mistake))?;
        Ok(table.map(|table| SourceFile {
            path: self.path,
            table,
        }))
    }

    fn located(&self, mistake: Mistake) -> Setting<String> {
        Setting {
            value: mistake.message,
            origin: Origin::File(self.path.to_owned(), mistake.position),
        }
    }
}
