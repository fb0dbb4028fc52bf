//! The proposals that the editor shows.
//!
//! A plugin (level 1) is asked to open a native diff. An editor without one (level 0) gets the
//! proposal as a sheet, and a question with buttons. An editor that cannot or will not show a
//! proposal never costs the person the edit: it stays pending for everybody else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workbench::{Place, ProposalId};

use crate::sheet::{SHEETS, Sheet};
use crate::uri;
use crate::wire;

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

/// A proposal that the editor shows.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The path as the agent sent it.
    pub(crate) path: String,
    /// The revision that the editor was asked to show last.
    pub(crate) presented: u32,
    /// The revision that is on the screen.
    pub(crate) revision: u32,
    pub(crate) surface: Surface,
}

/// How the editor shows a proposal.
#[derive(Debug)]
pub(crate) enum Surface {
    /// As a diff of its own.
    Diff,
    /// As a document of ours.
    Sheet {
        sheet: Sheet,
        /// The number of the question with buttons.
        question: u64,
        /// The text that the document should have, until the editor has it. Only then the revision
        /// is on the screen.
        awaited: Option<Awaited>,
    },
}

/// A text that a document should have.
#[derive(Debug)]
pub(crate) struct Awaited {
    pub(crate) text: String,
    /// The revision that the text in the editor was made of.
    pub(crate) from: u32,
}

impl Shown {
    /// The revision that the text in the editor was made of.
    pub(crate) fn base(&self) -> u32 {
        match &self.surface {
            Surface::Sheet {
                awaited: Some(awaited),
                ..
            } => awaited.from,
            _ => self.revision,
        }
    }
}

/// The proposals that the editor shows.
#[derive(Debug)]
pub(crate) struct Reviews {
    /// A private folder; sheets are kept below it.
    folder: PathBuf,
    /// The same folder without links, as an editor may spell it.
    real_folder: PathBuf,
    shown: HashMap<ProposalId, Shown>,
}

impl Reviews {
    /// None yet, with sheets below `folder`.
    pub(crate) fn new(folder: &Path) -> Reviews {
        let real = folder.canonicalize();
        Reviews {
            folder: folder.to_owned(),
            real_folder: real.unwrap_or_else(|_| folder.to_owned()),
            shown: HashMap::new(),
        }
    }

    /// The folder below which sheets are kept.
    pub(crate) fn sheets(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn add(&mut self, id: ProposalId, shown: Shown) {
        self.shown.insert(id, shown);
    }

    pub(crate) fn remove(&mut self, id: ProposalId) -> Option<Shown> {
        self.shown.remove(&id)
    }

    /// The revision of a proposal that is on the screen, if any is.
    pub(crate) fn revision(&self, id: ProposalId) -> Option<u32> {
        self.shown.get(&id).map(|shown| shown.revision)
    }

    /// The revision that the text of a proposal in the editor was made of, if it is shown.
    pub(crate) fn base(&self, id: ProposalId) -> Option<u32> {
        self.shown.get(&id).map(Shown::base)
    }

    /// Whether the document of a proposal should have another text than the editor shows.
    pub(crate) fn is_awaited(&self, id: ProposalId) -> bool {
        let shown = self.shown.get(&id);
        shown.is_some_and(|it| {
            matches!(
                &it.surface,
                Surface::Sheet {
                    awaited: Some(_),
                    ..
                }
            )
        })
    }

    /// The revision of a proposal that the editor was asked to show last, if any.
    pub(crate) fn presented(&self, id: ProposalId) -> Option<u32> {
        self.shown.get(&id).map(|shown| shown.presented)
    }

    /// The number of the question with buttons about a proposal that is shown as a document.
    pub(crate) fn question(&self, id: ProposalId) -> Option<u64> {
        match self.shown.get(&id)?.surface {
            Surface::Sheet { question, .. } => Some(question),
            Surface::Diff => None,
        }
    }

    /// Whether a proposal about the file at this place is shown.
    pub(crate) fn concern(&self, place: &Place) -> bool {
        self.shown.values().any(|shown| {
            let path = Path::new(&shown.path);
            path == place.path || path == place.real
        })
    }

    /// The sheet that is the document `uri` has this text now.
    pub(crate) fn sheet_has(&mut self, uri: &str, text: &str) {
        let Some(id) = self.sheet(uri).map(|sheet| sheet.proposal) else {
            return;
        };
        if let Some(shown) = self.shown.get_mut(&id)
            && let Surface::Sheet { sheet, awaited, .. } = &mut shown.surface
            && let Some(wanted) = awaited
            && wanted.text == sheet.with_mark(text.to_owned())
        {
            *awaited = None;
            shown.revision = shown.presented;
        }
    }

    pub(crate) fn shown(&self) -> Vec<ProposalId> {
        self.shown.keys().copied().collect()
    }

    /// The editor answered whether it shows a proposal.
    pub(crate) fn opened(&mut self, id: ProposalId, outcome: Result<Value, Value>) {
        let answer: wire::Shown = outcome
            .ok()
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default();
        if !answer.opened {
            let reason = answer.reason.unwrap_or_else(|| "it did not say why".into());
            tracing::info!(%id, reason, "the editor does not show a proposal; it stays pending");
            self.shown.remove(&id);
        }
    }

    /// Whether a document is a sheet, or was one: it is never told to agents.
    pub(crate) fn is_ours(&self, uri: &str) -> bool {
        uri::to_path(uri).is_some_and(|path| {
            path.starts_with(self.folder.join(SHEETS))
                || path.starts_with(self.real_folder.join(SHEETS))
        })
    }

    /// The sheet that is the document `uri`.
    pub(crate) fn sheet(&self, uri: &str) -> Option<&Sheet> {
        let path = uri::to_path(uri)?;
        self.all_sheets().find(|sheet| sheet.is_at(&path))
    }

    /// The sheet of a proposal.
    pub(crate) fn sheet_of(&self, id: ProposalId) -> Option<&Sheet> {
        self.all_sheets().find(|sheet| sheet.proposal == id)
    }

    fn all_sheets(&self) -> impl Iterator<Item = &Sheet> {
        (self.shown.values()).filter_map(|shown| match &shown.surface {
            Surface::Sheet { sheet, .. } => Some(sheet),
            Surface::Diff => None,
        })
    }
}
