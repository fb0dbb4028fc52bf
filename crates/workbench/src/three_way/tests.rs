use super::*;
use crate::text::same_but_for_form;
use proptest::prelude::*;

/// The merged text, with `<now|proposed>` for each place in conflict and without line ends.
fn merged(base: &str, present: &str, proposed: &str) -> String {
    let lines = |text: &str| text.replace(' ', "\n");
    let text = merge(&lines(base), &lines(present), &lines(proposed));
    let markers = Markers::foreign_to(&[]);
    let text = text
        .replace(&markers.line('<', PRESENT_LABEL), "<")
        .replace(&markers.line('=', ""), "|")
        .replace(&markers.line('>', PROPOSED_LABEL), ">");
    text.replace('\n', " ")
}

#[test]
fn both_changes_are_in_the_result_or_the_person_is_asked() {
    for (base, present, proposed, expected) in [
        // Nobody else has changed anything.
        ("a b c ", "a b c ", "a B c ", "a B c "),
        // Only somebody else has.
        ("a b c ", "a b c d ", "a b c ", "a b c d "),
        // In different places.
        ("a b c d e ", "A b c d e ", "a b c d E ", "A b c d E "),
        (
            "a b c d e ",
            "a b c d e f ",
            "x a b c d e ",
            "x a b c d e f ",
        ),
        ("a b c d e ", "a c d e ", "a b c d ", "a c d "),
        // Both the same.
        ("a b c ", "a B c ", "a B c ", "a B c "),
        ("a b c ", "a c ", "a c ", "a c "),
        ("a b ", "a x b ", "a x b ", "a x b "),
        // The same lines differently.
        ("a b c ", "a X c ", "a Y c ", "a < X | Y > c "),
        ("a b c ", "a c ", "a Y c ", "a < | Y > c "),
        ("a b ", "a x b ", "a y b ", "a < x | y > b "),
        // What both have changed in the same way is no part of the conflict.
        (
            "a b c d e ",
            "a B x D e ",
            "a B y D e ",
            "a B < x | y > D e ",
        ),
        // Lines next to each other: too close to be sure.
        ("a b c d ", "a B c d ", "a b C d ", "a < B c | b C > d "),
        // A new file that exists by now.
        ("", "x ", "y ", "< x | y > "),
        ("", "x ", "x ", "x "),
        // One long place grows from both sides.
        (
            "a b c d e f ",
            "a B c D e f ",
            "a b C d E f ",
            "a < B c D e | b C d E > f ",
        ),
    ] {
        let result = merged(base, present, proposed);
        assert_eq!(result, expected, "{base:?} {present:?} {proposed:?}");
    }
}

#[test]
fn the_result_is_in_the_form_of_the_proposal() {
    for (base, present, proposed, expected) in [
        // The agent has brought the text into its normal form.
        (
            "a\r\nb\r\nc\r\n",
            "A\r\nb\r\nc\r\n",
            "a\nb\nC\n",
            "A\nb\nC\n",
        ),
        (
            "\u{feff}a\nb\nc\n",
            "\u{feff}A\nb\nc\n",
            "a\nb\nC\n",
            "A\nb\nC\n",
        ),
        // The person has changed all line endings.
        (
            "a\r\nb\r\nc\r\n",
            "A\nb\nc\n",
            "a\r\nb\r\nC\r\n",
            "A\r\nb\r\nC\r\n",
        ),
        ("a\nb\nc\n", "A\r\nb\r\nc\r\n", "a\nb\nC\n", "A\nb\nC\n"),
        // The last line has no end.
        ("a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"),
        ("a\nb\nc", "a\nb\nc\nd", "A\nb\nc", "A\nb\nc\nd"),
    ] {
        let text = merge(base, present, proposed);
        assert_eq!(text, expected, "{base:?} {present:?} {proposed:?}");
        assert_eq!(count_marked(&text, &[]), 0);
    }
}

#[test]
fn lines_without_an_end_do_not_run_into_markers() {
    let text = merge("a", "b", "c");
    let expected = "<<<<<<< in the file now\nb\n=======\nc\n>>>>>>> proposed\n";
    assert_eq!(text, expected);
    assert_eq!(count_marked(&text, &[]), 1);
}

#[test]
fn markers_differ_from_the_lines_of_the_texts() {
    let base = "<<<<<<< in the file now\na\n=======\n>>>>>>>> proposed\n";
    let proposed = base.replace('a', "c");
    let text = merge(base, &base.replace('a', "b"), &proposed);
    assert_eq!(count_marked(base, &[]), 1);
    assert_eq!(count_marked(&text, &[]), 2);
    assert!(text.contains("\n<<<<<<<<< in the file now\nb\n"), "{text}");
}

