//! What is written down is what is read back.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use workbench::{
    Agent, Cursor, Original, Place, ProposalRequest, SessionId, Standing, Texts, Verdict,
};

use beacon::process::ProcessId;

use super::*;
use crate::agents::dialect;
use crate::agents::{AgentProcess, UnaskingMode};

fn proposal(id: u64, original: Original, proposed: &str, standing: Standing) -> Proposal {
    let request = ProposalRequest {
        session: SessionId::new("s"),
        agent: Agent::Gemini,
        path: format!("./p/../{id}"),
        texts: Texts::new(original, proposed.into()),
        standing,
        capabilities: dialect(Agent::Gemini).capabilities,
    };
    Proposal::new(ProposalId::new(id), request, 7)
}

fn plain(id: u64) -> Proposal {
    proposal(id, Original::Absent, "x", Standing::Open)
}

fn accepted(text: &str) -> Verdict {
    Verdict::Accepted {
        text: text.into(),
        edited: true,
    }
}

fn saved_verdict(id: u64, verdict: &Verdict) -> SavedVerdict {
    SavedVerdict::new(ProposalId::new(id), &SessionId::new("s"), "p", verdict)
}

/// Writes with one journal and reads what it left.
fn written(write: impl FnOnce(&Journal)) -> (tempfile::TempDir, Saved) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    write(&journal);
    drop(journal);
    let saved = Journal::load(folder.path());
    (folder, saved)
}

const TEXTS: [&str; 6] = [
    "",
    "\u{feff}bom\r\ncrlf\r\n",
    "no end",
    "\r\n\n\r mixed \u{0}\u{1}\u{2028}",
    "é e\u{301} 漢 🙂",
    "\"quotes\" \\ and \u{fffd}",
];

#[test]
fn proposals_come_back_as_they_were() {
    let standings = [Standing::Open, Standing::TerminalOnly("a reason".into())];
    let originals = TEXTS.map(|text| Original::Text(text.into()));
    let mut proposals = Vec::new();
    for original in originals.into_iter().chain([Original::Absent]) {
        for text in TEXTS {
            let standing = standings[proposals.len() % 2].clone();
            let id = proposals.len() as u64 + 1;
            proposals.push(proposal(id, original.clone(), text, standing));
        }
    }
    let (_folder, saved) = written(|journal| {
        for proposal in &proposals {
            journal.save_proposal(proposal.clone());
        }
    });
    assert_eq!(saved.proposals.len(), proposals.len());
    for (read, written) in saved.proposals.iter().zip(&proposals) {
        assert_eq!(read.id, written.id);
        assert_eq!(read.path, written.path);
        assert_eq!(read.session, written.session);
        assert_eq!(read.agent, written.agent);
        assert_eq!(read.standing, written.standing);
        assert_eq!(read.opened_at, written.opened_at);
        assert_eq!(read.texts.original, written.texts.original);
        assert_eq!(read.texts.proposed, written.texts.proposed);
    }
    assert_eq!(saved.next_proposal, proposals.len() as u64 + 1);
}

#[test]
fn verdicts_come_back_as_they_were_and_replace_their_proposals() {
    let verdicts: Vec<_> = TEXTS
        .map(accepted)
        .into_iter()
        .chain([Verdict::Rejected])
        .collect();
    let (folder, saved) = written(|journal| {
        for (id, verdict) in (1..).zip(&verdicts) {
            journal.save_proposal(plain(id));
            journal.save_verdict(saved_verdict(id, verdict));
        }
    });
    let read: Vec<_> = saved.verdicts.iter().map(SavedVerdict::verdict).collect();
    assert_eq!(read, verdicts);
    assert!(saved.proposals.is_empty());
    assert_eq!(names(folder.path()).len(), verdicts.len());
}

#[test]
fn a_verdict_beats_the_proposal_that_a_crash_left_beside_it() {
    let (folder, _) = written(|journal| journal.save_proposal(plain(4)));
    let beside = std::fs::read(folder.path().join("proposal-4.json")).unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal.save_verdict(saved_verdict(4, &accepted("x")));
    journal.flush();
    std::fs::write(folder.path().join("proposal-4.json"), beside).unwrap();
    let saved = Journal::load(folder.path());
    assert_eq!((saved.proposals.len(), saved.verdicts.len()), (0, 1));
    assert_eq!(saved.next_proposal, 5);
}

