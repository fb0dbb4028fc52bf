//! What the tools of an agent do, as far as a person sees it.

use crate::attachment::Attachment;
use crate::names::{ToolKind, ToolStatus};

/// A path on the machine that the agent runs on. It need not mean anything where it is shown, so
/// whoever shows it should say whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPath {
    /// The path as the agent writes it.
    pub path: String,
    /// A line in that file, if the agent names one.
    pub line: Option<u64>,
}

/// A tool call, or what changed about one: fields that are absent then are as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The agent's name for the call; updates repeat it.
    pub id: String,
    /// What to call it.
    pub title: Option<String>,
    /// The tool's name.
    pub tool: Option<String>,
    /// What the tool does, roughly.
    pub kind: Option<ToolKind>,
    /// How far the call is.
    pub status: Option<ToolStatus>,
    /// What the tool shows; replaces what it showed before.
    pub content: Option<Vec<ToolOutput>>,
    /// The files it touches; replace those from before.
    pub files: Option<Vec<HostPath>>,
    /// The command it runs, which no content shows and a person must see to decide.
    pub command: Option<String>,
}

impl ToolCall {
    /// About how many bytes of text it holds.
    pub(crate) fn size(&self) -> usize {
        let text = |text: Option<&String>| text.map_or(0, String::len);
        let shown = self.content.iter().flatten().map(|shown| match shown {
            ToolOutput::Text(text) => text.len(),
            ToolOutput::Diff {
                old_text, new_text, ..
            } => text(old_text.as_ref()) + new_text.len(),
            ToolOutput::Attachment(attachment) => attachment.size(),
        });
        shown.sum::<usize>() + text(self.title.as_ref()) + text(self.command.as_ref())
    }
}

/// Something that a tool shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolOutput {
    /// Plain text.
    Text(String),
    /// A change to a file.
    Diff {
        /// The file.
        path: HostPath,
        /// The text before; absent for a new file.
        old_text: Option<String>,
        /// The text after.
        new_text: String,
    },
    /// A picture, a file or a link.
    Attachment(Attachment),
}

impl ToolCall {
    /// Takes over what an update says; what it leaves out stays.
    pub(crate) fn update(&mut self, news: &ToolCall) {
        fn take<T: Clone>(known: &mut Option<T>, news: Option<&T>) {
            if let Some(news) = news {
                *known = Some(news.clone());
            }
        }
        take(&mut self.title, news.title.as_ref());
        take(&mut self.tool, news.tool.as_ref());
        take(&mut self.kind, news.kind.as_ref());
        take(&mut self.status, news.status.as_ref());
        take(&mut self.content, news.content.as_ref());
        take(&mut self.files, news.files.as_ref());
        take(&mut self.command, news.command.as_ref());
    }
}
