use proptest::prelude::*;

use super::*;
use crate::{Agent, Original, Texts, UnknownHunk, Verdict, VerdictCapabilities};

/// What the published agents can do.
const PUBLISHED: VerdictCapabilities = VerdictCapabilities {
    takes_empty_text: false,
    takes_edited_text: true,
};

fn request(session: &str, path: &str, proposed: &str) -> ProposalRequest {
    ProposalRequest {
        session: SessionId::new(session),
        agent: Agent::Qwen,
        path: path.to_owned(),
        texts: Texts::new(Original::Text("old\n".into()), proposed.to_owned()),
        standing: Standing::Open,
        capabilities: PUBLISHED,
    }
}

fn propose(proposals: &mut Proposals, session: &str, path: &str, proposed: &str) -> NewProposal {
    proposals.propose(request(session, path, proposed), 5)
}

/// Opens a proposal that nobody here can accept.
fn unshowable(proposals: &mut Proposals, why: &str) -> ProposalId {
    let standing = Standing::TerminalOnly(why.to_owned());
    let request = ProposalRequest {
        standing,
        ..request("s", "/a", "new")
    };
    proposals.propose(request, 1).id
}

/// All open proposals as `id session path text`, from both sides.
fn listed(proposals: &Proposals) -> Vec<String> {
    let by_path: usize = proposals.index.values().map(BTreeMap::len).sum();
    assert_eq!(by_path, proposals.len());
    assert!(proposals.index.values().all(|paths| !paths.is_empty()));
    assert_totals(proposals);
    proposals
        .iter()
        .map(|open| {
            assert_eq!(proposals.find(&open.session, &open.path), Some(open.id));
            format!(
                "{} {} {} {}",
                open.id,
                open.session,
                open.path,
                open.current()
            )
        })
        .collect()
}

/// What all of them take is what each of them takes.
fn assert_totals(proposals: &Proposals) {
    let requested: usize = proposals.iter().map(Proposal::requested_bytes).sum();
    let all: usize = proposals.iter().map(Proposal::bytes).sum();
    assert_eq!(
        (proposals.requested_bytes(), proposals.bytes()),
        (requested, all)
    );
}

proptest! {
    #[test]
    fn the_totals_are_right_whatever_happens(
        steps in prop::collection::vec((0..8_u8, 0..3_u8, 0..3_u8, "[a-c\n]{0,9}"), 0..40)
    ) {
        let mut proposals = Proposals::new(1);
        for (step, session, path, text) in steps {
            let (session, path) = (format!("s{session}"), format!("/{path}"));
            let of = SessionId::new(session.as_str());
            let id = proposals.find(&of, &path).unwrap_or(ProposalId::new(99));
            match step {
                0 | 1 => drop(propose(&mut proposals, &session, &path, &text)),
                2 => {
                    let revision = proposals.get(id).map_or(1, |proposal| proposal.revision);
                    drop(proposals.set_draft(id, revision, text));
                }
                3 => {
                    if let Some(proposal) = proposals.get(id) {
                        let now = Original::Text(format!("{text}\nold\n").into());
                        let revised = proposal.against(now);
                        proposals.revise(id, revised);
                    }
                }
                4 => drop(proposals.withdraw_path(&of, &path)),
                5 => drop(proposals.withdraw_all(&of)),
                6 => drop(proposals.decide(id, Decision::Reject, None)),
                _ => {
                    let kept = proposals.withdraw(id);
                    if let Some(kept) = kept {
                        proposals.restore(kept);
                    }
                }
            }
            assert_totals(&proposals);
        }
    }
}

