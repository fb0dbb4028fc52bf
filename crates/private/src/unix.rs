//! Ownership and modes as Unix has them.

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::Error;

/// Creates one folder that only we can enter.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates a folder and all that is missing above it; one that exists is left as it is.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)
}

/// Returns when the names in this folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Whether every user may put files into this folder and take away ours. In a sticky folder nobody
/// can take away what is not theirs; such a folder is shared on purpose.
pub(crate) fn is_open_to_all(metadata: &Metadata) -> bool {
    metadata.mode() & 0o1002 == 0o0002
}

/// Takes the right to write in a folder of ours from everybody else.
pub(crate) fn close_to_others(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mode = folder.metadata()?.mode() & 0o7777;
    folder.set_permissions(Permissions::from_mode(mode & !0o022))
}

/// The owner, when it is not the effective user.
pub(crate) fn foreign_owner(metadata: &Metadata) -> Option<u32> {
    let owner = metadata.uid();
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

pub(crate) fn is_link(metadata: &Metadata) -> bool {
    metadata.is_symlink()
}

/// The device and the inode of a file.
pub(crate) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// When a file or its mode was changed, which no program can set back.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the interface is shared with Windows, which does not tell"
)]
pub(crate) fn changed(metadata: &Metadata) -> Option<(i64, i64)> {
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

/// Sets mode 0600 on an open file. A strict umask can have taken bits away when the file was
/// created, and then not even we could read it.
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Opens a file for reading. A symlink is refused by the kernel itself, which leaves no moment
/// between looking and opening; a pipe does not make us wait for somebody to write to it.
pub(crate) fn open(path: &Path) -> Result<Option<File>, Error> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => Ok(Some(File::from(descriptor))),
        Err(Errno::NOENT) => Ok(None),
        // Linux and macOS say LOOP, FreeBSD says MLINK.
        Err(Errno::LOOP | Errno::MLINK) => Err(Error::Symlink {
            path: path.to_path_buf(),
        }),
        Err(errno) => Err(Error::io("open", path)(errno.into())),
    }
}

/// Opens a file for reading, also through a link, without waiting for whoever would write to a pipe
/// or a lease. A terminal does not become ours.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::os::unix::fs::chown;
    use std::path::PathBuf;

    use super::*;

    /// A folder of another user, as its parent and its name. Root can make one; everybody else
    /// takes one of root's.
    pub(crate) fn give_away(scratch: &Path) -> (PathBuf, String) {
        if rustix::process::geteuid().is_root() {
            let path = scratch.join("theirs");
            fs::create_dir(&path).unwrap();
            chown(&path, Some(65534), None).unwrap();
            (scratch.to_path_buf(), "theirs".to_owned())
        } else {
            (PathBuf::from("/"), "usr".to_owned())
        }
    }
}
