//! The examples of the documentation, run as they stand.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use outrigger_daemon::wire::{NewSession, SessionScope};
use outrigger_daemon::{Session, SessionEvents, SessionSettings};
use testkit::{Call, PATIENCE, TOKEN, soon};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::conversations::complete;
use crate::house::{House, end_of, once_it_has_an_agent};

/// An example that runs. It is ended when this is dropped.
struct Example {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Example {
    fn start<'a>(
        house: &House,
        name: &str,
        arguments: impl IntoIterator<Item = &'a OsStr>,
    ) -> Example {
        let mut child = Command::new(path(name))
            .args(arguments)
            .current_dir(house.workspace())
            .env("QWEN_SERVER_TOKEN", TOKEN)
            .env("QWEN_IDE_DAEMON_URL", house.daemon.url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Example { child, lines }
    }

    /// The lines up to one that has this text.
    async fn until(&mut self, text: &str) -> Vec<String> {
        let mut read = Vec::new();
        let reading = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                let found = line.contains(text);
                read.push(line);
                if found {
                    return true;
                }
            }
            false
        };
        let found = tokio::time::timeout(PATIENCE, reading).await;
        assert!(found == Ok(true), "no {text:?} in {read:#?}");
        read
    }

    async fn type_line(&mut self, line: &str) {
        let typed = format!("{line}\n");
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(typed.as_bytes()).await.unwrap();
    }

    async fn end(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// Cargo builds the examples along with the tests, into the folder beside theirs.
fn path(example: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().parent().unwrap();
    built.join("examples").join(example)
}

#[tokio::test]
async fn the_chat_of_the_documentation() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made");
    house
        .model
        .speak("WRITE", vec![vec![write]])
        .say("Written, as you said.");
    let mut chat = Example::start(&house, "chat", ["please WRITE".as_ref()]);
    // Whoever is asked reads the line when it is their turn.
    chat.type_line("y").await;
    let said = chat.until("Written, as you said.").await.join("\n");
    assert!(said.contains("made.txt"), "{said}");
    let status = soon("the chat ends", chat.child.wait()).await.unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "made");
}

/// The session that the clients of a folder share.
async fn shared(house: &House) -> (Session, SessionEvents) {
    let new = NewSession {
        session_scope: Some(SessionScope::Single),
        ..NewSession::default()
    };
    let open = async || Session::open(house.client(), &new, SessionSettings::default()).await;
    once_it_has_an_agent(open).await
}

#[tokio::test]
async fn the_permission_dialog_answers_for_whoever_prompts() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("made.txt");
    let writes = vec![
        vec![Call::write(&file, "made")],
        vec![Call::questions()],
        vec![Call::shell("touch refused")],
    ];
    house.model.on("WORK", writes);
    let (session, _events) = shared(&house).await;
    let mut dialog = Example::start(&house, "permissions", []);
    dialog.until("waiting for the agent").await;
    let turn = session.prompt("please WORK").await.unwrap();
    // Each answer is the number of an option, as it is shown.
    let number = |shown: &[String], title: &str| -> String {
        let found = shown.iter().find(|line| line.contains(title));
        let found = found.unwrap_or_else(|| panic!("no {title} in {shown:#?}"));
        found.trim().split('.').next().unwrap().to_owned()
    };
    let shown = dialog.until("3. ").await;
    assert!(shown.concat().contains("made.txt"), "{shown:#?}");
    dialog.type_line(&number(&shown, "\"Allow\"")).await;
    let shown = dialog.until("2. ").await;
    dialog.type_line(&number(&shown, "Submit")).await;
    dialog.type_line("Tea").await;
    dialog.type_line("Coffee").await;
    let shown = dialog.until("4. ").await;
    dialog.type_line(&number(&shown, "\"Reject\"")).await;
    assert_eq!(end_of(turn).await, complete());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "made");
    assert!(!house.model.requests_containing("Coffee").is_empty());
    assert!(!house.workspace().join("refused").exists());
    dialog.end().await;
}

#[tokio::test]
async fn the_tail_goes_on_where_it_was() {
    let Some(house) = House::open() else { return };
    for mark in ["FIRST", "SECOND", "THIRD"] {
        house.model.speak(mark, vec![]).say(&format!("said {mark}"));
    }
    let (session, _events) = house.session().await;
    let place = house.path("place.json");
    let arguments = [session.id().as_str().as_ref(), place.as_os_str()];
    let talk = async |mark: &str| {
        let turn = session.prompt(mark).await.unwrap();
        assert_eq!(end_of(turn).await, complete());
    };
    let mut tail = Example::start(&house, "tail", arguments);
    tail.until("--- now").await;
    talk("FIRST").await;
    let first = tail.until("turn_complete").await.join("\n");
    assert!(first.contains("said FIRST"), "{first}");
    tail.end().await;
    // While nobody looks.
    talk("SECOND").await;
    let mut tail = Example::start(&house, "tail", arguments);
    talk("THIRD").await;
    let mut rest: Vec<String> = Vec::new();
    while !rest.concat().contains("said THIRD") {
        rest.extend(tail.until("turn_complete").await);
    }
    let rest = rest.join("\n");
    assert!(rest.contains("said SECOND"), "{rest}");
    assert!(!rest.contains("history"), "{rest}");
    assert!(!rest.contains("said FIRST"), "{rest}");
    tail.end().await;
}
