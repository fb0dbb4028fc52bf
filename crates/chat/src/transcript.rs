//! The conversation as a list of entries, put together from single events.
//!
//! What is said comes in pieces and what tools do in steps; here the pieces become one entry. The
//! list is limited in number and size: the oldest entries go first, and that is said.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use daemon::sanitiser::{AppEvent, AppTool, Shown, Speaker, TurnResult};

use crate::view::{Body, Change, Entry};

/// How much of a conversation is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Entries.
    pub(crate) entries: usize,
    /// Bytes of text in all of them.
    pub(crate) bytes: usize,
    /// Bytes of one entry that is still being said; a new entry goes on from there.
    pub(crate) entry: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            entries: 5_000,
            bytes: 16 << 20,
            entry: 256 << 10,
        }
    }
}

/// What was said and done.
#[derive(Debug)]
pub(crate) struct Transcript {
    limits: Limits,
    entries: VecDeque<Arc<Entry>>,
    /// The entry of each tool call.
    tools: HashMap<String, u64>,
    /// The plan of the running turn, which is updated in place.
    plan: Option<u64>,
    next_id: u64,
    bytes: usize,
    shortened: bool,
}

impl Transcript {
    /// Nothing yet.
    pub(crate) fn new(limits: Limits) -> Transcript {
        Transcript {
            limits,
            entries: VecDeque::new(),
            tools: HashMap::new(),
            plan: None,
            next_id: 1,
            bytes: 0,
            shortened: false,
        }
    }

    /// All entries that are kept, oldest first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    /// Whether older entries were not kept.
    pub(crate) fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// Takes in an event, if it is one that belongs here, and tells what changed.
    pub(crate) fn hear(&mut self, event: &AppEvent) -> Vec<Change> {
        let change = match event {
            AppEvent::StartOver {
                events, incomplete, ..
            } => return self.start_over(events, *incomplete),
            // What follows is perhaps another conversation, and comes from its beginning.
            AppEvent::Connected { .. } => self.clear(),
            AppEvent::Said { speaker, text } => self.say(*speaker, text),
            AppEvent::Tool(tool) => self.use_tool(tool),
            // What a call is about is often told only when leave is asked for.
            AppEvent::Asked { title, tool, .. } if self.tools.contains_key(&tool.id) => {
                let title = Some(title.clone());
                self.use_tool(&AppTool {
                    title,
                    ..tool.clone()
                })
            }
            AppEvent::Plan { steps } => {
                let body = Body::Plan {
                    steps: steps.clone(),
                };
                if let Some(id) = self.plan {
                    self.replace(id, body)
                } else {
                    self.plan = Some(self.next_id);
                    self.add(body)
                }
            }
            AppEvent::TurnEnded {
                how,
                why,
                background,
                ..
            } => {
                if !background {
                    self.plan = None;
                }
                // The usual end needs no words.
                if *how == TurnResult::Complete && why.is_none() {
                    return Vec::new();
                }
                self.add(Body::Ended {
                    how: *how,
                    why: why.clone(),
                    background: *background,
                })
            }
            AppEvent::Declined { .. } => {
                self.note("The agent asked for something that could not be read. It was declined.")
            }
            AppEvent::ModelRefused { model } => {
                let which = model.as_deref().unwrap_or("that model");
                self.note(&format!("{which} could not be used."))
            }
            AppEvent::Gap => self.note("A part of the conversation could not be read."),
            _ => return Vec::new(),
        };
        let mut changes = vec![change];
        changes.extend(self.shorten());
        changes
    }

    /// Adds a line in our own words.
    pub(crate) fn note(&mut self, text: &str) -> Change {
        self.add(Body::Note {
            text: text.to_owned(),
        })
    }

    fn clear(&mut self) -> Change {
        self.entries.clear();
        self.tools.clear();
        self.plan = None;
        self.bytes = 0;
        self.shortened = false;
        Change::Clear
    }

    fn start_over(&mut self, events: &[AppEvent], incomplete: bool) -> Vec<Change> {
        let first = self.next_id;
        self.clear();
        if incomplete {
            self.note("The oldest part of this conversation is not available.");
        }
        for event in events {
            self.hear(event);
        }
        let mut changes = vec![Change::Clear];
        if self.shortened {
            let first = self.entries.front().map_or(first, |entry| entry.id);
            changes.push(Change::Shorten { first });
        }
        changes.extend(self.entries.iter().map(|entry| Change::Put {
            entry: entry.clone(),
        }));
        changes
    }

