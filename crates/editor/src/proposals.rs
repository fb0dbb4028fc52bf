//! Proposals between the front and the editor: shown, listed, decided.

use companion::desk::DraftQuery;
use front::{Snapshot, off_thread, words};
use serde_json::{Value, json};
use workbench::{Decision, Original, Outcome, Proposal, ProposalId, Standing};

use crate::client::LspClient;
use crate::message::tell;
use crate::requests::Purpose;
use crate::reviews::Shown;
use crate::rpc::{self, Outgoing, Params, ResponseError};
use crate::session::Response;
use crate::sheet::{self, Sheet};
use crate::wire::{self, method};
use crate::{from_wire, to_wire};

impl LspClient {
    /// Makes the editor show the proposals of a snapshot and no others.
    pub(crate) async fn show_exactly(&mut self, snapshot: Snapshot) -> Vec<Outgoing> {
        let mut out = Vec::new();
        let pending = &snapshot.overview.proposals;
        let is_over = |id: &ProposalId| !pending.iter().any(|proposal| proposal.id == *id);
        for id in self.reviews.shown().into_iter().filter(is_over) {
            out.append(&mut self.close(id, snapshot.outcome(id)));
        }
        for proposal in snapshot.overview.proposals {
            out.append(&mut self.present(proposal).await);
        }
        out
    }

    pub(crate) async fn show(&mut self, id: ProposalId) -> Vec<Outgoing> {
        match self.front.proposal(id).await {
            Ok(proposal) => self.present(proposal).await,
            // One that is over already is not worth showing.
            Err(_) => Vec::new(),
        }
    }

    /// Asks the editor to show a proposal.
    async fn present(&mut self, proposal: Proposal) -> Vec<Outgoing> {
        if self.reviews.is_shown(proposal.id) {
            return Vec::new();
        }
        let who = front::who(&proposal, &self.agents);
        if let Standing::TerminalOnly(why) = &proposal.standing {
            return vec![tell(&format!("{who} proposes an edit: {why}"))];
        }
        // The comparison of large texts takes long; it is kept with the texts for all later uses.
        let compared = proposal.clone();
        let dirty = self.documents.is_dirty(proposal.path.as_ref());
        let out = if self.abilities.plugin {
            let described = off_thread(move || to_wire::proposal(&compared, who, dirty));
            let Ok(described) = described.await else {
                return Vec::new();
            };
            self.present_natively(&proposal, &described)
        } else {
            let hunks = off_thread(move || compared.texts.review().hunks().len());
            if hunks.await.is_err() {
                return Vec::new();
            }
            match Sheet::lay(self.reviews.sheets(), &proposal) {
                Ok(sheet) => self.present_sheet(&proposal, sheet, dirty),
                Err(error) => {
                    tracing::warn!(%error, "cannot show a proposal as a document; decide it elsewhere");
                    return Vec::new();
                }
            }
        };
        let source = self.draft_source.clone();
        // A companion that is ending does not ask for drafts any more.
        let _ = self.front.set_draft_source(proposal.id, source).await;
        out
    }

    fn present_natively(
        &mut self,
        proposal: &Proposal,
        described: &wire::Proposal,
    ) -> Vec<Outgoing> {
        let path = proposal.path.clone();
        self.reviews.add(proposal.id, Shown::Natively { path });
        let purpose = Purpose::OpenProposal(proposal.id);
        let (open, _) = self.requests.add(method::PROPOSAL_OPEN, described, purpose);
        vec![open]
    }

