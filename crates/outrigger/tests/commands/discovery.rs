//! Folders that cannot be used: reported, never a reason to stop.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::agent::Agent;
use crate::sandbox::Sandbox;

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
        let sandbox = Sandbox::new();
        let folder = sandbox.tmp.join("gemini");
        spoil(&folder);
        let served = sandbox.serve(&[]);
        let status = sandbox.status();
        let path = folder.to_str().unwrap();
        let problems = status["problems"].as_array().unwrap();
        let told = problems
            .iter()
            .any(|problem| problem.as_str().unwrap().contains(path));
        assert!(told, "{name}: {problems:?}");
        assert!(
            sandbox.run(&["status"]).good().contains("problem: "),
            "{name}"
        );
        assert!(served.printed().contains(path), "{name}: it is logged too");
        Agent::qwen(&sandbox, &served).hear();
        let variables = sandbox.run(&["env", "--shell", "json"]).json();
        let token = variables["GEMINI_CLI_IDE_AUTH_TOKEN"].as_str().unwrap();
        Agent::connect(served.port, token).hear();
    }
}

#[test]
fn no_home_for_qwen_leaves_the_rest() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.home.join(".qwen"), "").unwrap();
    let served = sandbox.serve(&[]);
    assert!(!sandbox.status()["problems"].as_array().unwrap().is_empty());
    Agent::gemini(&sandbox, &served).hear();
    drop(served);
    assert_eq!(fs::read_to_string(sandbox.home.join(".qwen")).unwrap(), "");
}

#[test]
fn a_problem_that_goes_away_is_healed() {
    let sandbox = Sandbox::new();
    let folder = sandbox.tmp.join("gemini");
    fs::write(&folder, "").unwrap();
    let served = sandbox.serve(&[]);
    fs::remove_file(&folder).unwrap();
    crate::sandbox::until("the files are written after all", || {
        folder.join("ide").exists().then_some(())
    });
    crate::sandbox::until("the problem is gone", || {
        let problems = sandbox.status()["problems"].to_string();
        (!problems.contains(folder.to_str().unwrap())).then_some(())
    });
    Agent::gemini(&sandbox, &served).hear();
}

#[test]
fn other_homes_of_qwen_are_served_too() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["serve", "--json"]);
    command.env("QWEN_HOME", sandbox.tmp.join("q"));
    command.env("QWEN_RUNTIME_DIR", sandbox.tmp.join("r"));
    let served = sandbox.served(command);
    let lock = format!("ide/{}.lock", served.port);
    let places = [
        sandbox.home.join(".qwen"),
        sandbox.tmp.join("q"),
        sandbox.tmp.join("r"),
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
    let sandbox = Sandbox::new();
    let place = sandbox.tmp.join("from env");
    fs::write(
        sandbox.home.join(".env"),
        format!("QWEN_HOME=\"{}\"\n", place.display()),
    )
    .unwrap();
    let served = sandbox.serve(&[]);
    let lock = place.join(format!("ide/{}.lock", served.port));
    assert!(lock.exists());
    drop(served);
    assert!(!lock.exists());
}

#[test]
fn a_state_folder_that_cannot_be_used_says_what_to_do() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.home.join(".local/state")).unwrap();
    fs::write(sandbox.home.join(".local/state/outrigger"), "").unwrap();
    let done = sandbox.run(&["serve"]);
    assert_ne!(done.code, 0);
    assert!(done.stderr.contains("--state-dir"), "{done:?}");
    let other = sandbox.tmp.join("state");
    let served = sandbox.serve(&["--state-dir", other.to_str().unwrap()]);
    let status = sandbox.run(&["--state-dir", other.to_str().unwrap(), "status", "--json"]);
    assert_eq!(status.json()["companions"][0]["port"], served.port);
}
