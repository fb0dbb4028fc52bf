//! The framing of an event stream: bytes in, frames out.
//!
//! The parser takes the stream in pieces cut anywhere, looks at every byte once, and never keeps
//! more than one frame. A frame that arrived in one piece is handed on as a slice of that piece. A
//! frame beyond the limit is not an error: its bytes are dropped as they come and the parser says so
//! when it ends, because a client that gave up instead would be sent the same frame again for ever.
//!
//! What a frame *means* is not known here. An unfinished frame at the end of a stream is dropped, as
//! the format demands: the daemon cuts slow readers off in the middle of a frame, and what was lost
//! is sent again on the next stream.

use std::mem;
use std::ops::Range;

use bytes::Bytes;

use crate::json;

/// The data of a frame may have this many bytes unless told otherwise.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// The byte order mark that may stand before the first line.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// What a stream is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A frame with data.
    Frame(Frame),
    /// A line without meaning; the daemon sends one every 15 seconds as a sign of life.
    Comment,
    /// A frame that was larger than the limit and was dropped.
    Oversized {
        /// Its id, if it stood before the data.
        id: Option<u64>,
        /// How many bytes it had, about.
        bytes: usize,
    },
}

/// One frame. Its `event:` line is not kept: the daemon repeats it in the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The `id:` line, if it was a number.
    pub id: Option<u64>,
    /// The `data:` lines, joined by line feeds.
    pub data: Bytes,
}

/// An incremental parser of one event stream.
#[derive(Debug)]
pub struct Parser {
    /// What was pushed last, and how far it has been read.
    chunk: Bytes,
    at: usize,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// Bytes of that line that were dropped because the frame is oversized.
    dropped: usize,
    /// The last line ended with a carriage return; a line feed that follows belongs to it.
    after_return: bool,
    before_first_line: bool,
    frame: Unfinished,
    max_frame: usize,
}

#[derive(Debug, Default)]
struct Unfinished {
    id: Option<u64>,
    data: Data,
    /// The size so far of a frame that is being dropped.
    oversized: Option<usize>,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Many(Vec<u8>),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(line) => line.len(),
            Self::Many(lines) => lines.len(),
        }
    }

    fn push(&mut self, line: Bytes) {
        let mut lines = match mem::take(self) {
            Self::None => {
                *self = Self::One(line);
                return;
            }
            Self::One(first) => Vec::from(first),
            Self::Many(lines) => lines,
        };
        lines.push(b'\n');
        lines.extend_from_slice(&line);
        *self = Self::Many(lines);
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(MAX_FRAME)
    }
}

