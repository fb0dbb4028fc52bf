use super::*;
use crate::PatternList;
use crate::focus_order::MOST_DOCUMENTS;
use std::sync::LazyLock;

mod model;

const ROOT: &str = "/r";

fn privacy(ignore_file: &str) -> Privacy {
    let ignore_file = PatternList::from_ignore_file(Path::new(ROOT), ignore_file);
    Privacy::new(&[ROOT.into()], &[ignore_file], &[])
}

/// The editor, where there is only one.
const ME: Holder = Holder::editor(1);

fn workbench() -> Workbench {
    static PRIVACY: LazyLock<Privacy> = LazyLock::new(|| privacy("*.log"));
    Workbench::new(vec![ROOT.into()], PRIVACY.clone())
}

fn look(path: &str, line: u32, selection: &str) -> Focus {
    Focus {
        place: Place::direct(path),
        cursor: (line > 0).then(|| Cursor::new(line, 1)),
        selection: (!selection.is_empty()).then(|| selection.to_owned()),
    }
}

/// A context in one line: `path@time`, and for the active file `:line "selection"`.
fn context_of(workbench: &Workbench) -> String {
    let context = workbench.context(|path| !path.to_string_lossy().contains("gone"));
    let file = |file: &OpenFile| {
        let name = format!("{}@{}", file.path.display(), file.focused_at);
        let Some(active) = &file.active else {
            return name;
        };
        let line = active.cursor.map_or(0, |cursor| cursor.line);
        match &active.selection {
            Some(selection) => format!("{name}:{line} {selection:?}"),
            None => format!("{name}:{line}"),
        }
    };
    context
        .files
        .iter()
        .map(file)
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn the_newest_focus_comes_first_and_is_active() {
    let mut bench = workbench();
    assert_eq!(context_of(&bench), "");
    bench.focus(ME, look("/r/a", 3, "x"), 100);
    assert_eq!(context_of(&bench), r#"/r/a@100:3 "x""#);
    bench.focus(ME, look("/r/b", 0, ""), 200);
    assert_eq!(context_of(&bench), "/r/b@200:0, /r/a@100");
    // A clock that stands still or goes back does not mix up the order.
    bench.focus(ME, look("/r/a", 4, ""), 200);
    assert_eq!(context_of(&bench), "/r/a@201:4, /r/b@200");
    bench.focus(ME, look("/r/c", 1, ""), 5);
    assert_eq!(context_of(&bench), "/r/c@202:1, /r/a@201, /r/b@200");
}

#[test]
fn moving_about_in_the_active_file_keeps_its_time() {
    let mut bench = workbench();
    bench.focus(ME, look("/r/a", 3, "x"), 100);
    let before = bench.context(|_| true);
    bench.focus(ME, look("/r/a", 3, "x"), 900);
    assert_eq!(bench.context(|_| true), before);
    bench.focus(ME, look("/r/a", 4, ""), 950);
    assert_eq!(context_of(&bench), "/r/a@100:4");
}

#[test]
fn touching_a_document_keeps_the_selection_only_where_the_person_was() {
    let at = |line| Some(Cursor::new(line, 1));
    let cases = [
        ("/r/a", None, false, "/r/a@100:3 \"x\""),
        ("/r/a", at(3), false, "/r/a@100:3 \"x\""),
        ("/r/a", at(4), true, "/r/a@100:4"),
        ("/r/b", None, true, "/r/b@900:0, /r/a@100"),
        ("/r/b", at(3), true, "/r/b@900:3, /r/a@100"),
    ];
    for (path, cursor, moved, expected) in cases {
        let mut bench = workbench();
        bench.focus(ME, look("/r/a", 3, "x"), 100);
        let touched = bench.touch(ME, Place::direct(path), cursor, 900);
        assert_eq!(touched, moved, "{path} {cursor:?}");
        assert_eq!(context_of(&bench), expected, "{path} {cursor:?}");
    }
    // A document that was only opened has never been touched.
    let mut bench = workbench();
    bench.open(ME, Place::direct("/r/a"), 100);
    assert!(bench.touch(ME, Place::direct("/r/a"), None, 900));
    assert_eq!(context_of(&bench), "/r/a@900:0");
}

#[test]
fn an_opened_document_goes_below_the_focused_one() {
    let mut bench = workbench();
    bench.open(ME, Place::direct("/r/a"), 10);
    bench.open(ME, Place::direct("/r/b"), 10);
    assert_eq!(context_of(&bench), "/r/b@11, /r/a@10");
    bench.focus(ME, look("/r/a", 1, ""), 12);
    bench.open(ME, Place::direct("/r/c"), 50);
    bench.open(ME, Place::direct("/r/d"), 60);
    assert_eq!(context_of(&bench), "/r/a@12:1, /r/d@11, /r/c@11, /r/b@11");
    // Opening again what is open changes nothing.
    bench.open(ME, Place::direct("/r/b"), 70);
    bench.open(ME, Place::direct("/r/a"), 80);
    assert_eq!(context_of(&bench), "/r/a@12:1, /r/d@11, /r/c@11, /r/b@11");
}

#[test]
fn closing_brings_back_the_one_before() {
    let mut bench = workbench();
    bench.focus(ME, look("/r/a", 7, "x"), 1);
    bench.focus(ME, look("/r/b", 1, "y"), 2);
    bench.close(ME, Path::new("/r/b"));
    // Its cursor is still there; what was selected then is not.
    assert_eq!(context_of(&bench), "/r/a@1:7");
    bench.focus(ME, look("/r/b", 1, "y"), 3);
    bench.open(ME, Place::direct("/r/c"), 4);
    bench.close(ME, Path::new("/r/b"));
    // Nobody has looked at this one yet.
    assert_eq!(context_of(&bench), "/r/c@2, /r/a@1");
    bench.close(ME, Path::new("/r/unknown"));
    assert_eq!(context_of(&bench), "/r/c@2, /r/a@1");
}

#[test]
fn a_held_back_document_is_not_replaced_by_an_older_file() {
    for hidden in ["/r/.env", "/r/a.log", "/o/x", "/r/gone"] {
        let mut bench = workbench();
        bench.focus(ME, look("/r/a", 7, "x"), 1);
        bench.focus(ME, look(hidden, 1, "y"), 2);
        assert_eq!(context_of(&bench), "/r/a@1", "{hidden}");
        bench.close(ME, Path::new(hidden));
        assert_eq!(context_of(&bench), "/r/a@1:7", "{hidden}");
    }
}

#[test]
fn renaming_keeps_time_cursor_and_selection() {
    let mut bench = workbench();
    bench.focus(ME, look("/r/d/a", 1, ""), 1);
    bench.focus(ME, look("/r/dx", 1, ""), 2);
    bench.focus(ME, look("/r/d/sub/b", 5, "x"), 3);
    bench.rename(Path::new("/r/d"), Place::direct("/r/e"));
    assert_eq!(
        context_of(&bench),
        r#"/r/e/sub/b@3:5 "x", /r/dx@2, /r/e/a@1"#
    );
    bench.rename(Path::new("/r/e/a"), Place::direct("/r/dx"));
    assert_eq!(context_of(&bench), r#"/r/e/sub/b@3:5 "x", /r/dx@1"#);
    // Into itself, onto itself, and something nobody knows.
    bench.rename(Path::new("/r/e"), Place::direct("/r/e/sub"));
    bench.rename(Path::new("/r/dx"), Place::direct("/r/dx"));
    bench.rename(Path::new("/r/nobody"), Place::direct("/r/somebody"));
    assert_eq!(context_of(&bench), r#"/r/e/sub/sub/b@3:5 "x", /r/dx@1"#);
    // A new name is judged anew.
    bench.rename(Path::new("/r/e/sub/sub/b"), Place::direct("/r/b.log"));
    assert_eq!(context_of(&bench), "/r/dx@1");
    bench.rename(Path::new("/r/b.log"), Place::direct("/r/b"));
    assert_eq!(context_of(&bench), r#"/r/b@3:5 "x", /r/dx@1"#);
}

#[test]
fn a_renamed_folder_takes_its_links_along() {
    let mut bench = workbench();
    let open = |bench: &mut Workbench, path: &str, real: &str| {
        let (path, real) = (path.into(), real.into());
        bench.open(ME, Place { path, real }, 1);
    };
    open(&mut bench, "/r/d/plain", "/r/d/plain");
    open(&mut bench, "/r/d/inner", "/r/d/target");
    open(&mut bench, "/r/d/outer", "/r/other");
    bench.rename(
        Path::new("/r/d"),
        Place {
            path: "/r/e".into(),
            real: "/r/real-e".into(),
        },
    );
    let names: Vec<_> = bench
        .documents()
        .map(|document| {
            format!(
                "{} {}",
                document.path().display(),
                document.real().display()
            )
        })
        .collect();
    let expected = [
        "/r/e/outer /r/other",
        "/r/e/inner /r/real-e/target",
        "/r/e/plain /r/real-e/plain",
    ];
    assert_eq!(names, expected);
}

#[test]
fn deleting_a_folder_forgets_what_is_in_it() {
    let mut bench = workbench();
    for (now, path) in (1..).zip(["/r/d.txt", "/r/d/a", "/r/d/sub/b", "/r/dd", "/r/d-e/f"]) {
        bench.focus(ME, look(path, 1, ""), now);
    }
    bench.delete(Path::new("/r/d"));
    assert_eq!(context_of(&bench), "/r/d-e/f@5:1, /r/dd@4, /r/d.txt@1");
    bench.delete(Path::new("/r/dd"));
    assert_eq!(context_of(&bench), "/r/d-e/f@5:1, /r/d.txt@1");
}

#[test]
fn new_rules_and_folders_judge_all_again() {
    let mut bench = workbench();
    for (now, path) in (1..).zip(["/r/a", "/r/b.log", "/s/c", "/r/.env"]) {
        bench.focus(ME, look(path, 1, ""), now);
    }
    let counts = |bench: &Workbench| {
        let held = bench.held_back();
        (held.secret, held.ignored, held.outside, held.total())
    };
    assert_eq!(
        (context_of(&bench).as_str(), counts(&bench)),
        ("/r/a@1", (1, 1, 1, 3))
    );
    bench.set_privacy(privacy("a"));
    assert_eq!(
        (context_of(&bench).as_str(), counts(&bench)),
        ("/r/b.log@2", (1, 1, 1, 3))
    );
    // A new folder stays in the dark until the rules know it, too.
    bench.set_roots(vec!["/r".into(), "/s".into()]);
    assert_eq!(context_of(&bench), "/r/b.log@2");
    bench.set_privacy(Privacy::new(bench.roots(), &[], &[]));
    assert_eq!(context_of(&bench), "/s/c@3, /r/b.log@2, /r/a@1");
    // A folder that is gone does not.
    bench.set_roots(vec!["/s".into()]);
    assert_eq!(
        (context_of(&bench).as_str(), counts(&bench)),
        ("/s/c@3", (1, 0, 2, 3))
    );
}

#[test]
fn a_link_that_leads_elsewhere_now_is_judged_again() {
    let mut bench = workbench();
    bench.focus(ME, look("/r/a", 1, ""), 1);
    let secret = |place: &mut Place| place.real = "/r/.env".into();
    let mut focus = look("/r/a", 1, "");
    secret(&mut focus.place);
    bench.focus(ME, focus, 2);
    assert_eq!(context_of(&bench), "");
    bench.open(ME, Place::direct("/r/a"), 3);
    assert_eq!(context_of(&bench), "/r/a@1:1");
}

#[test]
fn a_selection_is_cut_and_never_empty() {
    let mut bench = workbench();
    let selected = |bench: &Workbench| {
        let active = bench.context(|_| true).files[0].active.clone().unwrap();
        active.selection
    };
    let smileys = "😀".repeat(Active::SELECTION_UNITS);
    bench.focus(ME, look("/r/a", 1, &format!("x{smileys}")), 1);
    let units = selected(&bench).unwrap().encode_utf16().count();
    assert_eq!(units, Active::SELECTION_UNITS - 1);
    let empty = Some(String::new());
    let focus = look("/r/a", 1, "");
    bench.focus(
        ME,
        Focus {
            selection: empty,
            ..focus
        },
        2,
    );
    assert_eq!(selected(&bench), None);
}

#[test]
fn a_document_is_open_while_an_editor_has_it_open() {
    const OTHER: Holder = Holder::editor(2);
    type Step = fn(&mut Workbench);
    let steps: [(Step, &str); 9] = [
        (
            |bench| bench.focus(ME, look("/r/a", 3, "x"), 1),
            "/r/a@1:3 \"x\"",
        ),
        // The other one has it open as well, and says nothing about where the person is.
        (
            |bench| bench.open(OTHER, Place::direct("/r/a"), 2),
            "/r/a@1:3 \"x\"",
        ),
        (
            |bench| bench.open(OTHER, Place::direct("/r/b"), 2),
            "/r/a@1:3 \"x\", /r/b@0",
        ),
        // Nothing is selected in what its editor has closed.
        (
            |bench| bench.close(ME, Path::new("/r/a")),
            "/r/a@1:3, /r/b@0",
        ),
        // Whoever reports last is where the person is.
        (
            |bench| assert!(bench.touch(OTHER, Place::direct("/r/a"), None, 9)),
            "/r/a@1:0, /r/b@0",
        ),
        (
            |bench| bench.focus(ME, look("/r/b", 2, "y"), 10),
            "/r/b@10:2 \"y\", /r/a@1",
        ),
        (|bench| bench.leave(ME), "/r/b@10:2, /r/a@1"),
        (|bench| bench.close(OTHER, Path::new("/r/b")), "/r/a@1:0"),
        (|bench| bench.leave(OTHER), ""),
    ];
    let mut bench = workbench();
    for (at, (step, expected)) in steps.into_iter().enumerate() {
        step(&mut bench);
        assert_eq!(context_of(&bench), expected, "step {at}");
    }
}

#[test]
fn a_folder_is_trusted_if_all_editors_that_say_something_trust_it() {
    let (one, two) = (Holder::editor(1), Holder::editor(2));
    let (yes, no) = (Some(true), Some(false));
    for (first, second, together, alone) in [
        (None, None, None, None),
        (yes, None, yes, None),
        (None, no, no, no),
        (yes, yes, yes, yes),
        (yes, no, no, no),
        (no, yes, no, yes),
    ] {
        let mut bench = workbench();
        bench.set_trust(one, first);
        bench.set_trust(two, second);
        assert_eq!(bench.context(|_| true).trusted, together);
        bench.leave(one);
        assert_eq!(bench.context(|_| true).trusted, alone);
    }
}

#[test]
fn trust_is_part_of_the_context() {
    let mut bench = workbench();
    for trusted in [None, Some(false), Some(true), None] {
        bench.set_trust(ME, trusted);
        assert_eq!(bench.context(|_| true).trusted, trusted);
    }
}

#[test]
fn a_context_asks_for_ten_files_and_no_more() {
    let mut bench = workbench();
    for at in 0..50 {
        bench.focus(ME, look(&format!("/r/{at}"), 1, ""), at);
    }
    let mut asked = 0;
    let context = bench.context(|_| {
        asked += 1;
        true
    });
    assert_eq!((context.files.len(), asked), (10, 10));
}

#[test]
fn the_oldest_documents_are_forgotten() {
    let mut bench = workbench();
    let count = MOST_DOCUMENTS as u64 + 100;
    for at in 0..count {
        bench.focus(ME, look(&format!("/r/{at}"), 1, ""), at);
    }
    assert_eq!(bench.documents().count(), MOST_DOCUMENTS);
    assert_eq!(
        bench.documents().last().unwrap().path(),
        Path::new("/r/100")
    );
    bench.focus(
        ME,
        look(&format!("/r/{}", "x".repeat(LONGEST_PATH)), 1, ""),
        count,
    );
    assert_eq!(
        bench.documents().next().unwrap().path(),
        Path::new("/r/16483")
    );
}

#[test]
fn what_is_held_back_is_named_and_each_change_is_counted() {
    type Step = fn(&mut Workbench);
    let mut bench = workbench();
    let named = |bench: &Workbench| {
        let held = bench.held_back_files();
        held.map(|(path, why)| format!("{} {why:?}", path.display()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut before = bench.held_back_changes();
    let mut changed = |bench: &Workbench| {
        let now = bench.held_back_changes();
        std::mem::replace(&mut before, now) != now
    };
    let steps: [(Step, bool, &str); 11] = [
        (|bench| bench.focus(ME, look("/r/a", 1, ""), 1), false, ""),
        (
            |bench| bench.open(ME, Place::direct("/r/.env"), 2),
            true,
            "/r/.env Secret",
        ),
        (
            |bench| bench.focus(ME, look("/r/a", 2, "x"), 3),
            false,
            "/r/.env Secret",
        ),
        (
            |bench| bench.focus(ME, look("/r/b.log", 1, ""), 4),
            true,
            "/r/b.log Ignored, /r/.env Secret",
        ),
        (
            |bench| bench.set_privacy(privacy("")),
            true,
            "/r/.env Secret",
        ),
        (|bench| bench.close(ME, Path::new("/r/.env")), true, ""),
        (|bench| bench.close(ME, Path::new("/r/a")), false, ""),
        (|bench| bench.close(ME, Path::new("/r/b.log")), false, ""),
        (|bench| bench.set_privacy(privacy("[z-a]")), false, ""),
        (
            |bench| bench.focus(ME, look("/r/a", 1, "x"), 5),
            true,
            "/r/a Closed",
        ),
        (|bench| bench.set_privacy(privacy("")), true, ""),
    ];
    for (at, (step, expected, held)) in steps.into_iter().enumerate() {
        step(&mut bench);
        assert_eq!(
            (changed(&bench), named(&bench).as_str()),
            (expected, held),
            "step {at}"
        );
    }
}
