//! Gemini CLI, verified with 0.6.1 to 0.61.0 over HTTP and from 0.3.4 over stdio.

use workbench::{Agent, VerdictCapabilities};

use super::approval::{ApprovalRules, Mode, Unset};
use super::settings::{Moved, SettingsPlaces};
use super::{Dialect, Introduction, Profile, RefusalStyle};

pub(super) const DIALECT: Dialect = Dialect {
    // After a refused `openDiff` the edit fails even if the person allows it in the
    // terminal, and versions up to 0.5.5 wait for ever.
    refusal: RefusalStyle::Silence,
    capabilities: VerdictCapabilities {
        // An accepted text of `""` is taken for "not edited": the proposal itself is written.
        takes_empty_text: false,
        takes_edited_text: true,
    },
    reads_changed_files_again: false,
    // It waits for the end of the diff, whatever the person answers, and nobody tells it any more.
    hangs_without_companion: true,
};

pub(super) const PROFILE: Profile = Profile {
    agent: Agent::Gemini,
    packages: &["@google/gemini-cli"],
    commands: &["gemini"],
    settings: SettingsPlaces {
        folder: ".gemini",
        moved: Moved::Home("GEMINI_CLI_HOME"),
        system_variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        system: "/etc/gemini-cli",
        system_macos: "/Library/Application Support/GeminiCli",
        system_windows: "C:\\ProgramData\\gemini-cli",
        defaults_variable: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    },
    approval: ApprovalRules {
        mode_flags: &["--approval-mode", "--approvalMode"],
        yolo_flags: &["--yolo", "-y"],
        plain_flags: &[],
        // The second is the older name, which newer versions move to the first.
        keys: &[
            ["general", "defaultApprovalMode"],
            ["tools", "approvalMode"],
        ],
        only_by_flag: &["yolo"],
        unset: &[Unset {
            since: [0, 0, 0],
            mode: Some("default"),
        }],
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
                name: "auto_edit",
                spellings: &["autoEdit"],
                asks: false,
                remedy: "press Shift+Tab there until it offers \"Shift+Tab to accept edits\"",
            },
            Mode {
                name: "yolo",
                spellings: &[],
                asks: false,
                remedy: "press Ctrl+Y there",
            },
        ],
    },
    // Current versions read the file with the defaults only if it and all folders above it belong to
    // the administrator. A command as its first input (`--prompt-interactive`) is no way either: if it
    // comes before the commands are loaded, it is sent to the model.
    introduction: Introduction::Consent {
        settings: r#"{"ide":{"enabled":true,"hasSeenNudge":true}}"#,
        by_hand: "the first time it asks whether to connect to Outrigger: choose \"No, don't ask again\", because its \"Yes\" looks for an extension; then type `/ide enable`, once and for all",
    },
    first_question: Some(
        "the first time in a folder it asks whether you trust the folder; that is its own question",
    ),
};
