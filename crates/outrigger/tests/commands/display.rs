//! Colours and the pager, on a real terminal.

use std::process::Stdio;

use testkit::{Key, Machine, PlayedAgent, Terminal, finish};

use crate::{PROGRAM, machine};

/// More lines than any terminal of the kit has.
const LONG: usize = 200;

/// The environment of a terminal with these variables too.
fn environment(machine: &Machine, more: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut environment = machine.environment();
    environment.push(("TERM".into(), "xterm-256color".into()));
    let more = more
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    environment.extend(more);
    environment
}

/// What the pager has got, if it was started. It writes that to a file, with `LESS`.
const PAGER: &str = "cat > paged; echo \"LESS=$LESS\" >> paged; echo paged-it";

/// Runs a command in a terminal, to its end.
fn typed(machine: &Machine, args: &[&str], more: &[(&str, &str)]) -> (Terminal, Option<String>) {
    let _ = std::fs::remove_file(machine.path("paged"));
    let command = [&[PROGRAM], args].concat();
    let environment = environment(machine, more);
    let mut terminal = Terminal::start(&command, &machine.workspace(), &environment);
    terminal.ended();
    let paged = machine.read("paged");
    (terminal, paged.map(|text| String::from_utf8(text).unwrap()))
}

#[test]
fn what_does_not_fit_goes_to_the_pager() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let long = machine.write("long.txt", "");
    agent.open_diff(&long, &"\u{1b}[2Jline\n".repeat(LONG));
    agent.open_diff(&machine.write("short.txt", "old\n"), "new\n");

    let (_, paged) = typed(&machine, &["show", "1"], &[("PAGER", PAGER)]);
    let paged = paged.expect("the pager was started");
    assert!(
        paged.starts_with("  1  qwen  long.txt  +200 −0  (1 hunk; Qwen Code"),
        "{paged}"
    );
    // Coloured, and the agent's own control characters are shown, not obeyed.
    assert_eq!(paged.matches("\u{1b}[32m+␛[2Jline\u{1b}[m\n").count(), LONG);
    assert!(paged.ends_with("LESS=FRX\n"), "{paged}");

    let own = [
        ("PAGER", "false"),
        ("OUTRIGGER_PAGER", PAGER),
        ("LESS", "i"),
        ("NO_COLOR", "1"),
    ];
    let (_, paged) = typed(&machine, &["show", "1"], &own);
    let paged = paged.expect("the pager of our own variable was started");
    assert_eq!(paged.matches("\n+␛[2Jline").count(), LONG);
    assert!(
        !paged.contains('\u{1b}') && paged.ends_with("LESS=i\n"),
        "{paged}"
    );

    for (args, more) in [
        (&["show", "2"][..], &[("PAGER", PAGER)][..]),
        (&["proposals"], &[("PAGER", PAGER)]),
        (&["show", "1", "--no-pager"], &[("PAGER", PAGER)]),
        (&["show", "1"], &[("PAGER", PAGER), ("OUTRIGGER_PAGER", "")]),
    ] {
        let (_, paged) = typed(&machine, args, more);
        assert_eq!(paged, None, "{args:?} {more:?}");
    }
    // A pager that does not exist costs nobody the text.
    for pager in ["no-such-pager", "no-such-pager --with a flag"] {
        let (terminal, _) = typed(&machine, &["show", "1"], &[("PAGER", pager)]);
        terminal.wait_until("the text", |screen| screen.contains("+␛[2Jline"));
    }
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&machine.write("a.txt", "old\n"), "new\n");
    let in_pipe = |args: &[&str]| {
        let mut command = machine.command(args);
        command.env("PAGER", "false").stdin(Stdio::null());
        finish(command, b"").good()
    };
    let red = "\u{1b}[31m-old\u{1b}[m\n";
    assert!(!in_pipe(&["show", "1"]).contains('\u{1b}'));
    assert!(in_pipe(&["show", "1", "--color", "always"]).contains(red));

    let listed = in_pipe(&["proposals", "--color=always"]);
    let counts = "\u{1b}[32m+1\u{1b}[m \u{1b}[31m−1\u{1b}[m";
    assert!(listed.contains(counts), "{listed:?}");
    assert!(!in_pipe(&["proposals"]).contains('\u{1b}'));

    let is_red = |args: &[&str], more: &[(&str, &str)]| {
        let (terminal, _) = typed(&machine, args, more);
        terminal.wait_until("the diff", |screen| screen.contains("+new"));
        let screen = terminal.look();
        let line = (0..50).find(|row| {
            let cell = screen.cell(*row, 0);
            cell.is_some_and(|cell| cell.contents() == "-")
                && screen
                    .cell(*row, 1)
                    .is_some_and(|cell| cell.contents() == "o")
        });
        let cell = screen.cell(line.unwrap(), 0).unwrap();
        format!("{:?}", cell.fgcolor()) == "Idx(1)"
    };
    assert!(is_red(&["show", "1"], &[]));
    assert!(!is_red(&["show", "1"], &[("NO_COLOR", "1")]));
    assert!(!is_red(&["show", "1", "--color", "never"], &[]));
    assert!(is_red(
        &["show", "1", "--color=always"],
        &[("NO_COLOR", "1")]
    ));
}

#[test]
fn ctrl_c_in_the_pager_is_the_pagers() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&machine.write("a.txt", ""), &"line\n".repeat(LONG));
    // A process that has ended is a zombie until its parent asks for it.
    let pager = "trap '' INT; cat > paged; echo waits; read answer < /dev/tty; \
                 test \"$(cut -d' ' -f3 /proc/$PPID/stat)\" != Z && echo still-there";
    let environment = environment(&machine, &[("PAGER", pager)]);
    let command = [PROGRAM, "show"];
    let mut terminal = Terminal::start(&command, &machine.workspace(), &environment);
    terminal.wait_until("the pager", |screen| screen.contains("waits"));
    terminal.press(Key::CtrlC);
    terminal.press(Key::Enter);
    terminal.ended();
    terminal.wait_until("its last words", |screen| screen.contains("still-there"));
}
