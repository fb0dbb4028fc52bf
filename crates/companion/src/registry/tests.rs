//! Who is alive, who serves what, and what becomes of the dead.

use std::time::SystemTime;

use super::*;

fn record(roots: &[&str], started_at: u64) -> Record {
    Record {
        pid: 1,
        port: 7,
        roots: roots.iter().map(PathBuf::from).collect(),
        started_for: roots.iter().map(PathBuf::from).collect(),
        editor_settings: None,
        ending: false,
        returns: false,
        editor: "none".into(),
        version: "0".into(),
        started_at,
        tokens: Vec::new(),
        secret: Token::random().unwrap(),
        page: Token::random().unwrap(),
        files: Vec::new(),
        former_tokens: Vec::new(),
        guests: BTreeMap::new(),
    }
}

fn start(registry: &Registry, roots: &[&str], at: u64) -> (Slot, Option<Previous>) {
    let record = record(roots, at);
    let (slot, previous) = registry.claim(&record.roots).unwrap();
    slot.record(&record).unwrap();
    (slot, previous)
}

/// The companions that one has to clean up after, by when they were started.
fn abandoned(registry: &Registry) -> Vec<u64> {
    let mut found = Vec::new();
    registry.clear_abandoned(|record| found.push(record.started_at));
    found
}

/// Makes a file as old as if it had been written that long ago; with a negative number, as if the
/// clock had been put back since.
fn age(path: &Path, days: i64) {
    let by = Duration::from_hours(24 * days.unsigned_abs());
    let now = SystemTime::now();
    let then = if days < 0 { now + by } else { now - by };
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}

#[test]
fn a_companion_is_alive_for_as_long_as_it_holds_its_slot() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, previous) = start(&registry, &["/w"], 1);
    assert!(previous.is_none());
    assert_eq!(registry.running().len(), 1);
    assert!(abandoned(&registry).is_empty());
    drop(slot);
    assert!(registry.running().is_empty());
    assert_eq!(abandoned(&registry), [1]);
}

#[test]
fn the_next_one_for_the_same_roots_takes_over_and_two_at_once_do_not_fight() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (first, _) = start(&registry, &["/w"], 1);
    let (second, previous) = start(&registry, &["/w"], 2);
    assert!(previous.is_none());
    assert_eq!(registry.running().len(), 2);
    drop((first, second));
    let (_third, previous) = start(&registry, &["/w"], 3);
    assert!(previous.is_some());
    let (_other, previous) = start(&registry, &["/v"], 4);
    assert!(previous.is_none());
}

#[test]
fn a_folder_is_served_by_the_closest_root_then_by_the_youngest() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let _slots = [
        start(&registry, &["/w"], 1),
        start(&registry, &["/w/deep"], 2),
        start(&registry, &["/w"], 3),
    ];
    let serving = |folder: &str| {
        registry
            .serving(Path::new(folder))
            .map(|record| record.started_at)
    };
    assert_eq!(serving("/w/x"), Some(3));
    assert_eq!(serving("/w/deep/x"), Some(2));
    assert_eq!(serving("/w/deeper"), Some(3));
    assert_eq!(serving("/elsewhere"), None);
}

#[test]
fn a_companion_covers_folders_if_each_lies_below_one_of_its_roots() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let _slots = [
        start(&registry, &["/w", "/v"], 1),
        start(&registry, &["/w/deep"], 2),
    ];
    for (folders, covering) in [
        (&["/w"][..], &[1][..]),
        (&["/w/deep/x"], &[1, 2]),
        (&["/w/deep", "/v/x"], &[1]),
        (&["/v", "/elsewhere"], &[]),
        (&["/wx"], &[]),
    ] {
        let asked: Vec<_> = folders.iter().map(PathBuf::from).collect();
        let found = registry.covering(&asked);
        let found: Vec<_> = found.iter().map(|record| record.started_at).collect();
        assert_eq!(found, covering, "{folders:?}");
    }
}

