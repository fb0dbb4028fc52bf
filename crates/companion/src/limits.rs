//! Bounds on what a peer can make the companion do.

use std::time::Duration;

/// Bounds on what peers can make the companion hold or do at once.
///
/// They exist so that no peer can stop the program, starve another peer or grow
/// memory without bound; ordinary use stays far below each of them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest request body that is read into memory.
    pub body: usize,
    /// How many bytes of request bodies may be held at once, over all peers.
    pub bodies: usize,
    /// How much of an oversized body is read and thrown away before the connection is cut.
    pub drain: usize,
    /// How many connections each holder of a key may have open at once: each agent by its token,
    /// and the person. One more waits until another has ended.
    pub connections: usize,
    /// How many connections may be open on which no valid key was presented yet; one more ends the
    /// oldest. It has to be more than the agents that a person starts at the same moment.
    pub strangers: usize,
    /// How long such a connection may stay open while no byte moves on it.
    pub stranger_silence: Duration,
    /// How many sessions may exist at once.
    pub sessions: usize,
    /// How many proposals one session may have pending.
    pub proposals_per_session: usize,
    /// How many event streams one session may hold open; the oldest is ended for a newer one.
    pub streams_per_session: usize,
    /// How long an agent may be away before its proposals are taken for abandoned.
    ///
    /// Published clients come back one second after a stream ends, or after the
    /// delay that a planned restart announced, so this has to be longer than both.
    pub grace: Duration,
    /// How long the session of an agent that is away is remembered after that.
    ///
    /// Clients of 2025 do not open a new stream after a clean end, but go on to send
    /// requests in their session, perhaps hours later.
    pub memory: Duration,
    /// How often something is written to an otherwise silent stream; the clients give up after 300 s.
    pub keep_alive: Duration,
    /// The least time between two contexts sent to one agent.
    pub debounce: Duration,
    /// How long a peer may take to send a request's headers, or to go on with its body; and how
    /// long a connection may stay open on which no valid key was presented.
    pub patience: Duration,
    /// The largest file that is read to be shown beside a proposal.
    pub original: u64,
    /// How many bytes the texts of all pending proposals may take together, over all agents:
    /// what was requested, what is being read for that, and what becomes of it.
    ///
    /// Requests of agents may take half of it, so that no agent keeps people from editing a
    /// proposal, or a proposal from being compared with a file that has changed.
    pub texts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Limits {
            body: 64 * MIB,
            bodies: 256 * MIB,
            drain: 1024 * MIB,
            connections: 1024,
            strangers: 1024,
            stranger_silence: Duration::from_secs(10),
            sessions: 1024,
            proposals_per_session: 256,
            streams_per_session: 4,
            grace: Duration::from_mins(1),
            memory: Duration::from_hours(12),
            keep_alive: Duration::from_secs(15),
            debounce: Duration::from_millis(50),
            patience: Duration::from_mins(1),
            original: 64 * MIB as u64,
            texts: 512 * MIB,
        }
    }
}
