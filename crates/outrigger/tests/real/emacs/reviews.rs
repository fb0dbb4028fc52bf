//! Proposals in Emacs, as a diff or in Ediff, decided with its own keys.

use testkit::{Agent, Household, Terminal};

use super::driver::{ACCEPT, CTRL_X, Emacs, REJECT};
use crate::editor::nothing_is_left;
use crate::{household, story};

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
    let Some(house) = household() else {
        return;
    };
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
    change_and_save(&house, &mut emacs, &mut terminal, agent);
    change_without_saving(&house, &mut emacs, &mut terminal, agent);
    refuse_a_conflict(&house, &mut emacs, &mut terminal);
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
    story::selected(house, emacs, text);
    emacs.command("shell");
    emacs.wait_until("a shell", |screen| screen.contains("*shell*"));
    emacs.keys("echo port=$QWEN_CODE_IDE_SERVER_PORT.\r");
    let port = format!("port={}.", house.status()["port"]);
    emacs.wait_until("the environment", |screen| screen.contains(&port));
    story::selected(house, emacs, text);

    let mark = house.ask(terminal, vec![]);
    house.wait_until_done(terminal, &mark);
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for line in text.lines() {
        assert!(request.contains(line), "no {line} in {request}");
    }
}

fn accept_without_leaving_the_shell(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    let text = "line one\nline two\n";
    let mark = house.ask_to_create(terminal, "new.txt", text);
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
    story::write_odd_bytes(house);
    emacs.visit("odd.txt");
    let mark = story::change_of_odd_bytes(house, terminal);
    emacs.wait_until("the diff", |screen| screen.contains("+new words"));
    emacs.command("outrigger-show");
    emacs.keys("e\x1b<\x0e\x0bother words");
    emacs.wait_until("the edit in the diff", |screen| {
        screen.contains("+other words")
    });
    emacs.keys(ACCEPT);
    story::odd_bytes_are_edited(house, terminal, &mark);
    emacs.wait_for_no_diff();
    emacs.wait_until("the file, loaded again", |screen| {
        screen.contains("other words")
    });
}

/// `drop` are the keys that drop the first hunk.
fn accept_one_hunk(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal, drop: &str) {
    let mark = story::two_changes(house, terminal);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+THIRD") && screen.contains("+SEVENTEENTH")
    });
    // The hunks have the numbers that they have on the page.
    let shown = emacs.terminal.screen();
    for (name, change) in [("hunk 1 of 2", "+THIRD"), ("hunk 2 of 2", "+SEVENTEENTH")] {
        let hunk = shown.split("@@ ").find(|part| part.contains(change));
        assert!(hunk.is_some_and(|hunk| hunk.starts_with(name)), "{emacs}");
    }
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
    story::second_change_is_made(house, terminal, &mark);
    emacs.wait_for_no_diff();
}

fn quitting_ediff_decides_nothing(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    emacs.visit("hello.txt");
    let mark = house.ask_to_create(terminal, "later.txt", "decided later\n");
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
    let mark = house.ask_to_create(terminal, "quiet.txt", "quiet\n");
    emacs.wait_until("the diff", |screen| screen.contains("+quiet"));
    emacs.keys("7))\r");
    emacs.wait_until("what was asked for", |screen| screen.contains("42"));
    emacs.command("outrigger-accept");
    house.wait_for_file(terminal, "quiet.txt", "quiet\n");
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
}

/// The person goes on writing the file, and saves it, while its diff is open.
fn change_and_save(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal, agent: Agent) {
    let name = "saved.txt";
    story::write_shared_file(house, name);
    emacs.visit(name);
    let mark = story::change_of_a_shared_file(house, terminal, name);
    emacs.wait_until("the diff", |screen| screen.contains("+THIRD"));
    emacs.command("outrigger-show");
    // The other window.
    emacs.keys(&format!("{CTRL_X}o\x1b>{}\r{CTRL_X}\x13", story::MINE));
    story::shared_file_is_saved(house, terminal, name);
    emacs.wait_until("the news, and the diff beside the file", |screen| {
        screen.contains("the file has changed since the agent read it")
            && screen.contains("+THIRD")
            && screen.contains(story::MINE)
    });
    emacs.command("outrigger-accept");
    story::shared_file_is_whole(house, terminal, name, agent, true, &mark);
    emacs.wait_for_no_diff();
}

