//! A backend that does what the test says: the third one, which has nothing to do with a daemon.

use std::path::PathBuf;

use conversation::Reply;
use conversation::backend::{
    Backend, BackendEvent, Call, ListedSession, PromptPart, SessionTarget,
};
use conversation::{Trouble, TroubleKind};

use tokio::sync::{mpsc, oneshot};
use workbench::Agent;

use crate::fake_daemon::PATIENCE;

/// What a call gives back.
#[derive(Debug)]
pub enum Given {
    /// That it is done.
    Nothing,
    /// The session that was connected to.
    Session(&'static str),
    /// Whether an answer counts, or a prompt was withdrawn.
    Counted(bool),
    /// What is in a file.
    Text(&'static str),
    /// The files that were found.
    Paths(Vec<PathBuf>),
    /// The sessions that there are.
    Sessions(Vec<ListedSession>),
}

/// A call that waits for the test to answer it.
#[derive(Debug)]
pub struct PendingCall {
    /// The call and its arguments, as words.
    pub call: String,
    respond: oneshot::Sender<Result<Given, Trouble>>,
}

impl PendingCall {
    /// Lets it succeed.
    pub fn give(self, given: Given) {
        self.respond.send(Ok(given)).unwrap();
    }

    /// Lets it fail.
    pub fn fail(self, kind: TroubleKind) {
        let trouble = Trouble::new(kind, "as the test says");
        self.respond.send(Err(trouble)).unwrap();
    }
}

/// The test's end of the backend.
#[derive(Debug)]
pub struct Script {
    events: Option<mpsc::UnboundedSender<BackendEvent>>,
    calls: mpsc::UnboundedReceiver<PendingCall>,
}

impl Script {
    /// The next call, which must be this one.
    pub async fn expect(&mut self, call: &str) -> PendingCall {
        let heard = tokio::time::timeout(PATIENCE, self.calls.recv()).await;
        let heard = heard.expect("a call comes").expect("the owner is there");
        assert_eq!(heard.call, call);
        heard
    }

    /// Lets the backend say something.
    pub fn tell(&self, event: BackendEvent) {
        self.events.as_ref().unwrap().send(event).unwrap();
    }

    /// There will never be an event again.
    pub fn fall_silent(&mut self) {
        self.events = None;
    }

    /// Waits until nobody holds the backend any more.
    pub async fn is_dropped(&mut self) {
        let last = tokio::time::timeout(PATIENCE, self.calls.recv()).await;
        assert!(last.expect("the owner ends").is_none());
    }
}

/// The conversation's end of the backend.
#[derive(Debug)]
pub struct ScriptedBackend {
    events: mpsc::UnboundedReceiver<BackendEvent>,
    calls: mpsc::UnboundedSender<PendingCall>,
}

/// A backend, and what plays its part.
pub fn scripted() -> (ScriptedBackend, Script) {
    let (tell, events) = mpsc::unbounded_channel();
    let (calls, heard) = mpsc::unbounded_channel();
    let script = Script {
        events: Some(tell),
        calls: heard,
    };
    (ScriptedBackend { events, calls }, script)
}

impl ScriptedBackend {
    fn call<T: Send + 'static>(
        &self,
        call: String,
        read: impl FnOnce(Given) -> T + Send + 'static,
    ) -> Call<T> {
        let (respond, response) = oneshot::channel();
        self.calls.send(PendingCall { call, respond }).unwrap();
        Box::pin(async move {
            let given = response.await.expect("the test answers")?;
            Ok(read(given))
        })
    }

    fn plain(&self, call: impl Into<String>) -> Call<()> {
        self.call(call.into(), |given| {
            assert!(matches!(given, Given::Nothing), "{given:?}");
        })
    }
}

impl Backend for ScriptedBackend {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    async fn next(&mut self) -> Option<BackendEvent> {
        self.events.recv().await
    }

    fn connect(&mut self, session: SessionTarget) -> Call<String> {
        self.call(format!("connect {session:?}"), |given| match given {
            Given::Session(id) => id.to_owned(),
            given => panic!("{given:?}"),
        })
    }

    fn launch(&mut self) -> Call<()> {
        self.plain("launch")
    }

    fn disconnect(&mut self) -> Call<()> {
        self.plain("disconnect")
    }

    fn close(&mut self) -> Call<()> {
        self.plain("close")
    }

    fn prompt(&mut self, parts: Vec<PromptPart>) -> Call<()> {
        self.plain(format!("prompt {parts:?}"))
    }

    fn cancel(&mut self) -> Call<()> {
        self.plain("cancel")
    }

    fn withdraw(&mut self, prompt: String) -> Call<bool> {
        self.call(format!("withdraw {prompt}"), |given| match given {
            Given::Counted(withdrawn) => withdrawn,
            given => panic!("{given:?}"),
        })
    }

    fn set_model(&mut self, model: String) -> Call<()> {
        self.plain(format!("model {model}"))
    }

    fn set_mode(&mut self, mode: String) -> Call<()> {
        self.plain(format!("mode {mode}"))
    }

    fn answer(&mut self, request: String, reply: Reply) -> Call<bool> {
        self.call(format!("answer {request} {reply:?}"), |given| match given {
            Given::Counted(counted) => counted,
            given => panic!("{given:?}"),
        })
    }

    fn has_file(&mut self, path: PathBuf) -> Call<bool> {
        self.call(format!("has {}", path.display()), |given| match given {
            Given::Counted(is_there) => is_there,
            given => panic!("{given:?}"),
        })
    }

    fn find(&mut self, text: String, _limit: u32) -> Call<Vec<PathBuf>> {
        self.call(format!("find {text}"), |given| match given {
            Given::Paths(paths) => paths,
            given => panic!("{given:?}"),
        })
    }

    fn read(&mut self, path: PathBuf, _limit: u32) -> Call<String> {
        self.call(format!("read {}", path.display()), |given| match given {
            Given::Text(text) => text.to_owned(),
            given => panic!("{given:?}"),
        })
    }

    fn list(&mut self) -> Call<Vec<ListedSession>> {
        self.call("list".into(), |given| match given {
            Given::Sessions(sessions) => sessions,
            given => panic!("{given:?}"),
        })
    }
}
