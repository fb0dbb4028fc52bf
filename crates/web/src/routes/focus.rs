//! Where the person is, said by a command.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State as Shared;
use workbench::{Cursor, Place, Sight};

use super::Here;
use crate::answer::{Answer, Body, Failure, off_thread};
use crate::wire;

pub(super) async fn focus(
    Shared(server): Here,
    Body(focus): Body<wire::Focus>,
) -> Answer<wire::Focused> {
    let desk = &server.api.desk;
    let roots = desk.ask(|state| state.workbench().roots().to_vec()).await?;
    let path = focus.path;
    let place = off_thread(move || locate(&path, &roots)).await??;
    let cursor = focus
        .line
        .map(|line| Cursor::new(line, focus.column.unwrap_or(1)));
    let focus = workbench::Focus {
        place,
        cursor,
        selection: focus.selection,
    };
    let sight = desk.ask(move |state| {
        let path = focus.place.path.clone();
        state.focus(focus);
        state
            .workbench()
            .documents()
            .find(|document| document.path() == path)
            .map(workbench::Document::sight)
    });
    let reason = match sight.await? {
        Some(Sight::HeldBack(reason)) => Some(reason.to_string()),
        _ => None,
    };
    Ok(Json(wire::Focused {
        shown: reason.is_none(),
        reason,
    }))
}

/// Finds out where the file is that the person is in.
fn locate(path: &Path, roots: &[PathBuf]) -> Result<Place, Failure> {
    if !path.is_absolute() {
        let message = format!("{} is not an absolute path", path.display());
        return Err(Failure::Invalid(message));
    }
    let place = companion::locate(path, roots)
        .map_err(|error| Failure::NotFound(format!("cannot find {}: {error}", path.display())))?;
    if !place.real.is_file() {
        return Err(Failure::Invalid(format!(
            "{} is not a file",
            path.display()
        )));
    }
    Ok(place)
}
