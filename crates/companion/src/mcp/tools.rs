//! The two tools: `openDiff` and `closeDiff`, also when the request is too large to read.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use workbench::{Original, Place, ProposalId, Standing, Texts};

use super::ide::{CloseDiff, LONGEST_PATH, OpenDiff, ToolCall, ToolResult, is_too_long};
use super::rpc::{self, Fault};
use super::skim::{Gist, Skimmer};
use super::{FoundSession, Reply, RequestHandler, heavy, json_body, read};
use crate::agents::{RefusalStyle, dialect};
use crate::body::Excess;
use crate::desk::{DraftQuery, Gone, ProposeError, Reservation, Withdrawn};
use crate::original::OriginalFile;

/// How long a front end may take to say what a text is; the agent's screen stands still meanwhile.
const DRAFT_PATIENCE: Duration = Duration::from_millis(500);

impl RequestHandler<'_> {
    pub(super) async fn call(
        &self,
        id: &RawValue,
        params: Option<&RawValue>,
        found: &FoundSession,
        streams: bool,
    ) -> Result<Reply, Gone> {
        let call: ToolCall<'_> = match read(params) {
            Ok(call) => call,
            Err(fault) => return Ok(Reply::Json(rpc::answer::<()>(Some(id), Err(fault)))),
        };
        let outcome = match call.name.as_str() {
            "openDiff" => match heavy(size(call.arguments), || read::<OpenDiff>(call.arguments)) {
                Ok(asked) if is_too_long(&asked.file_path) => Err(too_long()),
                Ok(asked) => {
                    let (result, opened) = self.open_diff(asked, found).await?;
                    let json = rpc::answer(Some(id), Ok(result));
                    return Ok(match opened {
                        Some(proposal) if streams && !found.mailbox.is_listening() => {
                            Reply::Stream(json, proposal)
                        }
                        _ => Reply::Json(json),
                    });
                }
                Err(fault) => self.refuse_unreadable(call.arguments, fault, found).await?,
            },
            "closeDiff" => match read::<CloseDiff>(call.arguments) {
                Ok(asked) if is_too_long(&asked.file_path) => Err(too_long()),
                Ok(asked) => {
                    let withdrawn = self.close_diff(asked, found).await?;
                    let text = withdrawn.as_ref().and_then(Withdrawn::text);
                    let json = heavy(text.map_or(0, str::len), || {
                        rpc::answer(Some(id), Ok(ToolResult::closed(text)))
                    });
                    return Ok(Reply::Json(json));
                }
                Err(fault) => Err(fault),
            },
            other => Err(Fault::new(
                rpc::INVALID_PARAMS,
                format!("there is no tool {other:?}"),
            )),
        };
        Ok(Reply::Json(rpc::answer(Some(id), outcome)))
    }

    /// Answers an `openDiff` that cannot be read, such as one whose text is no Unicode, which
    /// JSON written by JavaScript can hold.
    async fn refuse_unreadable(
        &self,
        arguments: Option<&RawValue>,
        fault: Fault,
        found: &FoundSession,
    ) -> Result<Result<ToolResult, Fault>, Gone> {
        let mut skimmer = Skimmer::default();
        skimmer.read(br#"{"params":{"arguments":"#);
        skimmer.read(arguments.map_or("", RawValue::get).as_bytes());
        let path = skimmer.finish().file_path();
        match (dialect(self.agent).refusal, path) {
            (RefusalStyle::Silence, Some(path)) => {
                let why =
                    "the proposed text cannot be read; decide this edit in the agent's terminal";
                let texts = Texts::new(Original::Absent, String::new());
                let standing = Standing::TerminalOnly(why.to_owned());
                let proposed = self.propose(path, texts, standing, None, found);
                Ok(Ok(proposed.await?.0))
            }
            _ => Ok(Err(fault)),
        }
    }

    /// Opens a proposal and returns at once; the verdict follows as a notification.
    async fn open_diff(
        &self,
        asked: OpenDiff,
        found: &FoundSession,
    ) -> Result<(ToolResult, Option<ProposalId>), Gone> {
        let OpenDiff {
            file_path: path,
            new_content: proposed,
        } = asked;
        let roots = self
            .desk()
            .ask(|state| state.workbench().roots().to_vec())
            .await?;
        let (named, limit) = (path.clone(), self.server.endpoint.limits.original);
        let opened = off_thread(move || OriginalFile::open(&named, &roots, limit)).await?;
        let file = match opened {
            Ok(file) => file,
            Err(why) => return self.leave_to_terminal(path, proposed, &why, found).await,
        };
        let (length, place) = (file.length(), file.place().clone());
        let needed = usize::try_from(file.room()).unwrap_or(usize::MAX);
        let needed = needed.saturating_add(path.len() + proposed.len());
        let made = self.desk().ask(move |state| {
            let reserved = state.reserve_for_request(needed)?;
            Ok::<_, ProposeError>((reserved, state.known_originals(length)))
        });
        let (reserved, known) = match made.await? {
            Ok(made) => made,
            Err(why) => {
                return self
                    .leave_to_terminal(path, String::new(), &why, found)
                    .await;
            }
        };
        match off_thread(move || file.read(&known)).await? {
            Ok(original) => {
                let texts = Texts::new(original, proposed);
                self.propose(path, texts, Standing::Open, Some((reserved, place)), found)
                    .await
            }
            Err(why) => self.leave_to_terminal(path, proposed, &why, found).await,
        }
    }

    /// Leaves an edit to the agent's terminal.
    async fn leave_to_terminal(
        &self,
        path: String,
        proposed: String,
        why: &(dyn std::error::Error + Sync),
        found: &FoundSession,
    ) -> Result<(ToolResult, Option<ProposalId>), Gone> {
        let why = left(why);
        if dialect(self.agent).refusal == RefusalStyle::Error {
            return Ok((ToolResult::failed(why), None));
        }
        let texts = Texts::new(Original::Absent, proposed);
        self.propose(path, texts, Standing::TerminalOnly(why), None, found)
            .await
    }

    /// Proposes an edit. `looked` is what was found out about its file: the room that was made for
    /// its texts, and where it is.
    async fn propose(
        &self,
        path: String,
        texts: Texts,
        standing: Standing,
        looked: Option<(Reservation, Place)>,
        found: &FoundSession,
    ) -> Result<(ToolResult, Option<ProposalId>), Gone> {
        let session = found.id.clone();
        let style = dialect(self.agent).refusal;
        let (opened, receipt) = self
            .desk()
            .ask(move |state| {
                // From here on the proposal itself counts.
                let place = looked.map(|(_, place)| place);
                let mut opened = state.propose_for_session(&session, path.clone(), texts, standing);
                if let (Err(why @ ProposeError::NoRoom), RefusalStyle::Silence) = (&opened, style) {
                    let texts = Texts::new(Original::Absent, String::new());
                    let standing = Standing::TerminalOnly(left(why));
                    opened = state.propose_for_session(&session, path, texts, standing);
                }
                if let (Ok(id), Some(place)) = (&opened, place) {
                    state.set_place(*id, place);
                }
                (opened, state.receipt())
            })
            .await?;
        receipt.settled().await;
        Ok(match opened {
            Ok(proposal) => (ToolResult::empty(), Some(proposal)),
            Err(refused) if style == RefusalStyle::Error => {
                (ToolResult::failed(left(&refused)), None)
            }
            Err(refused) => {
                tracing::warn!(%refused, "a proposal is left to the agent's terminal");
                (ToolResult::empty(), None)
            }
        })
    }

    async fn close_diff(
        &self,
        asked: CloseDiff,
        found: &FoundSession,
    ) -> Result<Option<Withdrawn>, Gone> {
        self.fetch_draft(&asked.file_path, found).await?;
        let session = found.id.clone();
        let withdrawn = self.desk().ask(move |state| {
            let withdrawn = state.withdraw_for_session(&session, &asked.file_path);
            (withdrawn, state.receipt())
        });
        let (withdrawn, receipt) = withdrawn.await?;
        // What the agent has taken back must not be open again after a crash.
        receipt.settled().await;
        Ok(withdrawn)
    }

    /// Takes over what the person has typed into a front end that does not report every key.
    async fn fetch_draft(&self, path: &str, found: &FoundSession) -> Result<(), Gone> {
        let (session, path) = (found.id.clone(), path.to_owned());
        let source = self
            .desk()
            .ask(move |state| state.draft_source(&session, &path))
            .await?;
        let Some((proposal, source)) = source else {
            return Ok(());
        };
        let (reply, replied) = oneshot::channel();
        if source.try_send(DraftQuery { proposal, reply }).is_ok()
            && let Ok(Ok(draft)) = tokio::time::timeout(DRAFT_PATIENCE, replied).await
        {
            // It may have been decided in the meantime; then the text does not matter any more.
            let _ = self.desk().set_draft(proposal, draft).await?;
        }
        Ok(())
    }

    /// Answers a request that was too large to read, from the few fields that were seen of it.
    pub(super) async fn too_much(
        &self,
        gist: &Gist,
        excess: Excess,
        found: Option<FoundSession>,
    ) -> Result<Response, Gone> {
        let why = match excess {
            Excess::Large { limit } => format!(
                "the request is larger than the limit of {limit} bytes; decide this edit in the agent's terminal, or raise the limit (max-body)"
            ),
            Excess::Busy => "too much is being received at once; try again in a moment".to_owned(),
        };
        tracing::warn!(%why, "did not read a request");
        let id: Option<Box<RawValue>> = gist
            .id
            .as_deref()
            .and_then(|id| serde_json::from_str(id).ok());
        if let (true, RefusalStyle::Silence, Some(found), Some(path)) = (
            gist.opens_a_diff(),
            dialect(self.agent).refusal,
            &found,
            gist.file_path(),
        ) {
            let texts = Texts::new(Original::Absent, String::new());
            let (result, _) = self
                .propose(path, texts, Standing::TerminalOnly(why), None, found)
                .await?;
            return Ok(json_body(rpc::answer(id.as_deref(), Ok(result))).into_response());
        }
        let fault = Fault::new(rpc::TOO_MUCH, why);
        Ok(json_body(rpc::answer::<()>(id.as_deref(), Err(fault))).into_response())
    }
}

/// Why an edit is left to the agent's terminal.
fn left(why: &(dyn std::error::Error + Sync)) -> String {
    format!("{why}; decide this edit in the agent's terminal")
}

/// No system has a file with such a path, so there is nothing to decide in the terminal either.
fn too_long() -> Fault {
    let why = format!("filePath is longer than {LONGEST_PATH} bytes, and no file has such a path");
    Fault::new(rpc::INVALID_PARAMS, why)
}

/// Reads the disk, where that delays no other peer.
async fn off_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Gone> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Gone)
}

fn size(raw: Option<&RawValue>) -> usize {
    raw.map_or(0, |raw| raw.get().len())
}
