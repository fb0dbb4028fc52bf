//! In which mode a session of the published daemon runs, what each mode asks about, and what is left
//! at the daemon when its client leaves.

use outrigger_daemon::connection::{ConnectError, IdeEvent};
use outrigger_daemon::wire::{
    ApprovalMode, NewSession, OptionKind, PermissionVote, RestoreSession, SessionScope,
    SessionUpdate, ToolStatus,
};
use outrigger_daemon::{
    Backoff, DisconnectMode, EventBody, HistoryCause, Jitter, Session, SessionEvent, SessionEvents,
    SessionSettings,
};
use rustix::process::Signal;
use serde_json::json;
use testkit::{Call, PATIENCE, soon};

use crate::conversations::complete;
use crate::endings::written_down;
use crate::house::{House, Screen, end_of, is, once_it_has_an_agent, settings, thread};

/// The mode in force, as the daemon tells.
async fn mode(session: &Session) -> Option<ApprovalMode> {
    let context = session.context().await.unwrap();
    context.state.modes.and_then(|modes| modes.current_mode_id)
}

/// A house whose daemon edits without asking, unless it is told to. That is its own default, too; the settings
/// of the tests are others.
fn house() -> Option<House> {
    House::with_settings(&json!({"tools": {"approvalMode": "auto"}}))
}

/// The mode is no part of what the daemon keeps on disk, and that of its settings edits without asking.
#[tokio::test]
async fn a_session_asks_again_when_it_comes_back() {
    let Some(mut house) = house() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made");
    house.model.speak("BEFORE", vec![]).say("said before; ");
    let (session, mut events) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    written_down(&session, "said before").await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
    house.end(Signal::KILL).await;
    house.start_again();
    screen
        .watch(&mut events, "the history", |_, it| {
            matches!(it, SessionEvent::History(history) if history.cause == HistoryCause::Revived)
        })
        .await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
    house.model.on("WRITE", vec![vec![write]]);
    let turn = session.prompt("please WRITE").await.unwrap();
    screen.event(&mut events, "permission_request").await;
    assert!(!file.exists());
    session.cancel().await.unwrap();
    end_of(turn).await;
}

