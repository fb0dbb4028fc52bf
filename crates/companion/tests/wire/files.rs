//! What an agent may name in a proposal, and what comes of it.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{InProcessCompanion, soon};
use workbench::{Agent, Decision, Original, Refusal, Standing};

use crate::diffs::text_of;

/// Files that cannot be shown, by the words that say why.
fn unshowable(companion: &InProcessCompanion) -> Vec<(String, &'static str)> {
    let pipe = companion.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let large = companion.path("large");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    vec![
        (
            companion.file("latin1.txt", b"caf\xe9"),
            "is not UTF-8 text",
        ),
        (
            companion.file("picture.png", b"\x89PNG\0\0"),
            "is not UTF-8 text",
        ),
        (companion.file("nul.txt", b"a\0b"), "is not UTF-8 text"),
        (companion.path(""), "is not a regular file"),
        (String::new(), "is not a regular file"),
        ("/dev/zero".into(), "is not a regular file"),
        ("/dev/stdin".into(), "is not a regular file"),
        (pipe, "is not a regular file"),
        (large, "is larger than 67108864 bytes"),
    ]
}

#[tokio::test]
async fn qwen_is_told_why_a_file_cannot_be_shown_and_asks_in_its_terminal() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    for (path, why) in unshowable(&companion) {
        let answer = soon(&path, qwen.open_diff(&path, "new")).await;
        let answer = answer.json();
        assert_eq!(answer["result"]["isError"], true, "{path}");
        let text = text_of(&answer);
        assert!(
            text.contains(why) && text.contains("terminal"),
            "{path}: {text}"
        );
        // The client sends this one even after a refusal.
        let closed = qwen.close_diff(&path).await;
        assert_eq!(text_of(&closed.json()), "{}");
    }
    assert!(companion.proposals().await.is_empty());
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn gemini_would_lose_the_edit_and_so_hears_of_success() {
    let companion = InProcessCompanion::start();
    let mut gemini = companion.listener(Agent::Gemini).await;
    for (n, (path, why)) in (1..).zip(unshowable(&companion)) {
        let answer = soon(&path, gemini.open_diff(&path, "new")).await;
        assert_eq!(answer.json()["result"], json!({ "content": [] }), "{path}");
        let pending = companion.proposals().await;
        let Standing::TerminalOnly(reason) = &pending[0].standing else {
            panic!("{path} can be decided unseen");
        };
        assert!(reason.contains(why), "{path}: {reason}");
        let accepted = companion.decide(n, Decision::Accept).await;
        assert!(matches!(accepted, Err(Refusal::TerminalOnly(_))), "{path}");
        let closed = gemini.close_diff(&path).await;
        assert_eq!(text_of(&closed.json()), "{}", "{path}");
        assert!(companion.proposals().await.is_empty());
    }
    gemini.nothing_more(&companion).await;
}

#[tokio::test]
async fn what_cannot_be_shown_can_still_be_rejected() {
    let companion = InProcessCompanion::start();
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff("/dev/zero", "new").await;
    companion.decide(1, Decision::Reject).await.unwrap();
    assert_eq!(gemini.hear().await["method"], "ide/diffRejected");
    assert_eq!(gemini.hear().await["method"], "ide/diffClosed");
}

#[tokio::test]
async fn what_is_not_there_is_a_new_file() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let below_a_file = format!("{}/x", companion.file("file", ""));
    let too_long = format!("/{}", "x".repeat(5000));
    for path in [
        "/no/such/file",
        &companion.path("new"),
        &below_a_file,
        &too_long,
    ] {
        qwen.open_diff(path, "new").await;
        let pending = companion.proposals().await;
        assert_eq!(
            pending.last().unwrap().texts.original,
            Original::Absent,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_text_beside_a_proposal_is_the_files_own_down_to_the_byte() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    for text in [
        "",
        "\u{feff}bom\r\n",
        "no end",
        "mixed\r\nends\n\r",
        "é\u{301}🙂\u{2028}\n",
    ] {
        let path = companion.file("a.txt", text);
        for name in [path.as_str(), "a.txt", "./x/../a.txt"] {
            qwen.open_diff(name, "new").await;
            let pending = companion.proposals().await;
            let original = &pending.last().unwrap().texts.original;
            let exists = companion.root().join(name).exists();
            let expected = if exists {
                Original::Text(text.into())
            } else {
                Original::Absent
            };
            assert_eq!(*original, expected, "{name} {text:?}");
        }
        let unchanged = std::fs::read(&path).unwrap();
        assert_eq!(unchanged, text.as_bytes());
    }
}

#[tokio::test]
async fn a_file_that_may_not_be_read_is_left_alone() {
    let companion = InProcessCompanion::start();
    let path = companion.file("secret.txt", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let readable = std::fs::read(&path).is_ok();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let answer = qwen.open_diff(&path, "new").await.json();
    // A user who may read everything sees it as it is.
    if readable {
        assert_eq!(answer["result"], json!({ "content": [] }));
    } else {
        assert!(text_of(&answer).contains("cannot be read"), "{answer}");
    }
}

#[tokio::test]
async fn an_agent_that_takes_a_proposal_back_learns_nothing_of_a_secret() {
    let companion = InProcessCompanion::start();
    companion.file(".env", "KEY=hunter2\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", companion.root().join("link.txt")).unwrap();
    let mut gemini = companion.listener(Agent::Gemini).await;
    for (id, path) in (1..).zip([".env", "sub/../.env", "link.txt"]) {
        companion.file(".env", "KEY=hunter2\n");
        std::fs::create_dir_all(companion.root().join("sub")).unwrap();
        gemini.propose(path, "KEY=hunter2\nMORE=1\n").await;
        // The person goes on to write it, and a front end compares.
        companion.file(".env", "KEY=correct horse\n");
        let id = workbench::ProposalId::new(id);
        let proposal = companion.front.proposal(id).await.unwrap();
        assert!(proposal.current().contains("correct horse"));
        assert!(!proposal.takes_edited_text(), "{path}");
        let closed = gemini.close_diff(path).await;
        assert_eq!(text_of(&closed.json()), "{}", "{path}");
    }
}
