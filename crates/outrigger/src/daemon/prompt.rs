//! `outrigger daemon prompt`: one turn of a conversation.

use std::process::ExitCode;
use std::time::Duration;

use ::daemon::connection::{
    CallError, ConnectOptions, DisconnectReason, IdeConnection, IdeEvent, IdeEvents,
    InteractionRequest, SessionChoice, UserAnswer,
};
use ::daemon::sanitiser::{Sanitiser, TextLimits};
use ::daemon::wire::{ApprovalMode, PromptId, SessionId, StopReason, ToolKind};
use ::daemon::{DisconnectMode, TurnEnd};
use conversation::backend::daemon::Translator;

use super::dialog::{self, Lines};
use super::turn_output::TurnOutput;
use super::{connect_failure, request_failure};
use crate::args::{GlobalArgs, PromptArgs, YesNo};
use crate::config::DaemonTarget;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::input::read_text;
use crate::output::{note, print};

/// The exit code of a program that was interrupted.
const INTERRUPTED: u8 = 130;
/// How long the daemon may take to confirm that we leave.
const DETACH: Duration = Duration::from_secs(1);

pub(super) async fn prompt(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &PromptArgs,
) -> CommandResult {
    let mut interrupts = interrupts()?;
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
            .send_prompt(&text.as_str().into())
            .await
            .map_err(call_failure)
    };
    let sent = tokio::select! {
        sent = start => sent?,
        () = interrupts.next() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    let turn = PromptTurn {
        connection: connection.clone(),
        prompt: sent.id().cloned(),
        output: TurnOutput::new(sent.id().cloned()),
        translator: args.json.then(|| {
            let sanitiser = Sanitiser::new(TextLimits::default());
            Translator::new(sanitiser.hiding(target.token.clone(), &target.address))
        }),
        yes_to_edits: args.yes_to_edits == YesNo::Yes,
        lines: dialog::lines(),
        cancelled: false,
    };
    let result = turn.run(events, &mut interrupts).await;
    let _ = tokio::time::timeout(DETACH, connection.disconnect(DisconnectMode::Detach)).await;
    result
}

