//! Texts and their lines, apart from their form: written again here, so that a mistake of the product
//! does not judge itself.

use std::collections::HashMap;

/// The text without its byte order mark.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The text without what agents normalise: byte order mark and line endings.
pub(crate) fn form_free(text: &str) -> String {
    without_mark(text).replace("\r\n", "\n")
}

/// The lines of a text without any of what may end them, for texts whose form was converted.
pub(crate) fn bare(text: &str) -> Vec<&str> {
    let lines = text.trim_start_matches('\u{feff}').split('\n');
    lines.map(|line| line.trim_end_matches('\r')).collect()
}

/// How often each line occurs, whatever is at its ends: a carriage return at the end of a text is half
/// a line end, and a second byte order mark is a mark as soon as the first is gone.
pub(crate) fn counted(text: &str) -> HashMap<&str, usize> {
    let mut counted = HashMap::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim_start_matches('\u{feff}').trim_end_matches('\r');
        *counted.entry(line).or_default() += 1;
    }
    counted
}
