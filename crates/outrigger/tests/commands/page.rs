//! The way into the page: links, and the browser that opens one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use companion::Token;
use serde_json::Value;
use testkit::{Machine, PlayedAgent, Terminal, finish, until};
use web::{Client, ClientError, wire};

use crate::{PROGRAM, machine};

/// The user that owns nothing.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 65534;

/// A question to a companion, waited for.
fn wait<T>(asked: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(asked)
}

/// The key for which a link to this port is good.
fn redeem(port: u16, link: &str) -> Result<Token, ClientError> {
    let (address, ticket) = link.trim_end().split_once('#').unwrap();
    assert_eq!(address, format!("http://127.0.0.1:{port}/"));
    let ticket = wire::Ticket {
        ticket: ticket.to_owned(),
    };
    let stranger = Client::new(port, Token::random().unwrap());
    let entered = wait(stranger.post::<wire::PageKey>("/api/page", &ticket));
    entered.map(|entered| entered.key)
}

#[test]
fn a_link_opens_the_page_once_and_no_more_than_the_page() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let link = machine.run(&["url"]).good();
    assert_eq!(link.lines().count(), 1);
    let key = redeem(served.port(), &link).unwrap();
    let page = Client::new(served.port(), key);
    let live: wire::Live = wait(page.get("/api/live")).unwrap();
    assert_eq!(live.status.roots, [machine.workspace()]);
    let refused = wait(page.get::<Value>("/api/environment")).unwrap_err();
    assert!(
        matches!(refused, ClientError::Refused(why) if why.kind == "forbidden"),
        "agents' tokens are not for pages"
    );
    let used = redeem(served.port(), &link).unwrap_err().to_string();
    assert!(used.contains("outrigger url"), "{used}");
    assert_eq!(
        machine.run(&["url", "-C", "/"]).code,
        3,
        "nobody serves that"
    );
}

/// Another user can read a link from the argument list of the program that opens it.
#[cfg(target_os = "linux")]
#[test]
fn a_link_is_of_no_use_to_another_user() {
    if !rustix::process::geteuid().is_root() {
        assert!(
            std::env::var_os("CI").is_none(),
            "only root can act as another user"
        );
        eprintln!("SKIPPED: only root can act as another user");
        return;
    }
    let machine = machine();
    let served = machine.start_companion(&[]);
    let link = machine.run(&["url"]).good();
    let (_, ticket) = link.trim_end().split_once('#').unwrap();
    let body = format!(r#"{{"ticket":"{ticket}"}}"#);
    let request = format!(
        "POST /api/page HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
        port = served.port(),
    );
    let mut stranger = std::process::Command::new("bash");
    let exchange = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}; cat >&3; cat <&3",
        served.port()
    );
    stranger
        .args(["-c", &exchange])
        .current_dir("/")
        .uid(NOBODY);
    let answer = finish(stranger, request).good();
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(answer.contains("another user"), "{answer}");
    // It was not used up by that.
    redeem(served.port(), &link).unwrap();
}

#[test]
fn a_page_stays_open_across_a_restart_and_not_across_a_crash() {
    let machine = machine();
    let mut served = machine.start_companion(&[]);
    let key = redeem(served.port(), &machine.run(&["url"]).good()).unwrap();
    let instance = |port: u16| {
        let page = Client::new(port, key.clone());
        let live: Result<wire::Live, _> = wait(page.get("/api/live"));
        live.map(|live| live.instance)
    };
    let first = instance(served.port()).unwrap();
    machine.run(&["restart"]).good();
    let second = instance(served.port()).unwrap();
    assert_ne!(first, second, "a page can tell that it is another run");
    // Whoever had the port in between may have got the key from the page.
    served.kill();
    let served = machine.start_companion(&[]);
    let refused = instance(served.port()).unwrap_err();
    assert!(
        matches!(&refused, ClientError::Refused(problem) if problem.kind == "unauthorized"),
        "{refused:?}"
    );
}

