//! Error responses of the daemon, and what they mean.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::ErrorCode;
use crate::wire::Hidden;

/// The longest wait that a daemon can ask for. Nobody waits longer, and nothing is sure about a number
/// that it makes up.
const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// How many characters of an error message are kept.
const LONGEST_MESSAGE: usize = 400;

/// A response of the daemon with an error status.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The HTTP status code.
    pub status: u16,
    /// The `code` field of the body.
    pub code: Option<ErrorCode>,
    /// The error message for people, shortened.
    pub message: String,
    /// How long to wait before the next attempt, from `Retry-After` or from the body.
    pub retry_after: Option<Duration>,
    /// The whole body if it is a JSON object. It may hold data that must not be shown.
    pub body: Option<Hidden<Value>>,
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the daemon refuses with {}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, " ({code})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl ErrorResponse {
    /// Reads an error from any body: JSON, HTML, plain text or none.
    pub(crate) fn read(status: u16, retry_after: Option<&str>, body: &[u8]) -> ErrorResponse {
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
        ErrorResponse {
            status,
            code: field("code").and_then(|it| ErrorCode::deserialize(it).ok()),
            message: shorten(&message),
            retry_after: seconds
                .map(Duration::from_secs)
                .or(millis.map(Duration::from_millis))
                .map(|wait| wait.min(LONGEST_WAIT)),
            body: json.map(Hidden),
        }
    }

    /// A string field of the body.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.body.as_ref()?.get(name)?.as_str()
    }

    /// Classifies the error by its status and code.
    pub fn reason(&self) -> ErrorReason {
        let code = match &self.code {
            Some(ErrorCode::Name(name)) => name.as_str(),
            _ => "",
        };
        let number = self.code.as_ref().and_then(ErrorCode::number);
        // The routes about files say what is wrong in a field of another name.
        let file_error = self.field("errorKind").unwrap_or_default();
        match (self.status, code) {
            _ if matches!(file_error, "path_outside_workspace" | "symlink_escape") => {
                ErrorReason::OutsideFolder
            }
            (422, _) if file_error == "binary_file" => ErrorReason::NotText,
            (_, "workspace_mismatch") => ErrorReason::WorkspaceMismatch,
            (_, "invalid_client_id") => ErrorReason::InvalidClientId,
            (401, _) => ErrorReason::Unauthorized,
            (_, "permission_forbidden") => ErrorReason::VoteForbidden,
            (_, "trust_gate" | "untrusted_workspace") => ErrorReason::Untrusted,
            (403, _) => ErrorReason::Forbidden,
            (_, "session_not_found") => ErrorReason::SessionNotFound,
            (_, "prompt_not_found") => ErrorReason::PromptNotFound,
            (404, _) => ErrorReason::NotFound,
            (413, _) => ErrorReason::TooLarge,
            (_, "rate_limit_exceeded") => ErrorReason::RateLimited,
            (_, "subscriber_limit_exceeded") => ErrorReason::SubscriberLimit,
            (_, "prompt_queue_full") => ErrorReason::QueueFull,
            (_, "session_limit_exceeded") => ErrorReason::SessionLimit,
            (409, _) => ErrorReason::Conflict,
            (410, _) => ErrorReason::Gone,
            (500, _) if number == Some(-32000) => ErrorReason::NoModelProvider,
            (429, _) => ErrorReason::RateLimited,
            (503 | 504, _) => ErrorReason::Unavailable,
            (500..=599, _) => ErrorReason::Failed,
            (300..=399, _) => ErrorReason::Redirect,
            _ => ErrorReason::BadRequest,
        }
    }
}

