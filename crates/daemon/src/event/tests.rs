use serde_json::json;

use super::*;

fn event(text: &str) -> Result<DaemonEvent, EventError> {
    DaemonEvent::read(text)
}

#[test]
fn the_envelope_is_read_and_the_rest_is_kept() {
    let text = r#"{"id":3,"v":1,"type":"x","data":{"a":[1, 2]},"promptId":"p","originatorClientId":"c","new":true}"#;
    let event = event(text).unwrap();
    assert_eq!(
        (event.id(), event.kind(), event.data()),
        (Some(3), "x", r#"{"a":[1, 2]}"#)
    );
    assert_eq!(event.prompt_id().unwrap().as_str(), "p");
    assert_eq!(event.originator().unwrap().as_str(), "c");
    assert_eq!((event.text(), event.body()), (text, EventBody::Unknown));
    assert_eq!(event.field("a"), Some(json!([1, 2])));
    let again: DaemonEvent = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
    assert_eq!(
        (again.id(), again.field("a")),
        (event.id(), event.field("a"))
    );
}

#[test]
fn what_is_not_an_event_is_refused() {
    let cases = [
        "",
        "null",
        "[]",
        "5",
        "{",
        r#"{"v":1,"type":"x"}"#,
        r#"{"v":1,"type":5,"data":{}}"#,
        r#"{"v":2,"type":"x","data":{}}"#,
        r#"{"type":"x","data":{}}"#,
        r#"{"id":0,"v":1,"type":"x","data":{}}"#,
        r#"{"id":-1,"v":1,"type":"x","data":{}}"#,
        r#"{"id":1.5,"v":1,"type":"x","data":{}}"#,
        r#"{"id":"1","v":1,"type":"x","data":{}}"#,
        r#"{"id":9007199254740992,"v":1,"type":"x","data":{}}"#,
    ];
    for text in cases {
        assert!(event(text).is_err(), "{text}");
    }
}

#[test]
fn a_body_never_fails() {
    let body = |kind: &str, data: &str| {
        event(&format!(r#"{{"v":1,"type":"{kind}","data":{data}}}"#))
            .unwrap()
            .body()
    };
    assert!(matches!(
        body("turn_complete", "null"),
        EventBody::Malformed(_)
    ));
    assert!(matches!(
        body("turn_complete", "[1]"),
        EventBody::Malformed(_)
    ));
    assert!(matches!(
        body("permission_request", r#"{"requestId":"r"}"#),
        EventBody::Malformed(_)
    ));
    assert!(matches!(
        body("session_update", "{}"),
        EventBody::Malformed(_)
    ));
    assert!(matches!(
        body("mcp_server_added", "null"),
        EventBody::Malformed(_)
    ));
    assert!(matches!(body("brand_new", "null"), EventBody::Unknown));
    assert!(matches!(
        body(
            "session_update",
            r#"{"update":{"sessionUpdate":"brand_new","x":1}}"#
        ),
        EventBody::SessionUpdate(crate::wire::SessionUpdate::Other(_))
    ));
    // Numeric and textual codes are both fine.
    assert!(matches!(
        body("turn_error", r#"{"code":-32603}"#),
        EventBody::TurnError(_)
    ));
    assert!(matches!(
        body("turn_error", r#"{"code":"x","message":"m"}"#),
        EventBody::TurnError(_)
    ));
}

#[test]
fn bytes_that_are_not_text_are_replaced_and_reported() {
    let frame = SseFrame {
        id: Some(4),
        data: bytes::Bytes::from_static(b"{\"v\":1,\"type\":\"x\",\"data\":{\"a\":\"\xff\"}}"),
    };
    let (event, invalid_utf8) = DaemonEvent::from_frame(&frame);
    let event = event.unwrap();
    assert!(invalid_utf8);
    assert_eq!(
        (event.id(), event.field("a")),
        (Some(4), Some(json!("\u{fffd}")))
    );
}
