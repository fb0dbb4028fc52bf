//! The umask belongs to the whole process, so this test has a process of its own.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::Mode;

#[test]
fn the_umask_decides_nothing() {
    let base = tempfile::tempdir().unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for (number, umask) in [0o000, 0o022, 0o077, 0o277].into_iter().enumerate() {
        let below = number.to_string();
        // Taking away our own right to write would hinder the folder, not the file.
        rustix::process::umask(Mode::from_raw_mode(umask & 0o077));
        let folder = outrigger_private::ensure_folder(base.path(), &[&below]).unwrap();
        rustix::process::umask(Mode::from_raw_mode(umask));
        outrigger_private::write(&folder, "file", b"text").unwrap();
        assert_eq!(mode(folder.clone()), 0o700, "folder under umask {umask:o}");
        assert_eq!(
            mode(folder.join("file")),
            0o600,
            "file under umask {umask:o}"
        );
    }
}
