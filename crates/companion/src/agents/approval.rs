//! In which mode an agent was started: whether it asks the person before it writes a file.
//!
//! An agent that does not ask never opens a diff, and the person waits for a review that does not
//! come. The mode can be changed in the agent at any time, and nobody tells us; what can be known is
//! how it was started. The rules are data per agent, and pure: command line and settings go in.

use serde_json::Value;

/// How an agent decides whether to ask before it writes.
#[derive(Debug)]
pub struct ApprovalRules {
    /// The flags whose value names a mode. They go before everything else.
    pub mode_flags: &'static [&'static str],
    /// The flags that stand for the mode `yolo`.
    pub yolo_flags: &'static [&'static str],
    /// The flags with which settings do not count, and the mode is `default`.
    pub plain_flags: &'static [&'static str],
    /// Where settings name a mode, as section and name; the first that is there counts.
    pub keys: &'static [[&'static str; 2]],
    /// The modes that settings cannot name.
    pub only_by_flag: &'static [&'static str],
    /// The mode if nothing names one, by version, newest first.
    pub(super) unset: &'static [Unset],
    /// All modes.
    pub modes: &'static [Mode],
}

/// A mode of an agent.
#[derive(Debug, PartialEq, Eq)]
pub struct Mode {
    /// The agent's word for it.
    pub name: &'static str,
    /// Other words that the agent takes for it.
    pub(super) spellings: &'static [&'static str],
    /// Whether the person is asked before a file is written.
    pub asks: bool,
    /// How to get from this mode to one that asks, in the agent's own words; empty if it asks.
    pub remedy: &'static str,
}

/// The mode of versions from `since` on, if nothing names one; `None` if it is not known.
#[derive(Debug)]
pub(super) struct Unset {
    pub(super) since: [u32; 3],
    pub(super) mode: Option<&'static str>,
}

impl Mode {
    /// The mode that an agent calls so, whichever agent it is. Where two have the same word, they
    /// mean the same.
    pub fn named(name: &str) -> Option<&'static Mode> {
        let mut profiles = super::PROFILES.into_iter();
        profiles.find_map(|profile| profile.approval.known(name))
    }
}

impl ApprovalRules {
    /// The mode in which an agent was started with these arguments (without program and script) and
    /// settings, of which later ones override earlier ones. `None` if it cannot be known. Without a
    /// version, it is taken for the newest.
    pub fn mode(
        &self,
        arguments: &[&str],
        settings: &[Value],
        version: Option<&str>,
    ) -> Option<&'static Mode> {
        if let Some(named) = self.named_by_flag(arguments) {
            return self.known(named);
        }
        if arguments.iter().any(|word| self.plain_flags.contains(word)) {
            return self.known("default");
        }
        // Settings that cannot name a mode do not hide an earlier one that can.
        let named = settings.iter().rev().filter_map(|file| self.named_in(file));
        let mut named = named.filter(|name| {
            let mode = self.known(name);
            !mode.is_some_and(|mode| self.only_by_flag.contains(&mode.name))
        });
        match named.next() {
            Some(name) => self.known(name),
            None => self.known(self.unset(version)?),
        }
    }

    /// Whether the person has named a mode on the command line.
    fn named_by_flag<'a>(&self, arguments: &[&'a str]) -> Option<&'a str> {
        let own = arguments
            .split(|word| *word == "--")
            .next()
            .unwrap_or_default();
        for (at, word) in own.iter().enumerate() {
            if self.yolo_flags.contains(word) {
                return Some("yolo");
            }
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (*word, own.get(at + 1).copied()),
            };
            if self.mode_flags.contains(&flag) {
                return value;
            }
        }
        None
    }

    fn named_in<'a>(&self, settings: &'a Value) -> Option<&'a str> {
        let mut keys = self.keys.iter();
        keys.find_map(|[section, name]| settings.get(section)?.get(name)?.as_str())
    }

    fn unset(&self, version: Option<&str>) -> Option<&'static str> {
        let mut rules = self.unset.iter();
        match version.and_then(numbers) {
            Some(version) => rules.find(|rule| version >= rule.since)?.mode,
            None => rules.next()?.mode,
        }
    }

    fn known(&self, name: &str) -> Option<&'static Mode> {
        let name = name.trim();
        self.modes.iter().find(|mode| {
            let mut words = mode.spellings.iter().chain([&mode.name]);
            words.any(|word| word.eq_ignore_ascii_case(name))
        })
    }
}

