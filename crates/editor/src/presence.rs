//! Where the person is, from what the editor says, and what they do with sheets.
//!
//! With a plugin the editor says it outright. Without one, the last document that anything
//! was said about is the one in front of the person, and the places that the client asks
//! about (for code actions, highlights, hovers) are where the cursor is.

use std::path::PathBuf;

use serde_json::Value;
use workbench::{Cursor, Decision, Focus, ProposalId};

use crate::buffer::Position;
use crate::documents::{self, Open};
use crate::link::{Answer, Host, Link, gone, read, report};
use crate::rpc::{self, Fault, Outgoing, Params};
use crate::sheet::{self, Sheet};
use crate::uri;
use crate::wire::{self, method};

impl<H: Host> Link<H> {
    /// Takes notice of a notification about documents. What cannot be read is ignored: it is
    /// not worth more than a context that is a little behind.
    pub(crate) fn presence(&mut self, name: &str, params: &Params) {
        let noticed = match name {
            "textDocument/didOpen" => self.opened(params),
            "textDocument/didChange" => self.changed(params),
            "textDocument/didClose" => self.closed(params),
            "textDocument/didFocus" => self.focused(params),
            method::SELECTION_CHANGED => self.selected(params),
            method::DIAGNOSTICS_CHANGED => self.diagnosed(params),
            "workspace/didRenameFiles" => self.renamed(params),
            "workspace/didDeleteFiles" => self.deleted(params),
            _ => Ok(()),
        };
        if let Err(error) = noticed {
            tracing::debug!(%error, name, "ignored a notification that cannot be read");
        }
    }

    fn opened(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let opened: wire::Opened = params.read()?;
        let uri = opened.text_document.uri.clone();
        let Some(session) = &self.session else {
            return Ok(());
        };
        let is_ours = session.reviews.is_ours(&uri);
        let Some(open) = self.documents.open(opened.text_document, &session.roots) else {
            return Ok(());
        };
        if is_ours {
            return Ok(());
        }
        let place = open.place.clone();
        if session.reviews.abilities().plugin {
            session.desk.tell(move |state| state.open(place));
        } else {
            self.focus(&uri, None, None);
        }
        Ok(())
    }

