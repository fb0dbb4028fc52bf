//! What an agent proposes to write, and what the person decides.
//!
//! A proposal is the whole new text of one file. The companion never writes it:
//! the agent does, after the person accepted, and with the text that the person
//! accepted. So a verdict carries the final text, and a decision that the agent
//! would not carry out as it was meant is refused before anything is decided.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::present::{EarlierTexts, FileChange};
use crate::{Agent, Outcome, ProposalId, Reason, Review, SessionId, UnknownHunk, Visibility};

/// The content of the file that a proposal would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Original {
    /// There is no such file yet.
    Absent,
    /// The text of the file. Several proposals for one file share it.
    Text(Arc<str>),
}

impl Original {
    /// The text, if there is a file.
    pub fn text(&self) -> Option<&str> {
        match self {
            Original::Absent => None,
            Original::Text(text) => Some(text),
        }
    }
}

/// Who can decide a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Every front end.
    Open,
    /// Only the person at the agent's own prompt, because it cannot be shown. The
    /// text is the reason.
    TerminalOnly(String),
}

/// The two texts of a proposal, and the review of one against the other.
pub struct Texts {
    /// What is in the file.
    pub original: Original,
    /// What the agent would write.
    pub proposed: String,
    review: OnceLock<Review>,
}

impl Texts {
    /// Takes the two texts. They are compared on the first call of
    /// [`Texts::review`].
    pub fn new(original: Original, proposed: String) -> Texts {
        Texts {
            original,
            proposed,
            review: OnceLock::new(),
        }
    }

    /// The review, which is computed once and kept, so that hunks keep their
    /// numbers. For large texts that can take a noticeable part of a second, so
    /// call it where blocking does no harm.
    pub fn review(&self) -> &Review {
        self.review
            .get_or_init(|| Review::of(self.original_text(), &self.proposed))
    }

    /// The text that results when only the hunks in `keep` are applied.
    pub fn merge(&self, keep: &BTreeSet<usize>) -> Result<String, UnknownHunk> {
        self.review()
            .merge(self.original_text(), &self.proposed, keep)
    }

    /// The review as a unified diff of the file at `path`.
    pub fn unified(&self, path: &str) -> String {
        self.review()
            .unified(path, self.original.text(), &self.proposed)
    }

    /// How many bytes both take.
    pub fn bytes(&self) -> usize {
        self.original_text().len() + self.proposed.len()
    }

    fn original_text(&self) -> &str {
        self.original.text().unwrap_or_default()
    }
}

/// Shows only the sizes: the texts are private and do not belong in logs.
impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts")
            .field("original_bytes", &self.original.text().map(str::len))
            .field("proposed_bytes", &self.proposed.len())
            .finish_non_exhaustive()
    }
}

/// A request to write a file.
#[derive(Debug)]
pub struct ProposalRequest {
    /// The session that sent the request and receives the verdict.
    pub session: SessionId,
    /// The agent in that session.
    pub agent: Agent,
    /// The path exactly as the agent sent it.
    pub path: String,
    /// The texts.
    pub texts: Texts,
    /// Who can decide it.
    pub standing: Standing,
    /// What the agent can do with a verdict.
    pub capabilities: VerdictCapabilities,
}

/// What an agent proposes to write.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its number.
    pub id: ProposalId,
    /// The session that sent the request and receives the verdict.
    pub session: SessionId,
    /// The agent in that session.
    pub agent: Agent,
    /// The path exactly as the agent sent it, because the agent compares it
    /// byte for byte.
    pub path: String,
    /// The texts that the person reviews: the file as it is now, and the agent's edit brought into
    /// it. They are those of the request until the file changes.
    pub texts: Arc<Texts>,
    /// Counts up from 1 whenever the file has changed and the texts were made anew.
    pub revision: u32,
    /// The texts of the request: the file as the agent read it, and what the agent would write.
    pub requested: Arc<Texts>,
    /// What has become of the file since the agent read it, if anything.
    pub file_change: Option<FileChange>,
    /// The texts of the revisions before, as far as a front end may still show them.
    pub(crate) earlier: EarlierTexts,
    /// The last revision that a command has shown to the person.
    pub(crate) shown: u32,
    /// Why its file is kept from agents, if it is; see [`Proposal::takes_edited_text`].
    pub(crate) withheld: Option<Reason>,
    /// Who can decide it.
    pub standing: Standing,
    /// What the agent can do with a verdict.
    pub capabilities: VerdictCapabilities,
    /// When the request arrived, in Unix milliseconds.
    pub opened_at: u64,
    /// The person's edited text, if a front end has reported one.
    pub draft: Option<Arc<str>>,
}

