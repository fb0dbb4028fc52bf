//! Where the person is, as a place behind the name of a file.

use serde_json::{Value, json};
use testkit::PlayedAgent;

use crate::machine;

#[test]
fn a_place_may_stand_behind_the_file() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.hear();
    let path = machine.write("a.rs", "one\ntwo\nthree\n");
    let named = machine.write("a.rs:2", "x\n");
    let table = [
        ("a.rs:3", &path, json!({ "line": 3, "character": 1 })),
        ("a.rs:3:4", &path, json!({ "line": 3, "character": 4 })),
        // A file of that very name wins.
        ("a.rs:2", &named, Value::Null),
        ("a.rs:2:1", &named, json!({ "line": 1, "character": 1 })),
        ("a.rs:1:2:", &path, json!({ "line": 1, "character": 2 })),
    ];
    for (place, path, cursor) in table {
        machine.run(&["focus", place]).good();
        let heard = agent.hear();
        let file = &heard["params"]["workspaceState"]["openFiles"][0];
        assert_eq!(file["path"], **path, "{place}");
        assert_eq!(file["cursor"], cursor, "{place}");
    }
}

#[test]
fn a_place_that_the_file_does_not_have_is_refused() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    machine.write("a.rs", "one\ntwo\nthree\n");
    machine.write("one.rs", "é");
    let table: [(&[&str], i32, &str); 6] = [
        (&["a.rs:12"], 4, "there is no line 12: a.rs has 3 lines"),
        (
            &["a.rs", "--line", "12"],
            4,
            "there is no line 12: a.rs has 3 lines",
        ),
        (&["one.rs:2"], 4, "there is no line 2: one.rs has 1 line\n"),
        (
            &["a.rs:2:9"],
            4,
            "there is no column 9: line 2 of a.rs has 3 characters",
        ),
        (
            &["one.rs:1:5"],
            4,
            "there is no column 5: line 1 of one.rs has 1 character\n",
        ),
        (&["a.rs:2", "--line", "3"], 2, "has a line already"),
    ];
    for (args, code, part) in table {
        let done = machine.run(&[&["focus"], args].concat());
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.stderr.contains(part), "{args:?}: {done:?}");
    }
    // Behind the last newline there is a place for the cursor.
    machine.run(&["focus", "a.rs:4"]).good();
}