#[test]
fn sessions_and_the_next_number_come_back() {
    let process = AgentProcess {
        line: vec![ProcessId {
            pid: 4711,
            started: 42,
        }],
        terminal: Some("pts/3".into()),
        folder: Some("/w".into()),
        product: Some(Agent::Qwen),
        version: Some("0.24.4".into()),
        unasking: Some(UnaskingMode {
            name: "auto".into(),
            remedy: "ask".into(),
        }),
    };
    let session = SavedSession {
        id: "0a".into(),
        agent: Agent::Unnamed,
        client: SavedClient::default(),
        process: Some((&process).into()),
        opened_at: 3,
    };
    let (_folder, saved) = written(|journal| journal.save_sessions(vec![session.clone()], 12));
    assert_eq!(saved.sessions[0].id, "0a");
    assert_eq!(saved.sessions[0].agent, Agent::Unnamed);
    let known = saved.sessions[0].process.clone().map(AgentProcess::from);
    assert_eq!(known, Some(process));
    assert_eq!(saved.next_proposal, 12);
}

fn focus(path: &Path, selection: Option<&str>) -> Focus {
    Focus {
        place: Place::direct(path.to_owned()),
        cursor: Some(Cursor::new(3, 4)),
        selection: selection.map(str::to_owned),
    }
}

#[test]
fn documents_come_back_oldest_first() {
    let new = focus(Path::new("/new"), Some("a\r\nb"));
    let old = focus(Path::new("/old"), None);
    let list = vec![(new.clone(), 9), (old.clone(), 8)];
    let (folder, saved) = written(|journal| journal.save_documents(list));
    assert_eq!(
        format!("{:?}", saved.documents),
        format!("{:?}", [(old, 8), (new, 9)])
    );
    let journal = Journal::open(folder.path()).unwrap();
    journal.forget_documents();
    journal.flush();
    assert!(Journal::load(folder.path()).documents.is_empty());
}

#[test]
fn a_name_that_is_not_unicode_does_not_cost_the_others() {
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff"));
    let list = vec![(focus(odd, None), 2), (focus(Path::new("/w/a"), None), 1)];
    let (_folder, saved) = written(|journal| journal.save_documents(list));
    let paths: Vec<_> = saved
        .documents
        .iter()
        .map(|(it, _)| &it.place.path)
        .collect();
    assert!(paths.contains(&&PathBuf::from("/w/a")), "{paths:?}");
}

#[test]
fn the_last_write_of_a_file_is_the_one_that_counts() {
    let (folder, saved) = written(|journal| {
        for round in 0..100 {
            for id in 1..=3 {
                journal.save_proposal(proposal(
                    id,
                    Original::Absent,
                    &round.to_string(),
                    Standing::Open,
                ));
            }
        }
        journal.remove(ProposalId::new(2));
    });
    let texts = saved
        .proposals
        .iter()
        .map(|it| (it.id.get(), it.texts.proposed.as_str()));
    assert_eq!(texts.collect::<Vec<_>>(), [(1, "99"), (3, "99")]);
    assert_eq!(names(folder.path()), ["proposal-1.json", "proposal-3.json"]);
}

#[test]
fn damaged_and_foreign_files_are_left_out() {
    let (folder, _) = written(|journal| {
        journal.save_proposal(plain(1));
        journal.save_proposal(plain(2));
        journal.save_sessions(Vec::new(), 3);
    });
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("proposal-2.json", "{\"id\":2");
    write("proposal-3.json", "");
    write("verdict-9.json", "null");
    write("sessions.json", "[]");
    write("documents.json", "{}");
    write("something else", "x");
    let saved = Journal::load(folder.path());
    assert_eq!(saved.proposals.len(), 1);
    assert_eq!((saved.verdicts.len(), saved.sessions.len()), (0, 0));
    assert_eq!(saved.next_proposal, 2);
    let none = Journal::load(&folder.path().join("not there"));
    assert_eq!(none.next_proposal, 0);
}

/// A number is the last of all and would leave none for the next proposal.
#[test]
fn a_number_that_was_never_given_is_damage() {
    let (folder, _) = written(|journal| {
        journal.save_proposal(plain(1));
        journal.save_proposal(plain(u64::MAX));
        journal.save_proposal(plain(LARGEST_NUMBER + 1));
        journal.save_sessions(Vec::new(), u64::MAX);
    });
    let verdict = format!(
        r#"{{"proposal":{},"session":"s","path":"/w/a","accepted":null}}"#,
        u64::MAX
    );
    std::fs::write(folder.path().join("verdict-7.json"), verdict).unwrap();
    let saved = Journal::load(folder.path());
    assert_eq!(saved.proposals.len(), 1);
    assert_eq!(saved.verdicts.len(), 0);
    assert_eq!(saved.next_proposal, 2);
}

