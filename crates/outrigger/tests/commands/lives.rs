//! From the start of a companion to its end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Companion, PlayedAgent, until};

use crate::machine;

#[test]
fn one_line_tells_programs_where_it_is_and_nothing_secret() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let line = served.ready_line();
    assert_eq!(line.lines().count(), 1);
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(ready["pid"], served.pid());
    assert_eq!(ready["port"], served.port());
    assert_eq!(ready["roots"], json!([machine.workspace()]));
    for token in [
        machine.qwen_token(served.port()),
        machine.gemini_token(served.port()),
    ] {
        assert_eq!(token.len(), 64);
        assert!(!line.contains(&token));
    }
}

#[test]
fn without_a_command_it_serves_and_tells_people_so() {
    let machine = machine();
    let served = Companion::start(machine.command(&["--json"]));
    assert_eq!(machine.status()["pid"], served.pid());
    drop(served);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let free = port.local_addr().unwrap().port();
    drop(port);
    let served = machine.start_companion(&["--port", &free.to_string()]);
    assert_eq!(served.port(), free);
}

#[test]
fn discovery_files_say_everything_and_are_private() {
    let machine = machine();
    let served = machine.start_companion(&["--name", "My Editor"]);
    let (pid, port) = (served.pid(), served.port());
    let files = machine.discovery_files(port);
    let expected = [
        machine.home().join(format!(".qwen/ide/{port}.lock")),
        machine.home().join(format!(".qwen/ide/{pid}-{port}.lock")),
        machine
            .temporary()
            .join(format!("gemini/ide/gemini-ide-server-{pid}-{port}.json")),
        machine
            .temporary()
            .join(format!("gemini/ide/qwen-code-ide-server-{pid}-{port}.json")),
        machine
            .temporary()
            .join(format!("qwen/ide/qwen-code-ide-server-{pid}-{port}.json")),
    ];
    for path in &expected {
        assert!(
            files.contains(path),
            "{} is missing: {files:?}",
            path.display()
        );
    }
    for path in &files {
        let facts = fs::symlink_metadata(path).unwrap();
        assert!(facts.is_file());
        assert_eq!(
            facts.permissions().mode() & 0o777,
            0o600,
            "{}",
            path.display()
        );
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("null"), "{text}");
        let file: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(file["port"], port);
        assert_eq!(file["workspacePath"], machine.workspace().to_str().unwrap());
        assert_eq!(file["ppid"], pid);
        let info = json!({ "name": "my-editor", "displayName": "My Editor" });
        assert_eq!(file["ideInfo"], info);
        assert_eq!(file["authToken"].as_str().unwrap().len(), 64);
    }
    assert_ne!(machine.qwen_token(port), machine.gemini_token(port));
}

#[test]
fn several_folders_are_one_string() {
    let machine = machine();
    let second = machine.temporary().join("second");
    fs::create_dir(&second).unwrap();
    let first = machine.workspace();
    let dirs = [first.to_str().unwrap(), second.to_str().unwrap()];
    let served = machine.start_companion(&[dirs[0], dirs[1], dirs[0]]);
    let lock = machine
        .home()
        .join(format!(".qwen/ide/{}.lock", served.port()));
    let file: Value = serde_json::from_slice(&fs::read(lock).unwrap()).unwrap();
    assert_eq!(file["workspacePath"], format!("{}:{}", dirs[0], dirs[1]));
    let below = machine.run(&["-C", dirs[1], "proposals"]);
    assert_eq!(below.good(), "nothing is pending\n");
}

