//! Where the person is, from what the editor says.
//!
//! With a plugin the editor says it outright. Without one, the last document that anything
//! was said about is the one in front of the person, and the positions that the client asks
//! about (for code actions, highlights, hovers) are where the cursor is.

use std::path::PathBuf;

use serde_json::Value;
use workbench::{Cursor, Focus};

use crate::buffer::Position;
use crate::client::LspClient;
use crate::rpc::{Outgoing, Params};
use crate::uri;
use crate::wire::{self, method};

impl LspClient {
    /// Takes notice of a notification about documents. What cannot be read is ignored: it is
    /// not worth more than a context that is a little behind.
    pub(crate) async fn document_notification(&mut self, name: &str, params: &Params) {
        let noticed = match name {
            "textDocument/didOpen" => self.opened(params).await,
            "textDocument/didChange" => self.changed(params).await,
            "textDocument/didClose" => self.closed(params).await,
            "textDocument/didFocus" => self.focused(params).await,
            method::SELECTION_CHANGED => self.selected(params).await,
            method::DIAGNOSTICS_CHANGED => self.diagnosed(params),
            "workspace/didRenameFiles" => self.renamed(params).await,
            "workspace/didDeleteFiles" => self.deleted(params).await,
            _ => Ok(()),
        };
        if let Err(error) = noticed {
            tracing::debug!(%error, name, "ignored a notification that cannot be read");
        }
    }

    async fn opened(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let opened: wire::DidOpen = params.read()?;
        let uri = opened.text_document.uri.clone();
        let is_ours = self.reviews.is_ours(&uri);
        let Some(open) = self.documents.open(opened.text_document) else {
            return Ok(());
        };
        let place = open.place.clone();
        if is_ours {
            self.text_changed(&uri).await;
            return Ok(());
        }
        if self.abilities.plugin {
            self.presence.open_document(place).await;
        } else {
            self.focus(&uri, None, None).await;
        }
        Ok(())
    }