    fn present_sheet(&mut self, proposal: &Proposal, sheet: Sheet, dirty: bool) -> Vec<Outgoing> {
        let mut out = Vec::new();
        let can_show = self.abilities.show_document;
        if can_show {
            let params = json!({ "uri": sheet.uri, "takeFocus": false });
            let show = self
                .requests
                .add("window/showDocument", &params, Purpose::Nothing);
            out.push(show.0);
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
        let place = if can_show {
            String::new()
        } else {
            format!(" The proposal is in {}.", sheet.path().display())
        };
        let message = format!(
            "{} wants to change {} ({what}).{warning}{place}",
            front::who(proposal, &self.agents),
            proposal.path
        );
        let buttons = [wire::ACCEPT_BUTTON, wire::REJECT_BUTTON, wire::LATER_BUTTON];
        let buttons = buttons.map(|title| json!({ "title": title }));
        let params = json!({ "type": 3, "message": message, "actions": buttons });
        let purpose = Purpose::DecideProposal(proposal.id);
        let (ask, question) = (self.requests).add("window/showMessageRequest", &params, purpose);
        out.push(ask);
        self.reviews
            .add(proposal.id, Shown::AsSheet { sheet, question });
        out
    }

    /// A proposal is over: the editor stops showing it.
    pub(crate) fn close(&mut self, id: ProposalId, outcome: Option<Outcome>) -> Vec<Outgoing> {
        match self.reviews.remove(id) {
            Some(Shown::Natively { path }) => {
                let close = to_wire::close(id, &path, outcome);
                vec![self.close_natively(&close, Purpose::CloseProposal(None))]
            }
            Some(Shown::AsSheet { question, .. }) => {
                self.requests.cancel(question).into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    fn close_natively(&mut self, close: &wire::Close, purpose: Purpose) -> Outgoing {
        self.requests.add(method::PROPOSAL_CLOSE, close, purpose).0
    }

    /// An agent takes a proposal back and wants to know its text.
    pub(crate) fn answer_draft_query(&mut self, query: DraftQuery) -> Vec<Outgoing> {
        let id = query.proposal;
        if let Some(sheet) = self.reviews.sheet_of(id) {
            if let Some(text) = self.sheet_text(sheet) {
                // The agent may have given up waiting.
                let _ = query.reply.send(text);
            }
            return Vec::new();
        }
        let Some(Shown::Natively { path }) = self.reviews.remove(id) else {
            return Vec::new();
        };
        let close = to_wire::close(id, &path, Some(Outcome::Withdrawn));
        vec![self.close_natively(&close, Purpose::CloseProposal(Some(query.reply)))]
    }

    pub(crate) async fn list_proposals(&self) -> Response {
        let pending = self.front.proposals().await.map_err(to_wire::error)?;
        let agents = self.front.agents().await.map_err(to_wire::error)?;
        let dirty: Vec<_> = pending
            .iter()
            .map(|proposal| self.documents.is_dirty(proposal.path.as_ref()))
            .collect();
        let described = off_thread(move || {
            let pending = pending.iter().zip(dirty);
            pending
                .map(|(proposal, dirty)| {
                    let who = front::who(proposal, &agents);
                    to_wire::proposal(proposal, who, dirty)
                })
                .collect::<Vec<_>>()
        });
        let described = described.await.map_err(to_wire::error)?;
        Ok(json!({ "proposals": described }))
    }

    pub(crate) async fn decide_as_told(&self, params: &Params) -> Response {
        let verdict: wire::Verdict = params.parse()?;
        let id = ProposalId::new(verdict.id);
        self.decide(id, from_wire::decision(verdict)).await
    }

    pub(crate) async fn decide(&self, id: ProposalId, decision: Decision) -> Response {
        let decided = self.front.decide(id, decision).await;
        let decided = decided.map_err(to_wire::error)?;
        let message = words::decided(&decided);
        Ok(json!({ "delivered": decided.streaming, "message": message }))
    }

    /// The person changed the text of a proposal, and the editor wants to know its hunks.
    pub(crate) async fn compare_draft(&self, params: &Params) -> Response {
        let update: wire::Update = params.parse()?;
        let id = ProposalId::new(update.id);
        let hunks = self.front.compare_draft(id, update.text).await;
        let hunks = hunks.map_err(to_wire::error)?;
        Ok(json!({ "hunks": to_wire::hunks(&hunks) }))
    }

    pub(crate) async fn update_draft(&self, params: &Params) {
        if let Ok(update) = params.read::<wire::Update>() {
            let id = ProposalId::new(update.id);
            // A proposal that is over needs no text any more.
            let _ = self.front.set_draft(id, update.text).await;
        }
    }

    /// Accepts what a sheet says: in the editor if it is open there, otherwise on disk.
    pub(crate) async fn accept_sheet(&self, id: ProposalId) -> Response {
        let Some(sheet) = self.reviews.sheet_of(id) else {
            return self.decide(id, Decision::Accept).await;
        };
        let Some(text) = self.sheet_text(sheet) else {
            let path = sheet.path().display();
            let message = format!("{path} cannot be read as text, so nothing was accepted");
            return Err(ResponseError::new(rpc::REQUEST_FAILED, message));
        };
        self.decide(id, Decision::AcceptText(text)).await
    }

    /// What a sheet says: in the editor if it is open there, otherwise on disk.
    fn sheet_text(&self, sheet: &Sheet) -> Option<String> {
        match self.documents.at(sheet.path()) {
            Some(open) => Some(sheet.with_mark(open.buffer.text().to_owned())),
            None => sheet.saved_text().map(|text| sheet.with_mark(text)),
        }
    }

    pub(crate) async fn code_actions(&mut self, params: &Params) -> Response {
        let Some((uri, line)) = self.note_position(params).await else {
            return Ok(json!([]));
        };
        let sheet = self.reviews.sheet(&uri).zip(self.documents.get(&uri));
        let actions = sheet.map(|(sheet, open)| sheet.actions(&open.buffer, line));
        Ok(Value::Array(actions.unwrap_or_default()))
    }

    pub(crate) async fn execute(&mut self, params: &Params, after: &mut Vec<Outgoing>) -> Response {
        let command: wire::Execute = params.parse()?;
        let wrong = || ResponseError::new(rpc::INVALID_PARAMS, "the command's arguments are wrong");
        let number = |at: usize| command.arguments.get(at).and_then(Value::as_u64);
        let id = ProposalId::new(number(0).ok_or_else(wrong)?);
        match command.command.as_str() {
            sheet::ACCEPT => self.accept_sheet(id).await,
            sheet::REJECT => self.decide(id, Decision::Reject).await,
            name @ (sheet::KEEP_HUNK | sheet::DROP_HUNK) => {
                let line = number(1).and_then(|line| u32::try_from(line).ok());
                let line = line.ok_or_else(wrong)?;
                after.extend(self.edit_sheet(id, line, name == sheet::KEEP_HUNK)?);
                Ok(Value::Null)
            }
            other => Err(ResponseError::new(
                rpc::INVALID_PARAMS,
                format!("there is no command {other:?}"),
            )),
        }
    }

    /// Asks the editor to bring the hunk at `line` into a sheet, or to take it out.
    fn edit_sheet(
        &mut self,
        id: ProposalId,
        line: u32,
        keep: bool,
    ) -> Result<Option<Outgoing>, ResponseError> {
        let failed = |why: &str| ResponseError::new(rpc::REQUEST_FAILED, why);
        let sheet = self.reviews.sheet_of(id);
        let found = sheet.and_then(|sheet| Some((sheet, self.documents.at(sheet.path())?)));
        let (sheet, open) =
            found.ok_or_else(|| failed("the proposal is not open as a document"))?;
        let text = if keep {
            sheet.with_hunk(&open.buffer, line)
        } else {
            sheet.without_hunk(&open.buffer, line)
        };
        let text = text.ok_or_else(|| failed("there is no hunk here"))?;
        if !self.abilities.apply_edit {
            return Ok(None);
        }
        let edit = sheet::smallest_edit(&open.buffer, &text, self.documents.encoding());
        let changes = json!({ "changes": { sheet.uri.clone(): [edit] } });
        let params = json!({ "label": "Outrigger", "edit": changes });
        let request = self
            .requests
            .add("workspace/applyEdit", &params, Purpose::Nothing);
        Ok(Some(request.0))
    }
}
