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

/// The owner, when it is not the effective user.
pub(crate) fn foreign_owner(metadata: &Metadata) -> Option<u32> {
    let owner = metadata.uid();
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

pub(crate) fn is_link(metadata: &Metadata) -> bool {
    metadata.is_symlink()
}

pub(crate) fn inode(metadata: &Metadata) -> u64 {
    metadata.ino()
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