#[test]
fn only_this_user_can_read_it() {
    let (folder, _) = written(|journal| journal.save_proposal(plain(1)));
    let facts = std::fs::metadata(folder.path().join("proposal-1.json")).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Puts a folder in the place of a file, so that it can be neither written nor removed, whoever
/// runs this.
fn block(folder: &Path, name: &str) {
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    std::fs::create_dir(path).unwrap();
}

/// Takes it away again.
fn unblock(folder: &Path, name: &str) {
    std::fs::remove_dir(folder.join(name)).unwrap();
}

#[tokio::test]
async fn a_proposal_stays_until_its_verdict_is_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal.save_proposal(plain(1));
    journal.receipt().written().await.unwrap();
    block(folder.path(), "verdict-1.json");
    journal.save_verdict(saved_verdict(1, &accepted("x")));
    let trouble = journal.receipt().written().await.unwrap_err();
    assert!(trouble.to_string().contains("verdict-1.json"), "{trouble}");
    assert_eq!(journal.trouble(), Some(trouble));
    // A crash now loses the decision, which was said, but not the proposal.
    assert_eq!(Journal::load(folder.path()).proposals.len(), 1);

    // What else is to be written is written.
    journal.save_proposal(plain(2));
    assert!(journal.receipt().written().await.is_err());
    assert_eq!(Journal::load(folder.path()).proposals.len(), 2);

    // It is tried again by itself.
    unblock(folder.path(), "verdict-1.json");
    let mut progress = journal.writer.as_ref().unwrap().follow().1;
    let healed = progress.wait_for(|progress| progress.failed.is_none());
    tokio::time::timeout(std::time::Duration::from_mins(1), healed)
        .await
        .expect("it is tried again")
        .unwrap();
    assert_eq!(journal.trouble(), None);
    journal.receipt().written().await.unwrap();
    let saved = Journal::load(folder.path());
    let proposals: Vec<_> = saved.proposals.iter().map(|it| it.id.get()).collect();
    assert_eq!((proposals, saved.verdicts.len()), (vec![2], 1));
}

#[tokio::test]
async fn a_verdict_stays_until_its_proposal_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal.save_verdict(saved_verdict(1, &accepted("x")));
    journal.receipt().written().await.unwrap();
    block(folder.path(), "proposal-1.json");
    journal.remove(ProposalId::new(1));
    assert!(journal.receipt().written().await.is_err());
    assert_eq!(Journal::load(folder.path()).verdicts.len(), 1);
    unblock(folder.path(), "proposal-1.json");
    journal.save_sessions(Vec::new(), 2);
    journal.receipt().written().await.unwrap();
    assert_eq!(names(folder.path()), ["sessions.json"]);
}

#[tokio::test]
async fn what_is_newer_takes_the_place_of_what_could_not_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    block(folder.path(), "sessions.json");
    journal.save_sessions(Vec::new(), 7);
    let before = journal.receipt();
    assert!(before.written().await.is_err());
    unblock(folder.path(), "sessions.json");
    journal.save_sessions(Vec::new(), 8);
    journal.receipt().written().await.unwrap();
    assert_eq!(Journal::load(folder.path()).next_proposal, 8);
}

/// The end of a companion does not wait for a disk that stays full.
#[test]
fn closing_does_not_wait_for_what_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    block(folder.path(), "proposal-1.json");
    journal.save_proposal(plain(1));
    drop(journal);
    assert!(folder.path().join("proposal-1.json").is_dir());
}

#[test]
fn the_number_of_a_revision_is_used_once() {
    for (last, next) in [(1, 1), (2, 3), (7, 8), (u32::MAX, u32::MAX)] {
        let mut revised = plain(1);
        revised.revision = last;
        let (folder, saved) = written(|journal| journal.save_proposal(revised));
        assert_eq!(saved.proposals[0].revision, next, "after {last}");
        // What earlier versions have written is still read.
        let path = folder.path().join("proposal-1.json");
        let mut json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert!(json.as_object_mut().unwrap().remove("revision").is_some());
        std::fs::write(&path, json.to_string()).unwrap();
        let old = Journal::load(folder.path());
        assert_eq!(old.proposals[0].revision, Proposal::FIRST);
    }
}

#[tokio::test]
async fn the_larger_counter_counts() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    for (counter, sessions, expected) in [(7, 3, 7), (7, 9, 9), (10, 9, 10)] {
        journal.save_counter(counter);
        journal.save_sessions(Vec::new(), sessions);
        journal.receipt().written().await.unwrap();
        assert_eq!(Journal::load(folder.path()).next_proposal, expected);
    }
    // A damaged one says nothing.
    let impossible = format!(r#"{{"next_proposal":{}}}"#, LARGEST_NUMBER + 2);
    for damaged in ["", "{}", &impossible] {
        std::fs::write(folder.path().join(COUNTER), damaged).unwrap();
        let loaded = Journal::load(folder.path()).next_proposal;
        assert!(loaded <= LARGEST_NUMBER, "{damaged}");
    }
}
