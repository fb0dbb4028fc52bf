//! What a consumer of a session sees, and waiting for it.

use std::time::Duration;

use daemon::{Backoff, End, Jitter, Settings, Turn, TurnEnd, Update, Updates};

use super::PATIENCE;

/// Settings with waits that do not make a test slow.
pub(crate) fn quick() -> Settings {
    Settings {
        backoff: Backoff {
            first: Duration::from_millis(5),
            longest: Duration::from_millis(40),
            jitter: Jitter::none(),
        },
        give_up_after: PATIENCE,
        ..Settings::default()
    }
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {what}"));
}

pub(crate) async fn end_of(turn: Turn) -> TurnEnd {
    tokio::time::timeout(PATIENCE, turn.end())
        .await
        .expect("the turn ends")
}

pub(crate) async fn next(updates: &mut Updates) -> Update {
    let update = tokio::time::timeout(PATIENCE, updates.next()).await;
    update
        .expect("an update comes")
        .expect("the session is not over")
}

/// Takes updates until one fits, and hands out all of them.
pub(crate) async fn take_until(
    updates: &mut Updates,
    fits: impl Fn(&Update) -> bool,
) -> Vec<Update> {
    let mut taken = Vec::new();
    loop {
        let update = next(updates).await;
        let found = fits(&update);
        taken.push(update);
        if found {
            return taken;
        }
    }
}

/// Whether an update is an event of this type.
pub(crate) fn is(kind: &'static str) -> impl Fn(&Update) -> bool {
    move |update| matches!(update, Update::Event(event) if event.kind() == kind)
}

pub(crate) async fn ending(updates: &mut Updates) -> End {
    let taken = take_until(updates, |update| matches!(update, Update::Ended(_))).await;
    match taken.into_iter().next_back() {
        Some(Update::Ended(end)) => end,
        other => panic!("{other:?}"),
    }
}

/// What a person would have in front of them: everything that was said, from the last history on.
pub(crate) fn shown(updates: &[Update]) -> String {
    let mut text = String::new();
    for update in updates {
        match update {
            Update::Event(event) => text += &said(event),
            Update::History(history) => text = history.events.iter().map(said).collect(),
            _ => {}
        }
    }
    text
}

fn said(event: &daemon::Event) -> String {
    use daemon::Body;
    use daemon::wire::SessionUpdate;
    match event.body() {
        Body::SessionUpdate(SessionUpdate::AgentMessage(chunk)) => chunk.text().to_owned(),
        _ => String::new(),
    }
}
