//! What agents propose, and what becomes of it.

use std::ffi::OsStr;
use std::path::Path;

use companion::desk::Dispatched;
use companion::journal::JournalTrouble;
use text::show::one_line;
use workbench::{FileChange, Outcome, ProposalId, Reason};

use crate::change::ProposalSummary;

/// That an agent proposes something for the file that the person knows as `path`.
pub fn proposed(proposal: &ProposalSummary, path: &str) -> String {
    let ProposalSummary { id, added, .. } = proposal;
    let (path, who) = (one_line(path), &proposal.who);
    let removed = proposal.removed;
    match &proposal.terminal_only {
        Some(why) => {
            let why = one_line(why);
            format!("proposal {id}: {path} by {who}, to be decided in its own terminal: {why}")
        }
        None if proposal.new_file => {
            format!("proposal {id}: {path} (new file) +{added} −{removed} by {who}")
        }
        None => format!("proposal {id}: {path} +{added} −{removed} by {who}"),
    }
}

/// That the file of a proposal has changed since the agent read it, and what that means.
pub fn stale(change: FileChange, conflicts: usize) -> String {
    let what = match change {
        FileChange::Changed => {
            "the file has changed since the agent read it; the edit is shown on top of what is there now"
        }
        FileChange::Created => {
            "the file did not exist when the agent looked; the edit is shown on top of what is there now"
        }
        FileChange::Deleted => {
            "the file was deleted since the agent read it; accepting makes it anew"
        }
    };
    match conflicts {
        0 => what.into(),
        1 => format!("{what}; one place is in conflict"),
        several => format!("{what}; {several} places are in conflict"),
    }
}

/// That the file of a proposal is kept from agents, and what that means.
pub fn withheld(reason: Reason) -> String {
    format!(
        "the file is not shared with agents ({reason}), so the edit can only be accepted whole: any other text would tell the agent what is in it"
    )
}

/// That the proposal for the file at `path` is over. How is not always known to somebody who was
/// behind.
pub fn closed(path: &str, outcome: Option<Outcome>) -> String {
    let name = Path::new(path).file_name().and_then(OsStr::to_str);
    let name = one_line(name.unwrap_or(path));
    match outcome {
        Some(outcome) => format!("{name}: {outcome}"),
        None => format!("{name}: no longer pending"),
    }
}

/// That the proposal with this number is over, for the file that the person knows as `path`.
pub fn ended(id: ProposalId, path: &str, outcome: Option<Outcome>) -> String {
    let path = one_line(path);
    match outcome {
        Some(outcome) => format!("proposal {id}: {path} {outcome}"),
        None => format!("proposal {id}: {path} no longer pending"),
    }
}

/// What became of a decision, for the person who made it.
pub fn decided(dispatched: &Dispatched) -> String {
    let closed = closed(&dispatched.path, Some(dispatched.outcome));
    let agent = dispatched.agent.display_name();
    let heard = heard(agent, dispatched.streaming, dispatched.may_read_again);
    let unsaved = dispatched.unsaved.as_ref().map(unsaved_decision);
    let unsaved = unsaved.map_or_else(String::new, |it| format!("; {it}"));
    closed + &heard + &unsaved
}

/// That a decision is not on disk, and why.
pub fn unsaved_decision(trouble: &JournalTrouble) -> String {
    let why = one_line(trouble);
    format!("it is not saved yet, and a crash before the agent has it would lose it: {why}")
}

/// That what is pending is not on disk, and why.
pub fn unsaved_state(trouble: &JournalTrouble) -> String {
    let why = one_line(trouble);
    format!("a crash now would lose what is pending and what was decided: {why}")
}

/// What there is to add to a decision: that the agent hears it later, or may not take it as it is.
/// Nothing if it has a stream open, and the file is as it was.
pub fn heard(agent: &str, streaming: bool, may_read_again: bool) -> String {
    let agent = one_line(agent);
    let away = format!("; {agent} is away and gets the decision when it comes back");
    let again = format!("; {agent} may read the changed file first, and propose its edit anew");
    let said = [(!streaming, away), (may_read_again, again)].into_iter();
    said.filter_map(|(is_so, sentence)| is_so.then_some(sentence))
        .collect()
}

