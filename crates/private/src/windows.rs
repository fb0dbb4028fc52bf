//! Ownership and modes as Windows has them.
//!
//! The home folder and the temporary folder of a Windows user lie in their profile, and the
//! access list that every file there inherits admits that user, the administrators and the
//! system only. So there is no mode to set and no owner to compare; links are still refused.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::Error;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: open the link itself and not what it leads to.
const OPEN_LINK_ITSELF: u32 = 0x0020_0000;
/// `FILE_ATTRIBUTE_REPARSE_POINT`: set on symlinks and on junctions, which lead elsewhere too
/// although the standard library does not call them symlinks.
const IS_LINK: u32 = 0x0000_0400;

/// Creates one folder; the profile's access list makes it private.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Creates a folder and all that is missing above it; one that exists is left as it is.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// Nothing to do: a name is on the disk with its file.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the interface is shared with Unix, where it can fail"
)]
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Always `false`: in a profile folder the access list already decides who may write.
pub(crate) fn is_open_to_all(_metadata: &Metadata) -> bool {
    false
}

/// Never called, because no folder is open to all.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the interface is shared with Unix, where it can fail"
)]
pub(crate) fn close_to_others(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Always `None`: in a profile folder the access list already decides who may write.
pub(crate) fn foreign_owner(_metadata: &Metadata) -> Option<u32> {
    None
}

pub(crate) fn is_link(metadata: &Metadata) -> bool {
    metadata.file_attributes() & IS_LINK != 0
}

/// Always the same: the standard library has no stable access to a file's index. Time and length
/// have to suffice.
pub(crate) fn identity(_metadata: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Always `None`: the standard library does not tell.
pub(crate) fn changed(_metadata: &Metadata) -> Option<(i64, i64)> {
    None
}

/// Nothing to do: the file has inherited the access list of its folder.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the interface is shared with Unix, where it can fail"
)]
pub(crate) fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Opens a file for reading without following a link.
pub(crate) fn open(path: &Path) -> Result<Option<File>, Error> {
    let file = match OpenOptions::new()
        .read(true)
        .custom_flags(OPEN_LINK_ITSELF)
        .open(path)
    {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    let metadata = file.metadata().map_err(Error::io("look at", path))?;
    if is_link(&metadata) {
        return Err(Error::Symlink {
            path: path.to_path_buf(),
        });
    }
    Ok(Some(file))
}

/// Opens a file for reading, also through a link.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}
