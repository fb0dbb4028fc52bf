//! The model beside the program: what was acknowledged to whom, and what follows from it.
//!
//! It knows no socket and no process. A run writes down what agents and the person were told, what
//! arrived, and what happened to the companion; at the end [`Ledger::judge`] compares it with what
//! the companion lists. The rules are those of `docs/reliability.md`:
//!
//! - A proposal that was acknowledged to its agent, and that nobody has decided, is listed.
//! - A decision that was acknowledged to the person arrives at the agent once, with that outcome,
//!   and its proposal is not listed any more.
//! - Nothing arrives that nobody has decided, and nothing is decided twice.
//!
//! What the program does not promise is excused, and nothing else: see [`Excuse`].

use std::collections::BTreeMap;
use std::fmt;

/// An agent's number in its schedule.
pub type AgentNumber = usize;

/// How a proposal was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this text; `None` if the model does not know it.
    Accepted(Option<String>),
    /// Not at all.
    Rejected,
}

impl Outcome {
    fn matches(&self, arrived: &Outcome) -> bool {
        match (self, arrived) {
            (Outcome::Accepted(Some(expected)), Outcome::Accepted(Some(text))) => expected == text,
            (Outcome::Accepted(_), Outcome::Accepted(_))
            | (Outcome::Rejected, Outcome::Rejected) => true,
            _ => false,
        }
    }
}

/// Why a promise does not hold for a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excuse {
    /// What the journal had of it was removed, or could not be written, and then the companion ended.
    JournalLost,
    /// The kernel had taken the verdict when the connection was cut.
    CutOnItsWay,
    /// The companion has ended in good order, and with it the agent's session.
    SessionEnded,
    /// Another program took the port before the next run, so agents were given new tokens.
    PortLost,
}

/// A handle to a proposal in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(usize);

/// A handle to a decision in the ledger.
#[derive(Clone, Copy, Debug)]
pub struct Attempt(usize, usize);

/// What is known of a proposal.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent facts, each with its own rule"
)]
struct Proposal {
    agent: AgentNumber,
    session: String,
    path: String,
    /// No other proposal has this name.
    name: String,
    acknowledged: bool,
    attempts: Vec<Decision>,
    /// How often a verdict arrived.
    arrivals: usize,
    /// The agent has taken it back, replaced it or left.
    over: bool,
    /// The agent wanted to, and does not know whether the companion has heard it.
    perhaps_over: bool,
    /// The companion has ended in good order and may have said no.
    may_be_rejected: bool,
    /// The journal may not have it as it is.
    fragile: bool,
    excuse: Option<Excuse>,
}

#[derive(Debug)]
struct Decision {
    outcome: Outcome,
    /// How often the companion had been killed before.
    crashes: usize,
    acknowledged: bool,
    /// The companion has said that it was not done.
    refused: bool,
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The same words for the same promise, to count by.
    pub promise: &'static str,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

/// A proposal as the companion lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session that asked.
    pub session: String,
    /// As the agent sent it.
    pub path: String,
}

/// Everything that was acknowledged in a run.
#[derive(Debug, Default)]
pub struct Ledger {
    proposals: Vec<Proposal>,
    /// How often the companion was killed.
    crashes: usize,
    /// How many faults keep the journal from being written at the moment.
    blocks: usize,
    /// Whether the next run would not find what is written down now.
    is_hidden: bool,
    /// Whether there was such a run.
    was_hidden: bool,
    violations: Vec<Violation>,
}

impl Ledger {
    /// An agent is about to propose a text for a file, which goes by a name; what it proposed for it before is over.
    pub fn proposing(
        &mut self,
        agent: AgentNumber,
        session: &str,
        path: &str,
        name: &str,
    ) -> Entry {
        for earlier in &mut self.proposals {
            if earlier.agent == agent && earlier.path == path {
                // Whether it is replaced is known when the new one is acknowledged.
                earlier.perhaps_over = true;
            }
        }
        self.proposals.push(Proposal {
            agent,
            session: session.to_owned(),
            path: path.to_owned(),
            name: name.to_owned(),
            acknowledged: false,
            attempts: Vec::new(),
            arrivals: 0,
            over: false,
            perhaps_over: false,
            may_be_rejected: false,
            fragile: self.is_unsafe(),
            excuse: None,
        });
        Entry(self.proposals.len() - 1)
    }

    /// The agent was told that its proposal is open.
    pub fn proposed(&mut self, entry: Entry) {
        let Proposal { agent, path, .. } = &self.proposals[entry.0];
        let (agent, path) = (*agent, path.clone());
        for earlier in &mut self.proposals[..entry.0] {
            earlier.over |= earlier.agent == agent && earlier.path == path;
        }
        self.proposals[entry.0].acknowledged = true;
        self.touch(entry.0);
    }

