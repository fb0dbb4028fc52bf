//! Proposals for files that are kept from agents.

use workbench::{PatternList, Reason};

use super::*;

fn withheld(scene: &Scene, id: ProposalId) -> Option<Reason> {
    scene.state.proposal(id).unwrap().withheld()
}

#[test]
fn what_is_hidden_while_a_proposal_is_pending_is_hidden_from_then_on() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Qwen);
    let id = scene.propose(&session, "/w/a.txt", "new");
    let linked = scene.propose(&session, "/w/b.txt", "new");
    let place = Place {
        path: "/w/b.txt".into(),
        real: "/w/a.txt".into(),
    };
    scene.state.update_place(linked, place);
    scene.heard();
    let root = PathBuf::from("/");
    let patterns = PatternList::from_ignore_file(&root, "a.txt\n");
    let roots = [root];
    scene
        .state
        .set_privacy(Privacy::new(&roots, &[patterns], &[]));
    for id in [id, linked] {
        assert_eq!(withheld(&scene, id), Some(Reason::Ignored));
    }
    assert_eq!(scene.heard(), [Event::Revised(id), Event::Revised(linked)]);
    let refused = scene.state.set_draft(id, 1, "other");
    assert!(
        matches!(refused, Err(Refusal::Withheld { .. })),
        "{refused:?}"
    );

    scene.state.set_privacy(Privacy::new(&roots, &[], &[]));
    assert_eq!(withheld(&scene, id), None);
}

#[test]
fn a_secret_is_one_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::resumed(
        Saved::default(),
        Journal::open(folder.path()).unwrap(),
        Limits::default(),
    );
    let session = scene.session(Agent::Qwen);
    let id = scene.propose(&session, "/w/.env", "new");
    drop(scene);
    let again = Scene::resumed(
        Journal::load(folder.path()),
        Journal::none(),
        Limits::default(),
    );
    assert_eq!(withheld(&again, id), Some(Reason::Secret));
}
