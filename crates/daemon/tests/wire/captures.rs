//! Everything the published daemon was seen to send is read, and written again without loss.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use outrigger_daemon::sse::{SseItem, SseParser};
use outrigger_daemon::wire::{
    AcceptedPrompt, ApprovalModeSet, Attachment, BranchResponse, ContextUsageReport,
    DaemonCapabilities, DaemonStatus, FileBytes, FileStat, FileText, FolderListing, GlobMatches,
    Health, Heartbeat, LoadedSession, McpResourceList, McpServerList, McpToolList, MidTurnQueue,
    MidTurnReceipt, ModelSet, OpenedSession, PendingPrompt, ProviderList, RewindPointList,
    RewindResponse, SessionContext, SessionMetadata, SessionPage, SessionStats, SessionSummary,
    SkillList, SupportedCommands, TaskCancelResponse, TaskList, ToolList, TranscriptPage,
    TurnStatus, WorkspaceEnvironment, WorkspacePreflight,
};
use outrigger_daemon::{DaemonEvent, EventBody};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn captures(ending: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(ending))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// Head and body of a captured answer. An excerpt may have no head.
fn split(capture: &[u8]) -> (String, Vec<u8>) {
    let Some(at) = capture.windows(4).position(|it| it == b"\r\n\r\n") else {
        return (String::new(), capture.to_vec());
    };
    let head = String::from_utf8_lossy(&capture[..at]).into_owned();
    let body = &capture[at + 4..];
    if head.contains(" 100 Continue") {
        return split(body);
    }
    (head, body.to_vec())
}

/// A value without what means the same when it is absent.
fn essence(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), essence(value)))
            .filter(|(_, value)| !value.is_null())
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Array(items) => items.iter().map(essence).collect::<Vec<_>>().into(),
        Value::Bool(false) => Value::Null,
        other => other.clone(),
    }
}

/// Lists and objects that became empty count as absent too.
fn settled(value: &Value) -> Value {
    let mut before = essence(value);
    loop {
        let after = without_empty(&before);
        if after == before {
            return after;
        }
        before = after;
    }
}

fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), without_empty(value)))
            .filter(|(_, value)| !value.is_null() && *value != json!({}))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_empty).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

#[track_caller]
fn same<T: DeserializeOwned + Serialize>(name: &str, body: &Value) {
    let typed: T = serde_json::from_value(body.clone())
        .unwrap_or_else(|error| panic!("{name}: {error}\n{body}"));
    let again = serde_json::to_value(&typed).unwrap();
    assert_eq!(settled(&again), settled(body), "{name}");
}

/// An event is read, its body is typed, and both say what the capture said.
fn check_event(name: &str, event: &DaemonEvent, original: &Value) {
    let envelope: Value = serde_json::from_str(event.text()).unwrap();
    assert_eq!(&envelope, original, "{name}");
    assert_eq!(event.id(), original["id"].as_u64(), "{name}");
    assert_eq!(event.kind(), original["type"], "{name}");
    assert_eq!(
        event.prompt_id().map(String::from).as_deref(),
        original["promptId"].as_str()
    );
    assert_eq!(
        event.originator().map(String::from).as_deref(),
        original["originatorClientId"].as_str()
    );
    assert!(event.is_known(), "{name}: {event:?}");
    let body = event.body();
    assert!(
        !matches!(body, EventBody::Malformed(_) | EventBody::Unknown),
        "{name}: {body:?}"
    );
    let again = body.to_value().unwrap();
    let data = &original["data"];
    let data = if matches!(body, EventBody::SessionUpdate(_)) {
        data.get("update").unwrap_or(data)
    } else {
        data
    };
    assert_eq!(settled(&again), settled(data), "{name}");
}

#[test]
fn every_captured_stream_is_read_without_loss() {
    let mut events = 0;
    for (name, capture) in captures(".sse.txt") {
        let (head, body) = split(&capture);
        assert!(
            head.is_empty() || head.contains("text/event-stream"),
            "{name}"
        );
        let mut parser = SseParser::default();
        parser.push(Bytes::from(body.clone()));
        let mut numbers = Vec::new();
        for item in std::iter::from_fn(|| parser.pull()) {
            let SseItem::Frame(frame) = item else {
                continue;
            };
            let (event, invalid_utf8) = DaemonEvent::from_frame(&frame);
            assert!(!invalid_utf8, "{name}");
            if name.starts_with("slow-client-evicted") && event.is_err() {
                // The capture was shortened in the middle of this frame.
                continue;
            }
            let event = event.unwrap_or_else(|error| panic!("{name}: {error}"));
            let original: Value = serde_json::from_slice(&frame.data).unwrap();
            check_event(&name, &event, &original);
            assert!(frame.id.is_none() || event.id() == frame.id, "{name}");
            numbers.extend(event.id());
            events += 1;
        }
        assert!(
            numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "{name}: {numbers:?}"
        );
        let lines = body
            .split(|byte| *byte == b'\n')
            .filter(|line| line.starts_with(b"data:"))
            .count();
        assert!(lines <= numbers.len() + 3, "{name} has {lines} frames");
    }
    assert!(events > 600, "{events}");
}

