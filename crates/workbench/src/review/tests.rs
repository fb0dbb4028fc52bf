use super::*;
use proptest::prelude::*;

/// The hunks as `before lines > after lines`, each line as one word.
fn hunks(original: &str, proposed: &str) -> Vec<String> {
    let review = Review::of(original, proposed);
    let words = |text: &str| format!("{text:?}").replace('"', "");
    review
        .bytes
        .iter()
        .map(|(old, new)| {
            let (old, new) = (&original[old.clone()], &proposed[new.clone()]);
            format!("{} > {}", words(old), words(new))
        })
        .collect()
}

#[test]
fn lines_are_counted_in_the_hunks() {
    for (original, proposed, counted) in [
        ("", "", (0, 0)),
        ("a\n", "a\n", (0, 0)),
        ("", "a\nb\n", (2, 0)),
        ("a\nb\n", "", (0, 2)),
        ("a\nb\nc\n", "A\nb\nC\nd\n", (3, 2)),
        ("a\nb", "a\nb\n", (1, 1)),
        ("a\r\nb\r\n", "a\nb\n", (0, 0)),
    ] {
        let review = Review::of(original, proposed);
        assert_eq!(
            (review.added(), review.removed()),
            counted,
            "{original:?} {proposed:?}"
        );
    }
}

#[test]
fn short_lines_do_not_make_more_hunks_than_a_text_is_worth() {
    let (original, proposed) = ("a\nb\n".repeat(20_000), "a\nc\n".repeat(20_000));
    let review = Review::of(&original, &proposed);
    let bytes = original.len() + proposed.len();
    assert!(review.hunks().len() <= bytes / BYTES_PER_HUNK);
    let all = (1..=review.hunks().len()).collect();
    assert_eq!(
        review.merge(&original, &proposed, &all),
        Ok(proposed.clone())
    );
    let none = BTreeSet::new();
    assert_eq!(review.merge(&original, &proposed, &none), Ok(original));
}

#[test]
fn hunks_are_the_edits() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("", "", &[]),
        ("a\n", "a\n", &[]),
        ("", "a\n", &[" > a\\n"]),
        ("a\n", "", &["a\\n > "]),
        ("a\nb\nc\n", "a\nB\nc\n", &["b\\n > B\\n"]),
        // One equal line is enough to part two hunks.
        ("a\nb\nc\n", "A\nb\nC\n", &["a\\n > A\\n", "c\\n > C\\n"]),
        ("a\nb\n", "A\nB\n", &["a\\nb\\n > A\\nB\\n"]),
        // The end of the last line is part of it.
        ("a\nb", "a\nb\n", &["b > b\\n"]),
        ("a\nb\n", "a\nb", &["b\\n > b"]),
        // Nothing but a newline ends a line.
        (
            "a\rb\u{2028}c\n",
            "a\rB\u{2028}c\n",
            &["a\\rb\\u{2028}c\\n > a\\rB\\u{2028}c\\n"],
        ),
        // A change of form alone is no edit, in the directions that agents take.
        ("a\r\nb\r\n", "a\nb\n", &[]),
        ("a\r\nb\r\nc\r\n", "a\nB\nc\n", &["b\\r\\n > B\\n"]),
        ("a\r\nb", "a\nb", &[]),
        ("a\r\nb", "a\nb\n", &["b > b\\n"]),
        ("\u{feff}a\n", "a\n", &[]),
        ("a\n", "\u{feff}a\n", &[]),
        ("\u{feff}a\nb\n", "\u{feff}b\n", &["a\\n > "]),
        ("\u{feff}a\r\nb\r\n", "a\nB\n", &["b\\r\\n > B\\n"]),
        // All other changes of line endings are edits.
        ("a\nb\n", "a\r\nb\r\n", &["a\\nb\\n > a\\r\\nb\\r\\n"]),
        ("a\r\nb\n", "a\nb\n", &["a\\r\\n > a\\n"]),
        ("a\r\nb\r\n", "a\nb\r\n", &["a\\r\\n > a\\n"]),
        // An empty text has no form, so the mark is part of what goes.
        ("\u{feff}", "", &["\\u{feff} > "]),
    ];
    for (original, proposed, expected) in cases {
        assert_eq!(
            &hunks(original, proposed),
            expected,
            "{original:?} {proposed:?}"
        );
    }
}

