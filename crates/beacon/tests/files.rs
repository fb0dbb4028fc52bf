//! The life of discovery files on a real disk, in a home and a temporary folder made for each
//! test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use outrigger_beacon::{Announcement, Beacon, IdeInfo, Leftovers, Surroundings};
use tempfile::TempDir;
use workbench::Agent;

const PORT: u16 = 4711;
const PID: u32 = 77;
const LOCK: &str = "home/.qwen/ide/4711.lock";
const GEMINI: &str = "tmp/gemini/ide/gemini-ide-server-77-4711.json";
const ALL: [&str; 5] = [
    "home/.qwen/ide/4711.lock",
    "home/.qwen/ide/77-4711.lock",
    GEMINI,
    "tmp/gemini/ide/qwen-code-ide-server-77-4711.json",
    "tmp/qwen/ide/qwen-code-ide-server-77-4711.json",
];

/// A machine of its own: everything lies in one folder that goes with the test.
struct Machine {
    scratch: TempDir,
}

impl Machine {
    fn new() -> Machine {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("home")).unwrap();
        fs::create_dir(scratch.path().join("tmp")).unwrap();
        Machine { scratch }
    }

    fn at(&self, below: &str) -> PathBuf {
        self.scratch.path().join(below)
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            tmp: self.at("tmp"),
            ..Surroundings::new(Some(self.at("home")), self.at(""))
        }
    }

    fn announce(&self) -> Beacon {
        Beacon::announce(
            self.surroundings(),
            &Agent::DISCOVERING,
            announcement("/project"),
            &[PID],
        )
    }

    /// A run that is killed, and what it leaves behind.
    fn crash(&self) -> Leftovers {
        let beacon = self.announce();
        let files = beacon.files().map(Path::to_path_buf).collect();
        std::mem::forget(beacon);
        assert_eq!(self.files(), ALL);
        Leftovers {
            files,
            ..leftovers()
        }
    }

    /// The discovery files on disk, by their path below the machine's folder.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.scratch.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let below = entry.path();
                    let below = below.strip_prefix(self.scratch.path()).unwrap();
                    found.push(below.to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    fn read(&self, below: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.at(below)).unwrap()).unwrap()
    }
}

/// What is known of every run with this announcement.
fn leftovers() -> Leftovers {
    let tokens = announcement("/project").tokens.into_values();
    Leftovers {
        port: PORT,
        tokens: tokens.collect(),
        files: BTreeSet::new(),
    }
}

/// The announcement of another run.
fn new_announcement() -> Announcement {
    let tokens = Agent::DISCOVERING.map(|agent| (agent, "new-token".into()));
    Announcement {
        tokens: tokens.into(),
        ..announcement("/project")
    }
}

fn announcement(root: &str) -> Announcement {
    Announcement {
        port: PORT,
        roots: vec![root.into()],
        ide: IdeInfo {
            name: "helix".into(),
            display_name: "Helix".into(),
        },
        tokens: BTreeMap::from([
            (Agent::Qwen, "token-of-qwen".into()),
            (Agent::Gemini, "token-of-gemini".into()),
        ]),
        serves: 42,
        stdio: None,
    }
}

/// Gives a folder to another user where that is possible, else puts a file in its place.
fn make_unusable(folder: &Path) {
    if rustix::process::geteuid().is_root() {
        fs::create_dir(folder).unwrap();
        std::os::unix::fs::chown(folder, Some(65534), None).unwrap();
    } else {
        fs::write(folder, "").unwrap();
    }
}

fn is_private(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777 == 0o600
}

#[test]
fn all_files_are_written_privately_and_removed_at_the_end() {
    let machine = Machine::new();
    let beacon = machine.announce();
    assert!(beacon.problems().is_empty(), "{:?}", beacon.problems());
    assert_eq!(machine.files(), ALL);
    assert_eq!(beacon.files().count(), ALL.len());
    assert!(ALL.iter().all(|file| is_private(&machine.at(file))));
    assert_eq!(machine.read(LOCK)["authToken"], "token-of-qwen");
    assert_eq!(machine.read(ALL[3])["authToken"], "token-of-qwen");
    assert_eq!(machine.read(GEMINI)["authToken"], "token-of-gemini");
    drop(beacon);
    assert!(machine.files().is_empty());
}

#[test]
fn without_a_pid_the_process_that_is_served_gives_its_number() {
    let machine = Machine::new();
    let _beacon = Beacon::announce(
        machine.surroundings(),
        &[Agent::Gemini],
        announcement("/project"),
        &[],
    );
    assert_eq!(
        machine.files(),
        ["tmp/gemini/ide/gemini-ide-server-42-4711.json"]
    );
}

