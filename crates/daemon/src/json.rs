//! The fields of a JSON object, found without parsing their values.
//!
//! Most of a stream is envelopes around small updates, of which a client needs three or four
//! fields. A general parser examines every byte of the others too; this one only finds where a
//! value ends. The values that are needed are then parsed by `serde_json`, or here if they are
//! plain strings.
//!
//! The price is that skipped values are not validated: an error inside one shows only when it is
//! parsed. Names are compared as they are written; the daemon writes none of them with escapes.
//! Whatever the text is, nothing here panics, and all results are slices of the text.

use std::borrow::Cow;

use serde::de::Error as _;

/// Iterates over the fields of an object, in order. Nothing follows after an error.
#[derive(Clone, Debug)]
pub(crate) struct ObjectFields<'a> {
    text: &'a str,
    /// Where the next field begins; `None` after the last one.
    next: Option<usize>,
    /// Whether other text may follow the object.
    is_open: bool,
}

/// A name without its quotes, and a value as JSON. Both are slices of the text.
pub(crate) type RawField<'a> = (&'a str, &'a str);

/// The text is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAnObject;

impl From<NotAnObject> for serde_json::Error {
    fn from(NotAnObject: NotAnObject) -> Self {
        Self::custom("not an object")
    }
}

impl<'a> ObjectFields<'a> {
    /// The fields of the object in `text`, which holds nothing else but white space.
    pub(crate) fn of(text: &'a str) -> Result<Self, NotAnObject> {
        Self::new(text, false)
    }

    /// The fields of the object that `text` begins with.
    pub(crate) fn starting(text: &'a str) -> Result<Self, NotAnObject> {
        Self::new(text, true)
    }

    fn new(text: &'a str, is_open: bool) -> Result<Self, NotAnObject> {
        let bytes = text.as_bytes();
        let start = blanks(bytes, 0);
        if bytes.get(start) != Some(&b'{') {
            return Err(NotAnObject);
        }
        let first = blanks(bytes, start + 1);
        let mut fields = ObjectFields {
            text,
            next: Some(first),
            is_open,
        };
        if bytes.get(first) == Some(&b'}') {
            fields.end(first + 1).ok_or(NotAnObject)?;
        }
        Ok(fields)
    }

    /// The text from the value of the field `name` on. Where that value ends is not determined.
    pub(crate) fn find(mut self, name: &str) -> Result<Option<&'a str>, NotAnObject> {
        while let Some(at) = self.next.take() {
            let (found, start) = self.name(at).ok_or(NotAnObject)?;
            if found == name {
                return self.text.get(start..).map(Some).ok_or(NotAnObject);
            }
            self.value(start).ok_or(NotAnObject)?;
        }
        Ok(None)
    }

    /// The name that begins at `at`, and where its value begins.
    #[inline]
    fn name(&self, at: usize) -> Option<(&'a str, usize)> {
        let bytes = self.text.as_bytes();
        if *bytes.get(at)? != b'"' {
            return None;
        }
        let after = string_end(bytes, at)?;
        let name = self.text.get(at + 1..after - 1)?;
        let colon = blanks(bytes, after);
        if *bytes.get(colon)? != b':' {
            return None;
        }
        Some((name, blanks(bytes, colon + 1)))
    }

    /// The value that begins at `start`. Advances to the next field.
    #[inline]
    fn value(&mut self, start: usize) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let end = value_end(bytes, start)?;
        let value = self.text.get(start..end)?;
        let after = blanks(bytes, end);
        match bytes.get(after)? {
            b',' => self.next = Some(blanks(bytes, after + 1)),
            b'}' => self.end(after + 1)?,
            _ => return None,
        }
        Some(value)
    }

    /// The object ends before `at`.
    fn end(&mut self, at: usize) -> Option<()> {
        self.next = None;
        let is_all = blanks(self.text.as_bytes(), at) == self.text.len();
        (self.is_open || is_all).then_some(())
    }
}

impl<'a> Iterator for ObjectFields<'a> {
    type Item = Result<RawField<'a>, NotAnObject>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        let field = self.name(at);
        let field = field.and_then(|(name, start)| Some((name, self.value(start)?)));
        Some(field.ok_or(NotAnObject))
    }
}

/// Decodes a JSON string. One without escapes is borrowed.
pub(crate) fn string(json: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    let inside = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match inside {
        Some(inside) if memchr::memchr2(b'"', b'\\', inside.as_bytes()).is_none() => {
            Ok(Cow::Borrowed(inside))
        }
        _ => serde_json::from_str(json).map(Cow::Owned),
    }
}

/// A number as the daemon writes counters: decimal digits only.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |number: u64, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u64::from(byte - b'0'))
    })
}

/// The first position from `at` on that is not white space.
#[inline]
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The position after the value that begins at `at`.
#[inline]
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nested_end(bytes, at),
        b',' | b'}' | b']' => None,
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            Some(at + bytes[at..].iter().position(is_end)?)
        }
    }
}

/// The position after the object or array that begins at `at`.
fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The position after the string whose opening quote is at `at`.
#[inline]
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = at + 1;
    let mut quote = quote(bytes, first)?;
    // A quote is escaped if an odd number of backslashes precedes it.
    while bytes[quote - 1] == b'\\' {
        let before = bytes[first..quote].iter().rev();
        if before.take_while(|it| **it == b'\\').count() % 2 == 0 {
            break;
        }
        quote = self::quote(bytes, quote + 1)?;
    }
    Some(quote + 1)
}

/// The first quote from `at` on. Most strings are short, so a low start-up cost matters; sixteen
/// bytes are compared at a time.
#[inline]
fn quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u128 = u128::from_ne_bytes([1; 16]);
    const QUOTES: u128 = u128::from_ne_bytes([b'"'; 16]);
    loop {
        let rest = bytes.get(at..)?;
        let Some(word) = rest.first_chunk() else {
            return Some(at + rest.iter().position(|it| *it == b'"')?);
        };
        let different = u128::from_le_bytes(*word) ^ QUOTES;
        // Marks the bytes that are zero. Only the lowest mark is reliable, and only that one is
        // used.
        let marks = different.wrapping_sub(ONES) & !different & (ONES << 7);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        at += word.len();
    }
}

#[cfg(test)]
mod tests;
