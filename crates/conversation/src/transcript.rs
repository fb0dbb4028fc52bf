//! The conversation as a list of entries, put together from single events.
//!
//! What is said comes in pieces and what tools do in steps; here the pieces become one entry. The
//! list is limited in number and size: the oldest entries go first, and that is said.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::backend::{BackendEvent, RestoredFiles};
use crate::names::ToolStatus;
use crate::tools::ToolCall;
use crate::view::{Change, EntryContent, Speaker, TranscriptEntry, TurnOutcome};

/// How much of a conversation is kept.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptLimits {
    /// How many entries.
    pub entries: usize,
    /// Bytes of text in all of them.
    pub bytes: usize,
    /// Bytes of one entry that is still being said; a new entry goes on from there.
    pub entry: usize,
}

impl Default for TranscriptLimits {
    fn default() -> TranscriptLimits {
        TranscriptLimits {
            entries: 5_000,
            bytes: 16 << 20,
            entry: 256 << 10,
        }
    }
}

/// What was said and done.
#[derive(Debug)]
pub(crate) struct Transcript {
    limits: TranscriptLimits,
    entries: VecDeque<Arc<TranscriptEntry>>,
    /// The entry of each tool call.
    tools: HashMap<String, u64>,
    /// The tool calls that a person has rejected, of those that are kept.
    rejected: HashSet<String>,
    /// The plan of the running turn, which is updated in place.
    plan: Option<u64>,
    turns: Turns,
    next_id: u64,
    bytes: usize,
    shortened: bool,
}

impl Transcript {
    /// Nothing yet.
    pub(crate) fn new(limits: TranscriptLimits) -> Transcript {
        Transcript {
            limits,
            entries: VecDeque::new(),
            tools: HashMap::new(),
            rejected: HashSet::new(),
            plan: None,
            turns: Turns::default(),
            next_id: 1,
            bytes: 0,
            shortened: false,
        }
    }

