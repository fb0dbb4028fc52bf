//! Where an agent keeps its settings, and how they are read.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Larger files are not settings.
const LARGEST: u64 = 1 << 20;

/// Where an agent's settings are.
#[derive(Debug)]
pub struct SettingsPlaces {
    /// The folder of the agent in the home folder, and in a workspace.
    pub folder: &'static str,
    /// The variable that moves the one in the home folder.
    pub(super) moved: Moved,
    /// The variable that names the administrator's file.
    pub(super) system_variable: &'static str,
    /// The folder of that file, by system.
    pub(super) system: &'static str,
    pub(super) system_macos: &'static str,
    pub(super) system_windows: &'static str,
    /// The variable that names the file with the defaults, which every other file overrides.
    pub defaults_variable: &'static str,
}

/// What a variable names.
#[derive(Debug)]
pub(super) enum Moved {
    /// The agent's own folder.
    Folder(&'static str),
    /// The folder that the agent takes for the home folder.
    Home(&'static str),
}

/// The variables of the process that reads the settings.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl SettingsPlaces {
    /// The files of an agent that works in `folder`, by growing precedence: defaults, the person's,
    /// the workspace's, the administrator's.
    pub fn files(&self, variable: Variables<'_>, folder: &Path) -> [Option<PathBuf>; 4] {
        const NAME: &str = "settings.json";
        [
            Some(self.defaults(variable)),
            self.home(variable).map(|home| home.join(NAME)),
            Some(folder.join(self.folder).join(NAME)),
            Some(self.system(variable)),
        ]
    }

    /// The file with the defaults.
    pub fn defaults(&self, variable: Variables<'_>) -> PathBuf {
        named(variable, self.defaults_variable).unwrap_or_else(|| {
            let beside = self.system(variable);
            beside.with_file_name("system-defaults.json")
        })
    }

    fn system(&self, variable: Variables<'_>) -> PathBuf {
        let folder = if cfg!(target_os = "macos") {
            self.system_macos
        } else if cfg!(windows) {
            self.system_windows
        } else {
            self.system
        };
        let usual = || Path::new(folder).join("settings.json");
        named(variable, self.system_variable).unwrap_or_else(usual)
    }

    fn home(&self, variable: Variables<'_>) -> Option<PathBuf> {
        let (folder, home) = match self.moved {
            Moved::Folder(name) => (named(variable, name), None),
            Moved::Home(name) => (None, named(variable, name)),
        };
        folder.or_else(|| {
            let home = home.or_else(|| named(variable, "HOME"));
            let home = home.or_else(|| named(variable, "USERPROFILE"));
            Some(home?.join(self.folder))
        })
    }
}

fn named(variable: Variables<'_>, name: &str) -> Option<PathBuf> {
    let value = variable(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The settings in a file; `None` if there is no such file, or if it holds no settings.
pub fn read(path: &Path) -> Option<Value> {
    // Asked before it is opened: to open a pipe without a writer would wait for one.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    parse(&text)
}

/// The agents allow comments in their settings, and a byte order mark before them.
fn parse(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = serde_json::from_str(&without_comments(text));
    parsed.ok().filter(Value::is_object)
}

/// The text with a space in place of every comment.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = if from.starts_with('"') {
            let end = string_end(from);
            out.push_str(&from[..end]);
            end
        } else if from.starts_with("//") {
            out.push(' ');
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("/*") {
            out.push(' ');
            from.find("*/").map_or(from.len(), |end| end + 2)
        } else {
            out.push('/');
            1
        };
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

/// The length of the string that the text starts with, quotation marks included.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::{gemini, qwen};

    #[test]
    fn comments_do_not_hide_settings() {
        let table = [
            (r#"{"a":1}"#, Some(json!({"a":1}))),
            ("\u{feff}{} // end", Some(json!({}))),
            (
                "{ // one\n\"a\": /* two */ \"//x\", \"b\": \"/*\\\"*/\" }",
                Some(json!({"a":"//x","b":"/*\"*/"})),
            ),
            ("/* never closed", None),
            ("{\"never closed", None),
            ("{ / }", None),
            ("[]", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_the_settings_are() {
        let shown = |places: &SettingsPlaces, set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name)?;
                Some(OsString::from(found.1))
            };
            let files = places.files(&variable, Path::new("/w"));
            files.map(|file| file.map_or_else(String::new, |file| file.display().to_string()))
        };
        let (qwen, gemini) = (&qwen::PROFILE.settings, &gemini::PROFILE.settings);
        let home = ("HOME", "/home/ada");
        assert_eq!(
            shown(qwen, &[home]),
            [
                "/etc/qwen-code/system-defaults.json",
                "/home/ada/.qwen/settings.json",
                "/w/.qwen/settings.json",
                "/etc/qwen-code/settings.json"
            ]
        );
        let moved = [
            home,
            ("QWEN_HOME", "/q"),
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", "/s/here.json"),
        ];
        assert_eq!(
            shown(qwen, &moved),
            [
                "/s/system-defaults.json",
                "/q/settings.json",
                "/w/.qwen/settings.json",
                "/s/here.json"
            ]
        );
        let moved = [
            home,
            ("GEMINI_CLI_HOME", "/g"),
            ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "/d.json"),
        ];
        assert_eq!(
            shown(gemini, &moved),
            [
                "/d.json",
                "/g/.gemini/settings.json",
                "/w/.gemini/settings.json",
                "/etc/gemini-cli/settings.json"
            ]
        );
        assert_eq!(shown(gemini, &[])[1], "");
    }
}
