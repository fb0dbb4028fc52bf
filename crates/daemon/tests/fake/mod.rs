//! A daemon with one session, in this process, that can be told to misbehave.
//!
//! [`FakeDaemon`] is the handle a test holds. `world` knows the rules of the published daemon as far as
//! they matter here, `routes` answers requests by them, `server` speaks HTTP over real sockets, and
//! `watching` is what a consumer sees.

#![allow(
    dead_code,
    unused_imports,
    reason = "each group of tests uses another part of it"
)]

mod routes;
mod server;
mod watching;
mod world;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use daemon::wire::NewSession;
use daemon::{Address, DaemonClient, Session, Timeouts, Token, Updates};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use world::Piece;

pub(crate) use watching::{end_of, ending, is, next, quick, shown, take_until, until};
pub(crate) use world::{OnPrompt, Seen, World};

pub(crate) const TOKEN: &str = "the-secret";
pub(crate) const SESSION: &str = "95c73ec8-0920-45db-8dde-af1945dbd383";

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct FakeDaemon {
    pub(crate) port: u16,
    world: Arc<Mutex<World>>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

impl FakeDaemon {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let daemon = Self {
            port: listener.local_addr().unwrap().port(),
            world: Arc::new(Mutex::new(World::new())),
            listening: Mutex::new(None),
        };
        daemon.listen(listener);
        daemon
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn listen(&self, listener: TcpListener) {
        let world = self.world.clone();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(server::serve(socket, world.clone()));
            }
        });
        *self.listening.lock().unwrap() = Some(task);
    }

    /// Nobody answers the port any more, and every stream is cut.
    pub(crate) async fn go_down(&self) {
        let task = self.listening.lock().unwrap().take().unwrap();
        task.abort();
        let _ = task.await;
        self.cut();
    }

    /// Answers again on the same port, with nothing in memory.
    pub(crate) async fn come_back(&self) {
        {
            let mut world = self.world();
            world.alive = false;
            world.on_disk = true;
            world.registered.clear();
        }
        self.listen(TcpListener::bind(("127.0.0.1", self.port)).await.unwrap());
    }

    /// Cuts every stream without an end.
    pub(crate) fn cut(&self) {
        for stream in self.world().streams.drain(..) {
            let _ = stream.send(Piece::Cut);
        }
    }

    /// Ends every stream properly.
    pub(crate) fn end_streams(&self) {
        for stream in self.world().streams.drain(..) {
            let _ = stream.send(Piece::End);
        }
    }

    /// Sends bytes as they are to every stream.
    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        self.world().send(bytes.as_ref());
    }

    pub(crate) fn heartbeat(&self) {
        self.send(": heartbeat\n\n");
    }

    #[allow(
        clippy::needless_pass_by_value,
        reason = "a test reads best with the value in its place"
    )]
    pub(crate) fn emit(&self, kind: &str, data: Value) {
        let mut world = self.world();
        let prompt = world.prompt.clone();
        world.emit(kind, &data, prompt.as_deref());
    }

    /// The agent says something.
    pub(crate) fn say(&self, text: &str) {
        self.emit("session_update", chunk(text));
    }

    pub(crate) fn complete(&self) {
        self.world()
            .end_turn("turn_complete", json!({"stopReason": "end_turn"}));
    }

    pub(crate) fn fail(&self, message: &str) {
        self.world()
            .end_turn("turn_error", json!({"message": message, "code": -32603}));
    }

    /// The next request of this kind gets these bytes for an answer.
    pub(crate) fn answer_next(&self, what: &str, answer: impl AsRef<[u8]>) {
        self.world()
            .scripted
            .push((what.into(), answer.as_ref().to_vec()));
    }

    /// The next request of this kind is refused.
    pub(crate) fn refuse_next(&self, what: &str, status: u16, headers: &str, body: &Value) {
        let body = body.to_string();
        self.answer_next(what, http(status, headers, &body));
    }

    pub(crate) fn requests(&self, what: &str) -> Vec<Seen> {
        let matching = |seen: &&Seen| seen.what == what;
        self.world()
            .requests
            .iter()
            .filter(matching)
            .cloned()
            .collect()
    }

    pub(crate) fn client(&self) -> DaemonClient {
        DaemonClient::new(Address::local(self.port), Some(Token::new(TOKEN).unwrap()))
            .with_timeouts(Timeouts {
                connect: PATIENCE,
                answer: PATIENCE,
                restore: PATIENCE,
            })
    }

    pub(crate) async fn session(&self) -> (Session, Updates) {
        Session::open(self.client(), &NewSession::default(), quick())
            .await
            .unwrap()
    }

    pub(crate) fn streams_are_gone(&self) -> bool {
        self.world().streams.is_empty()
    }

    /// Waits until a stream is open.
    pub(crate) async fn listened_to(&self) {
        until("a stream", || !self.world().streams.is_empty()).await;
    }
}

/// The data of a `session_update` in which the agent says something.
pub(crate) fn chunk(text: &str) -> Value {
    json!({"sessionId": SESSION, "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
}

/// A complete HTTP answer.
pub(crate) fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into()
}
