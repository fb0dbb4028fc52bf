//! JSON-RPC 2.0 as MCP uses it: incoming messages, responses and notifications.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The message was not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The message was JSON, but not a request that this server takes.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The method exists, its parameters are wrong.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The request is fine, but more than we take at once.
pub(crate) const TOO_MUCH: i32 = -32001;

/// One message as it stands on the wire; the parameters stay text until the method is known.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    /// Present on requests and on answers; echoed as it was written.
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    /// Absent on answers to requests of ours.
    pub(crate) method: Option<String>,
    /// Parsed once the method is known.
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

/// What an HTTP body held.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    One(Message<'a>),
    /// Several messages at once, which MCP 2025-03-26 allowed.
    Batch(Vec<Message<'a>>),
}

/// Parses a body.
pub(crate) fn parse(body: &[u8]) -> Result<Incoming<'_>, serde_json::Error> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'[') {
        serde_json::from_slice(body).map(Incoming::Batch)
    } else {
        serde_json::from_slice(body).map(Incoming::One)
    }
}

/// Why a request was not answered with a result.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    code: i32,
    message: String,
}

/// How many bytes of a fault's message are sent: some repeat what the peer has written.
const LONGEST_MESSAGE: usize = 1_000;

impl Fault {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Fault {
        let mut message = message.into();
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
        Fault { code, message }
    }
}

#[derive(Serialize)]
struct RpcResponse<'a, R> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Fault>,
    // An answer to something unreadable has the id `null`, as JSON-RPC demands; every
    // other absent field is left out, because published clients disconnect on a `null`.
    id: Option<&'a RawValue>,
}

/// The answer to the request `id`.
pub(crate) fn answer<R: Serialize>(id: Option<&RawValue>, outcome: Result<R, Fault>) -> Vec<u8> {
    let (result, error) = match outcome {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    let response = RpcResponse {
        jsonrpc: "2.0",
        result,
        error: error.as_ref(),
        id,
    };
    to_json(&response)
}

/// A notification of ours.
pub(crate) fn notification<P: Serialize>(method: &str, params: &P) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a P,
    }
    to_json(&Notification {
        jsonrpc: "2.0",
        method,
        params,
    })
}

/// JSON of a value whose serialisation cannot fail: strings, numbers and lists of them only.
fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(body: &str) -> String {
        let Ok(Incoming::One(message)) = parse(body.as_bytes()) else {
            panic!("not one message: {body}");
        };
        String::from_utf8(answer(message.id, Ok(true))).unwrap()
    }

    #[test]
    fn ids_are_echoed_as_they_were_written() {
        for id in ["1", "\"a\"", "1e3", "18446744073709551616", "\"\\u00e9\""] {
            assert_eq!(
                echo(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)),
                format!(r#"{{"jsonrpc":"2.0","result":true,"id":{id}}}"#)
            );
        }
    }

    #[test]
    fn a_batch_is_told_from_a_single_message() {
        assert!(matches!(
            parse(b" {\"method\":\"ping\"}"),
            Ok(Incoming::One(_))
        ));
        assert!(
            matches!(parse(b"\n[{\"method\":\"ping\"},{\"id\":1}]"), Ok(Incoming::Batch(b)) if b.len() == 2)
        );
    }

    #[test]
    fn what_is_not_a_message_is_an_error() {
        for body in [
            "",
            "{",
            "3",
            "null",
            "\"x\"",
            "[1]",
            "{\"method\":3}",
            "\u{feff}{}",
            "{} {}",
        ] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
    }
}
