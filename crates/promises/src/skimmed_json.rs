//! A request that is too large to read is answered as if it had been read: for every text that is
//! JSON, the few fields that are skimmed from it as it streams by are those that a real parser finds,
//! however the text is cut.

use companion::fuzzing::{Skimmed, skim};
use serde_json::Value;

/// Takes a text.
pub fn check(data: &[u8]) {
    let whole = skim([data]);
    assert_eq!(skim(data.chunks(1)), whole);
    assert_eq!(skim(data.chunks(7)), whole);
    let Ok(parsed) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    if keys(&parsed) != colons(data) {
        // An object that has a key twice has no meaning to compare with.
        return;
    }
    let Skimmed {
        id,
        method,
        tool,
        file_path,
    } = whole;
    for (path, skimmed) in [
        ("/id", id),
        ("/method", method),
        ("/params/name", tool),
        ("/params/arguments/filePath", file_path),
    ] {
        let skimmed = skimmed.map(|raw| serde_json::from_str::<Value>(&raw).unwrap());
        let is_scalar = |value: &&Value| !value.is_object() && !value.is_array();
        // A pointer also goes into arrays, by number, but these names are no numbers.
        let read = parsed.pointer(path).filter(is_scalar);
        assert_eq!(skimmed.as_ref(), read, "{path}");
    }
}

fn keys(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(keys).sum(),
        Value::Object(fields) => fields.len() + fields.values().map(keys).sum::<usize>(),
        _ => 0,
    }
}

/// How many keys a JSON text has.
fn colons(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}
