//! What the desk knows, in the words of the wire.

use companion::desk::{self, Happening, Published, SessionView, State, Subject, Why};
use workbench::{OpenFile, Original, Proposal, Review, Standing};

use crate::wire;

/// Files that are held back and named one by one; the rest is only counted.
const MOST_HELD_BACK: usize = 100;

/// A proposal in a list. It may have to compare the texts, which can take a while.
pub(crate) fn summary(proposal: &Proposal) -> wire::Proposal {
    wire::Proposal {
        id: proposal.id.get(),
        path: proposal.path.clone(),
        agent: proposal.agent.slug().into(),
        session: proposal.session.to_string(),
        opened_at: proposal.opened_at,
        new_file: proposal.texts.original == Original::Absent,
        hunks: proposal.texts.review().hunks().len(),
        editable: proposal.traits.takes_edited_text,
        terminal_only: match &proposal.standing {
            Standing::Open => None,
            Standing::TerminalOnly(why) => Some(why.clone()),
        },
    }
}

/// A proposal with everything in it. It may have to compare the texts, which can take a while.
pub(crate) fn detail(proposal: &Proposal) -> wire::Detail {
    let texts = &proposal.texts;
    let draft = proposal.draft.as_deref();
    wire::Detail {
        proposal: summary(proposal),
        diff: texts.unified(&proposal.path),
        original: texts.original.text().map(str::to_owned),
        proposed: texts.proposed.clone(),
        hunks_at: hunks(texts.review()),
        current: draft.map(str::to_owned),
        current_hunks_at: draft.map(|draft| hunks(&review(proposal, draft))),
    }
}

/// Compares what the person made of a proposal with the text that the file has.
pub(crate) fn review(proposal: &Proposal, draft: &str) -> Review {
    let original = proposal.texts.original.text();
    Review::of(original.unwrap_or_default(), draft)
}

/// Where the hunks of a review are.
pub(crate) fn hunks(review: &Review) -> Vec<wire::Hunk> {
    let hunks = review.hunks().iter().map(|hunk| wire::Hunk {
        id: hunk.number,
        original: [hunk.before.start, hunk.before.end],
        proposed: [hunk.after.start, hunk.after.end],
    });
    hunks.collect()
}

/// The connected agents.
pub(crate) fn sessions(sessions: Vec<SessionView>) -> Vec<wire::Session> {
    let sessions = sessions.into_iter().map(|session| wire::Session {
        id: session.id.to_string(),
        agent: session.agent.slug().into(),
        client: session.client,
        since: session.opened_at,
        streaming: session.streaming,
        undelivered: session.undelivered,
    });
    sessions.collect()
}

/// What agents see and what they do not.
pub(crate) fn context(state: &State) -> wire::Context {
    let published = state.published();
    let held_back = state.workbench().held_back_files();
    let held_back = held_back
        .take(MOST_HELD_BACK)
        .map(|(path, reason)| wire::HeldBackFile {
            path: path.to_string_lossy().into_owned(),
            reason: reason.to_string(),
        });
    let Published {
        ref context, at, ..
    } = published;
    wire::Context {
        paused: state.is_paused(),
        files: context.files.iter().map(seen).collect(),
        held_back: held_back.collect(),
        bytes: published.size(),
        at,
    }
}

fn seen(file: &OpenFile) -> wire::SeenFile {
    let active = file.active.as_ref();
    let cursor = active.and_then(|active| active.cursor);
    wire::SeenFile {
        path: file.path.to_string_lossy().into_owned(),
        active: active.is_some(),
        line: cursor.map(|cursor| cursor.line),
        column: cursor.map(|cursor| cursor.character),
        selection: active.and_then(|active| active.selection.clone()),
    }
}

/// Something that happened.
pub(crate) fn entry(entry: &desk::Entry) -> wire::Entry {
    let about = |kind: &str| wire::Entry {
        seq: entry.number,
        at: entry.at,
        kind: kind.to_owned(),
        ..wire::Entry::default()
    };
    let peer = |kind: &str, peer: &desk::Peer| wire::Entry {
        agent: Some(peer.agent.slug().to_owned()),
        session: Some(peer.session.to_string()),
        ..about(kind)
    };
    let subject = |kind: &str, subject: &Subject| wire::Entry {
        proposal: Some(subject.proposal.get()),
        path: Some(subject.path.to_string()),
        ..peer(kind, &subject.peer)
    };
    match &entry.what {
        Happening::Connected(who) => peer("connected", who),
        Happening::Disconnected(who) => peer("disconnected", who),
        Happening::Context(sent) => wire::Entry {
            files: Some(sent.files),
            bytes: Some(sent.bytes),
            times: Some(sent.times),
            ..match &sent.to {
                Some(who) => peer("context", who),
                None => about("context"),
            }
        },
        Happening::Proposed(what) => subject("proposed", what),
        Happening::Ended(what, why) => subject(ended(*why), what),
        Happening::Paused => about("paused"),
        Happening::Resumed => about("resumed"),
    }
}

/// How a proposal ended.
pub(crate) fn ended(why: Why) -> &'static str {
    match why {
        Why::Accepted => "accepted",
        Why::Rejected => "rejected",
        Why::Withdrawn => "withdrawn",
        Why::Replaced => "replaced",
        Why::Orphaned => "orphaned",
    }
}