#[cfg(test)]
mod tests {
    use workbench::{Agent, SessionId};

    use super::*;

    #[test]
    fn what_is_proposed_and_what_became_of_it() {
        let summary = |new_file, terminal_only: Option<&str>| ProposalSummary {
            id: ProposalId::new(7),
            path: "/w/a\nb.txt".into(),
            agent: Agent::Qwen,
            who: "Qwen Code".into(),
            session: SessionId::new("s"),
            opened_at: 0,
            new_file,
            hunks: 2,
            added: 3,
            removed: 2,
            revision: 1,
            file_change: None,
            conflicts: 0,
            editable: true,
            withheld: None,
            terminal_only: terminal_only.map(str::to_owned),
        };
        for (summary, path, said) in [
            (
                summary(false, None),
                "src/greet.py",
                "proposal 7: src/greet.py +3 −2 by Qwen Code",
            ),
            (
                summary(true, None),
                "a\n\u{1b}[2J",
                "proposal 7: a␊␛[2J (new file) +3 −2 by Qwen Code",
            ),
            (
                summary(false, Some("it is not\nUTF-8")),
                "a.bin",
                "proposal 7: a.bin by Qwen Code, to be decided in its own terminal: it is not␊UTF-8",
            ),
        ] {
            assert_eq!(proposed(&summary, path), said);
        }
        let id = ProposalId::new(7);
        for (outcome, said) in [
            (Some(Outcome::Accepted), "proposal 7: a␊b accepted"),
            (Some(Outcome::Orphaned), "proposal 7: a␊b left by its agent"),
            (None, "proposal 7: a␊b no longer pending"),
        ] {
            assert_eq!(ended(id, "a\nb", outcome), said);
        }
    }

    #[test]
    fn how_a_proposal_ended() {
        for (path, outcome, said) in [
            ("/w/a.txt", Some(Outcome::Accepted), "a.txt: accepted"),
            ("/w/a.txt", Some(Outcome::Rejected), "a.txt: rejected"),
            (
                "/w/b/é ü.txt",
                Some(Outcome::Withdrawn),
                "é ü.txt: taken back by its agent",
            ),
            (
                "a.txt",
                Some(Outcome::Replaced),
                "a.txt: replaced by its agent",
            ),
            (
                "/w/a\nb.txt",
                Some(Outcome::Orphaned),
                "a␊b.txt: left by its agent",
            ),
            ("/w/a.txt", None, "a.txt: no longer pending"),
            ("/", None, "/: no longer pending"),
        ] {
            assert_eq!(closed(path, outcome), said);
        }
    }

    #[test]
    fn a_stale_proposal_is_explained() {
        let clean = stale(FileChange::Changed, 0);
        assert!(clean.ends_with("on top of what is there now"), "{clean}");
        let one = stale(FileChange::Created, 1);
        assert!(one.ends_with("; one place is in conflict"), "{one}");
        let several = stale(FileChange::Deleted, 2);
        assert!(several.ends_with("; 2 places are in conflict"), "{several}");
    }

    #[test]
    fn a_verdict_that_has_to_wait_is_told() {
        let mut dispatched = Dispatched {
            agent: Agent::Qwen,
            path: "/w/a.txt".into(),
            outcome: Outcome::Accepted,
            streaming: true,
            may_read_again: false,
            unsaved: None,
        };
        assert_eq!(decided(&dispatched), "a.txt: accepted");
        dispatched.streaming = false;
        assert_eq!(
            decided(&dispatched),
            "a.txt: accepted; Qwen Code is away and gets the decision when it comes back"
        );
        dispatched.streaming = true;
        dispatched.may_read_again = true;
        assert_eq!(
            decided(&dispatched),
            "a.txt: accepted; Qwen Code may read the changed file first, and propose its edit anew"
        );
    }
}
