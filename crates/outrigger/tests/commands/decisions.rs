//! Deciding from a terminal or a script.

use serde_json::{Value, json};
use testkit::http::{Connection, Request};
use testkit::{Machine, PlayedAgent, finish};

use crate::machine;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const NEW: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n";

/// What the agent hears after `outrigger <args>`, with `stdin` to read; `told` is what the person is
/// told.
#[track_caller]
fn heard_after(
    machine: &Machine,
    agent: &mut PlayedAgent,
    args: &[&str],
    stdin: &[u8],
    told: &str,
) -> Value {
    let done = machine.run_with(args, stdin);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stderr, format!("outrigger: {told}\n"), "{args:?}");
    assert_eq!(done.stdout, "", "scripts get nothing to parse");
    agent.hear_verdict()
}

#[test]
fn each_way_to_decide_reaches_the_agent() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::gemini(&machine, &served);
    let path = machine.write("a.txt", OLD);
    let edited = "\u{feff}edited\r\nby hand";
    let file = machine.write("edited.txt", edited);
    let one_hunk = OLD.replace("one", "ONE");
    let other_hunk = OLD.replace("ten", "TEN");
    let whole = "accepted a.txt";
    let other = "accepted another text for a.txt";
    let table: [(&[&str], &[u8], &str, &str); 7] = [
        (&[], b"", NEW, whole),
        (
            &["--hunks", "1"],
            b"",
            &one_hunk,
            "accepted 1 of 2 hunks of a.txt",
        ),
        (
            &["--hunks", "2"],
            b"",
            &other_hunk,
            "accepted 1 of 2 hunks of a.txt",
        ),
        (
            &["--hunks", "2,1"],
            b"",
            NEW,
            "accepted 2 of 2 hunks of a.txt",
        ),
        (
            &["--hunks", "1-2"],
            b"",
            NEW,
            "accepted 2 of 2 hunks of a.txt",
        ),
        (&["--content-from", &file], b"", edited, other),
        (&["--content-from", "-"], edited.as_bytes(), edited, other),
    ];
    for (id, (args, stdin, text, told)) in (1..).zip(table) {
        agent.open_diff(&path, NEW);
        let id = id.to_string();
        let args = [&["accept", &id], args].concat();
        let heard = heard_after(&machine, &mut agent, &args, stdin, told);
        assert_eq!(heard["method"], "ide/diffAccepted", "{args:?}");
        assert_eq!(
            heard["params"],
            json!({ "filePath": path, "content": text }),
            "{args:?}"
        );
    }
    agent.open_diff(&path, NEW);
    let heard = heard_after(
        &machine,
        &mut agent,
        &["reject", "8"],
        b"",
        "rejected a.txt",
    );
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
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    assert_eq!(machine.run(&["proposals"]).good(), "nothing is pending\n");
    let path = machine.write("a.txt", OLD);
    agent.open_diff(&path, NEW);
    let new = machine.workspace().join("new.txt");
    agent.open_diff(new.to_str().unwrap(), "x\n");

    // Where this test runs, and as which process.
    let label = machine.sessions()[0]["label"].as_str().unwrap().to_owned();
    let clean = |text: String| text.replace(&label, "[label]");
    insta::assert_snapshot!(clean(machine.run(&["proposals"]).good()), @r#"
    1  qwen  a.txt  +2 −2  (2 hunks; [label])
    2  qwen  new.txt  +1 −0  (new file; [label])
    "#);
    // From elsewhere, the path says where it is.
    let mut elsewhere =
        machine.command(&["-C", machine.workspace().to_str().unwrap(), "proposals"]);
    elsewhere.current_dir(machine.home());
    let listed = finish(elsewhere, b"").good();
    assert!(listed.contains(&format!("  {path}  ")), "{listed}");
    insta::assert_snapshot!(machine.run(&["show", "1"]).good(), @r#"
    --- a.txt
    +++ a.txt
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
    insta::assert_snapshot!(machine.run(&["show", "2"]).good(), @r#"
    --- /dev/null
    +++ new.txt
    @@ -0,0 +1,1 @@ hunk 1
    +x
    "#);

    let list = machine.run(&["proposals", "--json"]).json();
    let first = &list[0];
    for (field, value) in [
        ("id", json!(1)),
        ("path", json!(path)),
        ("agent", json!("qwen")),
        ("session", json!(agent.session())),
        ("newFile", json!(false)),
        ("hunks", json!(2)),
        ("added", json!(2)),
        ("removed", json!(2)),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(list[1]["newFile"], true);
    let detail = machine.run(&["show", "1", "--json"]).json();
    assert_eq!(
        (&detail["original"], &detail["proposed"]),
        (&json!(OLD), &json!(NEW))
    );
    let created = machine.run(&["show", "2", "--json"]).json();
    assert_eq!(created.get("original"), None);
}

#[test]
fn what_an_agent_cannot_do_is_refused_and_stays_pending() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::gemini(&machine, &served);
    let path = machine.write("a.txt", OLD);
    agent.open_diff(&path, NEW);
    let binary = machine.write("a.bin", b"\xff\xfe");
    agent.open_diff(&binary, "text");
    let table: [(&[&str], &[u8], &str); 7] = [
        (&["accept", "9"], b"", "not open"),
        (&["reject", "9"], b"", "not open"),
        (&["show", "9"], b"", "not open"),
        (&["accept", "1", "--content-from", "-"], b"", "empty text"),
        (
            &["accept", "1", "--content-from", "-"],
            b"\xff",
            "not UTF-8",
        ),
        (
            &["accept", "1", "--hunks", "1-3"],
            b"",
            "there is no hunk 3; choose from 1 to 2",
        ),
        (&["accept", "2"], b"", "agent's own prompt"),
    ];
    for (args, stdin, part) in table {
        let done = machine.run_with(args, stdin);
        assert_eq!(done.code, 4, "{args:?}: {done:?}");
        assert!(done.stderr.contains(part), "{args:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("outrigger: "), "{}", done.stderr);
    }
    let pending = machine.run(&["proposals", "--json"]).json();
    assert_eq!(pending.as_array().unwrap().len(), 2);
    assert!(
        pending[1]["terminalOnly"]
            .as_str()
            .unwrap()
            .contains("UTF-8")
    );
    machine.run(&["accept", "1"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], NEW);
    machine.run(&["reject", "2"]).good();
    assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
}

#[test]
fn keeping_no_hunk_is_the_file_as_it_is() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "\u{feff}crlf\r\nno end");
    agent.open_diff(&path, "\u{feff}CRLF\r\nno end\r\n");
    let shown = machine.run(&["show", "1", "--json"]).json();
    assert_eq!(shown["original"], "\u{feff}crlf\r\nno end");
    machine.run(&["accept", "1", "--hunks", "1"]).good();
    let heard = agent.hear_verdict();
    assert_eq!(heard["params"]["content"], "\u{feff}CRLF\r\nno end\r\n");
}

#[test]
fn a_hostile_agent_cannot_write_to_the_persons_terminal() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff("/x/\u{1b}]0;title\u{7}\r\u{202e}", "x");
    for command in ["proposals", "status"] {
        let listed = machine.run(&[command]).good();
        let bad = listed.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(bad, None, "{listed:?}");
    }
}