#[test]
fn some_hunks_make_a_text_in_the_proposals_form() {
    let cases: &[(&str, &str, &[usize], &str)] = &[
        ("a\nb\nc\n", "A\nb\nC\n", &[1], "A\nb\nc\n"),
        ("a\nb\nc\n", "A\nb\nC\n", &[2], "a\nb\nC\n"),
        ("a\r\nb\r\nc\r\n", "A\nb\nC\n", &[2], "a\nb\nC\n"),
        (
            "a\r\nb\r\nc\r\n",
            "A\r\nb\r\nC\r\n",
            &[2],
            "a\r\nb\r\nC\r\n",
        ),
        ("a\r\nb\r\nc", "A\nb\nC\n", &[1], "A\nb\nc"),
        ("\u{feff}a\nb\nc\n", "A\nb\nC\n", &[2], "a\nb\nC\n"),
        ("a\nb\nc\n", "\u{feff}A\nb\nC\n", &[2], "\u{feff}a\nb\nC\n"),
        ("\u{feff}a\r\nb\r\n", "A\nb\nC\n", &[2], "a\nb\nC\n"),
        ("a\nb\nc", "A\nb\n", &[1], "A\nb\nc"),
        ("a\n", "", &[], "a\n"),
    ];
    for (original, proposed, keep, expected) in cases {
        let keep = keep.iter().copied().collect();
        let merged = Review::of(original, proposed).merge(original, proposed, &keep);
        assert_eq!(
            merged.as_deref(),
            Ok(*expected),
            "{original:?} {proposed:?}"
        );
    }
}

#[test]
fn a_hunk_that_is_not_there_is_named() {
    let wrong = |original, proposed, number| {
        let review = Review::of(original, proposed);
        let merged = review.merge(original, proposed, &BTreeSet::from([number]));
        merged.unwrap_err().to_string()
    };
    insta::assert_snapshot!(wrong("a\n", "a\n", 1), @"there is no hunk 1; the proposal changes no line");
    insta::assert_snapshot!(wrong("a\n", "b\n", 0), @"there is no hunk 0; the only one is 1");
    insta::assert_snapshot!(wrong("a\nb\nc\n", "A\nb\nC\n", 3), @"there is no hunk 3; choose from 1 to 2");
}

#[test]
fn texts_that_were_not_compared_do_no_harm() {
    let review = Review::of("aä\nb\nc\n", "b\nüx\n");
    for text in ["", "ö", "öö\nöö\n"] {
        assert!(review.merge(text, text, &BTreeSet::new()).is_ok());
        review.unified("p", Some(text), text);
    }
}

