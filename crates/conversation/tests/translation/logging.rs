//! What the log says about what a conversation does not show.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use conversation::backend::daemon::Translator;
use daemon::connection::IdeEvent;
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::{Address, Token};
use serde_json::json;
use testkit::fake_daemon::TOKEN;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::ide::{connected, daemon, next};
use crate::shown::{Sent, update};

/// Writes down every event of the log that is made here.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Level, String)>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let entry = (*event.metadata().level(), fields.0);
        self.0.lock().unwrap().push(entry);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn what_is_not_shown_is_logged_with_what_it_holds_but_no_secret_and_not_at_length() {
    let new =
        |kind: &str, text: &str| -> Sent { update(&json!({"sessionUpdate": kind, "field": text})) };
    let block = json!({"type": "hologram", "depth": "of the block"});
    let part = json!({"type": "terminal", "terminalId": "of the part"});
    let sent = [
        new("new_kind", &format!("the token {TOKEN}")),
        new("new_kind", "again"),
        new("long_kind", &"x".repeat(100_000)),
        update(&json!({"sessionUpdate": "agent_message_chunk", "content": block})),
        update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [part]})),
    ];
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    connection.send_prompt("go").await.unwrap();
    for (kind, data) in sent {
        daemon.emit(kind, data);
    }
    daemon.complete();
    let mut heard = Vec::new();
    while !matches!(heard.last(), Some(IdeEvent::TurnEnded { .. })) {
        heard.push(next(&mut events).await);
    }

    let address = Address::local(daemon.port);
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Token::new(TOKEN).ok(), &address);
    let mut translator = Translator::new(sanitiser);
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        for event in &heard {
            translator.translate(event);
        }
    });
    let logged = log.0.lock().unwrap().clone();
    let parts = [
        "the token [hidden]",
        "again",
        "xxx",
        "of the block",
        "of the part",
    ];
    assert_eq!(logged.len(), parts.len(), "{logged:?}");
    for ((level, entry), part) in logged.iter().zip(parts) {
        assert_eq!(*level, Level::DEBUG);
        assert!(entry.contains(part), "{part} in {entry}");
        assert!(!entry.contains(TOKEN), "{entry}");
        assert!(entry.len() < 3_000, "{}", entry.len());
    }
}
