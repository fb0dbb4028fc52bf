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

/// The tests that a document names, each with its file below `crates/`: after the name of a file in
/// backquotes, the names of its tests.
fn named_tests(text: &str) -> Vec<(String, String)> {
    let mut named = Vec::new();
    for line in text.lines() {
        let mut file = None;
        for quoted in line.split('`').skip(1).step_by(2) {
            if Path::new(quoted).extension().is_some_and(|it| it == "rs") {
                file = Some(quoted);
                named.push((quoted.to_owned(), String::new()));
            } else if let Some(file) = file
                && quoted.contains('_')
                && quoted
                    .chars()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
            {
                named.push((file.to_owned(), quoted.to_owned()));
            }
        }
    }
    named
}

#[test]
fn every_test_that_documents_name_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let security = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let named = named_tests(&security);
    assert!(named.len() > 50, "the search finds nothing");
    for (file, test) in named {
        let code = fs::read_to_string(root.join("crates").join(&file));
        let code = code.unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_there = test.is_empty() || code.contains(&format!("fn {test}("));
        assert!(is_there, "{file} has no test {test}");
    }
}
