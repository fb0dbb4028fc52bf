//! Proposals whose files change while they are pending.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

use companion::desk::{Dispatched, Draft, Event};
use front::{Change, FrontError, Interest, Item, ServiceCommand, ServiceFacts, Topic};
use testkit::{InProcessCompanion, McpPeer, soon};
use tokio::sync::mpsc;
use workbench::{Agent, Decision, FileChange, Holder, Place, ProposalId, Refusal};

const BASE: &str = "one\ntwo\nthree\nfour\n";
const PROPOSED: &str = "one\ntwo\nthree\nFOUR\n";
/// The person has changed another line than the agent.
const APART: &str = "ONE\ntwo\nthree\nfour\n";
/// The person has changed the same line as the agent.
const SAME: &str = "one\ntwo\nthree\n4\n";
const MERGED: &str = "ONE\ntwo\nthree\nFOUR\n";

const ID: ProposalId = ProposalId::new(1);

/// An agent that proposes to change the file.
struct Scene {
    companion: InProcessCompanion,
    agent: McpPeer,
    path: String,
}

impl Scene {
    async fn start() -> Scene {
        let (service, mut commands) = mpsc::channel(8);
        tokio::spawn(async move {
            while let Some(command) = commands.recv().await {
                if let ServiceCommand::Facts(answer) = command {
                    // The requester may be gone.
                    drop(answer.send(ServiceFacts::default()));
                }
            }
        });
        let companion = InProcessCompanion::builder().service(service).start();
        let path = companion.file("a.txt", BASE);
        let mut agent = companion.listener(Agent::Qwen).await;
        agent.open_diff(&path, PROPOSED).await;
        Scene {
            companion,
            agent,
            path,
        }
    }

    async fn decide(
        &self,
        decision: Decision,
        seen: Option<u32>,
    ) -> Result<Dispatched, FrontError> {
        self.companion.front.decide(ID, decision, seen).await
    }

