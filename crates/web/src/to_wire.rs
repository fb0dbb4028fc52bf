//! Converts the front's types to bodies of the API.
//!
//! JSON has no paths that are not Unicode: serialising one would fail, and with it the whole body.
//! So every path is converted with replacement characters.

use std::path::{Path, PathBuf};

use companion::desk::{AgentSession, LogEntry, LogEvent, ProposalRef, SessionRef};
use front::{
    Editors, FrontError, HeldBackFile, NoConversation, Overview, ProposalSummary, Shared, Snapshot,
    words,
};
use workbench::{Fault, OpenFile, Proposal, Texts};

use crate::routes::Api;
use crate::wire;

/// A whole snapshot. It may have to compare texts, which takes a while for large ones.
pub(crate) fn live(api: &Api, snapshot: &Snapshot) -> wire::Live {
    let overview = &snapshot.overview;
    wire::Live {
        instance: api.instance.clone(),
        number: snapshot.number,
        status: status(api, overview),
        proposals: proposals(&overview.proposals, &overview.agents),
        context: context(&overview.shared),
        log: snapshot.log.iter().map(log_entry).collect(),
        hints: wire::Hints {
            commands: commands(api, overview),
            problems: overview.problems.clone(),
        },
        conversation: snapshot
            .conversation
            .clone()
            .map(::wire::conversation::Snapshot),
    }
}

/// The status, without texts and log.
pub(crate) fn status(api: &Api, overview: &Overview) -> wire::Status {
    let shared = &overview.shared;
    wire::Status {
        pid: std::process::id(),
        port: api.port,
        version: env!("CARGO_PKG_VERSION").into(),
        editor: overview.editors.name.clone(),
        editors: editors(&overview.editors).editors,
        roots: overview.folders.iter().map(|root| unicode(root)).collect(),
        proposals: overview.proposals.len(),
        files: shared.context.files.iter().map(file).collect(),
        held_back: wire::HeldBack {
            total: shared.held_back.total(),
            secret: shared.held_back.secret,
            ignored: shared.held_back.ignored,
            outside: shared.held_back.outside,
            closed: shared.held_back.closed,
        },
        faults: faults(&overview.faults),
        sessions: sessions(&overview.agents),
        problems: overview.problems.clone(),
        no_restart: api.owner.no_restart().map(str::to_owned),
        no_conversation: match api.front.conversation() {
            Err(FrontError::NoConversation(NoConversation::Misconfigured(why))) => Some(why),
            _ => None,
        },
    }
}

/// What closes folders to agents.
pub(crate) fn faults(faults: &[Fault]) -> Vec<wire::Fault> {
    faults.iter().map(wire::Fault::from).collect()
}

/// The command that starts each agent so that every version of it finds the companion.
fn commands(api: &Api, overview: &Overview) -> Vec<wire::Hint> {
    let Some(folder) = overview.folders.first() else {
        return Vec::new();
    };
    let folder = text::shell::word(folder);
    let agents = api.agents.borrow();
    let hints = agents.iter().map(|agent| wire::Hint {
        agent: agent.slug().to_owned(),
        command: format!("cd {folder} && {}", words::start_command(*agent)),
    });
    hints.collect()
}

fn file(file: &OpenFile) -> wire::File {
    let active = file.active.as_ref();
    let cursor = active.and_then(|active| active.cursor);
    wire::File {
        path: unicode(&file.path),
        active: active.is_some(),
        line: cursor.map(|cursor| cursor.line),
        column: cursor.map(|cursor| cursor.character),
        selected: active.and_then(|active| Some(active.selection.as_ref()?.chars().count())),
    }
}

/// The path with replacement characters where it is not Unicode.
fn unicode(path: &Path) -> PathBuf {
    path.to_string_lossy().into_owned().into()
}

/// A list of proposals. It may have to compare the texts, which takes a while for large ones.
pub(crate) fn proposals(proposals: &[Proposal], agents: &[AgentSession]) -> Vec<wire::Proposal> {
    let summaries = ProposalSummary::all(proposals, agents);
    summaries.iter().map(summary).collect()
}

/// A proposal in a list, already summarised.
pub(crate) fn summary(summary: &ProposalSummary) -> wire::Proposal {
    wire::Proposal {
        id: summary.id.get(),
        path: summary.path.clone(),
        agent: summary.agent.slug().into(),
        who: summary.who.clone(),
        session: summary.session.to_string(),
        opened_at: summary.opened_at,
        new_file: summary.new_file,
        hunks: summary.hunks,
        revision: summary.revision,
        stale: (summary.file_change).map(|change| words::stale(change, summary.conflicts)),
        conflicts: summary.conflicts,
        added: summary.added,
        removed: summary.removed,
        editable: summary.editable,
        withheld: summary.withheld.map(words::withheld),
        terminal_only: summary.terminal_only.clone(),
    }
}

