//! Where the person is, and what they want agents to see.

use std::path::PathBuf;

use companion::desk::State;
use workbench::{Cursor, Document, Focus, Holder, Place, Visibility};

use crate::error::FrontError;
use crate::front::Front;
use crate::review::off_thread;

/// What one editor reports: what it has open, and where the person is in it. Another editor may
/// report into the same front.
#[derive(Clone, Debug)]
pub struct Presence {
    front: Front,
    holder: Holder,
}

impl Front {
    /// The presence of the editor that holds its documents as `holder`.
    pub fn presence(&self, holder: Holder) -> Presence {
        Presence {
            front: self.clone(),
            holder,
        }
    }

    /// The person is in this file, as a command reports. Returns whether agents see it.
    pub async fn focus_file(
        &self,
        path: PathBuf,
        cursor: Option<Cursor>,
        selection: Option<String>,
    ) -> Result<Visibility, FrontError> {
        let folders = self.folders().await?;
        let place = off_thread(move || existing_file(path, &folders)).await??;
        let path = place.path.clone();
        let focus = Focus {
            place,
            cursor,
            selection,
        };
        let seen = self.0.desk.ask(move |state| {
            state.focus(Holder::COMMANDS, focus);
            let mut documents = state.workbench().documents();
            documents
                .find(|document| document.path() == path)
                .map(Document::visibility)
        });
        Ok(seen.await?.unwrap_or(Visibility::Shown))
    }

    /// A file or folder was renamed.
    pub async fn rename_document(&self, from: PathBuf, to: Place) {
        let renamed = move |state: &mut State| state.workbench_mut().rename(&from, to);
        self.0.desk.tell(renamed).await;
    }

    /// A file or folder was deleted.
    pub async fn delete_document(&self, path: PathBuf) {
        let deleted = move |state: &mut State| state.workbench_mut().delete(&path);
        self.0.desk.tell(deleted).await;
    }

    /// Stops sharing with agents what is open, or resumes it.
    pub async fn set_paused(&self, paused: bool) -> Result<(), FrontError> {
        let set = self.0.desk.ask(move |state| state.set_paused(paused));
        Ok(set.await?)
    }
}

impl Presence {
    /// The person has this document open, but is not in it.
    pub async fn open_document(&self, place: Place) {
        let holder = self.holder;
        self.tell(move |state| state.open(holder, place)).await;
    }

    /// The person is in this document now, with this selection.
    pub async fn focus(&self, focus: Focus) {
        let holder = self.holder;
        self.tell(move |state| state.focus(holder, focus)).await;
    }

    /// The person is in this document now. The selection is kept if they were there before.
    pub async fn touch(&self, place: Place, cursor: Option<Cursor>) {
        let holder = self.holder;
        self.tell(move |state| state.touch(holder, place, cursor))
            .await;
    }

    /// The person closed this document.
    pub async fn close_document(&self, path: PathBuf) {
        let holder = self.holder;
        self.tell(move |state| state.workbench_mut().close(holder, &path))
            .await;
    }

    /// Whether the person trusts this workspace, in an editor that has such a notion.
    pub async fn set_trust(&self, trusted: Option<bool>) {
        let holder = self.holder;
        self.tell(move |state| state.workbench_mut().set_trust(holder, trusted))
            .await;
    }

    /// The editor has other folders open from now on.
    pub async fn set_folders(&self, folders: Vec<PathBuf>) -> Result<(), FrontError> {
        self.front.set_folders(self.holder, folders).await
    }

    /// The editor has unsaved changes in a file, or none any more. A proposal for that file is
    /// reviewed against them.
    pub async fn set_unsaved(&self, place: Place, text: Option<String>) {
        let holder = self.holder;
        self.tell(move |state| state.set_unsaved(holder, place, text))
            .await;
    }

    /// The editor has left: what only it had open is closed, and what it has not saved is lost.
    pub async fn leave(&self) {
        let holder = self.holder;
        self.tell(move |state| state.leave(holder)).await;
    }

    async fn tell(&self, report: impl FnOnce(&mut State) + Send + 'static) {
        self.front.0.desk.tell(report).await;
    }
}

/// Resolves the path of an existing file.
fn existing_file(path: PathBuf, folders: &[PathBuf]) -> Result<Place, FrontError> {
    if !path.is_absolute() {
        return Err(FrontError::RelativePath(path));
    }
    let place = match companion::locate(&path, folders) {
        Ok(place) => place,
        Err(why) => return Err(FrontError::NoSuchFile { path, why }),
    };
    if place.real.is_file() {
        Ok(place)
    } else {
        Err(FrontError::NotAFile(path))
    }
}
