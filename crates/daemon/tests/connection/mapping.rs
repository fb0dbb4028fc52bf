//! The table that the daemon's design gives to whoever adapts it, row by row: what each event makes
//! the connection do. Where ours differs on purpose the row says so.

use outrigger_daemon::connection::{CloseReason, IdeConnection, IdeEvent, IdeEvents, UserAnswer};
use outrigger_daemon::wire::{SessionUpdate, StopReason};
use outrigger_daemon::{DisconnectMode, TurnEnd};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, SESSION, chunk};
use crate::person::{asked, connected, daemon, id, next, permission, question, takes_votes, votes};

/// Something that happens in a row.
enum Act {
    /// The daemon sends an event.
    Event(&'static str, Value),
    /// The agent asks the person, who answers.
    Answered(Value, UserAnswer),
    /// The person says something, and the turn ends like this.
    Prompt {
        fails: bool,
    },
    /// The daemon ends the stream, or it just stops.
    StreamEnds,
    StreamFails,
    /// The person leaves.
    Leave,
}

/// One row: its left side, what is done for it, and its right side.
type Row<T> = (&'static str, Vec<Act>, Vec<T>);

fn died(session: &str) -> Act {
    let data = json!({"sessionId": session, "reason": "agent_exited"});
    Act::Event("session_died", data)
}

async fn act(
    act: Act,
    daemon: &FakeDaemon,
    connection: &IdeConnection,
    events: &mut IdeEvents,
) -> Vec<IdeEvent> {
    match act {
        Act::Event(kind, data) => daemon.emit(kind, data),
        Act::Answered(request, answer) => {
            let name = request["requestId"].as_str().unwrap().to_owned();
            takes_votes(daemon, &name);
            daemon.emit("permission_request", request);
            let request = asked(events).await;
            connection.answer(&id(&name), &answer).await.unwrap();
            return vec![IdeEvent::RequestOpened(Box::new(request))];
        }
        Act::Prompt { fails } => {
            let sent = connection.send_prompt("hello").await.unwrap();
            if fails {
                daemon.fail("the model is gone");
            } else {
                daemon.complete();
            }
            sent.end().await;
        }
        Act::StreamEnds => daemon.end_streams(),
        Act::StreamFails => daemon.cut(),
        Act::Leave => drop(connection.disconnect(DisconnectMode::KeepRunning).await),
    }
    Vec::new()
}

/// Everything that the connection tells because of these acts.
async fn told(daemon: &FakeDaemon, acts: Vec<Act>) -> Vec<IdeEvent> {
    const LAST: &str = "nothing more comes";
    let (connection, mut events) = connected(daemon).await;
    daemon.say("the row begins");
    while !matches!(next(&mut events).await, IdeEvent::Update { .. }) {}
    let mut told = Vec::new();
    for it in acts {
        told.extend(act(it, daemon, &connection, &mut events).await);
    }
    daemon.emit("session_metadata_updated", json!({"displayName": LAST}));
    loop {
        let event = next(&mut events).await;
        match &event {
            IdeEvent::TitleChanged { title } if title == LAST => return told,
            IdeEvent::Disconnected { .. } => {
                told.push(event);
                return told;
            }
            // Before or after the last event, as it happens.
            IdeEvent::CaughtUp => {}
            _ => told.push(event),
        }
    }
}

/// What the connection does, in a word or two.
fn describe(event: &IdeEvent) -> String {
    match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(_),
            ..
        } => "update agent_message_chunk".into(),
        IdeEvent::RequestOpened(request) => match &request.questions {
            Some(questions) => format!("{} questions", questions.len()),
            None => format!("permission {}", request.id),
        },
        IdeEvent::RequestClosed { request, reason } => match reason {
            CloseReason::Mine(_) => format!("closed {request}: mine"),
            reason => format!("closed {request}: {reason:?}"),
        },
        IdeEvent::TurnEnded { end, .. } => match end {
            TurnEnd::Complete {
                stop_reason: StopReason::EndTurn,
            } => "turn ended".into(),
            TurnEnd::Failed { .. } => "turn failed".into(),
            end => format!("{end:?}"),
        },
        IdeEvent::ConnectionLost { .. } => "interrupted".into(),
        IdeEvent::ConnectionRestored => "restored".into(),
        IdeEvent::Other(event) => format!("other {}", event.kind()),
        IdeEvent::Disconnected { reason, .. } => format!("disconnected: {reason:?}"),
        event => format!("{event:?}"),
    }
}

#[tokio::test]
async fn what_each_event_makes_the_connection_do() {
    let answers = UserAnswer::Reply(vec![
        vec!["SQLite".into()],
        vec!["Search".into(), "x".into()],
    ]);
    let returns = vec!["interrupted", "restored"];
    let rows: Vec<Row<&str>> = vec![
        (
            "session_update → the update",
            vec![Act::Event("session_update", chunk("hello"))],
            vec!["update agent_message_chunk"],
        ),
        (
            "permission_request → the person is asked, and the answer is voted for",
            vec![Act::Answered(permission("r-1"), UserAnswer::Allow)],
            vec![
                "permission r-1",
                r#"voted {"outcome":{"optionId":"proceed_once","outcome":"selected"}}"#,
            ],
        ),
        (
            "permission_request with questions → the person is asked, and the answers are sent",
            vec![Act::Answered(question("r-1"), answers)],
            vec![
                "2 questions",
                r#"voted {"answers":{"0":"SQLite","1":"Search, x"},"outcome":{"optionId":"proceed_once","outcome":"selected"}}"#,
            ],
        ),
        (
            "session_died of this session → disconnected",
            vec![died(SESSION)],
            vec![r#"disconnected: Died { reason: Some("agent_exited") }"#],
        ),
        (
            "session_died of another session → nothing",
            vec![died("00000000-0000-0000-0000-000000000000")],
            vec![],
        ),
        (
            "the stream ends → ours: it goes on where it was, and says so",
            vec![Act::StreamEnds],
            returns.clone(),
        ),
        (
            "the stream fails → ours: it goes on where it was, and says so",
            vec![Act::StreamFails],
            returns,
        ),
        (
            "the person leaves → disconnected",
            vec![Act::Leave],
            vec!["disconnected: Left"],
        ),
        (
            "other events → for those who know them, and shown to nobody",
            vec![Act::Event("git_branch_changed", json!({"branch": "main"}))],
            vec!["other git_branch_changed"],
        ),
        (
            "the end of a prompt → ours: from the stream, once",
            vec![Act::Prompt { fails: false }],
            vec!["turn ended"],
        ),
        (
            "the failure of a prompt → ours: from the stream, once",
            vec![Act::Prompt { fails: true }],
            vec!["turn failed"],
        ),
    ];
    for (row, acts, expected) in rows {
        let daemon = daemon().await;
        let told = told(&daemon, acts).await;
        let told = told.iter().map(describe);
        let votes = votes(&daemon, "r-1");
        let votes = votes.iter().map(|vote| format!("voted {vote}"));
        let told: Vec<String> = told.chain(votes).collect();
        assert_eq!(told, expected, "{row}");
    }
}
