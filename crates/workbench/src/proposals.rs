//! All proposals that wait for a decision.
//!
//! A session has at most one proposal for a path: with a new request the agent
//! drops the first one. So a proposal is found by its number, when a person
//! decides, and by session and path, when its agent withdraws it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    Decided, Decision, Proposal, ProposalId, ProposalRequest, Refusal, Revised, SessionId,
    Standing, Visibility,
};

/// The proposals that wait for a decision.
#[derive(Debug)]
pub struct Proposals {
    open: BTreeMap<ProposalId, Proposal>,
    /// The same, by session and path.
    index: BTreeMap<SessionId, BTreeMap<String, ProposalId>>,
    /// What all of them take. There can be many, and this is asked for with each new one.
    total: Room,
    next_id: u64,
}

/// The bytes that proposals take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Room {
    /// See [`Proposal::requested_bytes`].
    requested: usize,
    /// See [`Proposal::bytes`].
    all: usize,
}

impl Room {
    fn of(proposal: &Proposal) -> Room {
        Room {
            requested: proposal.requested_bytes(),
            all: proposal.bytes(),
        }
    }

    fn add(&mut self, other: Room) {
        self.requested += other.requested;
        self.all += other.all;
    }

    fn take(&mut self, other: Room) {
        self.requested -= other.requested;
        self.all -= other.all;
    }
}

/// What [`Proposals::propose`] did.
#[derive(Debug)]
pub struct NewProposal {
    /// The number it got.
    pub id: ProposalId,
    /// The older proposal of the same session for the same path, which is gone.
    pub replaced: Option<Proposal>,
}

impl Proposals {
    /// No proposals yet; the first one gets the number `first_id`.
    pub fn new(first_id: u64) -> Proposals {
        Proposals {
            open: BTreeMap::new(),
            index: BTreeMap::new(),
            total: Room::default(),
            next_id: first_id,
        }
    }

    /// The number that the next proposal gets.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// An agent proposes to write a file.
    pub fn propose(&mut self, request: ProposalRequest, now: u64) -> NewProposal {
        let id = ProposalId::new(self.next_id);
        let replaced = self.withdraw_path(&request.session, &request.path);
        self.insert(Proposal::new(id, request, now));
        NewProposal { id, replaced }
    }

    /// Restores a proposal of an earlier run under its old number. A newer
    /// proposal of the same session for the same path stays instead.
    pub fn restore(&mut self, proposal: Proposal) {
        self.next_id = self.next_id.max(proposal.id.get().saturating_add(1));
        match self.find(&proposal.session, &proposal.path) {
            Some(newer) if newer > proposal.id => return,
            Some(older) => drop(self.remove(older)),
            None => {}
        }
        self.remove(proposal.id);
        self.insert(proposal);
    }

    /// The proposal with this number, if it is open.
    pub fn get(&self, id: ProposalId) -> Option<&Proposal> {
        self.open.get(&id)
    }

