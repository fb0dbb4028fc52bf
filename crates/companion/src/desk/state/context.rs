//! What is open, and the context that is published of it.

use std::ops::Not;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;
use workbench::{Context, Cursor, Focus, Holder, Place, Privacy, Workbench};

use super::sessions::SessionState;
use super::{Event, LogEvent, Published, SentContext, SessionRef, State, now};

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

    /// Other rules decide from now on what is shared.
    pub fn set_privacy(&mut self, privacy: Privacy) {
        let is_news = self.workbench.faults() != privacy.faults();
        self.workbench_mut().set_privacy(privacy);
        self.judge_proposals();
        if is_news {
            // A closed folder is news even while nothing of it is open.
            self.emit(Event::FaultsChanged);
        }
    }

    /// The person has this document open, but is not in it.
    pub fn open(&mut self, holder: Holder, place: Place) {
        self.workbench_mut().open(holder, place, now());
    }

    /// The person is in this document now.
    pub fn focus(&mut self, holder: Holder, focus: Focus) {
        self.workbench_mut().focus(holder, focus, now());
    }

    /// The person is in this document now, at this place if it is known. What they had selected
    /// stays selected if that is where they were before.
    pub fn touch(&mut self, holder: Holder, place: Place, cursor: Option<Cursor>) {
        self.stale |= self.workbench.touch(holder, place, cursor, now());
    }

    /// Stops telling agents what is open, or resumes it. While it is paused they see nothing open.
    pub fn set_paused(&mut self, paused: bool) {
        if paused == self.paused {
            return;
        }
        self.paused = paused;
        self.stale = true;
        self.write(if paused {
            LogEvent::Paused
        } else {
            LogEvent::Resumed
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
        let Some(context) = self.context() else {
            return false;
        };
        let view = (self.paused, self.workbench.held_back_changes());
        let another_view = std::mem::replace(&mut self.told, view) != view;
        if context == self.published.borrow().context {
            if another_view {
                self.emit(Event::HeldBackChanged);
            }
            return false;
        }
        let published = Published {
            bytes: self.sink.publish(&context),
            context,
            at: Some(now()),
        };
        let is_heard = |session: &SessionState| session.mailbox.is_listening();
        if self.sessions.values().any(is_heard) {
            let before = &self.published.borrow().context;
            let again = places(before).eq(places(&published.context));
            (self.log).write_context(now(), sent(&published, None), again);
        }
        self.published.send_replace(published);
        self.emit(Event::ContextChanged);
        true
    }

    /// What agents may be told now; nothing while it waits for the first look at a file.
    fn context(&mut self) -> Option<Context> {
        self.files.begin_turn();
        if self.paused {
            self.files.stop_waiting();
            return Some(Context::default());
        }
        let (workbench, files) = (&self.workbench, &mut self.files);
        let mut context = workbench.context(|path| files.exists(path));
        // A look can come back while the context is made.
        if files.collect() {
            files.begin_turn();
            context = workbench.context(|path| files.exists(path));
        }
        files.is_worth_waiting().not().then_some(context)
    }

    /// Notified when a look at a file has come back.
    pub(in crate::desk) fn looks(&self) -> Arc<Notify> {
        self.files.returned()
    }

    pub(in crate::desk) fn collect_looks(&mut self) {
        self.stale |= self.files.collect();
    }

    /// Until when the context waits for a look at a file.
    pub(in crate::desk) fn waits_until(&self) -> Option<Instant> {
        self.files.waits_until()
    }

    /// A look takes too long: the next context goes out without that file.
    pub(in crate::desk) fn look_is_overdue(&mut self) {
        self.stale = true;
    }
}

/// What the log says of a context that was sent.
pub(super) fn sent(published: &Published, to: Option<SessionRef>) -> SentContext {
    SentContext {
        to,
        files: published.context.files.len(),
        bytes: published.bytes,
        times: 1,
    }
}

/// The files of a context, and which of them is in front.
fn places(context: &workbench::Context) -> impl Iterator<Item = (&Path, bool)> {
    let files = context.files.iter();
    files.map(|file| (file.path.as_path(), file.active.is_some()))
}
