//! What each agent can do and how it wants to be answered: data, one module per dialect.
//!
//! The rest of the crate asks a [`Dialect`], never the agent's name. The protocol
//! that these dialects vary is in [`crate::mcp::ide`].

mod gemini;
mod qwen;

use workbench::{Agent, VerdictCapabilities};

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

/// An agent that we know nothing about is answered as the most fragile one is.
const UNNAMED: Dialect = Dialect {
    refusal: RefusalStyle::Silence,
    capabilities: VerdictCapabilities {
        takes_empty_text: false,
        takes_edited_text: true,
    },
    reads_changed_files_again: false,
};

/// The dialect that `agent` speaks.
pub(crate) fn dialect(agent: Agent) -> &'static Dialect {
    match agent {
        Agent::Qwen => &qwen::DIALECT,
        Agent::Gemini => &gemini::DIALECT,
        Agent::Unnamed => &UNNAMED,
    }
}
