//! A trace of a session, to look at or to replay: one JSON object per line and message.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{BufReader, DuplexStream};
use tokio::task::JoinHandle;

use crate::frame::{self, Frame};
use crate::wire::method;

/// Writes a trace. The environment for terminals holds tokens, so it is left out.
#[derive(Clone, Debug)]
pub struct Trace {
    file: Arc<Mutex<File>>,
}

impl Trace {
    /// Records into a file that was opened for it.
    pub fn new(file: File) -> Trace {
        Trace {
            file: Arc::new(Mutex::new(file)),
        }
    }

    /// Records the messages of an editor among the bytes that are written to the result. The task
    /// ends when the last one is recorded, after that is dropped.
    pub fn heard(&self) -> (DuplexStream, JoinHandle<()>) {
        self.messages(Trace::message_of_editor)
    }

    /// Records our messages in the same way.
    pub fn said(&self) -> (DuplexStream, JoinHandle<()>) {
        self.messages(Trace::message_of_ours)
    }

    fn messages(&self, record: fn(&Trace, &[u8])) -> (DuplexStream, JoinHandle<()>) {
        let (bytes, recorded) = tokio::io::duplex(1 << 16);
        let trace = self.clone();
        let task = tokio::spawn(async move {
            let mut recorded = BufReader::new(recorded);
            while let Ok(Some(frame)) = frame::read(&mut recorded).await {
                if let Frame::Message(content) = frame {
                    record(&trace, &content);
                }
            }
            // What is no message any more must not hold up the session.
            let _ = tokio::io::copy(&mut recorded, &mut tokio::io::sink()).await;
        });
        (bytes, task)
    }

    pub(crate) fn message_of_editor(&self, content: &[u8]) {
        let message = message(content);
        self.write(&json!({ "from": "editor", "message": message }));
    }

    pub(crate) fn message_of_ours(&self, content: &[u8]) {
        let mut message = message(content);
        if message["method"] == method::READY
            && let Some(environment) = message.pointer_mut("/params/environment")
        {
            *environment = json!("left out");
        }
        self.write(&json!({ "from": "outrigger", "message": message }));
    }

    fn write(&self, line: &Value) {
        let mut file = self
            .file
            .lock()
            .expect("a panic anywhere ends the whole program");
        // A trace that cannot be written must not disturb the session.
        let _ = writeln!(file, "{line}");
    }
}

/// The message, or its text if it is no JSON.
fn message(content: &[u8]) -> Value {
    serde_json::from_slice(content)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(content).into_owned()))
}
