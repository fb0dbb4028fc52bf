//! Files that are not here, and are read through the daemon.

use conversation::{Prompt, Trouble, TroubleKind};
use serde_json::json;
use testkit::fake_daemon::{FakeDaemon, SESSION, stand};
use workbench::Privacy;

use crate::scene::{Machine, Talk};

/// What the published daemon gives of a file at a time.
const PART: usize = 256 * 1024;

fn with_file(name: &str) -> Prompt {
    Prompt {
        text: "look".into(),
        files: vec![name.into()],
        ..Prompt::default()
    }
}

/// Why this file cannot go with a prompt.
async fn refused(talk: &Talk, name: &str) -> String {
    let Trouble { kind, why, .. } = talk.conversation.prompt(with_file(name)).await.unwrap_err();
    assert_eq!(kind, TroubleKind::NotAttached, "{why}");
    why
}

/// The text of what went with each prompt.
fn attached(daemon: &FakeDaemon) -> Vec<String> {
    let prompts = daemon.requests(&format!("POST /session/{SESSION}/prompt"));
    let text = |prompt: &testkit::fake_daemon::Seen| {
        let block = &prompt.body["prompt"][1]["resource"]["text"];
        block.as_str().unwrap_or("nothing").to_owned()
    };
    prompts.iter().map(text).collect()
}

#[tokio::test]
async fn a_file_of_any_size_up_to_the_limit_is_put_together_from_its_parts() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let long = "é and a line\r\n".repeat(60_000);
    let texts = [
        String::new(),
        "tea".into(),
        "a".repeat(PART),
        "a".repeat(PART + 1),
        long,
        "a".repeat(4 * PART),
    ];
    for (at, text) in texts.iter().enumerate() {
        let name = format!("there {at}.txt");
        daemon.world().files.write(&name, text.as_bytes());
        talk.conversation.prompt(with_file(&name)).await.unwrap();
    }
    // Whatever is between the parts, a character or a line, comes out as it was.
    assert!(attached(&daemon) == texts);
}

#[tokio::test]
async fn what_cannot_go_with_a_prompt_is_said_as_it_is() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let mut cut = "é".repeat(PART).into_bytes();
    cut.pop();
    for (name, bytes, why) in [
        (
            "large",
            vec![b'a'; 4 * PART + 1],
            "larger than 1048576 bytes",
        ),
        ("cut", cut, "it is not UTF-8 text"),
        ("noise", vec![0, 255], "it is not UTF-8 text"),
    ] {
        daemon.world().files.write(name, bytes);
        let said = refused(&talk, name).await;
        assert!(said.contains(why), "{said}");
    }
    // Nothing was read of the one that is too large.
    let reads = daemon.requests("GET /file/bytes");
    assert!(reads.iter().all(|read| !read.query.contains("path=large")));
    let folder = json!({"kind": "stat", "path": "src", "type": "directory"});
    stand(&daemon, "GET /stat", 200, &folder);
    let said = refused(&talk, "src").await;
    assert!(said.contains("it is not a file"), "{said}");
    assert!(attached(&daemon).is_empty());
}

/// The daemon tells size and time of a file, which are asked for before its first part and after its
/// last one.
#[tokio::test]
async fn parts_of_two_states_of_a_file_do_not_go_together() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let size = 2 * PART;
    let before = |size: usize, modified: u32| {
        let stat =
            json!({"path": "log.txt", "type": "file", "sizeBytes": size, "modifiedMs": modified});
        testkit::fake_daemon::http(200, "", &stat.to_string())
    };
    let part = |offset: usize, length: usize| part("log.txt", offset, length, size);
    daemon.world().files.write("log.txt", vec![b'a'; size]);
    // It grows, it shrinks, or it is written anew and is as long as before.
    for (stat, parts) in [
        (before(size - 1, 1), vec![]),
        (before(size + 1, 1), vec![]),
        (before(size, 7), vec![]),
        (before(size, 1), vec![part(0, PART), part(PART, 10)]),
        (before(size, 1), vec![part(0, PART), part(PART, 0)]),
    ] {
        daemon.answer_next("GET /stat", stat);
        for part in parts {
            daemon.answer_next("GET /file/bytes", part);
        }
        let said = refused(&talk, "log.txt").await;
        assert!(said.contains("it changed while it was read"), "{said}");
        daemon.world().forget_scripted();
    }
    talk.conversation
        .prompt(with_file("log.txt"))
        .await
        .unwrap();
    assert_eq!(attached(&daemon)[0].len(), size);
}

