//! Proposals in Emacs, as a diff or in Ediff, decided with its own keys.

use testkit::{Agent, Call, Clients, Household, Terminal, wait_for};

use super::driver::{ACCEPT, CTRL_X, Emacs, REJECT};
use crate::editor::nothing_is_left;
use crate::{PROGRAM, asks};

#[test]
fn emacs_decides_for_qwen() {
    decide_in_emacs(Agent::Qwen);
}

#[test]
fn emacs_decides_for_gemini() {
    decide_in_emacs(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_in_emacs(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    house.write("hello.txt", "first line\nsecond line\nthird line\n");
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(agent);
    emacs.wait_until("the agent in the mode line", |screen| {
        screen.contains("Outr1")
    });
    region_outlives_the_step_into_a_shell(&house, &mut emacs, &mut terminal);
    accept_without_leaving_the_shell(&house, &mut emacs, &mut terminal);
    accept_edited_with_odd_bytes(&house, &mut emacs, &mut terminal);
    accept_one_hunk(&house, &mut emacs, &mut terminal, "k");
    accept_one_hunk(&house, &mut emacs, &mut terminal, "Ena");
    quitting_ediff_decides_nothing(&house, &mut emacs, &mut terminal);
    nothing_is_taken_from_the_minibuffer(&house, &mut emacs, &mut terminal);
    file_changed_on_disk(&house, &mut emacs, &mut terminal, agent);
    unsaved_changes(&house, &mut emacs, &mut terminal);
    answer_in_the_terminal(&house, &mut emacs, &mut terminal, agent);
    reject(&house, &mut emacs, &mut terminal);
    health(&house, &mut emacs);
    terminal.quit();
    emacs.command("kill-emacs");
    emacs.terminal.ended();
    nothing_is_left(&house);
}

/// Edits first, so that what is selected shows whether the texts are still the same.
fn region_outlives_the_step_into_a_shell(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
) {
    emacs.keys("\x1b<typed 🙂 and not saved\r\x0b\x0b\x1b>");
    emacs.wait_until("the edits", |screen| {
        screen.contains("and not saved") && !screen.contains("first line")
    });
    // The mark, and everything up to it.
    emacs.keys("\x00\x1b<");
    let text = "typed 🙂 and not saved\nsecond line\nthird line\n";
    selected(house, emacs, text);
    emacs.command("shell");
    emacs.wait_until("a shell", |screen| screen.contains("*shell*"));
    emacs.keys("echo port=$QWEN_CODE_IDE_SERVER_PORT.\r");
    let port = format!("port={}.", house.status()["port"]);
    emacs.wait_until("the environment", |screen| screen.contains(&port));
    selected(house, emacs, text);

    let mark = house.ask(terminal, vec![]);
    house.wait_until_done(terminal, &mark);
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for line in text.lines() {
        assert!(request.contains(line), "no {line} in {request}");
    }
}

fn accept_without_leaving_the_shell(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    let text = "line one\nline two\n";
    let mark = house.ask(
        terminal,
        vec![vec![Call::write(house.path("new.txt"), text)]],
    );
    emacs.wait_until("the diff", |screen| screen.contains("+line two"));
    emacs.keys("echo still-$((1+1))-here\r");
    emacs.wait_until("the shell", |screen| screen.contains("still-2-here"));
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    emacs.command("outrigger-show");
    emacs.keys(ACCEPT);
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
    // Back in the shell, as if nothing had been.
    emacs.keys("echo back-$((1+1))-again\r");
    emacs.wait_until("the shell", |screen| screen.contains("back-2-again"));
}

fn accept_edited_with_odd_bytes(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    house.write("odd.txt", "\u{feff}first\r\nold words\r\nlast");
    emacs.visit("odd.txt");
    let path = house.path("odd.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "old words", "new words")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| screen.contains("+new words"));
    emacs.command("outrigger-show");
    emacs.keys("e\x1b<\x0e\x0bother words");
    emacs.wait_until("the edit in the diff", |screen| {
        screen.contains("+other words")
    });
    emacs.keys(ACCEPT);
    let wanted = "\u{feff}first\r\nother words\r\nlast";
    house.wait_for_file(terminal, "odd.txt", wanted);
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
    emacs.wait_until("the file, loaded again", |screen| {
        screen.contains("other words")
    });
}

/// `drop` are the keys that drop the first hunk.
fn accept_one_hunk(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal, drop: &str) {
    let poem = |third: &str, seventeenth: &str| -> String {
        (1..=20)
            .map(|number| match number {
                3 => format!("{third}\n"),
                17 => format!("{seventeenth}\n"),
                _ => format!("line {number}\n"),
            })
            .collect()
    };
    house.write("poem.txt", poem("third", "seventeenth"));
    let path = house.path("poem.txt");
    let write = Call::write(&path, &poem("THIRD", "SEVENTEENTH"));
    let mark = house.ask(terminal, vec![vec![Call::read(&path)], vec![write]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+THIRD") && screen.contains("+SEVENTEENTH")
    });
    emacs.command("outrigger-show");
    for key in drop.chars() {
        emacs.keys(&key.to_string());
        // Ediff takes its time, and would throw away keys that come too early.
        let shown = match key {
            'k' => "Dropped",
            'E' => "At start of 2 diffs",
            'n' => "diff 1 of 2",
            _ => "differences in region 1",
        };
        emacs.wait_until(shown, |screen| screen.contains(shown));
    }
    emacs.keys(ACCEPT);
    house.wait_for_file(terminal, "poem.txt", poem("third", "SEVENTEENTH"));
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
}

fn quitting_ediff_decides_nothing(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    emacs.visit("hello.txt");
    let call = Call::write(house.path("later.txt"), "decided later\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| screen.contains("+decided later"));
    emacs.command("outrigger-show");
    emacs.keys("E");
    emacs.wait_until("Ediff", |screen| screen.contains("Quick Help"));
    emacs.keys("qy");
    emacs.wait_until("the file", |screen| {
        screen.contains("Undecided") && screen.contains("typed 🙂 and not saved")
    });
    assert_eq!(house.proposals().len(), 1);
    emacs.command("outrigger-accept");
    house.wait_for_file(terminal, "later.txt", "decided later\n");
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
}

fn nothing_is_taken_from_the_minibuffer(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
) {
    emacs.keys("\x1b:");
    emacs.wait_until("the minibuffer", |screen| screen.contains("Eval:"));
    emacs.keys("(message \"%s\" (* 6 ");
    emacs.wait_until("half of it", |screen| screen.contains("(* 6"));
    let call = Call::write(house.path("quiet.txt"), "quiet\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| screen.contains("+quiet"));
    emacs.keys("7))\r");
    emacs.wait_until("what was asked for", |screen| screen.contains("42"));
    emacs.command("outrigger-accept");
    house.wait_for_file(terminal, "quiet.txt", "quiet\n");
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
}

/// Qwen Code looks for itself whether the file has changed, and then does not write it.
fn file_changed_on_disk(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
    agent: Agent,
) {
    house.write("moving.txt", "as the agent read it\n");
    let path = house.path("moving.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::write(&path, "as the agent wants it\n")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    house.write("moving.txt", "changed by somebody else\n");
    emacs.command("outrigger-accept");
    emacs.wait_until("the question", |screen| {
        screen.contains("was written since the agent read it")
    });
    emacs.keys("yes\r");
    house.wait_until_done(terminal, &mark);
    let left = match agent {
        Agent::Qwen => "changed by somebody else\n",
        Agent::Gemini => "as the agent wants it\n",
    };
    house.wait_for_file(terminal, "moving.txt", left);
    emacs.wait_for_no_diff();
}

fn unsaved_changes(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    house.write("mine.txt", "first line\nsecond line\n");
    emacs.visit("mine.txt");
    emacs.keys("MINE\r");
    let path = house.path("mine.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "second", "SECOND")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff with a warning", |screen| {
        screen.contains("unsaved changes")
            && screen.contains("-MINE")
            && screen.contains("+SECOND line")
    });
    emacs.command("outrigger-accept");
    house.wait_for_file(terminal, "mine.txt", "first line\nSECOND line\n");
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
    // What was typed is still there, and Emacs asks before it goes over what the agent wrote.
    emacs.keys(&format!("{CTRL_X}\x13"));
    emacs.wait_until("the question of Emacs", |screen| {
        screen.contains("MINE") && screen.contains("Save anyway?")
    });
    emacs.keys("no\r");
}

/// The person says yes in the terminal, and the agent takes its proposal back. Gemini CLI writes
/// what the editor says the text is by now; Qwen Code does not wait for that and writes its own.
fn answer_in_the_terminal(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let call = Call::write(house.path("terminal.txt"), "as the agent wants it\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    emacs.command("outrigger-show");
    emacs.keys("e\x0btyped in Emacs");
    emacs.wait_until("the edit", |screen| screen.contains("typed in Emacs"));
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    house.wait_until_done(terminal, &mark);
    let written = match agent {
        Agent::Qwen => "as the agent wants it\n",
        Agent::Gemini => "typed in Emacs\n",
    };
    house.wait_for_file(terminal, "terminal.txt", written);
    emacs.wait_for_no_diff();
}

fn reject(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    house.write("keep.txt", "as it was\n");
    let path = house.path("keep.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "as it was", "something else")],
    ];
    house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| screen.contains("+something else"));
    emacs.command("outrigger-show");
    emacs.keys(REJECT);
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    house.wait_for_prompt(terminal);
    house.wait_for_no_proposals();
    emacs.wait_for_no_diff();
    assert_eq!(house.read("keep.txt").unwrap(), b"as it was\n");
}

fn health(house: &Household, emacs: &mut Emacs) {
    emacs.command("outrigger-health");
    let port = format!("on port {}", house.status()["port"]);
    emacs.wait_until("the report", |screen| screen.contains(&port));
    assert!(!emacs.terminal.screen().contains("FIX"), "{emacs}");
    emacs.keys("q");
}

/// Waits until agents see exactly as much selected as `text` has.
fn selected(house: &Household, emacs: &Emacs, text: &str) {
    let length = u64::try_from(text.chars().count()).unwrap();
    wait_for(
        "the selection in what agents see",
        || (house.status()["files"][0]["selected"] == length).then_some(()),
        || format!("{length} expected, {}\n{emacs}", house.status()),
    );
}
