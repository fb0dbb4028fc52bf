//! A turn that the person follows in the terminal: prints it, asks what the agent asks, and ends
//! with it.

use std::process::ExitCode;
use std::time::Duration;

use ::daemon::connection::{
    CallError, DisconnectReason, IdeConnection, IdeEvent, IdeEvents, InteractionRequest, UserAnswer,
};
use ::daemon::wire::{PromptId, StopReason, ToolKind};
use ::daemon::{DisconnectMode, TurnEnd};
use conversation::backend::daemon::Translator;

use super::dialog::{self, TypedLines};
use super::request_failure;
use super::turn_output::TurnOutput;
use crate::args::{TurnArgs, YesNo};
use crate::config::DaemonTarget;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::{note, print_json_line};
use crate::signals::INTERRUPTED;

/// How long the daemon may take to confirm that we leave.
const GOODBYE: Duration = Duration::from_secs(1);

/// Which turn is followed.
#[derive(Debug)]
pub(super) enum Followed {
    /// The turn of our own prompt. An old daemon does not tell its id.
    Prompt(Option<PromptId>),
    /// The turn that waits for the person, whoever began it. What was before it is not shown.
    Waiting,
}

/// A turn that is running.
pub(super) struct Turn {
    connection: IdeConnection,
    followed: Followed,
    /// Whether all earlier events of the conversation have come.
    caught_up: bool,
    output: TurnOutput,
    /// For `--json`: events are printed as a page would get them.
    translator: Option<Translator>,
    yes_to_edits: bool,
    lines: TypedLines,
    cancelled: bool,
}

/// Does what comes before the turn. If that fails, or the person interrupts it, the conversation is left;
/// then there is nothing.
pub(super) async fn begin<T>(
    connection: &IdeConnection,
    interrupts: &mut Interrupts,
    beginning: impl Future<Output = Result<T, Failure>>,
) -> Result<Option<T>, Failure> {
    let begun = tokio::select! {
        begun = beginning => begun.map(Some),
        () = interrupts.next() => Ok(None),
    };
    if !matches!(begun, Ok(Some(_))) {
        leave(connection).await;
    }
    begun
}

/// Leaves the conversation, so that the daemon counts us no longer wherever several clients have to agree.
/// What runs goes on, and so does what waits for an answer.
async fn leave(connection: &IdeConnection) {
    let goodbye = connection.disconnect(DisconnectMode::Detach);
    let _ = tokio::time::timeout(GOODBYE, goodbye).await;
}

impl Turn {
    pub(super) fn new(
        connection: IdeConnection,
        followed: Followed,
        args: &TurnArgs,
        target: &DaemonTarget,
    ) -> Turn {
        let prompt = match &followed {
            Followed::Prompt(prompt) => prompt.clone(),
            Followed::Waiting => None,
        };
        Turn {
            connection,
            followed,
            caught_up: false,
            output: TurnOutput::new(prompt, Translator::new(target.sanitiser())),
            translator: args.json.then(|| Translator::new(target.sanitiser())),
            yes_to_edits: args.yes_to_edits == YesNo::Yes,
            lines: dialog::lines(),
            cancelled: false,
        }
    }

    /// Follows the turn to its end, or until the person leaves.
    pub(super) async fn run(
        mut self,
        events: IdeEvents,
        interrupts: &mut Interrupts,
    ) -> CommandResult {
        let result = self.follow(events, interrupts).await;
        leave(&self.connection).await;
        result
    }

    async fn follow(
        &mut self,
        mut events: IdeEvents,
        interrupts: &mut Interrupts,
    ) -> CommandResult {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = interrupts.next() => match self.interrupt() {
                    Some(left) => return left,
                    None => continue,
                },
            };
            let Some(event) = event else {
                let gone = Failure::new(FailureKind::Other, "the connection is gone");
                return Err(gone);
            };
            self.caught_up |= matches!(event, IdeEvent::CaughtUp);
            if self.caught_up || matches!(self.followed, Followed::Prompt(_)) {
                self.print(&event);
            }
            match event {
                IdeEvent::RequestOpened(request) => self.ask(*request),
                IdeEvent::TurnEnded {
                    prompt,
                    end,
                    background,
                } if self.is_followed(prompt.as_ref(), background) => {
                    return self.ended(end);
                }
                IdeEvent::Disconnected { reason, .. } => {
                    return Err(disconnect_failure(&reason));
                }
                _ => {}
            }
        }
    }

    fn is_followed(&self, ended: Option<&PromptId>, background: bool) -> bool {
        match &self.followed {
            Followed::Prompt(prompt) => ended == prompt.as_ref(),
            Followed::Waiting => self.caught_up && !background,
        }
    }

    /// Ctrl-C. While the agent asks something, it only means that the person does not answer now.
    fn interrupt(&mut self) -> Option<CommandResult> {
        let interrupted = Ok(ExitCode::from(INTERRUPTED));
        if self.cancelled {
            return Some(interrupted);
        }
        let session = self.connection.session();
        if let Some(session) = session.filter(|_| !self.connection.pending().is_empty()) {
            note(format_args!(
                "the request stays open; answer it later with `outrigger daemon answer {session}`"
            ));
            return Some(interrupted);
        }
        self.cancel();
        None
    }

    fn print(&mut self, event: &IdeEvent) {
        let Some(translator) = &mut self.translator else {
            return self.output.print(event);
        };
        let events = translator.translate(event);
        for event in events.iter().filter_map(wire::conversation::event) {
            print_json_line(&event);
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
            TurnEnd::NotAccepted { why } => Err(Failure::new(
                FailureKind::Silent,
                format!("the daemon did not take the prompt: {why}"),
            )),
        }
    }
}

pub(super) fn call_failure(error: CallError) -> Failure {
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
pub(super) struct Interrupts(tokio::signal::unix::Signal);

#[cfg(not(unix))]
pub(super) struct Interrupts;

pub(super) fn interrupts() -> Result<Interrupts, Failure> {
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
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        let pressed = self.0.recv().await.is_some();
        #[cfg(not(unix))]
        let pressed = tokio::signal::ctrl_c().await.is_ok();
        if !pressed {
            std::future::pending::<()>().await;
        }
    }
}
