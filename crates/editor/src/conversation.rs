//! The conversation, for the editor: `outrigger/daemon/*`.
//!
//! A plugin follows the conversation and shows what waits for the person in the editor's own
//! picker. An editor without one is asked by us, with buttons.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use ::wire::conversation::{self as json, Prompt, Reply, Target};
use conversation::Trouble;
use conversation::requests::AgentRequest;
use front::{Change, FrontError, Interest, Item, Reader, Topic};
use serde::Deserialize;
use serde_json::{Value, json};
use text::show::{Lines, one_line};

use crate::client::{LspClient, no_method};
use crate::message::question;
use crate::requests::Purpose;
use crate::rpc::{Outgoing, Params, ResponseError};
use crate::session::Response;
use crate::to_wire;
use crate::wire::method;

/// What the names of all these methods begin with.
pub(crate) const PREFIX: &str = "outrigger/daemon/";

const INTEREST: Interest = Interest::of(&[Topic::Conversation]);

/// What an editor has of the conversation.
#[derive(Debug, Default)]
pub(crate) struct ConversationBridge {
    /// There while the editor follows it.
    pub(crate) feed: Option<Reader>,
    /// Requests that the editor was asked about with buttons, and the number of that question.
    asked: HashMap<String, u64>,
}

/// What responds to a request, some time.
pub(crate) type PendingResponse = Pin<Box<dyn Future<Output = Response> + Send>>;

#[derive(Debug, Default, Deserialize)]
struct Connect {
    #[serde(default)]
    which: Target,
}

#[derive(Debug, Deserialize)]
struct SetModel {
    model: String,
}

#[derive(Debug, Deserialize)]
struct SetMode {
    mode: String,
}

#[derive(Debug, Deserialize)]
struct AnswerRequest {
    request: String,
    reply: Reply,
}

#[derive(Debug, Deserialize)]
struct FindFiles {
    typed: String,
}

#[derive(Debug, Deserialize)]
struct Follow {
    follow: bool,
}

impl LspClient {
    /// An editor without a plugin is asked by us; for that, what waits is followed from the
    /// beginning.
    pub(crate) fn follow_conversation_requests(&mut self) {
        if self.front.conversation().is_ok() {
            self.conversation.feed = Some(self.front.read(INTEREST, None));
        }
    }

    /// Tells the editor how the conversation goes on, or asks it about what waits for the person.
    pub(crate) fn follow_conversation(&mut self, item: Result<Item, FrontError>) -> Vec<Outgoing> {
        let Ok(item) = item else {
            // The companion is about to end, and says no more.
            self.conversation.feed = None;
            return Vec::new();
        };
        match item {
            Item::Snapshot(snapshot) => {
                let Some(all) = snapshot.conversation else {
                    return Vec::new();
                };
                if self.abilities.plugin {
                    return vec![Outgoing::notification(
                        method::DAEMON_ALL,
                        &json::snapshot(&all),
                    )];
                }
                self.ask_about(&all.requests)
            }
            Item::Change(change) => match &change.change {
                Change::Conversation(change) if self.abilities.plugin => {
                    vec![Outgoing::notification(
                        method::DAEMON_CHANGE,
                        &json::change(change),
                    )]
                }
                Change::Conversation(conversation::Change::Requests(requests)) => {
                    self.ask_about(requests)
                }
                _ => Vec::new(),
            },
        }
    }

    /// Asks about what is new, and takes back what somebody else has answered.
    fn ask_about(&mut self, waiting: &[AgentRequest]) -> Vec<Outgoing> {
        let mut out = Vec::new();
        let requests = &mut self.requests;
        self.conversation.asked.retain(|asked, question| {
            let waits = waiting.iter().any(|request| request.id == *asked);
            if !waits {
                out.extend(requests.cancel(*question));
            }
            waits
        });
        for request in waiting {
            // Edits stand in the review, and are asked about there.
            let is_asked = self.conversation.asked.contains_key(&request.id);
            if request.proposal.is_none() && !is_asked {
                let (message, question) = self.ask_with_buttons(request);
                out.push(message);
                let id = request.id.clone();
                self.conversation.asked.insert(id, question);
            }
        }
        out
    }

