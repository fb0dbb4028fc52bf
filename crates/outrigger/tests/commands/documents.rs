//! What documents and plugins say about the program.

use std::fs;
use std::path::{Path, PathBuf};

/// The files that people read, and the plugins.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            texts(&path, found);
        } else if ["md", "txt", "lua", "vim", "el"]
            .iter()
            .any(|ext| name.ends_with(ext))
        {
            found.push(path);
        }
    }
}

#[test]
fn there_is_one_way_to_install_it_and_it_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    texts(&root.join("docs"), &mut files);
    texts(&root.join("editors"), &mut files);
    let mut hints = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // Emacs Lisp continues a string on the next line.
        let text = text.replace("\\\n", "");
        for (at, _) in text.match_indices("cargo install") {
            let hint = &text[at..];
            let is_true = hint.starts_with("cargo install --path crates/outrigger");
            assert!(is_true, "{}: {:.60}", file.display(), hint);
            hints += 1;
        }
    }
    assert!(hints > 5, "the search finds nothing");
    assert!(root.join("crates/outrigger/Cargo.toml").is_file());
}
