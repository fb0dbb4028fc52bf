//! `file:` URIs and the paths that they name.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The path that a `file:` URI of this machine names; `None` for every other URI.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file://"))?;
    let rest = &uri[rest.len()..];
    let (authority, path) = rest.split_at(rest.find('/')?);
    if !authority.is_empty() && !authority.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let bytes = decode(path)?;
    if bytes.contains(&0) {
        return None;
    }
    from_bytes(bytes)
}

/// The `file:` URI of an absolute path. Bytes that are not unreserved are percent-encoded.
pub fn from_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.first() != Some(&b'/') {
        uri.push('/');
    }
    for &byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte.into());
            }
            // Writing to a `String` cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    Some(bytes)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the interface is shared with other systems, where it can fail"
)]
#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    Some(std::ffi::OsString::from_vec(bytes).into())
}

/// On Windows `/c:/x` is `c:\x`.
#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(bytes).ok()?;
    let path = match text.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &text[1..],
        _ => &text,
    };
    Some(path.replace('/', "\\").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_from_their_uris() {
        for path in ["/a/b.rs", "/a b/é.rs", "/50%/x#y?z", "/a:b", "/~/ü"] {
            assert_eq!(
                to_path(&from_path(Path::new(path))).as_deref(),
                Some(Path::new(path))
            );
        }
    }

    #[test]
    fn what_cannot_stand_in_a_uri_is_escaped() {
        for (path, expected) in [
            ("/a b/é", "file:///a%20b/%C3%A9"),
            ("/w/a.rs", "file:///w/a.rs"),
            ("/w/ä b#?.rs", "file:///w/%C3%A4%20b%23%3F.rs"),
        ] {
            assert_eq!(from_path(Path::new(path)), expected);
        }
    }

    #[test]
    fn editors_spell_uris_in_several_ways() {
        for (uri, path) in [
            ("file:///a/b", Some("/a/b")),
            ("FILE:///a", Some("/a")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%3Ab", Some("/a:b")),
            ("file:///a%3ab", Some("/a:b")),
            ("file:///a+b@c", Some("/a+b@c")),
            ("file:///é", Some("/é")),
            ("file://other/a", None),
            ("untitled:Untitled-1", None),
            ("oil:///a", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%00", None),
            ("file://", None),
            ("", None),
        ] {
            assert_eq!(to_path(uri).as_deref(), path.map(Path::new), "{uri}");
        }
    }
}
