//! What the daemon means when it says no.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::Code;

/// How much of an error's text is kept for people.
const LONGEST_MESSAGE: usize = 400;

/// A refusal, as the daemon gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The code, if there is one.
    pub code: Option<Code>,
    /// What happened, for people; shortened.
    pub message: String,
    /// How long to wait before asking again.
    pub retry_after: Option<Duration>,
    /// The whole body, if it was a JSON object. It may hold what is nobody else's business.
    pub body: Option<Value>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the daemon refuses with {}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, " ({code})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Refusal {
    /// Reads a refusal from whatever body came with it: JSON, HTML, text or nothing.
    pub(crate) fn read(status: u16, retry_after: Option<&str>, body: &[u8]) -> Refusal {
        let json: Option<Value> = serde_json::from_slice(body).ok().filter(Value::is_object);
        let field = |name: &str| json.as_ref().and_then(|it| it.get(name));
        let details = field("data").and_then(|it| it.get("details"));
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let message = match (text(field("error")), text(details)) {
            (Some(error), Some(details)) => format!("{error}: {details}"),
            (Some(error), None) => error,
            (None, _) if json.is_some() => "no reason given".into(),
            (None, _) => plain(&String::from_utf8_lossy(body)),
        };
        let seconds = retry_after.and_then(|it| it.trim().parse().ok());
        let millis = field("retryAfterMs").and_then(Value::as_u64);
        Refusal {
            status,
            code: field("code").and_then(|it| Code::deserialize(it).ok()),
            message: shorten(&message),
            retry_after: seconds
                .map(Duration::from_secs)
                .or(millis.map(Duration::from_millis)),
            body: json,
        }
    }

    /// A text field of the body.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.body.as_ref()?.get(name)?.as_str()
    }

    /// What the daemon means.
    pub fn reason(&self) -> Reason {
        let code = match &self.code {
            Some(Code::Name(name)) => name.as_str(),
            _ => "",
        };
        let number = self.code.as_ref().and_then(Code::number);
        match (self.status, code) {
            (_, "workspace_mismatch") => Reason::WorkspaceMismatch,
            (_, "invalid_client_id") => Reason::InvalidClientId,
            (401, _) => Reason::Unauthorized,
            (_, "permission_forbidden") => Reason::VoteForbidden,
            (_, "trust_gate" | "untrusted_workspace") => Reason::Untrusted,
            (403, _) => Reason::Forbidden,
            (_, "session_not_found") => Reason::SessionNotFound,
            (_, "prompt_not_found") => Reason::PromptNotFound,
            (404, _) => Reason::NotFound,
            (413, _) => Reason::TooLarge,
            (_, "rate_limit_exceeded") => Reason::RateLimited,
            (_, "subscriber_limit_exceeded") => Reason::SubscriberLimit,
            (_, "prompt_queue_full") => Reason::QueueFull,
            (_, "session_limit_exceeded") => Reason::SessionLimit,
            (409, _) => Reason::Conflict,
            (410, _) => Reason::Gone,
            (500, _) if number == Some(-32000) => Reason::NoModelProvider,
            (429, _) => Reason::RateLimited,
            (503 | 504, _) => Reason::Unavailable,
            (500..=599, _) => Reason::Failed,
            (300..=399, _) => Reason::Redirect,
            _ => Reason::BadRequest,
        }
    }
}

/// What a refusal means for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The daemon works in another folder. Asking again does not help.
    WorkspaceMismatch,
    /// The client id is not registered (any more) in this session.
    InvalidClientId,
    /// The token is missing or wrong.
    Unauthorized,
    /// The Host or Origin header is not one of the daemon's.
    Forbidden,
    /// The policy does not let this client vote.
    VoteForbidden,
    /// The person has not trusted the folder.
    Untrusted,
    /// The session is not alive; it may still be on disk.
    SessionNotFound,
    /// The daemon does not remember this prompt.
    PromptNotFound,
    /// No such thing; also a vote that came too late.
    NotFound,
    /// Another state stands in the way; waiting may help.
    Conflict,
    /// It was there once.
    Gone,
    /// The request is too large.
    TooLarge,
    /// Too many requests.
    RateLimited,
    /// Too many streams on this session.
    SubscriberLimit,
    /// Too many prompts wait in this session.
    QueueFull,
    /// Too many sessions.
    SessionLimit,
    /// The daemon has no credentials for a model.
    NoModelProvider,
    /// Not now.
    Unavailable,
    /// The agent behind the daemon failed.
    Failed,
    /// The daemon never redirects, and a redirect is never followed.
    Redirect,
    /// The request itself is wrong.
    BadRequest,
}

