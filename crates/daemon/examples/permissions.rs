//! A permission dialog for a folder: it shows what the agent wants to do and sends the user's answer,
//! whoever talks to the agent.
//!
//! ```text
//! qwen serve                                  # in a project folder
//! cargo run -p outrigger-daemon --example permissions
//! ```
//!
//! It takes part in the session that the clients of this folder share. A request that somebody else
//! answers first is closed here, too.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "an example prints as it is; a program would replace control characters first"
)]

use outrigger_daemon::connection::{
    ConnectOptions, IdeConnection, IdeEvent, IdeEvents, InteractionRequest, UserAnswer,
};
use outrigger_daemon::wire::ApprovalMode;
use outrigger_daemon::{Address, DisconnectMode, Token};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::var("QWEN_SERVER_TOKEN").ok();
    let address = std::env::var("QWEN_IDE_DAEMON_URL").ok();
    let options = ConnectOptions {
        address: match address {
            Some(address) => address.parse()?,
            None => Address::default(),
        },
        token: token.as_deref().map(Token::new).transpose()?,
        workspace: Some(std::env::current_dir()?),
        // For a session that begins with this connection. One that exists keeps its mode.
        approval_mode: Some(ApprovalMode::Default),
        ..ConnectOptions::default()
    };
    let (connection, events) = IdeConnection::new();
    if let Err(error) = connection.connect(options).await {
        eprintln!("{error}\n{}", error.hint().unwrap_or_default());
        return Ok(());
    }
    println!("waiting for the agent");
    let ended = decide(&connection, events).await;
    // Otherwise the daemon would go on to count this client where several have to agree.
    connection.disconnect(DisconnectMode::Detach).await?;
    ended
}

/// Shows what the agent asks, until the conversation or what is typed ends.
async fn decide(
    connection: &IdeConnection,
    mut events: IdeEvents,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut typed = BufReader::new(tokio::io::stdin()).lines();
    // One dialog at a time. Requests that come meanwhile wait in `pending`.
    let mut open: Option<InteractionRequest> = None;
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(IdeEvent::RequestOpened(_) | IdeEvent::RequestClosed { .. }) => {
                    let waiting = connection.pending();
                    let is_open = |it: &InteractionRequest| waiting.iter().any(|other| other.id == it.id);
                    if open.as_ref().is_some_and(|it| !is_open(it)) {
                        println!("(answered)");
                        open = None;
                    }
                    if open.is_none() {
                        open = waiting.into_iter().next();
                        open.as_ref().inspect(|it| show(it));
                    }
                }
                Some(IdeEvent::Disconnected { reason, .. }) => {
                    println!("the conversation is over: {reason:?}");
                    return Ok(());
                }
                Some(_) => {}
                None => return Ok(()),
            },
            line = typed.next_line(), if open.is_some() => {
                let Some(line) = line? else { return Ok(()) };
                if let Some(request) = &open {
                    let Some(answer) = answer(request, line.trim(), &mut typed).await? else {
                        println!("please type one of the numbers");
                        continue;
                    };
                    // A failure leaves the request open. One that somebody else has answered is closed.
                    if let Err(error) = connection.answer(&request.id, &answer).await {
                        eprintln!("{error}");
                    }
                }
            }
        }
    }
}

/// Shows a request with its answers, each with a number.
fn show(request: &InteractionRequest) {
    println!("\n{:?}", request.title);
    for content in &request.content {
        if let Some(diff) = content.as_diff() {
            println!("  writes {:?}:", diff.path);
            for line in diff.new_text.lines() {
                println!("  | {line:?}");
            }
        } else if let Some(text) = content.as_text() {
            println!("  {text:?}");
        }
    }
    for (number, option) in (1..).zip(&request.options) {
        println!("  {number}. {:?}", option.title());
    }
}

/// The answer that a line stands for: an option by its number, and what is asked beside.
async fn answer(
    request: &InteractionRequest,
    line: &str,
    typed: &mut Lines<BufReader<Stdin>>,
) -> std::io::Result<Option<UserAnswer>> {
    let number: Option<usize> = line.parse().ok();
    let chosen = number.and_then(|number| request.options.get(number.checked_sub(1)?));
    let Some(option) = chosen else {
        return Ok(None);
    };
    let allows = (option.kind.as_ref()).is_some_and(|kind| kind.as_str().starts_with("allow"));
    let (Some(questions), true) = (&request.questions, allows) else {
        return Ok(Some(UserAnswer::Choose(option.option_id.clone())));
    };
    let mut replies = Vec::new();
    for question in questions {
        println!("{:?}", question.question);
        for option in &question.options {
            println!("  {:?}", option.label);
        }
        let reply = typed.next_line().await?.unwrap_or_default();
        replies.push(vec![reply.trim().to_owned()]);
    }
    Ok(Some(UserAnswer::Reply(replies)))
}