/// The answer with a part of a file that is nothing but the letter a.
fn part(path: &str, offset: usize, length: usize, size: usize) -> Vec<u8> {
    // `YWFh` are three letters.
    assert!(length % 3 <= 1);
    let text = "YWFh".repeat(length / 3) + if length % 3 == 1 { "YQ==" } else { "" };
    let part = json!({"path": path, "offset": offset, "sizeBytes": size, "truncated": true, "contentBase64": text});
    testkit::fake_daemon::http(200, "", &part.to_string())
}

/// The daemon is asked for one file, and answers about another one.
#[tokio::test]
async fn another_file_than_the_one_that_was_named_does_not_go_with_a_prompt() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    for (route, foreign) in ["GET /stat", "GET /file/bytes"]
        .into_iter()
        .flat_map(|route| {
            ["other.txt", "/etc/passwd", "../there.txt", ""].map(|foreign| (route, foreign))
        })
    {
        daemon.world().files.write("there.txt", "tea");
        let answer =
            json!({"path": foreign, "type": "file", "sizeBytes": 3, "contentBase64": "dGVh"});
        stand(&daemon, route, 200, &answer);
        refused(&talk, "there.txt").await;
        daemon.world().standing.remove(route);
    }
    talk.conversation
        .prompt(with_file("there.txt"))
        .await
        .unwrap();
    assert_eq!(attached(&daemon), ["tea"]);
}

/// What the person may share is judged in their folder, and the agent reads in its own. Since the
/// companion serves another folder, these are two.
#[tokio::test]
async fn a_file_of_another_folder_than_the_agents_is_not_read_in_the_agents() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.world().files.write("x.txt", "of the first folder");
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().canonicalize().unwrap();
    let privacy = Privacy::new(std::slice::from_ref(&folder), &[], &[]);
    let moved = machine.companion.desk.ask(move |state| {
        state.set_privacy(privacy);
        state.workbench_mut().set_roots(vec![folder]);
    });
    moved.await.unwrap();
    let said = refused(&talk, "x.txt").await;
    assert!(
        said.contains("not in the folder that the agent works in"),
        "{said}"
    );
    let mentioned = Prompt {
        text: "look at @x.txt".into(),
        mentions: true,
        ..Prompt::default()
    };
    talk.conversation.prompt(mentioned).await.unwrap();
    assert_eq!(attached(&daemon), ["nothing"]);
    for route in ["GET /stat", "GET /file/bytes", "GET /file"] {
        assert!(daemon.requests(route).is_empty(), "{route}");
    }
}

#[tokio::test]
async fn a_text_names_what_the_daemon_has() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.world().files.write("there.txt", "tea");
    let mentioned = Prompt {
        text: "@there.txt @nowhere.txt".into(),
        mentions: true,
        ..Prompt::default()
    };
    talk.conversation.prompt(mentioned).await.unwrap();
    assert_eq!(attached(&daemon), ["tea"]);
}

/// Each missing answer takes as long as a request may.
#[tokio::test]
async fn a_daemon_that_does_not_answer_is_asked_for_one_name_only() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.world().files.write("there.txt", "tea");
    daemon.answer_next("GET /stat", "no answer");
    let mentioned = Prompt {
        text: "@a.txt @b.txt @there.txt".into(),
        mentions: true,
        ..Prompt::default()
    };
    talk.conversation.prompt(mentioned).await.unwrap();
    assert_eq!(daemon.requests("GET /stat").len(), 1);
    assert_eq!(attached(&daemon), ["nothing"]);
}

#[tokio::test]
async fn what_only_the_agents_side_has_can_be_chosen() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let matches = json!(["there", "there/tea.txt", "there/.env"]);
    let found = json!({"pattern": "", "matches": matches, "truncated": false});
    stand(&daemon, "GET /glob", 200, &found);
    let offered = talk.conversation.files("There".into()).await.unwrap();
    assert_eq!(offered, ["there/tea.txt"]);
    let asked = daemon.requests("GET /glob").pop().unwrap().query;
    assert!(asked.contains("maxResults=200"), "{asked}");
    assert!(!asked.contains("includeIgnored"), "{asked}");
}
