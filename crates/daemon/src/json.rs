//! The fields of a JSON object, found without reading their values.
//!
//! Nearly all of a stream is envelopes around small updates, of which a client wants three or four
//! fields. A general parser looks at every byte of the rest to learn that it is not wanted; this one
//! only looks for where a value ends. What is wanted is then read by `serde_json`, or here where it
//! is a plain text.
//!
//! The price is that what is stepped over is not checked: a value with mistakes inside is found to be
//! wrong when it is read, not before. And names are compared as they are written; nobody writes those
//! that matter here with escapes. Whatever the text is, nothing here panics, and the pieces that come
//! out are pieces of the text.

use std::borrow::Cow;

use serde::de::Error as _;

/// The fields of an object in their order. After an error nothing follows.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    text: &'a str,
    /// Where the next field begins; `None` after the last one.
    next: Option<usize>,
    /// Whether something may follow the object.
    is_open: bool,
}

/// A name without its quotes and a value, both as they stand in the text.
pub(crate) type Field<'a> = (&'a str, &'a str);

/// Not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

impl From<Broken> for serde_json::Error {
    fn from(Broken: Broken) -> Self {
        Self::custom("not an object")
    }
}

impl<'a> Fields<'a> {
    /// The fields of the object that `text` is, with nothing but blanks around it.
    pub(crate) fn of(text: &'a str) -> Result<Self, Broken> {
        Self::new(text, false)
    }

    /// The fields of the object that `text` begins with.
    pub(crate) fn starting(text: &'a str) -> Result<Self, Broken> {
        Self::new(text, true)
    }

    fn new(text: &'a str, is_open: bool) -> Result<Self, Broken> {
        let bytes = text.as_bytes();
        let start = blanks(bytes, 0);
        if bytes.get(start) != Some(&b'{') {
            return Err(Broken);
        }
        let first = blanks(bytes, start + 1);
        let mut fields = Fields {
            text,
            next: Some(first),
            is_open,
        };
        if bytes.get(first) == Some(&b'}') {
            fields.end(first + 1).ok_or(Broken)?;
        }
        Ok(fields)
    }

    /// The text from the value of the field `name` on. The end of that value is not looked for.
    pub(crate) fn find(mut self, name: &str) -> Result<Option<&'a str>, Broken> {
        while let Some(at) = self.next.take() {
            let (found, start) = self.name(at).ok_or(Broken)?;
            if found == name {
                return self.text.get(start..).map(Some).ok_or(Broken);
            }
            self.value(start).ok_or(Broken)?;
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

    /// The value that begins at `start`. Goes on to the next field.
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

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Broken>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        let field = self.name(at);
        let field = field.and_then(|(name, start)| Some((name, self.value(start)?)));
        Some(field.ok_or(Broken))
    }
}

/// The text that a JSON string stands for. Most have no escapes and are just the text.
pub(crate) fn string(json: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    let inside = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match inside {
        Some(inside) if memchr::memchr2(b'"', b'\\', inside.as_bytes()).is_none() => {
            Ok(Cow::Borrowed(inside))
        }
        _ => serde_json::from_str(json).map(Cow::Owned),
    }
}

/// A number as the daemon writes counters: decimal digits and nothing else.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |number: u64, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u64::from(byte - b'0'))
    })
}

/// The first place from `at` on that is not blank.
#[inline]
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Behind the value that begins at `at`.
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

/// Behind the object or the list that begins at `at`.
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

/// Behind the string whose first quote is at `at`.
#[inline]
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = at + 1;
    let mut quote = quote(bytes, first)?;
    // A backslash before it may be one that is escaped itself; an odd number of them is not.
    while bytes[quote - 1] == b'\\' {
        let before = bytes[first..quote].iter().rev();
        if before.take_while(|it| **it == b'\\').count() % 2 == 0 {
            break;
        }
        quote = self::quote(bytes, quote + 1)?;
    }
    Some(quote + 1)
}

/// The first quote from `at` on. Most strings are short, so this must begin quickly; sixteen bytes are
/// looked at as one number.
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
        // Marks the bytes that are zero. The lowest mark is right; those above it need not be.
        let marks = different.wrapping_sub(ONES) & !different & (ONES << 7);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        at += word.len();
    }
}

#[cfg(test)]
mod tests;
