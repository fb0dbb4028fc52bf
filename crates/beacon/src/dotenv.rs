//! One value out of a `.env` file, read as the `dotenv` package for Node reads it.
//!
//! Qwen Code uses that package on the files of the home folder before it decides where its own
//! folder is. Nothing is expanded and nothing is executed here.

/// The value of `key`; the last assignment in the file wins.
pub(crate) fn value(text: &str, key: &str) -> Option<String> {
    let mut found = None;
    let mut rest = text;
    while !rest.is_empty() {
        let (line, below) = split_line(rest);
        let Some((name, after)) = assignment(line) else {
            rest = below;
            continue;
        };
        // A quoted value may span several lines, so it is searched in the rest of the text.
        let (value, next) = match quoted(&rest[line.len() - after.len()..]) {
            Some((value, next)) => (value, next),
            None => (plain(after), below),
        };
        if name == key {
            found = Some(value);
        }
        rest = next;
    }
    found
}

/// The first line without its end, and what is below it.
fn split_line(text: &str) -> (&str, &str) {
    match text.split_once('\n') {
        Some((line, below)) => (line, below),
        None => (text, ""),
    }
}

/// The name, and everything after `=`, or after `: `, which the package accepts too.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = match line.strip_prefix("export") {
        Some(after) if after.starts_with([' ', '\t']) => after.trim_start(),
        _ => line,
    };
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)))?;
    let (name, after) = line.split_at(end);
    let value = match after.trim_start().strip_prefix('=') {
        Some(value) => value,
        None => after
            .strip_prefix(':')
            .filter(|value| value.starts_with([' ', '\t']))?,
    };
    (!name.is_empty()).then_some((name, value))
}

/// A value in quotes and what is below its last line. `None` when there is no closing quote or
/// when something other than a comment follows it: then the quotes are part of the value.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let quote = text.chars().next().filter(|c| "'\"`".contains(*c))?;
    let body = &text[1..];
    let mut escaped = false;
    let end = body.find(|c| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })?;
    let (behind, below) = split_line(&body[end + 1..]);
    let behind = behind.trim();
    if !behind.is_empty() && !behind.starts_with('#') {
        return None;
    }
    let value = &body[..end];
    // Only these two escapes are expanded, and only in double quotes.
    let value = match quote {
        '"' => value.replace("\\n", "\n").replace("\\r", "\r"),
        _ => value.to_owned(),
    };
    Some((value, below))
}

/// A value without quotes ends at the first `#`, even without a space before it.
fn plain(text: &str) -> String {
    text.split('#').next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_client_reads_them() {
        let table: &[(&str, Option<&str>)] = &[
            ("", None),
            ("OTHER=/x", None),
            ("QWEN_HOME=/q", Some("/q")),
            ("QWEN_HOME=", Some("")),
            ("  QWEN_HOME  =  /q  ", Some("/q")),
            ("export QWEN_HOME=/q", Some("/q")),
            ("exportQWEN_HOME=/q", None),
            ("QWEN_HOME: /q", Some("/q")),
            ("QWEN_HOME:/q", None),
            ("# QWEN_HOME=/q", None),
            ("QWEN_HOME=/q # mine", Some("/q")),
            ("QWEN_HOME=/q#mine", Some("/q")),
            ("QWEN_HOME='/q # r'", Some("/q # r")),
            ("QWEN_HOME=\"/q\" # mine", Some("/q")),
            ("QWEN_HOME=`/q`", Some("/q")),
            ("QWEN_HOME='/q", Some("'/q")),
            ("QWEN_HOME='/q'r", Some("'/q'r")),
            ("QWEN_HOME='it\\'s'", Some("it\\'s")),
            ("QWEN_HOME=/one\nQWEN_HOME=/two", Some("/two")),
            ("A=1\r\nQWEN_HOME=/q\r\nB=2\r\n", Some("/q")),
            ("MY_QWEN_HOME=/q", None),
            ("KEY='-----\nQWEN_HOME=/trap\n-----'\nB=1", None),
            (
                "KEY='-----\nQWEN_HOME=/trap\n-----'\nQWEN_HOME=/q",
                Some("/q"),
            ),
            ("QWEN_HOME", None),
            ("=\n'\n\"\nQWEN_HOME=/q", Some("/q")),
            ("ä=ö\nQWEN_HOME=/ü", Some("/ü")),
        ];
        for (text, expected) in table {
            assert_eq!(value(text, "QWEN_HOME").as_deref(), *expected, "{text:?}");
        }
    }
}
