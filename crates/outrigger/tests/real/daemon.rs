//! `outrigger daemon` against the published daemon, in a real terminal where a person is needed.

use std::process::{Command, Output};

use ::daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, SessionChoice};
use ::daemon::wire::ApprovalMode;
use ::daemon::{DisconnectMode, Token};
use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use conversation::backend::{Backend, SessionTarget};
use serde_json::Value;
use testkit::{Call, Clients, Daemon, Household, Key, TOKEN, Terminal, run_to_end, soon};

use crate::{PROGRAM, unasking_household};

/// A machine with a daemon, and somebody who talks to it on the command line.
struct Desk {
    daemon: Daemon,
    house: Household,
}

impl Desk {
    fn new() -> Option<Desk> {
        Some(Desk::in_house(Household::new(PROGRAM, &Clients::find()?)))
    }

    fn in_house(house: Household) -> Desk {
        let daemon = house.start_daemon(&house.workspace(), 0);
        let desk = Desk { daemon, house };
        // The first conversation starts the agent. The daemon gives it ten seconds, which is not
        // enough on a machine that is busy enough.
        testkit::wait_for(
            "the agent behind the daemon",
            || {
                desk.run(&["prompt", "hello"], "")
                    .status
                    .success()
                    .then_some(())
            },
            || "no turn succeeds".into(),
        );
        desk
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.house.command(&[&["daemon"], words].concat());
        command.envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut environment = self.house.environment();
        environment.push(("QWEN_IDE_DAEMON_URL".into(), self.daemon.url()));
        environment.push(("QWEN_SERVER_TOKEN".into(), TOKEN.into()));
        environment
    }

    fn run(&self, words: &[&str], input: &str) -> Output {
        run_to_end(&mut self.command(words), input)
    }

    /// The standard output of a command that has to succeed.
    fn good(&self, words: &[&str]) -> String {
        let output = self.run(words, "");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {complaints}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same in a terminal, with a person in front of it.
    fn sit_down(&self, words: &[&str]) -> Terminal {
        let words = [&[PROGRAM, "daemon"], words].concat();
        Terminal::start(&words, &self.house.workspace(), &self.environment())
    }

    /// From now on `mark` makes the agent write a file.
    fn writes(&self, mark: &str, file: &str) {
        let write = Call::write(self.house.path(file), "written\n");
        self.house.model.on(mark, vec![vec![write]]);
    }
}

#[test]
fn what_is_there_and_what_was_said_is_listed() {
    let Some(desk) = Desk::new() else { return };
    let status: Value = serde_json::from_str(&desk.good(&["status", "--json"])).unwrap();
    let folder = desk.house.workspace();
    assert_eq!(status["workspaces"][0], folder.to_str().unwrap());
    assert_eq!(status["version"], "0.24.4");
    let status = desk.good(&["status"]);
    assert!(status.contains(&desk.daemon.url()), "{status}");
    assert!(!status.contains(TOKEN), "{status}");
    let sessions: Value = serde_json::from_str(&desk.good(&["sessions", "--json"])).unwrap();
    let id = sessions[0]["id"].as_str().unwrap().to_owned();
    assert!(desk.good(&["sessions"]).contains(&id));
    // An earlier conversation goes on.
    desk.house.model.on("AGAIN", vec![]);
    let said = desk.good(&["prompt", "once AGAIN", "--session", &id]);
    assert!(said.contains("DONE AGAIN"), "{said}");
}

#[test]
fn a_person_is_asked_in_the_terminal() {
    let Some(desk) = Desk::new() else { return };
    for (key, is_written) in [("y", true), ("n", false)] {
        let (mark, file) = (format!("WRITE-{key}"), format!("{key}.txt"));
        desk.writes(&mark, &file);
        let mut terminal =
            desk.sit_down(&["prompt", &format!("please {mark}"), "--yes-to-edits=no"]);
        terminal.wait_until("the question", |screen| {
            screen.contains("The agent asks") && screen.contains("+written")
        });
        assert_eq!(desk.house.read(&file), None);
        terminal.type_keys(key);
        terminal.press(Key::Enter);
        terminal.ended();
        assert_eq!(desk.house.read(&file).is_some(), is_written);
        let shown = terminal.screen();
        // A refusal ends the turn; the model is not asked again.
        assert_eq!(
            shown.contains(&format!("DONE {mark}")),
            is_written,
            "{shown}"
        );
        let state = if is_written { "completed" } else { "failed" };
        assert!(shown.contains(state), "{shown}");
    }
}

#[test]
fn nobody_there_means_no_and_a_flag_means_yes() {
    let Some(desk) = Desk::new() else { return };
    desk.writes("NOBODY", "nobody.txt");
    let output = desk.run(&["prompt", "please NOBODY"], "");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(complaints.contains("nobody answers"), "{complaints}");
    assert_eq!(desk.house.read("nobody.txt"), None);
    desk.writes("FLAG", "flag.txt");
    let lines = desk.good(&["prompt", "please FLAG", "--json", "--yes-to-edits=yes"]);
    assert_eq!(desk.house.read("flag.txt").unwrap(), b"written\n");
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].to_string())
        .collect();
    for kind in ["connected", "asked", "closed", "tool", "said", "turnEnded"] {
        assert!(
            kinds.contains(&format!("\"{kind}\"")),
            "{kind} in {kinds:?}"
        );
    }
    for secret in [TOKEN, &desk.daemon.url(), "client_"] {
        assert!(!lines.contains(secret), "{secret} in {lines}");
    }
}

