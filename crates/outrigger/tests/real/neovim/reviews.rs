//! Proposals in Neovim's own diff, decided with Vim's own commands.

use std::fs;

use serde_json::json;
use testkit::{Agent, Household, IdeClient, Start, Terminal};

use super::nvim::Neovim;
use super::{NEW, OLD, household};
use crate::story;

#[test]
fn qwen_is_decided_in_an_old_neovim() {
    decide_in_neovim(Agent::Qwen, OLD);
}

#[test]
fn gemini_is_decided_in_an_old_neovim() {
    decide_in_neovim(Agent::Gemini, OLD);
}

#[test]
fn qwen_is_decided_in_a_new_neovim() {
    decide_in_neovim(Agent::Qwen, NEW);
}

#[test]
fn gemini_is_decided_in_a_new_neovim() {
    decide_in_neovim(Agent::Gemini, NEW);
}

#[test]
fn texts_come_back_byte_for_byte_from_an_old_neovim() {
    byte_for_byte(OLD);
}

#[test]
fn texts_come_back_byte_for_byte_from_a_new_neovim() {
    byte_for_byte(NEW);
}

#[test]
fn every_way_to_say_yes_or_no_in_an_old_neovim() {
    every_way(OLD);
}

#[test]
fn every_way_to_say_yes_or_no_in_a_new_neovim() {
    every_way(NEW);
}

#[test]
fn unsaved_changes_are_never_lost_in_an_old_neovim() {
    unsaved_changes(OLD);
}

#[test]
fn unsaved_changes_are_never_lost_in_a_new_neovim() {
    unsaved_changes(NEW);
}

#[test]
fn a_file_that_is_written_in_steps_is_loaded_whole_in_an_old_neovim() {
    written_in_steps(OLD);
}

#[test]
fn a_file_that_is_written_in_steps_is_loaded_whole_in_a_new_neovim() {
    written_in_steps(NEW);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_in_neovim(agent: Agent, which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "one\ntwo SELECTED-WORDS 🙂 here\nthree\n");
    let mut neovim = Neovim::start(&house, which, &["hello.txt"]);
    let mut terminal = house.start_connected(agent);
    see_the_selection_and_accept(&house, &mut neovim, &mut terminal);
    accept_edited(&house, &mut neovim, &mut terminal);
    accept_one_hunk(&house, &mut neovim, &mut terminal);
    change_and_save(&house, &mut neovim, &mut terminal, agent);
    change_without_saving(&house, &mut neovim, &mut terminal, agent);
    answer_in_the_terminal(&house, &mut neovim, &mut terminal, agent);
    reject(&house, &mut neovim, &mut terminal);
    terminal.quit();
}

fn see_the_selection_and_accept(house: &Household, neovim: &mut Neovim, terminal: &mut Terminal) {
    // The word and what follows it on the line; then into the terminal split, all at once.
    neovim.command("belowright new | terminal cat");
    neovim.command("wincmd k");
    neovim.keys("gg/SELECTED\rv$h\u{17}ji");
    neovim.wait_for("mode()", "t");
    let selected = "SELECTED-WORDS 🙂 here";
    story::selected(house, neovim, selected);
    let text = "line one\nline two\n";
    let mark = house.ask_to_create(terminal, "new.txt", text);
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for part in ["hello.txt", selected] {
        assert!(request.contains(part), "no {part} in {request}");
    }

    // The person goes on typing in the terminal, and nothing comes between.
    neovim
        .terminal
        .wait_until("the news", |screen| screen.contains(":Outrigger show"));
    neovim.keys("still typing here\r");
    neovim.terminal.wait_until("what was typed", |screen| {
        screen.matches("still typing here").count() == 2
    });
    assert_eq!(neovim.eval("mode()"), "t");
    assert_eq!(neovim.eval("tabpagenr('$')"), "1");

    neovim.keys("\u{1c}\u{e}:Outrigger show\r");
    neovim.wait_for_review("new.txt");
    assert_eq!(neovim.text(), "line one\nline two");
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    neovim.keys(":w\r");
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    neovim.wait_for("&buftype", "terminal");
    neovim.wait_for("tabpagenr('$')", "1");
    neovim.command("wincmd k");
    neovim.command("only");
}

fn accept_edited(house: &Household, neovim: &mut Neovim, terminal: &mut Terminal) {
    house.write("edited.py", "as = 'it was'\n");
    neovim.command("edit edited.py");
    let proposed = "as = 'the agent wants it'\n";
    let mark = house.ask_to_rewrite(terminal, "edited.py", proposed);
    neovim.wait_for_review("edited.py");
    assert_eq!(neovim.eval("&filetype"), "python");
    neovim.keys("ccas = 'THE PERSON wants it'\u{1b}:w\r");
    let mine = "as = 'THE PERSON wants it'\n";
    house.wait_for_file(terminal, "edited.py", mine);
    house.wait_until_done(terminal, &mark);
    neovim.wait_until_back_in("edited.py");
    // What the agent wrote is in the buffer without a question.
    neovim.wait_for("getline(1)", mine.trim_end());
    assert_eq!(neovim.eval("&modified"), "0");
}

