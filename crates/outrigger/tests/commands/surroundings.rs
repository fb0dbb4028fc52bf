//! The variables that an agent should see.

use std::process::Command;

use testkit::{Machine, finish};

use crate::{PROGRAM, machine};

/// A folder whose name a careless script would stumble over.
const AWKWARD: &str = r#"it's $HOME `x` \\ "q" \"#;

#[test]
fn a_real_shell_takes_the_variables_as_they_are() {
    let machine = Machine::with_workspace(PROGRAM, AWKWARD);
    let served = machine.start_companion(&[]);
    let variables = machine.run(&["env", "--shell", "json"]).json();
    let variables = variables.as_object().unwrap();
    assert_eq!(
        variables["QWEN_CODE_IDE_SERVER_PORT"],
        served.port().to_string()
    );
    assert_eq!(
        variables["GEMINI_CLI_IDE_SERVER_PORT"],
        served.port().to_string()
    );
    assert_eq!(
        variables["GEMINI_CLI_IDE_AUTH_TOKEN"],
        machine.gemini_token(served.port())
    );
    let work = machine.workspace().display().to_string();
    assert_eq!(variables["QWEN_CODE_IDE_WORKSPACE_PATH"], work);
    assert_eq!(variables["GEMINI_CLI_IDE_WORKSPACE_PATH"], work);

    let script = machine.run(&["env"]).good();
    for (name, value) in variables {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{script}printf %s \"${name}\"")]);
        shell.env_clear().env("HOME", "/nowhere");
        assert_eq!(finish(shell, b"").good(), value.as_str().unwrap(), "{name}");
    }
}

#[test]
fn fish_gets_its_own_form() {
    let machine = Machine::with_workspace(PROGRAM, AWKWARD);
    let _served = machine.start_companion(&[]);
    let variables = machine.run(&["env", "--shell", "json"]).json();
    let script = machine.run(&["env", "--shell", "fish"]).good();
    let lines: Vec<_> = script.lines().collect();
    assert_eq!(lines.len(), variables.as_object().unwrap().len());
    for line in lines {
        let rest = line.strip_prefix("set -gx ").unwrap();
        let (name, quoted) = rest.split_once(' ').unwrap();
        assert_eq!(
            as_fish_reads(quoted),
            variables[name].as_str().unwrap(),
            "{line}"
        );
    }
}

/// One word as fish understands it. Inside single quotes it knows two escapes, outside any.
fn as_fish_reads(word: &str) -> String {
    let (mut text, mut quoted) = (String::new(), false);
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\'', _) => quoted = !quoted,
            ('\\', Some(next)) if !quoted || matches!(next, '\'' | '\\') => {
                text.extend(rest.next());
            }
            (' ' | '$' | '`' | '"', _) if !quoted => panic!("{c:?} outside quotes: {word}"),
            _ => text.push(c),
        }
    }
    assert!(!quoted, "the quote is still open: {word}");
    text
}

#[test]
fn scripts_for_shells_and_the_manual_are_made_from_the_commands() {
    let machine = machine();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = machine.run(&["completions", shell]).good();
        for part in ["proposals", "content-from", "bridge"] {
            assert!(script.contains(part), "{shell} lacks {part}");
        }
        assert!(
            !script.contains("__between"),
            "{shell} offers what is not for people"
        );
    }
    let page = machine.run(&["man"]).good();
    assert!(page.contains(".TH outrigger 1"), "{page}");
    for part in ["proposals", "focus", "accept"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("between"), "{page}");
}

#[test]
fn help_shows_how_and_ends_well() {
    let machine = machine();
    let commands = [
        "serve",
        "status",
        "proposals",
        "show",
        "accept",
        "reject",
        "focus",
        "env",
        "run",
        "bridge",
        "restart",
        "stop",
        "config",
    ];
    let all = machine.run(&["--help"]).good();
    assert!(
        all.contains("Examples:") && all.contains("Exit codes:"),
        "{all}"
    );
    for command in commands {
        assert!(all.contains(&format!("\n  {command} ")), "{command}");
        let own = machine.run(&[command, "--help"]).good();
        assert!(own.contains("Usage: outrigger"), "{command}");
    }
    let version = machine.run(&["--version"]).good();
    assert_eq!(
        version,
        concat!("outrigger ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
