//! The open documents, in the order in which they had the focus.
//!
//! Two maps over the same documents: by rank, to iterate from the newest, and by
//! path, to find one. Ranks are assigned here and always rise, so the order does
//! not depend on the clock, which may jump back.
//!
//! Nothing here knows about privacy or agents.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use crate::Document;

/// The oldest documents are forgotten beyond this, so that a front end that
/// never closes anything cannot fill the memory.
pub(crate) const MOST_DOCUMENTS: usize = 16_384;

/// The position of a document in the order: by time, then by arrival. Documents
/// that were opened below the same newest one share a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) time: u64,
    arrival: u64,
}

#[derive(Debug, Default)]
pub(crate) struct FocusOrder {
    by_rank: BTreeMap<Rank, Document>,
    by_path: BTreeMap<Arc<Path>, Rank>,
    /// The time that was assigned last.
    clock: u64,
    /// How many ranks were assigned.
    arrivals: u64,
}

impl FocusOrder {
    /// A rank above all others: now, or one later than any before.
    pub(crate) fn rank_on_top(&mut self, now: u64) -> Rank {
        self.clock = now.max(self.clock.saturating_add(1));
        self.rank_at(self.clock)
    }

    /// A rank below `top`, if that is the newest, and above all others.
    pub(crate) fn rank_below(&mut self, top: Rank) -> Rank {
        // All others are at most one earlier. They may share that time: only
        // the newest needs one of its own.
        self.rank_at(top.time.saturating_sub(1))
    }

    fn rank_at(&mut self, time: u64) -> Rank {
        self.arrivals += 1;
        Rank {
            time,
            arrival: self.arrivals,
        }
    }

    pub(crate) fn newest(&self) -> Option<(Rank, &Document)> {
        self.newest_first().next()
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (Rank, &Document)> {
        let documents = self.by_rank.iter().rev();
        documents.map(|(rank, document)| (*rank, document))
    }

    pub(crate) fn find(&self, path: &Path) -> Option<Rank> {
        self.by_path.get(path).copied()
    }

    /// The documents at `path` and, if it is a folder, below it.
    pub(crate) fn find_all(&self, path: &Path) -> Vec<Rank> {
        // Paths are ordered by component, so what is in a folder is together.
        self.by_path
            .range::<Path, _>((Bound::Included(path), Bound::Unbounded))
            .take_while(|(known, _)| known.starts_with(path))
            .map(|(_, rank)| *rank)
            .collect()
    }

    pub(crate) fn get_mut(&mut self, rank: Rank) -> Option<&mut Document> {
        self.by_rank.get_mut(&rank)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.by_rank.values_mut()
    }

    /// Inserts a document. Returns the one with the same path that it replaces.
    pub(crate) fn insert(&mut self, rank: Rank, document: Document) -> Option<Document> {
        let taken = self.by_path.insert(Arc::clone(&document.path), rank);
        let replaced = taken.and_then(|taken| self.by_rank.remove(&taken));
        self.by_rank.insert(rank, document);
        while self.by_rank.len() > MOST_DOCUMENTS
            && let Some((_, oldest)) = self.by_rank.pop_first()
        {
            self.by_path.remove(&oldest.path);
        }
        replaced
    }

    pub(crate) fn remove(&mut self, rank: Rank) -> Option<Document> {
        let document = self.by_rank.remove(&rank)?;
        self.by_path.remove(&document.path);
        Some(document)
    }
}