    /// All open proposals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Proposal> {
        self.open.values()
    }

    /// How many of this session's are open.
    pub fn count_of(&self, session: &SessionId) -> usize {
        self.index.get(session).map_or(0, BTreeMap::len)
    }

    /// How many bytes the requests of agents take, see [`Proposal::requested_bytes`].
    pub fn requested_bytes(&self) -> usize {
        self.total.requested
    }

    /// How many bytes all of them take, see [`Proposal::bytes`].
    pub fn bytes(&self) -> usize {
        self.total.all
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The person has changed the proposed text of this revision, but not decided yet. See
    /// [`Proposal::bring_forward`] for a text that was made of an earlier revision.
    pub fn set_draft(
        &mut self,
        id: ProposalId,
        revision: u32,
        text: impl Into<Arc<str>>,
    ) -> Result<(), Refusal> {
        let proposal = self.open.get(&id).ok_or(Refusal::Unknown(id))?;
        if revision != proposal.revision {
            return Err(Refusal::Stale);
        }
        if let Standing::TerminalOnly(why) = &proposal.standing {
            return Err(Refusal::TerminalOnly(why.clone()));
        }
        if !proposal.capabilities.takes_edited_text {
            return Err(Refusal::EditedText);
        }
        let text = text.into();
        if let Some(reason) = proposal.withheld
            && *text != *proposal.texts.proposed
        {
            let changed = proposal.file_change.is_some();
            return Err(Refusal::Withheld { reason, changed });
        }
        self.change(id, |proposal| {
            proposal.draft = (*text != *proposal.texts.proposed).then_some(text);
        });
        Ok(())
    }

    /// The file of a proposal may be shared with agents, or not. Returns whether that is news.
    pub fn set_visibility(&mut self, id: ProposalId, visibility: Visibility) -> bool {
        let changed = self.change(id, |proposal| {
            let before = proposal.withheld;
            proposal.set_visibility(visibility);
            before != proposal.withheld
        });
        changed.unwrap_or(false)
    }

    /// The file has changed: from now on the proposal is reviewed against its present text.
    /// Returns whether it is; it is not if somebody else was first, or if it is over.
    pub fn revise(&mut self, id: ProposalId, revised: Revised) -> bool {
        let applied = self.change(id, |proposal| proposal.apply(revised));
        applied.unwrap_or(false)
    }

    /// A command has shown this revision to the person.
    pub fn mark_shown(&mut self, id: ProposalId, revision: u32) {
        self.change(id, |proposal| proposal.shown = revision);
    }

    /// The person has decided. The proposal is removed, unless the decision is
    /// refused: then nothing changes.
    ///
    /// `seen` is the revision that the person had in front of them; without it, the last one that
    /// a command has shown. Nothing is accepted that the person has not seen.
    pub fn decide(
        &mut self,
        id: ProposalId,
        decision: Decision,
        seen: Option<u32>,
    ) -> Result<Decided, Refusal> {
        let proposal = self.open.get(&id).ok_or(Refusal::Unknown(id))?;
        let seen = seen.unwrap_or(proposal.shown);
        if decision != Decision::Reject && seen != proposal.revision {
            return Err(Refusal::Stale);
        }
        let verdict = proposal.judge(decision)?;
        let proposal = self.remove(id).ok_or(Refusal::Unknown(id))?;
        Ok(Decided { proposal, verdict })
    }

    /// Withdraws a proposal by its number.
    pub fn withdraw(&mut self, id: ProposalId) -> Option<Proposal> {
        self.remove(id)
    }

    /// Withdraws the proposal of a session for this path.
    pub fn withdraw_path(&mut self, session: &SessionId, path: &str) -> Option<Proposal> {
        self.find(session, path).and_then(|id| self.remove(id))
    }

    /// Withdraws all proposals of a session that has ended.
    pub fn withdraw_all(&mut self, session: &SessionId) -> Vec<Proposal> {
        let of_session = self.index.remove(session).into_iter();
        let ids = of_session.flat_map(BTreeMap::into_values);
        let gone: Vec<_> = ids.filter_map(|id| self.open.remove(&id)).collect();
        for proposal in &gone {
            self.total.take(Room::of(proposal));
        }
        gone
    }

    /// What this session proposes for this path.
    pub fn find(&self, session: &SessionId, path: &str) -> Option<ProposalId> {
        self.index.get(session)?.get(path).copied()
    }

    fn insert(&mut self, proposal: Proposal) {
        self.next_id = self.next_id.max(proposal.id.get().saturating_add(1));
        self.index
            .entry(proposal.session.clone())
            .or_default()
            .insert(proposal.path.clone(), proposal.id);
        self.total.add(Room::of(&proposal));
        self.open.insert(proposal.id, proposal);
    }

    /// Changes a proposal, if it is open. Nothing else does, so that the total stays right.
    fn change<T>(&mut self, id: ProposalId, change: impl FnOnce(&mut Proposal) -> T) -> Option<T> {
        let proposal = self.open.get_mut(&id)?;
        self.total.take(Room::of(proposal));
        let result = change(proposal);
        self.total.add(Room::of(proposal));
        Some(result)
    }

    fn remove(&mut self, id: ProposalId) -> Option<Proposal> {
        let proposal = self.open.remove(&id)?;
        self.total.take(Room::of(&proposal));
        if let Some(paths) = self.index.get_mut(&proposal.session) {
            paths.remove(&proposal.path);
            if paths.is_empty() {
                self.index.remove(&proposal.session);
            }
        }
        Some(proposal)
    }
}

#[cfg(test)]
mod tests;
