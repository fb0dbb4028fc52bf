use super::*;

/// Numbers that look random and are the same each time.
fn numbers(seed: u64, below: u64) -> impl Iterator<Item = u64> {
    let next = |state: &u64| {
        let next = state.wrapping_mul(6_364_136_223_846_793_005);
        Some(next.wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(seed), next)
        .skip(1)
        .map(move |state| (state >> 33) % below)
}

fn text<T: ToString>(lines: impl IntoIterator<Item = T>) -> String {
    let line = |line: T| line.to_string() + "\n";
    lines.into_iter().map(line).collect()
}

/// Compares on a small stack, checks the answer against the texts, and counts
/// the changes.
fn count(old: String, new: String) -> usize {
    let compare = move || {
        let changes = changes(&old, "\n", &new);
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let (mut old_at, mut new_at) = (0, 0);
        for (at, (before, after)) in changes.iter().enumerate() {
            assert!(at == 0 || (before.start > old_at && after.start > new_at));
            assert!(!before.is_empty() || !after.is_empty());
            assert_eq!(old[old_at..before.start], new[new_at..after.start]);
            (old_at, new_at) = (before.end, after.end);
        }
        assert_eq!(old[old_at..], new[new_at..]);
        changes.len()
    };
    // A thread for blocking work has twice as much.
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(compare).unwrap().join().unwrap()
}

#[test]
fn a_large_text_is_cut_into_pieces() {
    let lines = 3 * THOROUGH_LINES;
    let edited = |at: usize| {
        if at.is_multiple_of(1000) {
            at + lines
        } else {
            at
        }
    };
    assert_eq!(
        count(text(0..lines), text((0..lines).map(edited))),
        lines / 1000
    );
    // Every other line says nothing of its own.
    let noisy = |at: usize| if at.is_multiple_of(2) { 0 } else { at };
    let removed = (0..lines).filter(|at| at % 5000 != 1);
    assert_eq!(
        count(text((0..lines).map(noisy)), text(removed.map(noisy))),
        lines / 5000
    );
}

#[test]
fn the_longest_common_order_is_kept() {
    let cases: &[(&[usize], &[usize], &[usize])] = &[
        (&[], &[], &[]),
        (&[0, 1, 2], &[0, 1, 2], &[0, 1, 2]),
        (&[0, 1, 2], &[2, 0, 1], &[0, 1]),
        (&[0, 1, 0, 2], &[0, 1, 2], &[1, 2]),
        (&[0, 1, 2], &[0, 0, 2, 3], &[2]),
        (&[0, 1, 2, 3, 4], &[3, 4, 0, 1, 2], &[0, 1, 2]),
    ];
    for (old, new, expected) in cases {
        let anchors = anchors(old, new, 5);
        assert!(anchors.iter().all(|&(at, new_at)| old[at] == new[new_at]));
        let kept: Vec<_> = anchors.iter().map(|&(at, _)| old[at]).collect();
        assert_eq!(&kept, expected, "{old:?} {new:?}");
    }
}

#[test]
fn difficult_texts_are_compared_on_a_small_stack() {
    let random = |seed, below, lines| text(numbers(seed, below).take(lines));
    // As much as is still compared thoroughly, and more.
    for lines in [THOROUGH_LINES / 2, THOROUGH_LINES] {
        count(random(1, 1000, lines), random(2, 1000, lines));
    }
    let mut shuffled: Vec<_> = (0..THOROUGH_LINES).zip(numbers(1, u64::MAX)).collect();
    shuffled.sort_by_key(|&(_, number)| number);
    let shuffled = text(shuffled.into_iter().map(|(line, _)| line));
    assert!(count(text(0..THOROUGH_LINES), shuffled) > 1);
}

#[test]
fn what_nobody_can_read_is_one_change() {
    let old = "a\nb\n".repeat(MOST_LINES / 4);
    assert_eq!(count(old.clone(), format!("x\n{old}")), 1);
    assert_eq!(count(old, "b\na\nc\n".repeat(MOST_LINES / 4)), 1);
}