#[test]
fn a_new_announcement_is_written_and_what_no_longer_belongs_is_removed() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    beacon.set_announcement(announcement("/elsewhere"));
    assert_eq!(machine.files(), ALL);
    assert_eq!(machine.read(LOCK)["workspacePath"], "/elsewhere");

    beacon.set_pids(&[78]);
    assert!(!machine.at(GEMINI).exists());
    assert!(
        machine
            .at("tmp/gemini/ide/gemini-ide-server-78-4711.json")
            .exists()
    );
    assert_eq!(machine.files().len(), ALL.len());

    let mut tokens = announcement("/elsewhere").tokens;
    tokens.insert(Agent::Qwen, "new-token".into());
    beacon.set_announcement(Announcement {
        port: 4712,
        tokens,
        ..announcement("/elsewhere")
    });
    assert!(
        machine.files().iter().all(|file| file.contains("4712")),
        "{:?}",
        machine.files()
    );
    assert_eq!(machine.files().len(), ALL.len());
}

#[test]
fn an_invalid_announcement_removes_the_files_and_is_a_problem() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    beacon.set_announcement(Announcement {
        roots: Vec::new(),
        ..announcement("/project")
    });
    assert!(machine.files().is_empty());
    assert_eq!(beacon.problems().len(), 1);
    assert_eq!(beacon.problems()[0].agents, Agent::DISCOVERING);

    beacon.set_announcement(announcement("/project"));
    assert_eq!(machine.files(), ALL);
    assert!(beacon.problems().is_empty());
}

#[test]
fn a_root_that_cannot_be_announced_is_a_problem_and_the_others_are_announced() {
    let machine = Machine::new();
    let roots = vec!["/a:b".into(), "/project".into()];
    let announcement = Announcement {
        roots,
        ..announcement("/project")
    };
    let beacon = Beacon::announce(
        machine.surroundings(),
        &Agent::DISCOVERING,
        announcement,
        &[PID],
    );
    assert_eq!(machine.read(LOCK)["workspacePath"], "/project");
    assert_eq!(beacon.problems().len(), 1);
    assert_eq!(
        beacon.problems()[0].path.as_deref(),
        Some(Path::new("/a:b"))
    );
}

#[test]
fn healing_does_nothing_while_nothing_happens() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    assert!(beacon.heal().is_empty());
    assert!(beacon.heal().is_empty());
}

#[test]
fn a_deleted_file_is_restored() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    fs::remove_file(machine.at(LOCK)).unwrap();
    assert_eq!(beacon.heal(), [machine.at(LOCK)]);
    fs::remove_dir_all(machine.at("tmp/gemini")).unwrap();
    assert_eq!(beacon.heal().len(), 2);
    assert_eq!(machine.files(), ALL);
    assert!(beacon.heal().is_empty());
}

#[test]
fn a_changed_file_is_restored() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    let original = fs::read(machine.at(LOCK)).unwrap();

    // Another content of the same length, as the worst case for a look at the outside.
    fs::write(machine.at(LOCK), vec![b'x'; original.len()]).unwrap();
    let file = fs::File::options()
        .write(true)
        .open(machine.at(LOCK))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(beacon.heal(), [machine.at(LOCK)]);
    assert_eq!(fs::read(machine.at(LOCK)).unwrap(), original);

    // A file that was only touched is read once and left alone.
    let file = fs::File::options()
        .write(true)
        .open(machine.at(LOCK))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert!(beacon.heal().is_empty());

    // A symlink in its place is replaced, and the file behind it is spared.
    let victim = machine.at("home/victim");
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(machine.at(LOCK)).unwrap();
    symlink(&victim, machine.at(LOCK)).unwrap();
    assert_eq!(beacon.heal(), [machine.at(LOCK)]);
    assert_eq!(fs::read(victim).unwrap(), b"precious");
    assert!(is_private(&machine.at(LOCK)));
}

#[test]
fn a_leftover_for_our_port_is_replaced() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("home/.qwen/ide")).unwrap();
    fs::write(machine.at(LOCK), r#"{"authToken":"theirs","port":4711}"#).unwrap();
    let beacon = machine.announce();
    assert!(beacon.problems().is_empty());
    assert_eq!(machine.read(LOCK)["authToken"], "token-of-qwen");
}

