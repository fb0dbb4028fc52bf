use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

fn all(text: &str) -> Result<Vec<RawField<'_>>, NotAnObject> {
    ObjectFields::of(text)?.collect()
}

#[test]
fn fields_are_found_wherever_blanks_and_escapes_stand() {
    let text = " {\n\"a\" : 1 ,\"b\\u0063\":\"x\\\"}\\\\\" , \"d\":{\"e\":[\"]}\",{}]},\"f\":null,\"\":-1.5e3}\t";
    let found = all(text).unwrap();
    let expected = [
        ("a", "1"),
        ("b\\u0063", "\"x\\\"}\\\\\""),
        ("d", "{\"e\":[\"]}\",{}]}"),
        ("f", "null"),
        ("", "-1.5e3"),
    ];
    assert_eq!(found, expected);
    assert_eq!(all("{ }").unwrap(), []);
}

#[test]
fn what_is_not_one_object_is_an_error() {
    for text in [
        "",
        " ",
        "5",
        "[]",
        "null",
        "{",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{\"a\":1}x",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":\"}",
        "{\"a\":\"\\",
        "{\"a\":[}",
        "{\"a\":]}",
        "{\"a\":1 2}",
        "{}{}",
    ] {
        assert!(all(text).is_err(), "{text}");
    }
}

#[test]
fn an_open_object_may_be_followed_by_anything() {
    let found = ObjectFields::of("{\"x\":{},\"a\":{\"b\":1},\"c\":2}")
        .unwrap()
        .find("a")
        .unwrap()
        .unwrap();
    assert_eq!(found, "{\"b\":1},\"c\":2}");
    let inside: Vec<_> = ObjectFields::starting(found)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(inside, [("b", "1")]);
    assert_eq!(
        ObjectFields::of("{\"a\":1}").unwrap().find("b").unwrap(),
        None
    );
}

#[test]
fn strings_are_borrowed_unless_they_have_escapes() {
    assert!(matches!(
        string("\"plain ä\""),
        Ok(Cow::Borrowed("plain ä"))
    ));
    assert!(matches!(string(r#""a\nb""#), Ok(Cow::Owned(text)) if text == "a\nb"));
    for bad in ["", "\"", "5", "null", "\"a", r#""a\""#, "\"a\"b\""] {
        assert!(string(bad).is_err(), "{bad}");
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~äß\\\\\"\n\u{1f600}]{0,70}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,12}", inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn objects_are_taken_apart_as_a_parser_would(
        fields in prop::collection::vec(("[a-z\\\\\"ä]{0,20}", json()), 0..8),
        pretty in any::<bool>(),
    ) {
        let object: Map<String, Value> = fields.into_iter().collect();
        let text = if pretty {
            serde_json::to_string_pretty(&object).unwrap()
        } else {
            serde_json::to_string(&object).unwrap()
        };
        let found = all(&text).unwrap();
        let read: Map<String, Value> = found
            .iter()
            .map(|(name, value)| {
                let name = string(&format!("\"{name}\"")).unwrap().into_owned();
                (name, serde_json::from_str(value).unwrap())
            })
            .collect();
        prop_assert_eq!(read, object);
    }

    #[test]
    fn nothing_panics_and_pieces_are_pieces(text in "[{}\\[\\]\":,\\\\ a1ä\n]{0,60}") {
        for field in ObjectFields::of(&text).into_iter().flatten().flatten() {
            prop_assert!(text.contains(field.1));
        }
        let _ = string(&text);
    }
}
