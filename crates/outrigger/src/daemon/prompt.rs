//! `outrigger daemon prompt`: one turn of a conversation.

use std::process::ExitCode;
use std::time::Duration;

use ::daemon::connection::{
    Answer, CallError, Conversation, Departure, IdeConnection, IdeEvent, IdeEvents, Options,
    Request,
};
use ::daemon::sanitiser::{Limits, Sanitiser};
use ::daemon::wire::{ApprovalMode, PromptId, SessionId, StopReason, ToolKind};
use ::daemon::{Parting, TurnEnd};

use super::dialog::{self, Lines};
use super::screen::{Screen, note};
use super::settings::Link;
use super::{Done, failure, told, unconnected};
use crate::args::{DaemonPrompt, Global, YesNo};
use crate::commands::read_text;
use crate::failure::{Failure, Kind};
use crate::folders;
use crate::output::print;

/// What a program that was interrupted ends with.
const INTERRUPTED: u8 = 130;
/// How long a goodbye may take when the person has had enough.
const GOODBYE: Duration = Duration::from_secs(1);

pub(super) async fn prompt(global: &Global, link: &Link, args: &DaemonPrompt) -> Done {
    let mut interrupts = interrupts()?;
    let text = match args.text.as_str() {
        "-" => read_text("-".as_ref())?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Failure::new(Kind::Refused, "there is nothing to say"));
    }
    let (connection, events) = IdeConnection::new();
    let begin = async {
        let options = options(global, link, args)?;
        connection.connect(options).await.map_err(unconnected)?;
        connection
            .send_prompt(&text.as_str().into())
            .await
            .map_err(uncalled)
    };
    let sent = tokio::select! {
        sent = begin => sent?,
        () = interrupts.next() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    let turn = Turn {
        connection: connection.clone(),
        prompt: sent.id().cloned(),
        screen: Screen::new(sent.id().cloned()),
        page: args
            .json
            .then(|| Sanitiser::new(Limits::default()).hiding(link.token.clone(), &link.address)),
        yes_to_edits: args.yes_to_edits == YesNo::Yes,
        lines: dialog::lines(),
        cancelled: false,
    };
    let done = turn.run(events, &mut interrupts).await;
    let _ = tokio::time::timeout(GOODBYE, connection.disconnect(Parting::Detach)).await;
    done
}

fn options(global: &Global, link: &Link, args: &DaemonPrompt) -> Result<Options, Failure> {
    let conversation = match &args.session {
        Some(id) => Conversation::Known(SessionId::new(id.clone()).map_err(|error| {
            Failure::new(
                Kind::Refused,
                format!("this is not a conversation: {error}"),
            )
        })?),
        None if args.shared => Conversation::Shared,
        None => Conversation::New,
    };
    // In a conversation of our own the agent asks; what others have agreed on stays as it is.
    let own = conversation == Conversation::New;
    Ok(Options {
        address: link.address.clone(),
        token: link.token.clone(),
        workspace: Some(folders::current(global)?),
        conversation,
        approval_mode: own.then_some(ApprovalMode::Default),
        ..Options::default()
    })
}

struct Turn {
    connection: IdeConnection,
    prompt: Option<PromptId>,
    screen: Screen,
    /// Set if events are to be printed as they would go to a page.
    page: Option<Sanitiser>,
    yes_to_edits: bool,
    lines: Lines,
    cancelled: bool,
}

impl Turn {
    async fn run(mut self, mut events: IdeEvents, interrupts: &mut Interrupts) -> Done {
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
                return Err(Failure::new(Kind::Other, "the connection is gone"));
            };
            self.show(&event);
            match event {
                IdeEvent::Asked(request) => self.ask(*request),
                IdeEvent::TurnEnded { prompt, end, .. } if prompt == self.prompt => {
                    return self.ended(end);
                }
                IdeEvent::Disconnected { reason, .. } => return Err(gone(&reason)),
                _ => {}
            }
        }
    }

    fn show(&mut self, event: &IdeEvent) {
        let Some(page) = &mut self.page else {
            return self.screen.show(event);
        };
        let lines = page.sanitise(event);
        for line in lines.iter().filter_map(|it| serde_json::to_string(it).ok()) {
            print(&(line + "\n"));
        }
    }

    fn cancel(&mut self) {
        self.cancelled = true;
        note("cancelling; once more to leave");
        let connection = self.connection.clone();
        tokio::spawn(async move {
            if let Err(error) = connection.cancel().await {
                note(&format!("cannot cancel: {error}"));
            }
        });
    }

    /// Asks the person without keeping anything else waiting.
    fn ask(&self, request: Request) {
        let connection = self.connection.clone();
        let edits = request.kind == Some(ToolKind::Edit) && request.questions.is_none();
        let allowed = self.yes_to_edits && edits;
        if allowed {
            note(&format!("allowed: {}", request.title));
        }
        let lines = self.lines.clone();
        tokio::spawn(async move {
            let id = request.id.clone();
            let answered = if allowed {
                connection.answer(&id, &Answer::Allow).await
            } else {
                let title = request.title.clone();
                let person = async move {
                    let answer = dialog::ask(request, lines).await;
                    if answer.is_none() {
                        note(&format!("nobody answers; declined: {title}"));
                    }
                    answer
                };
                connection.decide(&id, person).await
            };
            if let Err(error) = answered {
                note(&format!("the answer did not get through: {error}"));
            }
        });
    }

    fn ended(&self, end: TurnEnd) -> Done {
        if self.page.is_none() {
            self.screen.finish();
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
                note(&format!("the turn ended early: {stop_reason}"));
                Ok(ExitCode::SUCCESS)
            }
            TurnEnd::Failed { message, .. } => Err(told(
                Kind::Other,
                &format!("the turn failed: {message}"),
                None,
            )),
            TurnEnd::Interrupted { .. } => Err(told(
                Kind::Silent,
                "the daemon ended before the turn did",
                None,
            )),
            TurnEnd::Unknown { why } => Err(told(
                Kind::Silent,
                &format!("nobody can tell how the turn ended: {why}"),
                None,
            )),
        }
    }
}

fn uncalled(error: CallError) -> Failure {
    match error {
        CallError::Daemon(error) => failure(&error),
        CallError::NotConnected => told(Kind::Silent, "the connection is gone", None),
    }
}

fn gone(reason: &Departure) -> Failure {
    let (kind, why) = match reason {
        Departure::Left => (Kind::Other, "left"),
        Departure::Closed { .. } => (Kind::Refused, "somebody closed the conversation"),
        Departure::Died { .. } => (Kind::Silent, "the agent or the daemon ended"),
        Departure::Lost => (
            Kind::Refused,
            "the daemon does not know the conversation any more",
        ),
        Departure::Refused { why } => (Kind::Refused, why.as_str()),
        Departure::Unreachable { why } => (Kind::Silent, why.as_str()),
    };
    told(kind, why, None)
}

/// Ctrl-C, as often as it is pressed, from the moment this is made.
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
