//! The conversation with a daemon, for the editor: `outrigger/daemon/*`.
//!
//! What is asked of the daemon takes its time, so each request is answered from a task of its own
//! and holds up nothing else. A plugin follows the conversation and shows what waits for the person
//! in the editor's own picker. An editor without one is asked by us, with buttons.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use chat::view::{Change, Request};
use chat::{Chat, Follower, Prompt, Reply, Step, Trouble, Which};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::link::{Answer, Host, Link, read};
use crate::reviews::Reviews;
use crate::rpc::{self, Fault, Id, Outgoing, Params};
use crate::wire::method;

/// What the names of all these methods begin with.
pub(crate) const PREFIX: &str = "outrigger/daemon/";

/// What an editor has of a conversation.
#[derive(Debug)]
pub(crate) struct Talk {
    chat: Chat,
    follower: Option<Follower>,
    /// Requests that the editor was asked about with buttons, and the number of that question.
    asked: HashMap<String, u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Connect {
    #[serde(default)]
    which: Which,
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
struct Answering {
    request: String,
    reply: Reply,
}

#[derive(Debug, Deserialize)]
struct Find {
    typed: String,
}

#[derive(Debug, Deserialize)]
struct Follow {
    follow: bool,
}

impl Talk {
    /// Without a plugin, what waits for the person is followed from the beginning.
    pub(crate) fn new(chat: Chat, plugin: bool) -> Talk {
        Talk {
            follower: (!plugin).then(|| chat.follow(None)),
            chat,
            asked: HashMap::new(),
        }
    }

    /// The next step of the conversation; none while nobody follows it.
    pub(crate) async fn next(talk: Option<&mut Talk>) -> Step {
        match talk.and_then(|talk| talk.follower.as_mut()) {
            Some(follower) => follower.next().await,
            None => std::future::pending().await,
        }
    }

    /// Tells the editor about a step, or asks it about what waits for the person now.
    pub(crate) fn step(&mut self, step: Step, reviews: &mut Reviews) -> Vec<Outgoing> {
        if reviews.abilities().plugin {
            return vec![match step {
                Step::All(all) => Outgoing::notification(method::DAEMON_ALL, &all),
                Step::One(change) => Outgoing::notification(method::DAEMON_CHANGE, &change),
            }];
        }
        match step {
            Step::All(all) => self.ask(&all.requests, reviews),
            Step::One(change) => match &change.change {
                Change::Requests { requests } => self.ask(requests, reviews),
                _ => Vec::new(),
            },
        }
    }

    /// Asks about what is new, and takes back what somebody else has answered.
    fn ask(&mut self, waiting: &[Request], reviews: &mut Reviews) -> Vec<Outgoing> {
        let mut out = Vec::new();
        self.asked.retain(|asked, question| {
            let waits = waiting.iter().any(|request| request.request == *asked);
            if !waits {
                out.extend(reviews.take_back(*question));
            }
            waits
        });
        for request in waiting {
            // Edits stand in the review, and are asked about there.
            if request.proposal.is_none() && !self.asked.contains_key(&request.request) {
                let (message, question) = reviews.ask_leave(request);
                out.push(message);
                self.asked.insert(request.request.clone(), question);
            }
        }
        out
    }

    /// The person chose an option of a request.
    pub(crate) fn choose(&self, request: String, option: String) {
        let chat = self.chat.clone();
        tokio::spawn(async move {
            if let Err(trouble) = chat.answer(&request, Reply::Option(option)).await {
                tracing::warn!(%trouble, "an answer did not reach the daemon");
            }
        });
    }
}

/// What answers a request, some time.
type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl<H: Host> Link<H> {
    /// Does what is asked of the daemon; the answer goes out when there is one.
    pub(crate) fn daemon(&mut self, id: &Id, name: &str, params: &Params) -> Vec<Outgoing> {
        match self.begin(name, params) {
            Ok(work) => {
                let (outgoing, id) = (self.outgoing.clone(), id.clone());
                tokio::spawn(async move {
                    let answer = Outgoing::answer(Some(&id), work.await);
                    // An editor that has left does not need it.
                    let _ = outgoing.send(answer).await;
                });
                Vec::new()
            }
            Err(fault) => vec![Outgoing::answer(Some(id), Err(fault))],
        }
    }

    fn begin(&mut self, name: &str, params: &Params) -> Result<Work, Fault> {
        let session = self
            .session
            .as_mut()
            .ok_or_else(|| Fault::new(rpc::NOT_INITIALIZED, "initialize first"))?;
        let talk = session.talk.as_mut().ok_or_else(off)?;
        let chat = talk.chat.clone();
        Ok(match name {
            method::DAEMON_CONNECT => {
                let connect = params.read::<Option<Connect>>().map_err(wrong)?;
                let which = connect.unwrap_or_default().which;
                Box::pin(async move { nothing(chat.connect(which).await) })
            }
            method::DAEMON_DISCONNECT => Box::pin(async move {
                chat.disconnect().await;
                Ok(Value::Null)
            }),
            method::DAEMON_START => Box::pin(async move { nothing(chat.start_daemon().await) }),
            method::DAEMON_PROMPT => {
                let prompt: Prompt = read(params)?;
                Box::pin(async move { nothing(chat.prompt(prompt).await) })
            }
            method::DAEMON_CANCEL => Box::pin(async move { nothing(chat.cancel().await) }),
            method::DAEMON_MODEL => {
                let SetModel { model } = read(params)?;
                Box::pin(async move { nothing(chat.set_model(&model).await) })
            }
            method::DAEMON_MODE => {
                let SetMode { mode } = read(params)?;
                Box::pin(async move { nothing(chat.set_mode(&mode).await) })
            }
            method::DAEMON_ANSWER => {
                let Answering { request, reply } = read(params)?;
                Box::pin(async move {
                    let counted = chat.answer(&request, reply).await.map_err(fault)?;
                    Ok(json!({ "counted": counted }))
                })
            }
            method::DAEMON_EARLIER => Box::pin(async move {
                let sessions = chat.earlier().await.map_err(fault)?;
                Ok(json!({ "sessions": sessions }))
            }),
            method::DAEMON_FILES => {
                let Find { typed } = read(params)?;
                Box::pin(async move {
                    let files = chat.files(typed).await.map_err(fault)?;
                    Ok(json!({ "files": files }))
                })
            }
            method::DAEMON_FOLLOW => {
                let Follow { follow } = read(params)?;
                talk.follower = follow.then(|| chat.follow(None));
                Box::pin(async { Ok(Value::Null) })
            }
            _ => {
                let message = format!("there is no method {name:?}");
                return Err(Fault::new(rpc::METHOD_NOT_FOUND, message));
            }
        })
    }
}

fn nothing(done: Result<(), Trouble>) -> Answer {
    done.map(|()| Value::Null).map_err(fault)
}

fn fault(trouble: Trouble) -> Fault {
    let message = match trouble.hint {
        Some(hint) => format!("{}; {hint}", trouble.why),
        None => trouble.why,
    };
    Fault::new(rpc::REQUEST_FAILED, message)
}

fn wrong(error: impl std::fmt::Display) -> Fault {
    Fault::new(rpc::INVALID_PARAMS, format!("wrong parameters: {error}"))
}

fn off() -> Fault {
    Fault::new(
        rpc::REQUEST_FAILED,
        "conversations with a daemon are switched off; switch on the option `daemon` of the editor's plugin, \
         or set `enabled = true` in the table [daemon] of the configuration",
    )
}
