//! What a consumer of a session sees, and waiting for it.

use outrigger_daemon::wire::NewSession;
use outrigger_daemon::{
    Address, DaemonClient, Session, SessionEndReason, SessionEvent, SessionEvents, Timeouts, Token,
    Turn, TurnEnd,
};
use testkit::fake_daemon::{FakeDaemon, PATIENCE, TOKEN};

pub(crate) use crate::quick::quick;

/// The client's side of the fake daemon.
pub(crate) trait Opens {
    /// A client that knows its token.
    fn client(&self) -> DaemonClient;

    /// Its session, opened.
    async fn session(&self) -> (Session, SessionEvents);
}

impl Opens for FakeDaemon {
    fn client(&self) -> DaemonClient {
        DaemonClient::new(Address::local(self.port), Some(Token::new(TOKEN).unwrap()))
            .with_timeouts(Timeouts {
                connect: PATIENCE,
                response: PATIENCE,
                restore: PATIENCE,
            })
    }

    async fn session(&self) -> (Session, SessionEvents) {
        Session::open(self.client(), &NewSession::default(), quick())
            .await
            .unwrap()
    }
}

pub(crate) async fn end_of(turn: Turn) -> TurnEnd {
    tokio::time::timeout(PATIENCE, turn.end())
        .await
        .expect("the turn ends")
}

pub(crate) async fn next(updates: &mut SessionEvents) -> SessionEvent {
    let update = tokio::time::timeout(PATIENCE, updates.next()).await;
    update
        .expect("an update comes")
        .expect("the session is not over")
}

/// Takes updates until one fits, and hands out all of them.
pub(crate) async fn take_until(
    updates: &mut SessionEvents,
    fits: impl Fn(&SessionEvent) -> bool,
) -> Vec<SessionEvent> {
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
pub(crate) fn is(kind: &'static str) -> impl Fn(&SessionEvent) -> bool {
    move |update| matches!(update, SessionEvent::Event(event) if event.kind() == kind)
}

pub(crate) async fn ending(updates: &mut SessionEvents) -> SessionEndReason {
    let taken = take_until(updates, |update| matches!(update, SessionEvent::Ended(_))).await;
    match taken.into_iter().next_back() {
        Some(SessionEvent::Ended(end)) => end,
        other => panic!("{other:?}"),
    }
}

/// What a person would have in front of them: everything that was said, from the last history on.
pub(crate) fn shown(updates: &[SessionEvent]) -> String {
    let mut text = String::new();
    for update in updates {
        match update {
            SessionEvent::Event(event) => text += &said(event),
            SessionEvent::History(history) => text = history.events.iter().map(said).collect(),
            _ => {}
        }
    }
    text
}

fn said(event: &outrigger_daemon::DaemonEvent) -> String {
    use outrigger_daemon::EventBody;
    use outrigger_daemon::wire::SessionUpdate;
    match event.body() {
        EventBody::SessionUpdate(SessionUpdate::AgentMessage(chunk)) => chunk.text().to_owned(),
        _ => String::new(),
    }
}
