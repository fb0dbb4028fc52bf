//! The files of the journal: their types on disk, and the conversions from and to the core.

use std::path::PathBuf;

use beacon::process::ProcessId;
use serde::{Deserialize, Serialize};
use workbench::{
    Agent, Cursor, Focus, Original, Place, Proposal, ProposalId, ProposalRequest, SessionId,
    Standing, Texts, Verdict,
};

use crate::agents::{AgentProcess, UnaskingMode, dialect};
use crate::desk::AgentClient;

/// What an earlier run left behind.
#[derive(Debug, Default)]
pub struct Saved {
    pub(crate) sessions: Vec<SavedSession>,
    pub(crate) proposals: Vec<Proposal>,
    pub(crate) verdicts: Vec<SavedVerdict>,
    /// Oldest focus first.
    pub(crate) documents: Vec<(Focus, u64)>,
    pub(crate) next_proposal: u64,
}

impl Saved {
    /// Leaves the sessions behind, because their agents cannot come back, and with them what they
    /// wait for. Returns the paths of decisions that have not reached them.
    pub fn end_sessions(&mut self) -> Vec<String> {
        self.sessions.clear();
        let undelivered = self.verdicts.iter();
        undelivered.map(|verdict| verdict.path.clone()).collect()
    }
}

/// A session on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub(crate) id: String,
    #[serde(with = "agent_slug")]
    pub(crate) agent: Agent,
    pub(crate) client: SavedClient,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<SavedProcess>,
    pub(crate) opened_at: u64,
}

/// The process of a session's agent, on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedProcess {
    /// Numbers and start times, the one that the person sees first.
    line: Vec<(u32, u64)>,
    terminal: Option<String>,
    folder: Option<PathBuf>,
    product: Option<String>,
    version: Option<String>,
    /// The mode that does not ask, and the way out of it.
    unasking: Option<(String, String)>,
}

impl From<&AgentProcess> for SavedProcess {
    fn from(process: &AgentProcess) -> SavedProcess {
        let unasking = process.unasking.as_ref();
        let line = process.line.iter();
        SavedProcess {
            line: line.map(|id| (id.pid, id.started)).collect(),
            terminal: process.terminal.clone(),
            // JSON has no paths that are not Unicode, and this one is only shown.
            folder: process
                .folder
                .as_ref()
                .map(|it| it.to_string_lossy().into_owned().into()),
            product: process.product.map(|agent| agent.slug().to_owned()),
            version: process.version.clone(),
            unasking: unasking.map(|mode| (mode.name.clone(), mode.remedy.clone())),
        }
    }
}

impl From<SavedProcess> for AgentProcess {
    fn from(saved: SavedProcess) -> AgentProcess {
        let line = saved.line.into_iter();
        AgentProcess {
            line: line
                .map(|(pid, started)| ProcessId { pid, started })
                .collect(),
            terminal: saved.terminal,
            folder: saved.folder,
            product: saved.product.as_deref().and_then(Agent::from_slug),
            version: saved.version,
            unasking: saved
                .unasking
                .map(|(name, remedy)| UnaskingMode { name, remedy }),
        }
    }
}

/// What a session's client said of itself, on disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedClient {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

impl From<&AgentClient> for SavedClient {
    fn from(client: &AgentClient) -> SavedClient {
        SavedClient {
            name: client.name.clone(),
            version: client.version.clone(),
        }
    }
}

impl From<SavedClient> for AgentClient {
    fn from(saved: SavedClient) -> AgentClient {
        AgentClient {
            name: saved.name,
            version: saved.version,
        }
    }
}

/// An undelivered verdict on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedVerdict {
    pub(crate) proposal: u64,
    pub(crate) session: String,
    pub(crate) path: String,
    /// The final text; absent means rejected.
    accepted: Option<String>,
}

