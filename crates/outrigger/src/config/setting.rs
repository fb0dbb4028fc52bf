//! Values that remember where they come from.

use std::fmt;
use std::path::PathBuf;

use workbench::Position;

use crate::output::one_line;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    Flag(&'static str),
    /// What an editor sent in `initialize`.
    Editor,
    Variable(&'static str),
    /// A file, and the place of the value in it.
    File(PathBuf, Option<Position>),
}

impl Origin {
    /// The source without the place in it.
    pub(crate) fn source(&self) -> String {
        match self {
            Origin::File(path, _) => path.display().to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Flag(name) => write!(f, "flag {name}"),
            Origin::Editor => f.write_str("settings of the editor"),
            Origin::Variable(name) => write!(f, "variable {name}"),
            Origin::File(path, None) => f.write_str(&one_line(path.display())),
            Origin::File(path, Some(position)) => {
                write!(f, "{}:{position}", one_line(path.display()))
            }
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Setting<T> {
    pub(super) fn default(value: T) -> Setting<T> {
        Setting {
            value,
            origin: Origin::Default,
        }
    }

    /// What a source says, if it says anything.
    pub(super) fn from_source(value: Option<T>, origin: &Origin) -> Option<Setting<T>> {
        value.map(|value| Setting {
            value,
            origin: origin.clone(),
        })
    }

    /// The same setting with another value.
    pub(super) fn map<S>(self, change: impl FnOnce(T) -> S) -> Setting<S> {
        Setting {
            value: change(self.value),
            origin: self.origin,
        }
    }

    /// Gives way to what a stronger source says.
    pub(super) fn replace<S: Into<T>>(&mut self, stronger: Option<Setting<S>>) {
        if let Some(Setting { value, origin }) = stronger {
            *self = Setting {
                value: value.into(),
                origin,
            };
        }
    }
}
