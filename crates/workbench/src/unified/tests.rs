use super::*;
use insta::assert_snapshot;

fn show(original: &str, proposed: &str) -> String {
    Review::of(original, proposed).unified("/p/a.txt", Some(original), proposed)
}

fn letters(text: &str) -> String {
    text.chars().flat_map(|letter| [letter, '\n']).collect()
}

#[test]
fn one_hunk_with_three_lines_around_it() {
    assert_snapshot!(show(&letters("abcdefghij"), &letters("abcdEfghij")), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -2,7 +2,7 @@ hunk 1
     b
     c
     d
    -e
    +E
     f
     g
     h
    ");
}

#[test]
fn close_hunks_share_the_lines_between_them() {
    assert_snapshot!(show(&letters("abcdefghij"), &letters("aBcDefghiJ")), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,3 +1,3 @@ hunk 1
     a
    -b
    +B
     c
    @@ -4,4 +4,4 @@ hunk 2
    -d
    +D
     e
     f
     g
    @@ -8,3 +8,3 @@ hunk 3
     h
     i
    -j
    +J
    ");
}

#[test]
fn lines_are_removed_at_the_start_and_added_at_the_end() {
    assert_snapshot!(show(&letters("abcdefghij"), &letters("bcdefghijk")), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,4 +1,3 @@ hunk 1
    -a
     b
     c
     d
    @@ -8,3 +7,4 @@ hunk 2
     h
     i
     j
    +k
    ");
}

#[test]
fn a_missing_newline_at_the_end_is_shown() {
    assert_snapshot!(show("a\nb", "a\nb\n"), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,2 +1,2 @@ hunk 1
     a
    -b
    \ No newline at end of file
    +b
    ");
    assert_snapshot!(show("x\na\nb", "y\na\nb"), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,3 +1,3 @@ hunk 1
    -x
    +y
     a
     b
    \ No newline at end of file
    ");
}

#[test]
fn a_new_file_has_no_old_name() {
    let new = |text: &str| Review::of("", text).unified("/p/new\n.txt", None, text);
    assert_snapshot!(new("a\nb\n"), @r"
    --- /dev/null
    +++ /p/new␊.txt
    @@ -0,0 +1,2 @@ hunk 1
    +a
    +b
    ");
    assert_snapshot!(new(""), @"new file, empty");
}

#[test]
fn an_emptied_file_keeps_its_name() {
    assert_snapshot!(show("a\nb\n", ""), @r"
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,2 +0,0 @@ hunk 1
    -a
    -b
    ");
}

#[test]
fn a_change_of_form_is_described_in_words() {
    assert_snapshot!(show("\u{feff}a\r\nb\r\nc\r\n", "a\nB\nc\n"), @r"
    line endings: CRLF → LF
    byte order mark: removed
    --- /p/a.txt
    +++ /p/a.txt
    @@ -1,3 +1,3 @@ hunk 1
     a
    -b
    +B
     c
    ");
    assert_snapshot!(show("a\r\n", "\u{feff}a\n"), @r"
    line endings: CRLF → LF
    byte order mark: added
    ");
    assert_eq!(
        show("a\nb\n", "a\nb\r\n"),
        "line endings: LF → mixed\n--- /p/a.txt\n+++ /p/a.txt\n@@ -1,2 +1,2 @@ hunk 1\n a\n-b\n+b\r\n",
    );
    assert_eq!(show("a\n", "a\n"), "");
}
