//! The disk of a schedule's machine: small file systems of its own that can be full or read-only.
//!
//! They are mounted inside a private mount namespace, which the whole harness runs in (see
//! [`enter_namespace`]). So nobody else sees them, no privilege is needed, and they go with the last
//! process of the harness. Permissions would not do: they do not hold for root.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};

/// Says to the program inside the namespace that it is there.
const INSIDE: &str = "OUTRIGGER_FAULTS_NAMESPACE";
/// Far more than a schedule needs.
const SIZE: &std::ffi::CStr = c"size=4m,mode=0700";
/// What one page of the file system holds.
const PAGE: usize = 4096;

/// Becomes the same program in a namespace of its own. Returns whether it is in one; where the system
/// refuses that, schedules run without faults of the disk.
pub fn enter_namespace() -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    let mut trial = unshare();
    trial
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !trial.status().is_ok_and(|status| status.success()) {
        return false;
    }
    let Ok(program) = std::env::current_exe() else {
        return false;
    };
    let error = unshare()
        .arg(program)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .exec();
    eprintln!("cannot become a program in a namespace: {error}");
    false
}

/// Whether this process is in a namespace of its own.
pub(crate) fn is_ours() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The file systems of one machine.
pub(crate) struct Disk {
    /// Where one is mounted.
    mounted: Vec<PathBuf>,
    /// Folders that are read-only at the moment.
    read_only: Vec<PathBuf>,
}

impl Disk {
    /// Mounts an empty file system over each of these folders.
    pub(crate) fn mount(folders: &[PathBuf]) -> io::Result<Disk> {
        let mut disk = Disk {
            mounted: Vec::new(),
            read_only: Vec::new(),
        };
        for folder in folders {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("outrigger-faults", folder, "tmpfs", flags, SIZE)?;
            disk.mounted.push(folder.clone());
        }
        Ok(disk)
    }

    /// Takes all room but for this many pages.
    pub(crate) fn fill(&self, pages: usize) -> io::Result<()> {
        for folder in &self.mounted {
            let path = filler(folder);
            let mut file = File::create(&path)?;
            let mut taken = 0;
            let page = [0; PAGE];
            while file.write_all(&page).is_ok() {
                taken += 1;
            }
            let left = taken * PAGE - pages.min(taken) * PAGE;
            file.set_len(left as u64)?;
        }
        Ok(())
    }

    /// Lets nobody create, replace or remove anything in a folder, if it exists.
    pub(crate) fn make_read_only(&mut self, folder: &Path) -> io::Result<()> {
        if !folder.is_dir() || self.read_only.iter().any(|it| it == folder) {
            return Ok(());
        }
        mount_bind(folder, folder)?;
        self.read_only.push(folder.to_owned());
        let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        Ok(mount_remount(folder, flags, "")?)
    }

    /// Everything is as it should be again.
    pub(crate) fn recover(&mut self) {
        for folder in self.read_only.drain(..).rev() {
            let _ = unmount(&folder, UnmountFlags::DETACH);
        }
        for folder in &self.mounted {
            let _ = fs::remove_file(filler(folder));
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.recover();
        for folder in self.mounted.drain(..).rev() {
            let _ = unmount(&folder, UnmountFlags::DETACH);
        }
    }
}

fn filler(folder: &Path) -> PathBuf {
    folder.join("filler")
}
