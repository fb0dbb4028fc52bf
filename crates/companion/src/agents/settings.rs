//! Where an agent keeps its settings, and how they are read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// Larger files are not settings.
const LARGEST: u64 = 1 << 20;

/// The name of every file but the one with the defaults.
const NAME: &str = "settings.json";

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
        [
            Some(self.defaults(variable)),
            self.person(variable),
            Some(folder.join(self.folder).join(NAME)),
            Some(self.system(variable)),
        ]
    }

    /// The person's own file.
    pub fn person(&self, variable: Variables<'_>) -> Option<PathBuf> {
        self.home(variable).map(|home| home.join(NAME))
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
        let usual = || Path::new(folder).join(NAME);
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
    let bytes = private::read_regular(path, LARGEST).ok()?;
    parse(std::str::from_utf8(&bytes).ok()?)
}

/// The agents allow comments in their settings, and a byte order mark before them. One that does not
/// understand the rest says so itself.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const BYTE_ORDER_MARK: char = '\u{feff}';

fn parse(text: &str) -> Option<Value> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let parsed = jsonc_parser::parse_to_serde_value(text, &OPTIONS);
    parsed.ok().filter(Value::is_object)
}

/// The text of a settings file with these values in it. Everything else stays as it is, comments and
/// layout included.
pub fn with_values(text: &str, values: &Value) -> Result<String, SettingsError> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let root = CstRootNode::parse(text, &OPTIONS)
        .map_err(|error| SettingsError::Syntax(error.to_string()))?;
    let object = root.object_value_or_create();
    put(
        &object.ok_or(SettingsError::NoObject(String::new()))?,
        values,
    )?;
    Ok(format!("{mark}{root}"))
}

fn put(object: &CstObject, values: &Value) -> Result<(), SettingsError> {
    for (name, value) in values.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => {
                let inner = object.object_value_or_create(name);
                put(
                    &inner.ok_or_else(|| SettingsError::NoObject(name.clone()))?,
                    value,
                )?;
            }
            value => match object.get(name) {
                Some(property) => property.set_value(input(value)),
                None => drop(object.append(name, input(value))),
            },
        }
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            let values = values.iter();
            CstInputValue::Object(values.map(|(name, it)| (name.clone(), input(it))).collect())
        }
    }
}

/// Why values cannot be put into a settings file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It is not JSON, not even with comments.
    #[error("it is not valid JSON: {0}")]
    Syntax(String),
    /// Something else stands where an object should be.
    #[error("what it has under {0:?} is not an object")]
    NoObject(String),
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
            ("{\"a\":[1,],}", Some(json!({"a":[1]}))),
            ("{a:1}", None),
            ("{'a':1}", None),
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

    #[test]
    fn values_are_put_in_and_nothing_else_changes() {
        let values = json!({ "ide": { "enabled": true, "seen": true } });
        let table = [
            (
                "",
                "{\n  \"ide\": {\n    \"enabled\": true,\n    \"seen\": true\n  }\n}\n",
            ),
            (
                "{\"x\":1}",
                "{\n  \"x\":1,\n  \"ide\": {\n    \"enabled\": true,\n    \"seen\": true\n  }\n}",
            ),
            (
                "\u{feff}// mine\r\n{\r\n\t\"ide\": { \"enabled\": false, /* why */ },\r\n}",
                "\u{feff}// mine\r\n{\r\n\t\"ide\": {\r\n\t\t\"enabled\": true,\r\n\t\t\"seen\": true,\r\n\t\t/* why */\r\n\t},\r\n}",
            ),
        ];
        for (before, after) in table {
            let made = with_values(before, &values).unwrap();
            assert_eq!(made, after, "{before:?}");
            assert_eq!(with_values(&made, &values).unwrap(), made, "a second time");
            let read = parse(&made).unwrap();
            assert_eq!(read["ide"], json!({ "enabled": true, "seen": true }));
        }
        let refused = |text: &str| with_values(text, &values).unwrap_err();
        assert!(matches!(
            refused("{ not settings"),
            SettingsError::Syntax(_)
        ));
        assert_eq!(refused("[]"), SettingsError::NoObject(String::new()));
        assert_eq!(
            refused("{\"ide\":1}"),
            SettingsError::NoObject("ide".into())
        );
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
