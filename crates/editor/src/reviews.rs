//! The proposals that the editor is asked to show, and what it answers.
//!
//! A plugin (level 1) is asked to open a native diff. An editor without one (level 0) gets the
//! proposal as a sheet, and a question with buttons. An editor that cannot or will not show a
//! proposal never costs the person the edit: it stays pending for everybody else.

use std::collections::HashMap;
use std::path::PathBuf;

use companion::desk::Question;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use workbench::{Original, Proposal, ProposalId, Standing};

use crate::rpc::Outgoing;
use crate::sheet::{SHEETS, Sheet};
use crate::uri;
use crate::wire::{self, method};

/// Requests to the editor that may be open at once; older ones are given up.
const MOST_ASKED: usize = 1024;

const ACCEPT: &str = "Accept";
const REJECT: &str = "Reject";
const LATER: &str = "Later";

/// What the editor can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// It has a plugin that knows the `outrigger/*` methods.
    pub(crate) plugin: bool,
    /// It can be asked to show a document.
    pub(crate) show_document: bool,
    /// It can be asked to change a document.
    pub(crate) apply_edit: bool,
}

/// What an answer of the editor asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Accept what the sheet says.
    Accept(ProposalId),
    /// Reject.
    Reject(ProposalId),
    /// It cannot ask the person, who has to be told this instead.
    Tell(String),
    /// Choose an option of a request of the daemon.
    Choose(String, String),
}

#[derive(Debug)]
enum Shown {
    Natively,
    AsSheet { sheet: Sheet, question: u64 },
}

#[derive(Debug)]
enum Asked {
    Open(ProposalId),
    Close(Option<oneshot::Sender<String>>),
    Decide(ProposalId),
    /// A request of the daemon, and its options: what to show and what to send.
    Leave(String, Vec<(String, String)>),
    Nothing,
}

/// The proposals that the editor shows.
#[derive(Debug)]
pub(crate) struct Reviews {
    abilities: Abilities,
    /// Where sheets are kept.
    folder: PathBuf,
    shown: HashMap<ProposalId, Shown>,
    asked: HashMap<u64, Asked>,
    next: u64,
}

impl Reviews {
    /// For an editor with these abilities, with sheets below `folder`.
    pub(crate) fn new(abilities: Abilities, folder: PathBuf) -> Reviews {
        Reviews {
            abilities,
            folder,
            shown: HashMap::new(),
            asked: HashMap::new(),
            next: 1,
        }
    }

    /// Asks the editor to show a proposal.
    pub(crate) fn present(&mut self, proposal: &Proposal, dirty: bool) -> Vec<Outgoing> {
        if self.shown.contains_key(&proposal.id) {
            return Vec::new();
        }
        if let Standing::TerminalOnly(why) = &proposal.standing {
            let message = format!("{} proposes an edit: {why}", proposal.agent);
            return vec![Outgoing::notification(
                "window/showMessage",
                &json!({ "type": 3, "message": message }),
            )];
        }
        if self.abilities.plugin {
            self.shown.insert(proposal.id, Shown::Natively);
            let described = describe(proposal, dirty);
            return vec![self.ask(method::PROPOSAL_OPEN, &described, Asked::Open(proposal.id))];
        }
        match Sheet::lay(&self.folder, proposal) {
            Ok(sheet) => self.present_sheet(proposal, sheet, dirty),
            Err(error) => {
                tracing::warn!(%error, "cannot show a proposal as a document; decide it elsewhere");
                Vec::new()
            }
        }
    }

