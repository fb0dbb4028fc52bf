//! Files of the fake daemon's folder, to be read by the rules of the published one.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How many bytes the published daemon gives at most. It refuses to be asked for more.
const MOST_BYTES: usize = 256 * 1024;
/// How many it gives if nobody says how many.
const USUAL_BYTES: usize = 64 * 1024;

/// The files, by their path from the folder.
#[derive(Default)]
pub struct Files(HashMap<String, File>);

struct File {
    bytes: Vec<u8>,
    /// How often it was written.
    version: u64,
}

impl Files {
    /// Writes a file; one that is there changes.
    pub fn write(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        let version = self.0.get(path).map_or(1, |file| file.version + 1);
        let bytes = bytes.into();
        self.0.insert(path.into(), File { bytes, version });
    }

    /// The answer to a request for a part that is too large, whatever else it asks for.
    pub(super) fn refusal(what: &str, query: &str) -> Option<(u16, Value)> {
        let is_reading = matches!(what, "GET /file" | "GET /file/bytes");
        let wanted = parameter(query, "maxBytes").filter(|_| is_reading)?;
        let is_allowed = (wanted.parse()).is_ok_and(|it| (1..=MOST_BYTES).contains(&it));
        let error = "`maxBytes` must be a positive integer in [1, 262144]";
        let body = json!({"errorKind": "parse_error", "error": error, "status": 400});
        (!is_allowed).then_some((400, body))
    }

    /// The answer of a route about a file; `None` if it is another route.
    pub(super) fn answer(&self, what: &str, query: &str) -> Option<(u16, Value)> {
        if !matches!(what, "GET /stat" | "GET /file/bytes") {
            return None;
        }
        let path = parameter(query, "path").unwrap_or_default();
        let Some(file) = self.0.get(&path) else {
            let body =
                json!({"errorKind": "path_not_found", "error": "no such file", "status": 404});
            return Some((404, body));
        };
        let size = file.bytes.len();
        if what == "GET /stat" {
            let body = json!({"kind": "stat", "path": path, "type": "file", "sizeBytes": size, "modifiedMs": file.version});
            return Some((200, body));
        }
        let number = |name: &str| parameter(query, name)?.parse::<usize>().ok();
        let offset = number("offset").unwrap_or(0);
        let start = offset.min(size);
        let most = number("maxBytes").unwrap_or(USUAL_BYTES);
        let part = &file.bytes[start..size.min(start + most)];
        let body = json!({
            "kind": "file_bytes", "path": path, "offset": offset, "sizeBytes": size,
            "returnedBytes": part.len(), "truncated": part.len() < size,
            "contentBase64": STANDARD.encode(part),
        });
        Some((200, body))
    }
}

/// A parameter of a query, as it was before it was encoded.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut parts = query.split('&').filter_map(|part| part.split_once('='));
    let (_, value) = parts.find(|(it, _)| *it == name)?;
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok();
                digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}
