use super::*;
use crate::{
    Agent, Decision, ProposalId, ProposalRequest, Proposals, Refusal, SessionId, Standing, Verdict,
    VerdictCapabilities,
};

const BASE: &str = "one\ntwo\nthree\nfour\n";
const PROPOSED: &str = "one\ntwo\nthree\nFOUR\n";
/// The person has changed another line than the agent.
const APART: &str = "ONE\ntwo\nthree\nfour\n";
/// The person has changed the same line as the agent.
const SAME: &str = "one\ntwo\nthree\n4\n";

fn text(text: &str) -> Original {
    Original::Text(text.into())
}

/// One proposal of an agent that takes other texts, or does not.
fn one(original: Original, proposed: &str, takes_edited_text: bool) -> (Proposals, ProposalId) {
    let mut proposals = Proposals::new(1);
    let request = ProposalRequest {
        session: SessionId::new("s"),
        agent: Agent::Qwen,
        path: "/w/a".into(),
        texts: Texts::new(original, proposed.into()),
        standing: Standing::Open,
        capabilities: VerdictCapabilities {
            takes_empty_text: true,
            takes_edited_text,
        },
    };
    let id = proposals.propose(request, 0).id;
    (proposals, id)
}

fn revise(proposals: &mut Proposals, id: ProposalId, present: Original) {
    let revised = proposals.get(id).unwrap().against(present);
    assert!(proposals.revise(id, revised));
}

fn accepted(proposals: &mut Proposals, id: ProposalId, seen: u32) -> Result<String, Refusal> {
    let decided = proposals.decide(id, Decision::Accept, Some(seen))?;
    match decided.verdict {
        Verdict::Accepted { text, edited } => {
            assert_eq!(edited, text != decided.proposal.requested.proposed);
            Ok(text)
        }
        Verdict::Rejected => panic!("accepted, but the verdict says rejected"),
    }
}

#[test]
fn an_empty_file_and_none_are_the_same() {
    for (base, now) in [(text(""), Original::Absent), (Original::Absent, text(""))] {
        let (proposals, id) = one(base, "new\n", false);
        assert!(proposals.get(id).unwrap().is_against(&now));
    }
}

#[test]
fn what_an_agent_writes_has_the_changes_of_both() {
    use FileChange::{Changed, Created, Deleted};
    for (base, now, proposed, change, expected) in [
        (
            text(BASE),
            text(APART),
            PROPOSED,
            Changed,
            "ONE\ntwo\nthree\nFOUR\n",
        ),
        // Somebody has written what the agent proposes.
        (text(BASE), text(PROPOSED), PROPOSED, Changed, PROPOSED),
        (Original::Absent, text("new\n"), "new\n", Created, "new\n"),
        (text(BASE), Original::Absent, PROPOSED, Deleted, PROPOSED),
    ] {
        let (mut proposals, id) = one(base, proposed, true);
        assert!(!proposals.get(id).unwrap().is_against(&now));
        revise(&mut proposals, id, now.clone());
        let proposal = proposals.get(id).unwrap();
        assert!(proposal.is_against(&now));
        assert_eq!(proposal.texts.original, now);
        assert_eq!(proposal.file_change, Some(change));
        assert_eq!(accepted(&mut proposals, id, 2).as_deref(), Ok(expected));
    }
}

#[test]
fn nothing_is_accepted_that_the_person_has_not_seen() {
    for seen in [None, Some(1), Some(3)] {
        let (mut proposals, id) = one(text(BASE), PROPOSED, true);
        revise(&mut proposals, id, text(APART));
        for decision in [
            Decision::Accept,
            Decision::AcceptText(PROPOSED.into()),
            Decision::AcceptHunks([1].into()),
        ] {
            let refused = proposals.decide(id, decision, seen).unwrap_err();
            assert_eq!(refused, Refusal::Stale, "{seen:?}");
        }
        // No needs no second look.
        assert!(proposals.decide(id, Decision::Reject, seen).is_ok());
    }
}

#[test]
fn a_command_that_has_shown_the_proposal_may_accept_it() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    revise(&mut proposals, id, text(APART));
    proposals.mark_shown(id, 2);
    assert!(proposals.decide(id, Decision::Accept, None).is_ok());
}

#[test]
fn conflicts_have_to_be_resolved() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    revise(&mut proposals, id, text(SAME));
    assert_eq!(proposals.get(id).unwrap().conflicts(), 1);
    let refused = accepted(&mut proposals, id, 2).unwrap_err();
    assert_eq!(refused, Refusal::Conflicts(1));
    let resolved = "one\ntwo\nthree\nFOUR and 4\n";
    proposals.set_draft(id, 2, resolved).unwrap();
    assert_eq!(proposals.get(id).unwrap().conflicts(), 0);
    assert_eq!(accepted(&mut proposals, id, 2).as_deref(), Ok(resolved));
}