    fn present_sheet(&mut self, proposal: &Proposal, sheet: Sheet, dirty: bool) -> Vec<Outgoing> {
        let mut out = Vec::new();
        if self.abilities.show_document {
            let params = json!({ "uri": sheet.uri, "takeFocus": false });
            out.push(self.ask("window/showDocument", &params, Asked::Nothing));
        }
        let what = match (
            &proposal.texts.original,
            proposal.texts.review().hunks().len(),
        ) {
            (Original::Absent, _) => "a new file".to_owned(),
            (Original::Text(_), 1) => "1 hunk".to_owned(),
            (Original::Text(_), hunks) => format!("{hunks} hunks"),
        };
        let warning = if dirty {
            " The file has changes that are not saved."
        } else {
            ""
        };
        let place = if self.abilities.show_document {
            String::new()
        } else {
            format!(" The proposal is in {}.", sheet.path().display())
        };
        let message = format!(
            "{} wants to change {} ({what}).{warning}{place}",
            proposal.agent, proposal.path
        );
        let buttons = [ACCEPT, REJECT, LATER].map(|title| json!({ "title": title }));
        let params = json!({ "type": 3, "message": message, "actions": buttons });
        let question = self.next;
        out.push(self.ask(
            "window/showMessageRequest",
            &params,
            Asked::Decide(proposal.id),
        ));
        self.shown
            .insert(proposal.id, Shown::AsSheet { sheet, question });
        out
    }