/// The numbers of a version; what follows them does not matter.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let plain = version.split(['-', '+']).next()?;
    let mut parts = plain.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Mode;
    use crate::agents::{gemini, qwen};

    /// Settings from words such as `tools=yolo`, each of which is a file; `-` is one without a mode.
    fn settings(words: &str) -> Vec<Value> {
        let files = words.split(' ').filter(|word| !word.is_empty());
        let files = files.map(|word| match word.split_once('=') {
            Some(("tools", mode)) => json!({ "tools": { "approvalMode": mode } }),
            Some((_, mode)) => json!({ "general": { "defaultApprovalMode": mode } }),
            None => json!({ "tools": 7 }),
        });
        files.collect()
    }

    #[test]
    fn the_mode_that_an_agent_was_started_in() {
        let table = [
            // Nothing is set: it depends on the product and its version.
            ("qwen", "0.24.4", "", "", "auto"),
            ("qwen", "0.25.0-nightly.1", "", "", "auto"),
            ("qwen", "", "", "", "auto"),
            ("qwen", "0.20.0", "", "", "?"),
            ("qwen", "0.15.10", "", "", "default"),
            ("qwen", "0.5.0", "", "", "default"),
            ("gemini", "0.61.0", "", "", "default"),
            ("gemini", "", "", "", "default"),
            // Settings; the last file counts.
            ("qwen", "0.24.4", "tools=default", "", "default"),
            ("qwen", "0.24.4", "tools=default tools=yolo", "", "yolo"),
            ("qwen", "0.24.4", "tools=yolo -", "", "yolo"),
            ("qwen", "0.24.4", "tools=autoEdit", "", "auto-edit"),
            ("qwen", "0.24.4", "tools=what", "", "?"),
            ("qwen", "0.24.4", "-", "", "auto"),
            ("gemini", "0.61.0", "general=auto_edit", "", "auto_edit"),
            ("gemini", "0.61.0", "tools=auto_edit", "", "auto_edit"),
            ("gemini", "0.61.0", "general=plan", "", "plan"),
            // Gemini takes this one from the command line only.
            ("gemini", "0.61.0", "general=yolo", "", "default"),
            (
                "gemini",
                "0.61.0",
                "tools=auto_edit tools=yolo",
                "",
                "auto_edit",
            ),
            // Flags go before settings.
            (
                "qwen",
                "0.24.4",
                "tools=yolo",
                "--approval-mode plan",
                "plan",
            ),
            (
                "qwen",
                "0.24.4",
                "",
                "--approval-mode=auto-edit",
                "auto-edit",
            ),
            ("qwen", "0.24.4", "tools=default", "--yolo", "yolo"),
            ("qwen", "0.5.0", "", "-m x -y", "yolo"),
            ("qwen", "0.24.4", "tools=yolo", "--bare", "default"),
            ("gemini", "0.61.0", "", "--model x -y", "yolo"),
            ("gemini", "0.61.0", "", "--approval-mode yolo", "yolo"),
            // A flag without its value is no mode; what follows `--` is no flag.
            ("qwen", "0.24.4", "", "--approval-mode", "auto"),
            ("qwen", "0.24.4", "tools=default", "-- --yolo", "default"),
        ];
        for (agent, version, set, arguments, expected) in table {
            let rules = match agent {
                "qwen" => &qwen::PROFILE.approval,
                _ => &gemini::PROFILE.approval,
            };
            let what = format!("{agent} {version} [{set}] {arguments}");
            let version = Some(version).filter(|version| !version.is_empty());
            let words = arguments.split(' ').filter(|word| !word.is_empty());
            let words: Vec<_> = words.collect();
            let mode = rules.mode(&words, &settings(set), version);
            assert_eq!(mode.map_or("?", |mode| mode.name), expected, "{what}");
        }
    }

    #[test]
    fn a_word_for_a_mode_means_the_same_for_all_agents() {
        for (name, asks) in [
            ("default", Some(true)),
            ("plan", Some(true)),
            ("auto-edit", Some(false)),
            ("autoEdit", Some(false)),
            ("auto", Some(false)),
            ("yolo", Some(false)),
            ("YOLO", Some(false)),
            ("careful", None),
            ("", None),
        ] {
            assert_eq!(Mode::named(name).map(|mode| mode.asks), asks, "{name}");
        }
        for profile in [&qwen::PROFILE, &gemini::PROFILE] {
            for mode in profile.approval.modes {
                let named = Mode::named(mode.name).unwrap();
                assert_eq!(named.asks, mode.asks, "{named:?} {mode:?}");
            }
        }
    }

    #[test]
    fn every_mode_that_does_not_ask_has_a_way_out() {
        for profile in [&qwen::PROFILE, &gemini::PROFILE] {
            for mode in profile.approval.modes {
                assert_eq!(mode.asks, mode.remedy.is_empty(), "{mode:?}");
            }
        }
        // One press of it leads from auto to yolo.
        let is_safe = |mode: &Mode| !mode.remedy.contains("Shift+Tab");
        assert!(qwen::PROFILE.approval.modes.iter().all(is_safe));
    }
}