#[test]
fn dropping_the_hunk_in_conflict_keeps_what_is_there() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    revise(&mut proposals, id, text(SAME));
    let none = Decision::AcceptHunks([].into());
    let decided = proposals.decide(id, none, Some(2)).unwrap();
    assert_eq!(decided.verdict.text(), Some(SAME));
}

#[test]
fn an_agent_that_takes_no_other_text_cannot_overwrite() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, false);
    revise(&mut proposals, id, text(APART));
    let refused = accepted(&mut proposals, id, 2).unwrap_err();
    assert_eq!(refused, Refusal::WouldOverwrite);
    assert!(proposals.decide(id, Decision::Reject, None).is_ok());
    // Its own text is fine if that is what comes out.
    let (mut proposals, id) = one(text(BASE), PROPOSED, false);
    revise(&mut proposals, id, text(PROPOSED));
    assert_eq!(accepted(&mut proposals, id, 2).as_deref(), Ok(PROPOSED));
}

#[test]
fn a_file_that_is_as_it_was_makes_the_proposal_what_it_was() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    revise(&mut proposals, id, text(APART));
    revise(&mut proposals, id, text(BASE));
    let proposal = proposals.get(id).unwrap();
    assert_eq!((proposal.revision, proposal.file_change), (3, None));
    assert_eq!(accepted(&mut proposals, id, 3).as_deref(), Ok(PROPOSED));
}

#[test]
fn a_difference_of_form_is_no_change() {
    let (proposals, id) = one(text("a\r\nb\r\n"), "a\nB\n", true);
    let proposal = proposals.get(id).unwrap();
    for now in ["a\r\nb\r\n", "a\nb\n", "\u{feff}a\r\nb\r\n"] {
        assert!(proposal.is_against(&text(now)), "{now:?}");
    }
    for now in ["a\r\nb", "a\nb\n\n", ""] {
        assert!(!proposal.is_against(&text(now)), "{now:?}");
    }
}

#[test]
fn what_the_person_has_typed_comes_along() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    proposals
        .set_draft(id, 1, "one\ntwo\nthree!\nFOUR\n")
        .unwrap();
    revise(&mut proposals, id, text(APART));
    let proposal = proposals.get(id).unwrap();
    assert_eq!(proposal.draft.as_deref(), Some("ONE\ntwo\nthree!\nFOUR\n"));
    // Also if it was typed into an earlier revision and arrives only now.
    for (typed, expected) in [
        // Nobody has typed anything here, but somewhere else.
        (PROPOSED, "ONE\ntwo\nthree!\nFOUR\n"),
        ("one\ntwo\n3\nFOUR\n", "ONE\ntwo\n3\nFOUR\n"),
    ] {
        assert_eq!(proposal.bring_forward(1, typed).as_deref(), Some(expected));
        assert_eq!(proposal.bring_forward(2, typed).as_deref(), Some(typed));
    }
    assert_eq!(proposals.set_draft(id, 1, "x"), Err(Refusal::Stale));
    for _ in 0..MOST_EARLIER {
        revise(&mut proposals, id, text(SAME));
    }
    let proposal = proposals.get(id).unwrap();
    assert_eq!(proposal.bring_forward(1, "x"), None);
}

#[test]
fn a_draft_in_conflict_stays_marked_until_it_is_resolved() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    proposals
        .set_draft(id, 1, "uno\ntwo\nthree\nfour\n")
        .unwrap();
    revise(&mut proposals, id, text(APART));
    assert_eq!(proposals.get(id).unwrap().conflicts(), 1);
    // Another change, and the way back, do not resolve it.
    revise(&mut proposals, id, text("ONE\ntwo\nthree\nfour\nfive\n"));
    assert_eq!(proposals.get(id).unwrap().conflicts(), 1);
    revise(&mut proposals, id, text(BASE));
    let refused = accepted(&mut proposals, id, 4).unwrap_err();
    assert!(matches!(refused, Refusal::Conflicts(_)), "{refused:?}");
}

#[test]
fn everything_that_is_kept_of_a_proposal_counts() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    let requested = proposals.bytes();
    assert_eq!(proposals.requested_bytes(), requested);
    assert!(requested > BASE.len() + PROPOSED.len());
    proposals.set_draft(id, 1, "a draft").unwrap();
    assert_eq!(proposals.bytes(), requested + "a draft".len());
    proposals.set_draft(id, 1, PROPOSED).unwrap();

    // The texts of the request are one of the two revisions, so they count once.
    let merged = "ONE\ntwo\nthree\nFOUR\n";
    revise(&mut proposals, id, text(APART));
    let with_one = requested + APART.len() + merged.len();
    assert_eq!(proposals.bytes(), with_one);
    revise(&mut proposals, id, text(BASE));
    assert_eq!(proposals.bytes(), with_one);
    revise(&mut proposals, id, Original::Absent);
    assert_eq!(proposals.bytes(), with_one + PROPOSED.len());
    assert_eq!(proposals.requested_bytes(), requested);
}