#[test]
fn a_folder_of_somebody_else_is_reported_and_the_rest_is_written() {
    let machine = Machine::new();
    make_unusable(&machine.at("tmp/gemini"));
    let mut beacon = machine.announce();
    let standing = beacon.files().filter(|path| path.exists());
    assert_eq!(
        standing.collect::<Vec<_>>(),
        [ALL[0], ALL[1], ALL[4]].map(|file| machine.at(file))
    );

    let [problem] = beacon.problems() else {
        panic!("{:?}", beacon.problems())
    };
    assert_eq!(problem.agents, Agent::DISCOVERING);
    assert_eq!(problem.path.as_deref(), Some(&*machine.at("tmp/gemini")));
    assert!(problem.hint.contains("environment variables"));
    assert!(!format!("{problem:?} {problem}").contains("token-of"));
    if rustix::process::geteuid().is_root() {
        assert!(
            problem
                .message
                .contains("belongs to another user (uid 65534)"),
            "{problem}"
        );
        assert_eq!(fs::read_dir(machine.at("tmp/gemini")).unwrap().count(), 0);
    }

    // It stays one problem however often it is tried, and goes when the folder does.
    assert!(beacon.heal().is_empty());
    assert_eq!(beacon.problems().len(), 1);
    fs::remove_dir(machine.at("tmp/gemini"))
        .or_else(|_| fs::remove_file(machine.at("tmp/gemini")))
        .unwrap();
    assert_eq!(beacon.heal().len(), 2);
    assert!(beacon.problems().is_empty());
    assert_eq!(machine.files(), ALL);
}

#[test]
fn a_symlinked_folder_is_not_used() {
    let machine = Machine::new();
    fs::create_dir(machine.at("trap")).unwrap();
    symlink(machine.at("trap"), machine.at("tmp/gemini")).unwrap();
    let beacon = machine.announce();
    assert_eq!(fs::read_dir(machine.at("trap")).unwrap().count(), 0);
    assert_eq!(beacon.problems().len(), 1);
    assert!(beacon.problems()[0].message.contains("symlink"));
    assert!(machine.at(LOCK).exists());
}

#[test]
fn a_symlinked_home_is_used() {
    let machine = Machine::new();
    symlink(machine.at("home"), machine.at("link")).unwrap();
    let surroundings = Surroundings {
        home: Some(machine.at("link")),
        ..machine.surroundings()
    };
    let beacon = Beacon::announce(
        surroundings,
        &[Agent::Qwen],
        announcement("/project"),
        &[PID],
    );
    assert!(beacon.problems().is_empty());
    assert!(machine.at(LOCK).exists());
}

/// Not even root can create a folder in `/proc`, so it serves as a disk that is read-only.
#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_to_is_reported() {
    let machine = Machine::new();
    let mut surroundings = machine.surroundings();
    surroundings
        .vars
        .insert("QWEN_HOME".into(), "/proc/outrigger".into());
    let beacon = Beacon::announce(
        surroundings,
        &[Agent::Qwen],
        announcement("/project"),
        &[PID],
    );
    let [problem] = beacon.problems() else {
        panic!("{:?}", beacon.problems())
    };
    assert_eq!(problem.path.as_deref(), Some(Path::new("/proc/outrigger")));
    assert!(
        problem
            .message
            .starts_with("could not create /proc/outrigger"),
        "{problem}"
    );
    assert!(machine.at(LOCK).exists());
}

#[test]
fn a_folder_in_the_place_of_a_file_is_reported() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at(LOCK)).unwrap();
    let beacon = machine.announce();
    let [problem] = beacon.problems() else {
        panic!("{:?}", beacon.problems())
    };
    assert_eq!(problem.path.as_deref(), Some(&*machine.at(LOCK)));
    drop(beacon);
    assert!(machine.at(LOCK).is_dir());
}

#[test]
fn two_paths_of_one_temporary_folder_do_not_conflict() {
    let machine = Machine::new();
    symlink(machine.at("tmp"), machine.at("link")).unwrap();
    let mut surroundings = machine.surroundings();
    let link = machine.at("link").to_str().unwrap().to_owned();
    surroundings.vars.insert("TMPDIR".into(), link);
    let mut beacon = Beacon::announce(
        surroundings,
        &[Agent::Gemini],
        announcement("/project"),
        &[PID],
    );
    assert!(beacon.heal().is_empty());
    assert_eq!(machine.files(), ["link", GEMINI]);
    beacon.remove();
    assert_eq!(machine.files(), ["link"]);
}