#[test]
fn ctrl_c_leaves_a_request_open_and_it_can_be_answered_later() {
    let Some(desk) = Desk::new() else { return };
    desk.writes("WAIT", "later.txt");
    let mut terminal = desk.sit_down(&["prompt", "please WAIT"]);
    terminal.wait_until("the question", |screen| screen.contains("The agent asks"));
    terminal.press(Key::CtrlC);
    terminal.ended();
    let shown = terminal.screen();
    assert!(shown.contains("the request stays open"), "{shown}");
    assert_eq!(desk.house.read("later.txt"), None);
    // The daemon knows it too: the turn waits.
    let status: Value = serde_json::from_str(&desk.good(&["status", "--json"])).unwrap();
    assert_eq!(status["pendingPermissions"], 1, "{status}");

    let mut terminal = desk.sit_down(&["answer"]);
    terminal.wait_until("the same question", |screen| {
        screen.contains("The agent asks") && screen.contains("+written")
    });
    terminal.type_keys("y");
    terminal.press(Key::Enter);
    terminal.ended();
    let shown = terminal.screen();
    assert!(shown.contains("DONE WAIT"), "{shown}");
    assert_eq!(desk.house.read("later.txt").unwrap(), b"written\n");
    let status: Value = serde_json::from_str(&desk.good(&["status", "--json"])).unwrap();
    assert_eq!(status["activePrompts"], 0, "{status}");
    assert_eq!(status["pendingPermissions"], 0, "{status}");
}

