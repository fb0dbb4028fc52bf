//! Folders that cannot be used: reported, never a reason to stop.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use testkit::{Companion, PlayedAgent, until};

use crate::machine;

/// Makes a folder one that this user must not or cannot write to.
fn forbid(folder: &Path) {
    fs::create_dir(folder).unwrap();
    // A superuser can give it away, and everybody else can take the right to write from it.
    if chown(folder, Some(65534), Some(65534)).is_err() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    }
}

#[test]
fn a_folder_that_is_not_ours_is_reported_and_the_rest_works() {
    type Spoil = fn(&Path);
    let table: [(&str, Spoil); 3] = [
        ("a file in its place", |folder| {
            fs::write(folder, "").unwrap();
        }),
        ("a link", |folder| symlink("/var/tmp", folder).unwrap()),
        ("somebody else's", forbid),
    ];
    for (name, spoil) in table {
        let machine = machine();
        let folder = machine.temporary().join("gemini");
        spoil(&folder);
        let served = machine.start_companion(&[]);
        let status = machine.status();
        let path = folder.to_str().unwrap();
        let problems = status["problems"].as_array().unwrap();
        let told = problems
            .iter()
            .any(|problem| problem.as_str().unwrap().contains(path));
        assert!(told, "{name}: {problems:?}");
        assert!(
            machine.run(&["status"]).good().contains("problem: "),
            "{name}"
        );
        assert!(served.printed().contains(path), "{name}: it is logged too");
        PlayedAgent::qwen(&machine, &served).hear();
        let variables = machine.run(&["env", "--shell", "json"]).json();
        let token = variables["GEMINI_CLI_IDE_AUTH_TOKEN"].as_str().unwrap();
        PlayedAgent::connect(served.port(), token).hear();
    }
}

/// Another user could take our file away and put one in its place that leads agents to them.
#[test]
fn a_folder_of_ours_that_everybody_can_write_to_is_closed_to_others() {
    let machine = machine();
    let [outer, inner] = ["gemini", "gemini/ide"].map(|below| machine.temporary().join(below));
    for folder in [&outer, &inner] {
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let served = machine.start_companion(&[]);
    for folder in [&outer, &inner] {
        let mode = fs::metadata(folder).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o755, "{}", folder.display());
    }
    PlayedAgent::gemini(&machine, &served).hear();
}

#[test]
fn no_home_for_qwen_leaves_the_rest() {
    let machine = machine();
    fs::write(machine.home().join(".qwen"), "").unwrap();
    let served = machine.start_companion(&[]);
    assert!(!machine.status()["problems"].as_array().unwrap().is_empty());
    PlayedAgent::gemini(&machine, &served).hear();
    drop(served);
    assert_eq!(
        fs::read_to_string(machine.home().join(".qwen")).unwrap(),
        ""
    );
}

#[test]
fn a_problem_that_goes_away_is_healed() {
    let machine = machine();
    let folder = machine.temporary().join("gemini");
    fs::write(&folder, "").unwrap();
    let served = machine.start_companion(&[]);
    fs::remove_file(&folder).unwrap();
    until("the files are written after all", || {
        folder.join("ide").exists().then_some(())
    });
    until("the problem is gone", || {
        let problems = machine.status()["problems"].to_string();
        (!problems.contains(folder.to_str().unwrap())).then_some(())
    });
    PlayedAgent::gemini(&machine, &served).hear();
}

#[test]
fn other_homes_of_qwen_are_served_too() {
    let machine = machine();
    let mut command = machine.command(&["serve", "--json"]);
    command.env("QWEN_HOME", machine.temporary().join("q"));
    command.env("QWEN_RUNTIME_DIR", machine.temporary().join("r"));
    let served = Companion::start(command);
    let lock = format!("ide/{}.lock", served.port());
    let places = [
        machine.home().join(".qwen"),
        machine.temporary().join("q"),
        machine.temporary().join("r"),
    ];
    for place in &places {
        assert!(place.join(&lock).exists(), "{}", place.display());
    }
    drop(served);
    for place in &places {
        assert!(!place.join(&lock).exists(), "{}", place.display());
    }
}

#[test]
fn a_qwen_home_in_a_dotenv_file_is_served_too() {
    let machine = machine();
    let place = machine.temporary().join("from env");
    fs::write(
        machine.home().join(".env"),
        format!("QWEN_HOME=\"{}\"\n", place.display()),
    )
    .unwrap();
    let served = machine.start_companion(&[]);
    let lock = place.join(format!("ide/{}.lock", served.port()));
    assert!(lock.exists());
    drop(served);
    assert!(!lock.exists());
}

#[test]
fn a_state_folder_that_cannot_be_used_says_what_to_do() {
    let machine = machine();
    fs::create_dir_all(machine.home().join(".local/state")).unwrap();
    fs::write(machine.home().join(".local/state/outrigger"), "").unwrap();
    let done = machine.run(&["serve"]);
    assert_ne!(done.code, 0);
    assert!(done.stderr.contains("--state-dir"), "{done:?}");
    let other = machine.temporary().join("state");
    let served = machine.start_companion(&["--state-dir", other.to_str().unwrap()]);
    let status = machine.run(&["--state-dir", other.to_str().unwrap(), "status", "--json"]);
    assert_eq!(status.json()["companions"][0]["port"], served.port());
}
