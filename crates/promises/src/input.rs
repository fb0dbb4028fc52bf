//! How the bytes of a case become what a promise is about.
//!
//! A case is a list of parts, with the byte 255 between them. No text in UTF-8 has that byte, so a
//! recorded text is a case as it stands, people can read the corpus, and libFuzzer's own mutations
//! (copy a piece, insert a word of the dictionary) mean something in the texts.

use std::borrow::Cow;

const BETWEEN: u8 = 255;

/// The parts of a case. It never ends: what is missing is empty.
pub(crate) fn parts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = data.split(|byte| *byte == BETWEEN);
    parts.chain(std::iter::repeat(&[][..]))
}

/// The parts of a case as texts.
pub(crate) fn texts(data: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    parts(data).map(String::from_utf8_lossy)
}

/// The parts that are there, as texts.
pub(crate) fn all_texts(data: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let parts = data.split(|byte| *byte == BETWEEN);
    parts.map(String::from_utf8_lossy)
}
