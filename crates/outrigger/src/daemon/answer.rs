//! `outrigger daemon answer`: answers what an agent asks in a conversation that goes on without us,
//! and shows the rest of its turn.

use std::process::ExitCode;

use ::daemon::connection::{ConnectOptions, IdeConnection, SessionChoice};
use ::daemon::wire::SessionId;

use super::turn::{self, Followed, Turn};
use super::{ListedSession, connect_failure, opening, request_failure, session_id};
use crate::args::{AnswerArgs, GlobalArgs};
use crate::config::DaemonTarget;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::signals::INTERRUPTED;

pub(super) async fn answer(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &AnswerArgs,
) -> CommandResult {
    let mut interrupts = turn::interrupts()?;
    let (folder, listed, _) = super::listed_sessions(global, target).await?;
    let session = chosen(args.session.as_deref(), &listed)?;
    let (connection, events) = IdeConnection::new();
    let options = ConnectOptions {
        address: target.address.clone(),
        token: target.token.clone(),
        workspace: Some(folder.clone().into()),
        session: SessionChoice::Known(session.clone()),
        ..ConnectOptions::default()
    };
    let start = async {
        let connected = connection.connect(options).await.map_err(connect_failure)?;
        // Whoever was faster has ended the wait, and then nothing would ever come.
        let status = target.client().session_status(&session).await;
        let status = status.map_err(|error| request_failure(&error))?;
        if status.pending_interactions.is_empty() {
            let message = "it was answered elsewhere in the meantime";
            return Err(Failure::new(FailureKind::Refused, message));
        }
        Ok(connected)
    };
    let Some(connected) = turn::begin(&connection, &mut interrupts, start).await? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    opening::say_place(&connected.capabilities, &connected.folder);
    opening::say_mode(&connection, None).await;
    let turn = Turn::new(connection, Followed::Waiting, &args.turn, target);
    turn.run(events, &mut interrupts).await
}

/// The conversation that is meant: the one that is named, or the only one that waits.
fn chosen(named: Option<&str>, listed: &[ListedSession]) -> Result<SessionId, Failure> {
    let refused = |message: String| Failure::new(FailureKind::Refused, message);
    let waiting: Vec<&str> = listed
        .iter()
        .filter(|session| session.waits_for_a_person)
        .map(|session| session.id.as_str())
        .collect();
    match (named, waiting.as_slice()) {
        (Some(id), waiting) if waiting.contains(&id) => session_id(id),
        (Some(id), _) => Err(refused(format!(
            "nothing in the conversation {id} waits for an answer"
        ))
        .hint("`outrigger daemon sessions` lists those that wait")),
        (None, [only]) => session_id(only),
        (None, []) => Err(refused(
            "no conversation of this folder waits for an answer".into(),
        )),
        (None, several) => Err(refused(format!(
            "{} conversations wait for an answer: {}",
            several.len(),
            several.join(", ")
        ))
        .hint("name one of them: `outrigger daemon answer ID`")),
    }
}
