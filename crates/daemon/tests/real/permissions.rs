//! Asking a person: permission, refusal, questions, and two people at once.

use std::fs;

use outrigger_daemon::wire::{
    OptionKind, PermissionRequest, PermissionVote, RestoreSession, StopReason, VoteResult,
};
use outrigger_daemon::{EventBody, Session, SessionEvents, TurnEnd};
use serde_json::json;
use testkit::Call;

use crate::conversations::complete;
use crate::house::{House, Screen, end_of, settings};

async fn asked(screen: &mut Screen, updates: &mut SessionEvents) -> PermissionRequest {
    let event = screen.event(updates, "permission_request").await;
    match event.body() {
        EventBody::PermissionRequest(request) => request,
        other => panic!("{other:?}"),
    }
}

fn choice(request: &PermissionRequest, kind: &OptionKind) -> PermissionVote {
    let option = request
        .options
        .iter()
        .find(|it| it.kind.as_ref() == Some(kind))
        .unwrap();
    PermissionVote::select(&option.option_id)
}

#[tokio::test]
async fn permission_is_asked_for_given_refused_and_withdrawn() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made\n");
    house.model.speak("WRITE", vec![vec![write]]).say("written");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();

    let turn = session.prompt("please WRITE").await.unwrap();
    let request = asked(&mut screen, &mut updates).await;
    let diff = request.tool_call.content.as_ref().unwrap()[0]
        .as_diff()
        .unwrap();
    assert_eq!(
        (diff.path, diff.new_text),
        (file.to_str().unwrap(), "made\n")
    );
    // A client that comes now finds the request in the status.
    let pending: Vec<_> = session.status().await.unwrap().interactions().collect();
    assert_eq!(pending[0].request_id, request.request_id);
    let refusal = choice(&request, &OptionKind::RejectOnce);
    assert_eq!(
        session.vote(&request.request_id, &refusal).await.unwrap(),
        VoteResult::Taken
    );
    assert_eq!(end_of(turn).await, complete());
    assert!(!file.exists());

    let turn = session.prompt("again WRITE").await.unwrap();
    let request = asked(&mut screen, &mut updates).await;
    session.cancel().await.unwrap();
    let cancelled = TurnEnd::Complete {
        stop_reason: StopReason::Cancelled,
    };
    assert_eq!(end_of(turn).await, cancelled);
    assert_eq!(
        session
            .vote(&request.request_id, &PermissionVote::cancel())
            .await
            .unwrap(),
        VoteResult::Lost
    );

    let turn = session.prompt("and again WRITE").await.unwrap();
    let request = asked(&mut screen, &mut updates).await;
    let unknown = session
        .vote(
            &request.request_id,
            &PermissionVote::select("no-such-option"),
        )
        .await;
    assert!(unknown.is_err());
    let leave = choice(&request, &OptionKind::AllowOnce);
    assert_eq!(
        session.vote(&request.request_id, &leave).await.unwrap(),
        VoteResult::Taken
    );
    assert_eq!(end_of(turn).await, complete());
    assert_eq!(fs::read_to_string(&file).unwrap(), "made\n");
    // Answering twice is no error.
    assert_eq!(
        session.vote(&request.request_id, &leave).await.unwrap(),
        VoteResult::Lost
    );
}

#[tokio::test]
async fn questions_are_answered_in_order() {
    let Some(house) = House::open() else { return };
    let option = |label: &str| json!({"label": label, "description": "d"});
    let questions = json!({"questions": [
        {"question": "Which one?", "header": "One", "options": [option("A"), option("B")], "multiSelect": false},
        {"question": "Which ones?", "header": "Some", "options": [option("C"), option("D")], "multiSelect": true},
    ]});
    let ask = Call::Other("ask_user_question", questions);
    house.model.speak("ASK", vec![vec![ask]]).say("thanks");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please ASK").await.unwrap();
    let request = asked(&mut screen, &mut updates).await;
    assert_eq!(request.questions().unwrap().len(), 2);
    let option = request
        .options
        .iter()
        .find(|it| it.kind == Some(OptionKind::AllowOnce))
        .unwrap();
    let ballot =
        PermissionVote::answer(&option.option_id, ["B".into(), "C, something else".into()]);
    assert_eq!(
        session.vote(&request.request_id, &ballot).await.unwrap(),
        VoteResult::Taken
    );
    assert_eq!(end_of(turn).await, complete());
    screen.event(&mut updates, "turn_complete").await;
    let answered = screen
        .seen
        .iter()
        .any(|it| format!("{it:?}").contains("C, something else"));
    assert!(answered, "{:#?}", screen.seen);
}

#[tokio::test]
async fn two_clients_see_the_same_and_one_vote_counts() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("race.txt");
    let write = Call::write(&file, "x");
    house.model.speak("RACE", vec![vec![write]]).say("done");
    let (first, mut first_updates) = house.session().await;
    let restore = RestoreSession::default();
    let load = Session::load(house.client(), first.id(), &restore, settings());
    let (second, mut second_updates) = load.await.unwrap();
    assert_ne!(first.client_id(), second.client_id());
    let (mut left, mut right) = (Screen::default(), Screen::default());
    let turn = first.prompt("please RACE").await.unwrap();
    let request = asked(&mut left, &mut first_updates).await;
    let same = asked(&mut right, &mut second_updates).await;
    assert_eq!(request, same);
    let (yes, no) = (
        choice(&request, &OptionKind::AllowOnce),
        choice(&same, &OptionKind::RejectOnce),
    );
    let votes = tokio::join!(
        first.vote(&request.request_id, &yes),
        second.vote(&same.request_id, &no)
    );
    let mut votes = [votes.0.unwrap(), votes.1.unwrap()];
    votes.sort_by_key(|vote| *vote == VoteResult::Lost);
    assert_eq!(votes, [VoteResult::Taken, VoteResult::Lost]);
    assert_eq!(end_of(turn).await, complete());
    for (screen, updates) in [
        (&mut left, &mut first_updates),
        (&mut right, &mut second_updates),
    ] {
        screen.event(updates, "permission_resolved").await;
        screen.event(updates, "turn_complete").await;
    }
    second
        .leave(outrigger_daemon::DisconnectMode::Detach)
        .await
        .unwrap();
    assert_eq!(first.status().await.unwrap().client_count, Some(1));
}
