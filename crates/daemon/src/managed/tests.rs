use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use super::process::listening;
use super::*;

/// A program that stands in for the daemon, and the folder it is in.
fn stand_in(script: &str) -> (tempfile::TempDir, LaunchOptions) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("qwen");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
    let launch = LaunchOptions {
        program,
        ..LaunchOptions::new(folder.path())
    };
    (folder, launch)
}

const LISTENS: &str =
    "echo 'qwen serve listening on http://127.0.0.1:4711 (mode=http-bridge, workspace=/w)'";

async fn start(launch: LaunchOptions) -> Result<ManagedDaemon, StartError> {
    // A program that was just written may still be open for writing in a process that another test
    // is starting at this very moment.
    loop {
        match ManagedDaemon::start(launch.clone()).await {
            Err(StartError::Program { why, .. })
                if why.kind() == io::ErrorKind::ExecutableFileBusy => {}
            started => return started,
        }
    }
}

#[tokio::test]
async fn the_token_is_in_the_environment_and_in_no_argument() {
    let script = format!(
        "echo \"$@\" > arguments; echo \"$QWEN_SERVER_TOKEN\" > token; {LISTENS}; exec sleep 600"
    );
    let (folder, launch) = stand_in(&script);
    let daemon = start(launch).await.unwrap();
    assert_eq!(daemon.address().to_string(), "http://127.0.0.1:4711");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("token").trim(), daemon.token().expose());
    assert_eq!(daemon.token().expose().len(), 64);
    assert!(read("arguments").starts_with("serve --port 0"));
    assert!(!read("arguments").contains(daemon.token().expose()));
    let death = daemon.stop().await;
    assert_eq!(
        (death.requested, death.status.unwrap().signal()),
        (true, Some(15))
    );
}

#[tokio::test]
async fn one_that_does_not_want_to_end_is_made_to() {
    let (_folder, mut launch) = stand_in(&format!(
        "trap '' TERM; {LISTENS}; while :; do sleep 600; done"
    ));
    launch.grace = Duration::from_millis(50);
    let daemon = start(launch).await.unwrap();
    let death = daemon.stop().await;
    assert_eq!(death.status.unwrap().signal(), Some(9));
}

#[tokio::test]
async fn what_it_started_ends_with_it() {
    let (folder, launch) = stand_in(&format!(
        "sleep 600 & echo $! > agent; {LISTENS}; exec sleep 600"
    ));
    let daemon = start(launch).await.unwrap();
    let agent = std::fs::read_to_string(folder.path().join("agent")).unwrap();
    let agent = rustix::process::Pid::from_raw(agent.trim().parse().unwrap()).unwrap();
    let is_there = || match std::fs::read_to_string(format!("/proc/{agent}/stat")) {
        // One that is dead and that nobody has waited for is still listed.
        Ok(stat) => !stat.contains(") Z "),
        Err(_) => false,
    };
    assert!(is_there());
    drop(daemon);
    tokio::time::timeout(Duration::from_mins(1), async {
        while is_there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn its_death_is_reported_with_its_last_words() {
    let (_folder, launch) = stand_in(&format!("{LISTENS}; echo 'no more memory' >&2; exit 3"));
    let daemon = start(launch).await.unwrap();
    let death = daemon.exited().await;
    assert_eq!(
        (death.requested, death.status.unwrap().code()),
        (false, Some(3))
    );
}

#[tokio::test]
async fn one_that_never_listens_is_an_error_with_its_last_words() {
    let (_folder, launch) = stand_in("echo \"bad token $QWEN_SERVER_TOKEN\" >&2; exit 1");
    let error = start(launch).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the daemon ended before it listened: bad token [hidden]"
    );
    let (_folder, mut launch) = stand_in("exec sleep 600");
    launch.start_timeout = Duration::from_millis(50);
    assert!(matches!(start(launch).await, Err(StartError::Slow { .. })));
    let missing = LaunchOptions {
        program: "/nonexistent/qwen".into(),
        ..LaunchOptions::new("/")
    };
    assert!(matches!(
        start(missing).await,
        Err(StartError::Program { .. })
    ));
}

#[test]
fn only_a_loopback_address_is_believed() {
    assert!(listening("qwen serve listening on http://127.0.0.1:4170 (mode=x)").is_some());
    assert!(listening("listening on http://0.0.0.0:4170").is_none());
    assert!(listening("listening on nothing").is_none());
}
