//! What goes with a prompt: files of the workspace, and what the person has selected.
//!
//! Everything passes the same privacy filter as the context of any agent.

use std::path::{Path, PathBuf};

use companion::desk::Desk;
use text::file_uri;
use workbench::{Place, Visibility};

use crate::backend::PromptPart;
use crate::trouble::{Trouble, TroubleKind};

/// The largest file that travels with a prompt.
const LARGEST: u64 = 1 << 20;
/// How many files may.
const MOST: usize = 32;

/// What the person says, and what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// Files of the workspace: absolute, or seen from its first folder.
    pub files: Vec<PathBuf>,
    /// Whether what they have selected goes with it.
    pub selection: bool,
    /// Whether `@path` and `@selection` in the text attach what they name, where it exists.
    pub mentions: bool,
}

impl Prompt {
    /// The prompt as a backend takes it, with what goes with it read and judged.
    pub(crate) async fn parts(mut self, desk: &Desk) -> Result<Vec<PromptPart>, Trouble> {
        if self.mentions {
            self.attach_mentions(desk).await;
        }
        if self.text.trim().is_empty() {
            return Err(Trouble::new(TroubleKind::Empty, "there is nothing to say"));
        }
        if self.files.len() > MOST {
            let why = format!("at most {MOST} files can go with a prompt");
            return Err(Trouble::new(TroubleKind::TooMany, why));
        }
        let mut attached = Vec::new();
        if self.selection {
            attached.extend(selection(desk));
        }
        for file in self.files {
            attached.push(attach(desk, file).await?);
        }
        let mut text = self.text;
        if !attached.is_empty() {
            // Agents put the names of what is attached right behind the text.
            text.push_str("\n\n");
        }
        let mut parts = vec![PromptPart::Text(text)];
        parts.append(&mut attached);
        Ok(parts)
    }

    /// Takes up what the text names. What is no file here is only text.
    async fn attach_mentions(&mut self, desk: &Desk) {
        let roots = desk.ask(|state| state.workbench().roots().to_vec()).await;
        let Some(root) = roots.unwrap_or_default().into_iter().next() else {
            return;
        };
        for name in mentioned(&self.text) {
            if name == "selection" {
                self.selection = true;
            } else if root.join(name).is_file() {
                self.files.push(name.into());
            }
        }
        self.files.sort();
        self.files.dedup();
    }
}

/// The words after `@`, without the punctuation of a sentence at their end.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace();
    words.filter_map(|word| {
        let name = word.strip_prefix('@')?;
        let name = name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        (!name.is_empty()).then_some(name)
    })
}

/// What the person has selected, as agents may see it.
fn selection(desk: &Desk) -> Option<PromptPart> {
    let published = desk.context().borrow().clone();
    let file = published.context.files.into_iter().next()?;
    let text = file.active?.selection?;
    Some(attachment(&file.path, text))
}

async fn attach(desk: &Desk, file: PathBuf) -> Result<PromptPart, Trouble> {
    let name = file.display().to_string();
    let roots = desk.ask(|state| state.workbench().roots().to_vec()).await;
    let roots = roots?;
    let path = roots.first().map_or(file.clone(), |root| root.join(&file));
    let cannot = |why: &str| {
        let why = format!("cannot attach {name}: {why}");
        Trouble::new(TroubleKind::NotAttached, why)
    };
    let found = tokio::task::spawn_blocking(move || companion::locate(&path, &roots)).await;
    let Ok(Ok(place)) = found else {
        return Err(cannot("there is no such file"));
    };
    let judged = place.clone();
    let visibility = desk.ask(move |state| state.workbench().judge(&judged));
    if let Visibility::HeldBack(reason) = visibility.await? {
        return Err(cannot(&reason.to_string()));
    }
    let read = tokio::task::spawn_blocking(move || read(place)).await;
    match read {
        Ok(Ok((place, text))) => Ok(attachment(&place.path, text)),
        Ok(Err(why)) => Err(cannot(&why)),
        Err(_) => Err(cannot("it could not be read")),
    }
}

fn read(place: Place) -> Result<(Place, String), String> {
    let bytes = private::read_regular(&place.real, LARGEST).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok((place, text))
}

fn attachment(path: &Path, text: String) -> PromptPart {
    PromptPart::Attachment {
        uri: file_uri::from_path(path),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_names() {
        let text = "compare @src/a.rs with @b.rs, and @selection. Mail a@b.c, @ and @.";
        let names: Vec<_> = mentioned(text).collect();
        assert_eq!(names, ["src/a.rs", "b.rs", "selection"]);
    }
}
