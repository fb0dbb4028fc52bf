//! What goes with a prompt: files of the workspace, and what the person has selected.
//!
//! Everything passes the same privacy filter as the context of any agent. A file that is not here to
//! read is read where the agent works, which may be another machine or a container; it has it anyway.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use companion::desk::Desk;
use private::{Unreadable, read_regular};
use text::file_uri;
use workbench::{Place, Visibility};

use crate::Conversation;
use crate::backend::PromptPart;
use crate::trouble::{Trouble, TroubleKind};

/// The largest file that travels with a prompt.
const LARGEST: u32 = 1 << 20;
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
    pub(crate) async fn parts(
        mut self,
        conversation: &Conversation,
    ) -> Result<Vec<PromptPart>, Trouble> {
        let desk = conversation.desk();
        if self.mentions {
            self.attach_mentions(conversation).await;
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
            attached.push(attach(conversation, file).await?);
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

    /// Takes up what the text names. What is no file, neither here nor where the agent works, is only
    /// text.
    async fn attach_mentions(&mut self, conversation: &Conversation) {
        let desk = conversation.desk();
        let roots = desk.ask(|state| state.workbench().roots().to_vec()).await;
        let Some(root) = roots.unwrap_or_default().into_iter().next() else {
            return;
        };
        let names: BTreeSet<_> = mentioned(&self.text).collect();
        let mut asked = 0;
        let mut found = Vec::new();
        for name in names {
            let path = root.join(name);
            if name == "selection" {
                self.selection = true;
            } else if path.is_file() {
                found.push(name.into());
            } else if asked < MOST {
                // Code is full of words like this, and each costs a request.
                asked += 1;
                match conversation.has_file(path).await {
                    Ok(true) => found.push(name.into()),
                    Ok(false) => {}
                    // Without an answer it stays text, and so does the rest: whoever says something
                    // must not wait for one missing answer after the other.
                    Err(_) => asked = MOST,
                }
            }
        }
        self.files.extend(found);
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

async fn attach(conversation: &Conversation, file: PathBuf) -> Result<PromptPart, Trouble> {
    let desk = conversation.desk();
    let name = file.display().to_string();
    let cannot = |why: &dyn Display| {
        let why = format!("cannot attach {name}: {why}");
        Trouble::new(TroubleKind::NotAttached, why)
    };
    let roots = desk.ask(|state| state.workbench().roots().to_vec()).await?;
    let path = roots.first().map_or(file.clone(), |root| root.join(&file));
    let spelled = path.clone();
    let found = tokio::task::spawn_blocking(move || companion::locate(&spelled, &roots)).await;
    let place = match found {
        Ok(Ok(place)) => place,
        // It has the name that the person gave it, and no other that we could know of.
        Ok(Err(error)) if is_elsewhere(&error) => Place {
            path: path.clone(),
            real: path.clone(),
        },
        _ => return Err(cannot(&"there is no such file")),
    };
    let judged = place.clone();
    let visibility = desk.ask(move |state| state.workbench().judge(&judged));
    if let Visibility::HeldBack(reason) = visibility.await? {
        return Err(cannot(&reason));
    }
    let file = place.real.clone();
    let bytes = tokio::task::spawn_blocking(move || read_regular(&file, LARGEST.into())).await;
    let text = match bytes {
        Ok(Ok(bytes)) => String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))?,
        Ok(Err(Unreadable::Io(error))) if is_elsewhere(&error) => {
            // By its whole name: the folder that it was judged in must be the one it is read from.
            let text = conversation.read(path, LARGEST).await;
            text.map_err(|trouble| match trouble.kind {
                TroubleKind::NotAttached => cannot(&trouble),
                // It is about the agent's side, and the file may not even be there.
                _ if error.kind() == io::ErrorKind::NotFound => cannot(&"there is no such file"),
                _ => cannot(&error),
            })?
        }
        Ok(Err(error)) => return Err(cannot(&error)),
        Err(_) => return Err(cannot(&"it could not be read")),
    };
    Ok(attachment(&place.path, text))
}

/// Whether a file that cannot be read here for this reason may be there for the agent.
pub(crate) fn is_elsewhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
    )
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
