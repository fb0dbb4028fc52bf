//! An incremental parser for server-sent events: chunks of bytes in, frames out.
//!
//! A chunk may end anywhere. Each byte is examined once, and never more than one frame is buffered.
//! A frame that arrived in one chunk is returned as a slice of that chunk. A frame beyond the limit
//! is no error: its bytes are dropped as they arrive, and the parser reports it when it ends. A
//! client that closed the stream instead would be sent the same frame again for ever.
//!
//! The meaning of a frame is not known here. An unfinished frame at the end of a stream is dropped,
//! as the format demands: the daemon cuts slow readers off in the middle of a frame, and sends what
//! was lost again on the next stream.

use std::mem;
use std::ops::Range;

use bytes::Bytes;

use crate::json;

/// The default limit for the data of one frame, in bytes.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// The byte order mark that may precede the first line.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// One item of an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// A frame with data.
    Frame(SseFrame),
    /// A comment line. The daemon sends one every 15 seconds as a heartbeat.
    Comment,
    /// A frame that exceeded the limit and was dropped.
    Oversized {
        /// The frame's id, if its line came before the data.
        id: Option<u64>,
        /// Its approximate size.
        bytes: usize,
    },
}

/// One frame. Its `event:` line is not kept, because the daemon repeats the type in the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseFrame {
    /// The `id:` line, if it is a number.
    pub id: Option<u64>,
    /// The `data:` lines, joined by line feeds.
    pub data: Bytes,
}

/// An incremental parser of one event stream.
#[derive(Debug)]
pub struct SseParser {
    /// The chunk that was pushed last, and how far it has been parsed.
    chunk: Bytes,
    at: usize,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// How many bytes of that line were dropped because the frame is oversized.
    dropped: usize,
    /// The last line ended with a carriage return; a line feed that follows belongs to the same
    /// line end.
    after_return: bool,
    before_first_line: bool,
    frame: PartialFrame,
    max_frame: usize,
}

#[derive(Debug, Default)]
struct PartialFrame {
    id: Option<u64>,
    data: DataLines,
    /// The size so far of a frame that is being dropped.
    oversized: Option<usize>,
}

#[derive(Debug, Default)]
enum DataLines {
    #[default]
    None,
    One(Bytes),
    Many(Vec<u8>),
}

impl DataLines {
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

impl Default for SseParser {
    fn default() -> Self {
        Self::new(MAX_FRAME)
    }
}

impl SseParser {
    /// A parser for one stream whose frames hold at most `max_frame` bytes of data.
    pub fn new(max_frame: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            at: 0,
            partial: Vec::new(),
            dropped: 0,
            after_return: false,
            before_first_line: true,
            frame: PartialFrame::default(),
            max_frame,
        }
    }

    /// Adds the next chunk of the stream. All items must have been pulled before.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.at == self.chunk.len(), "items were left in the parser");
        self.chunk = chunk;
        self.at = 0;
    }

    /// The next item, or `None` when another chunk is needed.
    pub fn pull(&mut self) -> Option<SseItem> {
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
        // A parsed chunk is released now, not when the next one arrives.
        self.chunk = Bytes::new();
        self.at = 0;
        None
    }

    /// Keeps the beginning of a line until its end arrives.
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

    /// Parses a line that ends in the current chunk, where its last `length` bytes begin at
    /// `start`.
    fn end_line(&mut self, start: usize, length: usize) -> Option<SseItem> {
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
        let mut line = LineBytes::Within(start..start + length);
        if !self.partial.is_empty() {
            let end = &self.chunk[start..start + length];
            self.partial.extend_from_slice(end);
            line = LineBytes::Whole(mem::take(&mut self.partial).into());
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
        // The same rule as for a line in several chunks: where the stream is cut makes no
        // difference.
        let length = skipped + bytes.len();
        if self.is_too_much(length) {
            self.drop_frame();
            self.frame.oversized = self.frame.oversized.map(|size| size + length);
            return None;
        }
        match LineField::read(bytes) {
            LineField::Comment => return Some(SseItem::Comment),
            LineField::Id(id) => self.frame.id = id,
            LineField::Data(at) => {
                let value = line.tail(&self.chunk, skipped + at);
                self.frame.data.push(value);
                if self.frame.data.len() > self.max_frame {
                    self.drop_frame();
                }
            }
            LineField::Other => {}
        }
        None
    }

    /// Whether a line of this length, whatever it holds, takes the frame over the limit.
    fn is_too_much(&self, line: usize) -> bool {
        // The limit is for the data; the field name comes on top.
        self.frame.data.len() + line > self.max_frame + "data: ".len()
    }

    fn end_frame(&mut self) -> Option<SseItem> {
        let frame = mem::take(&mut self.frame);
        if let Some(bytes) = frame.oversized {
            let id = frame.id;
            return Some(SseItem::Oversized { id, bytes });
        }
        let data = match frame.data {
            DataLines::None => return None,
            DataLines::One(line) => line,
            DataLines::Many(lines) => lines.into(),
        };
        Some(SseItem::Frame(SseFrame { id: frame.id, data }))
    }

    /// Drops a frame that is too large. The rest of it is dropped as it arrives.
    fn drop_frame(&mut self) {
        self.dropped += self.partial.len();
        self.partial = Vec::new();
        self.frame.oversized = Some(mem::take(&mut self.frame.data).len());
    }
}

/// Where the bytes of a line are: in the current chunk, or in a buffer of their own because the
/// line arrived in several chunks.
enum LineBytes {
    Within(Range<usize>),
    Whole(Bytes),
}

impl LineBytes {
    fn bytes<'a>(&'a self, chunk: &'a Bytes) -> &'a [u8] {
        match self {
            Self::Within(range) => &chunk[range.clone()],
            Self::Whole(bytes) => bytes,
        }
    }

    /// The line from `at` on, without copying.
    fn tail(self, chunk: &Bytes, at: usize) -> Bytes {
        match self {
            Self::Within(range) => chunk.slice(range.start + at..range.end),
            Self::Whole(bytes) => bytes.slice(at..),
        }
    }
}

/// The meaning of a line.
enum LineField {
    Comment,
    Id(Option<u64>),
    /// A `data:` line. Holds where the value begins.
    Data(usize),
    /// `event` repeats what is in the data, `retry` is not used because the session has its own
    /// backoff, and other names are unknown.
    Other,
}

impl LineField {
    fn read(line: &[u8]) -> LineField {
        if line.starts_with(b":") {
            return LineField::Comment;
        }
        if let Some(at) = value(line, b"data") {
            return LineField::Data(at);
        }
        match value(line, b"id") {
            Some(at) => LineField::Id(json::number(&line[at..])),
            None => LineField::Other,
        }
    }
}

/// Where the value begins in a line whose field is `name`. A name without a colon has an empty
/// value.
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
