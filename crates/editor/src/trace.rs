//! A trace of a session, to look at or to replay: one JSON object per line and message.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::rpc::Outgoing;
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

    pub(crate) fn heard(&self, content: &[u8]) {
        let message = serde_json::from_slice(content)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(content).into_owned()));
        self.write(&json!({ "from": "editor", "message": message }));
    }

    pub(crate) fn said(&self, message: &Outgoing) {
        let secret = message.method() == Some(method::READY);
        let mut message = serde_json::to_value(message).unwrap_or_default();
        if secret && let Some(environment) = message.pointer_mut("/params/environment") {
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