/// Somebody else is faster after the crash, and does not care for the mode. Our own request finds a
/// session that is alive already.
#[tokio::test]
async fn a_session_asks_again_although_somebody_else_has_brought_it_back() {
    let Some(mut house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    let slow = SessionSettings {
        backoff: Backoff {
            first: PATIENCE / 4,
            longest: PATIENCE / 4,
            jitter: Jitter::none(),
        },
        ..settings()
    };
    let (session, mut events) = Session::open(house.client(), &thread(), slow)
        .await
        .unwrap();
    let turn = session.prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    written_down(&session, "said before").await;
    house.end(Signal::KILL).await;
    house.start_again();
    let restore = RestoreSession::default();
    let client = house.client();
    let load = async || client.load_session(session.id(), &restore, None).await;
    let loaded = once_it_has_an_agent(load).await;
    assert!(!loaded.opened.attached, "we were not faster");
    assert_eq!(mode(&session).await, Some(ApprovalMode::Auto));
    let is_history = |_: &Screen, it: &SessionEvent| matches!(it, SessionEvent::History(_));
    let mut screen = Screen::default();
    screen.watch(&mut events, "the history", is_history).await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
}

/// The daemon ends in good order, which ends every session. Whoever connects again to the same one is
/// asked about as much as before.
#[tokio::test]
async fn a_connection_goes_on_in_the_mode_that_the_person_has_chosen() {
    let Some(mut house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    let (connection, mut events) = crate::ide::connected(&house).await;
    let turn = connection.send_prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let session = house.client();
    let id = connection.session().unwrap();
    let (session, watching) = Session::load(session, &id, &RestoreSession::default(), settings())
        .await
        .unwrap();
    written_down(&session, "said before").await;
    drop((session, watching));
    let plan = ApprovalMode::Plan;
    connection.set_approval_mode(&plan).await.unwrap();
    house.end(Signal::TERM).await;
    let is_over = |it: &IdeEvent| matches!(it, IdeEvent::Disconnected { .. }).then_some(());
    crate::ide::first(&mut events, "the end", is_over).await;
    house.start_again();
    let again = async || match connection.reconnect().await {
        Err(ConnectError::Daemon(error)) => Err(error),
        connected => Ok(connected.unwrap()),
    };
    once_it_has_an_agent(again).await;
    let context = connection.context().await.unwrap();
    let modes = context.state.modes.unwrap();
    assert_eq!(modes.current_mode_id, Some(plan));
}

#[tokio::test]
async fn a_session_from_disk_has_the_mode_of_whoever_loads_it() {
    let Some(house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    for (wanted, expected) in [
        (None, "auto"),
        (Some(ApprovalMode::Default), "default"),
        (Some(ApprovalMode::Plan), "plan"),
    ] {
        let (session, _events) = house.session().await;
        let turn = session.prompt("BEFORE").await.unwrap();
        assert_eq!(end_of(turn).await, complete());
        written_down(&session, "said before").await;
        session.close().await.unwrap();
        let restore = RestoreSession {
            approval_mode: wanted.clone(),
            ..RestoreSession::default()
        };
        let load = async || Session::load(house.client(), session.id(), &restore, settings()).await;
        let (again, _events) = once_it_has_an_agent(load).await;
        let mode = mode(&again).await.unwrap();
        assert_eq!(mode.as_str(), expected, "{wanted:?}");
        // Live now, and whoever comes later does not change it for those who are in it.
        let restore = RestoreSession {
            approval_mode: Some(ApprovalMode::Yolo),
            ..RestoreSession::default()
        };
        let load = Session::load(house.client(), session.id(), &restore, settings());
        let (later, _events) = load.await.unwrap();
        assert_eq!(self::mode(&later).await.unwrap().as_str(), expected);
    }
}

/// Why the mode is not sent along with a request that may find a session: it would change it.
#[tokio::test]
async fn the_daemon_gives_a_live_session_the_mode_of_whoever_asks() {
    let Some(house) = house() else { return };
    let open = async || Session::open(house.client(), &thread(), settings()).await;
    let (session, _events) = once_it_has_an_agent(open).await;
    let yolo = RestoreSession {
        approval_mode: Some(ApprovalMode::Yolo),
        ..RestoreSession::default()
    };
    let loaded = house.client().load_session(session.id(), &yolo, None).await;
    assert!(loaded.unwrap().opened.attached);
    assert_eq!(mode(&session).await, Some(ApprovalMode::Yolo));
}

#[tokio::test]
async fn whoever_comes_later_changes_nothing_in_a_shared_session() {
    let Some(house) = house() else { return };
    let shared = |mode: ApprovalMode| NewSession {
        session_scope: Some(SessionScope::Single),
        approval_mode: Some(mode),
        ..NewSession::default()
    };
    let first = shared(ApprovalMode::Default);
    let open = async || Session::open(house.client(), &first, settings()).await;
    let (first, _events) = once_it_has_an_agent(open).await;
    assert_eq!(mode(&first).await, Some(ApprovalMode::Default));
    let second = shared(ApprovalMode::Yolo);
    let open = Session::open(house.client(), &second, settings());
    let (second, _events) = open.await.unwrap();
    assert_eq!(second.id(), first.id());
    assert_eq!(mode(&second).await, Some(ApprovalMode::Default));
}

/// A registration that stays counts in a quorum, and keeps the session in memory.
#[tokio::test]
async fn whoever_leaves_is_not_counted_any_more() {
    let Some(house) = house() else { return };
    let open = async || Session::open(house.client(), &thread(), settings()).await;
    let (stays, _events) = once_it_has_an_agent(open).await;
    let restore = RestoreSession::default();
    let load = Session::load(house.client(), stays.id(), &restore, settings());
    let (leaves, _events) = load.await.unwrap();
    let count = async || stays.status().await.unwrap().client_count;
    assert_eq!(count().await, Some(2));
    leaves.leave(DisconnectMode::Detach).await.unwrap();
    assert_eq!(count().await, Some(1));
}

/// The last one leaves in the middle of a turn: it goes on, and the session is closed after it.
#[tokio::test]
async fn a_turn_goes_on_when_the_last_client_leaves() {
    let Some(house) = house() else { return };
    let speech = house.model.speak("HOLD", vec![]);
    let (session, mut events) = house.session().await;
    let turn = session.prompt("please HOLD").await.unwrap();
    speech.say("begun ");
    let mut screen = Screen::default();
    let has_begun = |screen: &Screen, _: &SessionEvent| screen.text == "begun ";
    screen.watch(&mut events, "the beginning", has_begun).await;
    session.leave(DisconnectMode::Detach).await.unwrap();
    drop((events, turn));
    let status = house.client().session_status(session.id()).await.unwrap();
    assert_eq!(status.has_active_prompt, Some(true));
    assert_eq!(status.client_count, Some(0));
    speech.say("and ended");
    drop(speech);
    written_down(&session, "and ended").await;
    let closed = async {
        while house.client().session_status(session.id()).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    soon("the session is closed", closed).await;
}

/// The modes, and in this order the columns of [`what_each_mode_asks_about`].
const MODES: [&str; 5] = ["plan", "default", "auto-edit", "auto", "yolo"];

/// A small MCP server, with one tool.
const SERVER: &str = r"
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answers = {
    'initialize': {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'notes', version: '1' },
    },
    'tools/list': {
      tools: [{ name: 'hello', description: 'says hello', inputSchema: { type: 'object' } }],
    },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
  };
  if (id === undefined) return;
  const answer = { jsonrpc: '2.0', id, result: answers[method] ?? {} };
  process.stdout.write(JSON.stringify(answer) + '\n');
});
";

/// What becomes of the last call that the agent makes in a turn: the person is asked about it, and
/// refuses; or it is run, or refused by the mode, without a word to the person.
async fn fate(session: &Session, events: &mut SessionEvents, text: &str) -> &'static str {
    let turn = session.prompt(text).await.unwrap();
    let mut screen = Screen::default();
    let mut is_asked = false;
    loop {
        let asks_or_ends =
            |_: &Screen, it: &SessionEvent| is(it, "permission_request") || is(it, "turn_complete");
        let event = screen.watch(events, text, asks_or_ends).await;
        let Some(EventBody::PermissionRequest(request)) = body(&event) else {
            break;
        };
        is_asked = true;
        let no = PermissionVote::cancel();
        session.vote(&request.request_id, &no).await.unwrap();
    }
    assert_eq!(end_of(turn).await, complete());
    let last = screen.seen.iter().rev().find_map(|it| match body(it) {
        Some(EventBody::SessionUpdate(SessionUpdate::ToolCallUpdate(call))) => Some(call),
        _ => None,
    });
    let last = last.expect("the agent has called a tool");
    let said = format!("{:?}", last.content);
    match last.status {
        _ if is_asked => "asked",
        Some(ToolStatus::Completed) => "run",
        Some(ToolStatus::Failed) if said.contains("lan mode") => "refused",
        _ => panic!("{text}: {last:?}"),
    }
}