    /// The refusal of a decision.
    async fn refused(&self, decision: Decision, seen: Option<u32>) -> Refusal {
        match self.decide(decision, seen).await {
            Err(FrontError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    /// What the agent writes.
    async fn written(&mut self) -> String {
        let (kind, text) = self.agent.verdict().await;
        assert_eq!(kind, "Accepted");
        text.as_str().unwrap().to_owned()
    }

    fn person_saves(&self, text: &str) {
        std::fs::write(&self.path, text).unwrap();
    }
}

#[tokio::test]
async fn a_change_that_was_made_in_the_meantime_is_not_lost() {
    let mut scene = Scene::start().await;
    scene.person_saves(APART);
    // Whoever says yes without a second look is stopped.
    assert_eq!(scene.refused(Decision::Accept, None).await, Refusal::Stale);
    assert_eq!(
        scene.refused(Decision::Accept, Some(1)).await,
        Refusal::Stale
    );
    let some = Decision::AcceptHunks([1].into());
    assert_eq!(scene.refused(some, Some(1)).await, Refusal::Stale);

    let proposal = scene.companion.front.proposal(ID).await.unwrap();
    assert_eq!(proposal.file_change, Some(FileChange::Changed));
    assert_eq!(proposal.texts.original.text(), Some(APART));
    assert_eq!(proposal.texts.proposed, MERGED);
    // To fetch it is not to have shown it.
    assert_eq!(scene.refused(Decision::Accept, None).await, Refusal::Stale);
    scene
        .companion
        .front
        .mark_shown(ID, proposal.revision)
        .await;
    scene.decide(Decision::Accept, None).await.unwrap();
    assert_eq!(scene.written().await, MERGED);
}

#[tokio::test]
async fn a_file_that_changes_again_is_looked_at_again() {
    let mut scene = Scene::start().await;
    scene.person_saves(APART);
    let seen = scene.companion.front.proposal(ID).await.unwrap().revision;
    scene.person_saves("ONE\nTWO\nthree\nfour\n");
    let refused = scene.refused(Decision::Accept, Some(seen)).await;
    assert_eq!(refused, Refusal::Stale);
    let seen = scene.companion.front.proposal(ID).await.unwrap().revision;
    scene.decide(Decision::Accept, Some(seen)).await.unwrap();
    assert_eq!(scene.written().await, "ONE\nTWO\nthree\nFOUR\n");
}

#[tokio::test]
async fn conflicts_are_for_the_person_to_resolve() {
    let mut scene = Scene::start().await;
    scene.person_saves(SAME);
    let proposal = scene.companion.front.proposal(ID).await.unwrap();
    let seen = Some(proposal.revision);
    assert_eq!(proposal.conflicts(), 1);
    let refused = scene.refused(Decision::Accept, seen).await;
    assert_eq!(refused, Refusal::Conflicts(1));
    let resolved = "one\ntwo\nthree\nFOUR, that is 4\n";
    let decision = Decision::AcceptText(resolved.into());
    scene.decide(decision, seen).await.unwrap();
    assert_eq!(scene.written().await, resolved);
}

#[tokio::test]
async fn what_is_unsaved_in_an_editor_counts_as_present() {
    let mut scene = Scene::start().await;
    let place = Place::direct(&scene.path);
    let front = &scene.companion.front;
    let editor = front.presence(Holder::editor(1));
    editor.set_unsaved(place.clone(), Some(APART.into())).await;
    assert_eq!(scene.refused(Decision::Accept, None).await, Refusal::Stale);
    let proposal = front.proposal(ID).await.unwrap();
    assert_eq!(proposal.texts.proposed, MERGED);
    // Saving it changes nothing about what is to be decided.
    scene.person_saves(APART);
    editor.set_unsaved(place, None).await;
    let seen = Some(proposal.revision);
    scene.decide(Decision::Accept, seen).await.unwrap();
    assert_eq!(scene.written().await, MERGED);
}

#[tokio::test]
async fn what_an_editor_has_not_saved_goes_with_it() {
    let scene = Scene::start().await;
    let place = Place::direct(&scene.path);
    let front = &scene.companion.front;
    let (one, two) = (
        front.presence(Holder::editor(1)),
        front.presence(Holder::editor(2)),
    );
    one.set_unsaved(place.clone(), Some(APART.into())).await;
    two.set_unsaved(place, Some(SAME.into())).await;
    let present = |text| {
        let proposal = front.proposal(ID);
        async move { assert_eq!(proposal.await.unwrap().texts.original.text(), Some(text)) }
    };
    present(SAME).await;
    two.leave().await;
    present(APART).await;
    one.leave().await;
    present(BASE).await;
}

#[tokio::test]
async fn a_file_that_cannot_be_compared_is_not_accepted() {
    let mut scene = Scene::start().await;
    std::fs::write(&scene.path, b"\xff\xfe").unwrap();
    let refused = scene.refused(Decision::Accept, None).await;
    assert!(matches!(refused, Refusal::Unreadable(_)), "{refused:?}");
    scene.decide(Decision::Reject, None).await.unwrap();
    assert_eq!(scene.agent.verdict().await.0, "Rejected");
}

#[tokio::test]
async fn everybody_is_told_without_asking() {
    let scene = Scene::start().await;
    let review = Interest::of(&[Topic::Review]);
    let mut reader = scene.companion.front.read(review, None);
    assert!(matches!(reader.next().await, Ok(Item::Snapshot(_))));
    scene.person_saves(SAME);
    let told = soon("the proposal is revised", async {
        loop {
            if let Item::Change(change) = reader.next().await.unwrap()
                && let Change::Revised(summary) = &change.change
            {
                return summary.clone();
            }
        }
    });
    let told = told.await;
    assert_eq!((told.revision, told.conflicts), (2, 1));
    assert_eq!(told.file_change, Some(FileChange::Changed));
    // Also while nobody reads the feed, as commands do not.
    drop(reader);
    let mut events = scene.companion.events();
    std::fs::remove_file(&scene.path).unwrap();
    soon("the proposal is revised again", async {
        while events.recv().await.unwrap() != Event::Revised(ID) {}
    })
    .await;
    let pending = scene.companion.proposals().await;
    assert_eq!(pending[0].file_change, Some(FileChange::Deleted));
}

#[tokio::test]
async fn what_the_person_has_typed_comes_along() {
    let mut scene = Scene::start().await;
    scene.person_saves(APART);
    let front = &scene.companion.front;
    let seen = front.proposal(ID).await.unwrap().revision;
    // Typed into the text from before, and sent late.
    let draft = Draft {
        revision: 1,
        text: "one\ntwo\nTHREE\nFOUR\n".into(),
    };
    front.set_draft(ID, draft).await.unwrap();
    scene.decide(Decision::Accept, Some(seen)).await.unwrap();
    assert_eq!(scene.written().await, "ONE\ntwo\nTHREE\nFOUR\n");
}

/// An agent that takes its proposal back may write the text that it is answered.
#[tokio::test]
async fn an_agent_that_takes_it_back_gets_no_conflicts() {
    for (present, answered) in [(APART, Some(MERGED)), (SAME, None)] {
        let mut scene = Scene::start().await;
        scene.person_saves(present);
        scene.companion.front.proposal(ID).await.unwrap();
        let answer = scene.agent.close_diff(&scene.path).await.json();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let content: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(content["content"].as_str(), answered);
    }
}
