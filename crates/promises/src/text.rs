//! Untrusted text keeps its meaning wherever it is written, and never gets another one: on a
//! terminal it controls nothing and makes no line of its own, a path comes back from its `file:` URI
//! byte for byte, and a shell reads a quoted text as exactly that text, in one word.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use text::{file_uri, shell, show};

/// Takes one text, which is a path as well.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let line = show::one_line(&text);
    assert!(!line.contains(is_obeyed), "{line:?}");
    let lines = show::printable(&text);
    let is_other = |c| is_obeyed(c) && c != '\n' && c != '\t';
    assert!(!lines.contains(is_other), "{lines:?}");
    assert_eq!(lines.matches('\n').count(), text.matches('\n').count());
    assert_eq!(show::one_line(&line), line, "what is shown stays as it is");
    if !text.contains(|c| c == '\t' || show::steers(c)) {
        assert_eq!(line, text, "what does no harm is not changed");
    }

    let word = shell::word(Path::new(&*text));
    if !text.is_empty() {
        assert_eq!(read_sh(&word).as_deref(), Some(&*text), "{word:?}");
    }
    let sh = shell::export_sh("X", &text);
    let fish = shell::export_fish("X", &text);
    for shown in [&word, &sh, &fish] {
        assert!(!shown.contains(is_obeyed), "{shown:?}");
    }
    if !text.contains(|c| c == '\t' || show::steers(c)) {
        let value = sh.strip_prefix("export X=").and_then(read_sh);
        assert_eq!(value.as_deref(), Some(&*text));
    }
    let value = fish.strip_prefix("set -gx X ").and_then(read_fish);
    assert_eq!(value.as_deref(), Some(&*text), "{fish:?}");

    // Whatever it is, it can be asked for.
    if let Some(path) = file_uri::to_path(&text) {
        assert!(path.is_absolute(), "{path:?}");
        assert_eq!(file_uri::to_path(&file_uri::from_path(&path)), Some(path));
    }
    if data.first() == Some(&b'/') && !data.contains(&0) {
        let path = Path::new(std::ffi::OsStr::from_bytes(data));
        let uri = file_uri::from_path(path);
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
        assert_eq!(file_uri::to_path(&uri).as_deref(), Some(path), "{uri}");
    }
}

/// What a terminal may obey, and what makes text read as another: control characters, line and
/// paragraph separators, and whatever changes the direction of what follows.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One word of `sh`, of the forms that are used here: quotes, also those in which the backslash is
/// special, a backslash outside of them, and characters without a meaning.
fn read_sh(word: &str) -> Option<String> {
    if let Some(inside) = word.strip_prefix("$'") {
        return read_escapes(inside.strip_suffix('\'')?);
    }
    let mut read = String::new();
    let mut characters = word.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => loop {
                match characters.next()? {
                    '\'' => break,
                    c => read.push(c),
                }
            },
            '\\' => read.push(characters.next()?),
            c if c.is_whitespace() || "\"$`&|;<>()*?[]#~=%{}!^".contains(c) => return None,
            c => read.push(c),
        }
    }
    Some(read)
}

/// A text in which a backslash stands before another, or before the three octal digits of a byte.
fn read_escapes(text: &str) -> Option<String> {
    let mut read = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\'' => return None,
            b'\\' => match bytes.next()? {
                b'\\' => read.push(b'\\'),
                first => {
                    let digits = [first, bytes.next()?, bytes.next()?];
                    let digits = std::str::from_utf8(&digits).ok()?;
                    read.push(u8::from_str_radix(digits, 8).ok()?);
                }
            },
            byte => read.push(byte),
        }
    }
    String::from_utf8(read).ok()
}

/// One word of fish: pieces in single quotes, and characters by their numbers.
fn read_fish(word: &str) -> Option<String> {
    let mut read = String::new();
    let mut characters = word.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => loop {
                match characters.next()? {
                    '\'' => break,
                    '\\' => match characters.next()? {
                        escaped @ ('\\' | '\'') => read.push(escaped),
                        other => read.extend(['\\', other]),
                    },
                    c => read.push(c),
                }
            },
            '\\' if characters.next()? == 'U' => {
                let digits: String = characters.by_ref().take(8).collect();
                read.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            _ => return None,
        }
    }
    Some(read)
}
