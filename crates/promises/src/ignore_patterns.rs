//! What is held back from agents is what Git would ignore, and nobody uncovers what somebody else
//! hides. A pattern means what it means in a `.gitignore`; a negated one takes back only patterns of
//! its own list; a list more, or a list that cannot be read, never shows more; and neither secrets nor
//! what is outside of the folders are ever shown.

use std::path::PathBuf;

use workbench::{PatternList, Place, Privacy, Reason, Scope, Visibility};

use crate::input::texts;

/// Takes a path below the folder, a list of patterns, and a second list of another origin.
pub fn check(data: &[u8]) {
    let mut texts = texts(data);
    let mut next = || texts.next().unwrap();
    let (path, first, second) = (next(), next(), next());
    let root = PathBuf::from("/w");
    let place = Place::direct(format!("/w/{path}"));
    let list = |text: &str| PatternList::from_ignore_file(&root, text);
    let judged = |lists: &[PatternList]| {
        let privacy = Privacy::new(std::slice::from_ref(&root), lists, &[]);
        (privacy.judge(&place), privacy.faults().len())
    };
    let everywhere = PatternList {
        source: "the configuration".into(),
        scope: Scope::Everywhere,
        ..list(&second)
    };

    let (without, _) = judged(&[]);
    let (alone, faults) = judged(&[list(&first)]);
    let (both, _) = judged(&[list(&first), everywhere.clone()]);
    let (swapped, _) = judged(&[everywhere.clone(), list(&first)]);
    let (other, _) = judged(&[everywhere]);
    assert_eq!(both, swapped, "the order of origins does not matter");
    let is_shown = |seen: Visibility| seen == Visibility::Shown;
    for (narrower, wider) in [(alone, without), (both, alone), (both, other)] {
        assert!(
            !is_shown(narrower) || is_shown(wider),
            "{narrower:?}, {wider:?}"
        );
    }
    if faults > 0 {
        assert!(!is_shown(alone), "what cannot be read closes the folder");
    }
    if without != Visibility::Shown {
        let worse = [without, Visibility::HeldBack(Reason::Ignored)];
        assert!(worse.contains(&alone), "{without:?}, {alone:?}");
    }

    // Where the meaning is beyond doubt, it is compared with the rules written down once more.
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| matches!(byte, b'a'..=b'e' | b'/' | b'.'))
    };
    let is_path = plain(&path) && path.split('/').all(|name| !matches!(name, "" | "." | ".."));
    if is_path && is_shown(without) && first.lines().all(is_understood) {
        let ignored = Visibility::HeldBack(Reason::Ignored);
        let expected = if git_ignores(&first, &path) {
            ignored
        } else {
            Visibility::Shown
        };
        assert_eq!(alone, expected, "{path:?} with {first:?}");
    }
}

/// Whether a line of an ignore file is of the forms that [`git_ignores`] knows.
fn is_understood(line: &str) -> bool {
    let pattern = line.strip_prefix('!').unwrap_or(line);
    let is_known = |byte| matches!(byte, b'a'..=b'e' | b'/' | b'.' | b'*' | b'?');
    // Two stars mean more than one only as a whole part, three of them nobody writes.
    let parts = pattern.split('/');
    let mut odd = parts.filter(|part| part.contains("**") && *part != "**");
    pattern.bytes().all(is_known) && !pattern.contains("//") && odd.next().is_none()
}

/// Whether Git ignores a file: the last pattern that matches it decides, but nothing below an ignored
/// folder is shown again.
fn git_ignores(patterns: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    (1..=names.len()).any(|count| {
        let is_folder = count < names.len();
        let decides = patterns.lines().rev().find_map(|line| {
            let (negated, pattern) = match line.strip_prefix('!') {
                Some(pattern) => (true, pattern),
                None => (false, line),
            };
            matches_git(pattern, &names[..count], is_folder).then_some(!negated)
        });
        decides == Some(true)
    })
}

fn matches_git(pattern: &str, names: &[&str], is_folder: bool) -> bool {
    let (pattern, only_folders) = match pattern.strip_suffix('/') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    if pattern.is_empty() || (only_folders && !is_folder) {
        return false;
    }
    let anchored = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let parts: Vec<&str> = pattern.split('/').collect();
    if anchored {
        matches_parts(&parts, names)
    } else {
        names
            .last()
            .is_some_and(|name| matches_name(parts[0].as_bytes(), name.as_bytes()))
    }
}

fn matches_parts(parts: &[&str], names: &[&str]) -> bool {
    match (parts, names) {
        ([], []) => true,
        // At the end it means everything inside; elsewhere any number of folders.
        (["**"], rest) => !rest.is_empty(),
        (["**", rest @ ..], _) => (0..=names.len()).any(|at| matches_parts(rest, &names[at..])),
        ([part, parts @ ..], [name, names @ ..]) => {
            matches_name(part.as_bytes(), name.as_bytes()) && matches_parts(parts, names)
        }
        _ => false,
    }
}

fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|at| matches_name(rest, &name[at..])),
        ([b'?', pattern @ ..], [_, name @ ..]) => matches_name(pattern, name),
        ([a, pattern @ ..], [b, name @ ..]) if a == b => matches_name(pattern, name),
        _ => false,
    }
}
