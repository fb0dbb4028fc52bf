//! One editor's session, from `initialize` to `exit`.

use front::{FrontError, Item, Reader};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::LspClient;
use crate::connection::Connection;
use crate::conversation;
use crate::handshake::{Handshake, ServiceHost};
use crate::rpc::{self, Id, Incoming, Outgoing, Params, ResponseError};
use crate::wire::{Stop, method};
use companion::desk::DraftQuery;

/// What a request is answered with.
pub(crate) type Response = Result<Value, ResponseError>;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The editor said `shutdown` first, as it should.
    Clean,
    /// The same, and the person wants the companion to end, not only the editor.
    Stopped,
    /// The same, and the editor starts it again at once.
    Restarts,
    /// It just left.
    Abrupt,
}

/// The session of one editor.
pub struct EditorSession<H> {
    host: H,
    incoming: mpsc::Receiver<Incoming>,
    outgoing: mpsc::Sender<Outgoing>,
    /// There from `initialize` on.
    client: Option<LspClient>,
    shut_down: bool,
    /// How it ends once the editor has said `shutdown`.
    clean_end: SessionEnd,
}

enum Input {
    Message(Incoming),
    Feed(Result<Item, FrontError>),
    Conversation(Result<Item, FrontError>),
    DraftQuery(DraftQuery),
    End,
}

impl<H: ServiceHost> EditorSession<H> {
    /// A session that has not begun.
    pub fn new(connection: Connection, host: H) -> EditorSession<H> {
        EditorSession {
            host,
            incoming: connection.incoming,
            outgoing: connection.outgoing,
            client: None,
            shut_down: false,
            clean_end: SessionEnd::Clean,
        }
    }

    /// Runs until the editor leaves.
    pub async fn run(mut self) -> SessionEnd {
        loop {
            let out = match self.next_input().await {
                Input::Message(Incoming::Notification(name, _)) if name == "exit" => break,
                Input::Message(message) => self.message(message).await,
                Input::End => break,
                Input::Feed(item) => match &mut self.client {
                    Some(client) => client.follow(item).await,
                    None => Vec::new(),
                },
                Input::Conversation(item) => match &mut self.client {
                    Some(client) => client.follow_conversation(item),
                    None => Vec::new(),
                },
                Input::DraftQuery(query) => match &mut self.client {
                    Some(client) => client.answer_draft_query(query),
                    None => Vec::new(),
                },
            };
            for message in out {
                if self.outgoing.send(message).await.is_err() {
                    return SessionEnd::Abrupt;
                }
            }
        }
        if self.shut_down {
            self.clean_end
        } else {
            SessionEnd::Abrupt
        }
    }

    async fn next_input(&mut self) -> Input {
        let Some(client) = &mut self.client else {
            let message = self.incoming.recv().await;
            return message.map_or(Input::End, Input::Message);
        };
        tokio::select! {
            message = self.incoming.recv() => message.map_or(Input::End, Input::Message),
            item = next_item(client.feed.as_mut()) => Input::Feed(item),
            Some(query) = client.draft_queries.recv() => Input::DraftQuery(query),
            item = next_item(client.conversation.feed.as_mut()) => Input::Conversation(item),
        }
    }

    async fn message(&mut self, message: Incoming) -> Vec<Outgoing> {
        match message {
            Incoming::Request(id, name, params) => self.request(&id, &name, &params).await,
            Incoming::Notification(name, params) if name == method::STOP => {
                // Older plugins send no parameters.
                let stop: Stop = params.read().unwrap_or_default();
                self.clean_end = if stop.restart {
                    SessionEnd::Restarts
                } else {
                    SessionEnd::Stopped
                };
                Vec::new()
            }
            Incoming::Notification(name, params) => match &mut self.client {
                Some(client) if !self.shut_down => client.notification(&name, &params).await,
                _ => Vec::new(),
            },
            Incoming::Response(number, outcome) => match &mut self.client {
                Some(client) => client.answered(number, outcome).await,
                None => Vec::new(),
            },
            Incoming::Invalid(id, code, why) => {
                let error = ResponseError::new(code, why);
                vec![Outgoing::response(id.as_deref(), Err(error))]
            }
        }
    }

    async fn request(&mut self, id: &Id, name: &str, params: &Params) -> Vec<Outgoing> {
        let invalid = |why: &str| Err(ResponseError::new(rpc::INVALID_REQUEST, why));
        let mut after = Vec::new();
        let response = match (name, &mut self.client) {
            ("initialize", None) => self.initialize(params).await,
            ("initialize", Some(_)) => invalid("already initialized"),
            (_, None) => Err(ResponseError::new(rpc::NOT_INITIALIZED, "initialize first")),
            (_, Some(_)) if self.shut_down => invalid("already shut down"),
            ("shutdown", Some(_)) => {
                self.shut_down = true;
                Ok(Value::Null)
            }
            (method::PAGE, Some(_)) => self.page(),
            (name, Some(client)) if name.starts_with(conversation::PREFIX) => {
                // What is asked of a conversation takes its time and must hold up nothing else.
                match client.begin_conversation_request(name, params) {
                    Ok(work) => {
                        let (outgoing, id) = (self.outgoing.clone(), id.clone());
                        tokio::spawn(async move {
                            let response = Outgoing::response(Some(&id), work.await);
                            // An editor that has left does not need it.
                            let _ = outgoing.send(response).await;
                        });
                        return Vec::new();
                    }
                    Err(error) => Err(error),
                }
            }
            (name, Some(client)) => client.request(name, params, &mut after).await,
        };
        let mut out = vec![Outgoing::response(Some(id), response)];
        out.append(&mut after);
        out
    }

    async fn initialize(&mut self, params: &Params) -> Response {
        let handshake = Handshake::read(params.parse()?)?;
        let failed = |why: String| ResponseError::new(rpc::REQUEST_FAILED, why);
        let joined = self.host.join(handshake.editor.clone()).await;
        let client = LspClient::new(joined.map_err(failed)?, &handshake);
        let trusted = handshake.editor.options.trusted;
        client.presence.set_trust(trusted).await;
        let answer = handshake.answer();
        self.client = Some(client);
        Ok(answer)
    }

    fn page(&mut self) -> Response {
        let link = self.host.page_link();
        link.map(|url| json!({ "url": url }))
            .ok_or_else(|| ResponseError::new(rpc::REQUEST_FAILED, "there is no page to open"))
    }
}

/// The next item of a feed; none ever while nobody reads it.
async fn next_item(reader: Option<&mut Reader>) -> Result<Item, FrontError> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}
