//! An editor after `initialize`: what it has open, what it is shown, what it was told.

use companion::desk::{AgentSession, Draft, DraftQuery, DraftSource};
use front::{Change, Counts, Front, FrontError, Interest, Item, Presence, Reader, Topic, words};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use workbench::{Decision, Fault};

use crate::conversation::ConversationBridge;
use crate::documents::Documents;
use crate::handshake::{EditorService, Handshake};
use crate::message::{log, report, tell, warn};
use crate::requests::{PendingRequests, Purpose};
use crate::reviews::{Abilities, Reviews};
use crate::rpc::{self, Outgoing, Params, ResponseError};
use crate::session::Response;
use crate::to_wire;
use crate::wire::{self, method};

/// What an editor is told of.
const INTEREST: Interest = Interest::of(&[Topic::Review, Topic::Counts]);

/// An editor after `initialize`.
pub(crate) struct LspClient {
    pub(crate) front: Front,
    /// What this editor has open, beside others.
    pub(crate) presence: Presence,
    /// There from `initialized` on: only then may we ask the editor something.
    pub(crate) feed: Option<Reader>,
    pub(crate) abilities: Abilities,
    pub(crate) documents: Documents,
    pub(crate) reviews: Reviews,
    pub(crate) requests: PendingRequests,
    pub(crate) conversation: ConversationBridge,
    /// Where the desk asks for the text of a proposal that the editor shows.
    pub(crate) draft_source: DraftSource,
    pub(crate) draft_queries: mpsc::Receiver<DraftQuery>,
    /// What `outrigger/ready` says.
    ready: Value,
    /// What the editor's log should say first.
    notices: Vec<String>,
    pub(crate) agents: Vec<AgentSession>,
    counts: Counts,
    /// What closes folders to agents, as the person was told.
    faults: Vec<Fault>,
    /// The status that the editor was told last.
    told: Option<wire::Status>,
}

impl LspClient {
    pub(crate) fn new(service: EditorService, handshake: &Handshake) -> LspClient {
        let (draft_source, draft_queries) = mpsc::channel(64);
        LspClient {
            ready: json!({ "port": service.port, "environment": service.environment }),
            presence: service.front.presence(service.holder),
            front: service.front,
            notices: service.notices,
            feed: None,
            abilities: handshake.abilities,
            documents: Documents::new(handshake.encoding, service.folders),
            reviews: Reviews::new(&service.private_folder),
            requests: PendingRequests::default(),
            conversation: ConversationBridge::default(),
            draft_source,
            draft_queries,
            agents: Vec::new(),
            counts: Counts::default(),
            faults: Vec::new(),
            told: None,
        }
    }

    pub(crate) async fn request(
        &mut self,
        name: &str,
        params: &Params,
        after: &mut Vec<Outgoing>,
    ) -> Response {
        match name {
            "textDocument/codeAction" => self.code_actions(params).await,
            "textDocument/documentHighlight" | "textDocument/hover" => {
                self.note_position(params).await;
                Ok(Value::Null)
            }
            "workspace/executeCommand" => self.execute(params, after).await,
            method::PROPOSAL_LIST => self.list_proposals().await,
            method::PROPOSAL_UPDATE => self.compare_draft(params).await,
            method::PROPOSAL_VERDICT => self.decide_as_told(params).await,
            method::STATUS => self.status().await,
            method::PAUSE => self.pause(params).await,
            _ => Err(no_method(name)),
        }
    }

    pub(crate) async fn notification(&mut self, name: &str, params: &Params) -> Vec<Outgoing> {
        match name {
            "initialized" => self.initialized().await,
            method::PROPOSAL_VERDICT => report(self.decide_as_told(params).await),
            method::PROPOSAL_UPDATE => {
                self.update_draft(params).await;
                Vec::new()
            }
            method::PAUSE => report(self.pause(params).await),
            "textDocument/didSave" => self.saved(params).await,
            "workspace/didChangeWorkspaceFolders" => {
                self.folders_changed(params).await;
                Vec::new()
            }
            _ => {
                self.document_notification(name, params).await;
                Vec::new()
            }
        }
    }