impl SavedVerdict {
    pub(crate) fn new(
        proposal: ProposalId,
        session: &SessionId,
        path: &str,
        verdict: &Verdict,
    ) -> SavedVerdict {
        SavedVerdict {
            proposal: proposal.get(),
            session: session.to_string(),
            path: path.to_owned(),
            accepted: match verdict {
                Verdict::Accepted { text, .. } => Some(text.clone()),
                Verdict::Rejected => None,
            },
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match &self.accepted {
            Some(text) => Verdict::Accepted {
                text: text.clone(),
                edited: true,
            },
            None => Verdict::Rejected,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedSessions {
    pub(super) next_proposal: u64,
    pub(super) sessions: Vec<SavedSession>,
}

/// The number of the next proposal is in a file of its own: it changes with each of them, and there
/// can be many sessions.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedCounter {
    pub(super) next_proposal: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedProposal {
    id: u64,
    session: String,
    #[serde(with = "agent_slug")]
    agent: Agent,
    path: String,
    /// Absent for a new file.
    original: Option<String>,
    proposed: String,
    terminal_only: Option<String>,
    opened_at: u64,
    /// Absent in files of earlier versions, which did not tell revisions of two runs apart.
    #[serde(default = "first_revision")]
    revision: u32,
}

fn first_revision() -> u32 {
    Proposal::FIRST
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedDocument {
    path: PathBuf,
    real: PathBuf,
    cursor: Option<(u32, u32)>,
    selection: Option<String>,
    focused_at: u64,
}

impl From<&Proposal> for SavedProposal {
    fn from(proposal: &Proposal) -> SavedProposal {
        SavedProposal {
            id: proposal.id.get(),
            session: proposal.session.to_string(),
            agent: proposal.agent,
            path: proposal.path.clone(),
            // What the file is by then is read again.
            original: proposal.requested.original.text().map(str::to_owned),
            proposed: proposal.requested.proposed.clone(),
            terminal_only: match &proposal.standing {
                Standing::Open => None,
                Standing::TerminalOnly(why) => Some(why.clone()),
            },
            opened_at: proposal.opened_at,
            revision: proposal.revision,
        }
    }
}

impl SavedProposal {
    pub(super) fn into_proposal(self) -> Proposal {
        let original = (self.original).map_or(Original::Absent, |text| Original::Text(text.into()));
        let request = ProposalRequest {
            session: SessionId::new(self.session),
            agent: self.agent,
            path: self.path,
            texts: Texts::new(original, self.proposed),
            standing: self
                .terminal_only
                .map_or(Standing::Open, Standing::TerminalOnly),
            capabilities: dialect(self.agent).capabilities,
        };
        let mut proposal = Proposal::new(ProposalId::new(self.id), request, self.opened_at);
        // It begins with the texts of the request again. If the person has seen others since, those
        // have a number that no other texts may have.
        if self.revision > Proposal::FIRST {
            proposal.revision = self.revision.saturating_add(1);
        }
        proposal
    }
}

impl From<(Focus, u64)> for SavedDocument {
    fn from((focus, focused_at): (Focus, u64)) -> SavedDocument {
        SavedDocument {
            path: focus.place.path,
            real: focus.place.real,
            cursor: focus.cursor.map(|at| (at.line, at.character)),
            selection: focus.selection,
            focused_at,
        }
    }
}

impl SavedDocument {
    pub(super) fn into_focus(self) -> (Focus, u64) {
        let focus = Focus {
            place: Place {
                path: self.path,
                real: self.real,
            },
            cursor: self
                .cursor
                .map(|(line, character)| Cursor::new(line, character)),
            selection: self.selection,
        };
        (focus, self.focused_at)
    }
}

/// An agent is stored under its slug.
mod agent_slug {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use workbench::Agent;

    // The signature is the one that serde's attribute calls.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(
        agent: &Agent,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(agent.slug())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Agent, D::Error> {
        let slug = String::deserialize(deserializer)?;
        Agent::from_slug(&slug)
            .ok_or_else(|| D::Error::custom(format!("no agent is called {slug}")))
    }
}