impl Proposal {
    /// The first revision.
    pub const FIRST: u32 = 1;

    /// The proposal that a request makes.
    pub fn new(id: ProposalId, request: ProposalRequest, opened_at: u64) -> Proposal {
        let texts = Arc::new(request.texts);
        Proposal {
            id,
            session: request.session,
            agent: request.agent,
            path: request.path,
            texts: texts.clone(),
            revision: Proposal::FIRST,
            requested: texts,
            file_change: None,
            earlier: EarlierTexts::default(),
            shown: Proposal::FIRST,
            withheld: None,
            standing: request.standing,
            capabilities: request.capabilities,
            opened_at,
            draft: None,
        }
    }

    /// How many bytes the agent's request takes: its texts, and what it says about them. An
    /// original that several proposals share counts for each of them, because each is written
    /// down with its own.
    pub fn requested_bytes(&self) -> usize {
        let why = match &self.standing {
            Standing::Open => 0,
            Standing::TerminalOnly(why) => why.len(),
        };
        // Each proposal takes a little however small it is.
        1024 + self.path.len() + why + self.requested.bytes()
    }

    /// How many bytes it takes with all that has become of it: revisions and a draft.
    pub fn bytes(&self) -> usize {
        let revised = if Arc::ptr_eq(&self.texts, &self.requested) {
            0
        } else {
            self.texts.bytes()
        };
        let draft = self.draft.as_deref().map_or(0, str::len);
        self.requested_bytes() + revised + self.earlier.bytes(&self.requested) + draft
    }

    /// Why its file is kept from agents, if it is.
    pub fn withheld(&self) -> Option<Reason> {
        self.withheld
    }

    /// Whether another text than the agent's own can be accepted.
    ///
    /// It cannot if the agent would not write it. And it cannot if the file is kept from agents: the
    /// agent gets the whole text that is accepted, and whatever is not its own comes from the file.
    pub fn takes_edited_text(&self) -> bool {
        self.capabilities.takes_edited_text && self.withheld.is_none()
    }

    /// The current text, if the agent may be told: see [`Proposal::takes_edited_text`].
    pub fn current_for_agent(&self) -> Option<&str> {
        let text = self.current();
        let is_its_own = text == self.requested.proposed;
        (is_its_own || self.withheld.is_none()).then_some(text)
    }

    /// Its file may be shared with agents, or not. What is merely outside the folders of the
    /// workbench is no secret, and the agent has found it by itself.
    pub(crate) fn set_visibility(&mut self, visibility: Visibility) {
        self.withheld = match visibility {
            Visibility::Shown | Visibility::HeldBack(Reason::Outside) => None,
            Visibility::HeldBack(reason) => Some(reason),
        };
    }

    /// The current text: the person's draft, or else the agent's proposal.
    pub fn current(&self) -> &str {
        self.draft.as_deref().unwrap_or(&self.texts.proposed)
    }

    /// The verdict that follows from `decision`, if the agent would carry it out
    /// as the person means it.
    ///
    /// The texts are compared only for [`Decision::AcceptHunks`], and then only
    /// if there is no review yet.
    pub(crate) fn judge(&self, decision: Decision) -> Result<Verdict, Refusal> {
        let text = match (decision, &self.standing) {
            (Decision::Reject, _) => return Ok(Verdict::Rejected),
            (_, Standing::TerminalOnly(why)) => return Err(Refusal::TerminalOnly(why.clone())),
            (Decision::Accept, _) => self.current().to_owned(),
            (Decision::AcceptText(text), _) => text,
            (Decision::AcceptHunks(keep), _) => self.texts.merge(&keep)?,
        };
        let conflicts = self.conflicts_in(&text);
        if conflicts > 0 {
            return Err(Refusal::Conflicts(conflicts));
        }
        let edited = text != self.requested.proposed;
        if edited && let Some(reason) = self.withheld {
            return Err(Refusal::Withheld {
                reason,
                changed: self.file_change.is_some(),
            });
        }
        if edited && text.is_empty() && !self.capabilities.takes_empty_text {
            return Err(Refusal::EmptyText);
        }
        if edited && !self.capabilities.takes_edited_text {
            return Err(match self.file_change {
                Some(_) => Refusal::WouldOverwrite,
                None => Refusal::EditedText,
            });
        }
        Ok(Verdict::Accepted { text, edited })
    }
}

