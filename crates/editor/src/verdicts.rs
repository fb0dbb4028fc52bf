//! Proposals between the desk and the editor: shown, listed, decided.

use companion::desk::Question;
use serde_json::json;
use workbench::{Decision, ProposalId};

use crate::link::{Answer, Host, Link, gone, read};
use crate::reviews::describe;
use crate::rpc::{self, Fault, Outgoing, Params};
use crate::wire;

impl<H: Host> Link<H> {
    /// Shows every pending proposal that is not shown yet.
    pub(crate) async fn catch_up(&mut self) -> Vec<Outgoing> {
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        let pending = session
            .desk
            .ask(|state| state.status().proposals)
            .await
            .unwrap_or_default();
        let mut out = Vec::new();
        let is_over = |id: &ProposalId| !pending.iter().any(|proposal| proposal.id == *id);
        for id in session.reviews.shown().into_iter().filter(is_over) {
            out.append(&mut session.reviews.close(id));
        }
        for proposal in pending {
            out.append(&mut self.show(proposal.id).await);
        }
        out.extend(self.changed_status().await);
        out
    }

    pub(crate) async fn show(&mut self, id: ProposalId) -> Vec<Outgoing> {
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        let Ok((Some(proposal), receipt)) = session
            .desk
            .ask(move |state| (state.proposal(id).cloned(), state.receipt()))
            .await
        else {
            return Vec::new();
        };
        // What the person has seen is still there after a crash.
        receipt.written().await;
        // The comparison of large texts takes long; it is kept with the texts for all later uses.
        let texts = proposal.texts.clone();
        let _ = tokio::task::spawn_blocking(move || texts.review().hunks().len()).await;
        let dirty = self.documents.is_dirty(proposal.path.as_ref());
        let out = session.reviews.present(&proposal, dirty);
        if session.reviews.knows_text(id) {
            let viewer = session.viewer.clone();
            session.desk.tell(move |state| state.set_viewer(id, viewer));
        }
        out
    }

    /// An agent takes a proposal back and wants to know its text.
    pub(crate) fn question(&mut self, question: Question) -> Vec<Outgoing> {
        let sheet =
            (self.session.as_ref()).and_then(|session| session.reviews.sheet_of(question.proposal));
        if let Some(sheet) = sheet {
            if let Some(text) = self.sheet_text(sheet) {
                // The agent may have given up waiting.
                let _ = question.answer.send(text);
            }
            return Vec::new();
        }
        match &mut self.session {
            Some(session) => session.reviews.question(question),
            None => Vec::new(),
        }
    }

    pub(crate) async fn list(&self) -> Answer {
        let session = self.session()?;
        let pending = session
            .desk
            .ask(|state| state.status().proposals)
            .await
            .map_err(gone)?;
        let described = tokio::task::spawn_blocking(move || {
            pending
                .iter()
                .map(|proposal| describe(proposal, false))
                .collect::<Vec<_>>()
        });
        let mut described = described.await.map_err(gone)?;
        for proposal in &mut described {
            proposal.dirty = self.documents.is_dirty(proposal.path.as_ref());
        }
        Ok(json!({ "proposals": described }))
    }

    pub(crate) async fn verdict(&self, params: &Params) -> Answer {
        let verdict: wire::Verdict = read(params)?;
        let id = ProposalId::new(verdict.id);
        let decision = match verdict {
            wire::Verdict {
                accepted: false, ..
            } => Decision::Reject,
            wire::Verdict {
                text: Some(text), ..
            } => Decision::AcceptText(text),
            wire::Verdict {
                hunks: Some(hunks), ..
            } => {
                let desk = &self.session()?.desk;
                let proposal = desk
                    .ask(move |state| state.proposal(id).cloned())
                    .await
                    .map_err(gone)?;
                let texts = proposal
                    .ok_or_else(|| refused(&workbench::Refusal::Unknown(id)))?
                    .texts
                    .clone();
                let merged =
                    tokio::task::spawn_blocking(move || texts.merge(&hunks.into_iter().collect()));
                Decision::AcceptText(
                    merged
                        .await
                        .map_err(gone)?
                        .map_err(|unknown| refused(&unknown))?,
                )
            }
            wire::Verdict { .. } => Decision::Accept,
        };
        self.decide(id, decision).await
    }

    pub(crate) async fn decide(&self, id: ProposalId, decision: Decision) -> Answer {
        let desk = &self.session()?.desk;
        let decided = desk.ask(move |state| (state.decide(id, decision), state.receipt()));
        let (decided, receipt) = decided.await.map_err(gone)?;
        let answered = decided.map_err(|refusal| refused(&refusal))?;
        receipt.written().await;
        Ok(json!({ "delivered": answered.streaming }))
    }

    pub(crate) fn update(&mut self, params: &Params) {
        if let (Some(session), Ok(update)) = (&self.session, params.read::<wire::Update>()) {
            // A proposal that is over needs no text any more.
            session
                .desk
                .tell(move |state| drop(state.set_draft(ProposalId::new(update.id), update.text)));
        }
    }
}

fn refused(why: &impl std::fmt::Display) -> Fault {
    Fault::new(rpc::REQUEST_FAILED, why.to_string())
}
