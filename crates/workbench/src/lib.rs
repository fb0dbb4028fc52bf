//! What the person has in front of them, and what agents propose to change in it.
//!
//! This is the pure core of outrigger. It holds four things:
//!
//! * the [`Workbench`]: folders, open documents, focus, selection, trust, and
//!   the [`Context`] that agents may receive;
//! * the [`Privacy`] filter that every document passes before it is shared;
//! * the [`Proposals`] that agents make, and the [`Verdict`] of the person;
//! * the [`Review`] of one proposal: its hunks, and the text that results when
//!   only some of them are kept; against the present text if the file has
//!   changed since the agent read it.
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
mod present;
mod privacy;
mod proposal;
mod proposals;
mod review;
mod secrets;
mod text;
mod three_way;
mod unified;
mod workbench;

pub use absence::{AbsenceRule, Attendance, Existence};
pub use agent::Agent;
pub use context::{Active, Context, HeldBack, OpenFile};
pub use document::{Cursor, Document, Focus, Holder, Place};
pub use id::{BadProposalId, ProposalId, SessionId};
pub use outcome::Outcome;
pub use present::{FileChange, Revised};
pub use privacy::{Fault, Pattern, PatternList, Position, Privacy, Reason, Scope, Visibility};
pub use proposal::{
    Decided, Decision, Original, Proposal, ProposalRequest, Refusal, Standing, Texts, Verdict,
    VerdictCapabilities,
};
pub use proposals::{NewProposal, Proposals};
pub use review::{Hunk, Review, UnknownHunk};
pub use text::cut_utf16;
pub(crate) use text::{Form, LineEnding};
pub use workbench::Workbench;