#[test]
fn folders_that_editors_brought_do_not_hide_a_slot_from_the_next_run() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = start(&registry, &["/w"], 1);
    let mut grown = record(&["/w"], 2);
    grown.roots.push("/w/sub".into());
    slot.record(&grown).unwrap();
    let folder = slot.folder().to_owned();
    drop(slot);
    for roots in [vec!["/w"], vec!["/w", "/w/sub"]] {
        let roots: Vec<_> = roots.into_iter().map(PathBuf::from).collect();
        let (slot, previous) = registry.claim(&roots).unwrap();
        assert_eq!((slot.folder(), previous.is_some()), (&*folder, true));
    }
}

#[test]
fn one_that_is_about_to_end_serves_nobody_and_its_slot_is_waited_for() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = start(&registry, &["/w"], 1);
    let ending = Record {
        ending: true,
        ..record(&["/w"], 1)
    };
    slot.record(&ending).unwrap();
    assert!(registry.serving(Path::new("/w")).is_none());
    let folder = slot.folder().to_owned();
    let next = std::thread::spawn({
        let registry = registry.clone();
        move || registry.claim(&["/w".into()]).unwrap()
    });
    drop(slot);
    let (slot, previous) = next.join().unwrap();
    assert_eq!((slot.folder(), previous.is_some()), (&*folder, true));
}

#[test]
fn of_those_who_start_at_once_one_finds_nobody_and_the_others_find_it() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let roots = [PathBuf::from("/w")];
    let starts: Vec<_> = (0..8)
        .map(|at| {
            let (registry, roots) = (registry.clone(), roots.clone());
            std::thread::spawn(move || {
                let _turn = registry.turn().unwrap();
                registry
                    .covering(&roots)
                    .pop()
                    .is_none()
                    .then(|| start(&registry, &["/w"], at))
            })
        })
        .collect();
    let started: Vec<_> = starts
        .into_iter()
        .filter_map(|it| it.join().unwrap())
        .collect();
    assert_eq!(started.len(), 1);
}

#[cfg(unix)]
#[test]
fn secrets_are_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt;

    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = start(&registry, &["/w"], 1);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(slot.folder()), 0o700);
    assert_eq!(mode(&slot.folder().join(RECORD)), 0o600);
}

#[test]
fn one_that_ran_for_weeks_is_found_by_the_next_run() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = start(&registry, &["/w"], 1);
    let folder = slot.folder().to_owned();
    for name in [RECORD, LOCK] {
        age(&folder.join(name), 30);
    }
    drop(slot);
    // Another companion starts first, and more than once.
    for _ in 0..3 {
        assert_eq!(abandoned(&registry), [1]);
    }
    let (slot, previous) = start(&registry, &["/w"], 2);
    assert_eq!((slot.folder(), previous.is_some()), (&*folder, true));
    assert!(!folder.join(ABANDONED).exists(), "somebody came back");
}

#[test]
fn what_nobody_comes_back_for_is_cleaned_up_before_it_is_removed() {
    for (days, stays) in [(0, true), (6, true), (8, false), (-400, true)] {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (slot, _) = start(&registry, &["/w"], 1);
        let folder = slot.folder().to_owned();
        drop(slot);
        assert_eq!(abandoned(&registry), [1]);
        age(&folder.join(ABANDONED), days);
        assert_eq!(abandoned(&registry), [1], "{days}: its files are removed");
        assert_eq!(folder.exists(), stays, "{days}");
        if days < 0 {
            // A clock that was wrong does not keep it for ever.
            age(&folder.join(ABANDONED), 8);
            assert_eq!(abandoned(&registry), [1]);
            assert!(!folder.exists());
        }
    }
}

#[test]
fn a_folder_without_a_record_is_removed_as_well() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = registry.claim(&["/w".into()]).unwrap();
    let folder = slot.folder().to_owned();
    drop(slot);
    assert!(abandoned(&registry).is_empty());
    age(&folder.join(ABANDONED), 8);
    assert!(abandoned(&registry).is_empty());
    assert!(!folder.exists());
}