fn accept_one_hunk(house: &Household, neovim: &mut Neovim, terminal: &mut Terminal) {
    let mark = story::two_changes(house, terminal);
    neovim.wait_for_review("poem.txt");
    assert_eq!(neovim.eval("getline('.')"), "THIRD");
    neovim.keys("do");
    neovim.wait_for("getline(3)", "third");
    neovim.keys(":w\r");
    story::second_change_is_made(house, terminal, &mark);
    neovim.wait_until_back_in("edited.py");
}

/// The person goes on writing the file, and saves it, while its diff is open.
fn change_and_save(house: &Household, neovim: &mut Neovim, terminal: &mut Terminal, agent: Agent) {
    let name = "saved.txt";
    story::write_shared_file(house, name);
    neovim.command("edit saved.txt");
    let mark = story::change_of_a_shared_file(house, terminal, name);
    neovim.wait_for_review(name);
    neovim.keys(&format!("gtGo{}\u{1b}:w\r", story::MINE));
    story::shared_file_is_saved(house, terminal, name);
    // The diff has what was added on both sides, and the person stays where they are.
    for side in ["original", "proposed"] {
        let last = format!("getbufline('/{side}/{name}', '$')[0]");
        neovim.wait_for(&last, story::MINE);
    }
    assert_eq!(neovim.eval("getline('.')"), story::MINE);
    neovim.wait_for("fnamemodify(bufname('%'), ':t')", name);
    neovim.terminal.wait_until("the news", |screen| {
        screen.contains("the file has changed since the agent read it")
    });
    neovim.keys(":Outrigger show\r");
    neovim.wait_for_review(name);
    neovim.wait_for("getline(3)", "THIRD");
    neovim.keys(":w\r");
    story::shared_file_is_whole(house, terminal, name, agent, true, &mark);
    neovim.wait_until_back_in(name);
    neovim.command("edit! edited.py");
}

/// The person goes on writing the file without saving it.
fn change_without_saving(
    house: &Household,
    neovim: &mut Neovim,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let name = "unsaved.txt";
    story::write_shared_file(house, name);
    neovim.command("edit unsaved.txt");
    neovim.keys(&format!("Go{}\u{1b}", story::MINE));
    neovim.wait_for("getline('$') . mode()", &format!("{}n", story::MINE));
    let mark = story::change_of_a_shared_file(house, terminal, name);
    neovim.wait_for_review(name);
    neovim.wait_for("getline('$')", story::MINE);
    neovim
        .terminal
        .wait_until("what the left side is", |screen| {
            screen.contains("unsaved.txt with your unsaved changes")
        });
    neovim.keys(":w\r");
    story::shared_file_is_whole(house, terminal, name, agent, false, &mark);
    neovim.wait_until_back_in(name);
    // What was merged is loaded without a question.
    neovim.wait_for("getline(3) . &modified", "THIRD0");
    assert_eq!(neovim.eval("getline('$')"), story::MINE);
    neovim.command("edit edited.py");
}

fn answer_in_the_terminal(
    house: &Household,
    neovim: &mut Neovim,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let typed = "typed in the editor\n";
    let mark = story::change_for_the_terminal(house, terminal);
    neovim.wait_for_review("terminal.txt");
    neovim.keys("cctyped in the editor\u{1b}");
    neovim.wait_for("getline(1) . mode()", "typed in the editorn");
    story::yes_in_the_terminal(terminal);
    story::terminal_has_decided(house, terminal, agent, &mark, typed);
    neovim.wait_until_back_in("edited.py");
    let told = neovim.messages();
    assert!(
        told.contains("terminal.txt: taken back by its agent"),
        "{told}"
    );
}

fn reject(house: &Household, neovim: &mut Neovim, terminal: &mut Terminal) {
    story::unwanted_change(house, terminal);
    neovim.wait_for_review("keep.txt");
    neovim.keys(":q\r");
    story::nothing_is_changed(house, terminal);
    neovim.wait_until_back_in("edited.py");
}

/// A Neovim, and the connection of an agent that asks what the test tells it to.
fn with_client(which: usize) -> Option<(Household, Neovim, IdeClient)> {
    let house = household(which)?;
    house.write("hello.txt", "hello\n");
    let neovim = Neovim::start(&house, which, &["hello.txt"]);
    let client = connect(&house, Agent::Gemini);
    Some((house, neovim, client))
}

