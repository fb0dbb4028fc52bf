//! Every promise holds for the recorded cases, and for some variations of each.
//!
//! The variations are always the same, so that a failure can be seen again; looking for new ones is
//! what `cargo xtask fuzz` is for.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that meets something unexpected has to fail, and name the case"
)]

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

/// How many variations of its recorded cases each promise is tried with.
const VARIATIONS: usize = 1000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The recorded cases of a promise, by name.
fn recorded(promise: &str) -> Vec<(String, Vec<u8>)> {
    let folder = fs::read_dir(fuzz().join("corpus").join(promise)).unwrap();
    let mut cases: Vec<_> = folder
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{promise} has no recorded case");
    cases
}

/// Tries a case, and says which one it was if the promise does not hold.
fn try_case(promise: promises::Promise, what: &str, case: &[u8]) {
    let (name, check) = promise;
    if let Err(failure) = panic::catch_unwind(|| check(case)) {
        eprintln!("{name} does not hold for {what}: {}", case.escape_ascii());
        panic::resume_unwind(failure);
    }
}

/// A small generator of numbers, the same ones every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// A case made of two others: a piece of one put into the other, or a piece left out, or a byte
/// changed.
fn varied(a: &[u8], b: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut case = a.to_vec();
    for _ in 0..=numbers.below(3) {
        let from = numbers.below(case.len() + 1);
        let to = from + numbers.below((case.len() - from).min(40) + 1);
        match numbers.below(4) {
            0 => drop(case.drain(from..to)),
            1 => {
                let start = numbers.below(b.len() + 1);
                let end = start + numbers.below((b.len() - start).min(200) + 1);
                case.splice(from..to, b[start..end].iter().copied());
            }
            2 => {
                let again = case[from..to].to_vec();
                case.splice(to..to, again);
            }
            _ => {
                if let Some(byte) = case.get_mut(from) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
        }
    }
    case
}

fn holds(name: &str) {
    let promise = *promises::ALL.iter().find(|it| it.0 == name).unwrap();
    let cases = recorded(name);
    for (file, case) in &cases {
        try_case(promise, file, case);
    }
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for number in 0..VARIATIONS {
        let (_, a) = &cases[numbers.below(cases.len())];
        let (_, b) = &cases[numbers.below(cases.len())];
        let case = varied(a, b, &mut numbers);
        try_case(promise, &format!("variation {number}"), &case);
    }
}

/// One test for each promise, so that they run side by side and each failure has its name.
macro_rules! promises {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                holds(stringify!($name));
            }
        )*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

promises! {
    agent_messages
    configuration
    conversation
    daemon_events
    discovery_files
    editor_frames
    editor_session
    ignore_patterns
    journal
    live_buffer
    page_requests
    registry
    review
    skimmed_json
    text
    three_way
}

/// A promise that has no test here, no program or no corpus would be tried by nobody.
#[test]
fn every_promise_is_tried() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let listed = |place: &str| {
        let entries = fs::read_dir(fuzz().join(place)).unwrap();
        let names = entries.map(|entry| entry.unwrap().path());
        let mut names: Vec<_> = names
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let names: Vec<&str> = promises::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(TESTED, names);
    assert_eq!(listed("targets"), names);
    assert_eq!(listed("corpus"), names);
    assert_eq!(listed("dictionaries"), names);
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
    }
}
