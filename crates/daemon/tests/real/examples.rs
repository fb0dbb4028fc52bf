//! The example of the documentation, run as it stands.

use std::process::Stdio;

use testkit::{Call, PATIENCE, TOKEN};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::house::House;

#[tokio::test]
async fn the_chat_of_the_documentation() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made");
    house
        .model
        .speak("WRITE", vec![vec![write]])
        .say("Written, as you said.");
    // Cargo builds the examples along with the tests, into the folder beside theirs.
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().parent().unwrap();
    let mut chat = Command::new(built.join("examples/chat"))
        .arg("please WRITE")
        .current_dir(house.workspace())
        .env("QWEN_SERVER_TOKEN", TOKEN)
        .env("QWEN_IDE_DAEMON_URL", house.daemon.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // Whoever is asked reads the line when it is their turn.
    chat.stdin.take().unwrap().write_all(b"y\n").await.unwrap();
    let output = tokio::time::timeout(PATIENCE, chat.wait_with_output());
    let output = output.await.expect("the chat ends").unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("made.txt"), "{text}");
    assert!(text.contains("Written, as you said."), "{text}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "made");
}
