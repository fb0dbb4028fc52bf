//! Quoting for shells.

use std::path::Path;

/// A path as one word of a command line that a person copies: unchanged if it has no special
/// characters, quoted otherwise.
pub fn word(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
    if path.chars().all(is_plain) {
        path.into_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        quote_sh(&path)
    }
}

/// Quotes a text for `sh`, where only the single quote is special between single quotes.
pub fn quote_sh(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text for fish, in which the backslash is special between single quotes as well.
pub fn quote_fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_is_quoted_when_it_has_to_be() {
        for (path, shell) in [
            ("/home/ada/api-2", "/home/ada/api-2"),
            ("/home/ada/my api", "'/home/ada/my api'"),
            ("/it's $HOME", r"'/it'\''s $HOME'"),
            ("/a;b", "'/a;b'"),
        ] {
            assert_eq!(word(Path::new(path)), shell);
        }
    }

    #[test]
    fn texts_are_quoted_for_shells() {
        let text = "it's $HOME `x` \\";
        assert_eq!(quote_sh(text), r"'it'\''s $HOME `x` \'");
        assert_eq!(quote_fish(text), r"'it\'s $HOME `x` \\'");
    }
}
