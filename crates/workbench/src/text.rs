//! The form of a text, apart from its content: byte order mark and line endings.
//!
//! Agents tend to read a file, bring it into a normal form (no byte order mark,
//! `\n` at the end of each line), work on that, and convert back when they
//! write. So the same text can arrive in two forms, and a comparison has to
//! know which differences are form and which are edits.

use std::borrow::Cow;

/// The byte order mark that some programs put at the start of a text.
pub(crate) const BOM: char = '\u{feff}';

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether the text starts with a byte order mark.
    pub(crate) bom: bool,
    pub(crate) ending: LineEnding,
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnding {
    /// Every line ends with `\n`.
    Lf,
    /// Every line ends with `\r\n`.
    CrLf,
    /// Some lines end with `\n` and some with `\r\n`.
    Mixed,
    /// No line ends: the text is empty or a single line without an end.
    None,
}

impl Form {
    pub(crate) fn of(text: &str) -> Form {
        Form {
            bom: text.starts_with(BOM),
            ending: LineEnding::of(text),
        }
    }
}

impl LineEnding {
    pub(crate) fn of(text: &str) -> LineEnding {
        let mut seen = LineEnding::None;
        for line in text.split_inclusive('\n') {
            let this = if line.ends_with("\r\n") {
                LineEnding::CrLf
            } else if line.ends_with('\n') {
                LineEnding::Lf
            } else {
                continue;
            };
            if seen == LineEnding::None {
                seen = this;
            } else if seen != this {
                return LineEnding::Mixed;
            }
        }
        seen
    }

    /// The name that people are shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            LineEnding::Lf => "LF",
            LineEnding::CrLf => "CRLF",
            LineEnding::Mixed => "mixed",
            LineEnding::None => "none",
        }
    }
}

/// The text without its byte order mark.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// Lines with another line ending. A line without an end stays without one.
pub(crate) fn in_line_ending(lines: &str, ending: LineEnding) -> Cow<'_, str> {
    match ending {
        LineEnding::Lf if lines.contains("\r\n") => Cow::Owned(lines.replace("\r\n", "\n")),
        LineEnding::CrLf if LineEnding::of(lines) != LineEnding::CrLf => {
            Cow::Owned(lines.replace("\r\n", "\n").replace('\n', "\r\n"))
        }
        _ => Cow::Borrowed(lines),
    }
}

/// Whether two texts are the same but for their form.
pub(crate) fn same_but_for_form(a: &str, b: &str) -> bool {
    let plain = |text| in_line_ending(without_mark(text), LineEnding::Lf);
    a == b || plain(a) == plain(b)
}

/// The longest beginning of `text` that has at most `units` UTF-16 code units
/// and does not end inside a character.
pub fn cut_utf16(text: &str, units: usize) -> &str {
    // A character never has more UTF-16 units than UTF-8 bytes.
    if text.len() <= units {
        return text;
    }
    let mut left = units;
    for (at, character) in text.char_indices() {
        match left.checked_sub(character.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        let cases = [
            ("", false, LineEnding::None),
            ("a", false, LineEnding::None),
            ("a\r", false, LineEnding::None),
            ("\r\r", false, LineEnding::None),
            ("\n", false, LineEnding::Lf),
            ("a\nb", false, LineEnding::Lf),
            ("a\rb\n", false, LineEnding::Lf),
            ("\r\n", false, LineEnding::CrLf),
            ("a\r\nb", false, LineEnding::CrLf),
            ("a\r\nb\n", false, LineEnding::Mixed),
            ("a\nb\r\n", false, LineEnding::Mixed),
            ("\u{feff}", true, LineEnding::None),
            ("\u{feff}a\r\n", true, LineEnding::CrLf),
            ("a\u{feff}\n", false, LineEnding::Lf),
            ("a\u{2028}b\u{85}c\u{b}d", false, LineEnding::None),
        ];
        for (text, bom, ending) in cases {
            assert_eq!(Form::of(text), Form { bom, ending }, "{text:?}");
        }
    }

    #[test]
    fn cuts() {
        let cases = [
            ("", 0, ""),
            ("abc", 0, ""),
            ("abc", 2, "ab"),
            ("abc", 3, "abc"),
            ("abc", 9, "abc"),
            ("äöü", 2, "äö"),
            ("😀", 1, ""),
            ("😀", 2, "😀"),
            ("a😀b", 2, "a"),
            ("a😀b", 3, "a😀"),
        ];
        for (text, units, expected) in cases {
            assert_eq!(cut_utf16(text, units), expected, "{text:?} to {units}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_is_the_longest_that_fits(text: String, units in 0usize..40) {
            let cut = cut_utf16(&text, units);
            prop_assert!(text.starts_with(cut));
            prop_assert!(cut.encode_utf16().count() <= units);
            if let Some(next) = text[cut.len()..].chars().next() {
                prop_assert!(cut.encode_utf16().count() + next.len_utf16() > units);
            }
        }
    }
}