/// What an error response means for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorReason {
    /// The daemon serves another folder. Repeating the request does not help.
    WorkspaceMismatch,
    /// The client id is not registered (any more) in this session.
    InvalidClientId,
    /// The token is missing or wrong.
    Unauthorized,
    /// The `Host` or `Origin` header is not one of the daemon's.
    Forbidden,
    /// The permission policy does not let this client vote.
    VoteForbidden,
    /// The folder is not trusted by the user.
    Untrusted,
    /// The session is not live; it may still be on disk.
    SessionNotFound,
    /// The daemon has no record of this prompt.
    PromptNotFound,
    /// The resource does not exist. Also the response to a vote that came too late.
    NotFound,
    /// The state of the daemon does not allow it now; waiting may help.
    Conflict,
    /// The resource existed and was removed.
    Gone,
    /// The request body is too large.
    TooLarge,
    /// Too many requests in a short time.
    RateLimited,
    /// The session has as many event streams as the daemon allows.
    SubscriberLimit,
    /// The session has as many queued prompts as the daemon allows.
    QueueFull,
    /// The daemon has as many live sessions as it allows.
    SessionLimit,
    /// The daemon has no credentials for a model provider.
    NoModelProvider,
    /// The daemon is temporarily unable to answer: status 503 or 504.
    Unavailable,
    /// The agent behind the daemon failed.
    Failed,
    /// A redirect. The daemon sends none, and none is followed.
    Redirect,
    /// A path leaves the daemon's folder, as it is written or over a link.
    OutsideFolder,
    /// A file is no text; its bytes can be read.
    NotText,
    /// Any other client error: the request itself is wrong.
    BadRequest,
}

impl ErrorReason {
    /// Whether the same request may succeed later without a change by anybody.
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

    /// What the user can do about it.
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

/// The text of an HTML page or of a plain body, on one line.
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
        let cases: [(u16, &str, ErrorReason, &str); 9] = [
            (
                500,
                r#"{"error":"Internal error","code":-32603,"data":{"details":"no such model"}}"#,
                ErrorReason::Failed,
                "the daemon refuses with 500 (-32603): Internal error: no such model",
            ),
            (
                500,
                r#"{"error":"Authentication required","code":-32000}"#,
                ErrorReason::NoModelProvider,
                "the daemon refuses with 500 (-32000): Authentication required",
            ),
            (
                404,
                "<!DOCTYPE html>\n<html><body><pre>Cannot GET /nope</pre></body></html>",
                ErrorReason::NotFound,
                "the daemon refuses with 404: Cannot GET /nope",
            ),
            (
                401,
                r#"{"error":"Unauthorized"}"#,
                ErrorReason::Unauthorized,
                "the daemon refuses with 401: Unauthorized",
            ),
            (
                502,
                "",
                ErrorReason::Failed,
                "the daemon refuses with 502: no reason given",
            ),
            (
                400,
                "[1]",
                ErrorReason::BadRequest,
                "the daemon refuses with 400: [1]",
            ),
            (
                400,
                "{}",
                ErrorReason::BadRequest,
                "the daemon refuses with 400: no reason given",
            ),
            (
                302,
                "",
                ErrorReason::Redirect,
                "the daemon refuses with 302: no reason given",
            ),
            (
                503,
                "\u{fffd}",
                ErrorReason::Unavailable,
                "the daemon refuses with 503: \u{fffd}",
            ),
        ];
        for (status, body, reason, text) in cases {
            let response = ErrorResponse::read(status, None, body.as_bytes());
            assert_eq!(
                (response.reason(), response.to_string().as_str()),
                (reason, text)
            );
        }
    }

    #[test]
    fn the_wait_comes_from_the_header_or_the_body() {
        let body = br#"{"error":"slow down","code":"rate_limit_exceeded","retryAfterMs":1500}"#;
        let wait = |header| ErrorResponse::read(429, header, body).retry_after;
        assert_eq!(wait(Some("20")), Some(Duration::from_secs(20)));
        assert_eq!(
            wait(Some("Wed, 21 Oct 2026")),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(wait(None), Some(Duration::from_millis(1500)));
        // A number that no clock can be moved by.
        assert_eq!(wait(Some("18446744073709551615")), Some(LONGEST_WAIT));
    }

    #[test]
    fn a_huge_page_stays_a_short_message() {
        let page = format!("<html>{}</html>", "word ".repeat(100_000));
        assert!(
            ErrorResponse::read(404, None, page.as_bytes())
                .message
                .len()
                < 2 * LONGEST_MESSAGE
        );
    }
}