    async fn changed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let changed: wire::DidChange = match params.read() {
            Ok(changed) => changed,
            Err(error) => {
                // The text is not what the editor has any more, and nothing may be cut from it.
                let about: wire::AboutDocument = params.read()?;
                self.documents.close(&about.text_document.uri);
                return Err(error);
            }
        };
        let uri = changed.text_document.uri.clone();
        let end = self.documents.change(changed);
        self.text_changed(&uri).await;
        if !self.abilities.plugin {
            self.focus(&uri, end, None).await;
        }
        Ok(())
    }

    /// The text of a document is another one: a proposal about it, or a proposal that it shows, may
    /// want to know.
    async fn text_changed(&mut self, uri: &str) {
        let Some(open) = self.documents.get(uri) else {
            return;
        };
        if self.reviews.is_ours(uri) {
            self.reviews.sheet_has(uri, open.buffer.text());
        } else if self.reviews.concern(&open.place) {
            let text = open.dirty.then(|| open.buffer.text().to_owned());
            self.presence.set_unsaved(open.place.clone(), text).await;
        }
    }

    async fn closed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let about: wire::AboutDocument = params.read()?;
        let uri = about.text_document.uri;
        // An editor may have moved to a document whose text it never sent.
        let path = match self.documents.close(&uri) {
            Some(open) => {
                if open.dirty && self.reviews.concern(&open.place) {
                    self.presence.set_unsaved(open.place.clone(), None).await;
                }
                Some(open.place.path)
            }
            None => uri::to_path(&uri),
        };
        if let Some(path) = path {
            self.presence.close_document(path).await;
        }
        Ok(())
    }

    async fn focused(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let about: wire::AboutDocument = params.read()?;
        self.focus(&about.text_document.uri, None, None).await;
        Ok(())
    }

    async fn selected(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let changed: wire::SelectionChanged = params.read()?;
        let uri = &changed.text_document.uri;
        let active = changed.selections.first().map(|first| first.active.into());
        let encoding = self.documents.encoding();
        let text = self.documents.get(uri).map(|open| {
            let texts = changed.selections.iter().map(|it| {
                open.buffer
                    .slice(it.anchor.into(), it.active.into(), encoding)
            });
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        });
        self.focus(uri, active, text).await;
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

    async fn renamed(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let renamed: wire::FilesRenamed = params.read()?;
        for file in renamed.files {
            let paths = uri::to_path(&file.old_uri).zip(uri::to_path(&file.new_uri));
            if let Some((from, to)) = paths {
                let to = self.documents.place(&to);
                self.front.rename_document(from, to).await;
            }
        }
        Ok(())
    }

    async fn deleted(&mut self, params: &Params) -> Result<(), serde_json::Error> {
        let deleted: wire::FilesDeleted = params.read()?;
        for file in &deleted.files {
            if let Some(path) = uri::to_path(&file.uri) {
                self.front.delete_document(path).await;
            }
        }
        Ok(())
    }

    /// The client asks about a position, so that is where the person is, if it has no plugin to say
    /// so. Returns the document and the line.
    pub(crate) async fn note_position(&mut self, params: &Params) -> Option<(String, u32)> {
        let about: wire::AboutDocument = params.read().ok()?;
        let uri = about.text_document.uri;
        let start = about.range.map(|range| range.start).or(about.position);
        if !self.abilities.plugin {
            let encoding = self.documents.encoding();
            let selected = about.range.and_then(|range| {
                let open = self.documents.get(&uri)?;
                let text = open
                    .buffer
                    .slice(range.start.into(), range.end.into(), encoding);
                Some(text.to_owned())
            });
            let cursor = about.range.map(|range| range.end).or(about.position);
            self.focus(&uri, cursor.map(Position::from), selected).await;
        }
        Some((uri, start.map_or(0, |at| at.line)))
    }

    /// Moves the focus to a document, unless it is a sheet or no file.
    async fn focus(&self, uri: &str, at: Option<Position>, selection: Option<String>) {
        if self.reviews.is_ours(uri) {
            return;
        }
        let open = self.documents.get(uri);
        let place = match open {
            Some(open) => open.place.clone(),
            None => match uri::to_path(uri) {
                Some(path) => self.documents.place(&path),
                None => return,
            },
        };
        let cursor = at.map(|at| match open {
            Some(open) => open.buffer.cursor(at, self.documents.encoding()),
            None => Cursor::new(at.line.saturating_add(1), at.character.saturating_add(1)),
        });
        match selection {
            None => self.presence.touch(place, cursor).await,
            selection => {
                let focus = Focus {
                    place,
                    cursor,
                    selection,
                };
                self.presence.focus(focus).await;
            }
        }
    }

    /// A document was written to disk. If it is a sheet, that accepts what it says.
    pub(crate) async fn saved(&mut self, params: &Params) -> Vec<Outgoing> {
        let Ok(about) = params.read::<wire::AboutDocument>() else {
            return Vec::new();
        };
        let uri = about.text_document.uri;
        self.documents.save(&uri);
        self.text_changed(&uri).await;
        if let Some(id) = self.reviews.sheet(&uri).map(|sheet| sheet.proposal) {
            return self.accept_and_report(id).await;
        }
        if !self.abilities.plugin {
            self.focus(&uri, None, None).await;
        }
        Vec::new()
    }

    /// The editor opened or closed a folder of its workspace.
    pub(crate) async fn folders_changed(&mut self, params: &Params) {
        let Ok(changed) = params.read::<wire::FoldersChanged>() else {
            return;
        };
        let paths = |folders: &[wire::Folder]| -> Vec<PathBuf> {
            let paths = folders.iter().filter_map(|it| uri::to_path(&it.uri));
            paths
                .map(|path| path.canonicalize().unwrap_or(path))
                .collect()
        };
        let removed = paths(&changed.event.removed);
        let mut folders = self.documents.folders().to_vec();
        folders.retain(|folder| !removed.contains(folder));
        for added in paths(&changed.event.added) {
            if !folders.contains(&added) {
                folders.push(added);
            }
        }
        self.documents.set_folders(folders.clone());
        // A companion that is ending needs no other folders.
        let _ = self.presence.set_folders(folders).await;
    }
}