/// What the person decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Accept the current text, see [`Proposal::current`].
    Accept,
    /// Accept this text instead.
    AcceptText(String),
    /// Accept these hunks of the agent's proposal, by their numbers, and keep the
    /// original lines for the others. A draft is ignored: hunks are numbered in
    /// the agent's text.
    ///
    /// The numbers are those of [`Texts::review`]. Where the comparison of two
    /// large texts must not block, compute the review elsewhere first.
    AcceptHunks(BTreeSet<usize>),
    /// Reject the proposal.
    Reject,
}

/// What is sent to the agent after a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write this text.
    Accepted {
        /// The final text.
        text: String,
        /// Whether it differs from what the agent proposed.
        edited: bool,
    },
    /// Write nothing.
    Rejected,
}

impl Verdict {
    /// The text to write, if any.
    pub fn text(&self) -> Option<&str> {
        match self {
            Verdict::Accepted { text, .. } => Some(text),
            Verdict::Rejected => None,
        }
    }

    /// The outcome of a proposal with this verdict.
    pub fn outcome(&self) -> Outcome {
        match self {
            Verdict::Accepted { .. } => Outcome::Accepted,
            Verdict::Rejected => Outcome::Rejected,
        }
    }
}

/// A proposal that was decided, with its verdict.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The proposal as it was.
    pub proposal: Proposal,
    /// What was decided.
    pub verdict: Verdict,
}

/// What an agent can do with a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictCapabilities {
    /// Whether it writes an empty text when an empty text was accepted. The
    /// published agents take `""` for "nothing was edited" and write their own
    /// proposal.
    pub takes_empty_text: bool,
    /// Whether it writes the accepted text at all, or always its own proposal.
    pub takes_edited_text: bool,
}

/// Why a decision was refused. The proposal stays open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such proposal.
    #[error("proposal {0} is not open: it was decided, withdrawn or replaced; list the open ones")]
    Unknown(ProposalId),
    /// The agent that would write the file does not exist any more.
    #[error(
        "the agent that made proposal {0} is gone, so nobody would write the file; start it again and ask for the change once more"
    )]
    AgentGone(ProposalId),
    /// It cannot be shown, so it must not be accepted here.
    #[error(
        "this proposal can only be accepted at the agent's own prompt: {0}; answer there, or reject it here"
    )]
    TerminalOnly(String),
    /// The agent would ignore the empty text and write its own proposal.
    #[error(
        "the agent ignores an empty text and would write its whole proposal; reject it, and empty the file yourself"
    )]
    EmptyText,
    /// The agent would ignore the edited text and write its own proposal.
    #[error(
        "the agent cannot take an edited text; accept the proposal as it is, or reject it and say what to change"
    )]
    EditedText,
    /// The agent would get to know a file that is kept from it.
    #[error(
        "this file is not shared with agents ({reason}), and a text other than the agent's own would tell it what is in it; {}",
        way_out(*.changed)
    )]
    Withheld {
        /// Why it is kept from agents.
        reason: Reason,
        /// Whether it has changed since the agent read it, so that the agent's own text would undo
        /// that.
        changed: bool,
    },
    /// A hunk was chosen that the proposal does not have.
    #[error(transparent)]
    UnknownHunk(#[from] UnknownHunk),
    /// The file has changed, and the person has not seen the proposal against the present text.
    #[error(
        "the file has changed since you looked at this proposal, which is shown against the present text now; look at it again, then decide"
    )]
    Stale,
    /// Both the person and the agent have changed the same lines.
    #[error(
        "{} in conflict with changes that were made in the meantime; edit the text between the markers <<<<<<< and >>>>>>>, drop those hunks, or reject the proposal",
        places(*.0)
    )]
    Conflicts(usize),
    /// The agent takes no text but its own, and that would undo what was changed in the meantime.
    #[error(
        "the file has changed since the agent read it, and this agent would overwrite that because it takes no text but its own; reject the proposal and ask for it again"
    )]
    WouldOverwrite,
    /// The texts of all proposals take as much memory as they may.
    #[error(
        "the texts of all pending proposals together take too much memory; decide some of the others first, or answer in the agent's terminal"
    )]
    NoRoom,
    /// What is in the file now is not known, so nobody can say what would be overwritten.
    #[error(
        "the file cannot be compared with what the agent read ({0}); reject the proposal, or answer in the agent's terminal"
    )]
    Unreadable(String),
}

fn way_out(changed: bool) -> &'static str {
    if changed {
        "reject the proposal and edit the file yourself, or answer in the agent's terminal, which undoes what has changed since"
    } else {
        "accept the proposal whole, or reject it and edit the file yourself"
    }
}

fn places(count: usize) -> String {
    match count {
        1 => "one place is".into(),
        _ => format!("{count} places are"),
    }
}
