//! Reads the few fields that matter from a JSON text that is too large to keep.
//!
//! A request over the size limit still has to be answered under its id, or the client
//! waits for ever, and the id stands at the *end* of what the published clients send.
//! So the text is skimmed as it streams by: a few short strings and numbers near the
//! top of the tree are remembered, everything else is forgotten at once. The skimmer
//! does not validate; it only has to be right for well-formed JSON and harmless for the rest.

use super::ide::is_too_long;

/// Deepest level at which values are remembered: `params.arguments.filePath`.
const DEPTH: usize = 3;
/// Longer scalars than this are not remembered.
const LONGEST: usize = 8 * 1024;

/// The fields of a request that an answer needs. Each value is raw JSON text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gist {
    pub(crate) id: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) file_path: Option<String>,
}

impl Gist {
    /// The path that an `openDiff` names, if it is a string that can be one.
    pub(crate) fn file_path(&self) -> Option<String> {
        let path = serde_json::from_str(self.file_path.as_deref()?).ok();
        path.filter(|path: &String| !is_too_long(path))
    }

    /// Whether the request calls `openDiff`.
    pub(crate) fn opens_a_diff(&self) -> bool {
        let is = |raw: &Option<String>, name: &str| raw.as_deref() == Some(name);
        is(&self.method, "\"tools/call\"") && is(&self.tool, "\"openDiff\"")
    }
}

/// A streaming reader of JSON that remembers only a [`Gist`].
#[derive(Debug, Default)]
pub(crate) struct Skimmer {
    gist: Gist,
    /// The open objects and arrays of the first levels.
    path: Vec<Container>,
    depth: usize,
    /// The key whose value comes next.
    key: Option<String>,
    /// Whether a string at this place would be a key.
    expects_key: bool,
    scalar: Vec<u8>,
    state: SkimState,
}

/// An object or an array, and the key under which it stands.
#[derive(Debug)]
struct Container {
    key: String,
    is_object: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum SkimState {
    #[default]
    Between,
    String,
    Escape,
    Bare,
}

impl Skimmer {
    /// Goes on with the next piece of the text; pieces may be cut anywhere.
    pub(crate) fn read(&mut self, piece: &[u8]) {
        for &byte in piece {
            self.step(byte);
        }
    }

