//! The feed as a front end reads it, with a real desk and a scripted conversation.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

use std::ops::Deref;
use std::path::PathBuf;

use companion::desk::Draft;
use conversation::view::Speaker;
use conversation::{BackendEvent, Conversation, Settings};
use front::{Change, FrontError, Interest, Item, Reader, ServiceCommand, ServiceFacts, Topic};
use testkit::scripted_backend::{Script, scripted};
use testkit::{InProcessCompanion, soon};
use tokio::sync::{mpsc, oneshot};
use workbench::{
    Agent, Cursor, Decision, Fault, Focus, Holder, Original, Outcome, Place, Privacy, Proposal,
    ProposalId, ProposalRequest, Refusal, Scope, SessionId, Standing, Texts, Verdict,
    VerdictCapabilities, Visibility,
};

const EVERYTHING: Interest = Interest::of(&[Topic::Review, Topic::Conversation, Topic::Shared]);
const STATUS_LINE: Interest = Interest::of(&[Topic::Review, Topic::Counts]);

/// A companion with a conversation whose backend does what the test says.
struct ScriptedCompanion {
    companion: InProcessCompanion,
    script: Script,
}

impl Deref for ScriptedCompanion {
    type Target = InProcessCompanion;

    fn deref(&self) -> &InProcessCompanion {
        &self.companion
    }
}

impl ScriptedCompanion {
    fn start() -> ScriptedCompanion {
        let (commands, mut inbox) = mpsc::channel(8);
        tokio::spawn(async move {
            while let Some(command) = inbox.recv().await {
                if let ServiceCommand::Facts(answer) = command {
                    let facts = ServiceFacts {
                        problems: vec!["a problem".into()],
                        ..ServiceFacts::default()
                    };
                    // The requester may be gone.
                    drop(answer.send(facts));
                }
            }
        });
        let (backend, script) = scripted();
        let builder = InProcessCompanion::builder().service(commands);
        let builder = builder.conversation(|folder, desk, publish| {
            let settings = Settings {
                memory: folder.to_owned(),
                machine: None,
            };
            Conversation::start(backend, settings, desk, publish)
        });
        ScriptedCompanion {
            companion: builder.start(),
            script,
        }
    }

    /// Opens a proposal for a file of three lines.
    async fn propose(
        &self,
        name: &str,
        proposed: &str,
    ) -> (ProposalId, oneshot::Receiver<Verdict>) {
        let text = "one\ntwo\nthree\n";
        let original = Original::Text(text.into());
        let ask = ProposalRequest {
            session: SessionId::new(name),
            agent: Agent::Qwen,
            path: self.file(name, text),
            texts: Texts::new(original, proposed.into()),
            standing: Standing::Open,
            capabilities: VerdictCapabilities {
                takes_empty_text: true,
                takes_edited_text: true,
            },
        };
        let proposed = self.desk.ask(move |state| state.propose(ask)).await;
        proposed.unwrap().unwrap()
    }

    fn empty_file(&self, name: &str) -> PathBuf {
        self.file(name, "").into()
    }

    /// The agent says something.
    fn say(&self, text: &str) {
        self.script.tell(BackendEvent::Said {
            speaker: Speaker::Agent,
            text: text.into(),
        });
    }
}

/// What the person has made of a proposal that was not revised.
fn first_draft(text: &str) -> Draft {
    Draft {
        revision: Proposal::FIRST,
        text: text.into(),
    }
}

async fn snapshot(reader: &mut Reader) -> front::Snapshot {
    match soon("a snapshot", reader.next()).await.unwrap() {
        Item::Snapshot(snapshot) => *snapshot,
        Item::Change(change) => panic!("{change:?}"),
    }
}

async fn change(reader: &mut Reader) -> Change {
    match soon("a change", reader.next()).await.unwrap() {
        Item::Change(change) => change.change.clone(),
        Item::Snapshot(snapshot) => panic!("{snapshot:?}"),
    }
}

/// The next change that `find` finds something in.
async fn next_of<T>(reader: &mut Reader, find: impl Fn(Change) -> Option<T>) -> T {
    loop {
        if let Some(found) = find(change(reader).await) {
            return found;
        }
    }
}