#[test]
fn one_proposal_for_each_session_and_path() {
    let mut proposals = Proposals::new(7);
    assert!(proposals.is_empty());
    assert!(propose(&mut proposals, "s", "/a", "1").replaced.is_none());
    assert!(propose(&mut proposals, "s", "/b", "2").replaced.is_none());
    assert!(propose(&mut proposals, "t", "/a", "3").replaced.is_none());
    let again = propose(&mut proposals, "s", "/a", "4");
    assert_eq!(again.id, ProposalId::new(10));
    assert_eq!(again.replaced.unwrap().id, ProposalId::new(7));
    // Paths are compared as they were sent.
    propose(&mut proposals, "s", "/./a", "5");
    assert_eq!(
        listed(&proposals),
        ["8 s /b 2", "9 t /a 3", "10 s /a 4", "11 s /./a 5"]
    );
    assert_eq!(proposals.next_id(), 12);
}

#[test]
fn a_decision_takes_the_proposal_away_once() {
    let mut proposals = Proposals::new(1);
    let id = propose(&mut proposals, "s", "/a", "new\n").id;
    let decided = proposals.decide(id, Decision::Accept, None).unwrap();
    assert_eq!(decided.proposal.opened_at, 5);
    let text = "new\n".to_owned();
    assert_eq!(
        decided.verdict,
        Verdict::Accepted {
            text,
            edited: false
        }
    );
    let again = proposals.decide(id, Decision::Reject, None);
    assert_eq!(again.unwrap_err(), Refusal::Unknown(id));
    assert!(
        proposals
            .withdraw_path(&SessionId::new("s"), "/a")
            .is_none()
    );
    assert!(listed(&proposals).is_empty());
}

#[test]
fn what_is_accepted_is_what_the_agent_will_write() {
    use Decision::{Accept, AcceptText, Reject};
    let nothing_edited = VerdictCapabilities {
        takes_edited_text: false,
        ..PUBLISHED
    };
    let everything = VerdictCapabilities {
        takes_empty_text: true,
        takes_edited_text: true,
    };
    let text = |text: &str| AcceptText(text.to_owned());
    let accepted = |text: &str, edited| {
        let text = text.to_owned();
        Ok(Verdict::Accepted { text, edited })
    };
    let cases = [
        ("new", None, Accept, PUBLISHED, accepted("new", false)),
        ("new", None, text("new"), PUBLISHED, accepted("new", false)),
        ("new", None, text("mine"), PUBLISHED, accepted("mine", true)),
        ("new", None, Reject, PUBLISHED, Ok(Verdict::Rejected)),
        ("new", None, text(""), PUBLISHED, Err(Refusal::EmptyText)),
        ("new", None, text(""), everything, accepted("", true)),
        ("", None, Accept, PUBLISHED, accepted("", false)),
        ("", None, text(""), PUBLISHED, accepted("", false)),
        ("", None, text("mine"), PUBLISHED, accepted("mine", true)),
        (
            "new",
            Some("draft"),
            Accept,
            PUBLISHED,
            accepted("draft", true),
        ),
        (
            "new",
            Some("new"),
            Accept,
            PUBLISHED,
            accepted("new", false),
        ),
        ("new", Some(""), Accept, PUBLISHED, Err(Refusal::EmptyText)),
        (
            "new",
            Some("draft"),
            text("new"),
            PUBLISHED,
            accepted("new", false),
        ),
        (
            "new",
            Some("draft"),
            Reject,
            PUBLISHED,
            Ok(Verdict::Rejected),
        ),
        ("new", None, Accept, nothing_edited, accepted("new", false)),
        (
            "new",
            None,
            text("mine"),
            nothing_edited,
            Err(Refusal::EditedText),
        ),
        (
            "new",
            None,
            text(""),
            nothing_edited,
            Err(Refusal::EmptyText),
        ),
    ];
    for (at, (proposed, draft, decision, capabilities, expected)) in cases.into_iter().enumerate() {
        let mut proposals = Proposals::new(1);
        let request = ProposalRequest {
            capabilities,
            ..request("s", "/a", proposed)
        };
        let id = proposals.propose(request, 5).id;
        if let Some(draft) = draft {
            proposals.set_draft(id, Proposal::FIRST, draft).unwrap();
        }
        let before = listed(&proposals);
        let verdict = proposals
            .decide(id, decision, None)
            .map(|decided| decided.verdict);
        assert_eq!(verdict, expected, "case {at}");
        let after = if expected.is_ok() { vec![] } else { before };
        assert_eq!(listed(&proposals), after, "case {at}");
    }
}

