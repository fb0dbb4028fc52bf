//! Tells the terminal in which a companion runs what happens, one line each, on stderr: agents that
//! come and go, what they propose, and what becomes of it.
//!
//! It reads the feed as pages and editors do, at its own pace: a terminal that is stopped (Ctrl-S)
//! holds up nothing but this. It is interested in reviews alone, so that nobody collects what
//! agents see while no page is open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion::desk::{AgentSession, LogEntry, LogEvent};
use front::{Change, Front, FrontError, Interest, Item, ProposalSummary, Reader, Topic, words};
use tokio::time::Instant;
use workbench::{Outcome, ProposalId, SessionId};

use crate::folders;
use crate::output::{Lines, print_error};

/// How long an agent may be away before it counts as gone. A published agent is away for a second
/// whenever a stream of it ends.
const AWAY: Duration = Duration::from_secs(5);

/// Tells from now on what happens at this front. After a planned restart (`resumed`) the terminal
/// knows already who is there and what is pending.
pub(crate) fn start(front: &Front, roots: Vec<PathBuf>, resumed: bool) {
    let reader = front.read(Interest::of(&[Topic::Review]), None);
    let narrator = Narrator::new(roots, resumed);
    // It ends with the program, or when the front is gone.
    tokio::spawn(narrate(reader, narrator));
}

async fn narrate(mut reader: Reader, mut narrator: Narrator) -> Result<(), FrontError> {
    loop {
        let deadline = narrator.deadline();
        let overdue = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let lines = tokio::select! {
            item = reader.next() => {
                let news = News::of(item?).await?;
                narrator.take(news, Instant::now())
            }
            () = overdue => narrator.overdue(Instant::now()),
        };
        if !lines.is_empty() {
            // A terminal can be stopped, and then a write does not return.
            let lines: Lines = lines.into_iter().collect();
            front::off_thread(move || print_error(&lines)).await?;
        }
    }
}

/// What the feed has, as far as it is told.
enum News {
    /// Everything as it is now.
    State {
        proposals: Vec<ProposalSummary>,
        agents: Vec<AgentSession>,
        /// How proposals ended that are over by now, as far as that is still known.
        outcomes: BTreeMap<ProposalId, Outcome>,
    },
    Opened(ProposalSummary),
    Closed(ProposalId, Outcome),
    Agents(Vec<AgentSession>),
    Nothing,
}

impl News {
    async fn of(item: Item) -> Result<News, FrontError> {
        let change = match item {
            Item::Snapshot(snapshot) => {
                let overview = &snapshot.overview;
                let (proposals, agents) = (overview.proposals.clone(), overview.agents.clone());
                let summaries = move || ProposalSummary::all(&proposals, &agents);
                return Ok(News::State {
                    proposals: front::off_thread(summaries).await?,
                    agents: snapshot.overview.agents.clone(),
                    outcomes: snapshot.log.iter().filter_map(outcome).collect(),
                });
            }
            Item::Change(change) => change,
        };
        Ok(match &change.change {
            Change::Opened(summary) => News::Opened(summary.clone()),
            Change::Closed(id, outcome) => News::Closed(*id, *outcome),
            Change::Agents(agents) => News::Agents(agents.clone()),
            _ => News::Nothing,
        })
    }
}

fn outcome(entry: &LogEntry) -> Option<(ProposalId, Outcome)> {
    match &entry.what {
        LogEvent::Ended(proposal, outcome) => Some((proposal.proposal, *outcome)),
        _ => None,
    }
}

/// What the terminal was told, and what it is to be told next. It does no I/O and has no clock.
struct Narrator {
    roots: Vec<PathBuf>,
    /// Whether the next state is the first one, and the terminal knows it already.
    resumed: bool,
    /// Pending proposals, with their paths as the person knows them.
    proposals: BTreeMap<ProposalId, String>,
    /// Agents that count as connected, and since when those that are away are.
    agents: BTreeMap<SessionId, (AgentSession, Option<Instant>)>,
}

impl Narrator {
    fn new(roots: Vec<PathBuf>, resumed: bool) -> Narrator {
        Narrator {
            roots,
            resumed,
            proposals: BTreeMap::new(),
            agents: BTreeMap::new(),
        }
    }