impl Reason {
    /// Whether the same request may succeed later without anybody changing anything.
    pub fn is_temporary(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::SubscriberLimit
                | Self::QueueFull
                | Self::SessionLimit
                | Self::Conflict
                | Self::Unavailable
                | Self::Failed
        )
    }

    /// What a person can do about it.
    pub fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::WorkspaceMismatch => {
                "start a daemon in this folder, or open the folder that the daemon works in"
            }
            Self::Unauthorized => "set the token that the daemon was started with",
            Self::Forbidden => "use the address exactly as the daemon prints it",
            Self::Untrusted => "trust the folder on the daemon's machine first",
            Self::NoModelProvider => "set up the model provider on the daemon's machine",
            Self::QueueFull => "wait until a prompt is done, or cancel one",
            Self::SessionLimit => "close a session first",
            Self::TooLarge => "send less at once",
            Self::Redirect => "another program may be listening on this port",
            Self::RateLimited | Self::SubscriberLimit | Self::Unavailable => {
                "try again in a few seconds"
            }
            _ => return None,
        })
    }
}

/// The text of an HTML page or a plain body, on one line.
fn plain(body: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for character in body.chars().take(4 * LONGEST_MESSAGE) {
        match character {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            _ if in_tag => {}
            _ => text.push(character),
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return "no reason given".into();
    }
    text
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_body_becomes_a_refusal() {
        let cases: [(u16, &str, Reason, &str); 9] = [
            (
                500,
                r#"{"error":"Internal error","code":-32603,"data":{"details":"no such model"}}"#,
                Reason::Failed,
                "the daemon refuses with 500 (-32603): Internal error: no such model",
            ),
            (
                500,
                r#"{"error":"Authentication required","code":-32000}"#,
                Reason::NoModelProvider,
                "the daemon refuses with 500 (-32000): Authentication required",
            ),
            (
                404,
                "<!DOCTYPE html>\n<html><body><pre>Cannot GET /nope</pre></body></html>",
                Reason::NotFound,
                "the daemon refuses with 404: Cannot GET /nope",
            ),
            (
                401,
                r#"{"error":"Unauthorized"}"#,
                Reason::Unauthorized,
                "the daemon refuses with 401: Unauthorized",
            ),
            (
                502,
                "",
                Reason::Failed,
                "the daemon refuses with 502: no reason given",
            ),
            (
                400,
                "[1]",
                Reason::BadRequest,
                "the daemon refuses with 400: [1]",
            ),
            (
                400,
                "{}",
                Reason::BadRequest,
                "the daemon refuses with 400: no reason given",
            ),
            (
                302,
                "",
                Reason::Redirect,
                "the daemon refuses with 302: no reason given",
            ),
            (
                503,
                "\u{fffd}",
                Reason::Unavailable,
                "the daemon refuses with 503: \u{fffd}",
            ),
        ];
        for (status, body, reason, text) in cases {
            let refusal = Refusal::read(status, None, body.as_bytes());
            assert_eq!(
                (refusal.reason(), refusal.to_string().as_str()),
                (reason, text)
            );
        }
    }

    #[test]
    fn the_wait_comes_from_the_header_or_the_body() {
        let body = br#"{"error":"slow down","code":"rate_limit_exceeded","retryAfterMs":1500}"#;
        let wait = |header| Refusal::read(429, header, body).retry_after;
        assert_eq!(wait(Some("20")), Some(Duration::from_secs(20)));
        assert_eq!(
            wait(Some("Wed, 21 Oct 2026")),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(wait(None), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn a_huge_page_stays_a_short_message() {
        let page = format!("<html>{}</html>", "word ".repeat(100_000));
        assert!(Refusal::read(404, None, page.as_bytes()).message.len() < 2 * LONGEST_MESSAGE);
    }
}
