//! The companion protocol itself: two tools and a handful of notifications on top of MCP.
//!
//! Absent fields are left out, never `null`: a `null` in a notification makes the
//! published clients drop the connection for good.

use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use workbench::{Context, Verdict};

use super::rpc;
use crate::desk::AgentClient;

/// MCP versions that the server speaks, oldest first.
///
/// Anything newer than 2025-11-25 has no sessions and no server stream, so a client
/// that negotiated it would get no context and no verdict.
pub(crate) const VERSIONS: [&str; 5] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

/// The version to answer a client that asked for `asked`: the same one if we know it,
/// otherwise the newest that is not newer. Old clients refuse anything newer than they asked for.
pub(crate) fn negotiate(asked: &str) -> &'static str {
    VERSIONS
        .into_iter()
        .rev()
        .find(|known| *known <= asked)
        .unwrap_or(VERSIONS[0])
}

/// The longest path that an agent may name, in bytes. No longer one can be opened on Linux or macOS.
pub(crate) const LONGEST_PATH: usize = 4 * 1024;

/// Whether no file can have this path.
pub(crate) fn is_too_long(path: &str) -> bool {
    path.len() > LONGEST_PATH
}

/// How many bytes are kept of the name and of the version of a client. They are kept as long as the
/// session, written down, and sent to every page.
const LONGEST_NAME: usize = 200;

fn cut(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    name.shrink_to_fit();
    name
}

/// Parameters of `initialize` that we use.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialize {
    pub(crate) protocol_version: String,
    #[serde(default)]
    pub(crate) client_info: ClientInfo,
}

/// How a client names itself on the wire.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ClientInfo {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

impl From<ClientInfo> for AgentClient {
    fn from(client: ClientInfo) -> AgentClient {
        AgentClient {
            name: cut(client.name),
            version: cut(client.version),
        }
    }
}

/// The result of `initialize`.
pub(crate) fn welcome(asked: &str) -> serde_json::Value {
    serde_json::json!({
        "protocolVersion": negotiate(asked),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "outrigger", "title": "Outrigger", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// The result of `tools/list`. Clients show diffs only if both tools are listed.
pub(crate) fn tools() -> serde_json::Value {
    serde_json::json!({ "tools": [
        {
            "name": "openDiff",
            "description": "Shows the person a proposed new text of a file. Returns at once; the decision follows as ide/diffAccepted or ide/diffRejected.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "filePath": { "type": "string", "description": "Absolute path of the file." },
                    "newContent": { "type": "string", "description": "The whole proposed text." },
                },
                "required": ["filePath", "newContent"],
            },
        },
        {
            "name": "closeDiff",
            "description": "Takes a proposal back and returns its current text as JSON.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "filePath": { "type": "string", "description": "The path given to openDiff." },
                    "suppressNotification": { "type": "boolean", "description": "Accepted for compatibility; closing never notifies." },
                },
                "required": ["filePath"],
            },
        },
    ] })
}

/// Parameters of `tools/call`.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    pub(crate) name: String,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a serde_json::value::RawValue>,
}

/// Arguments of `openDiff`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenDiff {
    pub(crate) file_path: String,
    pub(crate) new_content: String,
}

/// Arguments of `closeDiff`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CloseDiff {
    pub(crate) file_path: String,
}

/// The result of a tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolResult {
    content: Vec<TextBlock>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Debug, Serialize)]
struct TextBlock {
    r#type: &'static str,
    text: String,
}

impl ToolResult {
    /// `openDiff` succeeded: no content at all.
    pub(crate) fn empty() -> ToolResult {
        ToolResult {
            content: Vec::new(),
            is_error: false,
        }
    }

    /// `closeDiff` succeeded. The text is JSON inside the text block, which is what every
    /// published client parses, whatever the written specifications say.
    pub(crate) fn closed(content: Option<&str>) -> ToolResult {
        #[derive(Serialize)]
        struct Closed<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            content: Option<&'a str>,
        }
        ToolResult {
            content: vec![TextBlock {
                r#type: "text",
                text: serde_json::to_string(&Closed { content }).unwrap_or_default(),
            }],
            is_error: false,
        }
    }

    /// A tool failed in a way that the agent should tell its user.
    pub(crate) fn failed(why: impl Into<String>) -> ToolResult {
        ToolResult {
            content: vec![TextBlock {
                r#type: "text",
                text: why.into(),
            }],
            is_error: true,
        }
    }
}

