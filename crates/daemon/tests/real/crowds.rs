//! Several people in one conversation, under each rule of whose vote counts.

use outrigger_daemon::connection::{
    AnswerOutcome, CloseReason, ConnectOptions, IdeConnection, IdeEvent, IdeEvents, SessionChoice,
    UserAnswer,
};
use outrigger_daemon::wire::{PermissionOutcome, PermissionPolicy, VoteResult};
use outrigger_daemon::{DaemonError, ErrorReason};
use serde_json::json;
use testkit::Call;

use crate::house::House;
use crate::ide::{asked, closed, connected, first, options};

/// A house where the workspace has this rule, and two people in one conversation.
struct Crowd {
    house: House,
    first: (IdeConnection, IdeEvents),
    second: (IdeConnection, IdeEvents),
}

impl Crowd {
    async fn under(policy: &PermissionPolicy) -> Option<Crowd> {
        let settings = json!({"policy": {"permissionStrategy": policy}});
        let house = House::with_settings(&settings)?;
        let first = connected(&house).await;
        let (connection, events) = IdeConnection::new();
        let same = ConnectOptions {
            session: SessionChoice::Known(first.0.session().unwrap()),
            ..options(&house)
        };
        let told = connection.connect(same).await.unwrap();
        let rule = told.capabilities.policy.unwrap().permission;
        assert_eq!(rule.as_ref(), Some(policy));
        let file = house.workspace().join("made.txt");
        let write = Call::write(&file, "made");
        house.model.speak("WRITE", vec![vec![write]]).say("written");
        let second = (connection, events);
        Some(Crowd {
            house,
            first,
            second,
        })
    }

    fn is_made(&self) -> bool {
        self.house.workspace().join("made.txt").exists()
    }
}

fn taken(answered: &AnswerOutcome) -> bool {
    answered.vote == VoteResult::Taken
        && matches!(answered.outcome, PermissionOutcome::Selected { .. })
}

#[tokio::test]
async fn only_who_prompted_may_vote_if_one_is_designated() {
    let Some(mut crowd) = Crowd::under(&PermissionPolicy::Designated).await else {
        return;
    };
    let (mine, others) = (&mut crowd.first, &mut crowd.second);
    mine.0.send_prompt("please WRITE").await.unwrap();
    let request = asked(&mut others.1).await;
    let refused = others.0.answer(&request.id, &UserAnswer::Allow).await;
    let reason = match &refused {
        Err(outrigger_daemon::connection::CallError::Daemon(error)) => DaemonError::reason(error),
        _ => None,
    };
    assert_eq!(reason, Some(ErrorReason::VoteForbidden), "{refused:?}");
    let request = asked(&mut mine.1).await;
    let answered = mine
        .0
        .answer(&request.id, &UserAnswer::Allow)
        .await
        .unwrap();
    assert!(taken(&answered), "{answered:?}");
    assert!(matches!(closed(&mut mine.1).await, CloseReason::Mine(_)));
    assert!(matches!(
        closed(&mut others.1).await,
        CloseReason::Elsewhere(_)
    ));
    first(&mut mine.1, "the end of the turn", ended).await;
    assert!(crowd.is_made());
}

#[tokio::test]
async fn all_have_to_agree_if_there_must_be_a_consensus() {
    let Some(mut crowd) = Crowd::under(&PermissionPolicy::Consensus).await else {
        return;
    };
    let (mine, others) = (&mut crowd.first, &mut crowd.second);
    mine.0.send_prompt("please WRITE").await.unwrap();
    let request = asked(&mut mine.1).await;
    asked(&mut others.1).await;
    let answered = mine
        .0
        .answer(&request.id, &UserAnswer::Allow)
        .await
        .unwrap();
    assert!(taken(&answered), "{answered:?}");
    let counted = |event: &IdeEvent| match event {
        IdeEvent::VoteCounted {
            received, needed, ..
        } => Some((*received, *needed)),
        _ => None,
    };
    let (received, _) = first(&mut others.1, "a counted vote", counted).await;
    assert_eq!(received, Some(1));
    assert!(
        !others.0.pending().is_empty(),
        "it is still open for others"
    );
    let answered = others
        .0
        .answer(&request.id, &UserAnswer::Allow)
        .await
        .unwrap();
    assert!(taken(&answered), "{answered:?}");
    closed(&mut mine.1).await;
    closed(&mut others.1).await;
    first(&mut mine.1, "the end of the turn", ended).await;
    assert!(crowd.is_made());
}

fn ended(event: &IdeEvent) -> Option<()> {
    matches!(event, IdeEvent::TurnEnded { .. }).then_some(())
}
