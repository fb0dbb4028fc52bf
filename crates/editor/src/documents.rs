//! The documents that the editor has open, with their live texts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workbench::Place;

use crate::buffer::{Buffer, Encoding, Position};
use crate::uri;
use crate::wire;

/// Diagnostics kept of one document.
const MOST_DIAGNOSTICS: usize = 500;

/// One open document.
#[derive(Debug)]
pub(crate) struct OpenDocument {
    /// Where it is on disk.
    pub(crate) place: Place,
    /// Its text as the editor has it.
    pub(crate) buffer: Buffer,
    /// Whether the editor has changes that were not saved.
    pub(crate) dirty: bool,
    /// What the editor's tools say about it, kept for those who will ask.
    pub(crate) diagnostics: Vec<Value>,
}

/// All open documents that are files.
#[derive(Debug)]
pub(crate) struct Documents {
    open: HashMap<String, OpenDocument>,
    /// How the editor counts characters.
    encoding: Encoding,
    /// The folders of the workspace.
    folders: Vec<PathBuf>,
}

impl Documents {
    pub(crate) fn new(encoding: Encoding, folders: Vec<PathBuf>) -> Documents {
        Documents {
            open: HashMap::new(),
            encoding,
            folders,
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    pub(crate) fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
    }

    /// Where a file is. One that does not exist yet is where its name says.
    pub(crate) fn place(&self, path: &Path) -> Place {
        companion::locate(path, &self.folders).unwrap_or_else(|_| Place::direct(path))
    }

    /// The editor opened a document; `None` if it is no file.
    pub(crate) fn open(&mut self, document: wire::TextDocument) -> Option<&OpenDocument> {
        let place = self.place(&uri::to_path(&document.uri)?);
        let mut text = document.text;
        text.shrink_to_fit();
        let open = OpenDocument {
            place,
            buffer: Buffer::new(text),
            dirty: false,
            diagnostics: Vec::new(),
        };
        Some(self.open.entry(document.uri).insert_entry(open).into_mut())
    }

    /// The editor changed a document; says where the last change ended.
    pub(crate) fn change(&mut self, changed: wire::DidChange) -> Option<Position> {
        let uri = changed.text_document.uri;
        if !self.open.contains_key(&uri) {
            // Only a whole text makes a document known whose text we had lost.
            let mut all = changed.content_changes.iter();
            all.find(|change| change.range.is_none())?;
            self.open(wire::TextDocument {
                uri: uri.clone(),
                text: String::new(),
            })?;
        }
        let encoding = self.encoding;
        let open = self.open.get_mut(&uri)?;
        open.dirty = true;
        let mut end = None;
        for change in changed.content_changes {
            match change.range {
                Some(range) => {
                    let (from, to) = (range.start.into(), range.end.into());
                    end = Some(open.buffer.change(from, to, &change.text, encoding));
                }
                None => open.buffer.replace(change.text),
            }
        }
        end.map(|end| {
            open.buffer
                .position(end.min(open.buffer.text().len()), encoding)
        })
    }

    /// The editor wrote a document to disk, perhaps for the first time.
    pub(crate) fn save(&mut self, uri: &str) {
        let Some(path) = self.get(uri).map(|open| open.place.path.clone()) else {
            return;
        };
        let place = self.place(&path);
        if let Some(open) = self.open.get_mut(uri) {
            open.place = place;
            open.dirty = false;
        }
    }

    /// The editor closed a document.
    pub(crate) fn close(&mut self, uri: &str) -> Option<OpenDocument> {
        self.open.remove(uri)
    }

    /// A document that is open.
    pub(crate) fn get(&self, uri: &str) -> Option<&OpenDocument> {
        self.open.get(uri)
    }

    /// The document at a path, however the editor spells it.
    pub(crate) fn at(&self, path: &Path) -> Option<&OpenDocument> {
        let mut open = self.open.values();
        open.find(|open| open.place.path == path || open.place.real == path)
    }

    /// Whether the file at `path` is open with changes that were not saved.
    pub(crate) fn is_dirty(&self, path: &Path) -> bool {
        self.open
            .values()
            .any(|open| open.dirty && (open.place.path == path || open.place.real == path))
    }

    /// What the editor's tools say about a document.
    pub(crate) fn set_diagnostics(&mut self, uri: &str, mut diagnostics: Vec<Value>) {
        if let Some(open) = self.open.get_mut(uri) {
            diagnostics.truncate(MOST_DIAGNOSTICS);
            open.diagnostics = diagnostics;
        }
    }
}
