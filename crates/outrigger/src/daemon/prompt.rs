//! `outrigger daemon prompt`: one turn of a conversation.

use std::process::ExitCode;

use ::daemon::connection::{ConnectOptions, IdeConnection, SessionChoice};
use ::daemon::wire::ApprovalMode;

use super::turn::{self, Followed, Turn};
use super::{connect_failure, session_id};
use crate::args::{GlobalArgs, PromptArgs};
use crate::config::DaemonTarget;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::input::read_text;
use crate::signals::INTERRUPTED;

pub(super) async fn prompt(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &PromptArgs,
) -> CommandResult {
    let mut interrupts = turn::interrupts()?;
    let text = match args.text.as_str() {
        "-" => read_text("-".as_ref())?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Failure::new(
            FailureKind::Refused,
            "there is nothing to say: the prompt is empty",
        ));
    }
    let (connection, events) = IdeConnection::new();
    let start = async {
        let options = options(global, target, args)?;
        let connected = connection.connect(options).await;
        connected.map_err(connect_failure)?;
        connection
            .send_prompt(text)
            .await
            .map_err(turn::call_failure)
    };
    let sent = tokio::select! {
        sent = start => sent?,
        () = interrupts.next() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    let followed = Followed::Prompt(sent.id().cloned());
    let turn = Turn::new(connection, followed, &args.turn, target);
    turn.run(events, &mut interrupts).await
}

fn options(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &PromptArgs,
) -> Result<ConnectOptions, Failure> {
    let conversation = match &args.session {
        Some(id) => SessionChoice::Known(session_id(id)?),
        None if args.shared => SessionChoice::Shared,
        None => SessionChoice::New,
    };
    // In a conversation of our own the agent has to ask. The mode of one that exists is not changed.
    let own = conversation == SessionChoice::New;
    Ok(ConnectOptions {
        address: target.address.clone(),
        token: target.token.clone(),
        workspace: Some(folders::current(global)?),
        session: conversation,
        approval_mode: own.then_some(ApprovalMode::Default),
        ..ConnectOptions::default()
    })
}
