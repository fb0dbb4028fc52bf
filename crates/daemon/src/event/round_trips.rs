//! Every type of event: its data is read and written again without loss, also with fields that this
//! version does not know.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{DaemonEvent, EventBody, body};

/// An example of each type with all fields that the daemon is known to send.
#[allow(clippy::too_many_lines, reason = "a table with a row for each type")]
fn examples() -> Vec<(&'static str, Value)> {
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
    let option = json!({"optionId": "o", "name": "Allow", "kind": "allow_once"});
    let pending = json!({"promptId": "p", "state": "queued", "text": "t", "queuedAt": 5});
    vec![
        (
            "session_update",
            json!({"sessionId": "s", "update": update}),
        ),
        (
            "turn_complete",
            json!({"sessionId": "s", "promptId": "p", "stopReason": "end_turn"}),
        ),
        (
            "turn_error",
            json!({"promptId": "p", "message": "m", "code": -32603, "errorKind": "k"}),
        ),
        (
            "permission_request",
            json!({"requestId": "r", "sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": [option]}),
        ),
        (
            "permission_resolved",
            json!({"requestId": "r", "outcome": {"outcome": "selected", "optionId": "o"}, "voterClientId": "c"}),
        ),
        (
            "permission_already_resolved",
            json!({"requestId": "r", "outcome": {"outcome": "cancelled"}, "sessionId": "s"}),
        ),
        (
            "permission_partial_vote",
            json!({"requestId": "r", "votesReceived": 1, "votesNeeded": 2, "quorum": 3}),
        ),
        (
            "permission_forbidden",
            json!({"requestId": "r", "reason": "designated_mismatch"}),
        ),
        (
            "prompt_cancelled",
            json!({"sessionId": "s", "reason": "forward_failed"}),
        ),
        ("pending_prompt_added", pending.clone()),
        ("pending_prompt_started", pending.clone()),
        ("pending_prompt_completed", pending),
        ("model_switched", json!({"sessionId": "s", "modelId": "m"})),
        (
            "model_switch_failed",
            json!({"requestedModelId": "m", "error": "e"}),
        ),
        (
            "approval_mode_changed",
            json!({"previous": "plan", "next": "default", "persisted": false, "planExecutionMode": "default"}),
        ),
        (
            "session_died",
            json!({"sessionId": "s", "reason": "r", "exitCode": 1}),
        ),
        (
            "session_closed",
            json!({"sessionId": "s", "reason": "r", "closedBy": "c"}),
        ),
        (
            "client_evicted",
            json!({"reason": "slow", "droppedAfter": 7, "queueSize": 9}),
        ),
        ("stream_error", json!({"error": "e"})),
        (
            "slow_client_warning",
            json!({
                "queueSize": 192, "maxQueued": 256, "lastEventId": 200, "queuedBytes": 1,
                "maxQueuedBytes": 2_097_152, "threshold": "frames",
            }),
        ),
        (
            "state_resync_required",
            json!({"reason": "ring_evicted", "lastDeliveredId": 1, "earliestAvailableId": 5}),
        ),
        (
            "replay_complete",
            json!({"replayedCount": 3, "lastEventId": 9}),
        ),
        (
            "session_snapshot",
            json!({"currentModelId": "m", "currentApprovalMode": "yolo", "recordingDegraded": true}),
        ),
        (
            "history_truncated",
            json!({"reason": "replay_window_exceeded", "truncatedEvents": 4, "retainedEvents": 2}),
        ),
        (
            "session_metadata_updated",
            json!({"sessionId": "s", "displayName": "d", "prs": []}),
        ),
        (
            "background_notification_turn_complete",
            json!({"reason": "r", "turnId": "t"}),
        ),
        (
            "followup_suggestion",
            json!({"sessionId": "s", "suggestion": "x", "promptId": "p"}),
        ),
        (
            "mid_turn_message_injected",
            json!({
                "sessionId": "s", "messages": ["m"], "messageIds": ["i"],
                "items": [{"content": [{"type": "text", "text": "m"}]}],
            }),
        ),
        (
            "session_rewound",
            json!({"promptId": "p", "targetTurnIndex": 1, "filesChanged": ["a"], "filesFailed": ["b"]}),
        ),
        (
            "session_branched",
            json!({"sourceSessionId": "s", "newSessionId": "n", "displayName": "d"}),
        ),
        (
            "session_recording_degraded",
            json!({"sessionId": "s", "reason": "write_failed"}),
        ),
        (
            "session_cwd_changed",
            json!({"previousCwd": "/a", "newCwd": "/b"}),
        ),
        ("user_shell_command", json!({"command": "ls", "cwd": "/a"})),
        (
            "user_shell_result",
            json!({"exitCode": null, "signal": "SIGTERM", "aborted": true, "error": "e"}),
        ),
        (
            "agent_changed",
            json!({"change": "created", "name": "n", "level": "project"}),
        ),
        (
            "artifact_changed",
            json!({
                "sessionId": "s",
                "change": {
                    "action": "removed", "artifactId": "a", "artifact": {"title": "t"},
                    "reason": "explicit", "durableTombstoneRequired": true,
                },
            }),
        ),
        (
            "auth_device_flow_started",
            json!({"deviceFlowId": "d", "providerId": "qwen-oauth", "expiresAt": 5}),
        ),
        (
            "auth_device_flow_throttled",
            json!({"deviceFlowId": "d", "intervalMs": 5000}),
        ),
        (
            "auth_device_flow_authorized",
            json!({"deviceFlowId": "d", "providerId": "p", "expiresAt": 5, "accountAlias": "jo"}),
        ),
        (
            "auth_device_flow_failed",
            json!({"deviceFlowId": "d", "errorKind": "expired_token", "hint": "h"}),
        ),
        ("auth_device_flow_cancelled", json!({"deviceFlowId": "d"})),
        (
            "channel_delivery_result",
            json!({
                "sessionId": "s", "deliveryId": "d", "source": "scheduled", "status": "failed",
                "promptId": "p", "taskId": "t", "firedAt": 5,
                "code": "channel_delivery_failed", "error": "e",
            }),
        ),
        (
            "extensions_changed",
            json!({
                "refreshed": 1, "failed": 0, "status": "installed", "source": "x", "name": "n",
                "version": "1", "error": "e",
            }),
        ),
        (
            "git_branch_changed",
            json!({"workspaceCwd": "/a", "branch": null}),
        ),
        (
            "git_status_changed",
            json!({
                "v": 2, "workspaceCwd": "/a", "branch": "main", "detached": false, "staged": 1,
                "unstaged": 2, "untracked": 3, "conflicted": 0, "hasUpstream": true, "ahead": 1,
                "behind": 0, "stashCount": 0, "operation": "merge", "computedAt": 5,
            }),
        ),
        (
            "github_setup_completed",
            json!({
                "releaseTag": "v1", "readmeUrl": "https://r", "secretsUrl": "https://s",
                "workflows": [{"path": "a.yml", "status": "written", "sizeBytes": 3, "error": "e"}],
                "gitignore": {"path": ".gitignore", "status": "created"}, "warnings": ["w"],
            }),
        ),
        (
            "language_changed",
            json!({
                "sessionId": "s", "language": "de", "outputLanguage": null, "refreshed": true,
                "userLevel": true,
            }),
        ),
        (
            "mcp_budget_warning",
            json!({
                "liveCount": 3, "reservedCount": 3, "budget": 4, "thresholdRatio": 0.75,
                "mode": "warn", "scope": "workspace",
            }),
        ),
        (
            "mcp_child_refused_batch",
            json!({
                "refusedServers": [{"name": "n", "transport": "stdio", "reason": "budget_exhausted"}],
                "budget": 1, "liveCount": 1, "reservedCount": 1, "mode": "enforce",
            }),
        ),
        (
            "mcp_server_added",
            json!({
                "name": "n", "transport": "http", "replaced": false, "shadowedSettings": true,
                "toolCount": 2, "originatorClientId": "c",
            }),
        ),
        (
            "mcp_server_changed",
            json!({"serverName": "n", "action": "enable", "originatorClientId": "c"}),
        ),
        (
            "mcp_server_removed",
            json!({"name": "n", "wasShadowingSettings": true, "originatorClientId": "c"}),
        ),
        (
            "mcp_server_restart_refused",
            json!({"serverName": "n", "reason": "restart_failed", "entryIndex": 0, "details": "d"}),
        ),
        (
            "mcp_server_restarted",
            json!({"serverName": "n", "durationMs": 5, "entryIndex": 0}),
        ),
        (
            "memory_changed",
            json!({
                "scope": "workspace", "filePath": "/a", "mode": "append", "bytesWritten": 4,
                "source": "x", "taskId": "t", "touchedScopes": ["user"],
            }),
        ),
        (
            "settings_changed",
            json!({
                "key": "model.name", "value": "the value", "scope": "workspace",
                "mutation": {"kind": "skill_toggle"},
            }),
        ),
        (
            "settings_reloaded",
            json!({
                "env": {"updatedKeys": ["A"], "removedKeys": ["B"]}, "changedKeys": ["model"],
                "childReloaded": true, "sessionsRefreshed": 1, "sessionsSkipped": 0,
                "childError": "e", "runtimeEnvironmentApplied": true,
            }),
        ),
        ("source_changed", json!({"sessionId": "s", "revision": 0})),
        ("terminal_sequence", json!({"terminalSequence": "\u{7}"})),
        ("tool_toggled", json!({"toolName": "t", "enabled": false})),
        (
            "trust_change_requested",
            json!({"workspaceCwd": "/a", "desiredState": "trusted", "reason": "r"}),
        ),
        (
            "workspace_initialized",
            json!({"path": "/a/QWEN.md", "action": "created"}),
        ),
    ]
}