#[test]
fn commands_find_the_companion_from_below_its_folder_and_by_name() {
    let machine = machine();
    let below = machine.workspace().join("deep/er");
    std::fs::create_dir_all(&below).unwrap();
    let _served = machine.start_companion(&[]);
    let mut command = machine.command(&["proposals"]);
    command.current_dir(&below);
    assert_eq!(finish(command, b"").good(), "nothing is pending\n");
    let mut command = machine.command(&["--folder", below.to_str().unwrap(), "proposals"]);
    command.current_dir("/");
    assert_eq!(finish(command, b"").good(), "nothing is pending\n");
    let mut command = machine.command(&["proposals"]);
    command.current_dir(machine.home());
    assert_eq!(finish(command, b"").code, 3);
}

/// What somebody has typed on a page, and the commands of somebody who has not looked there.
#[test]
fn what_is_shown_is_what_accept_takes() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "old\n");
    agent.open_diff(&path, "new\n");
    let shown = machine.run(&["show"]).good();
    assert!(shown.ends_with("\n-old\n+new\n"), "{shown}");

    let host = format!("127.0.0.1:{}", served.port());
    let secret = machine.record()["secret"].as_str().unwrap().to_owned();
    let draft = Request::new("PUT", "/api/proposals/1/draft")
        .header("host", &host)
        .header("authorization", &format!("Bearer {secret}"))
        .header("content-type", "application/json")
        .body(r#"{"content":"edited\n"}"#);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let status = runtime.unwrap().block_on(async {
        let page = Connection::open(served.port()).await;
        page.status(&draft).await
    });
    assert_eq!(status, 200);

    let told = machine.run(&["show", "1"]);
    assert!(told.stderr.contains("what `outrigger accept 1` takes"));
    let shown = told.good();
    assert!(shown.ends_with("\n-old\n+edited\n"), "{shown}");
    let proposed = machine.run(&["show", "1", "--proposed"]).good();
    assert!(proposed.ends_with("\n-old\n+new\n"), "{proposed}");
    machine.run(&["accept", "1"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], "edited\n");
}