    fn changed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let changed: wire::Changed = match params.read() {
            Ok(changed) => changed,
            Err(error) => {
                // The text is not what the editor has any more, and nothing may be cut from it.
                let about: wire::AboutDocument = params.read()?;
                self.documents.close(&about.text_document.uri);
                return Err(error);
            }
        };
        let uri = changed.text_document.uri.clone();
        let Some(session) = &self.session else {
            return Ok(());
        };
        let end = self
            .documents
            .change(changed, self.encoding, &session.roots);
        if !self.has_plugin() {
            self.focus(&uri, end, None);
        }
        Ok(())
    }

    fn closed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let about: wire::AboutDocument = params.read()?;
        let uri = about.text_document.uri;
        // An editor may have moved to a document whose text it never sent.
        let path = match self.documents.close(&uri) {
            Some(open) => Some(open.place.path),
            None => uri::to_path(&uri),
        };
        if let (Some(path), Some(session)) = (path, &self.session) {
            session
                .desk
                .tell(move |state| state.workbench_mut().close(&path));
        }
        Ok(())
    }

    fn focused(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let about: wire::AboutDocument = params.read()?;
        self.focus(&about.text_document.uri, None, None);
        Ok(())
    }

    fn selected(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let changed: wire::SelectionChanged = params.read()?;
        let uri = &changed.text_document.uri;
        let active = changed.selections.first().map(|first| first.active.into());
        let text = self.documents.get(uri).map(|open| {
            let texts = changed.selections.iter().map(|it| {
                open.buffer
                    .slice(it.anchor.into(), it.active.into(), self.encoding)
            });
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        });
        self.focus(uri, active, text);
        Ok(())
    }

    fn diagnosed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Diagnosed {
            uri: String,
            #[serde(default)]
            diagnostics: Vec<Value>,
        }
        let diagnosed: Diagnosed = params.read()?;
        self.documents
            .set_diagnostics(&diagnosed.uri, diagnosed.diagnostics);
        Ok(())
    }

    fn renamed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let renamed: wire::FilesRenamed = params.read()?;
        let Some(session) = &self.session else {
            return Ok(());
        };
        for file in renamed.files {
            if let (Some(from), Some(to)) =
                (uri::to_path(&file.old_uri), uri::to_path(&file.new_uri))
            {
                let to = documents::place(&to, &session.roots);
                session
                    .desk
                    .tell(move |state| state.workbench_mut().rename(&from, to));
            }
        }
        Ok(())
    }

    fn deleted(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let deleted: wire::FilesDeleted = params.read()?;
        let Some(session) = &self.session else {
            return Ok(());
        };
        for path in deleted
            .files
            .iter()
            .filter_map(|file| uri::to_path(&file.uri))
        {
            session
                .desk
                .tell(move |state| state.workbench_mut().delete(&path));
        }
        Ok(())
    }

    /// The client asks about a place, so that is where the person is, if it has no plugin to say so.
    pub(crate) fn place_asked_about(&mut self, params: &Params) -> Option<(String, u32)> {
        let about: wire::AboutDocument = params.read().ok()?;
        let uri = about.text_document.uri;
        let start = about.range.map(|range| range.start).or(about.position);
        if !self.has_plugin() {
            let selected = about.range.and_then(|range| {
                let open = self.documents.get(&uri)?;
                let text = open
                    .buffer
                    .slice(range.start.into(), range.end.into(), self.encoding);
                Some(text.to_owned())
            });
            let cursor = about.range.map(|range| range.end).or(about.position);
            self.focus(&uri, cursor.map(Position::from), selected);
        }
        Some((uri, start.map_or(0, |at| at.line)))
    }

    /// Moves the focus to a document, unless it is a sheet or no file.
    fn focus(&self, uri: &str, at: Option<Position>, selection: Option<String>) {
        let Some(session) = &self.session else { return };
        if session.reviews.is_ours(uri) {
            return;
        }
        let open = self.documents.get(uri);
        let place = match open {
            Some(open) => open.place.clone(),
            None => match uri::to_path(uri) {
                Some(path) => documents::place(&path, &session.roots),
                None => return,
            },
        };
        let cursor = at.map(|at| match open {
            Some(open) => open.buffer.cursor(at, self.encoding),
            None => Cursor::new(at.line.saturating_add(1), at.character.saturating_add(1)),
        });
        if selection.is_none() {
            session.desk.tell(move |state| state.touch(place, cursor));
            return;
        }
        let focus = Focus {
            place,
            cursor,
            selection,
        };
        session.desk.tell(move |state| state.focus(focus));
    }

    fn has_plugin(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.reviews.abilities().plugin)
    }

    /// A document was written to disk. If it is a sheet, that accepts what it says.
    pub(crate) async fn saved(&mut self, params: &Params) -> Vec<Outgoing> {
        let Ok(about) = params.read::<wire::AboutDocument>() else {
            return Vec::new();
        };
        let uri = about.text_document.uri;
        let Some(session) = &self.session else {
            return Vec::new();
        };
        self.documents.save(&uri, &session.roots);
        if let Some(id) = session.reviews.sheet(&uri).map(|sheet| sheet.proposal) {
            let accepted = self.accept_sheet(id).await;
            return report(accepted);
        }
        if !self.has_plugin() {
            self.focus(&uri, None, None);
        }
        Vec::new()
    }

    /// Accepts what a sheet says: in the editor if it is open there, otherwise on disk.
    pub(crate) async fn accept_sheet(&self, id: ProposalId) -> Answer {
        let Some(sheet) = self.session()?.reviews.sheet_of(id) else {
            return self.decide(id, Decision::Accept).await;
        };
        let Some(text) = self.sheet_text(sheet) else {
            let path = sheet.path().display();
            let message = format!("{path} cannot be read as text, so nothing was accepted");
            return Err(Fault::new(rpc::REQUEST_FAILED, message));
        };
        self.decide(id, Decision::AcceptText(text)).await
    }

    /// What a sheet says: in the editor if it is open there, otherwise on disk.
    pub(crate) fn sheet_text(&self, sheet: &Sheet) -> Option<String> {
        match self.documents.at(sheet.path()) {
            Some(open) => Some(sheet.with_mark(open.buffer.text().to_owned())),
            None => sheet.saved_text().map(|text| sheet.with_mark(text)),
        }
    }

    pub(crate) fn code_actions(&mut self, params: &Params) -> Answer {
        let Some((uri, line)) = self.place_asked_about(params) else {
            return Ok(Value::Array(Vec::new()));
        };
        let session = self.session()?;
        let (Some(sheet), Some(open)) = (session.reviews.sheet(&uri), self.documents.get(&uri))
        else {
            return Ok(Value::Array(Vec::new()));
        };
        Ok(Value::Array(sheet.actions(&open.buffer, line)))
    }

    pub(crate) async fn execute(&mut self, params: &Params, after: &mut Vec<Outgoing>) -> Answer {
        let command: wire::Execute = read(params)?;
        let wrong = || Fault::new(rpc::INVALID_PARAMS, "the command's arguments are wrong");
        let number = |at: usize| command.arguments.get(at).and_then(Value::as_u64);
        let id = ProposalId::new(number(0).ok_or_else(wrong)?);
        match command.command.as_str() {
            sheet::ACCEPT => self.accept_sheet(id).await,
            sheet::REJECT => self.decide(id, Decision::Reject).await,
            name @ (sheet::KEEP_HUNK | sheet::DROP_HUNK) => {
                let line = number(1)
                    .and_then(|line| u32::try_from(line).ok())
                    .ok_or_else(wrong)?;
                let session = self.session.as_mut().ok_or_else(|| gone("no session"))?;
                let sheet = session.reviews.sheet_of(id);
                let found = sheet.and_then(|sheet| Some((sheet, self.documents.at(sheet.path())?)));
                let Some((sheet, Open { buffer, .. })) = found else {
                    return Err(Fault::new(
                        rpc::REQUEST_FAILED,
                        "the proposal is not open as a document",
                    ));
                };
                let text = if name == sheet::KEEP_HUNK {
                    sheet.with_hunk(buffer, line)
                } else {
                    sheet.without_hunk(buffer, line)
                };
                let text =
                    text.ok_or_else(|| Fault::new(rpc::REQUEST_FAILED, "there is no hunk here"))?;
                let edit = sheet::smallest_edit(buffer, &text, self.encoding);
                let uri = sheet.uri.clone();
                after.extend(session.reviews.edit(&uri, &edit));
                Ok(Value::Null)
            }
            other => Err(Fault::new(
                rpc::INVALID_PARAMS,
                format!("there is no command {other:?}"),
            )),
        }
    }

    /// The editor opened or closed a folder of its workspace.
    pub(crate) async fn folders_changed(&mut self, params: &Params) {
        let Ok(changed) = params.read::<wire::FoldersChanged>() else {
            return;
        };
        let Some(session) = &mut self.session else {
            return;
        };
        let removed: Vec<PathBuf> = changed
            .event
            .removed
            .iter()
            .filter_map(|folder| uri::to_path(&folder.uri))
            .collect();
        let is_removed = |root: &PathBuf| {
            removed
                .iter()
                .any(|gone| gone == root || gone.canonicalize().is_ok_and(|gone| gone == *root))
        };
        let mut roots: Vec<_> = session
            .roots
            .iter()
            .filter(|root| !is_removed(root))
            .cloned()
            .collect();
        for added in changed
            .event
            .added
            .iter()
            .filter_map(|folder| uri::to_path(&folder.uri))
        {
            let added = added.canonicalize().unwrap_or(added);
            if !roots.contains(&added) {
                roots.push(added);
            }
        }
        session.roots.clone_from(&roots);
        self.host.set_roots(roots).await;
    }
}
