//! The editor's first words, before it is known which companion it will be in.
//!
//! Which folders an editor has, and so which companion serves it, is said in `initialize`. Up to
//! there the messages are answered here. Everything after belongs to an
//! [`EditorSession`](crate::EditorSession), which reads that request again.

use tokio::io::{AsyncBufRead, AsyncWrite};

use crate::frame::{self, Frame};
use crate::handshake::EditorInfo;
use crate::rpc::{self, Id, Incoming, Outgoing, ResponseError};
use crate::trace::Trace;

/// An editor that has not said `initialize`.
#[derive(Debug)]
pub struct Greeting<R, W> {
    from: R,
    to: W,
    trace: Option<Trace>,
}

/// An `initialize` request.
#[derive(Debug)]
pub struct Hello {
    id: Id,
    /// What the editor says of itself.
    pub editor: EditorInfo,
    /// The whole message.
    pub content: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin, W: AsyncWrite + Unpin> Greeting<R, W> {
    /// An editor at the other end of these pipes.
    pub fn new(from: R, to: W, trace: Option<Trace>) -> Greeting<R, W> {
        Greeting { from, to, trace }
    }

    /// The next `initialize` that can be read; `None` if the editor leaves without one.
    pub async fn hello(&mut self) -> Option<Hello> {
        loop {
            let frame = match frame::read(&mut self.from).await {
                Ok(frame) => frame?,
                Err(broken) => {
                    tracing::warn!(%broken, "the editor's pipe is broken");
                    return None;
                }
            };
            if let (Some(trace), Frame::Message(content)) = (&self.trace, &frame) {
                trace.message_of_editor(content);
            }
            match (frame.parse(), frame) {
                (Incoming::Request(id, name, _), Frame::Message(content))
                    if name == "initialize" =>
                {
                    match EditorInfo::read(&content) {
                        Ok(editor) => {
                            return Some(Hello {
                                id,
                                editor,
                                content,
                            });
                        }
                        Err(error) => self.fail(Some(&id), error).await,
                    }
                }
                (Incoming::Request(id, ..), _) => {
                    let early = ResponseError::new(rpc::NOT_INITIALIZED, "initialize first");
                    self.fail(Some(&id), early).await;
                }
                (Incoming::Notification(name, _), _) if name == "exit" => return None,
                (Incoming::Invalid(id, code, why), _) => {
                    self.fail(id.as_ref(), ResponseError::new(code, why)).await;
                }
                (Incoming::Notification(..) | Incoming::Response(..), _) => {}
            }
        }
    }

    /// Tells the person at the editor why it is not let in.
    pub async fn refuse(&mut self, hello: &Hello, why: String) {
        let error = ResponseError::new(rpc::REQUEST_FAILED, why);
        self.fail(Some(&hello.id), error).await;
    }

    /// The pipes, with everything that the editor has said since.
    pub fn into_pipes(self) -> (R, W) {
        (self.from, self.to)
    }

    async fn fail(&mut self, id: Option<&Id>, error: ResponseError) {
        let response = Outgoing::response(id.map(|id| &**id), Err(error));
        let content = serde_json::to_vec(&response).unwrap_or_default();
        if let Some(trace) = &self.trace {
            trace.message_of_ours(&content);
        }
        // One that does not read will be noticed when it is read from.
        let _ = frame::write(&mut self.to, &content).await;
    }
}
