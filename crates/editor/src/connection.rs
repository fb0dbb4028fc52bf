//! A connection to an editor: two channels, whatever is behind them.
//!
//! [`Connection::over`] puts a pair of pipes behind them, [`Connection::memory`] another
//! connection, for tests and for authors of plugins.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::frame;
use crate::rpc::{self, Incoming, Outgoing};

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

/// The tasks that read from and write to the pipes of a connection.
#[derive(Debug)]
pub struct PipeTasks<W> {
    /// Ends with the editor's pipe, or after the connection is gone.
    pub reading: JoinHandle<()>,
    /// Ends when everything that was said has been written, after the connection is gone; with the
    /// pipe that it wrote to.
    pub writing: JoinHandle<W>,
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

    /// A connection over a pair of pipes.
    pub fn over<W>(
        mut from: impl AsyncBufRead + Unpin + Send + 'static,
        mut to: W,
    ) -> (Connection, PipeTasks<W>)
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (say, incoming) = mpsc::channel(WAITING);
        let (outgoing, mut hear) = mpsc::channel::<Outgoing>(WAITING);
        let reading = tokio::spawn(async move {
            loop {
                let message = match frame::read(&mut from).await {
                    Ok(Some(frame)) => frame.parse(),
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
                let content = serde_json::to_vec(&message).unwrap_or_default();
                if frame::write(&mut to, &content).await.is_err() {
                    break;
                }
            }
            to
        });
        (
            Connection { incoming, outgoing },
            PipeTasks { reading, writing },
        )
    }
}