/// The person goes on writing the file without saving it.
fn change_without_saving(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let name = "unsaved.txt";
    story::write_shared_file(house, name);
    emacs.visit(name);
    emacs.keys(&format!("\x1b>{}\r", story::MINE));
    let mark = story::change_of_a_shared_file(house, terminal, name);
    emacs.wait_until("the diff, and what it is about", |screen| {
        screen.contains("unsaved changes") && screen.contains("+THIRD")
    });
    // The person's own change is none of the proposal's.
    assert!(
        !emacs
            .terminal
            .screen()
            .contains(&format!("-{}", story::MINE))
    );
    emacs.command("outrigger-accept");
    story::shared_file_is_whole(house, terminal, name, agent, false, &mark);
    emacs.wait_for_no_diff();
    // What was merged is loaded without a question.
    emacs.keys("\x1b<");
    emacs.wait_until("the file, loaded again", |screen| {
        screen.contains("THIRD") && screen.contains(":----F1  unsaved.txt")
    });
}

/// Both have changed the same line. The decision is refused until the person has said what it should
/// be, and the text is in `smerge-mode` for that.
fn refuse_a_conflict(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    house.write("both.txt", "as it was\n");
    emacs.visit("both.txt");
    emacs.keys("\x0bMINE");
    let mark = house.ask_to_edit(terminal, "both.txt", "as it was", "THEIRS");
    emacs.wait_until("the conflict", |screen| {
        screen.contains("+>>>>>>> proposed") && screen.contains("1 in conflict")
    });
    emacs.command("outrigger-show");
    emacs.keys(ACCEPT);
    emacs.wait_until("the refusal, and the diff", |screen| {
        screen.contains("one place is in conflict with changes")
            && screen.contains("+>>>>>>> proposed")
    });
    // The lower side of the conflict.
    emacs.keys("e\x1b<");
    emacs.command("smerge-keep-lower");
    emacs.wait_until("the resolution in the diff", |screen| {
        screen.contains("+THEIRS") && !screen.contains(">>>>>>> proposed")
    });
    emacs.keys(ACCEPT);
    house.wait_for_file(terminal, "both.txt", "THEIRS\n");
    house.wait_until_done(terminal, &mark);
    emacs.wait_for_no_diff();
}

fn answer_in_the_terminal(
    house: &Household,
    emacs: &mut Emacs,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let mark = story::change_for_the_terminal(house, terminal);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    emacs.command("outrigger-show");
    emacs.keys("e\x0btyped in Emacs");
    emacs.wait_until("the edit", |screen| screen.contains("typed in Emacs"));
    story::yes_in_the_terminal(terminal);
    story::terminal_has_decided(house, terminal, agent, &mark, "typed in Emacs\n");
    emacs.wait_for_no_diff();
}

fn reject(house: &Household, emacs: &mut Emacs, terminal: &mut Terminal) {
    story::unwanted_change(house, terminal);
    emacs.wait_until("the diff", |screen| screen.contains("+something else"));
    emacs.command("outrigger-show");
    emacs.keys(REJECT);
    story::nothing_is_changed(house, terminal);
    emacs.wait_for_no_diff();
}

fn health(house: &Household, emacs: &mut Emacs) {
    emacs.command("outrigger-health");
    let port = format!("on port {}", house.status()["port"]);
    emacs.wait_until("the report", |screen| screen.contains(&port));
    assert!(!emacs.terminal.screen().contains("FIX"), "{emacs}");
    emacs.keys("q");
}