#[test]
fn hunks_are_chosen_from_what_the_agent_proposed() {
    const OLD: &str = "1\n2\n3\n";
    const NEW: &str = "one\n2\nthree\n";
    let whole_only = VerdictCapabilities {
        takes_edited_text: false,
        ..PUBLISHED
    };
    let accepted = |text: &str, edited| {
        let text = text.to_owned();
        Ok(Verdict::Accepted { text, edited })
    };
    let unknown = |number| Err(Refusal::UnknownHunk(UnknownHunk { number, count: 2 }));
    let cases = [
        (OLD, None, &[1, 2][..], PUBLISHED, accepted(NEW, false)),
        (OLD, None, &[1], PUBLISHED, accepted("one\n2\n3\n", true)),
        (OLD, None, &[2], PUBLISHED, accepted("1\n2\nthree\n", true)),
        (OLD, None, &[], PUBLISHED, accepted(OLD, true)),
        (OLD, None, &[1, 3], PUBLISHED, unknown(3)),
        (OLD, None, &[0], PUBLISHED, unknown(0)),
        // What the person typed is another text; its hunks have other numbers.
        (OLD, Some("x"), &[1, 2], PUBLISHED, accepted(NEW, false)),
        (OLD, None, &[1, 2], whole_only, accepted(NEW, false)),
        (OLD, None, &[1], whole_only, Err(Refusal::EditedText)),
        // Nothing of a new file is an empty text.
        ("", None, &[], PUBLISHED, Err(Refusal::EmptyText)),
        ("", None, &[1], PUBLISHED, accepted(NEW, false)),
    ];
    for (at, (original, draft, keep, capabilities, expected)) in cases.into_iter().enumerate() {
        let mut proposals = Proposals::new(1);
        let original = Original::Text(original.into());
        let request = ProposalRequest {
            texts: Texts::new(original, NEW.to_owned()),
            capabilities,
            ..request("s", "/a", "")
        };
        let id = proposals.propose(request, 5).id;
        if let Some(draft) = draft {
            proposals.set_draft(id, Proposal::FIRST, draft).unwrap();
        }
        let decision = Decision::AcceptHunks(keep.iter().copied().collect());
        let decided = proposals.decide(id, decision, None);
        assert_eq!(decided.map(|it| it.verdict), expected, "case {at}");
        assert_eq!(proposals.is_empty(), expected.is_ok(), "case {at}");
    }
}

#[test]
fn what_cannot_be_shown_can_only_be_rejected() {
    let mut proposals = Proposals::new(1);
    let id = unshowable(&mut proposals, "the file is not UTF-8");
    for decision in [
        Decision::Accept,
        Decision::AcceptText("x".to_owned()),
        Decision::AcceptHunks([1].into()),
    ] {
        let refusal = proposals.decide(id, decision, None).unwrap_err();
        assert!(matches!(refusal, Refusal::TerminalOnly(_)));
    }
    let decided = proposals.decide(id, Decision::Reject, None).unwrap();
    assert_eq!(decided.verdict, Verdict::Rejected);
}

#[test]
fn refusals_say_what_to_do_next() {
    let refusals = [
        Refusal::Unknown(ProposalId::new(3)),
        Refusal::TerminalOnly("the file is not UTF-8".to_owned()),
        Refusal::EmptyText,
        Refusal::EditedText,
    ];
    let lines: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    proposal 3 is not open: it was decided, withdrawn or replaced; list the open ones
    this proposal can only be accepted at the agent's own prompt: the file is not UTF-8; answer there, or reject it here
    the agent ignores an empty text and would write its whole proposal; reject it, and empty the file yourself
    the agent cannot take an edited text; accept the proposal as it is, or reject it and say what to change
    ");
}

