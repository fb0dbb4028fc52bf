//! The memory that texts may take.

use super::*;

const ROOM: usize = 100_000;

fn scene() -> (Scene, SessionId) {
    let mut scene = Scene::with(Limits {
        texts: 2 * ROOM,
        ..Limits::default()
    });
    let session = scene.session(Agent::Qwen);
    (scene, session)
}

#[test]
fn what_is_being_read_takes_room_until_it_is_dropped() {
    let (scene, _) = scene();
    let reserved = scene.state.reserve_for_request(ROOM).unwrap();
    for bytes in [1, usize::MAX] {
        let refused = scene.state.reserve_for_request(bytes);
        assert_eq!(refused.unwrap_err(), ProposeError::NoRoom);
    }
    // The other half is for what becomes of proposals.
    let other = scene.state.reserve_for_review(ROOM).unwrap();
    let refused = scene.state.reserve_for_review(1);
    assert_eq!(refused.unwrap_err(), Refusal::NoRoom);
    drop((reserved, other));
    scene.state.reserve_for_request(ROOM).unwrap();
}

#[test]
fn a_person_can_edit_what_an_agent_has_filled_the_room_with() {
    let (mut scene, session) = scene();
    let id = scene.propose(&session, "/x", &"x".repeat(ROOM - 2_000));
    let again = Texts::new(Original::Absent, "y".repeat(2_000));
    let refused = (scene.state).propose_for_session(&session, "/y".into(), again, Standing::Open);
    assert_eq!(refused, Err(ProposeError::NoRoom));

    let draft = "z".repeat(ROOM / 2);
    scene.state.set_draft(id, 1, draft.as_str()).unwrap();
    let refused = scene.state.set_draft(id, 1, "z".repeat(ROOM));
    assert_eq!(refused, Err(Refusal::NoRoom));
    let proposal = scene.state.proposal(id).unwrap();
    assert_eq!(proposal.current(), draft);

    // A file that has become large is not compared, and nothing is lost.
    let present = Original::Text("w".repeat(ROOM).into());
    let revised = proposal.against(present);
    assert_eq!(scene.state.revise(id, revised), Err(Refusal::NoRoom));
    assert_eq!(scene.state.proposal(id).unwrap().revision, 1);
}

#[test]
fn a_request_without_a_session_needs_room_too() {
    let (mut scene, session) = scene();
    let request = ProposalRequest {
        session,
        agent: Agent::Qwen,
        path: "/x".into(),
        texts: Texts::new(Original::Absent, "x".repeat(ROOM)),
        standing: Standing::Open,
        capabilities: dialect(Agent::Qwen).capabilities,
    };
    let refused = scene.state.propose(request);
    assert_eq!(refused.map(|_| ()), Err(ProposeError::NoRoom));
}
