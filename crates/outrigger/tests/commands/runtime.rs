//! `outrigger daemon runtime` when much is wrong where the daemon runs.

use serde_json::{Value, json};
use testkit::fake_daemon::{TOKEN, stand};

use crate::following::{Scene, encoded};

#[test]
fn what_is_wrong_is_said_without_what_the_daemon_quotes() {
    let scene = Scene::set();
    let secret = format!("npx server --key sk-key at http://user:pw@10.0.0.7/mcp?k=1, {TOKEN}");
    let errors = json!([{"kind": "init", "errorKind": "init_timeout", "error": secret, "hint": format!("wait, {TOKEN}")}]);
    let answers = [
        (
            "preflight",
            json!({"v": 1, "errors": errors, "cells": [
                {"kind": "git", "status": "ok"},
                {"kind": "ripgrep", "status": "error", "error": secret, "errorKind": "missing_file", "hint": format!("install it, {TOKEN}")},
                {"kind": "npm", "status": "error", "error": secret},
            ]}),
        ),
        (
            "mcp",
            json!({"v": 1, "servers": [
                {"name": format!("remote {TOKEN}"), "status": "error", "transport": "http", "error": secret},
            ]}),
        ),
        (
            "providers",
            json!({"v": 1, "current": {"modelId": format!("m {TOKEN}")}, "providers": []}),
        ),
        (
            "tools",
            json!({"v": 1, "tools": [{"name": format!("t {TOKEN}")}]}),
        ),
        (
            "env",
            json!({"v": 1, "cells": [{"kind": "runtime", "value": format!("node {TOKEN}")}, {"kind": "env_var", "name": "A_KEY", "present": true}]}),
        ),
    ];
    let folder = encoded(&scene.machine.workspace().display().to_string());
    let route = |name: &str| format!("GET /workspaces/{folder}/{name}");
    for (name, answer) in &answers {
        stand(&scene.daemon, &route(name), 200, answer);
    }
    let refusal = json!({"error": secret, "code": "internal"});
    stand(&scene.daemon, &route("skills"), 500, &refusal);

    let shown = scene.run(&["runtime"]).good();
    let report = scene.run(&["runtime", "--json"]).json();
    for told in [shown.clone(), report.to_string()] {
        for part in ["sk-key", "npx", "user:pw", "10.0.0.7", TOKEN, "127.0.0.1"] {
            assert!(!told.contains(part), "{part}: {told}");
        }
    }
    for part in [
        "1 of 3 are fine",
        "ripgrep error: missing_file; install it, [hidden]",
        "npm error: an error, which the daemon describes where it runs",
        "remote [hidden] error over http: an error, which",
        "not known: checks: init_timeout; wait, [hidden]",
        "not known: skills: ",
        "model: m [hidden]",
        "environment: runtime node [hidden]",
        "A_KEY",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(report["checks"][0]["error"], Value::Null);
}
