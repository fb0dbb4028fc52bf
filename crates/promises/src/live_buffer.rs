//! The text that we keep of an open document is the editor's, after any changes in any order: each
//! change does what it would do to the whole text, counted from its beginning, and a place in the text
//! is found again from its line and character.

use editor::buffer::{Buffer, Encoding, Position};

use crate::input::{parts, texts};

/// Takes a text and, for each change, eight bytes (encoding and two places), and the text that is put
/// there.
pub fn check(data: &[u8]) {
    let text = texts(data).next().unwrap().into_owned();
    let mut buffer = Buffer::new(text.clone());
    let mut model = text;
    let rest: Vec<&[u8]> = parts(data).skip(1).take(64).collect();
    for change in rest.chunks_exact(2) {
        let &[bytes, new] = change else { return };
        let Some(&[encoding, l1, c1, l2, c2]) = bytes.first_chunk() else {
            break;
        };
        let encoding = if encoding % 2 == 0 {
            Encoding::Utf16
        } else {
            Encoding::Utf8
        };
        let place = |line: u8, character: u8| Position {
            line: line.into(),
            character: character.into(),
        };
        let (from, to) = (place(l1, c1), place(l2, c2));
        let new = String::from_utf8_lossy(new);
        let (start, end) = (offset(&model, from, encoding), offset(&model, to, encoding));
        let (start, end) = (start.min(end), start.max(end));
        assert_eq!(buffer.slice(from, to, encoding), &model[start..end]);
        let found = buffer.position(start, encoding);
        assert_eq!(
            offset(&model, found, encoding),
            start,
            "{found:?} in {model:?}"
        );
        buffer.change(from, to, &new, encoding);
        model.replace_range(start..end, &new);
        assert_eq!(buffer.text(), model);
    }
}

/// The byte at a place, counted from the beginning of the text.
fn offset(text: &str, at: Position, encoding: Encoding) -> usize {
    let mut start = 0;
    for _ in 0..at.line {
        let rest = &text[start..];
        let Some(end) = rest.find(['\n', '\r']) else {
            return text.len();
        };
        let length = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        start += end + length;
    }
    let mut counted = 0;
    for (place, c) in text[start..].char_indices() {
        counted += match encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        };
        if matches!(c, '\n' | '\r') || counted > at.character as usize {
            return start + place;
        }
    }
    text.len()
}
