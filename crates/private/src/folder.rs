//! Folders that belong to this user. Existing folders are checked, and closed to others if everybody
//! could write to them.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::{Error, platform};

/// Makes sure that each folder of `below`, one inside the other, exists under `base` and is
/// ours, and returns the innermost.
///
/// Folders that are missing (the base too) are created with mode 0700. Those that exist keep
/// their mode, with one exception: if every user could write there, nobody but us can from then on,
/// because others could take our files away and put theirs in the place. A folder with the sticky
/// bit, where they cannot, is left as it is, and so is one that only a group can write to, which on
/// many systems is the user's own. The base may be a symlink and may belong to anyone: in a sticky folder such as
/// `/tmp` nobody else can replace what we own. Every folder below it has to be a real folder
/// of the effective user, because its owner decides what becomes of the files in it.
pub fn ensure_folder(base: &Path, below: &[&str]) -> Result<PathBuf, Error> {
    platform::create_folders(base).map_err(Error::io("create", base))?;
    let mut folder = base.to_path_buf();
    for name in below {
        folder.push(plain_name(name)?);
        ensure_one(&folder)?;
    }
    Ok(folder)
}

/// Returns the name if it is a single path component: no separator, no `..`, not empty.
pub(crate) fn plain_name(name: &str) -> Result<&str, Error> {
    let mut components = Path::new(name).components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(only)), None) if only == name => Ok(name),
        _ => Err(Error::Name {
            name: name.to_owned(),
        }),
    }
}

fn ensure_one(folder: &Path) -> Result<(), Error> {
    // The check comes first, so that an existing folder can be used on a read-only file system.
    if let Some(metadata) = metadata(folder)? {
        return check(folder, &metadata);
    }
    match platform::create_folder(folder) {
        Ok(()) => {}
        // Created concurrently; whether by this user or by another one is checked below.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::io("create", folder)(error)),
    }
    match metadata(folder)? {
        Some(metadata) => check(folder, &metadata),
        None => Err(Error::io("create", folder)(io::ErrorKind::NotFound.into())),
    }
}

fn metadata(path: &Path) -> Result<Option<Metadata>, Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("look at", path)(error)),
    }
}

fn check(folder: &Path, metadata: &Metadata) -> Result<(), Error> {
    let path = folder.to_path_buf();
    if platform::is_link(metadata) {
        return Err(Error::Symlink { path });
    }
    if !metadata.is_dir() {
        return Err(Error::NotAFolder { path });
    }
    if let Some(owner) = platform::foreign_owner(metadata) {
        return Err(Error::NotOurs { path, owner });
    }
    if platform::is_open_to_all(metadata) {
        return platform::close_to_others(folder)
            .map_err(Error::io("take the right to write from others in", folder));
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::platform::tests::give_away;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn missing_folders_are_created_for_us_alone() {
        let base = tempfile::tempdir().unwrap();
        let deep = base.path().join("not/there/yet");
        let folder = ensure_folder(&deep, &["gemini", "ide"]).unwrap();
        assert_eq!(folder, deep.join("gemini/ide"));
        for created in [
            "not",
            "not/there",
            "not/there/yet",
            "not/there/yet/gemini/ide",
        ] {
            assert_eq!(mode(&base.path().join(created)), 0o700, "{created}");
        }
    }

    #[test]
    fn existing_folders_keep_their_mode_unless_everybody_can_write_there() {
        for (found, left) in [
            (0o700, 0o700),
            (0o755, 0o755),
            // Often the group of this user alone.
            (0o775, 0o775),
            (0o777, 0o755),
            (0o757, 0o755),
            (0o722, 0o700),
            // Nobody can take away what is not theirs.
            (0o1777, 0o1777),
        ] {
            let base = tempfile::tempdir().unwrap();
            let [outer, inner] = ["gemini", "gemini/ide"].map(|below| base.path().join(below));
            for folder in [&outer, &inner] {
                fs::create_dir(folder).unwrap();
                fs::set_permissions(folder, fs::Permissions::from_mode(found)).unwrap();
            }
            ensure_folder(base.path(), &["gemini", "ide"]).unwrap();
            assert_eq!((mode(&outer), mode(&inner)), (left, left), "{found:o}");
        }
    }

    #[test]
    fn the_base_may_be_a_symlink_and_what_is_below_it_may_not() {
        let base = tempfile::tempdir().unwrap();
        let real = base.path().join("real");
        fs::create_dir_all(real.join("gemini")).unwrap();
        let link = base.path().join("link");
        symlink(&real, &link).unwrap();
        ensure_folder(&link, &["gemini", "ide"]).unwrap();
        assert!(real.join("gemini/ide").is_dir());

        symlink(base.path(), real.join("bait")).unwrap();
        for below in [&["link"][..], &["link", "gemini"], &["real", "bait"]] {
            let error = ensure_folder(base.path(), below).unwrap_err();
            assert!(matches!(error, Error::Symlink { .. }), "{below:?}: {error}");
        }
    }

    #[test]
    fn a_dangling_symlink_is_not_filled_in() {
        let base = tempfile::tempdir().unwrap();
        let target = base.path().join("elsewhere");
        symlink(&target, base.path().join("gemini")).unwrap();
        let error = ensure_folder(base.path(), &["gemini", "ide"]).unwrap_err();
        assert!(matches!(error, Error::Symlink { .. }), "{error}");
        assert!(!target.exists());
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("gemini"), "").unwrap();
        let error = ensure_folder(base.path(), &["gemini", "ide"]).unwrap_err();
        assert!(matches!(error, Error::NotAFolder { .. }), "{error}");
        assert_eq!(error.path(), Some(&*base.path().join("gemini")));
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let (base, name) = give_away(scratch.path());
        let error = ensure_folder(&base, &[&name, "ide"]).unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }), "{error}");
        assert!(!base.join(&name).join("ide").exists());
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let base = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "a/b", "/etc", "a/", "./a"] {
            let error = ensure_folder(base.path(), &[name]).unwrap_err();
            assert!(matches!(error, Error::Name { .. }), "{name:?}: {error}");
        }
    }
}
