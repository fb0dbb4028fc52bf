//! Somebody else at the same daemon, who sees all that a page may not.

use std::collections::BTreeSet;

use daemon::client::{EventCursor, StreamItem, Subscription};
use daemon::wire::{
    ContentBlock, PageRequest, PermissionVote, PromptRequest, RequestId, RestoreSession,
    RewindFiles, SessionId, VoteResult,
};
use daemon::{Address, DaemonClient, Token};
use testkit::{Daemon, Household, PATIENCE};
use tokio::runtime::Runtime;

/// The event after which nothing is old.
const ALL_TOLD: &str = "replay_complete";

/// A client of the daemon.
pub(crate) struct Peer {
    client: DaemonClient,
    workspace: String,
    runtime: Runtime,
}

impl Peer {
    pub(crate) fn new(house: &Household, daemon: &Daemon) -> Peer {
        let token = Token::new(testkit::TOKEN).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Peer {
            client: DaemonClient::new(Address::local(daemon.port()), Some(token)),
            workspace: house.workspace().display().to_string(),
            runtime: runtime.unwrap(),
        }
    }

    /// Answers a request; whether that counts.
    pub(super) fn answer(&self, request: &str, option: &str) -> bool {
        let request = RequestId::new(request).unwrap();
        let ballot = PermissionVote::select(option);
        self.runtime.block_on(async {
            for session in self.sessions().await {
                let vote = self.client.vote(&session, &request, &ballot, None).await;
                if vote.is_ok_and(|vote| vote == VoteResult::Taken) {
                    return true;
                }
            }
            false
        })
    }

    /// Says something in the conversation, with what is not text.
    #[track_caller]
    pub(crate) fn say(&self, blocks: Vec<ContentBlock>) {
        self.runtime.block_on(async {
            let session = self.sessions().await.into_iter().next().unwrap();
            let prompt = PromptRequest::new(blocks);
            self.client.prompt(&session, &prompt, None).await.unwrap();
        });
    }

    /// Takes part in the conversation of the folder, and stays.
    pub(super) fn register(&self) -> SessionId {
        self.runtime.block_on(async {
            let session = self.only_session().await;
            let restore = RestoreSession::default();
            let loaded = self.client.load_session(&session, &restore, None).await;
            loaded.unwrap().opened.session_id
        })
    }

    /// Takes the conversation of the folder back to before a turn, and its files too.
    pub(super) fn rewind(&self, turn: usize) {
        self.runtime.block_on(async {
            let session = self.only_session().await;
            let points = self.client.rewind_points(&session).await.unwrap().points;
            let files = RewindFiles::PutBack;
            let rewound = self.client.rewind(&session, &points[turn].id, files, None);
            rewound.await.unwrap();
        });
    }

    /// Says something while the agent works.
    pub(super) fn interject(&self, text: &str) {
        self.runtime.block_on(async {
            let session = self.only_session().await;
            let message = text.into();
            let receipt = self.client.send_mid_turn(&session, &message, None).await;
            assert!(receipt.unwrap().accepted);
        });
    }

    /// How many take part in a conversation.
    pub(super) fn clients(&self, session: &SessionId) -> u64 {
        let status = self.client.session_status(session);
        let status = self.runtime.block_on(status).unwrap();
        status.client_count.unwrap()
    }

    async fn only_session(&self) -> SessionId {
        let mut sessions = self.sessions().await;
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions.remove(0)
    }

    /// What a page must never receive: where the daemon is, its token, and the names under which
    /// it knows its clients in all conversations that are going on.
    pub(super) fn secrets(&self) -> BTreeSet<String> {
        let port = self.client.address().port();
        let mut secrets: BTreeSet<String> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|host| format!("{host}:{port}"))
            .into();
        secrets.insert(testkit::TOKEN.into());
        let ids = self.runtime.block_on(self.client_ids());
        assert!(!ids.is_empty(), "the daemon has clients");
        secrets.extend(ids);
        secrets
    }

    async fn client_ids(&self) -> Vec<String> {
        let subscription = Subscription {
            cursor: Some(EventCursor::default()),
            ..Subscription::default()
        };
        let mut ids = Vec::new();
        for session in self.sessions().await {
            let events = self.client.events(&session, &subscription, None).await;
            // A conversation that is not going on has no events.
            let Ok(mut events) = events else { continue };
            while let Ok(Some(signal)) = events.next(PATIENCE).await {
                let StreamItem::Event(event) = signal else {
                    continue;
                };
                ids.extend(event.originator().map(|id| id.as_str().to_owned()));
                if event.kind() == ALL_TOLD {
                    break;
                }
            }
        }
        ids
    }

    async fn sessions(&self) -> Vec<SessionId> {
        let page = PageRequest::default();
        let page = self.client.sessions(&self.workspace, &page).await;
        let sessions = page.unwrap().sessions.into_iter();
        sessions.map(|session| session.session_id).collect()
    }
}