    /// An agent is about to take back what it proposed for a file; `None` for everything, because it
    /// leaves.
    pub fn withdrawing(&mut self, agent: AgentNumber, path: Option<&str>) {
        for proposal in self.of(agent, path) {
            proposal.perhaps_over = true;
        }
    }

    /// It was told that this is done.
    pub fn withdrawn(&mut self, agent: AgentNumber, path: Option<&str>) {
        for proposal in self.of(agent, path) {
            proposal.over = true;
        }
    }

    /// The person is about to decide the newest proposal of a session that goes by one of these names;
    /// `None` if the ledger does not know it.
    pub fn deciding(
        &mut self,
        session: &str,
        names: &[String],
        outcome: Outcome,
    ) -> Option<Attempt> {
        let at = self.proposals.iter();
        let at = at
            .enumerate()
            .rfind(|(_, it)| it.session == session && names.contains(&it.name))?
            .0;
        self.touch(at);
        let crashes = self.crashes;
        let attempts = &mut self.proposals[at].attempts;
        attempts.push(Decision {
            outcome,
            crashes,
            acknowledged: false,
            refused: false,
        });
        Some(Attempt(at, attempts.len() - 1))
    }

    /// The person was told that it is decided.
    pub fn decided(&mut self, attempt: Attempt) {
        let proposal = &mut self.proposals[attempt.0];
        if proposal.attempts.iter().any(|it| it.acknowledged) && proposal.excuse.is_none() {
            let what = proposal.to_string();
            self.violate("a proposal is decided once", what);
        }
        self.proposals[attempt.0].attempts[attempt.1].acknowledged = true;
        self.touch(attempt.0);
    }

    /// The person was told that it cannot be decided like that.
    pub fn refused(&mut self, attempt: Attempt) {
        self.proposals[attempt.0].attempts[attempt.1].refused = true;
    }

    /// A verdict has arrived at an agent. Clients match it by its path, with what they proposed last.
    pub fn arrived(&mut self, agent: AgentNumber, path: &str, outcome: &Outcome) {
        let fits = |it: &Proposal| {
            let decided = it.attempts.iter().filter(|attempt| !attempt.refused);
            let ended = it.may_be_rejected && *outcome == Outcome::Rejected;
            ended || decided.map(|it| &it.outcome).any(|it| it.matches(outcome))
        };
        let mut own: Vec<_> = self
            .proposals
            .iter()
            .enumerate()
            .filter(|(_, it)| it.agent == agent && it.path == path)
            .map(|(at, it)| (at, fits(it), it.arrivals == 0))
            .collect();
        own.reverse();
        let newest = own.first().copied();
        // One that was on its way when the agent proposed anew, or comes again after a crash.
        let place = own.iter().find(|(_, fits, first)| *fits && *first);
        let place = place
            .or_else(|| own.iter().find(|(_, fits, _)| *fits))
            .copied();
        let Some((at, ..)) = place else {
            let excused = newest.is_some_and(|(at, ..)| self.proposals[at].excuse.is_some());
            if !excused {
                let last = newest.map(|(at, ..)| self.proposals[at].to_string());
                let last = last.unwrap_or_default();
                let what = format!("agent {agent} heard {outcome:?} for {path}; last: {last}");
                self.violate("only what was decided arrives", what);
            }
            return;
        };
        let crashes = self.crashes;
        let proposal = &mut self.proposals[at];
        proposal.arrivals += 1;
        // Each crash since the decision may have kept the companion from knowing that it had arrived.
        let decided_at = proposal.attempts.iter().map(|it| it.crashes).min();
        let since = crashes - decided_at.unwrap_or(crashes);
        if proposal.arrivals > 1 + since && proposal.excuse.is_none() {
            let what = proposal.to_string();
            self.violate("a verdict arrives once", what);
        }
        self.touch(at);
    }

    /// The connections of an agent were cut. Verdicts that had left and not arrived are lost.
    pub fn cut(&mut self, agent: AgentNumber) {
        for proposal in self.of(agent, None) {
            if !proposal.attempts.is_empty() && proposal.arrivals == 0 {
                proposal.excuse = Some(Excuse::CutOnItsWay);
            }
        }
    }

    /// From now on the journal cannot be written.
    pub fn blocked(&mut self) {
        self.blocks += 1;
        for proposal in &mut self.proposals {
            // That a verdict has arrived is written down soon after, and nobody is told when.
            proposal.fragile |= proposal.arrivals > 0;
        }
    }

    /// A fault that kept the journal from being written is over.
    pub fn unblocked(&mut self) {
        self.blocks = self.blocks.saturating_sub(1);
    }

    /// The files of the journal were removed.
    pub fn journal_removed(&mut self) {
        for proposal in &mut self.proposals {
            proposal.fragile = true;
        }
    }

    /// The files by which the next run finds the journal were removed.
    pub fn journal_hidden(&mut self) {
        self.is_hidden = true;
        self.journal_removed();
    }

    /// The companion was killed.
    pub fn crashed(&mut self) {
        self.crashes += 1;
        self.reload();
    }