    /// A proposal is over: the editor stops showing it.
    pub(crate) fn close(&mut self, id: ProposalId) -> Vec<Outgoing> {
        match self.shown.remove(&id) {
            Some(Shown::Natively) => {
                vec![self.ask(
                    method::PROPOSAL_CLOSE,
                    &json!({ "id": id.get() }),
                    Asked::Close(None),
                )]
            }
            Some(Shown::AsSheet { question, .. }) => self.take_back(question).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Whether the text of `id` may be another one in the editor by now.
    pub(crate) fn knows_text(&self, id: ProposalId) -> bool {
        self.shown.contains_key(&id)
    }

    /// The proposals that the editor shows.
    pub(crate) fn shown(&self) -> Vec<ProposalId> {
        self.shown.keys().copied().collect()
    }

    /// Whether a document is a sheet, or was one: it is never told to agents.
    pub(crate) fn is_ours(&self, uri: &str) -> bool {
        let Some(path) = uri::to_path(uri) else {
            return false;
        };
        let folder = self.folder.join(SHEETS);
        path.starts_with(&folder)
            || folder
                .canonicalize()
                .is_ok_and(|folder| path.starts_with(folder))
    }

    /// An agent takes a proposal back and wants to know its text.
    pub(crate) fn question(&mut self, question: Question) -> Vec<Outgoing> {
        let id = question.proposal;
        if self.shown.remove(&id).is_none() {
            return Vec::new();
        }
        let asked = Asked::Close(Some(question.answer));
        vec![self.ask(method::PROPOSAL_CLOSE, &json!({ "id": id.get() }), asked)]
    }

    /// The editor answered a request of ours.
    pub(crate) fn answered(&mut self, number: u64, outcome: Result<Value, Value>) -> Option<Wish> {
        match (self.asked.remove(&number)?, outcome) {
            (Asked::Open(id), outcome) => {
                let shown: wire::Shown = outcome
                    .ok()
                    .and_then(|value| serde_json::from_value(value).ok())
                    .unwrap_or_default();
                if !shown.opened {
                    let reason = shown.reason.unwrap_or_else(|| "it did not say why".into());
                    tracing::info!(%id, reason, "the editor does not show a proposal; it stays pending");
                    self.shown.remove(&id);
                }
                None
            }
            (Asked::Close(Some(answer)), Ok(value)) => {
                let closed: wire::Closed = serde_json::from_value(value).unwrap_or_default();
                if let Some(text) = closed.text {
                    // The agent may have given up waiting.
                    let _ = answer.send(text);
                }
                None
            }
            (Asked::Decide(id), Ok(value)) => match value.get("title").and_then(Value::as_str) {
                Some(ACCEPT) => Some(Wish::Accept(id)),
                Some(REJECT) => Some(Wish::Reject(id)),
                _ => None,
            },
            // Kate 22.12 knows no questions.
            (Asked::Decide(id), Err(_)) => {
                let sheet = self.sheet_of(id)?.path().display();
                Some(Wish::Tell(format!(
                    "The proposal is in {sheet}. Decide in the page (`outrigger url`), \
                     with `outrigger accept {id}`, or in the agent's terminal."
                )))
            }
            (Asked::Leave(request, options), Ok(value)) => {
                let title = value.get("title").and_then(Value::as_str)?;
                let (_, option) = options.into_iter().find(|(shown, _)| shown == title)?;
                Some(Wish::Choose(request, option))
            }
            _ => None,
        }
    }

    /// Asks the person with buttons for what a daemon wants; the question and its number.
    pub(crate) fn ask_leave(&mut self, request: &chat::view::Request) -> (Outgoing, u64) {
        let mut message = format!("The daemon asks: {}", request.title);
        if let Some(command) = &request.tool.command {
            message = format!("{message}\n{command}");
        }
        let mut options = Vec::new();
        if request.questions.is_some() {
            message.push_str("\nAnswer it in the page (`outrigger url`).");
        } else {
            let offered = request.options.iter();
            options.extend(offered.map(|option| (option.title.clone(), option.id.clone())));
        }
        let buttons: Vec<_> = (options.iter())
            .map(|(title, _)| json!({ "title": title }))
            .collect();
        let params = json!({ "type": 3, "message": message, "actions": buttons });
        let number = self.next;
        let asked = Asked::Leave(request.request.clone(), options);
        (
            self.ask("window/showMessageRequest", &params, asked),
            number,
        )
    }

    /// A question that needs no answer any more.
    pub(crate) fn take_back(&mut self, question: u64) -> Option<Outgoing> {
        self.asked.remove(&question)?;
        let params = json!({ "id": question });
        Some(Outgoing::notification("$/cancelRequest", &params))
    }

    /// The sheet that is the document `uri`.
    pub(crate) fn sheet(&self, uri: &str) -> Option<&Sheet> {
        let path = uri::to_path(uri)?;
        self.sheets().find(|sheet| sheet.is_at(&path))
    }

    /// The sheet of a proposal.
    pub(crate) fn sheet_of(&self, id: ProposalId) -> Option<&Sheet> {
        self.sheets().find(|sheet| sheet.proposal == id)
    }

    fn sheets(&self) -> impl Iterator<Item = &Sheet> {
        self.shown.values().filter_map(|shown| match shown {
            Shown::AsSheet { sheet, .. } => Some(sheet),
            Shown::Natively => None,
        })
    }

    /// Asks the editor to change a sheet.
    pub(crate) fn edit(&mut self, uri: &str, edit: &Value) -> Option<Outgoing> {
        let params = json!({ "label": "Outrigger", "edit": { "changes": { uri: [edit] } } });
        self.abilities
            .apply_edit
            .then(|| self.ask("workspace/applyEdit", &params, Asked::Nothing))
    }

    /// What the editor can do.
    pub(crate) fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn ask(
        &mut self,
        method: &'static str,
        params: &impl serde::Serialize,
        asked: Asked,
    ) -> Outgoing {
        // An editor that never answers must not make us remember for ever.
        if self.asked.len() >= MOST_ASKED
            && let Some(oldest) = self.asked.keys().min().copied()
        {
            self.asked.remove(&oldest);
        }
        let number = self.next;
        self.next += 1;
        self.asked.insert(number, asked);
        Outgoing::request(number, method, params)
    }
}

/// A proposal as plugins see it.
pub(crate) fn describe(proposal: &Proposal, dirty: bool) -> wire::Proposal {
    let hunks = proposal
        .texts
        .review()
        .hunks()
        .iter()
        .map(|hunk| wire::Hunk {
            number: hunk.number,
            original_start: hunk.before.start,
            original_end: hunk.before.end,
            proposed_start: hunk.after.start,
            proposed_end: hunk.after.end,
        });
    wire::Proposal {
        id: proposal.id.get(),
        path: proposal.path.clone(),
        uri: uri::from_path(proposal.path.as_ref()),
        agent: proposal.agent.to_string(),
        session: proposal.session.to_string(),
        original: proposal.texts.original.text().map(str::to_owned),
        proposed: proposal.current().to_owned(),
        hunks: hunks.collect(),
        dirty,
        editable: proposal.traits.takes_edited_text,
    }
}