    /// The editor answered a request of ours.
    pub(crate) async fn answered(
        &mut self,
        number: u64,
        outcome: Result<Value, Value>,
    ) -> Vec<Outgoing> {
        let Some(purpose) = self.requests.answered(number) else {
            return Vec::new();
        };
        match (purpose, outcome) {
            (Purpose::OpenProposal(id), outcome) => {
                self.reviews.opened(id, outcome);
                Vec::new()
            }
            (Purpose::TakeDraft(revision, asker), Ok(value)) => {
                if let Some(text) = edited_text(value) {
                    // The agent may have given up waiting.
                    let _ = asker.send(Draft { revision, text });
                }
                Vec::new()
            }
            (Purpose::ReviseProposal(id, revision), outcome) => {
                // A plugin that does not know the request has nothing that could be lost.
                let text = outcome.ok().and_then(edited_text);
                self.show_again(id, text.map(|text| Draft { revision, text }))
                    .await
            }
            (Purpose::DecideProposal(id), Ok(value)) => match button(&value) {
                Some(wire::ACCEPT_BUTTON) => self.accept_and_report(id).await,
                Some(wire::REJECT_BUTTON) => report(self.decide(id, Decision::Reject).await),
                _ => Vec::new(),
            },
            // Kate 22.12 has no questions with buttons.
            (Purpose::DecideProposal(id), Err(_)) => {
                let sheet = self.reviews.sheet_of(id);
                let message = sheet.map(|sheet| {
                    format!(
                        "The proposal is in {}. Decide in the page (`outrigger url`), \
                         with `outrigger accept {id}`, or in the agent's terminal.",
                        sheet.path().display()
                    )
                });
                message.map(|message| tell(&message)).into_iter().collect()
            }
            (Purpose::AnswerRequest { request, options }, Ok(value)) => {
                let chosen = button(&value)
                    .and_then(|title| options.into_iter().find(|(shown, _)| shown == title));
                if let Some((_, option)) = chosen {
                    self.choose_option(request, option);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// From here on we may ask the editor something: first of all to show what is pending.
    async fn initialized(&mut self) -> Vec<Outgoing> {
        let mut out = Vec::new();
        // The environment holds tokens. A client without a plugin has no use for them and might
        // write them to its log.
        if self.abilities.plugin {
            out.push(Outgoing::notification(method::READY, &self.ready));
        } else {
            self.follow_conversation_requests();
        }
        out.extend(self.notices.drain(..).map(|notice| log(&notice)));
        let mut feed = self.front.read(INTEREST, None);
        let first = feed.next().await;
        self.feed = Some(feed);
        out.append(&mut self.follow(first).await);
        out
    }

    /// Takes in what the feed says.
    pub(crate) async fn follow(&mut self, item: Result<Item, FrontError>) -> Vec<Outgoing> {
        let Ok(item) = item else {
            // The companion is about to end, and says no more.
            self.feed = None;
            return Vec::new();
        };
        let mut out = Vec::new();
        match item {
            Item::Snapshot(snapshot) => {
                self.counts = snapshot.overview.counts();
                self.agents.clone_from(&snapshot.overview.agents);
                out.append(&mut self.tell_faults(&snapshot.overview.faults));
                out.append(&mut self.show_exactly(*snapshot).await);
            }
            Item::Change(change) => match &change.change {
                Change::Opened(summary) => {
                    out.push(log(&format!("proposal {} is pending", summary.id)));
                    out.append(&mut self.show(summary).await);
                }
                Change::Revised(summary) => {
                    let (id, revision) = (summary.id, summary.revision);
                    out.append(&mut self.revise(id, revision).await);
                }
                Change::Closed(id, outcome) => {
                    out.push(log(&format!("proposal {id} was {outcome}")));
                    out.append(&mut self.close(*id, Some(*outcome)));
                }
                Change::Agents(agents) => self.agents.clone_from(agents),
                Change::Faults(faults) => out.append(&mut self.tell_faults(faults)),
                Change::Counts(counts) => self.counts = *counts,
                Change::Drafted(_)
                | Change::Editors(_)
                | Change::Shared(_)
                | Change::Logged(_)
                | Change::Conversation(_) => {}
            },
        }
        out.append(&mut self.tell_status());
        out
    }

    /// Tells the person what closes folders to agents, unless they were told: somebody who thinks
    /// that agents see what is open would wonder about their answers.
    fn tell_faults(&mut self, faults: &[Fault]) -> Vec<Outgoing> {
        let said = words::faults_changed(&self.faults, faults);
        let show = if faults.is_empty() { tell } else { warn };
        self.faults = faults.to_vec();
        said.iter().map(|message| show(message)).collect()
    }

    /// Tells the editor its status, if it is not what it was told last.
    fn tell_status(&mut self) -> Vec<Outgoing> {
        let status = to_wire::status(&self.agents, self.counts, &self.faults);
        let mut out = Vec::new();
        if let Some(told) = &self.told {
            if *told == status {
                return out;
            }
            if told.agents != status.agents {
                out.push(log(&format!("agents: {}", words::agents(&self.agents))));
            }
        }
        if self.abilities.plugin {
            out.push(Outgoing::notification(method::STATUS, &status));
        }
        self.told = Some(status);
        out
    }

    async fn status(&self) -> Response {
        let overview = self.front.overview().await.map_err(to_wire::error)?;
        let status = to_wire::status(&overview.agents, overview.counts(), &overview.faults);
        Ok(json!(status))
    }

    async fn pause(&self, params: &Params) -> Response {
        let wire::Pause { paused } = params.parse()?;
        let done = self.front.set_paused(paused).await;
        done.map(|()| Value::Null).map_err(to_wire::error)
    }
}

/// What the person has made of a text, if anything.
fn edited_text(answer: Value) -> Option<String> {
    let edited: wire::EditedText = serde_json::from_value(answer).unwrap_or_default();
    edited.text
}

/// The title of the button that the person chose.
fn button(answer: &Value) -> Option<&str> {
    answer.get("title").and_then(Value::as_str)
}

pub(crate) fn no_method(name: &str) -> ResponseError {
    let message = format!("there is no method {name:?}");
    ResponseError::new(rpc::METHOD_NOT_FOUND, message)
}
