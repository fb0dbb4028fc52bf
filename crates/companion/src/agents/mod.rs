//! What is known of each agent: data, one module per agent.
//!
//! A `Dialect` says how an agent wants to be answered, a [`Profile`] how it is installed, started
//! and made to ask. Nothing else in the program asks for an agent's name. The protocol that the
//! dialects vary is in `crate::mcp::ide`.

mod approval;
mod gemini;
mod process;
mod qwen;
mod settings;

use workbench::{Agent, VerdictCapabilities};

pub use approval::{ApprovalRules, Mode};
pub(crate) use process::identify;
pub use process::{AgentProcess, UnaskingMode};
pub use settings::{
    SettingsError, SettingsPlaces, read as read_settings, with_values as settings_with,
};

/// How one agent's client differs from the others that speak the same protocol.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// How to say that a proposal cannot be shown, so that the edit is not lost.
    pub(crate) refusal: RefusalStyle,
    /// What the agent can do with a decided text.
    pub(crate) capabilities: VerdictCapabilities,
    /// Whether a version of it does not write a file that has changed since it read it, but reads
    /// it again and proposes its edit anew.
    pub(crate) reads_changed_files_again: bool,
    /// Whether its question takes no answer any more, not even in its terminal, once it has noticed
    /// that the companion is gone.
    pub(crate) hangs_without_companion: bool,
}

/// What makes an agent fall back to its own terminal prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalStyle {
    /// An error is understood: the agent asks in its terminal.
    Error,
    /// An error would lose the edit: success is answered, and the terminal prompt,
    /// which the agent shows anyway, decides.
    Silence,
}

/// How an agent is installed, started and made to ask before it writes.
#[derive(Debug)]
pub struct Profile {
    /// The agent.
    pub agent: Agent,
    /// The npm packages that it is published in.
    pub packages: &'static [&'static str],
    /// The names under which it is started.
    pub commands: &'static [&'static str],
    /// Where its settings are.
    pub settings: SettingsPlaces,
    /// How it decides whether to ask before it writes.
    pub approval: ApprovalRules,
    /// What makes it connect without a question, and ask before it writes, if the person has set
    /// nothing else.
    pub introduction: Introduction,
    /// What it asks by itself before the person can type, in words.
    pub first_question: Option<&'static str>,
}

/// What makes an agent connect without a question, and ask before it writes.
#[derive(Debug)]
pub enum Introduction {
    /// These settings, as JSON, in the file that [`SettingsPlaces::defaults_variable`] names.
    Defaults(&'static str),
    /// These settings, as JSON, in the person's own file, if they agree.
    Consent {
        /// The settings.
        settings: &'static str,
        /// What the person does otherwise, once, in words.
        by_hand: &'static str,
    },
}

/// An agent that we know nothing about is answered as the most fragile one is.
const UNNAMED: Dialect = Dialect {
    refusal: RefusalStyle::Silence,
    capabilities: VerdictCapabilities {
        takes_empty_text: false,
        takes_edited_text: true,
    },
    reads_changed_files_again: false,
    hangs_without_companion: true,
};

/// The dialect that `agent` speaks.
pub(crate) fn dialect(agent: Agent) -> &'static Dialect {
    match agent {
        Agent::Qwen => &qwen::DIALECT,
        Agent::Gemini => &gemini::DIALECT,
        Agent::Unnamed => &UNNAMED,
    }
}

/// Every agent whose installation is known.
const PROFILES: [&Profile; 2] = [&qwen::PROFILE, &gemini::PROFILE];

/// The agent that is started under this name.
pub fn by_command(name: &str) -> Option<&'static Profile> {
    let mut profiles = PROFILES.into_iter();
    profiles.find(|profile| profile.commands.contains(&name))
}

/// The agent that is published in this npm package.
fn by_package(name: &str) -> Option<&'static Profile> {
    let mut profiles = PROFILES.into_iter();
    profiles.find(|profile| profile.packages.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_settings_in_which_the_agent_asks() {
        for profile in PROFILES {
            let (Introduction::Defaults(text) | Introduction::Consent { settings: text, .. }) =
                profile.introduction;
            let settings: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(settings["ide"]["enabled"], true, "{profile:?}");
            assert_eq!(settings["ide"]["hasSeenNudge"], true, "{profile:?}");
            let mode = profile.approval.mode(&[], &[settings], None).unwrap();
            assert!(mode.asks, "{profile:?}");
        }
    }
}