/// A proposal with everything in it. It may have to compare the texts, which takes a while for
/// large ones.
pub(crate) fn detail(of: &Proposal, agents: &[AgentSession]) -> wire::Detail {
    let texts = &of.texts;
    let draft = of.draft.as_deref();
    let agent = agents.iter().find(|agent| agent.id == of.session);
    wire::Detail {
        proposal: summary(&ProposalSummary::of(of, agent)),
        diff: texts.unified(&of.path),
        original: texts.original.text().map(str::to_owned),
        proposed: texts.proposed.clone(),
        hunks_at: hunks(texts.review().hunks()),
        current: draft.map(str::to_owned),
        current_hunks_at: draft.map(|draft| hunks(&front::hunks(of, draft))),
        current_diff: draft.map(|draft| {
            let original = texts.original.clone();
            Texts::new(original, draft.to_owned()).unified(&of.path)
        }),
    }
}

/// The positions of hunks.
pub(crate) fn hunks(hunks: &[workbench::Hunk]) -> Vec<wire::Hunk> {
    hunks.iter().map(wire::Hunk::from).collect()
}

/// The editors that are in it.
pub(crate) fn editors(editors: &Editors) -> wire::Editors {
    let joined = editors.joined.iter().map(|editor| wire::Editor {
        name: editor.name.clone(),
        pid: editor.process,
    });
    wire::Editors {
        editor: editors.name.clone(),
        editors: joined.collect(),
    }
}

/// The connected agents.
pub(crate) fn sessions(sessions: &[AgentSession]) -> Vec<wire::Session> {
    let sessions = sessions.iter().map(|session| wire::Session {
        id: session.id.to_string(),
        agent: session.agent.slug().into(),
        label: words::label(session),
        version: session.process.as_ref().and_then(|it| it.version.clone()),
        client: wire::Client {
            name: session.client.name.clone(),
            version: session.client.version.clone(),
        },
        since: session.opened_at,
        presence: session.presence.as_str().into(),
        note: words::note(session),
        streaming: session.streaming,
        undelivered: session.undelivered,
    });
    sessions.collect()
}

/// What agents see, and what is held back from them.
pub(crate) fn context(shared: &Shared) -> wire::Context {
    wire::Context {
        paused: shared.paused,
        files: shared.context.files.iter().map(seen_file).collect(),
        held_back: shared.held_back_files.iter().map(held_back_file).collect(),
        bytes: shared.bytes,
        at: shared.since,
    }
}

fn seen_file(file: &OpenFile) -> wire::SeenFile {
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

fn held_back_file(file: &HeldBackFile) -> wire::HeldBackFile {
    wire::HeldBackFile {
        path: file.path.to_string_lossy().into_owned(),
        reason: file.reason.to_string(),
    }
}

/// An entry of the log.
pub(crate) fn log_entry(entry: &LogEntry) -> wire::LogEntry {
    let plain = |kind: &str| wire::LogEntry {
        number: entry.number,
        at: entry.at,
        kind: kind.to_owned(),
        ..wire::LogEntry::default()
    };
    let session = |kind: &str, peer: &SessionRef| wire::LogEntry {
        agent: Some(peer.agent.slug().to_owned()),
        who: Some(words::process_label(peer.agent, peer.process.as_deref())),
        session: Some(peer.session.to_string()),
        ..plain(kind)
    };
    let proposal = |kind: &str, proposal: &ProposalRef| wire::LogEntry {
        proposal: Some(proposal.proposal.get()),
        path: Some(proposal.path.to_string()),
        ..session(kind, &proposal.peer)
    };
    match &entry.what {
        LogEvent::Connected(peer) => session("connected", peer),
        LogEvent::Disconnected(peer) => session("disconnected", peer),
        LogEvent::Context(sent) => wire::LogEntry {
            files: Some(sent.files),
            bytes: Some(sent.bytes),
            times: Some(sent.times),
            ..match &sent.to {
                Some(peer) => session("context", peer),
                None => plain("context"),
            }
        },
        LogEvent::Proposed(about) => proposal("proposed", about),
        LogEvent::Ended(about, outcome) => proposal(outcome.as_str(), about),
        LogEvent::Paused => plain("paused"),
        LogEvent::Resumed => plain("resumed"),
    }
}