    /// The lines that news are worth.
    fn take(&mut self, news: News, now: Instant) -> Vec<String> {
        match news {
            News::State {
                proposals,
                agents,
                outcomes,
            } => {
                if std::mem::take(&mut self.resumed) {
                    self.know(&proposals, agents, now);
                    return Vec::new();
                }
                let mut lines = self.present(agents, now);
                let pending: BTreeSet<_> = proposals.iter().map(|proposal| proposal.id).collect();
                let known: Vec<_> = self.proposals.keys().copied().collect();
                for over in known.into_iter().filter(|id| !pending.contains(id)) {
                    lines.extend(self.closed(over, outcomes.get(&over).copied()));
                }
                let opened = proposals
                    .iter()
                    .filter_map(|proposal| self.opened(proposal));
                lines.extend(opened);
                lines
            }
            News::Opened(proposal) => self.opened(&proposal).into_iter().collect(),
            News::Closed(id, outcome) => self.closed(id, Some(outcome)).into_iter().collect(),
            News::Agents(agents) => self.present(agents, now),
            News::Nothing => Vec::new(),
        }
    }

    /// When the next agent that is away counts as gone.
    fn deadline(&self) -> Option<Instant> {
        let away = self.agents.values().filter_map(|(_, away)| *away);
        away.min().map(|since| since + AWAY)
    }

    /// The agents that have been away for too long.
    fn overdue(&mut self, now: Instant) -> Vec<String> {
        let is_overdue = |away: Option<Instant>| away.is_some_and(|since| since + AWAY <= now);
        let gone = self.agents.extract_if(.., |_, (_, away)| is_overdue(*away));
        gone.map(|(_, (agent, _))| words::gone(&agent)).collect()
    }

    /// Takes a state as told.
    fn know(&mut self, proposals: &[ProposalSummary], agents: Vec<AgentSession>, now: Instant) {
        for proposal in proposals {
            self.opened(proposal);
        }
        for agent in agents {
            let away = (!agent.streaming).then_some(now);
            self.agents.insert(agent.id.clone(), (agent, away));
        }
    }

    fn opened(&mut self, proposal: &ProposalSummary) -> Option<String> {
        let path = self.shown(&proposal.path);
        let line = words::proposed(proposal, &path);
        // After a snapshot a change may be repeated.
        let known = self.proposals.insert(proposal.id, path);
        known.is_none().then_some(line)
    }

    fn closed(&mut self, id: ProposalId, outcome: Option<Outcome>) -> Option<String> {
        let path = self.proposals.remove(&id)?;
        Some(words::ended(id, &path, outcome))
    }

    /// These agents have a session now.
    fn present(&mut self, sessions: Vec<AgentSession>, now: Instant) -> Vec<String> {
        let ids: BTreeSet<_> = sessions.iter().map(|agent| agent.id.clone()).collect();
        let left = self.agents.extract_if(.., |id, _| !ids.contains(id));
        let mut lines: Vec<_> = left.map(|(_, (agent, _))| words::gone(&agent)).collect();
        for agent in sessions {
            match self.agents.get_mut(&agent.id) {
                Some((_, away)) if agent.streaming => *away = None,
                Some((_, away)) => *away = away.or(Some(now)),
                None if agent.streaming => {
                    lines.push(words::connected(&agent));
                    self.agents.insert(agent.id.clone(), (agent, None));
                }
                // It has not opened its stream yet, or it is gone already.
                None => {}
            }
        }
        lines
    }

