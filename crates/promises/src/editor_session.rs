//! Nothing that an editor says stops its session before the end of the pipe or an `exit`: every
//! request is answered once, under its own id, with a result or an error, and what we say ourselves is
//! a request or a notification of the protocol.

use std::collections::BTreeMap;

use editor::rpc::Incoming;
use editor::{Connection, EditorInfo, EditorService, EditorSession, ServiceHost};
use front::Front;
use serde_json::Value;
use workbench::Holder;

use crate::block_on;
use crate::workplace::workplace;

/// A message beyond these would wait for somebody who reads.
const MOST_MESSAGES: usize = 40;
const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"processId":1,"workspaceFolders":[{"uri":"file:///nonexistent/w","name":"w"}],"capabilities":{"experimental":{"outrigger":true},"window":{"showDocument":{"support":true}},"workspace":{"applyEdit":true}}}}"#;
const STOCK: &[u8] = br#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"processId":1,"rootUri":"file:///nonexistent/w","capabilities":{"window":{"showDocument":{"support":true}},"workspace":{"applyEdit":true}}}}"#;

/// Takes a byte that chooses how the editor begins (not at all, with a plugin, without), and its
/// messages.
pub fn check(data: &[u8]) {
    let (how, rest) = data.split_first().unwrap_or((&0, &[]));
    let hello = match how % 3 {
        0 => None,
        1 => Some(HELLO),
        _ => Some(STOCK),
    };
    let messages = rest.split(|byte| *byte == 255).take(MOST_MESSAGES);
    block_on(talk(hello.into_iter().chain(messages)));
}

async fn talk(messages: impl Iterator<Item = &[u8]>) {
    let (connection, mut pipe) = Connection::memory();
    let front = workplace().await;
    let session = tokio::spawn(EditorSession::new(connection, Host { front }).run());
    let mut asked = Vec::new();
    let mut heard = Vec::new();
    for content in messages {
        let message = editor::rpc::parse(content);
        if let Incoming::Request(id, ..) = &message {
            asked.push(serde_json::from_str::<Value>(id.get()).unwrap());
        }
        let is_exit = matches!(&message, Incoming::Notification(name, _) if name == "exit");
        if pipe.say.send(message).await.is_err() || is_exit {
            break;
        }
        // Whoever does not read makes the other side wait.
        while let Ok(message) = pipe.hear.try_recv() {
            heard.push(message);
        }
        tokio::task::yield_now().await;
    }
    drop(pipe.say);
    while let Some(message) = pipe.hear.recv().await {
        heard.push(message);
    }
    session.await.unwrap();

    let mut answered = Vec::new();
    for message in heard {
        let message = serde_json::to_value(message).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        if let Some(method) = message.get("method") {
            assert!(method.is_string());
            continue;
        }
        let (result, error) = (message.get("result"), message.get("error"));
        assert_ne!(result.is_some(), error.is_some(), "{message}");
        answered.extend(message.get("id").filter(|id| !id.is_null()).cloned());
    }
    // What a conversation is asked for may be answered out of order.
    for id in asked.iter().filter(|id| !id.is_null()) {
        let asked = asked.iter().filter(|it| *it == id).count();
        let answered = answered.iter().filter(|it| *it == id).count();
        assert_eq!(answered, asked, "the request {id}");
    }
}

struct Host {
    front: Front,
}

impl ServiceHost for Host {
    async fn join(&mut self, editor: EditorInfo) -> Result<EditorService, String> {
        Ok(EditorService {
            front: self.front.clone(),
            holder: Holder::editor(1),
            port: 4711,
            environment: BTreeMap::new(),
            folders: editor.folders,
            private_folder: "/nonexistent/state".into(),
            notices: Vec::new(),
        })
    }

    fn page_link(&mut self) -> Option<String> {
        None
    }
}