/// A byte order mark is no part of the first line, which may look like a marker.
#[test]
fn markers_differ_from_a_first_line_after_a_byte_order_mark() {
    let present = "\u{feff}<<<<<<< in the file now\nb\n";
    let text = merge("a\n", present, "c\n");
    assert!(text.starts_with("<<<<<<<< in the file now\n"), "{text}");
    assert_eq!(count_marked(&text, &["a\n", present, "c\n"]), 1);
    assert_eq!(count_marked(present, &[present]), 0);
}

/// The texts have lines like markers, which the merge removes, and the one that is there then is its
/// own.
#[test]
fn a_conflict_counts_also_where_the_texts_had_lines_like_markers() {
    let base = "<<<<<<< in the file now\na\n=======\n>>>>>>> proposed\n";
    let (present, proposed) = ("b\n", "c\n");
    let text = merge(base, present, proposed);
    assert_eq!(count_marked(&text, &[]), 1);
    assert_eq!(count_marked(&text, &[base, present, proposed]), 1);
    assert_eq!(count_marked(base, &[base, present, proposed]), 0);
    let twice = format!("{base}{base}");
    assert_eq!(count_marked(&twice, &[base]), 1);
}

#[test]
fn a_marker_that_is_left_over_counts() {
    for (text, count) in [
        ("", 0),
        ("a\n<<<<<<< in the file now\n", 1),
        ("a\n>>>>>>> proposed", 1),
        (
            "<<<<<<< in the file now\r\n>>>>>>> proposed\r\n<<<<<<<< in the file now\n",
            2,
        ),
        ("<<<<<<< HEAD\n>>>>>>> branch\n", 0),
        ("<<<<<< in the file now\n", 0),
        ("=======\n", 0),
        ("<<<<<<<<\n", 0),
        ("<<<<<<<x\n", 0),
        (" <<<<<<< in the file now\n", 0),
    ] {
        assert_eq!(count_marked(text, &[]), count, "{text:?}");
    }
}

/// A text of few different lines, and edits that replace, insert and remove some.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-e]{1,2}", 0..14).prop_map(|lines| lines.join("\n"))
}

/// The base with some of its lines replaced by lines that no other text has.
fn edited(base: &str, at: &[usize], mark: &str) -> String {
    let lines = base.split_inclusive('\n').enumerate();
    lines
        .map(|(number, line)| {
            if at.contains(&number) {
                format!("{mark}{number}{}", &line[line.trim_end().len()..])
            } else {
                line.to_owned()
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn a_text_that_nobody_has_changed_gives_the_proposal(base in text(), proposed in text()) {
        let merged = merge(&base, &base, &proposed);
        prop_assert_eq!(merged, proposed);
    }

    #[test]
    fn a_proposal_that_changes_nothing_gives_the_present_text(base in text(), present in text()) {
        let merged = merge(&base, &present, &base);
        prop_assert!(same_but_for_form(&merged, &present));
    }

    #[test]
    fn the_same_change_twice_is_one_change(base in text(), both in text()) {
        let merged = merge(&base, &both, &both);
        prop_assert_eq!(count_marked(&merged, &[]), 0);
        prop_assert_eq!(merged, both);
    }

    /// Every line that either side has put in is in the result. Where the result has no conflict,
    /// none of the lines that either side has replaced is left.
    #[test]
    fn nothing_that_anybody_wrote_is_missing(
        lines in 1usize..30,
        ours in prop::collection::vec(0usize..30, 0..6),
        theirs in prop::collection::vec(0usize..30, 0..6),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let base: Vec<_> = (0..lines).map(|line| format!("line {line}{ending}")).collect();
        let base = base.concat();
        let present = edited(&base, &ours, "mine ");
        let proposed = edited(&base, &theirs, "yours ");
        let text = merge(&base, &present, &proposed);
        let has = |wanted: &str| text.lines().any(|line| line == wanted);
        for line in 0..lines {
            if ours.contains(&line) {
                let mine = format!("mine {line}");
                prop_assert!(has(&mine), "{text}");
            }
            if theirs.contains(&line) {
                let yours = format!("yours {line}");
                prop_assert!(has(&yours), "{text}");
            }
            if (ours.contains(&line) || theirs.contains(&line)) && count_marked(&text, &[]) == 0 {
                let replaced = format!("line {line}");
                prop_assert!(!has(&replaced), "{text}");
            }
        }
        let asked = ours.iter().any(|mine| {
            let near = |yours: &usize| mine.abs_diff(*yours) <= 1 && *mine < lines && *yours < lines;
            theirs.iter().any(near)
        });
        prop_assert_eq!(count_marked(&text, &[]) > 0, asked, "{}", text);
    }

    #[test]
    fn no_three_texts_are_too_strange(base: String, present: String, proposed: String) {
        let _ = merge(&base, &present, &proposed);
    }
}