/// The only client leaves as every one of ours does, while the agent waits for its answer.
#[test]
fn a_request_outlives_the_last_client_that_detaches() {
    let Some(desk) = Desk::new() else { return };
    desk.writes("LEFT", "left.txt");
    let status = || -> Value { serde_json::from_str(&desk.good(&["status", "--json"])).unwrap() };
    let before_it = status()["sessions"].clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (connection, mut events) = IdeConnection::new();
        let options = ConnectOptions {
            address: desk.daemon.url().parse().unwrap(),
            token: Some(Token::new(TOKEN).unwrap()),
            workspace: Some(desk.house.workspace()),
            session: SessionChoice::New,
            approval_mode: Some(ApprovalMode::Default),
            ..ConnectOptions::default()
        };
        connection.connect(options).await.unwrap();
        connection.send_prompt("please LEFT").await.unwrap();
        let asked =
            async { while !matches!(events.next().await, Some(IdeEvent::RequestOpened(_))) {} };
        soon("the request", asked).await;
        connection.disconnect(DisconnectMode::Detach).await.unwrap();
    });
    let waits = status();
    assert_eq!(waits["pendingPermissions"], 1, "{waits}");
    let output = desk.run(&["answer"], "y\n");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(desk.house.read("left.txt").unwrap(), b"written\n");
    // Nobody is in it any more, and nothing waits.
    testkit::until("the end of the conversation", || {
        (status()["sessions"] == before_it).then_some(())
    });
}

