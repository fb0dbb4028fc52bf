//! Files that the person changes while an agent waits for a decision about them.

use serde_json::json;
use testkit::{Machine, PlayedAgent};

use crate::machine;

const BASE: &str = "# Project\n\nOne.\n\nTwo.\n";
const PROPOSED: &str = "# Project\n\nOne.\n\nTWO.\n";
/// With a paragraph that the person has added and saved in the meantime.
const PRESENT: &str = "# Project\n\nMy own paragraph.\n\nOne.\n\nTwo.\n";
const MERGED: &str = "# Project\n\nMy own paragraph.\n\nOne.\n\nTWO.\n";

/// A command that was refused, and the reason.
#[track_caller]
fn refused(machine: &Machine, args: &[&str]) -> String {
    let done = machine.run(args);
    assert_eq!(done.code, 4, "{done:?}");
    done.stderr
}

#[test]
fn a_paragraph_that_was_saved_in_the_meantime_survives_an_accept() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("README.md", BASE);
    agent.open_diff(&path, PROPOSED);
    machine.write("README.md", PRESENT);

    let why = refused(&machine, &["accept", "1"]);
    assert!(why.contains("has changed since you looked"), "{why}");
    // To say yes again is not to have looked.
    refused(&machine, &["accept", "1", "--hunks", "1"]);
    let listed = machine.run(&["proposals"]).good();
    assert!(listed.contains("the file has changed since"), "{listed}");

    let shown = machine.run(&["show", "1"]);
    assert!(shown.stderr.contains("has changed since the agent read it"));
    let shown = shown.good();
    assert!(shown.contains("@@ -4,4 +4,4 @@"), "{shown}");
    assert!(shown.ends_with("\n-Two.\n+TWO.\n"), "{shown}");
    machine.run(&["accept", "1"]).good();
    let heard = agent.hear_verdict();
    assert_eq!(
        heard["params"],
        json!({ "filePath": path, "content": MERGED })
    );
}

#[test]
fn a_conflict_is_resolved_or_rejected() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::gemini(&machine, &served);
    let path = machine.write("README.md", BASE);
    for id in ["1", "2", "3"] {
        machine.write("README.md", BASE);
        agent.open_diff(&path, PROPOSED);
        machine.write("README.md", BASE.replace("Two.", "2."));
        let shown = machine.run(&["show", id]).good();
        assert!(shown.contains("+<<<<<<< in the file now\n"), "{shown}");
        let why = refused(&machine, &["accept", id]);
        assert!(why.contains("one place is in conflict"), "{why}");
        let listed = machine.run(&["proposals"]).good();
        assert!(listed.contains("1 conflict"), "{listed}");
        let expected = match id {
            "1" => {
                let resolved = machine.write("resolved", BASE.replace("Two.", "TWO, or 2."));
                machine
                    .run(&["accept", id, "--content-from", &resolved])
                    .good();
                Some(BASE.replace("Two.", "TWO, or 2."))
            }
            // The person keeps what is there.
            "2" => {
                machine.run(&["accept", id, "--content-from", &path]).good();
                Some(BASE.replace("Two.", "2."))
            }
            _ => {
                machine.run(&["reject", id]).good();
                None
            }
        };
        let heard = agent.hear_verdict();
        assert_eq!(heard["params"]["content"].as_str(), expected.as_deref());
    }
}
