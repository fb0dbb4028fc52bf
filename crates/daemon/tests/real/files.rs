//! Reading files through the published daemon: what it gives, how it names it, and what it refuses.

use std::fs;
use std::os::unix::fs::symlink;

use outrigger_daemon::wire::{ByteRange, FileKind, GlobRequest, RelativePath, TextRange};
use outrigger_daemon::{DaemonError, ErrorReason};

use crate::house::House;
use crate::ide::connected;

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).unwrap()
}

#[tokio::test]
async fn files_are_read_listed_and_found() {
    let Some(house) = House::open() else { return };
    let folder = house.workspace();
    fs::create_dir_all(folder.join("sub/deep")).unwrap();
    fs::write(folder.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(folder.join("sub/deep/ü c.txt"), "\u{feff}cee\r\n").unwrap();
    let noise: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    fs::write(folder.join("sub/noise"), &noise).unwrap();
    let (connection, _events) = connected(&house).await;
    let files = connection.workspace().unwrap();
    let whole = TextRange::default();

    let text = files.read_text(&path("a.txt"), &whole).await.unwrap();
    assert_eq!(text.content, "one\ntwo\nthree\n");
    assert_eq!((text.truncated, text.size_bytes), (false, Some(14)));
    // Line by line, from cursor to cursor.
    let mut lines = Vec::new();
    let mut range = TextRange {
        limit: Some(1),
        ..TextRange::default()
    };
    loop {
        let part = files.read_text(&path("a.txt"), &range).await.unwrap();
        lines.push(part.content);
        match part.next_cursor {
            Some(cursor) => range.cursor = Some(cursor),
            None => break,
        }
        assert!(lines.len() < 10, "{lines:?}");
    }
    assert_eq!(lines[..3].join("\n"), "one\ntwo\nthree");
    let odd = files.read_text(&path("sub/deep/ü c.txt"), &whole).await;
    let odd = odd.unwrap();
    assert_eq!((odd.content.as_str(), odd.bom), ("cee\r\n", Some(true)));
    assert_eq!(odd.line_ending.as_deref(), Some("crlf"));

    // Bytes, in two parts.
    let mut bytes = Vec::new();
    while bytes.len() < noise.len() {
        let range = ByteRange {
            offset: bytes.len().try_into().unwrap(),
            max_bytes: Some(60_000),
        };
        let part = files.read_bytes(&path("sub/noise"), range).await.unwrap();
        assert!(!part.content.is_empty());
        bytes.extend(part.content);
    }
    assert_eq!(bytes, noise);

    let kind = async |name: &str| files.stat(&path(name)).await.unwrap().kind;
    assert_eq!(kind("a.txt").await, FileKind::File);
    assert_eq!(kind("sub").await, FileKind::Directory);
    assert_eq!(kind(".").await, FileKind::Directory);
    let listing = files.list(&path("sub"), false).await.unwrap();
    let mut names: Vec<&str> = listing.entries.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["deep", "noise"]);
    let glob = |pattern: &str, folder: Option<&str>| GlobRequest {
        pattern: pattern.into(),
        folder: folder.map(path),
        ..GlobRequest::default()
    };
    let found = files.glob(&glob("**/*.txt", None)).await.unwrap();
    let mut matches = found.matches;
    matches.sort();
    assert_eq!(matches, [path("a.txt"), path("sub/deep/ü c.txt")]);
    let found = files.glob(&glob("**/*.txt", Some("sub"))).await.unwrap();
    assert_eq!(found.matches, [path("sub/deep/ü c.txt")]);
    for (text, expected) in [
        ("A.TX", &["a.txt"][..]),
        ("b/dEEp", &["sub/deep", "sub/deep/ü c.txt"]),
        ("Ü c", &["sub/deep/ü c.txt"]),
        ("n*ise", &["sub/noise"]),
        ("nois", &["sub/noise"]),
    ] {
        let mut found = files.glob(&GlobRequest::holding(text)).await.unwrap();
        found.matches.sort();
        let names: Vec<&str> = found.matches.iter().map(RelativePath::as_str).collect();
        assert_eq!(names, expected, "{text}");
    }

    // The same under the folder's own routes.
    let by_name = house.client().workspace(folder.to_str().unwrap());
    let text = by_name.read_text(&path("a.txt"), &whole).await.unwrap();
    assert_eq!(text.size_bytes, Some(14));
}

#[tokio::test]
async fn nothing_is_read_that_was_not_asked_for() {
    let Some(house) = House::open() else { return };
    let folder = house.workspace();
    let secret = house.home().join("secret.txt");
    fs::write(&secret, "a secret\n").unwrap();
    fs::write(folder.join("a.txt"), "one\n").unwrap();
    fs::write(folder.join("noise"), [0, 255, 1]).unwrap();
    symlink(&secret, folder.join("out.txt")).unwrap();
    symlink(folder.join("a.txt"), folder.join("in.txt")).unwrap();
    symlink(house.home(), folder.join("home")).unwrap();
    let files = house.client().primary_workspace();
    let read = async |name: &str| {
        let path = RelativePath::new(name).unwrap();
        files.read_text(&path, &TextRange::default()).await
    };
    for (name, reason) in [
        ("out.txt", ErrorReason::OutsideFolder),
        ("home/secret.txt", ErrorReason::OutsideFolder),
        ("nothing.txt", ErrorReason::NotFound),
        ("noise", ErrorReason::NotText),
    ] {
        let refused = read(name).await.unwrap_err();
        assert_eq!(refused.reason(), Some(reason), "{name}: {refused}");
    }
    // A link is followed inside the folder, and the answer names what it points to.
    match read("in.txt").await {
        Err(DaemonError::ForeignPath { answered, .. }) => assert_eq!(answered, "a.txt"),
        other => panic!("{other:?}"),
    }
    let listing = files.list(&RelativePath::root(), false).await.unwrap();
    let link = listing.entries.iter().find(|it| it.name == "out.txt");
    assert_eq!(link.unwrap().kind, FileKind::Symlink);
}