fn connect(house: &Household, agent: Agent) -> IdeClient {
    let mut client = IdeClient::start(house, "current", agent, Start::Plain);
    assert_eq!(client.discover().as_deref(), Some("Neovim"), "{client}");
    assert_eq!(client.connect(), "connected", "{client}");
    client
}

fn byte_for_byte(which: usize) {
    let Some((house, mut neovim, mut client)) = with_client(which) else {
        return;
    };
    let path = house.path("odd.txt");
    // What is proposed, and what it is after a word was added to its first line.
    let table = [
        ("a\nb\n", "a!\nb\n"),
        ("a\nb", "a!\nb"),
        ("a\r\nb\r\n", "a!\r\nb\r\n"),
        ("a\r\nb", "a!\r\nb"),
        ("\u{feff}a\r\nb\r\n", "\u{feff}a!\r\nb\r\n"),
        ("\u{feff}a\n", "\u{feff}a!\n"),
        ("\na\r\nb\n", "!\na\r\nb\n"),
        ("a\rb\r", "a\rb\r!"),
        ("a\u{0}b\u{85}\u{2028}\n", "a\u{0}b\u{85}\u{2028}!\n"),
        ("🙂", "🙂!"),
        ("\n", "!\n"),
        ("\n\n\n", "!\n\n\n"),
    ];
    for (proposed, edited) in table {
        for (keys, wanted) in [(":w\r", proposed), ("ggA!\u{1b}:w\r", edited)] {
            fs::write(&path, "before\n").unwrap();
            let diff = client.open_diff(path.to_str().unwrap(), proposed);
            neovim.wait_for_review("odd.txt");
            neovim.keys(keys);
            let verdict = client.verdict(diff);
            assert_eq!(verdict, json!({"status": "accepted", "content": wanted}));
            neovim.wait_until_back_in("hello.txt");
        }
    }
}

fn every_way(which: usize) {
    let Some((house, mut neovim, mut client)) = with_client(which) else {
        return;
    };
    let path = house.path("way.txt");
    let text = "as the agent wants it\n";
    let mine = "MINE\n";
    let (yes, no) = (Some(text), None);
    neovim.command("let g:events = []");
    neovim.command("autocmd User Outrigger* let g:events += [expand('<amatch>')]");
    let table = [
        (":w\r", yes),
        (":wq\r", yes),
        (":x\r", yes),
        ("ZZ", yes),
        (":Outrigger accept\r", yes),
        ("ccMINE\u{1b}:w\r", Some(mine)),
        ("ccMINE\u{1b}:x\r", Some(mine)),
        ("ccMINE\u{1b}:Outrigger accept\r", Some(mine)),
        (":q\r", no),
        (":q!\r", no),
        ("ZQ", no),
        (":tabclose\r", no),
        ("\u{17}c", no),
        ("\u{17}h:q\r", no),
        (":bwipeout\r", no),
        (":Outrigger reject\r", no),
        // Typed changes are protected from a plain `:q`, as in any other buffer.
        ("ccMINE\u{1b}:q\r:q!\r", no),
    ];
    for (keys, wanted) in table {
        let diff = client.open_diff(path.to_str().unwrap(), text);
        neovim.wait_for_review("way.txt");
        neovim.keys(keys);
        let verdict = client.verdict(diff);
        let accepted = verdict["content"].as_str();
        assert_eq!(accepted, wanted, "{keys:?}: {verdict}");
        neovim.wait_until_back_in("hello.txt");
        neovim
            .terminal
            .wait_until("no line with tabs", |screen| screen.starts_with("hello"));
        house.wait_for_no_proposals();
    }

    let events = |name: &str| format!("count(g:events, 'OutriggerProposal{name}')");
    neovim.wait_for(&events("Opened"), &table.len().to_string());
    neovim.wait_for(&events("Closed"), &table.len().to_string());

    // Nothing comes between the person and what they type.
    neovim.keys("itypi");
    let diff = client.open_diff(path.to_str().unwrap(), text);
    // It is in a window of its own, with lines of its own.
    neovim.terminal.wait_until("the news", |screen| {
        screen.contains("proposes") && screen.contains("way.txt")
    });
    neovim.keys("ng ");
    neovim.wait_for("getline(1) . mode()", "typing helloi");
    neovim.keys("\u{1b}u");
    neovim.wait_for_review("way.txt");
    neovim.keys(":q\r");
    assert_eq!(client.verdict(diff)["status"], "rejected");
    neovim.wait_until_back_in("hello.txt");

    // Those of several agents queue, and each is asked about on its own.
    let mut other = connect(&house, Agent::Qwen);
    let first = client.open_diff(house.path("first.txt").to_str().unwrap(), text);
    neovim.wait_for_review("first.txt");
    let second = other.open_diff(house.path("second.txt").to_str().unwrap(), text);
    house.wait_for_proposal(&neovim, Agent::Qwen, "second.txt");
    assert_eq!(neovim.eval("tabpagenr('$')"), "2");
    neovim.keys(":w\r");
    assert_eq!(client.verdict(first)["content"], text);
    neovim.wait_for_review("second.txt");
    neovim.keys(":q\r");
    assert_eq!(other.verdict(second)["status"], "rejected");
    neovim.wait_until_back_in("hello.txt");

    // Neither a copy nor a `:wa` somewhere else is a decision, and what was put aside is still there.
    let diff = client.open_diff(path.to_str().unwrap(), text);
    neovim.wait_for_review("way.txt");
    neovim.keys("ccMINE\u{1b}");
    neovim.command("write copy.txt");
    neovim.command("tabprevious");
    neovim.command("wa");
    let told = neovim.messages();
    assert_eq!(told.matches("not accepted").count(), 2, "{told}");
    neovim.keys(":Outrigger show\r");
    neovim.wait_for_review("way.txt");
    neovim.keys("u:edit hello.txt\r");
    neovim.wait_for("fnamemodify(bufname('%'), ':t')", "hello.txt");
    assert_eq!(house.proposals().len(), 1);
    neovim.keys(":Outrigger show\r");
    neovim.wait_for_review("way.txt");
    neovim.keys(":w\r");
    assert_eq!(client.verdict(diff)["content"], text);
}

