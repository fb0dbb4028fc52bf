//! Values that a client needs and nobody else may see.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A value that must not get into a log: addresses of providers, settings of servers, what a newer
/// daemon adds to such an answer. Its `Debug` shows nothing.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden<T>(pub T);

impl<T> Deref for Hidden<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}
