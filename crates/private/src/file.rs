//! Files that only this user can read. No file is ever written in place, and no symlink is
//! ever followed at the end of a path.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::folder::plain_name;
use crate::{Error, platform};

/// How the name of an unfinished file begins. The leading dot and the random part after it keep
/// it out of every pattern that an agent scans for.
const UNFINISHED: &str = ".outrigger-";

/// Writing takes milliseconds, so the writer of an older unfinished file was killed.
const ABANDONED: Duration = Duration::from_mins(1);

/// Writes the file `name` in `folder`, so that a reader sees either all of it or what was
/// there before.
///
/// The bytes go to a new file of mode 0600 that then takes the name. An existing entry of that
/// name is replaced; when it is a symlink, the link goes and its target stays as it was. The
/// folder should come from [`ensure_folder`](crate::ensure_folder).
///
/// Nothing is flushed to the disk: most of these files describe a running process, so they mean
/// nothing after a power cut. For the others there is [`sync`].
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = folder.join(plain_name(name)?);
    put(&path, folder, bytes, None)
}

/// Returns when a file that was written would survive the end of the machine: its bytes and its
/// name are on the disk.
pub fn sync(folder: &Path, name: &str) -> Result<(), Error> {
    let path = folder.join(plain_name(name)?);
    let absent = || Error::io("sync", &path)(io::ErrorKind::NotFound.into());
    let file = platform::open(&path)?.ok_or_else(absent)?;
    file.sync_all().map_err(Error::io("sync", &path))?;
    platform::sync_folder(folder).map_err(Error::io("sync", folder))
}

/// Writes a file that belongs to somebody else's program, at the person's wish, so that a reader
/// sees either all of it or what was there before. An existing file keeps its permissions.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().ok_or_else(|| Error::Name {
        name: path.display().to_string(),
    })?;
    let permissions = match fs::symlink_metadata(path) {
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("look at", path)(error)),
    };
    put(path, folder, bytes, permissions)
}

/// A file that takes the name when it is whole.
fn put(
    path: &Path,
    folder: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> Result<(), Error> {
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(Error::io("create a file in", folder))?;
    match permissions {
        Some(permissions) => file.as_file().set_permissions(permissions),
        None => platform::make_private(file.as_file()),
    }
    .map_err(Error::io("set the mode of", file.path()))?;
    file.write_all(bytes).map_err(Error::io("write", path))?;
    match file.persist(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::io("replace", path)(error.error)),
    }
}

/// Reads a file that must be a regular file of this user, no symlink, and no larger than `limit`
/// bytes. `None` when there is no such file.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let Some(file) = platform::open(path)? else {
        return Ok(None);
    };
    let metadata = file.metadata().map_err(Error::io("look at", path))?;
    if !metadata.is_file() {
        return Err(Error::NotAFile {
            path: path.to_path_buf(),
        });
    }
    if let Some(owner) = platform::foreign_owner(&metadata) {
        return Err(Error::NotOurs {
            path: path.to_path_buf(),
            owner,
        });
    }
    let mut bytes = Vec::new();
    // The file can grow while it is read, so the limit applies to what is read and not to the size
    // that the file system reports.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge {
            path: path.to_path_buf(),
            limit,
        });
    }
    Ok(Some(bytes))
}

/// Removes unfinished files of ours whose writer was killed.
pub fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED))
    {
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let age = metadata
            .modified()
            .ok()
            .and_then(|written| written.elapsed().ok());
        let ours = metadata.is_file() && platform::foreign_owner(&metadata).is_none();
        if ours && age.is_some_and(|age| age > ABANDONED) {
            // Nobody reads such a file; one that cannot be removed does no harm.
            let _ = remove(&entry.path());
        }
    }
}

/// Removes a file, or the symlink itself where there is one. A file that is already gone is no
/// error.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_is_written_can_be_read_by_us_alone() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "7.lock", b"one").unwrap();
        let path = folder.path().join("7.lock");
        assert_eq!(read(&path, 3).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
            0o600
        );
    }

    #[test]
    fn what_is_not_there_cannot_be_synced() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "7.lock", b"one").unwrap();
        sync(folder.path(), "7.lock").unwrap();
        for (folder, name) in [
            (folder.path().to_owned(), "8.lock"),
            (folder.path().join("gone"), "7.lock"),
        ] {
            let gone = sync(&folder, name);
            assert!(matches!(gone, Err(Error::Io { .. })), "{gone:?}");
        }
    }

    #[test]
    fn an_existing_file_is_replaced_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.lock");
        fs::write(&path, "a longer text of old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(folder.path(), "7.lock", b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
            0o600
        );
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no unfinished file is left"
        );
    }

    #[test]
    fn a_file_of_another_program_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        for mode in [0o600, 0o644, 0o640] {
            replace(&path, b"new").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace(&path, b"newer").unwrap();
            let found = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(found & 0o7777, mode);
            assert_eq!(fs::read(&path).unwrap(), b"newer");
        }
    }

    #[test]
    fn a_symlink_is_replaced_and_its_target_is_spared() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let path = folder.path().join("7.lock");
        symlink(&victim, &path).unwrap();
        write(folder.path(), "7.lock", b"token").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("7.lock")).unwrap();
        let error = write(folder.path(), "7.lock", b"x").unwrap_err();
        assert!(
            matches!(
                error,
                Error::Io {
                    action: "replace",
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn names_that_lead_out_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "..", "../x", "a/b"] {
            let error = write(folder.path(), name, b"x").unwrap_err();
            assert!(matches!(error, Error::Name { .. }), "{name:?}: {error}");
        }
    }

    #[test]
    fn reading_refuses_what_is_not_a_file_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(read(&at("absent"), 9).unwrap().is_none());

        fs::write(at("real"), "0123456789").unwrap();
        symlink(at("real"), at("link")).unwrap();
        assert!(matches!(read(&at("link"), 99), Err(Error::Symlink { .. })));
        assert!(matches!(
            read(&at("real"), 9),
            Err(Error::TooLarge { limit: 9, .. })
        ));
        assert!(matches!(
            read(folder.path(), 9),
            Err(Error::NotAFile { .. })
        ));
    }

    #[test]
    fn a_file_of_somebody_else_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = if rustix::process::geteuid().is_root() {
            let path = folder.path().join("foreign");
            fs::write(&path, "x").unwrap();
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            path
        } else {
            "/etc/passwd".into()
        };
        assert!(matches!(
            read(&foreign, 1 << 20),
            Err(Error::NotOurs { .. })
        ));
    }

    #[test]
    fn a_pipe_does_not_make_us_wait() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(matches!(read(&pipe, 9), Err(Error::NotAFile { .. })));
        }
    }

    #[test]
    fn removing_takes_the_link_and_not_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::write(&victim, "").unwrap();
        symlink(&victim, &link).unwrap();
        remove(&link).unwrap();
        remove(&link).unwrap();
        assert!(victim.exists());
    }
}
