//! The published agents as the kit knows them: how each is installed, configured and started.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A terminal agent with an IDE mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Qwen Code, `@qwen-code/qwen-code`.
    Qwen,
    /// Gemini CLI, `@google/gemini-cli`.
    Gemini,
}

impl Agent {
    /// Both, for table-driven tests.
    pub const ALL: [Self; 2] = [Self::Qwen, Self::Gemini];

    /// The name under which a companion reports this agent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
        }
    }

    /// The npm package that carries it.
    pub fn package(self) -> &'static str {
        match self {
            Self::Qwen => "@qwen-code/qwen-code",
            Self::Gemini => "@google/gemini-cli",
        }
    }

    /// The command a person types to start it.
    pub fn command(self) -> &'static [&'static str] {
        match self {
            Self::Qwen => &["qwen"],
            // A fixed model spares the request that would choose one.
            Self::Gemini => &["gemini", "--model", "gemini-2.5-flash"],
        }
    }

    /// What sends it to the fake model on `port` instead of a real one.
    pub(crate) fn environment(self, port: u16) -> Vec<(&'static str, String)> {
        match self {
            Self::Qwen => vec![
                ("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
                ("OPENAI_API_KEY", "fake-key".into()),
                ("OPENAI_MODEL", "fake-model".into()),
                // It would otherwise start itself a second time to raise its memory limit, which is a
                // quarter of the processor time until the person can type.
                ("QWEN_CODE_NO_RELAUNCH", "true".into()),
            ],
            Self::Gemini => vec![
                ("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{port}")),
                ("GEMINI_API_KEY", "fake-key".into()),
                // The same.
                ("GEMINI_CLI_NO_RELAUNCH", "1".into()),
            ],
        }
    }

    /// Writes the settings of a person who has chosen a model and nothing else.
    pub(crate) fn write_model_settings(self, home: &Path) {
        self.write(home, &self.model_settings());
    }

    /// Writes the settings of a person who has used the agent before: IDE mode on, every first-run
    /// question answered, and asking before each edit.
    pub(crate) fn write_settings(self, home: &Path) {
        let mut settings = self.model_settings();
        settings["ide"] = json!({"enabled": true, "hasSeenNudge": true});
        settings["security"]["folderTrust"] = json!({"enabled": false});
        match self {
            // Left alone it decides by itself which edits need a person, and then none does.
            Self::Qwen => settings["tools"] = json!({"approvalMode": "default"}),
            Self::Gemini => {
                let state = json!({"terminalSetupPromptShown": true});
                write_json(&self.folder(home).join("state.json"), &state);
            }
        }
        self.write(home, &settings);
    }

    /// The model, and what keeps the agent from reaching anything but the model.
    fn model_settings(self) -> Value {
        let auth = match self {
            Self::Qwen => "openai",
            Self::Gemini => "gemini-api-key",
        };
        let mut settings = json!({
            "security": {"auth": {"selectedType": auth}},
            "general": {"enableAutoUpdate": false},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        if self == Self::Qwen {
            // These send requests of their own to the model. A suggestion, when it comes, stands
            // in the empty input box in place of the words that say that the person can type.
            settings["ui"] = json!({"enableFollowupSuggestions": false});
            settings["memory"] = json!({
                "enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false,
            });
        }
        settings
    }

    /// The file that the person's settings are in.
    pub fn settings_file(self, home: &Path) -> PathBuf {
        self.folder(home).join("settings.json")
    }

    fn folder(self, home: &Path) -> PathBuf {
        let folder = home.join(match self {
            Self::Qwen => ".qwen",
            Self::Gemini => ".gemini",
        });
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(self, home: &Path, settings: &Value) {
        write_json(&self.settings_file(home), settings);
    }
}

fn write_json(path: &Path, value: &Value) {
    fs::write(path, value.to_string()).unwrap();
}
