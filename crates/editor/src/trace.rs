//! A trace of a session, to look at or to replay: one JSON object per line and message.

use std::fs::File;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::daemon_options::hide_token;
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

    /// Records the messages of an editor.
    pub fn heard(&self) -> Recording {
        Recording::start(self.clone(), Trace::message_of_editor)
    }

    /// Records our own messages.
    pub fn said(&self) -> Recording {
        Recording::start(self.clone(), Trace::message_of_ours)
    }

    pub(crate) fn message_of_editor(&self, content: &[u8]) {
        let mut message = message(content);
        hide_token(&mut message);
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

/// Records the messages among the bytes of one direction.
#[derive(Debug)]
pub struct Recording {
    chunks: mpsc::Sender<Chunk>,
    task: JoinHandle<()>,
}

impl Recording {
    fn start(trace: Trace, record: fn(&Trace, &[u8])) -> Recording {
        let (chunks, receiver) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let mut bytes = ChunkReader {
                chunks: receiver,
                current: None,
            };
            while let Ok(Some(frame)) = frame::read(&mut bytes).await {
                if let Frame::Message(content) = frame {
                    record(&trace, &content);
                }
            }
            // What is no message any more must not hold up the session.
            let _ = tokio::io::copy_buf(&mut bytes, &mut tokio::io::sink()).await;
        });
        Recording { chunks, task }
    }

    /// Returns when the messages that end in these bytes are in the trace. Bytes are recorded
    /// before they are passed on, so that no answer stands before its question.
    pub async fn record(&mut self, bytes: &[u8]) {
        let (all_read, recorded) = oneshot::channel();
        let chunk = Chunk {
            bytes: bytes.to_vec(),
            consumed: 0,
            _all_read: all_read,
        };
        // A trace that cannot be written must not disturb the session.
        if self.chunks.send(chunk).await.is_ok() {
            let _ = recorded.await;
        }
    }

    /// Waits until nothing is left to be recorded.
    pub async fn finish(self) {
        drop(self.chunks);
        let _ = self.task.await;
    }
}

/// Bytes to be recorded.
#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    consumed: usize,
    /// Dropped when the reader asks for more, because everything in the chunk is recorded then.
    _all_read: oneshot::Sender<()>,
}

struct ChunkReader {
    chunks: mpsc::Receiver<Chunk>,
    current: Option<Chunk>,
}

impl AsyncBufRead for ChunkReader {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context) -> Poll<std::io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.current.as_ref().is_none_or(Chunk::is_consumed) {
            this.current = None;
            match ready!(this.chunks.poll_recv(context)) {
                Some(chunk) => this.current = Some(chunk),
                None => return Poll::Ready(Ok(&[])),
            }
        }
        let chunk = this.current.as_ref();
        Poll::Ready(Ok(chunk.map_or(&[], |chunk| &chunk.bytes[chunk.consumed..])))
    }

    fn consume(self: Pin<&mut Self>, length: usize) {
        if let Some(chunk) = &mut self.get_mut().current {
            chunk.consumed += length;
        }
    }
}

impl AsyncRead for ChunkReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        into: &mut ReadBuf,
    ) -> Poll<std::io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(context))?;
        let length = bytes.len().min(into.remaining());
        into.put_slice(&bytes[..length]);
        self.consume(length);
        Poll::Ready(Ok(()))
    }
}

impl Chunk {
    fn is_consumed(&self) -> bool {
        self.consumed == self.bytes.len()
    }
}

/// The message, or its text if it is no JSON.
fn message(content: &[u8]) -> Value {
    serde_json::from_slice(content)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(content).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of the messages that are in the trace.
    fn ids(path: &std::path::Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        text.lines()
            .map(|it| line(it)["message"]["id"].clone())
            .collect()
    }

    #[tokio::test]
    async fn a_message_is_in_the_trace_before_it_is_passed_on() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let trace = Trace::new(file.reopen().unwrap());
        let (mut heard, mut said) = (trace.heard(), trace.said());
        let mut expected = Vec::new();
        for id in 0..100 {
            let content = json!({ "id": id, "text": "x".repeat(1 << (id % 20)) }).to_string();
            let mut bytes = Vec::new();
            frame::write(&mut bytes, content.as_bytes()).await.unwrap();
            let recording = if id % 2 == 0 { &mut heard } else { &mut said };
            let (first, last) = bytes.split_at(bytes.len() - 1);
            recording.record(first).await;
            assert_eq!(ids(file.path()), expected);
            recording.record(last).await;
            expected.push(json!(id));
            assert_eq!(ids(file.path()), expected);
        }
        heard.record(&vec![b'x'; 3 << 20]).await;
        heard.record(b"what is no message holds nobody up").await;
        heard.finish().await;
        said.finish().await;
        assert_eq!(ids(file.path()), expected);
    }
}