    /// All entries that are kept, oldest first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<TranscriptEntry>> {
        self.entries.iter()
    }

    /// Whether older entries were not kept.
    pub(crate) fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// Takes in an event, if it is one that is shown here, and returns what changed.
    pub(crate) fn apply(&mut self, event: &BackendEvent) -> Vec<Change> {
        let change = match event {
            BackendEvent::History {
                events, incomplete, ..
            } => return self.start_over(events, *incomplete),
            // What follows is perhaps another conversation, and comes from its beginning.
            BackendEvent::Connected { .. } => self.clear(),
            BackendEvent::TurnBegan => {
                self.turns.first_entries.push_back(self.next_id);
                return Vec::new();
            }
            BackendEvent::Rewound { turn, files } => return self.rewind(*turn, files),
            BackendEvent::Said { speaker, text } => self.say(*speaker, text),
            BackendEvent::Attached {
                speaker,
                attachment,
            } => self.add(EntryContent::Attached {
                speaker: *speaker,
                attachment: attachment.clone(),
            }),
            BackendEvent::Notice(notice) => self.note(&notice.words()),
            BackendEvent::Tool(tool) => self.use_tool(tool),
            // What a call is about is often told only with the request for permission.
            BackendEvent::RequestOpened { request, .. }
                if self.tools.contains_key(&request.tool.id) =>
            {
                self.use_tool(&ToolCall {
                    title: Some(request.title.clone()),
                    ..request.tool.clone()
                })
            }
            BackendEvent::Plan(steps) => {
                let plan = EntryContent::Plan(steps.clone());
                if let Some(id) = self.plan {
                    self.replace(id, plan)
                } else {
                    self.plan = Some(self.next_id);
                    self.add(plan)
                }
            }
            BackendEvent::TurnEnded {
                outcome,
                background,
                ..
            } => {
                if !background {
                    self.plan = None;
                }
                // The usual end needs no words.
                if *outcome == (TurnOutcome::Complete { early: None }) {
                    return Vec::new();
                }
                self.add(EntryContent::Ended {
                    outcome: outcome.clone(),
                    background: *background,
                })
            }
            BackendEvent::RequestDeclined { .. } => {
                self.note("The agent asked for something that could not be read. It was declined.")
            }
            BackendEvent::ModelRefused { model } => {
                let which = model.as_deref().unwrap_or("that model");
                self.note(&format!("{which} could not be used."))
            }
            BackendEvent::EventsLost => self.note("A part of the conversation could not be read."),
            _ => return Vec::new(),
        };
        let mut changes = vec![change];
        changes.extend(self.shorten());
        changes
    }

    /// Adds a line in our own words.
    pub(crate) fn note(&mut self, text: &str) -> Change {
        self.add(EntryContent::Note(text.to_owned()))
    }

    /// A person has rejected a tool call. Its failure is no failure then, whether the agent has told it
    /// already or tells it later.
    pub(crate) fn reject(&mut self, tool: &str) -> Option<Change> {
        let entry = self.get(*self.tools.get(tool)?)?;
        let EntryContent::Tool(call) = &entry.content else {
            return None;
        };
        let has_failed = call.status == Some(ToolStatus::Failed);
        self.rejected.insert(tool.to_owned());
        has_failed.then(|| {
            self.use_tool(&ToolCall {
                id: tool.to_owned(),
                status: Some(ToolStatus::Rejected),
                ..ToolCall::default()
            })
        })
    }

    fn clear(&mut self) -> Change {
        self.entries.clear();
        self.tools.clear();
        self.rejected.clear();
        self.plan = None;
        self.turns = Turns::default();
        self.bytes = 0;
        self.shortened = false;
        Change::Clear
    }

    fn start_over(&mut self, events: &[BackendEvent], incomplete: bool) -> Vec<Change> {
        let first = self.next_id;
        self.clear();
        self.turns.are_incomplete = incomplete;
        if incomplete {
            self.note("The oldest part of this conversation is not available.");
        }
        for event in events {
            self.apply(event);
        }
        self.all_anew(first)
    }

    /// The changes that replace all entries by those that there are now. `first` is the number that
    /// the oldest has if none was let go of.
    fn all_anew(&self, first: u64) -> Vec<Change> {
        let mut changes = vec![Change::Clear];
        if self.shortened {
            let first = self.entries.front().map_or(first, |entry| entry.id);
            changes.push(Change::Shorten { first });
        }
        changes.extend(self.entries.iter().cloned().map(Change::Put));
        changes
    }

    /// The agent has forgotten everything from this turn on, so it goes here too.
    fn rewind(&mut self, turn: usize, files: &RestoredFiles) -> Vec<Change> {
        let Some(first) = self.turns.cut(turn) else {
            let note = self.note(&rewound("an earlier point, which is not shown here", files));
            return std::iter::once(note).chain(self.shorten()).collect();
        };
        while let Some(last) = self.entries.pop_back_if(|entry| entry.id >= first) {
            self.let_go(&last.content);
        }
        self.plan = self.plan.filter(|id| *id < first);
        // Numbers are given without gaps.
        self.next_id = self.entries.back().map_or(first.max(1), |last| last.id + 1);
        self.note(&rewound("this point", files));
        self.all_anew(first)
    }

    /// An entry is not kept any more.
    fn let_go(&mut self, content: &EntryContent) {
        self.bytes -= size(content);
        if let EntryContent::Tool(tool) = content {
            self.tools.remove(&tool.id);
            self.rejected.remove(&tool.id);
        }
    }

    /// What the agent says goes on; what a person says is the next thing they say.
    fn say(&mut self, speaker: Speaker, text: &str) -> Change {
        let goes_on = matches!(speaker, Speaker::Agent | Speaker::Thought);
        if goes_on
            && let Some(last) = self.entries.back_mut()
            && let EntryContent::Said {
                speaker: who,
                text: said,
            } = &last.content
            && *who == speaker
            && said.len() < self.limits.entry
        {
            let id = last.id;
            // Whoever holds the entry as it was keeps it.
            if let EntryContent::Said { text: said, .. } = &mut Arc::make_mut(last).content {
                said.push_str(text);
            }
            self.bytes += text.len();
            return Change::Append {
                id,
                text: text.to_owned(),
            };
        }
        self.add(EntryContent::Said {
            speaker,
            text: text.to_owned(),
        })
    }

    fn use_tool(&mut self, news: &ToolCall) -> Change {
        let known = self.tools.get(&news.id).copied();
        let before = known.and_then(|id| match &self.get(id)?.content {
            EntryContent::Tool(tool) => Some((id, tool.clone())),
            _ => None,
        });
        if let Some((id, mut tool)) = before {
            tool.update(news);
            if tool.status == Some(ToolStatus::Failed) && self.rejected.contains(&tool.id) {
                tool.status = Some(ToolStatus::Rejected);
            }
            return self.replace(id, EntryContent::Tool(tool));
        }
        self.tools.insert(news.id.clone(), self.next_id);
        self.add(EntryContent::Tool(news.clone()))
    }

    fn get(&self, id: u64) -> Option<&Arc<TranscriptEntry>> {
        self.entries.get(self.place(id)?)
    }

    /// Where the entry `id` stands: numbers are given without gaps.
    fn place(&self, id: u64) -> Option<usize> {
        let first = self.entries.front()?.id;
        let place = usize::try_from(id.checked_sub(first)?).ok()?;
        (place < self.entries.len()).then_some(place)
    }

    fn add(&mut self, content: EntryContent) -> Change {
        let entry = Arc::new(TranscriptEntry {
            id: self.next_id,
            content,
        });
        self.next_id += 1;
        self.bytes += size(&entry.content);
        self.entries.push_back(entry.clone());
        Change::Put(entry)
    }

    /// Puts something else into an entry; into a new one if it is not kept any more.
    fn replace(&mut self, id: u64, content: EntryContent) -> Change {
        let place = self.place(id);
        let Some(slot) = place.and_then(|place| self.entries.get_mut(place)) else {
            return self.add(content);
        };
        self.bytes = self.bytes - size(&slot.content) + size(&content);
        *slot = Arc::new(TranscriptEntry { id, content });
        Change::Put(slot.clone())
    }

    /// Lets go of the oldest entries while there are too many.
    fn shorten(&mut self) -> Option<Change> {
        let mut went = false;
        while self.entries.len() > self.limits.entries
            || (self.bytes > self.limits.bytes && self.entries.len() > 1)
        {
            let oldest = self.entries.pop_front()?;
            self.let_go(&oldest.content);
            went = true;
        }
        self.shortened |= went;
        let first = self.entries.front()?.id;
        self.turns.shorten(first);
        went.then_some(Change::Shorten { first })
    }
}