fn body(event: &SessionEvent) -> Option<EventBody> {
    match event {
        SessionEvent::Event(event) => Some(event.body()),
        _ => None,
    }
}

/// The README, the help and the protocol's page say the same. In `auto` a model decides about most of
/// what is asked here; ours gives no answer that the daemon understands, so the person has to.
#[tokio::test]
async fn what_each_mode_asks_about() {
    let house = House::with_mcp_servers(|household| {
        let server = household.write("server.js", SERVER);
        json!({"notes": {"command": "node", "args": [server]}})
    });
    let Some(house) = house else { return };
    let outside = house.home().join("outside.txt");
    std::fs::write(&outside, "once\n").unwrap();
    let url = format!("http://127.0.0.1:{}/page", house.model.port());
    let elsewhere = format!(
        "printenv HOME; find / -maxdepth 0; cat {} | sed -n 1p",
        outside.display()
    );
    for (column, mode) in MODES.into_iter().enumerate() {
        let inside = house.path(&format!("{mode}.txt"));
        std::fs::write(&inside, "once\n").unwrap();
        let in_place = format!("sed -i s/once/twice/ {mode}.txt");
        let new = house.path(&format!("{mode}-new.txt"));
        let manifest = house.path(&format!("{mode}/package.json"));
        let beside = house.home().join(format!("{mode}-new.txt"));
        let memory = house.home().join(format!(".qwen/memories/{mode}.md"));
        let fetch = Call::Other("web_fetch", json!({"url": url, "prompt": "read"}));
        let rows = [
            // Commands: they only read, they write, or the daemon cannot tell. One that replaces text
            // in a file is an edit to it.
            (Call::shell(&format!("cat {mode}.txt")), ["run"; 5]),
            (Call::shell(&elsewhere), ["run"; 5]),
            (
                Call::shell(&format!("touch {mode}-touched.txt")),
                ["refused", "asked", "asked", "asked", "run"],
            ),
            (
                Call::shell("true"),
                ["asked", "asked", "asked", "asked", "run"],
            ),
            (Call::read(&inside), ["run"; 5]),
            (
                Call::shell(&in_place),
                ["refused", "asked", "run", "asked", "run"],
            ),
            // Edits: in the folder, of what others run, outside, and of what the agent remembers.
            (
                Call::write(&new, "new\n"),
                ["refused", "asked", "run", "run", "run"],
            ),
            (
                Call::write(&manifest, "{}\n"),
                ["refused", "asked", "run", "asked", "run"],
            ),
            (
                Call::write(&beside, "new\n"),
                ["refused", "asked", "run", "asked", "run"],
            ),
            (Call::write(&memory, "new\n"), ["run"; 5]),
            // What comes from elsewhere.
            (
                Call::read(&outside),
                ["asked", "asked", "run", "run", "run"],
            ),
            (fetch, ["asked", "asked", "run", "asked", "run"]),
            (
                Call::Other("mcp__notes__hello", json!({})),
                ["refused", "asked", "asked", "asked", "run"],
            ),
        ];
        let wanted = NewSession {
            approval_mode: Some(ApprovalMode::from(mode)),
            ..thread()
        };
        let open = async || Session::open(house.client(), &wanted, settings()).await;
        let (session, mut events) = once_it_has_an_agent(open).await;
        for (row, (call, fates)) in rows.into_iter().enumerate() {
            let text = format!("ROW-{row}-{mode}.");
            let what = format!("{mode}: {call:?}");
            house.model.on(&text, vec![vec![call]]);
            let fate = fate(&session, &mut events, &text).await;
            assert_eq!(fate, fates[column], "{what}");
        }
    }
}

