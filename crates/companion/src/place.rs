//! Resolves the paths that front ends report.

use std::io;
use std::path::{Path, PathBuf};

use workbench::Place;

/// Finds out where the file at an absolute path really is.
///
/// A path that reaches the workspace through a link is spelled as the workspace's root is,
/// because that is how agents see the folder.
pub fn locate(path: &Path, roots: &[PathBuf]) -> io::Result<Place> {
    let real = path.canonicalize()?;
    let spelled = roots.iter().any(|root| path.starts_with(root));
    Ok(Place {
        path: if spelled {
            path.to_owned()
        } else {
            real.clone()
        },
        real,
    })
}
