//! The situation: in short for commands, with everything for a page.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State as Shared;
use companion::desk::{self, State};

use super::{Api, Here, Order};
use crate::answer::{Answer, off_thread};
use crate::{view, wire};

pub(super) async fn status(Shared(server): Here) -> Answer<wire::Status> {
    let (roots, status) = server.api.desk.ask(situation).await?;
    let problems = server.order(Order::Problems).await?;
    Ok(Json(describe(&server.api, roots, status, problems)))
}

pub(super) async fn live(Shared(server): Here) -> Answer<wire::Live> {
    // What happens from here on may be told twice, in the answer and on the stream, but nothing
    // is left out.
    server.announcements.expect_a_page();
    let seq = server.announcements.newest();
    let problems = server.order(Order::Problems).await?;
    let ((roots, mut status), context, log, receipt) = server
        .api
        .desk
        .ask(|state| {
            let log: Vec<_> = state.log().entries().map(view::entry).collect();
            (situation(state), view::context(state), log, state.receipt())
        })
        .await?;
    // What the person has seen is still there after a crash.
    receipt.written().await;
    let proposals = std::mem::take(&mut status.proposals);
    let proposals: Vec<_> =
        off_thread(move || proposals.iter().map(view::summary).collect()).await?;
    let hints = wire::Hints {
        commands: commands(&server.api, &roots),
        problems: problems.clone(),
    };
    let mut status = describe(&server.api, roots, status, problems);
    status.proposals = proposals.len();
    Ok(Json(wire::Live {
        instance: server.announcements.instance().to_owned(),
        seq,
        status,
        proposals,
        context,
        log,
        hints,
        chat: server.api.chat.is_some(),
    }))
}

fn situation(state: &mut State) -> (Vec<PathBuf>, desk::Status) {
    (state.workbench().roots().to_vec(), state.status())
}

fn describe(
    api: &Api,
    roots: Vec<PathBuf>,
    status: desk::Status,
    problems: Vec<String>,
) -> wire::Status {
    let files = status.context.files.iter().map(|file| {
        let active = file.active.as_ref();
        let cursor = active.and_then(|active| active.cursor);
        wire::File {
            path: file.path.clone(),
            active: active.is_some(),
            line: cursor.map(|cursor| cursor.line),
            column: cursor.map(|cursor| cursor.character),
            selected: active.and_then(|active| Some(active.selection.as_ref()?.chars().count())),
        }
    });
    wire::Status {
        pid: std::process::id(),
        port: api.port,
        version: env!("CARGO_PKG_VERSION").into(),
        editor: api.editor.clone(),
        roots,
        proposals: status.proposals.len(),
        files: files.collect(),
        held_back: wire::HeldBack {
            total: status.held_back.total(),
            secret: status.held_back.secret,
            ignored: status.held_back.ignored,
            outside: status.held_back.outside,
        },
        sessions: view::sessions(status.sessions),
        problems,
    }
}

/// What to type to get each agent here, whatever its version.
fn commands(api: &Api, roots: &[PathBuf]) -> Vec<wire::Hint> {
    let Some(root) = roots.first() else {
        return Vec::new();
    };
    let hints = api.agents.iter().map(|agent| wire::Hint {
        agent: agent.slug().to_owned(),
        command: format!("cd {} && outrigger run -- {}", quoted(root), agent.slug()),
    });
    hints.collect()
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
    if path.chars().all(is_plain) {
        path.into_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_when_it_has_to_be() {
        for (path, shell) in [
            ("/home/ada/api-2", "/home/ada/api-2"),
            ("/home/ada/my api", "'/home/ada/my api'"),
            ("/it's $HOME", r"'/it'\''s $HOME'"),
            ("/a;b", "'/a;b'"),
        ] {
            assert_eq!(quoted(Path::new(path)), shell);
        }
    }
}