/// The `ide/contextUpdate` notification, framed for an event stream.
pub(crate) fn context_frame(context: &Context) -> Bytes {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        workspace_state: WorkspaceState<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WorkspaceState<'a> {
        open_files: Vec<File<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_trusted: Option<bool>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct File<'a> {
        path: &'a str,
        timestamp: u64,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_active: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<Cursor>,
        #[serde(skip_serializing_if = "Option::is_none")]
        selected_text: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Cursor {
        line: u32,
        character: u32,
    }

    let open_files = context
        .files
        .iter()
        // A name that is not Unicode cannot be said in JSON; the agent could not open it either.
        .filter_map(|file| Some((file, Path::to_str(&file.path)?)))
        .map(|(file, path)| {
            let active = file.active.as_ref();
            File {
                path,
                timestamp: file.focused_at,
                is_active: active.is_some(),
                cursor: active.and_then(|active| active.cursor).map(|at| Cursor {
                    line: at.line,
                    character: at.character,
                }),
                selected_text: active.and_then(|active| active.selection.as_deref()),
            }
        })
        .collect();
    let params = Params {
        workspace_state: WorkspaceState {
            open_files,
            is_trusted: context.trusted,
        },
    };
    frame(&rpc::notification("ide/contextUpdate", &params))
}

/// The notifications that tell an agent what the person decided, framed for an event stream.
pub(crate) fn verdict_frame(path: &str, verdict: &Verdict) -> Bytes {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        file_path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
    }
    let params = |content| Params {
        file_path: path,
        content,
    };
    match verdict {
        Verdict::Accepted { text, .. } => {
            frame(&rpc::notification("ide/diffAccepted", &params(Some(text))))
        }
        // Gemini CLI up to 0.5.5 knows only the older word and waits for ever on the newer one;
        // every client that knows both takes the first and ignores the second.
        Verdict::Rejected => {
            let mut both = Vec::new();
            for method in ["ide/diffRejected", "ide/diffClosed"] {
                both.extend_from_slice(&frame(&rpc::notification(method, &params(None))));
            }
            both.into()
        }
    }
}

/// One event. It has no id, because clients would try to resume from it, and its data is
/// never empty, because Gemini CLI disconnects for good on an empty event.
pub(crate) fn frame(json: &[u8]) -> Bytes {
    const HEAD: &[u8] = b"event: message\ndata: ";
    const TAIL: &[u8] = b"\n\n";
    let mut frame = Vec::with_capacity(HEAD.len() + json.len() + TAIL.len());
    frame.extend_from_slice(HEAD);
    frame.extend_from_slice(json);
    frame.extend_from_slice(TAIL);
    frame.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::{Active, Cursor, OpenFile};

    #[test]
    fn the_answer_is_never_newer_than_the_question() {
        for (asked, answered) in [
            ("2024-10-07", "2024-10-07"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("2025-10-01", "2025-06-18"),
            ("2023-01-01", "2024-10-07"),
            ("", "2024-10-07"),
            ("latest", "2025-11-25"),
        ] {
            assert_eq!(negotiate(asked), answered, "{asked}");
        }
    }

    fn text(frame: &Bytes) -> &str {
        std::str::from_utf8(frame).unwrap()
    }

    #[test]
    fn a_context_leaves_out_what_is_absent() {
        assert_eq!(
            text(&context_frame(&Context::default())),
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"ide/contextUpdate\",\"params\":{\"workspaceState\":{\"openFiles\":[]}}}\n\n"
        );
        let full = Context {
            files: vec![
                OpenFile {
                    path: "/w/a\n.rs".into(),
                    focused_at: 8,
                    active: Some(Active {
                        cursor: Some(Cursor::new(3, 1)),
                        selection: Some("x\ny".into()),
                    }),
                },
                OpenFile {
                    path: "/w/b.rs".into(),
                    focused_at: 7,
                    active: None,
                },
            ],
            trusted: Some(false),
        };
        insta::assert_snapshot!(text(&context_frame(&full)), @r#"
        event: message
        data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/w/a\n.rs","timestamp":8,"isActive":true,"cursor":{"line":3,"character":1},"selectedText":"x\ny"},{"path":"/w/b.rs","timestamp":7}],"isTrusted":false}}}
        "#);
    }

    #[test]
    fn a_rejection_is_said_in_the_old_and_in_the_new_word() {
        insta::assert_snapshot!(text(&verdict_frame("./x", &Verdict::Rejected)), @r#"
        event: message
        data: {"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"./x"}}

        event: message
        data: {"jsonrpc":"2.0","method":"ide/diffClosed","params":{"filePath":"./x"}}
        "#);
    }

    #[test]
    fn an_empty_accepted_text_is_still_said() {
        let verdict = Verdict::Accepted {
            text: String::new(),
            edited: false,
        };
        assert!(text(&verdict_frame("/x", &verdict)).contains("\"content\":\"\""));
    }

    #[test]
    fn the_closing_text_is_json_inside_the_text_block() {
        let json = |content| serde_json::to_string(&ToolResult::closed(content)).unwrap();
        assert_eq!(
            json(Some("a\"b\n")),
            r#"{"content":[{"type":"text","text":"{\"content\":\"a\\\"b\\n\"}"}]}"#
        );
        assert_eq!(json(None), r#"{"content":[{"type":"text","text":"{}"}]}"#);
    }
}