/// Whoever lets a subagent start has let it edit: it works in a mode of its own.
#[tokio::test]
async fn a_subagent_edits_without_asking() {
    let Some(house) = House::open() else { return };
    let file = house.path("made.txt");
    let agent = json!({
        "description": "sub task", "prompt": "please INNER", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let outer = vec![vec![Call::Other("agent", agent)]];
    house.model.on("OUTER", outer);
    let edit = vec![Call::write(&file, "made\n")];
    let inner = vec![edit, vec![Call::shell("touch touched.txt")]];
    house.model.on("INNER", inner);
    let (session, mut events) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please OUTER").await.unwrap();
    let mut asked = Vec::new();
    for answer in [OptionKind::AllowOnce, OptionKind::RejectOnce] {
        let event = screen.event(&mut events, "permission_request").await;
        let EventBody::PermissionRequest(request) = event.body() else {
            panic!("{event:?}");
        };
        asked.push(request.tool_call.tool_name().map(str::to_owned));
        let option = request
            .options
            .iter()
            .find(|it| it.kind.as_ref() == Some(&answer))
            .unwrap();
        let vote = PermissionVote::select(&option.option_id);
        session.vote(&request.request_id, &vote).await.unwrap();
    }
    let expected = ["agent", "run_shell_command"].map(|it| Some(it.to_owned()));
    assert_eq!(asked, expected);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "made\n");
    assert!(!house.path("touched.txt").exists());
    end_of(turn).await;
}
