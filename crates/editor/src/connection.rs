//! A connection to an editor: two channels, whatever is behind them.
//!
//! [`Connection::over`] puts a pair of pipes behind them, [`Connection::memory`] another
//! connection, for tests and for authors of plugins.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::frame::{self, Frame};
use crate::rpc::{self, Incoming, Outgoing};
use crate::trace::Trace;

/// Messages that may wait in each direction. A side that does not read slows the other down
/// instead of filling memory.
const WAITING: usize = 64;

/// Both directions of a conversation.
#[derive(Debug)]
pub struct Connection {
    /// What the editor says. It ends when the editor does.
    pub incoming: mpsc::Receiver<Incoming>,
    /// What we say.
    pub outgoing: mpsc::Sender<Outgoing>,
}

/// The editor's side of a connection in memory: JSON in, JSON out.
#[derive(Debug)]
pub struct MemoryEditor {
    /// To the server.
    pub say: mpsc::Sender<Incoming>,
    /// From the server.
    pub hear: mpsc::Receiver<Outgoing>,
}

impl MemoryEditor {
    /// Says one message, written as JSON.
    pub async fn say(&self, message: &Value) {
        // A server that has left does not hear it.
        let _ = self
            .say
            .send(rpc::parse(message.to_string().as_bytes()))
            .await;
    }

    /// The next message of the server as JSON; `None` when it has left.
    pub async fn hear(&mut self) -> Option<Value> {
        serde_json::to_value(self.hear.recv().await?).ok()
    }
}

impl Connection {
    /// A connection whose other end is in the same program.
    pub fn memory() -> (Connection, MemoryEditor) {
        let (say, incoming) = mpsc::channel(WAITING);
        let (outgoing, hear) = mpsc::channel(WAITING);
        (
            Connection { incoming, outgoing },
            MemoryEditor { say, hear },
        )
    }

    /// A connection over a pair of pipes, such as stdin and stdout. The task ends when everything
    /// that was said has been written, after the connection is gone.
    pub fn over(
        mut from: impl AsyncBufRead + Unpin + Send + 'static,
        mut to: impl AsyncWrite + Unpin + Send + 'static,
        trace: Option<Trace>,
    ) -> (Connection, JoinHandle<()>) {
        let (say, incoming) = mpsc::channel(WAITING);
        let (outgoing, mut hear) = mpsc::channel::<Outgoing>(WAITING);
        let listening = trace.clone();
        tokio::spawn(async move {
            loop {
                let message = match frame::read(&mut from).await {
                    Ok(Some(Frame::Message(content))) => {
                        if let Some(trace) = &listening {
                            trace.heard(&content);
                        }
                        rpc::parse(&content)
                    }
                    Ok(Some(Frame::TooLarge(length))) => Incoming::Invalid(
                        None,
                        rpc::INVALID_REQUEST,
                        format!("a message of {length} bytes is too large and was skipped"),
                    ),
                    Ok(None) => return,
                    Err(broken) => {
                        tracing::warn!(%broken, "the editor's pipe is broken");
                        return;
                    }
                };
                if say.send(message).await.is_err() {
                    return;
                }
            }
        });
        let writing = tokio::spawn(async move {
            while let Some(message) = hear.recv().await {
                if let Some(trace) = &trace {
                    trace.said(&message);
                }
                let content = serde_json::to_vec(&message).unwrap_or_default();
                if frame::write(&mut to, &content).await.is_err() {
                    return;
                }
            }
        });
        (Connection { incoming, outgoing }, writing)
    }
}
