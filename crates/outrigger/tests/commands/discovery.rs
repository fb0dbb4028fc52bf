//! Folders that cannot be used: reported, never a reason to stop.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::agent::Agent;
use crate::world::World;

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
        let world = World::new();
        let folder = world.tmp.join("gemini");
        spoil(&folder);
        let served = world.serve(&[]);
        let status = world.status();
        let path = folder.to_str().unwrap();
        let problems = status["problems"].as_array().unwrap();
        let told = problems
            .iter()
            .any(|problem| problem.as_str().unwrap().contains(path));
        assert!(told, "{name}: {problems:?}");
        assert!(
            world.run(&["status"]).good().contains("problem: "),
            "{name}"
        );
        assert!(served.printed().contains(path), "{name}: it is logged too");
        Agent::qwen(&world, &served).hear();
        let variables = world.run(&["env", "--shell", "json"]).json();
        let token = variables["GEMINI_CLI_IDE_AUTH_TOKEN"].as_str().unwrap();
        Agent::connect(served.port, token.to_owned()).hear();
    }
}

#[test]
fn no_home_for_qwen_leaves_the_rest() {
    let world = World::new();
    fs::write(world.home.join(".qwen"), "").unwrap();
    let served = world.serve(&[]);
    assert!(!world.status()["problems"].as_array().unwrap().is_empty());
    Agent::gemini(&world, &served).hear();
    drop(served);
    assert_eq!(fs::read_to_string(world.home.join(".qwen")).unwrap(), "");
}

#[test]
fn a_problem_that_goes_away_is_healed() {
    let world = World::new();
    let folder = world.tmp.join("gemini");
    fs::write(&folder, "").unwrap();
    let served = world.serve(&[]);
    fs::remove_file(&folder).unwrap();
    crate::world::until("the files are written after all", || {
        folder.join("ide").exists().then_some(())
    });
    crate::world::until("the problem is gone", || {
        let problems = world.status()["problems"].to_string();
        (!problems.contains(folder.to_str().unwrap())).then_some(())
    });
    Agent::gemini(&world, &served).hear();
}

#[test]
fn other_homes_of_qwen_are_served_too() {
    let world = World::new();
    let mut command = world.command(&["serve", "--json"]);
    command.env("QWEN_HOME", world.tmp.join("q"));
    command.env("QWEN_RUNTIME_DIR", world.tmp.join("r"));
    let served = world.served(command);
    let lock = format!("ide/{}.lock", served.port);
    let places = [
        world.home.join(".qwen"),
        world.tmp.join("q"),
        world.tmp.join("r"),
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
    let world = World::new();
    let place = world.tmp.join("from env");
    fs::write(
        world.home.join(".env"),
        format!("QWEN_HOME=\"{}\"\n", place.display()),
    )
    .unwrap();
    let served = world.serve(&[]);
    let lock = place.join(format!("ide/{}.lock", served.port));
    assert!(lock.exists());
    drop(served);
    assert!(!lock.exists());
}

#[test]
fn a_state_folder_that_cannot_be_used_says_what_to_do() {
    let world = World::new();
    fs::create_dir_all(world.home.join(".local/state")).unwrap();
    fs::write(world.home.join(".local/state/outrigger"), "").unwrap();
    let done = world.run(&["serve"]);
    assert_ne!(done.code, 0);
    assert!(done.stderr.contains("--state-dir"), "{done:?}");
    let other = world.tmp.join("state");
    let served = world.serve(&["--state-dir", other.to_str().unwrap()]);
    let status = world.run(&["--state-dir", other.to_str().unwrap(), "status", "--json"]);
    assert_eq!(status.json()["companions"][0]["port"], served.port);
}