    fn ask_with_buttons(&mut self, request: &AgentRequest) -> (Outgoing, u64) {
        let mut message = Lines::new();
        message.push(format_args!("The daemon asks: {}", request.title));
        if let Some(command) = &request.tool.command {
            message.quote("$ ", command);
        }
        if let Some(unreviewed) = request.unreviewed {
            message.push(unreviewed);
        }
        let mut options = Vec::new();
        if request.questions.is_some() {
            message.push("Answer it in the page (`outrigger url`).");
        } else {
            let offered = request.options.as_slice().iter();
            options.extend(offered.map(|option| (one_line(&option.title), option.id.clone())));
        }
        let buttons: Vec<_> = options.iter().map(|(title, _)| title.clone()).collect();
        let params = question(&message, &buttons);
        let purpose = Purpose::AnswerRequest {
            request: request.id.clone(),
            options,
        };
        self.requests
            .add("window/showMessageRequest", &params, purpose)
    }

    /// The person chose an option of a request.
    pub(crate) fn choose_option(&self, request: String, option: String) {
        let Ok(conversation) = self.front.conversation().cloned() else {
            return;
        };
        let reply = conversation::Reply::Option(option);
        tokio::spawn(async move {
            let answered = conversation.answer(request, reply).await;
            if let Err(trouble) = answered {
                tracing::warn!(%trouble, "an answer did not reach the daemon");
            }
        });
    }

    /// Begins what a request asks of the conversation.
    pub(crate) fn begin_conversation_request(
        &mut self,
        name: &str,
        params: &Params,
    ) -> Result<PendingResponse, ResponseError> {
        let conversation = self.front.conversation().map_err(to_wire::error)?.clone();
        Ok(match name {
            method::DAEMON_CONNECT => {
                let connect: Option<Connect> = params.parse()?;
                let which = connect.unwrap_or_default().which;
                Box::pin(async move { done(conversation.connect(which.into()).await) })
            }
            method::DAEMON_DISCONNECT => Box::pin(async move {
                conversation.disconnect().await;
                Ok(Value::Null)
            }),
            method::DAEMON_START => Box::pin(async move { done(conversation.launch().await) }),
            method::DAEMON_PROMPT => {
                let prompt: Prompt = params.parse()?;
                Box::pin(async move { done(conversation.prompt(prompt.into()).await) })
            }
            method::DAEMON_CANCEL => Box::pin(async move { done(conversation.cancel().await) }),
            method::DAEMON_MODEL => {
                let SetModel { model } = params.parse()?;
                Box::pin(async move { done(conversation.set_model(model).await) })
            }
            method::DAEMON_MODE => {
                let SetMode { mode } = params.parse()?;
                Box::pin(async move { done(conversation.set_mode(mode).await) })
            }
            method::DAEMON_ANSWER => {
                let AnswerRequest { request, reply } = params.parse()?;
                Box::pin(async move {
                    let counted = conversation.answer(request, reply.into()).await;
                    Ok(json!({ "counted": counted.map_err(failed)? }))
                })
            }
            method::DAEMON_EARLIER => Box::pin(async move {
                let sessions = conversation.earlier().await.map_err(failed)?;
                Ok(json!({ "sessions": json::earlier(&sessions) }))
            }),
            method::DAEMON_FILES => {
                let FindFiles { typed } = params.parse()?;
                Box::pin(async move {
                    let files = conversation.files(typed).await.map_err(failed)?;
                    Ok(json!({ "files": files }))
                })
            }
            method::DAEMON_FOLLOW => {
                let Follow { follow } = params.parse()?;
                self.conversation.feed = follow.then(|| self.front.read(INTEREST, None));
                Box::pin(async { Ok(Value::Null) })
            }
            _ => return Err(no_method(name)),
        })
    }
}

fn done(outcome: Result<(), Trouble>) -> Response {
    outcome.map(|()| Value::Null).map_err(failed)
}

fn failed(trouble: Trouble) -> ResponseError {
    to_wire::error(FrontError::Conversation(trouble))
}
