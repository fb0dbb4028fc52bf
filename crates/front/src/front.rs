//! The handle that every front end holds.

use std::path::PathBuf;
use std::sync::Arc;

use companion::desk::{Desk, LogEntry};
use conversation::Conversation;

use crate::change::Change;
use crate::error::{FrontError, NoConversation};
use crate::feed::{Feed, Interest};
use crate::file_watch::FileWatch;
use crate::pump::Pump;
use crate::reader::Reader;
use crate::service::{ServiceCommands, ServiceFacts};
use crate::snapshot::{Overview, Shared, Snapshot};
use crate::words;

/// Publishes the changes of a conversation; called in their order.
pub type PublishChange = Box<dyn FnMut(conversation::Change) + Send>;

/// The person's side of the companion that serves some folders. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Front(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) desk: Desk,
    pub(crate) service: ServiceCommands,
    pub(crate) feed: Arc<Feed>,
    conversation: Result<Conversation, NoConversation>,
}

impl Front {
    /// Starts the task that follows the desk's events. Needs a running tokio runtime; the task ends
    /// with the last handle, or with the desk.
    ///
    /// `start_conversation` gets the function that publishes the conversation's changes, and starts
    /// a conversation, or says why there is none.
    pub fn start(
        desk: Desk,
        service: ServiceCommands,
        start_conversation: impl FnOnce(PublishChange) -> Result<Conversation, NoConversation>,
    ) -> Result<Front, FrontError> {
        let events = desk.events()?;
        let feed = Arc::new(Feed::new());
        let sink = feed.clone();
        let publish = Box::new(move |change| sink.push(Change::Conversation(change)));
        let front = Front(Arc::new(Inner {
            desk,
            service,
            feed,
            conversation: start_conversation(publish),
        }));
        tokio::spawn(FileWatch::new(&front, front.0.desk.events()?).run());
        tokio::spawn(Pump::new(&front, events).run());
        Ok(front)
    }

    /// The conversation, or why there is none.
    pub fn conversation(&self) -> Result<&Conversation, FrontError> {
        let conversation = self.0.conversation.as_ref();
        conversation.map_err(|why| why.clone().into())
    }

    /// The folders that are served.
    pub async fn folders(&self) -> Result<Vec<PathBuf>, FrontError> {
        let folders = self.0.desk.ask(|state| state.workbench().roots().to_vec());
        Ok(folders.await?)
    }

    /// The situation at this moment.
    pub async fn overview(&self) -> Result<Overview, FrontError> {
        Ok(self.overview_and_log().await?.0)
    }

    /// Everything at this moment. Changes with a larger number may repeat what it contains, but
    /// none is missing.
    pub async fn snapshot(&self) -> Result<Snapshot, FrontError> {
        // The caller will probably follow the feed from there.
        self.0.feed.expect_reader();
        self.take_snapshot().await
    }

    pub(crate) async fn take_snapshot(&self) -> Result<Snapshot, FrontError> {
        self.0.feed.snapshot_begins();
        let (number, conversation) = self.conversation_snapshot().await?;
        let (overview, log) = self.overview_and_log().await?;
        Ok(Snapshot {
            number,
            overview,
            log,
            conversation,
        })
    }

    /// Reads the feed, from the change after `seen` on, or from a snapshot.
    pub fn read(&self, interest: Interest, seen: Option<u64>) -> Reader {
        Reader::new(self.clone(), interest, seen)
    }

    /// The conversation, and the number of the last change that is contained in it.
    async fn conversation_snapshot(
        &self,
    ) -> Result<(u64, Option<conversation::Snapshot>), FrontError> {
        let feed = self.0.feed.clone();
        let Ok(conversation) = &self.0.conversation else {
            return Ok((feed.newest(), None));
        };
        // On the owner's task, where no change can be published in between: unlike the others,
        // changes of a conversation must not be applied twice. The rest is read after this, so it
        // contains everything up to the same number.
        let taken = conversation.ask(move |state| (feed.newest(), Some(state.snapshot())));
        Ok(taken.await?)
    }

    async fn overview_and_log(&self) -> Result<(Overview, Vec<LogEntry>), FrontError> {
        let ServiceFacts { editors, problems } = self.facts().await?;
        let read = self.0.desk.ask(|state| {
            let mut problems = problems;
            let unsaved = state.journal_trouble();
            problems.extend(unsaved.map(|trouble| words::unsaved_state(&trouble)));
            let overview = Overview {
                folders: state.workbench().roots().to_vec(),
                agents: state.sessions(),
                proposals: state.proposals().cloned().collect(),
                shared: Shared::of(state),
                faults: state.workbench().faults().to_vec(),
                editors,
                problems,
            };
            let log = state.log().entries().cloned().collect();
            (overview, log, state.receipt())
        });
        let (overview, log, receipt) = read.await?;
        // What the person has seen must survive a crash.
        receipt.settled().await;
        Ok((overview, log))
    }
}