fn event(kind: &str, data: &Value) -> DaemonEvent {
    let envelope = json!({"v": 1, "id": 1, "type": kind, "data": data});
    DaemonEvent::read(&envelope.to_string()).unwrap()
}

#[test]
fn every_known_type_has_an_example() {
    let shown: BTreeSet<&str> = examples().iter().map(|(kind, _)| *kind).collect();
    let known: BTreeSet<&str> = body::KNOWN.iter().copied().collect();
    assert_eq!(shown, known);
}

/// Adds a field that no version knows to an object and to all objects in it.
fn with_news(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: serde_json::Map<_, _> = fields
                .iter()
                .map(|(name, value)| (name.clone(), with_news(value)))
                .collect();
            fields.insert("brandNew".into(), json!({"a": [1, null]}));
            fields.into()
        }
        Value::Array(items) => items.iter().map(with_news).collect(),
        other => other.clone(),
    }
}

#[test]
fn what_is_read_is_written_again_as_it_came() {
    for (kind, data) in examples() {
        for data in [data.clone(), with_news(&data)] {
            let body = event(kind, &data).body();
            assert!(
                !matches!(body, EventBody::Unknown | EventBody::Malformed(_)),
                "{kind}: {body:?}"
            );
            // An update stands in an envelope of its own, which the event keeps.
            let data = data.get("update").unwrap_or(&data);
            assert_eq!(body.to_value().as_ref(), Some(data), "{kind}");
        }
    }
}

