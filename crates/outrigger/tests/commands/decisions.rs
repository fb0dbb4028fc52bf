//! Deciding from a terminal or a script.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::sandbox::Sandbox;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const NEW: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n";

/// What the agent hears after `outrigger <args>`, with `stdin` to read.
#[track_caller]
fn heard_after(sandbox: &Sandbox, agent: &mut Agent, args: &[&str], stdin: &[u8]) -> Value {
    let done = sandbox.run_with(args, stdin);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stdout, "", "scripts get nothing to parse");
    agent.hear_verdict()
}

#[test]
fn each_way_to_decide_reaches_the_agent() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::gemini(&sandbox, &served);
    let path = sandbox.file("a.txt", OLD);
    let edited = "\u{feff}edited\r\nby hand";
    let file = sandbox.file("edited.txt", edited);
    let one_hunk = OLD.replace("one", "ONE");
    let other_hunk = OLD.replace("ten", "TEN");
    let table: [(&[&str], &[u8], &str); 6] = [
        (&[], b"", NEW),
        (&["--hunks", "1"], b"", &one_hunk),
        (&["--hunks", "2"], b"", &other_hunk),
        (&["--hunks", "2,1"], b"", NEW),
        (&["--content-from", &file], b"", edited),
        (&["--content-from", "-"], edited.as_bytes(), edited),
    ];
    for (id, (args, stdin, text)) in (1..).zip(table) {
        agent.open_diff(&path, NEW);
        let id = id.to_string();
        let args = [&["accept", &id], args].concat();
        let heard = heard_after(&sandbox, &mut agent, &args, stdin);
        assert_eq!(heard["method"], "ide/diffAccepted", "{args:?}");
        assert_eq!(
            heard["params"],
            json!({ "filePath": path, "content": text }),
            "{args:?}"
        );
    }
    agent.open_diff(&path, NEW);
    let heard = heard_after(&sandbox, &mut agent, &["reject", "7"], b"");
    assert_eq!(
        heard,
        json!({ "jsonrpc": "2.0", "method": "ide/diffRejected", "params": { "filePath": path } })
    );
    assert_eq!(agent.hear_verdict()["method"], "ide/diffClosed");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        OLD,
        "the agent writes, not we"
    );
}

#[test]
fn what_is_pending_can_be_listed_and_shown() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    assert_eq!(sandbox.run(&["proposals"]).good(), "nothing is pending\n");
    let path = sandbox.file("a.txt", OLD);
    agent.open_diff(&path, NEW);
    let new = sandbox.work.join("new.txt");
    agent.open_diff(new.to_str().unwrap(), "x\n");

    let clean = |text: String| text.replace(sandbox.work.to_str().unwrap(), "/w");
    insta::assert_snapshot!(clean(sandbox.run(&["proposals"]).good()), @r#"
    1  qwen    /w/a.txt  (2 hunks)
    2  qwen    /w/new.txt  (new file)
    "#);
    insta::assert_snapshot!(clean(sandbox.run(&["show", "1"]).good()), @r#"
    --- /w/a.txt
    +++ /w/a.txt
    @@ -1,4 +1,4 @@ hunk 1
    -one
    +ONE
     two
     three
     four
    @@ -7,4 +7,4 @@ hunk 2
     seven
     eight
     nine
    -ten
    +TEN
    "#);
    insta::assert_snapshot!(clean(sandbox.run(&["show", "2"]).good()), @r#"
    --- /dev/null
    +++ /w/new.txt
    @@ -0,0 +1,1 @@ hunk 1
    +x
    "#);

    let list = sandbox.run(&["proposals", "--json"]).json();
    let first = &list[0];
    for (field, value) in [
        ("id", json!(1)),
        ("path", json!(path)),
        ("agent", json!("qwen")),
        ("session", json!(agent.session())),
        ("newFile", json!(false)),
        ("hunks", json!(2)),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(list[1]["newFile"], true);
    let detail = sandbox.run(&["show", "1", "--json"]).json();
    assert_eq!(
        (&detail["original"], &detail["proposed"]),
        (&json!(OLD), &json!(NEW))
    );
    let created = sandbox.run(&["show", "2", "--json"]).json();
    assert_eq!(created.get("original"), None);
}

#[test]
fn what_an_agent_cannot_do_is_refused_and_stays_pending() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::gemini(&sandbox, &served);
    let path = sandbox.file("a.txt", OLD);
    agent.open_diff(&path, NEW);
    let binary = sandbox.file("a.bin", b"\xff\xfe");
    agent.open_diff(&binary, "text");
    let table: [(&[&str], &[u8], &str); 8] = [
        (&["accept", "9"], b"", "not open"),
        (&["reject", "9"], b"", "not open"),
        (&["show", "9"], b"", "not open"),
        (&["accept", "1", "--content-from", "-"], b"", "empty text"),
        (
            &["accept", "1", "--content-from", "-"],
            b"\xff",
            "not UTF-8",
        ),
        (&["accept", "1", "--hunks", "3"], b"", "3"),
        (&["accept", "1", "--hunks", "0"], b"", "0"),
        (&["accept", "2"], b"", "agent's own prompt"),
    ];
    for (args, stdin, part) in table {
        let done = sandbox.run_with(args, stdin);
        assert_eq!(done.code, 4, "{args:?}: {done:?}");
        assert!(done.stderr.contains(part), "{args:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("outrigger: "), "{}", done.stderr);
    }
    let pending = sandbox.run(&["proposals", "--json"]).json();
    assert_eq!(pending.as_array().unwrap().len(), 2);
    assert!(
        pending[1]["terminalOnly"]
            .as_str()
            .unwrap()
            .contains("UTF-8")
    );
    sandbox.run(&["accept", "1"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], NEW);
    sandbox.run(&["reject", "2"]).good();
    assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
}

#[test]
fn keeping_no_hunk_is_the_file_as_it_is() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    let path = sandbox.file("a.txt", "\u{feff}crlf\r\nno end");
    agent.open_diff(&path, "\u{feff}CRLF\r\nno end\r\n");
    let shown = sandbox.run(&["show", "1", "--json"]).json();
    assert_eq!(shown["original"], "\u{feff}crlf\r\nno end");
    sandbox.run(&["accept", "1", "--hunks", "1"]).good();
    let heard = agent.hear_verdict();
    assert_eq!(heard["params"]["content"], "\u{feff}CRLF\r\nno end\r\n");
}

#[test]
fn a_hostile_agent_cannot_write_to_the_persons_terminal() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    agent.open_diff("/x/\u{1b}]0;title\u{7}\r\u{202e}", "x");
    for command in ["proposals", "status"] {
        let listed = sandbox.run(&[command]).good();
        let bad = listed.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(bad, None, "{listed:?}");
    }
}

#[test]
fn commands_find_the_companion_from_below_its_folder_and_by_name() {
    let sandbox = Sandbox::new();
    let below = sandbox.work.join("deep/er");
    std::fs::create_dir_all(&below).unwrap();
    let _served = sandbox.serve(&[]);
    let mut command = sandbox.command(&["proposals"]);
    command.current_dir(&below);
    assert_eq!(
        crate::sandbox::finish(command, b"").good(),
        "nothing is pending\n"
    );
    let mut command = sandbox.command(&["--folder", below.to_str().unwrap(), "proposals"]);
    command.current_dir("/");
    assert_eq!(
        crate::sandbox::finish(command, b"").good(),
        "nothing is pending\n"
    );
    let mut command = sandbox.command(&["proposals"]);
    command.current_dir(&sandbox.home);
    assert_eq!(crate::sandbox::finish(command, b"").code, 3);
}
