//! A pipe can carry anything, cut anywhere. What comes out of it does not depend on how it was cut,
//! what was written as a message is read as that message whatever came before it in whole lines, and
//! the answer to what could be read as a request names its id.

use editor::frame::{self, Frame};
use editor::rpc::{self, Incoming, Outgoing};
use serde_json::Value;
use tokio::io::BufReader;

use crate::block_on;

/// Takes the bytes of a pipe.
pub fn check(data: &[u8]) {
    block_on(async {
        let whole = read_all(data, 8 << 10).await;
        for size in [1, 7] {
            assert_eq!(read_all(data, size).await, whole, "in pieces of {size}");
        }
        for content in &whole.0 {
            check_message(content);
        }
        let mut written = Vec::new();
        frame::write(&mut written, data).await.unwrap();
        let (read, end) = read_all(&written, 7).await;
        assert_eq!((read, end), (vec![data.to_vec()], "the end".into()));
    });
    check_message(data);
}

/// All messages, and why there are no more.
async fn read_all(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, String) {
    let mut pipe = BufReader::with_capacity(size, bytes);
    let mut read = Vec::new();
    loop {
        match frame::read(&mut pipe).await {
            Ok(Some(Frame::Message(content))) => read.push(content),
            Ok(Some(Frame::TooLarge(length))) => panic!("{length} bytes of {}", bytes.len()),
            Ok(None) => return (read, "the end".into()),
            Err(broken) => return (read, broken.to_string()),
        }
    }
}

fn check_message(content: &[u8]) {
    // What is not looked at may be anything, also to a parser that looks at all of it.
    let Ok(read) = serde_json::from_slice::<Value>(content) else {
        let _ = rpc::parse(content);
        return;
    };
    let said = |name: &str| read.get(name).cloned();
    match rpc::parse(content) {
        Incoming::Request(id, method, _) => {
            assert_eq!(said("method"), Some(method.into()));
            let response = Outgoing::response(Some(&id), Ok(Value::Bool(true)));
            let response = serde_json::to_value(response).unwrap();
            assert_eq!(Some(&response["id"]), said("id").as_ref());
        }
        Incoming::Notification(method, _) => {
            assert_eq!(said("method"), Some(method.into()));
            assert_eq!(said("id").filter(|id| !id.is_null()), None);
        }
        Incoming::Response(number, outcome) => {
            assert_eq!(said("id"), Some(number.into()));
            assert_eq!(
                said("error").is_some_and(|it| !it.is_null()),
                outcome.is_err()
            );
        }
        Incoming::Invalid(..) => {}
    }
}