    /// What was seen, once the text has ended.
    pub(crate) fn finish(self) -> Gist {
        self.gist
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            SkimState::String => {
                self.remember(byte);
                match byte {
                    b'\\' => self.state = SkimState::Escape,
                    b'"' => self.end_string(),
                    _ => {}
                }
            }
            SkimState::Escape => {
                self.remember(byte);
                self.state = SkimState::String;
            }
            SkimState::Bare
                if !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace() =>
            {
                self.remember(byte);
            }
            SkimState::Bare | SkimState::Between => {
                if self.state == SkimState::Bare {
                    self.state = SkimState::Between;
                    self.end_value();
                }
                self.between(byte);
            }
        }
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                let is_object = byte == b'{';
                if self.depth < DEPTH {
                    let key = self.key.take().unwrap_or_default();
                    self.path.push(Container { key, is_object });
                }
                self.depth += 1;
                self.expects_key = is_object;
                self.key = None;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.path.truncate(self.depth);
                self.expects_key = false;
                self.key = None;
            }
            // After a comma a string is a key inside an object, and a value inside an array. Of what
            // lies deeper nothing is remembered, so there it does not matter.
            b',' => self.expects_key = self.path.last().is_some_and(|it| it.is_object),
            b':' => self.expects_key = false,
            b'"' => {
                self.scalar.clear();
                self.remember(byte);
                self.state = SkimState::String;
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                self.scalar.clear();
                self.remember(byte);
                self.state = SkimState::Bare;
            }
        }
    }

    fn remember(&mut self, byte: u8) {
        if self.depth <= DEPTH && self.scalar.len() <= LONGEST {
            self.scalar.push(byte);
        }
    }

    fn end_string(&mut self) {
        self.state = SkimState::Between;
        if self.expects_key {
            self.expects_key = false;
            self.key = serde_json::from_slice(&self.scalar).ok();
        } else {
            self.end_value();
        }
    }

    fn end_value(&mut self) {
        let Some(key) = self.key.take() else { return };
        let field = match (self.path.as_slice(), key.as_str()) {
            ([_], "id") => &mut self.gist.id,
            ([_], "method") => &mut self.gist.method,
            ([_, params], "name") if params.key == "params" => &mut self.gist.tool,
            ([_, params, arguments], "filePath")
                if params.key == "params" && arguments.key == "arguments" =>
            {
                &mut self.gist.file_path
            }
            _ => return,
        };
        if self.depth == self.path.len() && self.scalar.len() <= LONGEST {
            *field = String::from_utf8(std::mem::take(&mut self.scalar)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn skim(pieces: &[&[u8]]) -> Gist {
        let mut skimmer = Skimmer::default();
        for piece in pieces {
            skimmer.read(piece);
        }
        skimmer.finish()
    }

    #[test]
    fn finds_the_id_at_the_end_of_a_large_request() {
        let text = json!({
            "method": "tools/call",
            "params": { "name": "openDiff", "arguments": { "filePath": "/a\"b", "newContent": "x\",\"id\":9,{".repeat(9000) } },
            "jsonrpc": "2.0",
        })
        .to_string();
        let text = format!("{},\"id\":17}}", &text[..text.len() - 1]);
        assert_eq!(
            skim(&[text.as_bytes()]),
            Gist {
                id: Some("17".into()),
                method: Some("\"tools/call\"".into()),
                tool: Some("\"openDiff\"".into()),
                file_path: Some("\"/a\\\"b\"".into()),
            }
        );
    }

    #[test]
    fn ignores_lookalikes_elsewhere_in_the_tree() {
        let text = json!([{ "id": 1 }, { "params": { "id": 2, "arguments": { "name": "x", "more": { "filePath": "y" } } } }]);
        assert_eq!(skim(&[text.to_string().as_bytes()]), Gist::default());
    }

    #[test]
    fn strings_in_a_list_are_no_keys() {
        for text in [
            r#"[1, "id", 5, "method", "ping"]"#,
            r#"{"params": [1, "name", "openDiff"]}"#,
            r#"{"params": {"arguments": ["a", "filePath", "/x"]}}"#,
        ] {
            assert_eq!(skim(&[text.as_bytes()]), Gist::default(), "{text}");
        }
        let gist = skim(&[br#"{"a": [[], {}, "x"], "id": 7}"#]);
        assert_eq!(gist.id.as_deref(), Some("7"));
    }

    #[test]
    fn survives_what_is_not_json() {
        for text in [
            "",
            "}}}]]",
            "\"",
            "{\"id\":",
            "[[[[[[{{{{",
            "\u{fffd}",
            "{\"id\" 5}",
            ":,:,",
        ] {
            skim(&[text.as_bytes()]);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_real_parser_wherever_the_text_is_cut(
            id in prop_oneof!["[a-z\"\\\\]{0,9}".prop_map(|s| json!(s)), any::<u32>().prop_map(|n| json!(n))],
            path in "\\PC{0,20}",
            content in "\\PC{0,60}",
            cut in any::<prop::sample::Index>(),
        ) {
            let text = json!({
                "params": { "arguments": { "newContent": content, "filePath": path }, "name": "openDiff" },
                "id": id,
                "method": "tools/call",
            }).to_string();
            let at = cut.index(text.len() + 1);
            let (head, tail) = text.as_bytes().split_at(at);
            let gist = skim(&[head, tail]);
            prop_assert_eq!(gist.id, Some(id.to_string()));
            prop_assert_eq!(gist.tool.as_deref(), Some("\"openDiff\""));
            let found: String = serde_json::from_str(&gist.file_path.unwrap()).unwrap();
            prop_assert_eq!(found, path);
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            skim(&[&bytes]);
        }
    }
}
