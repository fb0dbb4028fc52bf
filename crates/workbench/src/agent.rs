//! The terminal agents that are known by name.

use std::fmt;

/// A terminal agent that outrigger knows by name.
///
/// What each of them can do, and where each of them looks for a companion, is
/// data that lives with the crate that needs it; this is only the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Qwen Code.
    Qwen,
    /// Gemini CLI.
    Gemini,
    /// An agent that connected over stdio and did not say which product it is.
    Unnamed,
}

impl Agent {
    /// The agents that look for discovery files, in the order in which people see them.
    pub const DISCOVERING: [Agent; 2] = [Agent::Qwen, Agent::Gemini];

    /// The word used on the command line, in configuration and in JSON.
    pub const fn slug(self) -> &'static str {
        match self {
            Agent::Qwen => "qwen",
            Agent::Gemini => "gemini",
            Agent::Unnamed => "agent",
        }
    }

    /// The name that people know the product by.
    pub const fn display_name(self) -> &'static str {
        match self {
            Agent::Qwen => "Qwen Code",
            Agent::Gemini => "Gemini CLI",
            Agent::Unnamed => "an agent",
        }
    }

    /// The agent with this [slug](Agent::slug).
    pub fn from_slug(slug: &str) -> Option<Agent> {
        [Agent::Qwen, Agent::Gemini, Agent::Unnamed]
            .into_iter()
            .find(|agent| agent.slug() == slug)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.display_name())
    }
}
