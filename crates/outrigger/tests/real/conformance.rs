//! The official conformance suite of the Model Context Protocol against `/mcp`.
//!
//! Its scenarios are for a server with every feature of the protocol and with test tools of the
//! suite's own. [`APPLICABLE`] are those that mean something to a server with two tools and nothing
//! else; [`NOT_APPLICABLE`] says of each other one why it does not. Together they must be the whole
//! list of the suite, so that a new version of it cannot add one unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use testkit::{Clients, Household, Proxy, run_to_end};

use crate::PROGRAM;

const APPLICABLE: &[&str] = &[
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

const NO_LOGGING: &str = "the server sends no log messages, so it has no logging capability";
const NO_COMPLETION: &str = "there are no prompts or resources whose arguments could be completed";
const TEST_TOOL: &str = "calls a tool that only a test server has";
const NO_RESOURCES: &str = "the server offers no resources";
const NO_PROMPTS: &str = "the server offers no prompts";
const NO_ELICITATION: &str = "calls a test tool that asks the client questions; ours never do";
const NO_EVENT_IDS: &str = "calls a test tool that ends its stream to have it resumed by event id; \
                            published clients disconnect on the empty events this needs";

const NOT_APPLICABLE: &[(&str, &str)] = &[
    ("logging-set-level", NO_LOGGING),
    ("completion-complete", NO_COMPLETION),
    ("tools-call-simple-text", TEST_TOOL),
    ("tools-call-image", TEST_TOOL),
    ("tools-call-audio", TEST_TOOL),
    ("tools-call-embedded-resource", TEST_TOOL),
    ("tools-call-mixed-content", TEST_TOOL),
    ("tools-call-with-logging", TEST_TOOL),
    ("tools-call-error", TEST_TOOL),
    ("tools-call-with-progress", TEST_TOOL),
    ("tools-call-sampling", TEST_TOOL),
    ("tools-call-elicitation", NO_ELICITATION),
    ("json-schema-2020-12", TEST_TOOL),
    ("elicitation-sep1034-defaults", NO_ELICITATION),
    ("elicitation-sep1330-enums", NO_ELICITATION),
    ("server-sse-polling", NO_EVENT_IDS),
    ("resources-list", NO_RESOURCES),
    ("resources-read-text", NO_RESOURCES),
    ("resources-read-binary", NO_RESOURCES),
    ("resources-templates-read", NO_RESOURCES),
    ("resources-subscribe", NO_RESOURCES),
    ("resources-unsubscribe", NO_RESOURCES),
    ("prompts-list", NO_PROMPTS),
    ("prompts-get-simple", NO_PROMPTS),
    ("prompts-get-with-args", NO_PROMPTS),
    ("prompts-get-embedded-resource", NO_PROMPTS),
    ("prompts-get-with-image", NO_PROMPTS),
];

#[test]
fn every_applicable_scenario_passes() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let mut house = Household::with_companion(PROGRAM, &clients);
    let port = house.companion().port();
    let lock = house.home().join(format!(".qwen/ide/{port}.lock"));
    let lock: Value = serde_json::from_slice(&fs::read(lock).unwrap()).unwrap();
    // The suite has no way to be told a token.
    let proxy = Proxy::start(port, lock["authToken"].as_str().unwrap());
    let url = proxy.url("/mcp");

    let mut failures = String::new();
    for scenario in APPLICABLE {
        let results = house.temporary().join(scenario);
        let folder = results.to_str().unwrap();
        let arguments = [
            "server",
            "--url",
            &url,
            "--scenario",
            scenario,
            "-o",
            folder,
        ];
        let output = suite(&clients, &arguments);
        let checks = checks(&results);
        let passed = |status: &str| checks.iter().filter(|it| it["status"] == status).count();
        let harmless = passed("SUCCESS") + passed("INFO");
        if !output.status.success() || passed("SUCCESS") == 0 || harmless < checks.len() {
            failures += &format!("{scenario}: {output:?}\n{checks:#?}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn every_scenario_of_the_suite_is_accounted_for() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let output = suite(&clients, &["list", "--server"]);
    let listed = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next())
        .collect();
    let known = NOT_APPLICABLE.iter().map(|(name, _)| *name);
    let known: BTreeSet<&str> = known.chain(APPLICABLE.iter().copied()).collect();
    assert_eq!(listed, known);
}

fn suite(clients: &Clients, arguments: &[&str]) -> Output {
    let program = clients.commands().join("conformance");
    let mut command = Command::new(clients.node());
    command.arg(program).args(arguments);
    run_to_end(&mut command, "")
}

/// The single checks of the one scenario whose results are in `folder`.
fn checks(folder: &Path) -> Vec<Value> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("checks.json")).ok())
        .flat_map(|bytes| serde_json::from_slice::<Vec<Value>>(&bytes).unwrap())
        .collect()
}