#[test]
fn an_agent_takes_back_its_own_only() {
    let mut proposals = Proposals::new(1);
    propose(&mut proposals, "s", "/a", "1");
    propose(&mut proposals, "t", "/a", "2");
    propose(&mut proposals, "t", "/b", "3");
    propose(&mut proposals, "u", "/a", "4");
    let (s, t) = (SessionId::new("s"), SessionId::new("t"));
    assert!(proposals.withdraw_path(&s, "/b").is_none());
    let withdrawn = proposals.withdraw_path(&s, "/a").unwrap();
    assert_eq!(withdrawn.id, ProposalId::new(1));
    assert!(proposals.withdraw_all(&s).is_empty());
    assert!(proposals.withdraw(ProposalId::new(1)).is_none());
    let orphans = proposals.withdraw_all(&t);
    assert_eq!(
        orphans
            .iter()
            .map(|orphan| orphan.id.get())
            .collect::<Vec<_>>(),
        [2, 3]
    );
    assert_eq!(listed(&proposals), ["4 u /a 4"]);
    let revoked = proposals.withdraw(ProposalId::new(4)).unwrap();
    assert_eq!(revoked.path, "/a");
    assert!(listed(&proposals).is_empty());
}

#[test]
fn a_draft_stands_in_for_the_proposal() {
    let mut proposals = Proposals::new(1);
    let id = propose(&mut proposals, "s", "/a", "new").id;
    for draft in ["mine", "", "new"] {
        assert_eq!(proposals.set_draft(id, Proposal::FIRST, draft), Ok(()));
        assert_eq!(proposals.get(id).unwrap().current(), draft);
    }
    assert_eq!(proposals.get(id).unwrap().draft, None, "it is the proposal");
    let unknown = ProposalId::new(9);
    assert_eq!(
        proposals.set_draft(unknown, Proposal::FIRST, "x"),
        Err(Refusal::Unknown(unknown))
    );
}

#[test]
fn what_cannot_be_shown_or_edited_has_no_draft() {
    let mut proposals = Proposals::new(1);
    let id = unshowable(&mut proposals, "too large");
    let refused = proposals.set_draft(id, Proposal::FIRST, "x");
    assert_eq!(refused, Err(Refusal::TerminalOnly("too large".into())));
    let capabilities = VerdictCapabilities {
        takes_edited_text: false,
        ..PUBLISHED
    };
    let request = ProposalRequest {
        capabilities,
        ..request("s", "/b", "new")
    };
    let id = proposals.propose(request, 1).id;
    assert_eq!(
        proposals.set_draft(id, Proposal::FIRST, "x"),
        Err(Refusal::EditedText)
    );
}

#[test]
fn proposals_of_an_earlier_run_keep_their_numbers() {
    let mut before = Proposals::new(5);
    for path in ["/a", "/b"] {
        propose(&mut before, "s", path, "old");
    }
    let mut proposals = Proposals::new(1);
    propose(&mut proposals, "s", "/c", "1");
    for proposal in before.iter() {
        proposals.restore(proposal.clone());
    }
    assert_eq!(
        propose(&mut proposals, "s", "/b", "new").id,
        ProposalId::new(7)
    );
    // What the agent asked for since is what it waits for.
    for proposal in before.iter() {
        proposals.restore(proposal.clone());
    }
    assert_eq!(listed(&proposals), ["1 s /c 1", "5 s /a old", "7 s /b new"]);
}

#[test]
fn texts_are_reviewed_once_and_kept_out_of_logs() {
    let texts = Texts::new(Original::Text("a\nb\nc\n".into()), "A\nb\nC\n".to_owned());
    assert!(std::ptr::eq(texts.review(), texts.review()));
    assert_eq!(texts.merge(&[2].into()).as_deref(), Ok("a\nb\nC\n"));
    assert!(texts.merge(&[3].into()).is_err());
    assert!(texts.unified("/a").starts_with("--- /a\n"));
    let new = Texts::new(Original::Absent, "secret\n".to_owned());
    assert!(new.unified("/a").starts_with("--- /dev/null\n"));
    insta::assert_snapshot!(format!("{new:?}"), @"Texts { original_bytes: None, proposed_bytes: 7, .. }");
}
