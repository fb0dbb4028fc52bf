//! A chat with a running `qwen serve`, in one screen of code.
//!
//! ```text
//! qwen serve                                  # in a project folder
//! cargo run -p outrigger-daemon --example chat -- "What does this project do?"
//! ```
//!
//! The token, if the daemon has one, comes from the variable `QWEN_SERVER_TOKEN`, its address, if
//! it is not the usual one, from `QWEN_IDE_DAEMON_URL`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "an example prints as it is; a program would replace control characters first"
)]

use std::io::Write;

use outrigger_daemon::connection::{
    ConnectOptions, IdeConnection, IdeEvent, InteractionRequest, SessionChoice, UserAnswer,
};
use outrigger_daemon::wire::{ApprovalMode, SessionUpdate};
use outrigger_daemon::{Address, DisconnectMode, Token};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "Say hello.".into());
    let token = std::env::var("QWEN_SERVER_TOKEN").ok();
    let address = std::env::var("QWEN_IDE_DAEMON_URL").ok();
    let options = ConnectOptions {
        address: match address {
            Some(address) => address.parse()?,
            None => Address::default(),
        },
        token: token.as_deref().map(Token::new).transpose()?,
        workspace: Some(std::env::current_dir()?),
        session: SessionChoice::New,
        // Otherwise a model decides what is safe, and the person is seldom asked.
        approval_mode: Some(ApprovalMode::Default),
        ..ConnectOptions::default()
    };
    let (connection, mut events) = IdeConnection::new();
    if let Err(error) = connection.connect(options).await {
        eprintln!("{error}\n{}", error.hint().unwrap_or_default());
        return Ok(());
    }
    connection.send_prompt(prompt.as_str()).await?;
    while let Some(event) = events.next().await {
        match event {
            IdeEvent::Update {
                update: SessionUpdate::AgentMessage(chunk),
                ..
            } => {
                // A real program must not print control characters of a model to a terminal.
                print!(
                    "{}",
                    chunk.text().escape_debug().to_string().replace("\\n", "\n")
                );
                std::io::stdout().flush()?;
            }
            IdeEvent::RequestOpened(request) => {
                // In a task of its own, so that events are read while the user decides.
                let connection = connection.clone();
                tokio::spawn(async move {
                    let id = request.id.clone();
                    connection.decide(&id, ask(*request)).await
                });
            }
            IdeEvent::TurnEnded { .. } | IdeEvent::Disconnected { .. } => break,
            _ => {}
        }
    }
    println!();
    connection.disconnect(DisconnectMode::Detach).await?;
    Ok(())
}

/// Asks the user. Anything but `y` is a rejection.
async fn ask(request: InteractionRequest) -> Option<UserAnswer> {
    println!("\n{:?} [y/N]", request.title);
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = line.await.ok()?.ok()?;
    (line.trim() == "y").then_some(UserAnswer::Allow)
}
