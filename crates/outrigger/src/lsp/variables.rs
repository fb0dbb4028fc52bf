//! What the variables of an editor's process hide.
//!
//! A companion that is started reads them itself, because it inherits them. One that runs already
//! has those of whoever started it, so the patterns go along with what the editor says of itself.
//!
//! Only the patterns do. Which agents may connect, and which configuration is followed, belongs to
//! the companion: one editor that comes must not disconnect the agents of another.

use serde_json::{Value, json};

/// An `initialize` request with these patterns among those of the editor.
pub(super) fn with_patterns(content: &[u8], patterns: &[String]) -> Vec<u8> {
    let unchanged = || content.to_vec();
    if patterns.is_empty() {
        return unchanged();
    }
    let Ok(mut request) = serde_json::from_slice::<Value>(content) else {
        return unchanged();
    };
    let Some(params) = request.get_mut("params").and_then(Value::as_object_mut) else {
        return unchanged();
    };
    let options = params.entry("initializationOptions").or_insert(Value::Null);
    if options.is_null() {
        *options = json!({});
    }
    let known = options
        .as_object_mut()
        .map(|it| it.entry("ignore").or_insert(json!([])));
    // What is wrong with the options is the companion's to say.
    let Some(Value::Array(known)) = known else {
        return unchanged();
    };
    known.extend(patterns.iter().map(|pattern| json!(pattern)));
    serde_json::to_vec(&request).unwrap_or_else(|_| unchanged())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_go_along() {
        let with = |params: Value, patterns: &[&str]| {
            let request = json!({ "id": 1, "method": "initialize", "params": params });
            let patterns: Vec<_> = patterns.iter().map(|it| (*it).to_owned()).collect();
            let made = with_patterns(request.to_string().as_bytes(), &patterns);
            serde_json::from_slice::<Value>(&made).unwrap()["params"].clone()
        };
        let hidden = json!({ "initializationOptions": { "ignore": ["a"] } });
        assert_eq!(with(json!({}), &["a"]), hidden);
        assert_eq!(
            with(json!({ "initializationOptions": null }), &["a"]),
            hidden
        );
        let both = json!({ "initializationOptions": { "ignore": ["b", "a"], "x": 1 } });
        let own = json!({ "initializationOptions": { "ignore": ["b"], "x": 1 } });
        assert_eq!(with(own.clone(), &["a"]), both);
        assert_eq!(with(own.clone(), &[]), own);
        for odd in [
            json!([]),
            json!({ "initializationOptions": { "ignore": "b" } }),
        ] {
            assert_eq!(with(odd.clone(), &["a"]), odd);
        }
    }
}