/// A text of few different lines, so that two of them have much in common,
/// with or without a mark at the start, an end to its lines and an end at all.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["", "a", "b", "c", "{", "x\ry", "ä\u{2028}"]);
    let end = prop::sample::select(vec!["\n", "\r\n", "mixed"]);
    let lines = prop::collection::vec((line, any::<bool>()), 0..12);
    (any::<bool>(), lines, end, any::<bool>()).prop_map(|(bom, lines, end, ended)| {
        let mut text = String::new();
        if bom {
            text.push(BOM);
        }
        for (line, crlf) in lines {
            let end = match (end, crlf) {
                ("mixed", true) => "\r\n",
                ("mixed", false) => "\n",
                (end, _) => end,
            };
            text.push_str(line);
            text.push_str(end);
        }
        if !ended {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// The original as the proposal would write it, straight from the description.
fn in_form(original: &str, proposed: &str) -> String {
    if original.is_empty() || proposed.is_empty() {
        return original.to_owned();
    }
    let body = original.strip_prefix(BOM).unwrap_or(original);
    let mut text = String::new();
    if proposed.starts_with(BOM) {
        text.push(BOM);
    }
    let agree = Form::of(original).ending != LineEnding::CrLf
        || Form::of(proposed).ending != LineEnding::Lf;
    text.push_str(&if agree {
        body.to_owned()
    } else {
        body.replace("\r\n", "\n")
    });
    text
}

/// The lines as a review counts them.
fn split<'a>(review: &Review, text: &'a str) -> Vec<&'a str> {
    text[review.skipped(text)..].split_inclusive('\n').collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn hunks_are_numbered_in_order_with_equal_lines_between(original in text(), proposed in text()) {
        let review = Review::of(&original, &proposed);
        let old = in_form(&original, &proposed);
        let (old, new) = (split(&review, &old), split(&review, &proposed));
        let (mut old_at, mut new_at) = (0, 0);
        for (at, hunk) in review.hunks().iter().enumerate() {
            prop_assert_eq!(hunk.number, at + 1);
            prop_assert!(hunk.before.start <= hunk.before.end && hunk.after.start <= hunk.after.end);
            prop_assert!(hunk.before.len() + hunk.after.len() > 0);
            prop_assert!(at == 0 || (hunk.before.start > old_at && hunk.after.start > new_at));
            prop_assert_eq!(&old[old_at..hunk.before.start], &new[new_at..hunk.after.start]);
            (old_at, new_at) = (hunk.before.end, hunk.after.end);
        }
        prop_assert_eq!(&old[old_at..], &new[new_at..]);
    }

    #[test]
    fn all_hunks_make_the_proposal_and_none_the_original(original in text(), proposed in text()) {
        let review = Review::of(&original, &proposed);
        let all = review.hunks().iter().map(|hunk| hunk.number).collect();
        prop_assert_eq!(review.merge(&original, &proposed, &all), Ok(proposed.clone()));
        let none = review.merge(&original, &proposed, &BTreeSet::new()).unwrap();
        prop_assert_eq!(&none, &in_form(&original, &proposed));
        if Form::of(&original) == Form::of(&proposed) {
            prop_assert_eq!(none, original);
        }
    }

    #[test]
    fn some_hunks_replace_just_their_lines(original in text(), proposed in text(), choice: u32) {
        let review = Review::of(&original, &proposed);
        let kept = |hunk: &&Hunk| choice >> (hunk.number % 32) & 1 == 1;
        let keep = review.hunks().iter().filter(kept).map(|hunk| hunk.number).collect();
        let merged = review.merge(&original, &proposed, &keep).unwrap();

        // The slow way: replace lines of the original, from the last hunk up.
        let old = in_form(&original, &proposed);
        let new = split(&review, &proposed);
        let mut lines = split(&review, &old);
        for hunk in review.hunks().iter().rev().filter(kept) {
            lines.splice(hunk.before.clone(), new[hunk.after.clone()].iter().copied());
        }
        let mark = &proposed[..review.skipped(&proposed)];
        prop_assert_eq!(&merged, &format!("{mark}{}", lines.concat()));

        // What is left to do is what was not kept, and keeping that finishes it.
        let rest = Review::of(&merged, &proposed);
        let all = rest.hunks().iter().map(|hunk| hunk.number).collect();
        prop_assert_eq!(rest.merge(&merged, &proposed, &all), Ok(proposed.clone()));
        if keep.len() == review.hunks().len() {
            prop_assert!(rest.hunks().is_empty());
        }
    }

    #[test]
    fn normalising_a_text_is_no_edit(text in text().prop_filter("one form", |text| {
        matches!(Form::of(text).ending, LineEnding::CrLf | LineEnding::Lf)
    })) {
        let normal = text.strip_prefix(BOM).unwrap_or(&text).replace("\r\n", "\n");
        prop_assert!(normal.is_empty() || Review::of(&text, &normal).hunks().is_empty());
    }
}
