//! Which crate may depend on which, and what the core may use of the standard library.

#![allow(
    clippy::unwrap_used,
    reason = "a test that meets something unexpected has to fail"
)]

use std::path::Path;

/// The names of a crate's dependencies, without those of its tests.
fn dependencies(manifest: &str) -> Vec<&str> {
    let sections = manifest.split("\n[");
    let normal = sections.filter(|section| {
        let name = section.lines().next().unwrap_or_default();
        name.ends_with("dependencies]") && !name.contains("dev-")
    });
    let lines = normal.flat_map(|section| section.lines().skip(1));
    let names = lines.filter_map(|line| line.split([' ', '.', '=']).next());
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn wire_formats_and_transports_stay_at_the_edge() {
    const WIRE: [&str; 7] = [
        "serde",
        "serde_json",
        "axum",
        "hyper",
        "hyper-util",
        "wire",
        "web",
    ];
    const PERSON: [&str; 4] = ["front", "web", "editor", "wire"];
    for (name, manifest, absent) in [
        (
            "workbench",
            include_str!("../../workbench/Cargo.toml"),
            &WIRE[..],
        ),
        ("text", include_str!("../../text/Cargo.toml"), &WIRE),
        ("front", include_str!("../Cargo.toml"), &WIRE),
        (
            "companion",
            include_str!("../../companion/Cargo.toml"),
            &PERSON,
        ),
        ("daemon", include_str!("../../daemon/Cargo.toml"), &PERSON),
        (
            "conversation",
            include_str!("../../conversation/Cargo.toml"),
            &PERSON,
        ),
        ("editor", include_str!("../../editor/Cargo.toml"), &["web"]),
        ("web", include_str!("../../web/Cargo.toml"), &["editor"]),
    ] {
        let known = dependencies(manifest);
        for other in absent {
            assert!(!known.contains(other), "{name} must not know {other}");
        }
    }
}

#[test]
fn dependencies_are_read() {
    let known = dependencies(include_str!("../Cargo.toml"));
    assert!(known.contains(&"companion") && known.contains(&"tokio"));
    assert!(!known.contains(&"testkit"), "only tests use it");
}

/// The source of a file, with the tests at its end cut off.
fn product_code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..tests].to_owned()
}

#[test]
fn the_core_uses_no_clock_no_files_and_no_environment() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workbench/src");
    let mut files = 0;
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        files += 1;
        let code = product_code(&path);
        for used in [
            "std::fs",
            "std::net",
            "std::io",
            "std::env",
            "std::process",
            "std::thread",
            "Instant",
            "SystemTime",
            "env!(",
            // Of a path: these ask the file system.
            ".exists()",
            ".is_file()",
            ".is_dir()",
            ".canonicalize()",
            ".metadata()",
        ] {
            assert!(!code.contains(used), "{} uses {used}", path.display());
        }
    }
    assert!(files > 10, "the sources were found");
}

#[test]
fn the_core_does_no_io_and_waits_for_nothing() {
    let known = dependencies(include_str!("../../workbench/Cargo.toml"));
    for other in ["tokio", "rustix", "getrandom", "tempfile", "private"] {
        assert!(!known.contains(&other), "workbench must not know {other}");
    }
}
