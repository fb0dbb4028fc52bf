//! JSON-RPC 2.0 as the language server protocol uses it.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use text::show::one_line;

/// Not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON, but not a message that fits here.
pub const INVALID_REQUEST: i32 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The method exists, its parameters are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// A request before `initialize`.
pub const NOT_INITIALIZED: i32 = -32002;
/// The request is fine, but cannot be done as things are.
pub const REQUEST_FAILED: i32 = -32803;

/// The id of a request: a number or a string, echoed as it was written.
pub type Id = Box<RawValue>;

/// A message that came in.
#[derive(Debug)]
pub enum Incoming {
    /// Wants a response.
    Request(Id, String, Params),
    /// Wants no response.
    Notification(String, Params),
    /// Responds to a request of ours, by its number.
    Response(u64, Result<Value, Value>),
    /// Cannot be understood; with the id, if at least that could.
    Invalid(Option<Id>, i32, String),
}

/// The parameters of a message, still as text, because a document can be large.
#[derive(Debug, Default)]
pub struct Params(Option<Box<RawValue>>);

impl Params {
    /// Reads the parameters of a request; what is wrong with them is its response.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ResponseError> {
        let wrong = |error| format!("wrong parameters: {error}");
        self.read()
            .map_err(|error| ResponseError::new(INVALID_PARAMS, wrong(error)))
    }

    /// Reads them.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.as_ref().map_or("null", |raw| raw.get()))
    }
}

/// A message to send.
#[derive(Debug, Clone, Serialize)]
pub struct Outgoing {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ResponseError>,
}

/// Why a request is not answered with a result.
#[derive(Debug, Clone, Serialize)]
pub struct ResponseError {
    code: i32,
    message: String,
}

impl ResponseError {
    /// An error with one of the codes above. Editors show the message as it is, so it becomes one
    /// line that steers nothing.
    pub fn new(code: i32, message: impl Display) -> ResponseError {
        ResponseError {
            code,
            message: one_line(message),
        }
    }

    /// What to tell a person.
    pub fn message(&self) -> &str {
        &self.message
    }
}

const EMPTY: Outgoing = Outgoing {
    jsonrpc: "2.0",
    id: None,
    method: None,
    params: None,
    result: None,
    error: None,
};

impl Outgoing {
    /// A request of ours.
    pub fn request(id: u64, method: &'static str, params: &impl Serialize) -> Outgoing {
        Outgoing {
            id: Some(id.into()),
            method: Some(method),
            params: to_value(params),
            ..EMPTY
        }
    }

    /// A notification of ours.
    pub fn notification(method: &'static str, params: &impl Serialize) -> Outgoing {
        Outgoing {
            method: Some(method),
            params: to_value(params),
            ..EMPTY
        }
    }

    /// The response to a request; without an id to something that could not be read.
    pub fn response(id: Option<&RawValue>, outcome: Result<Value, ResponseError>) -> Outgoing {
        let id = id.and_then(|id| serde_json::from_str(id.get()).ok());
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Outgoing {
            id: Some(id.unwrap_or(Value::Null)),
            result,
            error,
            ..EMPTY
        }
    }
}

fn to_value(value: &impl Serialize) -> Option<Value> {
    serde_json::to_value(value)
        .ok()
        .filter(|value| !value.is_null())
}

/// Reads one message.
pub fn parse(content: &[u8]) -> Incoming {
    #[derive(Deserialize)]
    struct Raw {
        id: Option<Box<RawValue>>,
        method: Option<Value>,
        params: Option<Box<RawValue>>,
        result: Option<Value>,
        error: Option<Value>,
    }
    let raw: Raw = match serde_json::from_slice(content) {
        Ok(raw) => raw,
        Err(error) => {
            return Incoming::Invalid(None, PARSE_ERROR, format!("not a message: {error}"));
        }
    };
    match (raw.id, raw.method) {
        (id, Some(Value::String(method))) => {
            let params = Params(raw.params);
            match id {
                Some(id) => Incoming::Request(id, method, params),
                None => Incoming::Notification(method, params),
            }
        }
        (id, Some(_)) => {
            Incoming::Invalid(id, INVALID_REQUEST, "the method is not a string".into())
        }
        (Some(id), None) => match (id.get().parse(), raw.error) {
            (Ok(number), Some(error)) => Incoming::Response(number, Err(error)),
            (Ok(number), None) => Incoming::Response(number, Ok(raw.result.unwrap_or(Value::Null))),
            // We never ask under such an id.
            (Err(_), _) => Incoming::Invalid(
                None,
                INVALID_REQUEST,
                "an answer to nothing that was asked".into(),
            ),
        },
        (None, None) => {
            Incoming::Invalid(None, INVALID_REQUEST, "neither a method nor an id".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        for (text, kind) in [
            (r#"{"id":1,"method":"m"}"#, "request"),
            (r#"{"id":"a","method":"m","params":[]}"#, "request"),
            (r#"{"method":"m"}"#, "notification"),
            (r#"{"id":null,"method":"m"}"#, "notification"),
            (r#"{"id":1,"result":null}"#, "answer"),
            (r#"{"id":1,"error":{"code":1}}"#, "answer"),
            (r#"{"id":"x","result":1}"#, "odd"),
            (r#"{"id":1,"method":3}"#, "odd"),
            ("{}", "odd"),
            ("[]", "odd"),
            ("nonsense", "odd"),
            ("", "odd"),
        ] {
            let seen = match parse(text.as_bytes()) {
                Incoming::Request(..) => "request",
                Incoming::Notification(..) => "notification",
                Incoming::Response(..) => "answer",
                Incoming::Invalid(..) => "odd",
            };
            assert_eq!(seen, kind, "{text}");
        }
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let json = |message: &Outgoing| serde_json::to_string(message).unwrap();
        assert_eq!(
            json(&Outgoing::notification("m", &())),
            r#"{"jsonrpc":"2.0","method":"m"}"#
        );
        assert_eq!(
            json(&Outgoing::response(None, Err(ResponseError::new(1, "x")))),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#
        );
        let id: Id = serde_json::from_str("\"7\"").unwrap();
        assert_eq!(
            json(&Outgoing::response(Some(&id), Ok(Value::Null))),
            r#"{"jsonrpc":"2.0","id":"7","result":null}"#
        );
    }
}
