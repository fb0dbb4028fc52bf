//! The JSON of what is in a conversation beside text, byte for byte: pictures, links and files, what
//! tasks in the background say, and that a mode does not ask.

#![allow(
    clippy::unwrap_used,
    reason = "a test that meets something unexpected has to fail"
)]

use conversation::attachment::Attachment;
use conversation::tools::{ToolCall, ToolOutput};
use conversation::view::Speaker;
use conversation::{BackendEvent, Change, ConversationState, TranscriptLimits};
use serde_json::Value;

fn image(data: Option<&str>) -> Attachment {
    Attachment::Image {
        mime_type: "image/png".into(),
        data: data.map(str::to_owned),
    }
}

fn link() -> Attachment {
    Attachment::Link {
        name: "a".into(),
        uri: "file:///a".into(),
    }
}

fn file(text: Option<&str>) -> Attachment {
    Attachment::File {
        uri: "file:///b".into(),
        text: text.map(str::to_owned),
    }
}

fn changes(event: &BackendEvent) -> Vec<String> {
    let mut state = ConversationState::new(TranscriptLimits::default(), None);
    let changes = state.apply(event, None);
    let written = changes.iter().map(wire::conversation::change);
    written
        .map(|change| serde_json::to_string(&change).unwrap())
        .collect()
}

#[test]
fn an_attachment_is_told_with_a_line_for_who_shows_only_text() {
    let cases = [
        (
            image(Some("AAAA")),
            r#""text":"a picture (image/png, 1 kB)","attachment":{"type":"image","mimeType":"image/png","data":"AAAA"}"#,
        ),
        (
            image(None),
            r#""text":"a picture that is too large to be shown (image/png)","attachment":{"type":"image","mimeType":"image/png"}"#,
        ),
        (
            link(),
            r#""text":"a (file:///a)","attachment":{"type":"link","name":"a","uri":"file:///a"}"#,
        ),
        (
            file(Some("one")),
            r#""text":"file:///b","attachment":{"type":"file","uri":"file:///b","content":"one"}"#,
        ),
        (
            file(None),
            r#""text":"file:///b","attachment":{"type":"file","uri":"file:///b"}"#,
        ),
    ];
    for (attachment, written) in cases {
        let attached = BackendEvent::Attached {
            speaker: Speaker::Agent,
            attachment: attachment.clone(),
        };
        let entry = format!(r#"{{"id":1,"kind":"attached","speaker":"agent",{written}}}"#);
        let put = format!(r#"{{"change":"put","entry":{entry}}}"#);
        assert_eq!(changes(&attached), [put]);

        let tool = ToolCall {
            id: "t".into(),
            content: Some(vec![ToolOutput::Attachment(attachment)]),
            ..ToolCall::default()
        };
        let output = format!(r#"{{"type":"attachment",{written}}}"#);
        let entry = format!(r#"{{"id":1,"kind":"tool","tool":{{"id":"t","content":[{output}]}}}}"#);
        let put = format!(r#"{{"change":"put","entry":{entry}}}"#);
        assert_eq!(changes(&BackendEvent::Tool(tool)), [put]);
    }
}

#[test]
fn a_task_in_the_background_has_a_name_of_its_own() {
    let said = BackendEvent::Said {
        speaker: Speaker::Task,
        text: "tests".into(),
    };
    let entry = r#"{"id":1,"kind":"said","speaker":"task","text":"tests"}"#;
    let put = format!(r#"{{"change":"put","entry":{entry}}}"#);
    assert_eq!(changes(&said), [put]);
}

#[test]
fn a_mode_that_is_not_known_to_ask_is_told_as_one_that_does_not() {
    for (mode, is_unasking) in [
        ("plan", false),
        ("default", false),
        ("auto-edit", true),
        ("auto", true),
        ("yolo", true),
        // A newer agent may have it, and nobody here knows what it asks about.
        ("careful", true),
        ("", true),
    ] {
        let mut state = ConversationState::new(TranscriptLimits::default(), None);
        let changed = state.apply(&BackendEvent::ModeChanged { mode: mode.into() }, None);
        let [change @ Change::Status(_)] = &changed[..] else {
            panic!("{changed:?}")
        };
        let change = serde_json::to_value(wire::conversation::change(change)).unwrap();
        assert_eq!(change["status"]["mode"], mode);
        let told = change["status"].get("unasking").and_then(Value::as_bool);
        assert_eq!(told, is_unasking.then_some(true), "{mode}");
    }
}
