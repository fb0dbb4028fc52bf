//! Proposals that no session makes.

use super::*;

/// An edit of somebody who waits for the verdict here.
fn asking(path: &str) -> ProposalRequest {
    ProposalRequest {
        session: SessionId::new(path),
        agent: Agent::Qwen,
        path: path.into(),
        texts: Texts::new(Original::Absent, "new".into()),
        standing: Standing::Open,
        capabilities: workbench::VerdictCapabilities {
            takes_empty_text: true,
            takes_edited_text: false,
        },
    }
}

#[test]
fn whoever_puts_an_edit_forward_gets_the_verdict_or_takes_it_back() {
    let mut scene = Scene::new();
    let (first, mut verdict) = scene.state.propose(asking("/a")).unwrap();
    let edited = scene.state.decide(first, accepted("mine"), None);
    assert_eq!(edited, Err(Refusal::EditedText));
    let answered = scene.state.decide(first, Decision::Accept, None).unwrap();
    assert!(answered.streaming, "somebody waits");
    assert!(matches!(verdict.try_recv(), Ok(Verdict::Accepted { .. })));

    let (second, mut verdict) = scene.state.propose(asking("/b")).unwrap();
    scene.state.withdraw(second);
    scene.state.withdraw(second);
    assert!(verdict.try_recv().is_err());
    // Sessions that come and go do not end it.
    let (third, verdict) = scene.state.propose(asking("/c")).unwrap();
    scene.state.make_round();
    assert!(scene.state.proposal(third).is_some());
    drop(verdict);
    let answered = scene.state.decide(third, Decision::Reject, None).unwrap();
    assert!(!answered.streaming, "nobody waits any more");
    let happened = scene.heard();
    assert_eq!(
        happened,
        [
            Event::Opened(first),
            Event::Closed(first, Outcome::Accepted),
            Event::Opened(second),
            Event::Closed(second, Outcome::Withdrawn),
            Event::Opened(third),
            Event::Closed(third, Outcome::Rejected),
        ]
    );
}

#[test]
fn edits_that_are_put_forward_are_bounded() {
    let mut scene = Scene::with(Limits {
        proposals_per_session: 2,
        ..Limits::default()
    });
    let waiting: Vec<_> = ["/a", "/b"]
        .iter()
        .map(|path| scene.state.propose(asking(path)).unwrap())
        .collect();
    assert!(scene.state.propose(asking("/c")).is_err());
    scene.state.withdraw(waiting[0].0);
    assert!(scene.state.propose(asking("/c")).is_ok());
}