#[test]
fn every_way_out_takes_the_files_away_and_ends_streams_cleanly() {
    for way in ["TERM", "INT", "HUP", "stop"] {
        let machine = machine();
        let mut served = machine.start_companion(&[]);
        let mut agent = PlayedAgent::qwen(&machine, &served);
        assert!(!machine.discovery_files(served.port()).is_empty());
        match way {
            "TERM" => served.signal(Signal::TERM),
            "INT" => served.signal(Signal::INT),
            "HUP" => served.signal(Signal::HUP),
            _ => drop(machine.run(&["stop"]).good()),
        }
        let heard = agent.hear_out();
        assert!(
            heard.iter().all(|block| !block.starts_with("retry")),
            "{way}"
        );
        // They go first: nobody should find a companion that is about to leave.
        let left = machine.discovery_files(served.port());
        assert!(left.is_empty(), "{way}: {left:?}");
        assert_eq!(served.ended().code(), Some(0), "{way}");
        assert_eq!(
            machine.run(&["status", "--json"]).json(),
            json!({ "companions": [] })
        );
    }
}

#[test]
fn it_lives_no_longer_than_the_process_it_is_for() {
    let machine = machine();
    let mut editor = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut served = machine.start_companion(&["--parent", &editor.id().to_string()]);
    let lock = machine
        .home()
        .join(format!(".qwen/ide/{}.lock", served.port()));
    let file: Value = serde_json::from_slice(&fs::read(lock).unwrap()).unwrap();
    assert_eq!(file["ppid"], editor.id());
    editor.kill().unwrap();
    editor.wait().unwrap();
    assert_eq!(served.ended().code(), Some(0));
    assert!(machine.discovery_files(served.port()).is_empty());
}

#[test]
fn it_notices_when_that_process_is_a_zombie() {
    let machine = machine();
    let mut editor = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut served = machine.start_companion(&["--parent", &editor.id().to_string()]);
    // Nobody collects it yet: many who start an editor do so late, or never.
    editor.kill().unwrap();
    let ended = served.ended();
    editor.wait().unwrap();
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn files_that_somebody_deletes_or_overwrites_come_back() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let files = machine.discovery_files(served.port());
    let before: Vec<_> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    for path in &files {
        fs::remove_file(path).unwrap();
    }
    let back = || (machine.discovery_files(served.port()) == files).then_some(());
    until("all files are back", back);
    fs::remove_dir_all(machine.temporary().join("gemini")).unwrap();
    until("the folder is back", back);
    let after: Vec<_> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(after, before);
    PlayedAgent::gemini(&machine, &served).hear();
}

#[test]
fn a_second_one_says_who_serves_the_folder_and_gives_a_link() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let below = machine.path("below");
    fs::create_dir(&below).unwrap();
    let (port, pid) = (served.port(), served.pid());
    let says = format!("Outrigger (process {pid}) serves this folder on port {port}\n");
    for folder in [&machine.workspace(), &below] {
        let done = machine.run(&["-C", folder.to_str().unwrap()]);
        assert_eq!(done.stderr, says);
        let link = done.good();
        let page = format!("  review in the browser: http://127.0.0.1:{port}/#");
        assert!(
            link.starts_with(&page) && link.lines().count() == 1,
            "{link}"
        );
    }
    assert_eq!(machine.status()["pid"], pid);
    let ready = machine.run(&["--json"]).json();
    assert_eq!(ready["alreadyRunning"], true);
    assert_eq!(ready["port"], port);
    assert_eq!(ready["pid"], pid);
    assert!(!served.ready_line().contains("alreadyRunning"));
    // What it cannot have is said, with what to do.
    let same = port.to_string();
    for (flags, named) in [
        (&["--port", &same, "--no-open"][..], None),
        (&["--port", "1", "--daemon"], Some("--port, --daemon")),
        (
            &["--agents", "qwen", "--ignore", "x"],
            Some("--agents, --ignore"),
        ),
        (&["--name", "X", "--parent", "1"], Some("--parent, --name")),
    ] {
        let done = machine.run(flags);
        assert_eq!(done.code, 0, "{done:?}");
        let said = named.map(|named| format!("{named} cannot be applied"));
        let is_said =
            |said: String| done.stderr.contains(&said) && done.stderr.contains("`outrigger stop`");
        assert!(said.is_none_or(is_said), "{done:?}");
        assert_eq!(
            named.is_some(),
            done.stderr.contains("cannot be applied"),
            "{done:?}"
        );
    }
}