/// The examples whose data has fields that no type of ours names. Of all others every field is typed:
/// one that is written here with another name than the daemon's would be left over, too.
const LEFT_OVER: &[&str] = &[
    "turn_complete",
    "permission_already_resolved",
    "permission_partial_vote",
    "prompt_cancelled",
    "pending_prompt_added",
    "pending_prompt_started",
    "pending_prompt_completed",
    "model_switched",
    "approval_mode_changed",
    "session_died",
    "client_evicted",
    "history_truncated",
    "session_metadata_updated",
    "followup_suggestion",
    "mid_turn_message_injected",
    "session_recording_degraded",
    "artifact_changed",
    "mcp_budget_warning",
];

#[test]
fn the_fields_of_the_examples_are_typed() {
    let left_over: Vec<&str> = examples()
        .into_iter()
        .filter(|(kind, data)| {
            let shown = format!("{:?}", event(kind, data).body());
            shown.matches("rest: {").count() > shown.matches("rest: {}").count()
        })
        .map(|(kind, _)| kind)
        .collect();
    assert_eq!(left_over, LEFT_OVER);
}

#[test]
fn values_of_settings_and_names_of_accounts_are_not_in_debug_output() {
    for (kind, secret) in [
        ("settings_changed", "the value"),
        ("auth_device_flow_authorized", "\"jo\""),
    ] {
        let (_, data) = examples().into_iter().find(|(it, _)| *it == kind).unwrap();
        let event = event(kind, &data);
        for shown in [format!("{event:?}"), format!("{:?}", event.body())] {
            assert!(!shown.contains(secret) && shown.len() > 10, "{shown}");
        }
        assert!(event.text().contains(secret));
    }
}