/// Where the turns of prompts begin.
#[derive(Debug, Default)]
struct Turns {
    /// How many of the oldest are not in the list any more.
    let_go: usize,
    /// The number of the first entry of each of the others, oldest first.
    first_entries: VecDeque<u64>,
    /// Whether there were earlier turns that nobody told.
    are_incomplete: bool,
}

impl Turns {
    /// Forgets a turn, counted from 0, and all after it. Returns the number of its first entry;
    /// `None` if nobody knows where it begins.
    fn cut(&mut self, turn: usize) -> Option<u64> {
        if self.are_incomplete {
            return None;
        }
        // None of the entries of a turn that was let go of is kept.
        let place = turn.checked_sub(self.let_go);
        let first = place.map_or(Some(&0), |place| self.first_entries.get(place));
        let first = *first?;
        self.first_entries.truncate(place.unwrap_or(0));
        self.let_go = self.let_go.min(turn);
        Some(first)
    }

    /// The oldest entry that is kept has this number. Turns that ended before it are let go of.
    fn shorten(&mut self, first: u64) {
        while self.first_entries.get(1).is_some_and(|next| *next <= first) {
            self.first_entries.pop_front();
            self.let_go += 1;
        }
    }
}

/// That a conversation was taken back to a point, in our own words.
fn rewound(point: &str, files: &RestoredFiles) -> String {
    let mut text = format!("The conversation was taken back to {point}.");
    let list = |paths: &[String]| paths.join(", ");
    if !files.restored.is_empty() {
        let _ = write!(text, " Put back: {}.", list(&files.restored));
    }
    if !files.failed.is_empty() {
        let _ = write!(text, " Could not be put back: {}.", list(&files.failed));
    }
    text
}

/// About how many bytes an entry takes, always the same for the same content.
pub(crate) fn size(content: &EntryContent) -> usize {
    /// An entry without any text.
    const OVERHEAD: usize = 256;
    let text = |text: Option<&String>| text.map_or(0, String::len);
    OVERHEAD
        + match content {
            EntryContent::Said { text, .. } | EntryContent::Note(text) => text.len(),
            EntryContent::Attached { attachment, .. } => attachment.size(),
            EntryContent::Plan(steps) => steps.iter().map(|step| step.text.len()).sum(),
            EntryContent::Ended { outcome, .. } => text(outcome.why().as_ref()),
            EntryContent::Tool(tool) => tool.size(),
        }
}

#[cfg(test)]
mod tests;
