//! Qwen Code, verified with 0.1.3 to 0.24.4.

use workbench::{Agent, VerdictCapabilities};

use super::approval::{ApprovalRules, Mode, Unset};
use super::settings::{Moved, SettingsPlaces};
use super::{Dialect, Introduction, Profile, RefusalStyle};

pub(super) const DIALECT: Dialect = Dialect {
    // A refused `openDiff` falls back to the terminal prompt, and the edit works from there.
    refusal: RefusalStyle::Error,
    capabilities: VerdictCapabilities {
        // An accepted text of `""` is taken for "not edited": the proposal itself is written.
        takes_empty_text: false,
        takes_edited_text: true,
    },
    // 0.15.10 and 0.24.4 compare the time and size of the file; 0.10.1 does not.
    reads_changed_files_again: true,
    hangs_without_companion: false,
};

/// Shift+Tab goes through all modes, and from auto it leads to yolo first, so the command is the
/// advice.
const REMEDY: &str = "type `/approval-mode default` there";

pub(super) const PROFILE: Profile = Profile {
    agent: Agent::Qwen,
    packages: &["@qwen-code/qwen-code"],
    commands: &["qwen"],
    settings: SettingsPlaces {
        folder: ".qwen",
        moved: Moved::Folder("QWEN_HOME"),
        system_variable: "QWEN_CODE_SYSTEM_SETTINGS_PATH",
        system: "/etc/qwen-code",
        system_macos: "/Library/Application Support/QwenCode",
        system_windows: "C:\\ProgramData\\qwen-code",
        defaults_variable: "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
    },
    approval: ApprovalRules {
        mode_flags: &["--approval-mode", "--approvalMode"],
        yolo_flags: &["--yolo", "-y"],
        plain_flags: &["--bare", "--safe-mode", "--safeMode"],
        keys: &[["tools", "approvalMode"]],
        only_by_flag: &[],
        unset: &[
            Unset {
                since: [0, 24, 4],
                mode: Some("auto"),
            },
            // The change came somewhere in between.
            Unset {
                since: [0, 15, 11],
                mode: None,
            },
            Unset {
                since: [0, 0, 0],
                mode: Some("default"),
            },
        ],
        modes: &[
            Mode {
                name: "default",
                spellings: &[],
                asks: true,
                remedy: "",
            },
            // It changes nothing until the person has agreed to its plan.
            Mode {
                name: "plan",
                spellings: &[],
                asks: true,
                remedy: "",
            },
            Mode {
                name: "auto-edit",
                spellings: &["auto_edit", "autoedit"],
                asks: false,
                remedy: REMEDY,
            },
            Mode {
                name: "auto",
                spellings: &[],
                asks: false,
                remedy: REMEDY,
            },
            Mode {
                name: "yolo",
                spellings: &[],
                asks: false,
                remedy: REMEDY,
            },
        ],
    },
    introduction: Introduction::Defaults(
        r#"{"ide":{"enabled":true,"hasSeenNudge":true},"tools":{"approvalMode":"default"}}"#,
    ),
    first_question: None,
};
