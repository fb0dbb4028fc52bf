//! The two tables that the daemon's design gives to whoever adapts it, row by row: what each event
//! becomes for a page, and what each event makes the connection do. Where ours differs on purpose the
//! row says so.

use daemon::connection::{Answer, Closing, IdeConnection, IdeEvent, IdeEvents};
use daemon::sanitiser::{Limits, Sanitiser};
use daemon::wire::{SessionUpdate, StopReason};
use daemon::{Parting, TurnEnd};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, SESSION, chunk};
use crate::person::{
    asked, connected, daemon, id, next, permission, question, resolve, takes_votes, votes,
};

/// Something that happens in a row.
enum Act {
    /// The daemon sends an event.
    Event(&'static str, Value),
    /// The agent asks the person, who answers.
    Answered(Value, Answer),
    /// Another client answers a request.
    AnsweredElsewhere(&'static str),
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

fn update(update: &Value) -> Act {
    Act::Event("session_update", session_update(update))
}

fn session_update(update: &Value) -> Value {
    json!({"sessionId": SESSION, "update": update})
}

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
            return vec![IdeEvent::Asked(Box::new(request))];
        }
        Act::AnsweredElsewhere(request) => resolve(daemon, request, "proceed_once", "client_9"),
        Act::Prompt { fails } => {
            let sent = connection.send_prompt(&"hello".into()).await.unwrap();
            if fails {
                daemon.fail("the model is gone");
            } else {
                daemon.complete();
            }
            sent.end().await;
        }
        Act::StreamEnds => daemon.end_streams(),
        Act::StreamFails => daemon.cut(),
        Act::Leave => drop(connection.disconnect(Parting::KeepRunning).await),
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
            IdeEvent::Titled { title } if title == LAST => return told,
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

#[tokio::test]
async fn what_each_event_becomes_for_a_page() {
    let options = json!([
        {"id": "proceed_once", "title": "Allow", "kind": "allow_once"},
        {"id": "proceed_always", "title": "Allow All Edits", "kind": "allow_always"},
        {"id": "cancel", "title": "Reject", "kind": "reject_once"},
    ]);
    let card = json!({
        "event": "asked", "request": "r-1", "title": "Writing to a.txt",
        "tool": {"id": "t", "kind": "edit", "content": [], "files": []},
        "options": options, "background": false,
    });
    let text =
        |kind: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": "hm"}});
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": "t", "title": "List", "kind": "execute",
        "status": "pending", "rawInput": {"command": "ls"},
    });
    let rows: Vec<Row<Value>> = vec![
        (
            "session_update / agent_message_chunk → the stream of the answer",
            vec![update(&text("agent_message_chunk"))],
            vec![json!({"event": "said", "speaker": "agent", "text": "hm"})],
        ),
        (
            "session_update / agent_thought_chunk → the stream of the thoughts",
            vec![update(&text("agent_thought_chunk"))],
            vec![json!({"event": "said", "speaker": "thought", "text": "hm"})],
        ),
        (
            "session_update / tool_call → the tool call",
            vec![update(&call)],
            vec![json!({
                "event": "tool", "id": "t", "title": "List", "kind": "execute",
                "status": "pending", "command": "ls",
            })],
        ),
        (
            "permission_request → the approval card",
            vec![Act::Event("permission_request", permission("r-1"))],
            vec![card.clone()],
        ),
        (
            "permission_resolved → the card is closed",
            vec![
                Act::Event("permission_request", permission("r-1")),
                Act::AnsweredElsewhere("r-1"),
            ],
            vec![
                card,
                json!({"event": "closed", "request": "r-1", "byMe": false}),
            ],
        ),
        (
            "model_switched → the model",
            vec![Act::Event(
                "model_switched",
                json!({"modelId": "m(openai)"}),
            )],
            vec![json!({"event": "modelChanged", "model": "m(openai)"})],
        ),
        (
            "session_died → the loss, with a way back",
            vec![died(SESSION)],
            vec![json!({"event": "disconnected", "reason": "died", "canReconnect": true})],
        ),
        (
            "unknown events → nothing",
            vec![Act::Event("never_heard_of", json!({"a": 1}))],
            vec![],
        ),
    ];
    for (row, acts, expected) in rows {
        let daemon = daemon().await;
        let mut sanitiser = Sanitiser::new(Limits::default());
        let told = told(&daemon, acts).await;
        let told = told.iter().flat_map(|it| sanitiser.sanitise(it));
        let told: Vec<Value> = told.map(|it| serde_json::to_value(it).unwrap()).collect();
        assert_eq!(told, expected, "{row}");
    }
}

/// What the connection does, in a word or two.
fn describe(event: &IdeEvent) -> String {
    match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(_),
            ..
        } => "update agent_message_chunk".into(),
        IdeEvent::Asked(request) => match &request.questions {
            Some(questions) => format!("{} questions", questions.len()),
            None => format!("permission {}", request.id),
        },
        IdeEvent::Closed { request, how } => match how {
            Closing::Mine(_) => format!("closed {request}: mine"),
            how => format!("closed {request}: {how:?}"),
        },
        IdeEvent::TurnEnded { end, .. } => match end {
            TurnEnd::Complete {
                stop_reason: StopReason::EndTurn,
            } => "turn ended".into(),
            TurnEnd::Failed { .. } => "turn failed".into(),
            end => format!("{end:?}"),
        },
        IdeEvent::Interrupted { .. } => "interrupted".into(),
        IdeEvent::Restored => "restored".into(),
        IdeEvent::Other(event) => format!("other {}", event.kind()),
        IdeEvent::Disconnected { reason, .. } => format!("disconnected: {reason:?}"),
        event => format!("{event:?}"),
    }
}

#[tokio::test]
async fn what_each_event_makes_the_connection_do() {
    let answers = Answer::Reply(vec![
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
            vec![Act::Answered(permission("r-1"), Answer::Allow)],
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
