//! The memory that the texts of pending proposals take together.
//!
//! A few small requests can name large files, and each of them is kept until the person decides. So
//! there is one budget for all of them ([`Limits::texts`](crate::Limits::texts)), and room is
//! reserved before a file is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use workbench::{Original, ProposalRequest, Refusal};

use super::{ProposeError, State};

/// Room for texts that are being read. It is given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    bytes: usize,
    reserved: Arc<AtomicUsize>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.reserved.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

impl State {
    /// Reserves room for the texts of a request. Drop it where the proposal is made.
    pub(crate) fn reserve_for_request(&self, bytes: usize) -> Result<Reservation, ProposeError> {
        self.check_request(bytes)?;
        Ok(self.reserve(bytes))
    }

    /// Reserves room to compare a proposal with the present text of its file. Drop it where the
    /// proposal is revised.
    pub fn reserve_for_review(&self, bytes: usize) -> Result<Reservation, Refusal> {
        self.check_review(bytes)?;
        Ok(self.reserve(bytes))
    }

    /// The texts of files that proposals are about, as far as they have this many bytes.
    pub fn known_originals(&self, bytes: u64) -> Vec<Arc<str>> {
        // Many proposals are about files that do not exist yet.
        if bytes == 0 {
            return Vec::new();
        }
        let originals = self.proposals.iter().flat_map(|proposal| {
            let present = &proposal.texts.original;
            [present, &proposal.requested.original]
        });
        let texts = originals.filter_map(|original| match original {
            Original::Text(text) if text.len() as u64 == bytes => Some(text),
            _ => None,
        });
        let mut known: Vec<Arc<str>> = Vec::new();
        for text in texts {
            if !known.iter().any(|it| Arc::ptr_eq(it, text)) {
                known.push(text.clone());
            }
        }
        known
    }

    /// The largest file that is shown beside what an agent proposes, in bytes.
    pub fn largest_original(&self) -> u64 {
        self.limits.original
    }

    /// Whether there is room for what an agent proposes.
    pub(super) fn check_proposal(&self, ask: &ProposalRequest) -> Result<(), ProposeError> {
        self.check_request(ask.path.len() + ask.texts.bytes())
    }

    /// Whether there is room for this much more of what becomes of proposals.
    pub(super) fn check_review(&self, bytes: usize) -> Result<(), Refusal> {
        let taken = self.proposals.bytes() + self.reserved();
        let fits = taken.saturating_add(bytes) <= self.limits.texts;
        fits.then_some(()).ok_or(Refusal::NoRoom)
    }

    fn check_request(&self, bytes: usize) -> Result<(), ProposeError> {
        let taken = self.proposals.requested_bytes() + self.reserved();
        let fits = taken.saturating_add(bytes) <= self.limits.texts / 2;
        fits.then_some(()).ok_or(ProposeError::NoRoom)
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Acquire)
    }

    /// Only the owner's task adds to what is reserved, so nobody comes between the check and this.
    fn reserve(&self, bytes: usize) -> Reservation {
        self.reserved.fetch_add(bytes, Ordering::AcqRel);
        Reservation {
            bytes,
            reserved: self.reserved.clone(),
        }
    }
}