    /// A path as the person knows it: in the folder that is served, if there is one.
    fn shown(&self, path: &str) -> String {
        let below = match self.roots.as_slice() {
            [root] => Path::new(path).strip_prefix(root).ok(),
            _ => None,
        };
        let shown = below.unwrap_or_else(|| folders::relative(path.as_ref()));
        shown.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use companion::desk::{AgentClient, Presence};
    use workbench::Agent;

    use super::*;

    fn agent(id: &str, streaming: bool) -> AgentSession {
        AgentSession {
            id: SessionId::new(id),
            agent: Agent::Qwen,
            client: AgentClient {
                name: "client".into(),
                version: id.into(),
            },
            process: None,
            elsewhere: false,
            opened_at: 0,
            streaming,
            presence: if streaming {
                Presence::Connected
            } else {
                Presence::Away
            },
            undelivered: 0,
        }
    }

    fn proposal(id: u64, path: &str) -> ProposalSummary {
        ProposalSummary {
            id: ProposalId::new(id),
            path: path.into(),
            agent: Agent::Qwen,
            who: "Qwen Code".into(),
            session: SessionId::new("s"),
            opened_at: 0,
            new_file: false,
            hunks: 1,
            added: 3,
            removed: 2,
            revision: 1,
            file_change: None,
            conflicts: 0,
            editable: true,
            withheld: None,
            terminal_only: None,
        }
    }

    fn state(proposals: &[ProposalSummary], agents: &[AgentSession]) -> News {
        News::State {
            proposals: proposals.to_vec(),
            agents: agents.to_vec(),
            outcomes: [(ProposalId::new(1), Outcome::Rejected)].into(),
        }
    }

    fn narrator(resumed: bool) -> Narrator {
        Narrator::new(vec!["/w".into()], resumed)
    }

    #[test]
    fn each_thing_is_told_once() {
        let (mut narrator, now) = (narrator(false), Instant::now());
        let mut told = |news| narrator.take(news, now).join("; ");
        let one = proposal(1, "/w/src/a.py");
        assert_eq!(told(state(&[], &[])), "");
        assert_eq!(told(News::Agents(vec![agent("1.0", false)])), "");
        assert_eq!(
            told(News::Agents(vec![agent("1.0", true)])),
            "Qwen Code is connected"
        );
        assert_eq!(told(News::Agents(vec![agent("1.0", true)])), "");
        let proposed = "proposal 1: src/a.py +3 −2 by Qwen Code";
        assert_eq!(told(News::Opened(one.clone())), proposed);
        assert_eq!(told(News::Opened(one)), "");
        let closed = || News::Closed(ProposalId::new(1), Outcome::Accepted);
        assert_eq!(told(closed()), "proposal 1: src/a.py accepted");
        assert_eq!(told(closed()), "");
        assert_eq!(told(News::Agents(vec![])), "Qwen Code is gone");
    }

    #[test]
    fn what_was_missed_is_told_from_the_state() {
        let (mut narrator, now) = (narrator(false), Instant::now());
        let here = [agent("1.0", true)];
        let first = narrator.take(state(&[proposal(1, "/w/a")], &here), now);
        assert_eq!(
            first,
            ["Qwen Code is connected", "proposal 1: a +3 −2 by Qwen Code"]
        );
        let later = narrator.take(state(&[proposal(2, "/other/b")], &[]), now);
        assert_eq!(
            later,
            [
                "Qwen Code is gone",
                "proposal 1: a rejected",
                "proposal 2: /other/b +3 −2 by Qwen Code"
            ]
        );
    }

    #[test]
    fn after_a_restart_nothing_is_told_again() {
        let (mut narrator, now) = (narrator(true), Instant::now());
        let pending = [proposal(1, "/w/a")];
        let told = narrator.take(state(&pending, &[agent("1.0", false)]), now);
        assert_eq!(told, [] as [&str; 0]);
        let told = narrator.take(News::Agents(vec![agent("1.0", true)]), now);
        assert_eq!(told, [] as [&str; 0], "it has come back");
        let told = narrator.take(News::Closed(ProposalId::new(1), Outcome::Accepted), now);
        assert_eq!(told, ["proposal 1: a accepted"]);
    }

    #[test]
    fn an_agent_that_is_away_for_a_moment_is_not_gone() {
        let (mut narrator, start) = (narrator(false), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        narrator.take(News::Agents(vec![agent("1.0", true)]), at(0));
        assert_eq!(narrator.deadline(), None);
        narrator.take(News::Agents(vec![agent("1.0", false)]), at(1));
        narrator.take(News::Agents(vec![agent("1.0", false)]), at(2));
        assert_eq!(narrator.deadline(), Some(at(1) + AWAY));
        assert_eq!(narrator.overdue(at(2)), [] as [&str; 0]);
        let back = narrator.take(News::Agents(vec![agent("1.0", true)]), at(3));
        assert_eq!((back.len(), narrator.deadline()), (0, None));

        narrator.take(News::Agents(vec![agent("1.0", false)]), at(4));
        assert_eq!(narrator.overdue(at(4) + AWAY), ["Qwen Code is gone"]);
        assert_eq!(narrator.deadline(), None);
        let still = narrator.take(News::Agents(vec![agent("1.0", false)]), at(20));
        assert_eq!((still.len(), narrator.deadline()), (0, None));
        let back = narrator.take(News::Agents(vec![agent("1.0", true)]), at(30));
        assert_eq!(back, ["Qwen Code is connected"]);
    }
}
