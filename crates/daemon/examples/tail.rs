//! A log of everything that happens in a session. Ended at any moment and started again, it goes on
//! where it was: no event is missing, and the last ones may be there twice.
//!
//! ```text
//! cargo run -p outrigger-daemon --example tail -- SESSION place.json
//! ```
//!
//! The second argument is the file in which it keeps its place.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints as it is; a program would replace control characters first"
)]

use std::path::Path;

use outrigger_daemon::wire::{RestoreSession, SessionId};
use outrigger_daemon::{
    Address, DaemonClient, DisconnectMode, Session, SessionEvent, SessionSettings, Token,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(session), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: tail SESSION FILE".into());
    };
    let (session, file) = (SessionId::new(session)?, Path::new(&file));
    let token = std::env::var("QWEN_SERVER_TOKEN").ok();
    let address = match std::env::var("QWEN_IDE_DAEMON_URL") {
        Ok(address) => address.parse()?,
        Err(_) => Address::default(),
    };
    let client = DaemonClient::new(address, token.as_deref().map(Token::new).transpose()?);
    let (restore, settings) = (RestoreSession::default(), SessionSettings::default());
    let place = std::fs::read_to_string(file).ok();
    let (session, mut events) = match place.as_deref().map(serde_json::from_str).transpose()? {
        Some(place) => Session::resume(client, &place, &restore, settings).await?,
        None => Session::load(client, &session, &restore, settings).await?,
    };
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = tokio::signal::ctrl_c() => {
                // Otherwise the daemon would go on to count this client where several have to agree.
                session.leave(DisconnectMode::Detach).await?;
                break;
            }
        };
        let Some(event) = event else { break };
        match event {
            // The daemon no longer has the events one by one, or this is the first time.
            SessionEvent::History(history) => {
                println!("--- history ({:?})", history.cause);
                for event in &history.events {
                    println!("{} {:?}", event.kind(), event.data());
                }
                println!("--- now");
            }
            SessionEvent::Event(event) => println!("{} {:?}", event.kind(), event.data()),
            SessionEvent::Ended(reason) => {
                println!("--- ended: {reason:?}");
                break;
            }
            other => println!("--- {other:?}"),
        }
        // After the event was dealt with: whoever is ended before this line gets it again.
        let place = serde_json::to_string(&events.resume_state())?;
        let beside = file.with_extension("new");
        std::fs::write(&beside, place)?;
        std::fs::rename(&beside, file)?;
    }
    Ok(())
}