#[test]
fn a_file_that_is_kept_from_agents_is_told_to_none() {
    use crate::{Reason, Visibility};

    let withheld = |reason, changed| Err(Refusal::Withheld { reason, changed });
    for reason in [Reason::Secret, Reason::Ignored, Reason::Closed] {
        let (mut proposals, id) = one(text(BASE), PROPOSED, true);
        proposals.set_draft(id, 1, "a draft").unwrap();
        assert!(proposals.set_visibility(id, Visibility::HeldBack(reason)));
        assert!(!proposals.set_visibility(id, Visibility::HeldBack(reason)));
        let refused = |proposals: &mut Proposals, decision, seen| {
            let decided = proposals.decide(id, decision, Some(seen));
            decided.map(|decided| decided.verdict)
        };
        // The person has made something else of it, before or now.
        let (none, other) = (Decision::AcceptHunks([].into()), "x".to_owned());
        for decision in [Decision::Accept, Decision::AcceptText(other), none] {
            let decided = refused(&mut proposals, decision, 1);
            assert_eq!(decided, withheld(reason, false));
        }
        let again = proposals.set_draft(id, 1, "another");
        assert_eq!(again.map(|()| Verdict::Rejected), withheld(reason, false));
        assert_eq!(proposals.get(id).unwrap().current_for_agent(), None);
        proposals.set_draft(id, 1, PROPOSED).unwrap();
        let own = proposals.get(id).unwrap().current_for_agent();
        assert_eq!(own, Some(PROPOSED));

        // What was brought into a file that has changed is not the agent's own either.
        revise(&mut proposals, id, text(APART));
        assert_eq!(proposals.get(id).unwrap().current_for_agent(), None);
        let decided = refused(&mut proposals, Decision::Accept, 2);
        assert_eq!(decided, withheld(reason, true));
        revise(&mut proposals, id, text(BASE));
        assert_eq!(accepted(&mut proposals, id, 3), Ok(PROPOSED.to_owned()));
    }
    for visibility in [Visibility::Shown, Visibility::HeldBack(Reason::Outside)] {
        let (mut proposals, id) = one(text(BASE), PROPOSED, true);
        assert!(!proposals.set_visibility(id, visibility));
        assert!(proposals.get(id).unwrap().takes_edited_text());
    }
}

#[test]
fn a_draft_outlives_its_file() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    let draft = "one\ntwo\nthree!\nFOUR\n";
    proposals.set_draft(id, 1, draft).unwrap();
    revise(&mut proposals, id, Original::Absent);
    let proposal = proposals.get(id).unwrap();
    assert_eq!((proposal.current(), proposal.conflicts()), (draft, 0));
    // It comes back with a change, and then as it was.
    revise(&mut proposals, id, text(APART));
    let proposal = proposals.get(id).unwrap();
    assert_eq!(proposal.current(), "ONE\ntwo\nthree!\nFOUR\n");
    revise(&mut proposals, id, Original::Absent);
    revise(&mut proposals, id, text(BASE));
    let proposal = proposals.get(id).unwrap();
    assert_eq!(proposal.conflicts(), 0, "{}", proposal.current());
    assert_eq!(proposal.current(), "ONE\ntwo\nthree!\nFOUR\n");
}

#[test]
fn a_draft_of_an_earlier_revision_that_conflicts_is_counted() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    revise(&mut proposals, id, text(APART));
    revise(&mut proposals, id, text(BASE));
    let proposal = proposals.get(id).unwrap();
    let brought = proposal
        .bring_forward(2, "uno\ntwo\nthree\nFOUR\n")
        .unwrap();
    proposals.set_draft(id, 3, brought).unwrap();
    assert_eq!(accepted(&mut proposals, id, 3), Err(Refusal::Conflicts(1)));
}

#[test]
fn lines_of_the_file_that_look_like_markers_are_no_conflicts() {
    let marked = "<<<<<<< in the file now\none\n=======\ntwo\n>>>>>>> proposed\n";
    let (mut proposals, id) = one(text(marked), &format!("{marked}three\n"), true);
    revise(&mut proposals, id, text(&format!("zero\n{marked}")));
    assert_eq!(proposals.get(id).unwrap().conflicts(), 0);
    revise(&mut proposals, id, text(&format!("{marked}drei\n")));
    assert_eq!(proposals.get(id).unwrap().conflicts(), 1);
}

#[test]
fn what_is_typed_while_a_revision_is_made_is_not_lost() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    proposals.set_draft(id, 1, "first\n").unwrap();
    let slow = proposals.get(id).unwrap().against(text(APART));
    proposals.set_draft(id, 1, "second\n").unwrap();
    assert!(!proposals.revise(id, slow));
    assert_eq!(proposals.get(id).unwrap().current(), "second\n");
}

#[test]
fn of_two_who_revise_the_first_one_counts() {
    let (mut proposals, id) = one(text(BASE), PROPOSED, true);
    let slow = proposals.get(id).unwrap().against(text(SAME));
    revise(&mut proposals, id, text(APART));
    assert!(!proposals.revise(id, slow));
    assert_eq!(proposals.get(id).unwrap().texts.original, text(APART));
}