fn options(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &PromptArgs,
) -> Result<ConnectOptions, Failure> {
    let conversation = match &args.session {
        Some(id) => SessionChoice::Known(SessionId::new(id.clone()).map_err(|error| {
            let message = format!("this is not the id of a conversation: {error}");
            Failure::new(FailureKind::Refused, message)
        })?),
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

/// A turn that is running.
struct PromptTurn {
    connection: IdeConnection,
    prompt: Option<PromptId>,
    output: TurnOutput,
    /// For `--json`: events are printed as a page would get them.
    translator: Option<Translator>,
    yes_to_edits: bool,
    lines: Lines,
    cancelled: bool,
}

impl PromptTurn {
    async fn run(mut self, mut events: IdeEvents, interrupts: &mut Interrupts) -> CommandResult {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = interrupts.next() => {
                    if self.cancelled {
                        return Ok(ExitCode::from(INTERRUPTED));
                    }
                    self.cancel();
                    continue;
                }
            };
            let Some(event) = event else {
                return Err(Failure::new(FailureKind::Other, "the connection is gone"));
            };
            self.print(&event);
            match event {
                IdeEvent::RequestOpened(request) => self.ask(*request),
                IdeEvent::TurnEnded { prompt, end, .. } if prompt == self.prompt => {
                    return self.ended(end);
                }
                IdeEvent::Disconnected { reason, .. } => return Err(disconnect_failure(&reason)),
                _ => {}
            }
        }
    }

    fn print(&mut self, event: &IdeEvent) {
        let Some(translator) = &mut self.translator else {
            return self.output.print(event);
        };
        let events = translator.translate(event);
        let lines = events.iter().filter_map(wire::conversation::event);
        for line in lines.filter_map(|it| serde_json::to_string(&it).ok()) {
            print(&(line + "\n"));
        }
    }

    fn cancel(&mut self) {
        self.cancelled = true;
        note("cancelling; once more to leave");
        let connection = self.connection.clone();
        tokio::spawn(async move {
            if let Err(error) = connection.cancel().await {
                note(format_args!("cannot cancel: {error}"));
            }
        });
    }

    /// Asks the person in a task of its own, so that events are printed meanwhile.
    fn ask(&self, request: InteractionRequest) {
        let connection = self.connection.clone();
        let edits = request.kind == Some(ToolKind::Edit) && request.questions.is_none();
        let allowed = self.yes_to_edits && edits;
        if allowed {
            note(format_args!("allowed: {}", request.title));
        }
        let lines = self.lines.clone();
        tokio::spawn(async move {
            let id = request.id.clone();
            let answered = if allowed {
                connection.answer(&id, &UserAnswer::Allow).await
            } else {
                let title = request.title.clone();
                let person = async move {
                    let answer = dialog::ask(request, lines).await;
                    if answer.is_none() {
                        note(format_args!("nobody answers; declined: {title}"));
                    }
                    answer
                };
                connection.decide(&id, person).await
            };
            if let Err(error) = answered {
                note(format_args!("the answer did not get through: {error}"));
            }
        });
    }

    fn ended(&self, end: TurnEnd) -> CommandResult {
        if self.translator.is_none() {
            self.output.finish();
        }
        match end {
            TurnEnd::Complete {
                stop_reason: StopReason::Cancelled,
            } => {
                note("cancelled");
                Ok(ExitCode::from(INTERRUPTED))
            }
            TurnEnd::Complete {
                stop_reason: StopReason::EndTurn,
            } => Ok(ExitCode::SUCCESS),
            TurnEnd::Complete { stop_reason } => {
                note(format_args!("the turn ended early: {stop_reason}"));
                Ok(ExitCode::SUCCESS)
            }
            TurnEnd::Failed { message, .. } => Err(Failure::new(
                FailureKind::Other,
                format!("the turn failed: {message}"),
            )),
            TurnEnd::Interrupted { .. } => Err(Failure::new(
                FailureKind::Silent,
                "the daemon ended before the turn did",
            )),
            TurnEnd::Unknown { why } => Err(Failure::new(
                FailureKind::Silent,
                format!("nobody can tell how the turn ended: {why}"),
            )),
        }
    }
}

fn call_failure(error: CallError) -> Failure {
    match error {
        CallError::Daemon(error) => request_failure(&error),
        CallError::NotConnected => Failure::new(FailureKind::Silent, "the connection is gone"),
    }
}

fn disconnect_failure(reason: &DisconnectReason) -> Failure {
    let (kind, why) = match reason {
        DisconnectReason::Left => (FailureKind::Other, "left"),
        DisconnectReason::Closed { .. } => {
            (FailureKind::Refused, "somebody closed the conversation")
        }
        DisconnectReason::Died { .. } => (FailureKind::Silent, "the agent or the daemon ended"),
        DisconnectReason::Lost => (
            FailureKind::Refused,
            "the daemon does not know the conversation any more",
        ),
        DisconnectReason::Refused { why } => (FailureKind::Refused, why.as_str()),
        DisconnectReason::Unreachable { why } => (FailureKind::Silent, why.as_str()),
    };
    Failure::new(kind, why)
}

/// Receives every Ctrl-C from the moment this is made.
#[cfg(unix)]
struct Interrupts(tokio::signal::unix::Signal);

#[cfg(not(unix))]
struct Interrupts;

fn interrupts() -> Result<Interrupts, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signal = signal(SignalKind::interrupt());
        signal
            .map(Interrupts)
            .map_err(|error| Failure::other("cannot wait for Ctrl-C", error))
    }
    #[cfg(not(unix))]
    Ok(Interrupts)
}

impl Interrupts {
    async fn next(&mut self) {
        #[cfg(unix)]
        let pressed = self.0.recv().await.is_some();
        #[cfg(not(unix))]
        let pressed = tokio::signal::ctrl_c().await.is_ok();
        if !pressed {
            std::future::pending::<()>().await;
        }
    }
}
