//! Tokens stand in private files and in `outrigger env`, and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;
use testkit::{Machine, PlayedAgent};

use crate::machine;

#[test]
fn nothing_that_is_printed_or_visible_to_others_holds_a_token() {
    let machine = machine();
    let mut served = machine.start_companion(&["--log", "trace"]);
    let mut agent = PlayedAgent::gemini(&machine, &served);
    let path = machine.write("a.txt", "old");
    agent.open_diff(&path, "new");
    let mut printed = String::new();
    let commands: [&[&str]; 10] = [
        &["status"],
        &["status", "--json"],
        &["proposals"],
        &["proposals", "--json"],
        &["show", "1", "--json"],
        &["focus", &path],
        &["accept", "1"],
        &["config"],
        &["url"],
        &["restart"],
    ];
    for args in commands {
        let done = machine.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        printed += &(done.stdout + &done.stderr);
    }
    agent.hear_out();
    agent.listen();
    agent.hear();
    let arguments = fs::read(format!("/proc/{}/cmdline", served.pid())).unwrap();
    let environment = fs::read(format!("/proc/{}/environ", served.pid())).unwrap();
    printed += &String::from_utf8_lossy(&[arguments, environment].concat());
    let secrets = secrets(&machine);
    assert!(
        secrets.len() >= 5,
        "each agent's, the commands' and the page's"
    );
    assert!(secrets.contains(&machine.gemini_token(served.port())));
    served.signal(rustix::process::Signal::TERM);
    served.ended();
    printed += &served.printed();
    assert!(
        printed.contains("TRACE") || printed.contains("DEBUG") || printed.contains("INFO"),
        "{printed}"
    );
    for secret in &secrets {
        assert!(!printed.contains(secret), "a token is in what was printed");
    }
}

#[test]
fn what_holds_a_token_is_for_its_user_only() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    PlayedAgent::qwen(&machine, &served).open_diff("/x", "private words");
    let state = machine.home().join(".local/state/outrigger");
    let mut seen = 0;
    each_file(&state, &mut |path| {
        let text = fs::read_to_string(path).unwrap();
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        if !text.is_empty() {
            seen += 1;
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    });
    assert!(seen > 0);
    let mode = fs::metadata(&state).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn an_agents_token_opens_no_door_but_its_own() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let agent = PlayedAgent::qwen(&machine, &served);
    assert_eq!(agent.knock(), 200);
    for (method, path) in [
        ("GET", "/api/status"),
        ("GET", "/api/environment"),
        ("GET", "/api/proposals/1"),
        ("POST", "/api/proposals/1/accept"),
        ("POST", "/api/focus"),
        ("GET", "/api/live"),
        ("GET", "/api/events"),
        ("PUT", "/api/proposals/1/draft"),
        ("POST", "/api/links"),
        ("POST", "/api/stop"),
        ("POST", "/api/restart"),
    ] {
        assert_eq!(agent.knock_at(method, path), 401, "{method} {path}");
    }
    for secret in secrets(&machine) {
        let owner = PlayedAgent::stranger(served.port(), &secret);
        let status = owner.knock_at("GET", "/api/status");
        let mcp = owner.knock();
        assert!(
            [(200, 401), (401, 400)].contains(&(status, mcp)),
            "{status} {mcp}"
        );
    }
}

/// Every secret of the companions on this machine.
fn secrets(machine: &Machine) -> Vec<String> {
    let mut found = Vec::new();
    each_file(
        &machine.home().join(".local/state/outrigger"),
        &mut |path| {
            if path
                .file_name()
                .is_some_and(|name| name == "companion.json")
            {
                let record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                for token in record["tokens"].as_array().unwrap() {
                    found.push(token[1].as_str().unwrap().to_owned());
                }
                for key in ["secret", "page"] {
                    found.push(record[key].as_str().unwrap().to_owned());
                }
            }
        },
    );
    found
}

fn each_file(folder: &Path, look: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, look);
        } else {
            look(&path);
        }
    }
}
