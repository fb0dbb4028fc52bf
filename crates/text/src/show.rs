//! Untrusted text on a terminal: paths, names and texts from an agent, a workspace or a daemon.
//!
//! A control character could move the cursor, change colours, or forge a line of ours, and one that
//! nobody sees makes two texts look the same. So each is replaced by its picture (`␛`) or its code
//! point (`<U+009B>`).

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

/// The longest line that is shown. A path fits; a text that somebody has put where a name belongs
/// would push everything else off the screen.
const LONGEST: usize = 8192;

/// Untrusted text inside a line: replaces everything that steers a terminal, including line breaks,
/// and cuts what is too long for a line.
pub fn one_line(text: impl Display) -> String {
    let mut shown = OneLine::default();
    // It says that it is full, and then the rest is not wanted.
    let _ = write!(shown, "{text}");
    shown.finish()
}

/// Untrusted text of several lines: keeps line breaks and tabs, and replaces what else steers a
/// terminal.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ => push_shown(&mut shown, c),
        }
    }
    shown
}

/// JSON in which all that steers a terminal is escaped. It means the same: those characters stand
/// only inside strings there, and the line breaks between the values stay.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_foreign = |c: char| c != '\n' && steers(c);
    if !text.contains(is_foreign) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        if is_foreign(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped.into()
}

/// Lines of ours that hold foreign text. A line ends where it was ended here, whatever is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    /// No line yet.
    pub fn new() -> Lines {
        Lines::default()
    }

    /// Adds a line.
    pub fn push(&mut self, line: impl Display) {
        self.0 += &one_line(line);
        self.0.push('\n');
    }

    /// Adds a foreign text that has lines of its own. Each begins with `mark`, so that none of them
    /// looks like one of ours.
    pub fn quote(&mut self, mark: &str, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.0 += mark;
            self.0 += &printable(line.strip_suffix('\r').unwrap_or(line));
            self.0.push('\n');
        }
    }

    /// Adds the lines of another text.
    pub fn append(&mut self, other: &Lines) {
        self.0 += &other.0;
    }

    /// The text, each line with its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Display> FromIterator<T> for Lines {
    fn from_iter<I: IntoIterator<Item = T>>(lines: I) -> Lines {
        let mut all = Lines::new();
        lines.into_iter().for_each(|line| all.push(line));
        all
    }
}

/// Whether a terminal obeys a character, or nobody sees it: control characters except the tab,
/// separators of lines, marks that change the direction of writing, and characters without width.
/// Joiners are not among them: scripts and emoji need them. The page and the editors have the same
/// list.
pub fn steers(c: char) -> bool {
    c != '\t'
        && matches!(c,
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

fn push_shown(shown: &mut String, c: char) {
    match c {
        // The pictures of C0 characters are in the same order as the characters.
        '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
        c if steers(c) => {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "<U+{:04X}>", c as u32);
        }
        c => shown.push(c),
    }
}

/// Collects one line, up to its greatest length.
#[derive(Default)]
struct OneLine {
    shown: String,
    characters: usize,
}

impl fmt::Write for OneLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if self.characters > LONGEST {
                return Err(fmt::Error);
            }
            let before = self.shown.len();
            push_shown(&mut self.shown, c);
            self.characters += self.shown[before..].chars().count();
        }
        Ok(())
    }
}

impl OneLine {
    fn finish(mut self) -> String {
        if self.characters > LONGEST {
            let cut = self.shown.char_indices().nth(LONGEST - 1);
            self.shown.truncate(cut.map_or(0, |(at, _)| at));
            self.shown.push('…');
        }
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        for (text, shown) in [
            ("", ""),
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("\u{202e}evil", "<U+202E>evil"),
            ("\u{2028}next", "<U+2028>next"),
            ("pay\u{200b}pal\u{feff}", "pay<U+200B>pal<U+FEFF>"),
            ("a\u{e0041}", "a<U+E0041>"),
            ("é漢🙂 👨\u{200d}👩", "é漢🙂 👨\u{200d}👩"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn one_line_stays_one_line() {
        for (text, shown) in [
            ("a path/with spaces", "a path/with spaces"),
            ("a\n  problem: none", "a␊  problem: none"),
            ("a\tb\r\n", "a␉b␍␊"),
            ("\u{85}\u{2029}\u{1b}", "<U+0085><U+2029>␛"),
        ] {
            assert_eq!(one_line(text), shown);
        }
    }

    #[test]
    fn a_line_has_a_greatest_length() {
        let fits = "é".repeat(LONGEST);
        assert_eq!(one_line(&fits), fits);
        for long in ["é".repeat(LONGEST + 1), "\u{9b}".repeat(1 << 20)] {
            let cut = one_line(&long);
            assert_eq!(cut.chars().count(), LONGEST);
            assert!(cut.ends_with('…'));
            assert_eq!(one_line(&cut), cut, "shown twice it is the same");
        }
    }

    #[test]
    fn lines_end_where_they_were_ended() {
        let mut lines = Lines::new();
        lines.push("a\noutrigger: accepted");
        lines.quote("  + ", "one\r\ntwo\u{1b}[2J\n");
        lines.quote("-", "");
        lines.append(&["b\u{2028}c", "d"].into_iter().collect());
        assert_eq!(
            lines.as_str(),
            "a␊outrigger: accepted\n  + one\n  + two␛[2J\n-\nb<U+2028>c\nd\n"
        );
    }

    #[test]
    fn json_means_the_same_when_it_is_escaped() {
        let value = "a\u{9b}2J\u{202e}\u{e0041}é🙂\n\u{7f}";
        let plain = format!("{{\n  \"a\": {}\n}}", serde_json::to_string(value).unwrap());
        let escaped = json(&plain);
        assert_eq!(
            escaped,
            "{\n  \"a\": \"a\\u009b2J\\u202e\\udb40\\udc41é🙂\\n\\u007f\"\n}"
        );
        let read: serde_json::Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(read["a"], value);
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text: String) {
            let shown = one_line(&text);
            prop_assert!(!shown.contains(|c| c == '\t' || steers(c)));
            prop_assert_eq!(one_line(&shown), shown);
            prop_assert!(!printable(&text).contains(|c| c != '\n' && steers(c)));
        }
    }
}
