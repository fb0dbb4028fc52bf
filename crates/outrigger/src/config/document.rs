//! A TOML file whose values know where they are.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use workbench::Position;

/// A table of a TOML file.
pub(super) struct Table<'t> {
    text: &'t str,
    entries: Vec<Entry<'t>>,
}

struct Entry<'t> {
    key: String,
    /// Where the key is, in bytes.
    key_at: usize,
    value: Spanned<DeValue<'t>>,
}

/// A value, and where it is.
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) position: Position,
}

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) position: Option<Position>,
    pub(super) message: String,
}

impl<'t> Table<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Table<'t>, Mistake> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Table::new(text, table.into_inner())),
            Err(error) => Err(Mistake {
                position: error.span().map(|span| Position::of(text, span.start)),
                message: error.message().to_owned(),
            }),
        }
    }

    fn new(text: &'t str, table: DeTable<'t>) -> Table<'t> {
        let entries = table.into_iter().map(|(key, value)| Entry {
            key_at: key.span().start,
            key: key.into_inner().into_owned(),
            value,
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|entry| entry.key_at);
        Table { text, entries }
    }

    /// The keys, in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, Position)> {
        let entries = self.entries.iter();
        entries.map(|entry| (entry.key.as_str(), self.position(entry.key_at)))
    }

    /// The value of `key`, if there is one. `expected` says in words what it has to be.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<Found<T>>, Mistake> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let position = self.position(entry.value.span().start);
        match T::deserialize(ValueDeserializer::from(entry.value.clone())) {
            Ok(value) => Ok(Some(Found { value, position })),
            Err(_) => Err(Mistake {
                position: Some(position),
                message: format!("`{key}` has to be {expected}"),
            }),
        }
    }

    /// The strings of the list `key`, each with its place.
    pub(super) fn strings(&self, key: &str) -> Result<Option<Found<Vec<Found<String>>>>, Mistake> {
        let list = self.get::<Vec<Spanned<String>>>(key, "a list of strings")?;
        Ok(list.map(|list| Found {
            position: list.position,
            value: list
                .value
                .into_iter()
                .map(|item| Found {
                    position: self.position(item.span().start),
                    value: item.into_inner(),
                })
                .collect(),
        }))
    }

    /// The table `key`, if there is one.
    pub(super) fn table(&self, key: &str) -> Result<Option<Table<'t>>, Mistake> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        match entry.value.get_ref() {
            DeValue::Table(table) => Ok(Some(Table::new(self.text, table.clone()))),
            _ => Err(Mistake {
                position: Some(self.position(entry.value.span().start)),
                message: format!("`{key}` has to be a table"),
            }),
        }
    }

    fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn position(&self, offset: usize) -> Position {
        Position::of(self.text, offset)
    }
}

/// The name in `known` that somebody may have meant.
pub(super) fn meant<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    /// Less alike than this, and it is another word.
    const ALIKE: f64 = 0.85;
    let unknown = unknown.to_lowercase();
    let likeness = |name: &&str| strsim::jaro_winkler(&unknown, name);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) >= ALIKE).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_where_they_are() {
        let text = "\u{feff}# é\r\nport = 7\r\n  'ignore' = [ 'é', \"b\",\r\n 'c' ]\r\n[daemon]\r\nurl = 3\r\n";
        let table = Table::parse(text).unwrap();
        let port = table.get::<u16>("port", "a number").unwrap().unwrap();
        assert_eq!((port.value, port.position.to_string()), (7, "2:8".into()));
        let list = table.strings("ignore").unwrap().unwrap();
        let places: Vec<_> = list
            .value
            .iter()
            .map(|item| item.position.to_string())
            .collect();
        assert_eq!(list.position.to_string(), "3:14");
        assert_eq!(places, ["3:16", "3:21", "4:2"]);
        let keys: Vec<_> = table
            .keys()
            .map(|(key, at)| format!("{key} {at}"))
            .collect();
        assert_eq!(keys, ["port 2:1", "ignore 3:3", "daemon 5:2"]);
        let daemon = table.table("daemon").unwrap().unwrap();
        let mistake = daemon.get::<String>("url", "a string").err().unwrap();
        assert_eq!(mistake.position.unwrap().to_string(), "6:7");
        assert_eq!(mistake.message, "`url` has to be a string");
        assert!(table.table("port").is_err());
        let broken = Table::parse("a = 1\nb = [1,\n").err().unwrap();
        assert_eq!(broken.position.unwrap().line, 2);
    }

    #[test]
    fn what_somebody_may_have_meant() {
        let known = [
            "agents",
            "ignore",
            "port",
            "name",
            "max-body",
            "debounce-ms",
        ];
        for (unknown, expected) in [
            ("ignor", Some("ignore")),
            ("ignored", Some("ignore")),
            ("Ignore", Some("ignore")),
            ("ignore-files", Some("ignore")),
            ("agent", Some("agents")),
            ("prot", Some("port")),
            ("max_body", Some("max-body")),
            ("debounce", Some("debounce-ms")),
            ("command", None),
            ("state-dir", None),
            ("x", None),
        ] {
            assert_eq!(meant(unknown, &known), expected, "{unknown}");
        }
    }
}