#[test]
fn the_next_run_knows_for_how_long_there_was_no_sign_of_life() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let hours = |previous: &Option<Previous>| {
        let silence = previous.as_ref().unwrap().silence.unwrap();
        silence.as_secs() / 3600
    };
    let (slot, _) = start(&registry, &["/w"], 1);
    let folder = slot.folder().to_owned();
    let (beating, beaten) = (folder.join(LOCK), folder.join(RECORD));
    age(&beaten, 3);
    age(&beating, 3);
    drop(slot);
    // Whoever looks for the dead gives no sign in their name.
    abandoned(&registry);
    let (slot, previous) = registry.claim(&["/w".into()]).unwrap();
    assert_eq!(hours(&previous), 72);
    slot.beat();
    drop(slot);
    let (slot, previous) = registry.claim(&["/w".into()]).unwrap();
    assert_eq!(hours(&previous), 0);
    // The clock was put back: what was written before that is of a day to come.
    age(&beaten, -2);
    drop(slot);
    let (_slot, previous) = registry.claim(&["/w".into()]).unwrap();
    assert_eq!(hours(&previous), 0);
}

#[test]
fn the_program_that_a_process_becomes_goes_on_with_its_slot() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (slot, _) = start(&registry, &["/w"], 1);
    let _other = start(&registry, &["/w"], 2);
    let folder = slot.folder().to_owned();
    let lock = slot.into_lock();
    assert_eq!(registry.running().len(), 2, "it is held all the time");
    let (slot, previous) = registry.resume(lock).unwrap();
    assert_eq!(slot.folder(), folder);
    assert_eq!(previous.record.started_at, 1);
    // A lock that is no longer in its place is nobody's.
    let lock = slot.into_lock();
    std::fs::remove_file(folder.join(LOCK)).unwrap();
    assert!(registry.resume(lock).is_none());
}

#[cfg(unix)]
#[test]
fn a_slot_that_somebody_deletes_is_made_again() {
    type Delete = fn(&Path, &Path);
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (mut slot, _) = start(&registry, &["/w"], 1);
    let folder = slot.folder().to_owned();
    let table: [(&str, Delete); 3] = [
        ("everything", |state, _| {
            std::fs::remove_dir_all(state.join("outrigger")).unwrap();
        }),
        ("the lock", |_, folder| {
            std::fs::remove_file(folder.join(LOCK)).unwrap();
        }),
        ("the record", |_, folder| {
            std::fs::remove_file(folder.join(RECORD)).unwrap();
        }),
    ];
    for (what, delete) in table {
        assert!(slot.is_intact(), "{what}");
        delete(state.path(), &folder);
        assert!(!slot.is_intact(), "{what}");
        assert!(slot.restore().unwrap(), "{what}");
        slot.record(&record(&["/w"], 1)).unwrap();
        assert!(slot.is_intact(), "{what}");
        assert_eq!(slot.folder(), folder, "{what}");
        assert_eq!(registry.running().len(), 1, "{what}");
        assert!(abandoned(&registry).is_empty(), "{what}");
    }
}

#[cfg(unix)]
#[test]
fn a_slot_that_another_has_taken_is_not_made_again() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (mut slot, _) = start(&registry, &["/w"], 1);
    std::fs::remove_file(slot.folder().join(LOCK)).unwrap();
    let (next, _) = start(&registry, &["/w"], 2);
    assert_eq!(next.folder(), slot.folder());
    assert!(slot.is_taken() && !next.is_taken());
    assert!(!slot.restore().unwrap());
    assert!(next.is_intact());
    assert_eq!(registry.running()[0].started_at, 2);
    drop(next);
    assert!(slot.restore().unwrap(), "it is free again");
}

#[cfg(unix)]
#[test]
fn of_two_that_serve_the_same_folders_the_older_one_knows_of_the_younger() {
    let state = tempfile::tempdir().unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (mut older, _) = start(&registry, &["/w/sub"], 1);
    assert!(older.rival(&record(&["/w/sub"], 1)).is_none());
    std::fs::remove_dir_all(state.path().join("outrigger")).unwrap();
    let registry = Registry::open(state.path()).unwrap();
    let (_elsewhere, _) = start(&registry, &["/elsewhere"], 2);
    let (younger, _) = start(&registry, &["/w"], 3);
    assert!(older.restore().unwrap());
    older.record(&record(&["/w/sub"], 1)).unwrap();
    assert_ne!(older.folder(), younger.folder());
    let rival = older.rival(&record(&["/w/sub"], 1)).unwrap();
    assert_eq!(rival.started_at, 3);
    assert!(younger.rival(&record(&["/w"], 3)).is_none());
}