#[test]
fn a_file_that_another_program_has_taken_over_is_left_to_it() {
    let machine = Machine::new();
    let beacon = machine.announce();
    let theirs = r#"{"authToken":"theirs","port":4711}"#;
    fs::write(machine.at(LOCK), theirs).unwrap();
    drop(beacon);
    assert_eq!(machine.files(), [LOCK]);
    assert_eq!(fs::read_to_string(machine.at(LOCK)).unwrap(), theirs);
}

#[test]
fn a_remover_works_from_another_thread_and_for_good() {
    let machine = Machine::new();
    let mut beacon = machine.announce();
    let remover = beacon.remover();
    std::thread::spawn(move || remover.remove()).join().unwrap();
    assert!(machine.files().is_empty());
    assert!(beacon.heal().is_empty());
    beacon.set_pids(&[78]);
    assert!(machine.files().is_empty());
}

#[test]
fn a_remover_works_from_a_panic_hook() {
    let machine = Machine::new();
    let beacon = machine.announce();
    let remover = beacon.remover();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        remover.remove();
        before(info);
    }));
    let outcome = std::thread::spawn(|| panic!("on purpose")).join();
    assert!(outcome.is_err());
    assert!(machine.files().is_empty());
    drop(std::panic::take_hook());
}

#[test]
fn files_can_be_left_for_a_successor() {
    let machine = Machine::new();
    let beacon = machine.announce();
    let files = machine.files();
    assert!(!files.is_empty());
    let remover = beacon.remover();
    beacon.hand_over();
    remover.remove();
    assert_eq!(machine.files(), files);
}

#[test]
fn a_second_removal_spares_the_files_of_a_successor() {
    let machine = Machine::new();
    let mut first = machine.announce();
    first.remove();
    let second = machine.announce();
    drop(first);
    assert_eq!(machine.files(), ALL);
    drop(second);
    assert!(machine.files().is_empty());
}

#[test]
fn what_a_crash_leaves_behind_can_be_cleared() {
    let machine = Machine::new();
    let leftovers = machine.crash();
    fs::write(machine.at(GEMINI), r#"{"authToken":"theirs"}"#).unwrap();

    assert_eq!(leftovers.clear().len(), ALL.len() - 1);
    assert_eq!(machine.files(), [GEMINI]);
}

#[test]
fn what_a_crash_leaves_behind_is_removed_by_the_next_run() {
    let machine = Machine::new();
    let mut leftovers = machine.crash();
    // Not even what was written down last.
    leftovers.files.clear();
    let mut next = Beacon::prepare(
        machine.surroundings(),
        &Agent::DISCOVERING,
        new_announcement(),
        &[78],
    );
    let planned: Vec<_> = next.files().map(Path::to_path_buf).collect();
    assert_eq!(planned.len(), ALL.len());
    assert!(
        !planned
            .iter()
            .any(|path| path.exists() && *path != machine.at(LOCK))
    );

    next.adopt(leftovers);
    assert!(next.has_leftovers());
    next.heal();
    assert!(!next.has_leftovers());
    assert_eq!(next.files().collect::<Vec<_>>(), planned);
    assert_eq!(machine.read(LOCK)["authToken"], "new-token");
    drop(next);
    assert!(machine.files().is_empty());
}

/// A file in the place of their folder keeps the files from being looked at, for any user.
#[test]
fn what_cannot_be_removed_yet_stays_in_the_list() {
    let machine = Machine::new();
    let mut next = Beacon::prepare(
        machine.surroundings(),
        &[Agent::Qwen],
        new_announcement(),
        &[78],
    );
    next.adopt(machine.crash());
    let (folder, aside) = (machine.at("tmp/gemini/ide"), machine.at("aside"));
    fs::rename(&folder, &aside).unwrap();
    fs::write(&folder, "").unwrap();
    next.heal();
    assert!(next.has_leftovers());
    assert!(next.files().any(|path| path == machine.at(GEMINI)));
    let mut problems = next.problems().iter();
    assert!(problems.any(|it| it.hint.contains("by hand")));

    let mut ending = Beacon::prepare(
        machine.surroundings(),
        &[Agent::Qwen],
        new_announcement(),
        &[79],
    );
    ending.adopt(Leftovers {
        files: next.files().map(Path::to_path_buf).collect(),
        ..leftovers()
    });
    ending.heal();
    ending.remove();
    let left: Vec<_> = ending.files().collect();
    assert!(left.contains(&&*machine.at(GEMINI)), "{left:?}");
    assert!(
        left.iter().all(|path| path.starts_with(&folder)),
        "{left:?}"
    );

    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    next.heal();
    assert!(!next.has_leftovers());
    assert!(!machine.at(GEMINI).exists());
    assert!(next.problems().is_empty(), "{:?}", next.problems());
}
