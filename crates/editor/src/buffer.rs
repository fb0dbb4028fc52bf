//! The live text of a document, kept equal to the editor's by its changes.
//!
//! Positions come in the encoding that was agreed at the start. Lines are found by searching, on
//! from the line that was found last: people work in one place for a while, and an index of all
//! lines would cost memory for every open document.

use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr2;

/// How an editor counts characters in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which is what the protocol assumes unless something else was agreed.
    #[default]
    Utf16,
}

impl Encoding {
    /// The name of the encoding in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        }
    }
}

/// A place in a text, zero-based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line, counted in the agreed encoding.
    pub character: u32,
}

/// The text of one document.
#[derive(Debug, Default)]
pub struct Buffer {
    text: String,
    /// A line that was found before.
    found: Landmark,
}

/// The number of a line and the byte at which it begins.
///
/// It is only a hint, so that looking something up can leave one behind.
#[derive(Debug, Default)]
struct Landmark(AtomicU64);

impl Landmark {
    fn get(&self) -> (u32, usize) {
        let packed = self.0.load(Ordering::Relaxed);
        let line = u32::try_from(packed >> 32);
        let byte = usize::try_from(packed & u64::from(u32::MAX));
        // Both halves were 32 bits wide when they were packed.
        line.ok().zip(byte.ok()).unwrap_or_default()
    }

    fn set(&self, line: u32, byte: usize) {
        if let Ok(byte) = u32::try_from(byte) {
            self.0
                .store(u64::from(line) << 32 | u64::from(byte), Ordering::Relaxed);
        }
    }
}

impl Buffer {
    /// A document with this text.
    pub fn new(text: String) -> Buffer {
        Buffer {
            text,
            found: Landmark::default(),
        }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces everything.
    pub fn replace(&mut self, text: String) {
        self.text = text;
        self.found.set(0, 0);
    }

    /// Replaces what stands between two positions, and says at which byte the new text ends.
    /// Positions outside the text mean its nearest end, as the protocol says, and the two may come
    /// in either order.
    pub fn change(
        &mut self,
        from: Position,
        to: Position,
        text: &str,
        encoding: Encoding,
    ) -> usize {
        let range = self.range(from, to, encoding);
        let end = range.start + text.len();
        // A line that begins before the change still begins there.
        if self.found.get().1 >= range.start {
            self.found.set(0, 0);
        }
        self.text.replace_range(range, text);
        // A document that once was large should not keep that memory for ever.
        if self.text.capacity() > self.text.len() + self.text.len() / 16 + 256 {
            self.text.shrink_to(self.text.len() + self.text.len() / 32);
        }
        end
    }

    /// What stands between two positions.
    pub fn slice(&self, from: Position, to: Position, encoding: Encoding) -> &str {
        &self.text[self.range(from, to, encoding)]
    }

    /// The same position as agents count: from one, in UTF-16 code units, and inside the text.
    pub fn cursor(&self, at: Position, encoding: Encoding) -> workbench::Cursor {
        let at = self.position(self.offset(at, encoding), Encoding::Utf16);
        workbench::Cursor::new(at.line.saturating_add(1), at.character.saturating_add(1))
    }

    /// The position at which a byte lies.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let bytes = self.text.as_bytes();
        let (mut line, mut start) = self.landmark(|_, byte| byte <= offset);
        while let Some(at) = memchr2(b'\n', b'\r', &bytes[start..offset]) {
            let next = after_line_end(bytes, start + at);
            if next > offset {
                break;
            }
            start = next;
            line += 1;
        }
        self.found.set(line, start);
        let units: usize = self.text[start..offset]
            .chars()
            .map(|c| encoding.width(c))
            .sum();
        Position {
            line,
            character: u32::try_from(units).unwrap_or(u32::MAX),
        }
    }

    fn range(&self, from: Position, to: Position, encoding: Encoding) -> std::ops::Range<usize> {
        let (first, last) = (from.min(to), from.max(to));
        let start = self.offset(first, encoding);
        start..self.offset(last, encoding).max(start)
    }

    /// The byte at which a position lies, never inside a character.
    fn offset(&self, at: Position, encoding: Encoding) -> usize {
        let start = self.line_start(at.line);
        let rest = &self.text[start..];
        let end = memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let line = &rest[..end];
        let wanted = at.character as usize;
        let mut counted = 0;
        for (offset, c) in line.char_indices() {
            counted += encoding.width(c);
            if counted > wanted {
                return start + offset;
            }
        }
        start + line.len()
    }