#[test]
fn a_decision_about_a_text_that_the_run_before_has_shown_is_refused() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let key = redeem(served.port(), &machine.run(&["url"]).good()).unwrap();
    let page = Client::new(served.port(), key);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "one\n\ntwo\n");
    agent.open_diff(&path, "one\n\nTWO\n");
    machine.write("a.txt", "first change\n\none\n\ntwo\n");
    let shown: wire::Detail = wait(page.get("/api/proposals/1")).unwrap();
    assert_eq!(shown.proposal.revision, 2);
    machine.run(&["restart"]).good();
    machine.write("a.txt", "second change\n\none\n\ntwo\n");
    let accept = wire::Accept {
        revision: Some(shown.proposal.revision),
        ..wire::Accept::default()
    };
    let refused = wait(page.post::<wire::Decided>("/api/proposals/1/accept", &accept));
    let refused = refused.unwrap_err();
    assert!(
        matches!(&refused, ClientError::Refused(problem) if problem.kind == "stale"),
        "{refused:?}"
    );
    assert_eq!(machine.proposals().len(), 1);
}

#[test]
fn state_that_cannot_be_written_again_is_said_until_it_can() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let key = redeem(served.port(), &machine.run(&["url"]).good()).unwrap();
    let page = Client::new(served.port(), key);
    let problems = || {
        let live: wire::Live = wait(page.get("/api/live")).unwrap();
        live.status.problems.join("\n")
    };
    let state = machine.home().join(".local/state/outrigger");
    let said = "commands and editors may not find this companion";
    assert!(!problems().contains(said));
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "in the way").unwrap();
    until("it is said", || problems().contains(said).then_some(()));
    assert!(problems().contains(state.to_str().unwrap()));
    fs::remove_file(&state).unwrap();
    until("it is over", || (!problems().contains(said)).then_some(()));
    until("commands find it", || machine.served_by());
}

/// A browser that writes down what it is asked to show: where it is, and where it writes.
fn browser(machine: &Machine) -> (PathBuf, PathBuf) {
    let folder = machine.home().join("bin");
    let opened = machine.home().join("opened");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("xdg-open");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", opened.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, opened)
}

/// The links that were opened, once there are some.
fn opened(file: &Path) -> String {
    until("a link is opened", || {
        let text = fs::read_to_string(file).ok()?;
        text.ends_with('\n').then_some(text)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn the_link_can_be_opened_instead_of_printed() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let (folder, file) = browser(&machine);
    let mut command = machine.command(&["url", "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    assert_eq!(finish(command, b"").good(), "");
    redeem(served.port(), &opened(&file)).unwrap();

    let mut command = machine.command(&["url", "--open"]);
    command.env("PATH", "/nowhere");
    let failed = finish(command, b"");
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("by hand"), "{}", failed.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_companion_on_a_desktop_opens_its_page_unless_told_otherwise() {
    let machine = machine();
    let (folder, file) = browser(&machine);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let mut environment = vec![
        ("HOME".to_owned(), text(&machine.home())),
        ("TMPDIR".to_owned(), text(&machine.temporary())),
        (
            "PATH".to_owned(),
            format!("{}:/usr/bin:/bin", text(&folder)),
        ),
        ("DISPLAY".to_owned(), ":0".to_owned()),
    ];
    let serve = |arguments: &[&str], environment: &[(String, String)]| {
        let command = [&[PROGRAM], arguments].concat();
        let terminal = Terminal::start(&command, &machine.workspace(), environment);
        terminal.wait_until("the link", |screen| {
            screen.contains("review in the browser: http://127.0.0.1:")
        });
        terminal
    };
    {
        let _terminal = serve(&[], &environment);
        let port = machine.status()["port"].as_u64().unwrap();
        redeem(port.try_into().unwrap(), &opened(&file)).unwrap();
    }
    fs::remove_file(&file).unwrap();
    drop(serve(&["--no-open"], &environment));
    environment.push(("SSH_CONNECTION".into(), "1".into()));
    drop(serve(&[], &environment));
    assert!(!file.exists(), "nothing was opened");
}