impl Parser {
    /// A parser for one stream whose frames carry at most `max_frame` bytes of data.
    pub fn new(max_frame: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            at: 0,
            partial: Vec::new(),
            dropped: 0,
            after_return: false,
            before_first_line: true,
            frame: Unfinished::default(),
            max_frame,
        }
    }

    /// Adds the next piece of the stream. Take all items out before adding another one.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.at == self.chunk.len(), "items were left in the parser");
        self.chunk = chunk;
        self.at = 0;
    }

    /// The next item, or `None` when another piece is needed.
    pub fn pull(&mut self) -> Option<Item> {
        while self.at < self.chunk.len() {
            let rest = &self.chunk[self.at..];
            if mem::take(&mut self.after_return) && rest[0] == b'\n' {
                self.at += 1;
                continue;
            }
            let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.keep_rest();
                break;
            };
            self.after_return = rest[length] == b'\r';
            let start = self.at;
            self.at += length + 1;
            if let Some(item) = self.end_line(start, length) {
                return Some(item);
            }
        }
        // A piece that has been read is let go, not kept until the next one comes.
        self.chunk = Bytes::new();
        self.at = 0;
        None
    }

    /// Puts the beginning of a line aside until its end comes.
    fn keep_rest(&mut self) {
        let rest = self.chunk.slice(self.at..);
        self.at = self.chunk.len();
        let size = self.partial.len() + rest.len();
        if self.frame.oversized.is_none() && self.is_too_much(size) {
            self.drop_frame();
        }
        if self.frame.oversized.is_some() {
            self.dropped += rest.len();
        } else {
            self.partial.extend_from_slice(&rest);
        }
    }

    /// Takes a line that ends in the current piece, where its last `length` bytes begin at `start`.
    fn end_line(&mut self, start: usize, length: usize) -> Option<Item> {
        let dropped = mem::take(&mut self.dropped);
        let is_first = mem::take(&mut self.before_first_line);
        if let Some(size) = &mut self.frame.oversized {
            *size += dropped + length;
            // Only an empty line ends the frame.
            return if dropped + length == 0 {
                self.end_frame()
            } else {
                None
            };
        }
        let mut line = Line::Within(start..start + length);
        if !self.partial.is_empty() {
            let end = &self.chunk[start..start + length];
            self.partial.extend_from_slice(end);
            line = Line::Whole(mem::take(&mut self.partial).into());
        }
        let mut bytes = line.bytes(&self.chunk);
        let mut skipped = 0;
        if is_first && bytes.starts_with(BOM) {
            skipped = BOM.len();
            bytes = &bytes[skipped..];
        }
        if bytes.is_empty() {
            return self.end_frame();
        }
        // The same rule as for a line that comes in pieces, so that cuts make no difference.
        let length = skipped + bytes.len();
        if self.is_too_much(length) {
            self.drop_frame();
            self.frame.oversized = self.frame.oversized.map(|size| size + length);
            return None;
        }
        match Field::read(bytes) {
            Field::Comment => return Some(Item::Comment),
            Field::Id(id) => self.frame.id = id,
            Field::Data(at) => {
                let value = line.tail(&self.chunk, skipped + at);
                self.frame.data.push(value);
                if self.frame.data.len() > self.max_frame {
                    self.drop_frame();
                }
            }
            Field::Other => {}
        }
        None
    }

    /// Whether a line of this length, whatever is in it, takes the frame over the limit.
    fn is_too_much(&self, line: usize) -> bool {
        // The field name comes on top of the data itself.
        self.frame.data.len() + line > self.max_frame + "data: ".len()
    }

    fn end_frame(&mut self) -> Option<Item> {
        let frame = mem::take(&mut self.frame);
        if let Some(bytes) = frame.oversized {
            let id = frame.id;
            return Some(Item::Oversized { id, bytes });
        }
        let data = match frame.data {
            Data::None => return None,
            Data::One(line) => line,
            Data::Many(lines) => lines.into(),
        };
        Some(Item::Frame(Frame { id: frame.id, data }))
    }

    /// Lets go of a frame that is too large; the rest of it will be dropped as it comes.
    fn drop_frame(&mut self) {
        self.dropped += self.partial.len();
        self.partial = Vec::new();
        self.frame.oversized = Some(mem::take(&mut self.frame.data).len());
    }
}

/// Where a line is: in the piece that is being read, or by itself because it came in several.
enum Line {
    Within(Range<usize>),
    Whole(Bytes),
}

impl Line {
    fn bytes<'a>(&'a self, chunk: &'a Bytes) -> &'a [u8] {
        match self {
            Self::Within(range) => &chunk[range.clone()],
            Self::Whole(bytes) => bytes,
        }
    }

    /// The line from `at` on, without copying it.
    fn tail(self, chunk: &Bytes, at: usize) -> Bytes {
        match self {
            Self::Within(range) => chunk.slice(range.start + at..range.end),
            Self::Whole(bytes) => bytes.slice(at..),
        }
    }
}

/// What a line says.
enum Field {
    Comment,
    Id(Option<u64>),
    /// Data, which begins at this place of the line.
    Data(usize),
    /// `event` repeats what stands in the data, `retry` only matters to clients without a plan of
    /// their own, and the rest is unknown.
    Other,
}

impl Field {
    fn read(line: &[u8]) -> Field {
        if line.starts_with(b":") {
            return Field::Comment;
        }
        if let Some(at) = value(line, b"data") {
            return Field::Data(at);
        }
        match value(line, b"id") {
            Some(at) => Field::Id(json::number(&line[at..])),
            None => Field::Other,
        }
    }
}

/// Where the value of a line begins that is about `name`. A name alone has an empty value.
fn value(line: &[u8], name: &[u8]) -> Option<usize> {
    match line.strip_prefix(name)? {
        [] => Some(line.len()),
        [b':', b' ', ..] => Some(name.len() + 2),
        [b':', ..] => Some(name.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