#[test]
fn folders_that_are_served_in_part_get_a_companion_of_their_own() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let other = machine.temporary().join("other");
    fs::create_dir(&other).unwrap();
    let dirs = [machine.workspace(), other];
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
    let both = machine.start_companion(&dirs);
    assert_ne!(both.port(), served.port());
    drop(both);
    assert_eq!(machine.status()["port"], served.port());
}

#[test]
fn those_who_start_at_once_start_one() {
    let machine = machine();
    let mut starting: Vec<_> = (0..5)
        .map(|_| {
            let mut command = machine.command(&["--json"]);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let ready = |child: &mut std::process::Child| -> Value {
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let ready: Vec<_> = starting.iter_mut().map(ready).collect();
    let first = ready.iter().filter(|it| it["alreadyRunning"] != true);
    assert_eq!(first.count(), 1, "{ready:?}");
    assert!(
        ready.iter().all(|it| it["port"] == ready[0]["port"]),
        "{ready:?}"
    );
    assert_eq!(machine.status()["port"], ready[0]["port"]);
    machine.run(&["stop"]).good();
    for child in &mut starting {
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_companion_that_is_told_to_stop_makes_room_for_the_next() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &first);
    let path = machine.write("a.txt", "old");
    agent.open_diff(&path, "new");
    machine.run(&["stop"]).good();
    // It may not have ended yet.
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), first.port());
    assert_eq!(machine.status()["pid"], second.pid());
    first.ended();
}

#[test]
fn nested_folders_are_two_services_that_know_of_each_other() {
    let machine = machine();
    let below = machine.path("below");
    fs::create_dir(&below).unwrap();
    let [above, below] = [machine.workspace(), below].map(|it| it.to_str().unwrap().to_owned());
    let inner = machine.start_companion(&[&below]);
    let outer = machine.start_companion(&[]);
    assert_ne!(inner.port(), outer.port());
    let mut agent = PlayedAgent::qwen(&machine, &inner);
    for name in ["below/a.txt", "below/b.txt"] {
        let path = machine.write(name, "old");
        agent.open_diff(&path, "new");
    }
    let listed = machine.run(&["proposals"]);
    let says =
        format!("outrigger: 2 more proposals in {below}; see `outrigger -C {below} proposals`\n");
    assert_eq!(
        (listed.stdout.as_str(), listed.stderr),
        ("nothing is pending\n", says)
    );
    let listed = machine.run(&["-C", &below, "proposals"]);
    assert_eq!(
        (listed.stdout.lines().count(), listed.stderr.as_str()),
        (2, "")
    );
    let mut agent = PlayedAgent::qwen(&machine, &outer);
    let path = machine.write("c.txt", "old");
    agent.open_diff(&path, "new");
    let listed = machine.run(&["-C", &below, "proposals"]);
    assert!(
        listed
            .stderr
            .contains(&format!("1 more proposal in {above};")),
        "{listed:?}"
    );
}

#[test]
fn people_see_who_is_there_and_what_waits() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let idle = machine.run(&["status"]).good();
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "1\n2\n3\n");
    agent.open_diff(&path, "new");
    machine.run(&["focus", &machine.write(".env", "")]).good();
    machine.run(&["focus", &path, "--line", "3"]).good();
    agent.hear_until_active(&path);
    let busy = machine.run(&["status"]).good();
    // Where this test runs, and as which process.
    let label = machine.sessions()[0]["label"].as_str().unwrap().to_owned();
    let clean = |text: String| {
        let problems = text.lines().filter(|line| !line.contains("problem: "));
        let text = problems.collect::<Vec<_>>().join("\n");
        text.replace(machine.workspace().to_str().unwrap(), "/w")
            .replace(&format!("port {}", served.port()), "port [port]")
            .replace(&served.pid().to_string(), "[pid]")
            .replace(&label, "[label]")
            .replace(env!("CARGO_PKG_VERSION"), "[version]")
    };
    insta::assert_snapshot!(clean(idle), @r#"
    /w
      Outrigger · port [port] · process [pid] · version [version]
      no agent is connected
      pending proposals: 0
    "#);
    insta::assert_snapshot!(clean(busy), @r#"
    /w
      Outrigger · port [port] · process [pid] · version [version]
      [label] · connected
      pending proposals: 1
      * a.txt:3:1
      held back from agents: 1 file (1 secret, 0 ignored, 0 outside the workspace)
    "#);
}

/// The kernel says of a process whether it runs, but when it was started is read from a file.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_is_not_taken_for_gone_when_no_file_can_be_opened() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    use testkit::http::{Connection, Request};

    let machine = machine();
    let served = machine.start_companion(&[]);
    let path = machine.write("a.txt", "old");
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&path, "new");
    let secret = machine.record()["secret"].as_str().unwrap().to_owned();
    let request = |method: &str, path: &str| {
        Request::new(method, path)
            .header("host", &format!("127.0.0.1:{}", served.port()))
            .header("authorization", &format!("Bearer {secret}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let status = runtime.block_on(async {
        let mut person = Connection::open(served.port()).await;
        let listed = person.request(&request("GET", "/api/proposals")).await;
        assert_eq!(listed.json()[0]["id"], 1);
        let pid = Pid::from_raw(served.pid().try_into().unwrap());
        let none_left = Rlimit {
            current: Some(0),
            ..getrlimit(Resource::Nofile)
        };
        prlimit(pid, Resource::Nofile, none_left).unwrap();
        let reject = request("POST", "/api/proposals/1/reject");
        let status = person.request(&reject).await.status;
        prlimit(pid, Resource::Nofile, getrlimit(Resource::Nofile)).unwrap();
        status
    });
    assert_eq!(status, 200);
    assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
}