/// The person's own settings of the agent ask nobody, and the daemon goes by them.
#[test]
fn an_agent_asks_in_what_a_command_begins_unless_the_person_chose_another_mode() {
    let Some(house) = unasking_household() else {
        return;
    };
    let desk = Desk::in_house(house);
    let says = |words: &[&str], mark: &str, file: &str| {
        desk.writes(mark, file);
        let output = desk.run(
            &[&["prompt", &format!("please {mark}")], words].concat(),
            "",
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (said, desk.house.read(file).is_some())
    };
    let sessions =
        || -> Value { serde_json::from_str(&desk.good(&["sessions", "--json"])).unwrap() };
    // One of its own, the one that all share, and one that comes back from disk.
    let earlier = sessions()[0]["id"].as_str().unwrap().to_owned();
    for (at, words) in [&[][..], &["--shared"], &["--session", &earlier]]
        .into_iter()
        .enumerate()
    {
        let (said, is_written) = says(words, &format!("ASKED-{at}"), &format!("{at}.txt"));
        assert!(said.contains("nobody answers"), "{words:?}: {said}");
        assert!(!is_written, "{words:?}: {said}");
        assert!(!said.contains("reviewed"), "{words:?}: {said}");
    }

    // The person has chosen another mode: by a flag, and in the configuration.
    let (said, is_written) = says(&["--mode", "auto-edit"], "FLAG", "flag.txt");
    assert!(is_written, "{said}");
    assert!(said.contains("its edits are not reviewed"), "{said}");
    assert!(!said.contains("nobody answers"), "{said}");
    let configuration = desk.house.home().join(".config/outrigger");
    std::fs::create_dir_all(&configuration).unwrap();
    let text = "[daemon]\nmode = 'auto-edit'\n";
    std::fs::write(configuration.join("config.toml"), text).unwrap();
    let (said, is_written) = says(&[], "FILE", "file.txt");
    assert!(is_written, "{said}");
    assert!(said.contains("its edits are not reviewed"), "{said}");
    // It asks before it runs something, as it was said.
    let touch = Call::shell("touch ran");
    desk.house.model.on("RUN", vec![vec![touch]]);
    let output = desk.run(&["prompt", "please RUN"], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nobody answers"), "{said}");
    assert!(!desk.house.path("ran").exists());
}

#[test]
fn what_the_agent_has_there_is_shown_without_its_secrets() {
    let Some(desk) = Desk::new() else { return };
    let report: Value = serde_json::from_str(&desk.good(&["runtime", "--json"])).unwrap();
    let folder = desk.house.workspace().display().to_string();
    assert_eq!(report["folder"], folder.as_str());
    let names = |part: &str| -> Vec<String> {
        let list = report[part].as_array().unwrap().iter();
        list.map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(names("tools").contains(&"write_file".into()), "{report:#}");
    assert!(!names("skills").is_empty(), "{report:#}");
    assert!(!names("checks").is_empty(), "{report:#}");
    let model = report["model"].as_str().unwrap();
    assert!(model.contains("openai"), "{report:#}");
    let shown = desk.good(&["runtime"]);
    for part in [folder.as_str(), model, "write_file", "skills", "MCP server"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // The address of the provider is among what the daemon tells, and its key is set here.
    let provider = format!("127.0.0.1:{}", desk.house.model.port());
    for told in [shown, report.to_string()] {
        assert!(!told.contains(&provider), "{told}");
        assert!(!told.contains("baseUrl"), "{told}");
    }
}

#[test]
fn files_are_seen_as_the_agent_sees_them() {
    let Some(desk) = Desk::new() else { return };
    let long = "a line of a long file, é\r\n\n".repeat(22_000);
    desk.house.write("notes.txt", &long);
    let noise: Vec<u8> = (0..=255).cycle().take(600_000).collect();
    std::fs::write(desk.house.path("noise"), &noise).unwrap();
    std::fs::create_dir(desk.house.path("folder")).unwrap();
    desk.house.write("folder/odd name\u{1b}.txt", "one\r\ntwo");
    let listed: Value = serde_json::from_str(&desk.good(&["files", "--json"])).unwrap();
    let entry = |name: &str| {
        let mut entries = listed.as_array().unwrap().iter();
        entries.find(|it| it["name"] == name).cloned()
    };
    assert_eq!(entry("folder").unwrap()["isFolder"], true);
    assert_eq!(entry("notes.txt").unwrap()["isFolder"], false);
    let inside = desk.good(&["files", "folder/"]);
    assert!(inside.contains("odd name"), "{inside}");
    assert!(!inside.contains('\u{1b}'), "{inside:?}");
    // The daemon gives 256 KiB at most. Lines and characters lie across the cuts.
    assert!(desk.good(&["read", "notes.txt"]) == long);
    assert!(desk.run(&["read", "noise"], "").stdout == noise);
    assert_eq!(
        desk.good(&["read", "folder/odd name\u{1b}.txt"]),
        "one\r\ntwo"
    );
    for outside in ["../secret", "/etc/passwd", "a/../../b", "", "folder"] {
        let refused = desk.run(&["read", outside], "");
        assert!(!refused.status.success(), "{outside}");
    }
    let absent = desk.run(&["read", "absent.txt"], "");
    assert!(!absent.status.success());
}

/// What goes with a prompt and is not here to read: another machine's files cannot be had in a test, so
/// the backend is asked itself.
#[test]
fn a_long_file_that_only_the_agent_has_is_read_whole() {
    let Some(desk) = Desk::new() else { return };
    let folder = desk.house.workspace();
    let long = "a line of a long file, é\r\n\n".repeat(22_000);
    for (name, text) in [
        ("long.txt", long.as_bytes()),
        ("huge.txt", &vec![b'a'; (1 << 20) + 1]),
        ("noise", &[0, 255]),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut backend = DaemonBackend::new(DaemonSettings {
            address: desk.daemon.url().parse().unwrap(),
            token: Some(Token::new(TOKEN).unwrap()),
            workspace: folder.clone(),
            program: "no-such-program".into(),
            mode: ApprovalMode::Default,
            model: None,
            session: ::daemon::SessionSettings::default(),
            timeouts: ::daemon::Timeouts::default(),
        });
        backend.connect(SessionTarget::New).await.unwrap();
        let limit = 1 << 20;
        let read = backend.read(folder.join("long.txt"), limit).await;
        assert!(read.unwrap() == long);
        for (name, why) in [
            ("huge.txt", "it is larger than 1048576 bytes"),
            ("noise", "it is not UTF-8 text"),
        ] {
            let refused = backend.read(folder.join(name), limit).await;
            assert_eq!(refused.unwrap_err().why, why);
        }
        for (name, is_there) in [("long.txt", true), ("absent.txt", false), ("../x", false)] {
            let told = backend.has_file(folder.join(name)).await;
            assert_eq!(told.unwrap(), is_there, "{name}");
        }
        backend.close().await.unwrap();
    });
}