    /// The byte at which a line begins; the end of the text for lines beyond the last.
    fn line_start(&self, line: u32) -> usize {
        let bytes = self.text.as_bytes();
        let (known, mut start) = self.landmark(|known, _| known <= line);
        for _ in known..line {
            match memchr2(b'\n', b'\r', &bytes[start..]) {
                Some(at) => start = after_line_end(bytes, start + at),
                None => return bytes.len(),
            }
        }
        self.found.set(line, start);
        start
    }

    /// Where to begin a search: at the line that was found last if it is useful, else at the top.
    fn landmark(&self, is_useful: impl Fn(u32, usize) -> bool) -> (u32, usize) {
        let (line, byte) = self.found.get();
        if is_useful(line, byte) {
            (line, byte)
        } else {
            (0, 0)
        }
    }
}

/// The byte after the line end that begins at `at`; a carriage return and a line feed are one end.
fn after_line_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(b"\r\n") => at + 2,
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_are_found_in_every_encoding() {
        use Encoding::{Utf8, Utf16};
        let text = "aé🙂b\r\nsecond\rthird\n";
        for (position, encoding, offset) in [
            (at(0, 0), Utf16, 0),
            (at(0, 2), Utf16, 3),
            (at(0, 3), Utf16, 3), // inside the pair of the emoji
            (at(0, 4), Utf16, 7),
            (at(0, 3), Utf8, 3),
            (at(0, 5), Utf8, 3),   // inside the bytes of the emoji
            (at(0, 99), Utf16, 8), // before the line end
            (at(1, 0), Utf16, 10),
            (at(2, 2), Utf16, 19),
            (at(3, 0), Utf16, text.len()),
            (at(9, 9), Utf16, text.len()),
            (at(u32::MAX, u32::MAX), Utf16, text.len()),
        ] {
            let buffer = Buffer::new(text.into());
            assert_eq!(
                buffer.offset(position, encoding),
                offset,
                "{position:?} {encoding:?}"
            );
        }
    }

    #[test]
    fn bytes_and_positions_agree() {
        let buffer = Buffer::new("aé🙂b\r\nsecond\rthird\n".into());
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (offset, c) in buffer.text().char_indices().filter(|(_, c)| *c != '\n') {
                let position = buffer.position(offset, encoding);
                assert_eq!(
                    buffer.offset(position, encoding),
                    offset,
                    "{c:?} at {position:?}"
                );
            }
        }
    }

    #[test]
    fn ends_may_come_in_either_order_and_lie_outside() {
        let mut buffer = Buffer::new("one\ntwo\n".into());
        buffer.change(at(1, 3), at(1, 0), "2", Encoding::Utf16);
        assert_eq!(buffer.text(), "one\n2\n");
        buffer.change(at(7, 0), at(9, 0), "end", Encoding::Utf16);
        assert_eq!(buffer.text(), "one\n2\nend");
    }

    fn width(c: char) -> u32 {
        u32::try_from(c.len_utf16()).unwrap()
    }

    /// An editor that keeps its text as a list of lines, the way many do.
    fn reference(text: &str, from: Position, to: Position, new: &str) -> String {
        let offset = |position: Position| {
            let mut line = 0;
            let mut units = 0;
            let mut chars = text.char_indices().peekable();
            while let Some((index, c)) = chars.next() {
                if line == position.line && (units >= position.character || c == '\n' || c == '\r')
                {
                    return index;
                }
                if c == '\n' || c == '\r' {
                    if c == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n') {
                        chars.next();
                    }
                    line += 1;
                    units = 0;
                } else if line == position.line && units + width(c) > position.character {
                    return index;
                } else {
                    units += width(c);
                }
            }
            text.len()
        };
        let (a, b) = (offset(from.min(to)), offset(from.max(to)));
        format!("{}{}{}", &text[..a], new, &text[b.max(a)..])
    }

    proptest! {
        #[test]
        fn changes_keep_the_buffer_equal_to_the_editors(
            text in "[aé🙂\r\n]{0,40}",
            changes in prop::collection::vec(((0u32..6, 0u32..9), (0u32..6, 0u32..9), "[bü🙃\r\n]{0,5}"), 0..8),
        ) {
            let mut buffer = Buffer::new(text.clone());
            let mut expected = text;
            for ((l1, c1), (l2, c2), new) in changes {
                let (from, to) = (at(l1, c1), at(l2, c2));
                expected = reference(&expected, from, to, &new);
                buffer.change(from, to, &new, Encoding::Utf16);
                prop_assert_eq!(buffer.text(), expected.as_str());
            }
        }
    }
}
