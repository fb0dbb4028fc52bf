use serde_json::json;

use super::*;

fn request(questions: bool) -> InteractionRequest {
    let mut call = json!({"toolCallId": "t", "title": "Write a.txt", "kind": "think"});
    if questions {
        call["_meta"] = json!({"qwenInteractionKind": "user_question"});
        call["rawInput"] =
            json!({"questions": [{"question": "Which?"}, {"question": "What else?"}]});
    }
    let request = json!({"requestId": "r", "toolCall": call, "options": [
        {"optionId": "always", "kind": "allow_always"},
        {"optionId": "once", "kind": "allow_once"},
        {"optionId": "odd", "kind": "something_new"},
        {"optionId": "never", "kind": "reject_always"},
        {"optionId": "no", "kind": "reject_once"},
    ]});
    InteractionRequest::asked(serde_json::from_value(request).unwrap()).unwrap()
}

fn voted(request: &InteractionRequest, answer: &UserAnswer) -> Value {
    serde_json::to_value(request.vote(answer)).unwrap()
}

fn selected(id: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": id}})
}

fn no() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

#[test]
fn only_what_was_offered_can_be_chosen() {
    let choose = |id: &str| UserAnswer::Choose(id.into());
    let cases = [
        (UserAnswer::Allow, selected("once")),
        (UserAnswer::AllowAlways, selected("always")),
        (UserAnswer::Decline, no()),
        (choose("once"), selected("once")),
        (choose("odd"), selected("odd")),
        (choose("never"), selected("never")),
        (choose("no"), no()),
        (choose("proceed_once"), no()),
        (choose(""), no()),
        (UserAnswer::Reply(vec![vec!["x".into()]]), no()),
    ];
    for (answer, expected) in cases {
        assert_eq!(voted(&request(false), &answer), expected, "{answer:?}");
    }
}

#[test]
fn what_is_not_offered_is_never_widened() {
    let mut narrow = request(false);
    narrow.options.retain(|option| option.option_id == "always");
    assert_eq!(voted(&narrow, &UserAnswer::Allow), no());
    narrow.options[0].kind = Some(OptionKind::AllowOnce);
    assert_eq!(voted(&narrow, &UserAnswer::AllowAlways), no());
}

#[test]
fn questions_are_answered_by_replies_and_by_nothing_else() {
    let reply = |lists: &[&[&str]]| {
        let lists = lists
            .iter()
            .map(|list| list.iter().map(|it| (*it).into()).collect());
        UserAnswer::Reply(lists.collect())
    };
    let with = |answers: Value| {
        let mut vote = selected("once");
        vote["answers"] = answers;
        vote
    };
    let cases = [
        (
            reply(&[&["SQLite"], &["Search", "Export"]]),
            with(json!({"0": "SQLite", "1": "Search, Export"})),
        ),
        (
            reply(&[&[], &[" own words "]]),
            with(json!({"1": "own words"})),
        ),
        (
            reply(&[&["a"], &["b"], &["c"]]),
            with(json!({"0": "a", "1": "b"})),
        ),
        (reply(&[&[" "], &[]]), no()),
        (reply(&[]), no()),
        (UserAnswer::Allow, no()),
        (UserAnswer::Choose("once".into()), no()),
    ];
    for (answer, expected) in cases {
        assert_eq!(voted(&request(true), &answer), expected, "{answer:?}");
    }
}
