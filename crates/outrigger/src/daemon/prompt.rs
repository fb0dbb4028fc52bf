//! `outrigger daemon prompt`: one turn of a conversation.

use std::process::ExitCode;

use ::daemon::connection::{ConnectOptions, IdeConnection, SessionChoice};

use super::turn::{self, Followed, Turn};
use super::{connect_failure, opening, session_id};
use crate::args::{GlobalArgs, PromptArgs};
use crate::config::{DaemonTarget, NewConversation};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::input::read_text;
use crate::signals::INTERRUPTED;

pub(super) async fn prompt(
    global: &GlobalArgs,
    target: &DaemonTarget,
    new: NewConversation,
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
        let mode = new.mode.value.clone();
        let options = options(global, target, new, args)?;
        let connected = connection.connect(options).await;
        let connected = connected.map_err(connect_failure)?;
        opening::say_place(&connected.capabilities, &connected.folder);
        opening::say_mode(&connection, Some(&mode)).await;
        connection
            .send_prompt(text)
            .await
            .map_err(turn::call_failure)
    };
    let Some(sent) = turn::begin(&connection, &mut interrupts, start).await? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let followed = Followed::Prompt(sent.id().cloned());
    let turn = Turn::new(connection, followed, &args.turn, target);
    turn.run(events, &mut interrupts).await
}

fn options(
    global: &GlobalArgs,
    target: &DaemonTarget,
    new: NewConversation,
    args: &PromptArgs,
) -> Result<ConnectOptions, Failure> {
    let conversation = match &args.session {
        Some(id) => SessionChoice::Known(session_id(id)?),
        None if args.shared => SessionChoice::Shared,
        None => SessionChoice::New,
    };
    Ok(ConnectOptions {
        address: target.address.clone(),
        token: target.token.clone(),
        workspace: Some(folders::current(global)?),
        session: conversation,
        model: new.model,
        // For a conversation that begins here, or comes back from disk. One that is open at the daemon
        // keeps its mode.
        approval_mode: Some(new.mode.value),
        ..ConnectOptions::default()
    })
}
