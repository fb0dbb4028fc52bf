//! What is open, and what agents are told of it.

use std::path::Path;

use workbench::{Cursor, Focus, Place, Workbench};

use super::sessions::Session;
use super::{Event, Happening, Peer, Published, Sent, State, now};
use crate::mcp::ide;

impl State {
    /// The workbench, to look at.
    pub fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// The workbench, to change; agents hear of it soon.
    pub fn workbench_mut(&mut self) -> &mut Workbench {
        self.stale = true;
        &mut self.workbench
    }

    /// The person has this document open, but is not in it.
    pub fn open(&mut self, place: Place) {
        self.workbench_mut().open(place, now());
    }

    /// The person is in this document now.
    pub fn focus(&mut self, focus: Focus) {
        self.workbench_mut().focus(focus, now());
    }

    /// The person is in this document now, at this place if it is known. What they had selected
    /// stays selected if that is where they were before.
    pub fn touch(&mut self, place: Place, cursor: Option<Cursor>) {
        let newest = self.workbench.documents().next();
        let is_there = newest.is_some_and(|newest| {
            newest.path() == place.path
                && newest.was_visited()
                && (cursor.is_none() || newest.cursor() == cursor)
        });
        if !is_there {
            self.focus(Focus {
                place,
                cursor,
                selection: None,
            });
        }
    }

    /// Stops telling agents what is open, or resumes it. While it is paused they see nothing open.
    pub fn set_paused(&mut self, paused: bool) {
        if paused == self.paused {
            return;
        }
        self.paused = paused;
        self.stale = true;
        self.write(if paused {
            Happening::Paused
        } else {
            Happening::Resumed
        });
    }

    /// Whether agents are told nothing for the time being.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The context that agents were sent last.
    pub fn published(&self) -> Published {
        self.published.borrow().clone()
    }

    pub(in crate::desk) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Sends the context to all agents if it is another one than before, and says whether it was.
    pub(in crate::desk) fn publish(&mut self) -> bool {
        self.stale = false;
        let context = if self.paused {
            workbench::Context::default()
        } else {
            self.workbench.context(Path::is_file)
        };
        let view = (self.paused, self.workbench.held_back_changes());
        let another_view = std::mem::replace(&mut self.told, view) != view;
        if context == self.published.borrow().context {
            if another_view {
                self.say(Event::HeldBackChanged);
            }
            return false;
        }
        let published = Published {
            frame: ide::context_frame(&context),
            context,
            at: Some(now()),
        };
        let is_heard = |session: &Session| session.mailbox.is_listening();
        if self.sessions.values().any(is_heard) {
            let before = &self.published.borrow().context;
            let again = places(before).eq(places(&published.context));
            (self.log).write_context(now(), sent(&published, None), again);
        }
        self.published.send_replace(published);
        self.say(Event::ContextChanged);
        true
    }
}

/// What the log says of a context that was sent.
pub(super) fn sent(published: &Published, to: Option<Peer>) -> Sent {
    Sent {
        to,
        files: published.context.files.len(),
        bytes: published.size(),
        times: 1,
    }
}

/// The files of a context, and which of them is in front.
fn places(context: &workbench::Context) -> impl Iterator<Item = (&Path, bool)> {
    let files = context.files.iter();
    files.map(|file| (file.path.as_path(), file.active.is_some()))
}
