//! A daemon's event stream says the same however it is cut into chunks; a frame beyond the limit is
//! reported and takes nothing else with it; and an event that is read says what a real JSON parser
//! finds in it. No event, however odd, is more than an event that cannot be understood.

use bytes::Bytes;
use daemon::sse::{SseItem, SseParser};
use daemon::{DaemonEvent, EventBody};
use serde_json::Value;

/// Small, so that short cases go beyond it.
const MAX_FRAME: usize = 512;

/// Takes the bytes of a stream.
pub fn check(data: &[u8]) {
    let whole = items(data, data.len().max(1), MAX_FRAME);
    for size in [1, 3, 64] {
        assert_eq!(items(data, size, MAX_FRAME), whole, "in chunks of {size}");
    }
    for item in &whole {
        if let SseItem::Frame(frame) = item {
            assert!(frame.data.len() <= MAX_FRAME);
        }
    }
    for item in items(data, 64, usize::MAX / 2) {
        if let SseItem::Frame(frame) = item {
            let (event, replaced) = DaemonEvent::from_frame(&frame);
            assert_eq!(replaced, std::str::from_utf8(&frame.data).is_err());
            if let Ok(event) = event {
                check_event(&event);
            }
        }
    }
    if let Ok(event) = DaemonEvent::read(&String::from_utf8_lossy(data)) {
        check_event(&event);
    }
}

fn items(data: &[u8], size: usize, max_frame: usize) -> Vec<SseItem> {
    let mut parser = SseParser::new(max_frame);
    let mut items = Vec::new();
    for chunk in data.chunks(size) {
        parser.push(Bytes::copy_from_slice(chunk));
        items.extend(std::iter::from_fn(|| parser.pull()));
    }
    items
}

fn check_event(event: &DaemonEvent) {
    assert!(event.id().is_none_or(|id| id > 0));
    let body = event.body();
    assert!(event.is_known() || body == EventBody::Unknown);
    let (_, _) = (event.prompt_id(), event.originator());
    let Ok(Value::Object(envelope)) = serde_json::from_str(event.text()) else {
        return;
    };
    // Names are compared as they are written, and of two fields of one name either may count.
    let is_plain = |name: &str| {
        let written = format!("\"{name}\"");
        envelope.get(name).is_some() && event.text().matches(&written).count() == 1
    };
    if is_plain("type") && is_plain("data") && !event.text().contains("\\u") {
        assert_eq!(envelope["type"], event.kind());
        let data: Value = serde_json::from_str(event.data()).unwrap();
        assert_eq!(envelope["data"], data);
    }
    // What can be written again says the same again.
    if let Ok(written) = serde_json::to_string(event) {
        assert_eq!(
            serde_json::from_str::<Value>(&written).unwrap(),
            Value::Object(envelope)
        );
    }
}
