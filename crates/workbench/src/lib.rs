//! What the person has in front of them, and what agents propose to change in it.
//!
//! This is the pure core of outrigger. It holds four things:
//!
//! * the [`Workbench`]: folders, open documents, focus, selection, trust, and
//!   the [`Context`] that agents may receive;
//! * the [`Privacy`] filter that every document passes before it is shared;
//! * the [`Proposals`] that agents make, and the [`Verdict`] of the person;
//! * the [`Review`] of one proposal: its hunks, and the text that results when
//!   only some of them are kept.
//!
//! It does no I/O, never blocks, and knows no wire format. It has no clock
//! either: time is passed in as Unix milliseconds, so every test can set it.

mod absence;
mod agent;
mod compare;
mod context;
mod document;
mod focus_order;
mod id;
mod outcome;
mod privacy;
mod proposal;
mod proposals;
mod review;
mod secrets;
mod text;
mod unified;
mod workbench;

pub use absence::{AbsenceRule, Attendance, Existence};
pub use agent::Agent;
pub use context::{Active, Context, HeldBack, OpenFile};
pub use document::{Cursor, Document, Focus, Place};
pub use id::{BadProposalId, ProposalId, SessionId};
pub use outcome::Outcome;
pub use privacy::{BadPattern, PatternSource, Privacy, Reason, Visibility};
pub use proposal::{
    Decided, Decision, Original, Proposal, ProposalRequest, Refusal, Standing, Texts, Verdict,
    VerdictCapabilities,
};
pub use proposals::{NewProposal, Proposals};
pub use review::{Hunk, Review, UnknownHunk};
pub use text::cut_utf16;
pub(crate) use text::{Form, LineEnding};
pub use workbench::Workbench;