#[test]
fn every_captured_answer_is_read_without_loss() {
    let (mut typed, mut refused) = (0, 0);
    for (name, capture) in captures(".http.txt") {
        let text = String::from_utf8_lossy(&capture);
        let (request, answer) = text.split_once('\n').unwrap();
        let (head, body) = split(answer.as_bytes());
        let Some(status) = head.split(' ').nth(1).and_then(|it| it.parse::<u16>().ok()) else {
            assert!(name.starts_with("daemon-down"), "{name}");
            continue;
        };
        if status >= 400 {
            refused += 1;
            check_refusal(&name, status, &head, &body);
            continue;
        }
        let url = request.trim_end().rsplit(' ').next().unwrap();
        let path = url
            .splitn(4, '/')
            .nth(3)
            .unwrap()
            .split(['?', '\\'])
            .next()
            .unwrap();
        let Ok(body) = serde_json::from_slice::<Value>(&body) else {
            let bodiless = [" -I ", " OPTIONS "].iter().any(|it| request.contains(it));
            let is_file = path.contains("/attachments/");
            assert!(status == 204 || bodiless || is_file, "{name}");
            continue;
        };
        typed += 1;
        check_answer(&name, path, status, &body);
    }
    assert!(typed > 90 && refused > 60, "{typed} and {refused}");
    for (name, body) in captures(".body.json") {
        same::<LoadedSession>(&name, &serde_json::from_slice(&body).unwrap());
    }
}

fn check_answer(name: &str, path: &str, status: u16, body: &Value) {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["health"] => same::<Health>(name, body),
        ["capabilities"] => {
            same::<DaemonCapabilities>(name, body);
            let capabilities: DaemonCapabilities = serde_json::from_value(body.clone()).unwrap();
            assert!(capabilities.speaks_v1() && capabilities.has("session_create"));
            assert!(
                capabilities
                    .folders()
                    .all(|folder| folder.starts_with("/home/dev")),
                "{name}"
            );
        }
        ["daemon", "status"] => same::<DaemonStatus>(name, body),
        ["session"] => same::<OpenedSession>(name, body),
        ["workspace", _, "sessions"] => same::<SessionPage>(name, body),
        ["session", _, "load" | "resume"] => {
            same::<LoadedSession>(name, body);
            let lists = ["compactedReplay", "liveJournal"];
            for original in lists
                .iter()
                .filter_map(|list| body[list].as_array())
                .flatten()
            {
                check_event(
                    name,
                    &DaemonEvent::read(&original.to_string()).unwrap(),
                    original,
                );
            }
        }
        ["session", _, "status"] => {
            same::<SessionSummary>(name, body);
            let summary: SessionSummary = serde_json::from_value(body.clone()).unwrap();
            let raw = body["pendingInteractions"].as_array().map_or(0, Vec::len);
            assert_eq!(summary.interactions().count(), raw, "{name}");
        }
        ["session", _, "context"] => same::<SessionContext>(name, body),
        ["session", _, "transcript"] => {
            same::<TranscriptPage>(name, body);
            for original in body["events"].as_array().unwrap() {
                check_event(
                    name,
                    &DaemonEvent::read(&original.to_string()).unwrap(),
                    original,
                );
            }
        }
        ["session", _, "prompt"] => {
            assert_eq!(status, 202, "{name}");
            same::<AcceptedPrompt>(name, body);
        }
        ["session", _, "turns", _] => same::<TurnStatus>(name, body),
        ["session", _, "pending-prompts"] => {
            for prompt in body["pendingPrompts"].as_array().unwrap() {
                same::<PendingPrompt>(name, prompt);
            }
        }
        ["session", _, "pending-prompts", _] => assert!(body["removed"].is_boolean()),
        ["session", _, "heartbeat"] => same::<Heartbeat>(name, body),
        ["session", _, "metadata"] => same::<SessionMetadata>(name, body),
        ["session", _, "model"] => {
            same::<ModelSet>(name, body);
            let switch: ModelSet = serde_json::from_value(body.clone()).unwrap();
            assert!(switch.model_id().is_some());
            assert_eq!(format!("{switch:?}"), "ModelSet(…)");
        }
        ["session", _, "approval-mode"] => same::<ApprovalModeSet>(name, body),
        ["session", _, "permission", _] | ["permission", _] => {
            assert_eq!(*body, json!({}), "{name}");
        }
        ["session", _, ..] => check_activity(name, &parts[2..], body),
        _ => check_reading(name, &parts, body),
    }
}

