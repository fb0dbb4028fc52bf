//! Proposals between the front and the editor: shown, listed, decided.

use companion::desk::{Draft, DraftQuery};
use front::{FrontError, ProposalSummary, Snapshot, off_thread, words};
use serde_json::{Value, json};
use text::show::Lines;
use workbench::{Decision, Original, Outcome, Proposal, ProposalId, Refusal, Standing};

use crate::client::LspClient;
use crate::message::{question, report, tell};
use crate::requests::Purpose;
use crate::reviews::{Awaited, Shown, Surface};
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
            if self.reviews.presented(proposal.id).is_some() {
                out.append(&mut self.revise(proposal.id, proposal.revision).await);
            } else {
                self.tell_unsaved(&proposal.path).await;
                out.append(&mut self.present_now(proposal.id).await);
            }
        }
        out
    }

    pub(crate) async fn show(&mut self, summary: &ProposalSummary) -> Vec<Outgoing> {
        if self.reviews.presented(summary.id).is_some() {
            return Vec::new();
        }
        self.tell_unsaved(&summary.path).await;
        self.present_now(summary.id).await
    }

    /// Presents a proposal as it is by now.
    async fn present_now(&mut self, id: ProposalId) -> Vec<Outgoing> {
        match self.front.proposal(id).await {
            Ok(proposal) => self.present(proposal).await,
            // One that is over already is not worth showing.
            Err(_) => Vec::new(),
        }
    }

    /// Tells the companion what the editor has for the file of a proposal, and has not saved.
    async fn tell_unsaved(&self, path: &str) {
        if let Some(open) = self.documents.at(path.as_ref()) {
            let text = open.dirty.then(|| open.buffer.text().to_owned());
            self.presence.set_unsaved(open.place.clone(), text).await;
        }
    }

    /// A proposal that the editor shows is at this revision by now. If that is a new one, what the
    /// person has made of the old texts is fetched first.
    pub(crate) async fn revise(&mut self, id: ProposalId, newest: u32) -> Vec<Outgoing> {
        let shown = self.reviews.presented(id).zip(self.reviews.base(id));
        let Some((_, revision)) = shown.filter(|(presented, _)| *presented < newest) else {
            return Vec::new();
        };
        if let Some(sheet) = self.reviews.sheet_of(id) {
            let text = self.sheet_text(sheet);
            return self
                .show_again(id, text.map(|text| Draft { revision, text }))
                .await;
        }
        let purpose = Purpose::ReviseProposal(id, revision);
        let params = json!({ "id": id.get() });
        let (ask, _) = self.requests.add(method::PROPOSAL_TEXT, &params, purpose);
        vec![ask]
    }

    /// Shows a proposal with its new texts, and with what the person has made of it.
    pub(crate) async fn show_again(
        &mut self,
        id: ProposalId,
        draft: Option<Draft>,
    ) -> Vec<Outgoing> {
        if let Some(draft) = draft {
            // It is refused if the agent takes no other text; then there is none.
            let _ = self.front.set_draft(id, draft).await;
        }
        let question = self.reviews.question(id);
        let cancel = question.and_then(|question| self.requests.cancel(question));
        let mut out: Vec<_> = cancel.into_iter().collect();
        out.append(&mut self.present_now(id).await);
        out
    }

    /// Asks the editor to show a proposal, also if it shows an earlier revision of it.
    async fn present(&mut self, proposal: Proposal) -> Vec<Outgoing> {
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
            // That of an earlier revision is the same file, which goes with it.
            let before = self.reviews.remove(proposal.id);
            let from = before.map_or(proposal.revision, |before| before.base());
            match Sheet::lay(self.reviews.sheets(), &proposal) {
                Ok(sheet) => self.present_sheet(&proposal, sheet, dirty, from),
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
        let shown = Shown {
            path: proposal.path.clone(),
            presented: proposal.revision,
            revision: proposal.revision,
            surface: Surface::Diff,
        };
        self.reviews.add(proposal.id, shown);
        let purpose = Purpose::OpenProposal(proposal.id);
        let (open, _) = self.requests.add(method::PROPOSAL_OPEN, described, purpose);
        vec![open]
    }

    /// Shows a proposal as a document. If the editor has it open, its text was made of the revision
    /// `from`.
    fn present_sheet(
        &mut self,
        proposal: &Proposal,
        sheet: Sheet,
        dirty: bool,
        from: u32,
    ) -> Vec<Outgoing> {
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
        let stale = (proposal.file_change).map(|it| words::stale(it, proposal.conflicts()));
        let notes = stale
            .into_iter()
            .chain(proposal.withheld().map(words::withheld));
        let notes: Vec<_> = notes.map(|note| format!(" Note: {note}.")).collect();
        let mut warning = notes.concat();
        if dirty {
            warning.push_str(" The file has changes that are not saved.");
        }
        let place = if can_show {
            String::new()
        } else {
            format!(" The proposal is in {}.", sheet.path().display())
        };
        let mut message = Lines::new();
        message.push(format_args!(
            "{} wants to change {} ({what}).{warning}{place}",
            front::who(proposal, &self.agents),
            proposal.path
        ));
        let buttons = [wire::ACCEPT_BUTTON, wire::REJECT_BUTTON, wire::LATER_BUTTON];
        let params = question(&message, &buttons.map(str::to_owned));
        let purpose = Purpose::DecideProposal(proposal.id);
        let (ask, question) = (self.requests).add("window/showMessageRequest", &params, purpose);
        out.push(ask);
        // An editor that has the document open still shows the text from before.
        let mut awaited = None;
        let mut revision = proposal.revision;
        if let Some(open) = self.documents.at(sheet.path()) {
            let current = proposal.current();
            if sheet.with_mark(open.buffer.text().to_owned()) != current {
                let text = current.to_owned();
                awaited = Some(Awaited { text, from });
                revision = 0;
                if self.abilities.apply_edit {
                    let edit =
                        sheet::smallest_edit(&open.buffer, current, self.documents.encoding());
                    out.push(self.apply_edit(&sheet.uri, &edit));
                }
            }
        }
        let shown = Shown {
            path: proposal.path.clone(),
            presented: proposal.revision,
            revision,
            surface: Surface::Sheet {
                sheet,
                question,
                awaited,
            },
        };
        self.reviews.add(proposal.id, shown);
        out
    }

    fn apply_edit(&mut self, uri: &str, edit: &Value) -> Outgoing {
        let changes = json!({ "changes": { uri: [edit] } });
        let params = json!({ "label": "Outrigger", "edit": changes });
        let request = (self.requests).add("workspace/applyEdit", &params, Purpose::Nothing);
        request.0
    }

    /// A proposal is over: the editor stops showing it.
    pub(crate) fn close(&mut self, id: ProposalId, outcome: Option<Outcome>) -> Vec<Outgoing> {
        let Some(shown) = self.reviews.remove(id) else {
            return Vec::new();
        };
        match shown.surface {
            Surface::Diff => {
                let close = to_wire::close(id, &shown.path, outcome);
                vec![self.close_natively(&close, Purpose::CloseProposal)]
            }
            Surface::Sheet { question, .. } => self.requests.cancel(question).into_iter().collect(),
        }
    }

    fn close_natively(&mut self, close: &wire::Close, purpose: Purpose) -> Outgoing {
        self.requests.add(method::PROPOSAL_CLOSE, close, purpose).0
    }

    /// An agent takes a proposal back and wants to know its text.
    pub(crate) fn answer_draft_query(&mut self, query: DraftQuery) -> Vec<Outgoing> {
        let id = query.proposal;
        if let Some(sheet) = self.reviews.sheet_of(id) {
            if let Some((text, revision)) = self.sheet_text(sheet).zip(self.reviews.revision(id)) {
                // The agent may have given up waiting.
                let _ = query.reply.send(Draft { revision, text });
            }
            return Vec::new();
        }
        let Some(shown) = self.reviews.remove(id) else {
            return Vec::new();
        };
        let close = to_wire::close(id, &shown.path, Some(Outcome::Withdrawn));
        let purpose = Purpose::TakeDraft(shown.revision, query.reply);
        vec![self.close_natively(&close, purpose)]
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
        let seen = verdict.revision.or(self.reviews.revision(id));
        self.decide_seen(id, from_wire::decision(verdict), seen)
            .await
    }

    /// Decides about the revision that is on the screen.
    pub(crate) async fn decide(&self, id: ProposalId, decision: Decision) -> Response {
        let seen = self.reviews.revision(id);
        self.decide_seen(id, decision, seen).await
    }

    async fn decide_seen(&self, id: ProposalId, decision: Decision, seen: Option<u32>) -> Response {
        let decided = self.front.decide(id, decision, seen).await;
        let decided = decided.map_err(to_wire::error)?;
        let message = words::decided(&decided);
        Ok(json!({ "delivered": decided.streaming, "message": message }))
    }

    /// The person changed the text of a proposal, and the editor wants to know its hunks.
    pub(crate) async fn compare_draft(&self, params: &Params) -> Response {
        let update: wire::Update = params.parse()?;
        let id = ProposalId::new(update.id);
        let draft = self.draft(update).await.map_err(to_wire::error)?;
        let hunks = self.front.compare_draft(id, draft).await;
        let hunks = hunks.map_err(to_wire::error)?;
        Ok(json!({ "hunks": to_wire::hunks(&hunks) }))
    }

    pub(crate) async fn update_draft(&self, params: &Params) {
        if let Ok(update) = params.read::<wire::Update>() {
            let id = ProposalId::new(update.id);
            // A proposal that is over needs no text any more.
            if let Ok(draft) = self.draft(update).await {
                let _ = self.front.set_draft(id, draft).await;
            }
        }
    }

    /// What the person has made of a proposal, and of which revision.
    async fn draft(&self, update: wire::Update) -> Result<Draft, FrontError> {
        let id = ProposalId::new(update.id);
        let revision = match update.revision.or(self.reviews.revision(id)) {
            Some(revision) => revision,
            None => self.front.proposal(id).await?.revision,
        };
        let text = update.text;
        Ok(Draft { revision, text })
    }

    /// Accepts what a sheet says: in the editor if it is open there, otherwise on disk.
    pub(crate) async fn accept_sheet(
        &mut self,
        id: ProposalId,
        after: &mut Vec<Outgoing>,
    ) -> Response {
        let Some(sheet) = self.reviews.sheet_of(id) else {
            return self.decide(id, Decision::Accept).await;
        };
        if self.reviews.is_awaited(id) {
            // The editor has not taken the new text over, or the person has typed meanwhile. What
            // they have is brought into the new text, and the editor gets that, so that the next
            // try can succeed.
            let draft = self.sheet_text(sheet).zip(self.reviews.base(id));
            let draft = draft.map(|(text, revision)| Draft { revision, text });
            after.extend(self.show_again(id, draft).await);
            return Err(to_wire::error(Refusal::Stale.into()));
        }
        let Some(text) = self.sheet_text(sheet) else {
            let path = sheet.path().display();
            let message = format!("{path} cannot be read as text, so nothing was accepted");
            return Err(ResponseError::new(rpc::REQUEST_FAILED, message));
        };
        self.decide(id, Decision::AcceptText(text)).await
    }

    /// The same, and tells the person if it is refused.
    pub(crate) async fn accept_and_report(&mut self, id: ProposalId) -> Vec<Outgoing> {
        let mut after = Vec::new();
        let mut out = report(self.accept_sheet(id, &mut after).await);
        out.append(&mut after);
        out
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
            sheet::ACCEPT => self.accept_sheet(id, after).await,
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
        let uri = sheet.uri.clone();
        Ok(Some(self.apply_edit(&uri, &edit)))
    }
}