fn unsaved_changes(which: usize) {
    let Some((house, mut neovim, mut client)) = with_client(which) else {
        return;
    };
    let path = house.path("hello.txt");
    neovim.keys("ccTYPED AND NOT SAVED\u{1b}");
    neovim.wait_for("getline(1) . mode()", "TYPED AND NOT SAVEDn");
    let diff = client.open_diff(path.to_str().unwrap(), "from the agent\n");
    neovim.wait_for_review("hello.txt");
    assert_eq!(
        neovim.eval("getbufline(winbufnr(1), 1)[0]"),
        "TYPED AND NOT SAVED"
    );
    // Both have changed the same line, so the person has to say what it should be.
    assert!(neovim.text().starts_with("<<<<<<< in the file now\nTYPED"));
    for accept in [":w\r", ":wq\r"] {
        neovim.keys(accept);
        neovim.wait_until("the refusal", |it| {
            it.messages().contains("one place is in conflict with")
        });
        neovim
            .terminal
            .wait_until("all of it", |screen| screen.contains("or reject the"));
        neovim.command("messages clear");
        neovim.wait_for_review("hello.txt");
    }
    neovim.keys("gg]x");
    assert_eq!(neovim.eval("getline('.')"), "<<<<<<< in the file now");
    let both = "TYPED AND from the agent\n";
    neovim.keys("ggdGiTYPED AND from the agent\u{1b}:w\r");
    let verdict = client.verdict(diff);
    assert_eq!(verdict, json!({"status": "accepted", "content": both}));
    neovim.wait_until_back_in("hello.txt");
    fs::write(&path, both).unwrap();
    neovim.wait_for("getline(1) . &modified", "TYPED AND from the agent0");

    // What the person types after their decision is not part of it, and stays.
    neovim.keys("ccTYPED BEFORE\u{1b}");
    neovim.wait_for("getline(1) . mode()", "TYPED BEFOREn");
    let diff = client.open_diff(path.to_str().unwrap(), both);
    neovim.wait_for_review("hello.txt");
    neovim.keys(":w\r");
    assert_eq!(client.verdict(diff)["content"], "TYPED BEFORE\n");
    neovim.wait_until_back_in("hello.txt");
    neovim.keys("ccTYPED AFTER\u{1b}");
    neovim.wait_for("getline(1) . mode()", "TYPED AFTERn");
    fs::write(&path, "TYPED BEFORE\n").unwrap();
    neovim.wait_until("the warning", |it| it.messages().contains("was written"));
    assert_eq!(neovim.eval("getline(1)"), "TYPED AFTER");
}

/// Agents truncate a file before they write it, and a look may come between the two.
fn written_in_steps(which: usize) {
    let Some((house, mut neovim, mut client)) = with_client(which) else {
        return;
    };
    let path = house.path("hello.txt");
    let diff = client.open_diff(path.to_str().unwrap(), "from the agent\n");
    neovim.wait_for_review("hello.txt");
    neovim.keys(":w\r");
    assert_eq!(client.verdict(diff)["status"], "accepted");
    neovim.wait_until_back_in("hello.txt");
    for step in ["", "from the agent\n"] {
        fs::write(&path, step).unwrap();
        neovim.wait_for("getline(1)", step.trim_end());
    }
    assert_eq!(neovim.eval("&modified"), "0");
}
