//! Where the person is, and what they want agents to see.

use std::path::PathBuf;

use companion::desk::State;
use workbench::{Cursor, Document, Focus, Place, Visibility};

use crate::error::FrontError;
use crate::front::Front;
use crate::review::off_thread;

impl Front {
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
            state.focus(focus);
            let mut documents = state.workbench().documents();
            documents
                .find(|document| document.path() == path)
                .map(Document::visibility)
        });
        Ok(seen.await?.unwrap_or(Visibility::Shown))
    }

    /// The person has this document open, but is not in it.
    pub async fn open_document(&self, place: Place) {
        self.0.desk.tell(move |state| state.open(place)).await;
    }

    /// The person is in this document now, with this selection.
    pub async fn focus(&self, focus: Focus) {
        self.0.desk.tell(move |state| state.focus(focus)).await;
    }

    /// The person is in this document now. The selection is kept if they were there before.
    pub async fn touch(&self, place: Place, cursor: Option<Cursor>) {
        let touched = move |state: &mut State| state.touch(place, cursor);
        self.0.desk.tell(touched).await;
    }

    /// The person closed this document.
    pub async fn close_document(&self, path: PathBuf) {
        let closed = move |state: &mut State| state.workbench_mut().close(&path);
        self.0.desk.tell(closed).await;
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

    /// Whether the person trusts this workspace, in an editor that has such a notion.
    pub async fn set_trust(&self, trusted: Option<bool>) {
        let trusts = move |state: &mut State| state.workbench_mut().set_trust(trusted);
        self.0.desk.tell(trusts).await;
    }

    /// Stops sharing with agents what is open, or resumes it.
    pub async fn set_paused(&self, paused: bool) -> Result<(), FrontError> {
        let set = self.0.desk.ask(move |state| state.set_paused(paused));
        Ok(set.await?)
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
