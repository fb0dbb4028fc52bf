//! Quoting for shells.
//!
//! What is quoted here stands on a terminal before a shell reads it: a person looks at it or pastes
//! it. So a character that steers a terminal is spelt out in the shell's own notation.

use std::fmt::Write as _;
use std::path::Path;

use crate::show::steers;

/// A path as one word of a command line that a person copies: unchanged if it has no special
/// characters, quoted otherwise.
pub fn word(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
    if path.chars().all(is_plain) {
        path.into_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else if path.contains(is_hidden) {
        // Shells that people type into have it; some that only run scripts do not.
        format!("$'{}'", spelt_out(&path, octal))
    } else {
        quote_sh(&path)
    }
}

/// The line that gives a variable to the commands of a POSIX shell.
pub fn export_sh(name: &str, value: &str) -> String {
    if !value.contains(is_hidden) {
        return format!("export {name}={}", quote_sh(value));
    }
    // A substitution drops line breaks at its end, so there is a dot behind them.
    let value = spelt_out(value, |byte| format!("\\0{byte:03o}"));
    format!("export {name}=\"$(printf '%b' '{value}.')\"; export {name}=\"${{{name}%.}}\"")
}

/// The same for fish.
pub fn export_fish(name: &str, value: &str) -> String {
    let mut quoted = quote_fish(value);
    if value.contains(is_hidden) {
        quoted = value.chars().fold(String::new(), |mut word, c| {
            if is_hidden(c) {
                // Writing to a `String` cannot fail.
                let _ = write!(word, "\\U{:08x}", c as u32);
            } else {
                word += &quote_fish(c.encode_utf8(&mut [0; 4]));
            }
            word
        });
    }
    format!("set -gx {name} {quoted}")
}

/// Quotes a text for `sh`, where only the single quote is special between single quotes.
fn quote_sh(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text for fish, in which the backslash is special between single quotes as well.
fn quote_fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

fn is_hidden(c: char) -> bool {
    c == '\t' || steers(c)
}

/// A text between single quotes in which the backslash is special. The quote itself is spelt out too.
fn spelt_out(text: &str, byte: impl Fn(u8) -> String) -> String {
    let mut spelt = String::new();
    for c in text.chars() {
        match c {
            '\\' => spelt += r"\\",
            '\'' => spelt += &byte(b'\''),
            c if is_hidden(c) => {
                for unit in c.encode_utf8(&mut [0; 4]).bytes() {
                    spelt += &byte(unit);
                }
            }
            c => spelt.push(c),
        }
    }
    spelt
}

fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that would end the paste that it is in, and run a command.
    const HOSTILE: &str = "it's \\ \u{1b}[201~\nrm\u{9b}\u{202e}%s$HOME\n";

    #[cfg(unix)]
    #[test]
    fn a_path_is_quoted_when_it_has_to_be() {
        for (path, shell) in [
            ("/home/ada/api-2", "/home/ada/api-2"),
            ("/home/ada/my api", "'/home/ada/my api'"),
            ("/it's $HOME", r"'/it'\''s $HOME'"),
            ("/a;b", "'/a;b'"),
            ("/a\u{1b}\nb\\'", r"$'/a\033\012b\\\047'"),
        ] {
            assert_eq!(word(Path::new(path)), shell);
        }
    }

    #[test]
    fn variables_are_quoted_for_shells() {
        let value = "it's $HOME `x` \\";
        assert_eq!(export_sh("A", value), r"export A='it'\''s $HOME `x` \'");
        assert_eq!(export_fish("A", value), r"set -gx A 'it\'s $HOME `x` \\'");
        assert_eq!(
            export_fish("A", "a\u{1b}'\u{202e}"),
            r"set -gx A 'a'\U0000001b'\''\U0000202e"
        );
    }

    #[cfg(unix)]
    #[test]
    fn shells_read_back_what_was_quoted() {
        for (shell, script) in [
            ("sh", export_sh("A", HOSTILE) + "; printf %s \"$A\""),
            ("bash", format!("printf %s {}", word(HOSTILE.as_ref()))),
        ] {
            assert!(!script.contains(is_hidden), "{script:?}");
            let run = std::process::Command::new(shell)
                .arg("-c")
                .arg(&script)
                .output();
            // Not every machine has every shell.
            let Ok(run) = run else { continue };
            assert_eq!(String::from_utf8_lossy(&run.stdout), HOSTILE, "{script}");
        }
    }
}
