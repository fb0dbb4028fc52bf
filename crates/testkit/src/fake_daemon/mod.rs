//! A `qwen serve` daemon with one session, in the test's process, that can be told to misbehave.
//!
//! [`FakeDaemon`] is the handle a test holds. `world` knows the rules of the published daemon as far as
//! they matter here, `routes` answers requests by them, and `server` speaks HTTP over real sockets.
//! `files` is what can be read in its folder, `requests` what an agent asks the person, and what the daemon hears of the answers.

mod files;
mod requests;
mod routes;
mod server;
mod world;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use world::Piece;

pub use files::Files;
pub use requests::{
    cancelled, capabilities, nothing_waits, permission, question, resolve, selected, stand,
    takes_votes, vote_route, votes, waiting,
};
pub use world::{OnPrompt, Seen, World};

/// The token that the daemon asks for.
pub const TOKEN: &str = "the-secret";
/// The id of its one session.
pub const SESSION: &str = "95c73ec8-0920-45db-8dde-af1945dbd383";

/// How long a test waits for what must happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A daemon that listens.
pub struct FakeDaemon {
    /// Where it listens, on loopback.
    pub port: u16,
    world: Arc<Mutex<World>>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

impl FakeDaemon {
    /// A daemon that also knows the routes which a conversation needs, for this folder.
    pub async fn for_conversations(folder: &str) -> Self {
        let daemon = FakeDaemon::start().await;
        stand(&daemon, "GET /capabilities", 200, &capabilities(folder));
        daemon
    }

    /// Listens on a port of its own.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let daemon = Self {
            port: listener.local_addr().unwrap().port(),
            world: Arc::new(Mutex::new(World::new())),
            listening: Mutex::new(None),
        };
        daemon.listen(listener);
        daemon
    }

    /// The session, to look at and to change.
    pub fn world(&self) -> MutexGuard<'_, World> {
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
    pub async fn go_down(&self) {
        let task = self.listening.lock().unwrap().take().unwrap();
        task.abort();
        let _ = task.await;
        self.cut();
    }

    /// Answers again on the same port, with nothing in memory.
    pub async fn come_back(&self) {
        self.world().forget_all();
        self.listen_again().await;
    }

    /// Answers again on the same port, and somebody else has had the session restored before anybody
    /// else could ask.
    pub async fn come_back_in_use(&self) {
        {
            let mut world = self.world();
            world.forget_all();
            world.load(None, false).unwrap();
        }
        self.listen_again().await;
    }

    async fn listen_again(&self) {
        self.listen(TcpListener::bind(("127.0.0.1", self.port)).await.unwrap());
    }

    /// Cuts every stream without an end.
    pub fn cut(&self) {
        for stream in self.world().streams.drain(..) {
            let _ = stream.send(Piece::Cut);
        }
    }

    /// Ends every stream properly.
    pub fn end_streams(&self) {
        for stream in self.world().streams.drain(..) {
            let _ = stream.send(Piece::End);
        }
    }

    /// Sends bytes as they are to every stream.
    pub fn send(&self, bytes: impl AsRef<[u8]>) {
        self.world().send(bytes.as_ref());
    }

    /// A comment on every stream.
    pub fn heartbeat(&self) {
        self.send(": heartbeat\n\n");
    }

    /// An event of the session.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a test reads best with the value in its place"
    )]
    pub fn emit(&self, kind: &str, data: Value) {
        let mut world = self.world();
        let prompt = world.prompt.clone();
        world.emit(kind, &data, prompt.as_deref());
    }

    /// The agent says something.
    pub fn say(&self, text: &str) {
        self.emit("session_update", chunk(text));
    }

    /// The running turn is over.
    pub fn complete(&self) {
        self.world()
            .end_turn("turn_complete", json!({"stopReason": "end_turn"}));
    }

    /// The running turn fails.
    pub fn fail(&self, message: &str) {
        self.world()
            .end_turn("turn_error", json!({"message": message, "code": -32603}));
    }

    /// The next request of this kind gets these bytes for an answer.
    pub fn answer_next(&self, what: &str, answer: impl AsRef<[u8]>) {
        self.world()
            .scripted
            .push((what.into(), answer.as_ref().to_vec()));
    }

    /// The next request of this kind is refused.
    pub fn refuse_next(&self, what: &str, status: u16, headers: &str, body: &Value) {
        let body = body.to_string();
        self.answer_next(what, http(status, headers, &body));
    }

    /// The requests of this kind so far, for example `POST /session`.
    pub fn requests(&self, what: &str) -> Vec<Seen> {
        let matching = |seen: &&Seen| seen.what == what;
        self.world()
            .requests
            .iter()
            .filter(matching)
            .cloned()
            .collect()
    }

    /// Whether no stream is open.
    pub fn streams_are_gone(&self) -> bool {
        self.world().streams.is_empty()
    }

    /// Waits until a stream is open.
    pub async fn listened_to(&self) {
        until("a stream", || !self.world().streams.is_empty()).await;
    }
}

/// The data of a `session_update` in which the agent says something.
pub fn chunk(text: &str) -> Value {
    json!({"sessionId": SESSION, "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
}

/// A complete HTTP answer.
pub fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into()
}

/// Waits for a condition.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {what}"));
}