/// It cannot be found any more, and two would write into one journal.
#[test]
fn a_companion_whose_place_was_taken_ends_and_leaves_the_place_alone() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    let path = machine.write("a.txt", "old\n");
    first.signal(Signal::STOP);
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folder = fs::read_dir(companions).unwrap().next().unwrap().unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    let second = machine.start_companion(&[]);
    let mut agent = PlayedAgent::connect(second.port(), &machine.qwen_token(second.port()));
    agent.open_diff(&path, "new\n");
    let proposals = machine.proposals();
    let record = machine.record();
    first.signal(Signal::CONT);
    assert!(first.ended().success(), "{}", first.printed());
    assert!(first.printed().contains("has taken the place"));
    assert_eq!(machine.record(), record);
    assert_eq!(machine.status()["pid"], second.pid());
    assert_eq!(
        machine.discovery_files(first.port()),
        [""; 0].map(PathBuf::from)
    );
    machine.accept(&proposals[0]);
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

/// The folder of the first has another name than that of the second, so neither is in the other's way.
#[test]
fn a_companion_that_was_not_found_gives_way_to_the_one_that_was_started_then() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    first.signal(Signal::STOP);
    fs::remove_dir_all(machine.home().join(".local/state/outrigger")).unwrap();
    let second = machine.start_companion(&[]);
    first.signal(Signal::CONT);
    assert!(first.ended().success(), "{}", first.printed());
    assert!(first.printed().contains("another companion was started"));
    assert_eq!(machine.status()["pid"], second.pid());
    assert_eq!(
        machine.discovery_files(first.port()),
        [""; 0].map(PathBuf::from)
    );
    assert!(!machine.discovery_files(second.port()).is_empty());
}

/// It is asked to end before it has noticed. What it says then must not be taken for the other's word.
#[test]
fn a_companion_whose_place_was_taken_does_not_end_the_other_with_itself() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    first.signal(Signal::STOP);
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folder = fs::read_dir(companions).unwrap().next().unwrap().unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    let second = machine.start_companion(&[]);
    let record = machine.record();
    first.signal(Signal::TERM);
    first.signal(Signal::CONT);
    assert!(first.ended().success(), "{}", first.printed());
    assert_eq!(machine.record(), record);
    assert_eq!(machine.status()["pid"], second.pid());
}