#[tokio::test]
async fn a_reader_gets_a_snapshot_and_then_each_change() {
    let companion = ScriptedCompanion::start();
    let (opened_before, _) = companion.propose("a.txt", "ONE\ntwo\nthree\n").await;
    let mut reader = companion.front.read(EVERYTHING, None);
    let first = snapshot(&mut reader).await;
    assert_eq!(first.overview.proposals.len(), 1);
    assert_eq!(first.overview.problems, ["a problem"]);
    assert!(first.conversation.unwrap().entries.is_empty());

    let (id, _verdict) = companion.propose("b.txt", "ONE\ntwo\nTHREE\n").await;
    let opened = next_of(&mut reader, |change| match change {
        Change::Opened(summary) => Some(summary),
        _ => None,
    });
    let opened = opened.await;
    assert_eq!((opened.id, opened.hunks), (id, 2));
    companion
        .front
        .set_draft(id, first_draft("mine\n"))
        .await
        .unwrap();
    let drafted = |change| (change == Change::Drafted(id)).then_some(());
    next_of(&mut reader, drafted).await;
    companion
        .front
        .decide(id, Decision::Reject, None)
        .await
        .unwrap();
    let closed = |change| (change == Change::Closed(id, Outcome::Rejected)).then_some(());
    next_of(&mut reader, closed).await;
    // Somebody who was not there finds it in the log.
    let late = companion.front.snapshot().await.unwrap();
    assert_eq!(late.outcome(id), Some(Outcome::Rejected));
    assert_eq!(late.outcome(opened_before), None, "it is pending");

    let path = companion.empty_file("shown.txt");
    let seen = companion.front.focus_file(path.clone(), None, None);
    assert_eq!(seen.await.unwrap(), Visibility::Shown);
    let shared = next_of(&mut reader, |change| match change {
        Change::Shared(shared) => Some(shared),
        _ => None,
    });
    assert_eq!(shared.await.context.files[0].path, path);
}