    /// What the agent says goes on; what a person says is the next thing they say.
    fn say(&mut self, speaker: Speaker, text: &str) -> Change {
        let goes_on = matches!(speaker, Speaker::Agent | Speaker::Thought);
        if goes_on
            && let Some(last) = self.entries.back_mut()
            && let Body::Said {
                speaker: who,
                text: said,
            } = &last.body
            && *who == speaker
            && said.len() < self.limits.entry
        {
            let id = last.id;
            // Whoever holds the entry as it was keeps it.
            if let Body::Said { text: said, .. } = &mut Arc::make_mut(last).body {
                said.push_str(text);
            }
            self.bytes += text.len();
            return Change::Append {
                id,
                text: text.to_owned(),
            };
        }
        self.add(Body::Said {
            speaker,
            text: text.to_owned(),
        })
    }

    fn use_tool(&mut self, news: &AppTool) -> Change {
        let known = self.tools.get(&news.id).copied();
        let before = known.and_then(|id| match &self.get(id)?.body {
            Body::Tool { tool } => Some((id, tool.clone())),
            _ => None,
        });
        if let Some((id, mut tool)) = before {
            update(&mut tool, news);
            return self.replace(id, Body::Tool { tool });
        }
        self.tools.insert(news.id.clone(), self.next_id);
        self.add(Body::Tool { tool: news.clone() })
    }

    fn get(&self, id: u64) -> Option<&Arc<Entry>> {
        self.entries.get(self.place(id)?)
    }

    /// Where the entry `id` stands: numbers are given without gaps.
    fn place(&self, id: u64) -> Option<usize> {
        let first = self.entries.front()?.id;
        let place = usize::try_from(id.checked_sub(first)?).ok()?;
        (place < self.entries.len()).then_some(place)
    }

    fn add(&mut self, body: Body) -> Change {
        let entry = Arc::new(Entry {
            id: self.next_id,
            body,
        });
        self.next_id += 1;
        self.bytes += size(&entry.body);
        self.entries.push_back(entry.clone());
        Change::Put { entry }
    }

    /// Puts another body into an entry; a new entry if it is not kept any more.
    fn replace(&mut self, id: u64, body: Body) -> Change {
        let place = self.place(id);
        let Some(slot) = place.and_then(|place| self.entries.get_mut(place)) else {
            return self.add(body);
        };
        self.bytes = self.bytes - size(&slot.body) + size(&body);
        *slot = Arc::new(Entry { id, body });
        Change::Put {
            entry: slot.clone(),
        }
    }

    /// Lets go of the oldest entries while there are too many.
    fn shorten(&mut self) -> Option<Change> {
        let mut went = false;
        while self.entries.len() > self.limits.entries
            || (self.bytes > self.limits.bytes && self.entries.len() > 1)
        {
            let oldest = self.entries.pop_front()?;
            self.bytes -= size(&oldest.body);
            if let Body::Tool { tool } = &oldest.body {
                self.tools.remove(&tool.id);
            }
            went = true;
        }
        self.shortened |= went;
        let first = self.entries.front()?.id;
        went.then_some(Change::Shorten { first })
    }
}

/// What an update says of a tool call replaces what was known; what it leaves out stays.
fn update(tool: &mut AppTool, news: &AppTool) {
    fn take<T: Clone>(known: &mut Option<T>, news: Option<&T>) {
        if let Some(news) = news {
            *known = Some(news.clone());
        }
    }
    take(&mut tool.title, news.title.as_ref());
    take(&mut tool.tool, news.tool.as_ref());
    take(&mut tool.kind, news.kind.as_ref());
    take(&mut tool.status, news.status.as_ref());
    take(&mut tool.content, news.content.as_ref());
    take(&mut tool.files, news.files.as_ref());
    take(&mut tool.command, news.command.as_ref());
}

/// About how many bytes a body takes, always the same for the same body.
fn size(body: &Body) -> usize {
    /// An entry without any text.
    const OVERHEAD: usize = 256;
    let text = |text: Option<&String>| text.map_or(0, String::len);
    OVERHEAD
        + match body {
            Body::Said { text, .. } | Body::Note { text } => text.len(),
            Body::Plan { steps } => steps.iter().map(|step| step.text.len()).sum(),
            Body::Ended { why, .. } => text(why.as_ref()),
            Body::Tool { tool } => {
                let shown = tool.content.iter().flatten().map(|shown| match shown {
                    Shown::Text { text } => text.len(),
                    Shown::Diff {
                        old_text, new_text, ..
                    } => text(old_text.as_ref()) + new_text.len(),
                });
                shown.sum::<usize>() + text(tool.title.as_ref()) + text(tool.command.as_ref())
            }
        }
}

#[cfg(test)]
mod tests;