/// What the routes of a session say besides its turns.
fn check_activity(name: &str, route: &[&str], body: &Value) {
    match route {
        ["context-usage"] => same::<ContextUsageReport>(name, body),
        ["stats"] => same::<SessionStats>(name, body),
        ["supported-commands"] => same::<SupportedCommands>(name, body),
        ["tasks"] => same::<TaskList>(name, body),
        ["tasks", _, "cancel"] => same::<TaskCancelResponse>(name, body),
        ["attachments"] if body["attachments"].is_array() => {
            for attachment in body["attachments"].as_array().unwrap() {
                same::<Attachment>(name, attachment);
            }
        }
        ["attachments"] => same::<Attachment>(name, body),
        ["attachments" | "mid-turn-messages", _] => {
            assert!(body["removed"].is_boolean());
        }
        ["mid-turn-message"] => same::<MidTurnReceipt>(name, body),
        ["mid-turn-messages"] => same::<MidTurnQueue>(name, body),
        ["rewind", "snapshots"] => same::<RewindPointList>(name, body),
        ["rewind"] => same::<RewindResponse>(name, body),
        ["branch"] => same::<BranchResponse>(name, body),
        _ => panic!("{name}: nobody reads {route:?}"),
    }
}

/// What the routes that only read say.
fn check_reading(name: &str, route: &[&str], body: &Value) {
    match route {
        ["workspace", "providers"] => same::<ProviderList>(name, body),
        ["workspace", "env"] => same::<WorkspaceEnvironment>(name, body),
        ["workspace", "preflight"] => same::<WorkspacePreflight>(name, body),
        ["workspace", "mcp"] => same::<McpServerList>(name, body),
        ["workspace", "mcp", _, "tools"] => same::<McpToolList>(name, body),
        ["workspace", "mcp", _, "resources"] => same::<McpResourceList>(name, body),
        ["workspace", "skills"] => same::<SkillList>(name, body),
        ["workspace", "tools"] => same::<ToolList>(name, body),
        ["file"] => same::<FileText>(name, body),
        ["file", "bytes"] => same::<FileBytes>(name, body),
        ["stat"] => same::<FileStat>(name, body),
        ["list"] | ["workspaces", _, "list"] => same::<FolderListing>(name, body),
        ["glob"] => same::<GlobMatches>(name, body),
        _ => assert!(
            name.starts_with("notoken.strict-route"),
            "{name}: nobody reads {route:?}"
        ),
    }
}

/// The refusals themselves are checked over a socket, in `refusals`; here only that a body is what the
/// documents say it is.
fn check_refusal(name: &str, status: u16, head: &str, body: &[u8]) {
    let json = serde_json::from_slice::<Value>(body);
    let is_html = head.contains("text/html");
    assert_eq!(json.is_err(), is_html, "{name} {status}");
    if let Ok(json) = json {
        assert!(json["error"].is_string(), "{name}");
    }
}

#[test]
fn questions_are_recognised_by_their_metadata() {
    for (name, questions) in [
        ("ask-question.sse.txt", Some(2)),
        ("shell-permission.sse.txt", None),
    ] {
        let (_, capture) = captures(name).into_iter().next().unwrap();
        let mut parser = SseParser::default();
        parser.push(Bytes::from(split(&capture).1));
        let requests = std::iter::from_fn(|| parser.pull()).filter_map(|item| match item {
            SseItem::Frame(frame) => match DaemonEvent::from_frame(&frame).0.ok()?.body() {
                EventBody::PermissionRequest(request) => Some(request),
                _ => None,
            },
            _ => None,
        });
        let request = requests.last().unwrap();
        assert_eq!(request.questions().map(|it| it.len()), questions, "{name}");
        assert!(request.tool_call.tool_name().is_some());
    }
}