/// Changes of a conversation build on each other: one that is heard twice doubles the text.
#[tokio::test]
async fn no_change_of_a_conversation_is_lost_or_repeated() {
    let companion = ScriptedCompanion::start();
    let said = |change: Change| match change {
        Change::Conversation(conversation::Change::Append { text, .. }) => Some(text),
        Change::Conversation(conversation::Change::Put(entry)) => match &entry.content {
            conversation::view::EntryContent::Said { text, .. } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    for round in 0..20 {
        let said_so_far = (0..=round).map(|n| format!("{n}."));
        let expected = said_so_far.collect::<Vec<_>>().concat();
        // One reader comes while something is said, wherever exactly.
        let mut reader = companion.front.read(EVERYTHING, None);
        companion.say(&format!("{round}."));
        let first = snapshot(&mut reader).await.conversation.unwrap();
        let mut text: String = first
            .entries
            .iter()
            .filter_map(|entry| match &entry.content {
                conversation::view::EntryContent::Said { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        while text != expected {
            assert!(expected.starts_with(&text), "{text}");
            text += &next_of(&mut reader, said).await;
        }
    }
}

#[tokio::test]
async fn a_reader_resumes_or_gets_a_snapshot() {
    let companion = ScriptedCompanion::start();
    let (id, _verdict) = companion.propose("a.txt", "x\n").await;
    let mut reader = companion.front.read(EVERYTHING, None);
    let seen = snapshot(&mut reader).await.number;
    companion
        .front
        .set_draft(id, first_draft("1\n"))
        .await
        .unwrap();
    assert_eq!(change(&mut reader).await, Change::Drafted(id));
    drop(reader);
    companion
        .front
        .set_draft(id, first_draft("2\n"))
        .await
        .unwrap();

    let mut back = companion.front.read(EVERYTHING, Some(seen));
    for _ in 0..2 {
        assert_eq!(change(&mut back).await, Change::Drafted(id));
    }
    // A number that was never given is of another run.
    let mut stranger = companion.front.read(EVERYTHING, Some(1_000_000));
    snapshot(&mut stranger).await;
    // Too much has happened since.
    for _ in 0..5000 {
        companion.say("x");
    }
    companion.say("the end");
    let ends = |change: Change| match change {
        Change::Conversation(conversation::Change::Append { text, .. }) => {
            (text == "the end").then_some(())
        }
        _ => None,
    };
    next_of(&mut back, ends).await;
    let mut late = companion.front.read(EVERYTHING, Some(seen));
    let late = snapshot(&mut late).await;
    assert!(late.number > seen + 5000);
}

#[tokio::test]
async fn a_status_line_receives_counts_and_not_every_move() {
    let companion = ScriptedCompanion::start();
    let mut reader = companion.front.read(STATUS_LINE, None);
    let seen = snapshot(&mut reader).await.number;
    let secret = companion.empty_file(".env");
    for line in 1..=3 {
        let focus = Focus {
            place: Place::direct(&secret),
            cursor: Some(Cursor::new(line, 1)),
            selection: None,
        };
        companion
            .front
            .presence(Holder::editor(1))
            .focus(focus)
            .await;
    }
    let Change::Counts(counts) = change(&mut reader).await else {
        panic!("counts");
    };
    assert_eq!((counts.held_back.secret, counts.paused), (1, false));
    companion.front.set_paused(true).await.unwrap();
    let Change::Counts(counts) = change(&mut reader).await else {
        panic!("counts");
    };
    assert!(counts.paused);
    // What agents see was omitted meanwhile, so a reader that wants it gets a snapshot.
    let mut page = companion.front.read(EVERYTHING, Some(seen));
    snapshot(&mut page).await;
}

#[tokio::test]
async fn a_fault_reaches_every_reader_while_nothing_is_open() {
    let companion = ScriptedCompanion::start();
    let mut line = companion.front.read(STATUS_LINE, None);
    assert_eq!(snapshot(&mut line).await.overview.faults, []);
    let mut page = companion.front.read(EVERYTHING, None);
    snapshot(&mut page).await;
    let root = companion.root();
    let fault = Fault {
        source: "f".into(),
        position: None,
        message: "broken".into(),
        scope: Scope::Below(root.clone()),
    };
    for faults in [vec![fault], Vec::new()] {
        let privacy = Privacy::new(std::slice::from_ref(&root), &[], &faults);
        let set = companion.desk.ask(|state| state.set_privacy(privacy));
        set.await.unwrap();
        for reader in [&mut line, &mut page] {
            assert_eq!(change(reader).await, Change::Faults(faults.clone()));
        }
        let overview = companion.front.overview().await.unwrap();
        assert_eq!(overview.faults, faults);
    }
}

#[tokio::test]
async fn hunks_are_chosen_by_number() {
    let companion = ScriptedCompanion::start();
    let (id, verdict) = companion.propose("a.txt", "ONE\ntwo\nTHREE\n").await;
    let wrong = companion
        .front
        .decide(id, Decision::AcceptHunks([7].into()), None);
    let wrong = wrong.await.unwrap_err();
    assert!(
        matches!(wrong, FrontError::Refused(Refusal::UnknownHunk(_))),
        "{wrong}"
    );
    let some = companion
        .front
        .decide(id, Decision::AcceptHunks([2].into()), None);
    some.await.unwrap();
    let accepted = Verdict::Accepted {
        text: "one\ntwo\nTHREE\n".into(),
        edited: true,
    };
    assert_eq!(verdict.await.unwrap(), accepted);
    let over = companion
        .front
        .decide(id, Decision::Reject, None)
        .await
        .unwrap_err();
    assert!(matches!(over, FrontError::Refused(Refusal::Unknown(_))));
}

#[tokio::test]
async fn a_focus_needs_an_existing_file() {
    let companion = ScriptedCompanion::start();
    let absent = companion.root().join("absent");
    for (path, kind) in [
        (
            PathBuf::from("relative"),
            "relative is not an absolute path",
        ),
        (absent.clone(), "cannot find"),
        (companion.root(), "is not a file"),
    ] {
        let error = companion
            .front
            .focus_file(path, None, None)
            .await
            .unwrap_err();
        assert!(error.to_string().contains(kind), "{error}");
    }
    let secret = companion.empty_file("id_rsa");
    let seen = companion
        .front
        .focus_file(secret, None, None)
        .await
        .unwrap();
    assert!(matches!(seen, Visibility::HeldBack(_)));
}
