//! Turns what happens at the desk into announcements for pages.
//!
//! Events say only that something is different; what it is now is asked for. So an announcement
//! may be newer than its event, never older, and nothing is announced twice in a row. While there
//! is no page, nothing is asked for either.

use std::sync::Arc;

use companion::Ending;
use companion::desk::{Desk, Event, Gone, Revision};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;
use workbench::ProposalId;

use crate::announcements::Announcements;
use crate::answer::off_thread;
use crate::{view, wire};

pub(crate) struct Recorder {
    desk: Desk,
    events: broadcast::Receiver<Event>,
    announcements: Arc<Announcements>,
    /// What was announced last.
    sessions: Vec<wire::Session>,
    context: Option<wire::Context>,
    /// Up to where the log was announced, and up to where it is written.
    log: u64,
    revision: Revision,
}

impl Recorder {
    pub(crate) fn new(desk: Desk, announcements: Arc<Announcements>) -> Result<Recorder, Gone> {
        Ok(Recorder {
            events: desk.events()?,
            revision: desk.log_revision(),
            desk,
            announcements,
            sessions: Vec::new(),
            context: None,
            log: 0,
        })
    }

    /// Works until the companion is about to end.
    pub(crate) async fn run(mut self, mut ending: watch::Receiver<Ending>) {
        loop {
            let event = tokio::select! {
                event = self.events.recv() => event,
                _ = ending.wait_for(|ending| *ending != Ending::No) => return,
            };
            let recorded = match event {
                Ok(event) => self.record(event).await,
                Err(RecvError::Lagged(_)) => {
                    self.announcements.start_over();
                    Ok(())
                }
                Err(RecvError::Closed) => return,
            };
            if recorded.is_err() {
                return;
            }
        }
    }

    async fn record(&mut self, event: Event) -> Result<(), Gone> {
        // Looked at first: a page that comes right now sees at least this much of the log.
        let revision = self.revision.get();
        if !self.announcements.is_wanted() {
            self.announcements.start_over();
            self.sessions = Vec::new();
            self.context = None;
            self.log = revision;
            return Ok(());
        }
        match event {
            Event::Opened(id) => self.opened(id).await?,
            Event::Drafted(id) => self
                .announcements
                .announce("changed", &wire::Changed { id: id.get() }),
            Event::Closed(id, why) => {
                let closed = wire::Closed {
                    id: id.get(),
                    why: view::ended(why).to_owned(),
                };
                self.announcements.announce("closed", &closed);
                self.sessions().await?;
            }
            Event::SessionsChanged | Event::Delivered(_) => self.sessions().await?,
            Event::ContextChanged | Event::HeldBackChanged => self.context().await?,
        }
        self.log().await
    }

    async fn opened(&self, id: ProposalId) -> Result<(), Gone> {
        let asked = self
            .desk
            .ask(move |state| (state.proposal(id).cloned(), state.receipt()));
        // One that is over already is not worth showing.
        let (Some(proposal), receipt) = asked.await? else {
            return Ok(());
        };
        // What the person has seen is still there after a crash.
        receipt.written().await;
        let summary = off_thread(move || view::summary(&proposal)).await?;
        self.announcements.announce("opened", &summary);
        Ok(())
    }

    async fn sessions(&mut self) -> Result<(), Gone> {
        let sessions = self.desk.ask(|state| state.sessions()).await?;
        let sessions = view::sessions(sessions);
        if sessions != self.sessions {
            self.announcements.announce("sessions", &sessions);
            self.sessions = sessions;
        }
        Ok(())
    }

    async fn context(&mut self) -> Result<(), Gone> {
        let context = self.desk.ask(|state| view::context(state)).await?;
        if self.context.as_ref() != Some(&context) {
            self.announcements.announce("context", &context);
            self.context = Some(context);
        }
        Ok(())
    }

    async fn log(&mut self) -> Result<(), Gone> {
        let seen = self.log;
        let (revision, entries) = self
            .desk
            .ask(move |state| {
                let log = state.log();
                let entries: Vec<_> = log.since(seen).map(view::entry).collect();
                (log.revision().get(), entries)
            })
            .await?;
        self.log = revision;
        for entry in entries {
            self.announcements.announce("log", &entry);
        }
        Ok(())
    }
}