    /// The companion is started again as planned, and reads its journal.
    pub fn restarting(&mut self) {
        self.reload();
    }

    /// The companion ends in good order. It rejects what `hanging` agents wait for, because they
    /// could not be answered later.
    pub fn stopping(&mut self, hanging: impl Fn(AgentNumber) -> bool) {
        for proposal in &mut self.proposals {
            proposal.may_be_rejected |= hanging(proposal.agent);
            proposal.excuse.get_or_insert(Excuse::SessionEnded);
        }
        self.reload();
    }

    /// The companion came back on another port.
    pub fn port_lost(&mut self) {
        for proposal in &mut self.proposals {
            proposal.excuse.get_or_insert(Excuse::PortLost);
        }
    }

    /// Whether a run could not know which discovery files the one before had written.
    pub fn forgot_files(&self) -> bool {
        self.was_hidden
    }

    /// What the journal may not have is not promised any more.
    fn reload(&mut self) {
        self.was_hidden |= std::mem::take(&mut self.is_hidden);
        for proposal in &mut self.proposals {
            if proposal.fragile {
                proposal.excuse = Some(Excuse::JournalLost);
            }
        }
    }

    /// Something about a proposal has to be written down now.
    fn touch(&mut self, at: usize) {
        self.proposals[at].fragile |= self.is_unsafe();
    }

    /// Whether what is written down now may be lost.
    fn is_unsafe(&self) -> bool {
        self.blocks > 0 || self.is_hidden
    }

    fn of(
        &mut self,
        agent: AgentNumber,
        path: Option<&str>,
    ) -> impl Iterator<Item = &mut Proposal> {
        let own = self
            .proposals
            .iter_mut()
            .filter(move |it| it.agent == agent);
        own.filter(move |it| path.is_none_or(|path| it.path == path))
    }

    fn violate(&mut self, promise: &'static str, what: String) {
        self.violations.push(Violation { promise, what });
    }

    /// Whether every acknowledged decision has arrived; a run waits for that before it judges.
    pub fn is_settled(&self) -> bool {
        self.proposals.iter().all(|it| !it.is_owed())
    }

    /// What was not kept, given what is listed after everything has come to rest.
    pub fn judge(&self, listed: &[Listed]) -> Vec<Violation> {
        let mut violations = self.violations.clone();
        let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for listed in listed {
            *left.entry((&listed.session, &listed.path)).or_default() += 1;
        }
        // The newest proposal of a session for a file is the one that is listed.
        for proposal in self.proposals.iter().rev() {
            let key = (proposal.session.as_str(), proposal.path.as_str());
            let count = left.remove(&key).unwrap_or_default();
            let mut violate = |promise| {
                let what = proposal.to_string();
                violations.push(Violation { promise, what });
            };
            if count > 1 {
                violate("a file has one proposal of a session");
            }
            let is_listed = count > 0;
            if proposal.excuse.is_some() || proposal.over || proposal.perhaps_over {
                continue;
            }
            let decided = proposal.attempts.iter().any(|it| it.acknowledged);
            let arrived = proposal.arrivals > 0;
            if proposal.is_owed() {
                violate("an acknowledged decision arrives");
            }
            if is_listed && (decided || arrived) {
                violate("what is decided is not open again");
            }
            if proposal.acknowledged && !is_listed && !decided && !arrived {
                violate("an acknowledged proposal stays open");
            }
        }
        for ((session, path), _) in left {
            violations.push(Violation {
                promise: "only what was proposed is listed",
                what: format!("{path} of session {session}"),
            });
        }
        violations
    }

    /// How much was acknowledged: proposals and decisions.
    pub fn acknowledged(&self) -> (usize, usize) {
        let proposals = self.proposals.iter().filter(|it| it.acknowledged).count();
        let attempts = self.proposals.iter().flat_map(|it| &it.attempts);
        (proposals, attempts.filter(|it| it.acknowledged).count())
    }
}

impl Proposal {
    /// Whether an acknowledged decision has not arrived.
    fn is_owed(&self) -> bool {
        let decided = self.attempts.iter().any(|it| it.acknowledged);
        let excused = self.excuse.is_some() || self.over || self.perhaps_over;
        decided && self.arrivals == 0 && !excused
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        write!(f, "{} of agent {} for {file}", self.name, self.agent)?;
        if !self.acknowledged {
            write!(f, ", not acknowledged")?;
        }
        for attempt in &self.attempts {
            let how = match &attempt.outcome {
                Outcome::Accepted(_) => "accepted",
                Outcome::Rejected => "rejected",
            };
            let told = if attempt.acknowledged {
                "acknowledged"
            } else if attempt.refused {
                "refused"
            } else {
                "not acknowledged"
            };
            write!(f, ", {how} ({told})")?;
        }
        write!(f, ", arrived {} times", self.arrivals)?;
        if let Some(excuse) = self.excuse {
            write!(f, ", excused: {excuse:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
