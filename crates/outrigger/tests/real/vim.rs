//! The Vim plugin in a real Vim, with real agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Agent, Clients, Household, Terminal};

use crate::editor::{discovery_files, nothing_is_left};
use crate::story::{self, Orphan};
use crate::talks::Stage;
use crate::{asks, household};

#[test]
fn vim_decides_for_qwen() {
    decide_in_vim(Agent::Qwen);
}

#[test]
fn vim_decides_for_gemini() {
    decide_in_vim(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_in_vim(agent: Agent) {
    let Some(house) = household() else {
        return;
    };
    house.write("hello.txt", "first line\nsecond line\nthird line\n");
    let mut vim = start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(agent);
    vim.wait_until("the agent in the status line", |screen| {
        screen.contains("[outrigger: 1 agent]")
    });
    selection_outlives_the_step_into_a_terminal(&house, &mut vim, &mut terminal);
    accept_while_the_person_is_in_a_terminal(&house, &mut vim, &mut terminal);
    accept_edited_with_odd_bytes(&house, &mut vim, &mut terminal);
    accept_one_hunk(&house, &mut vim, &mut terminal);
    nothing_is_taken_from_somebody_who_types(&house, &mut vim, &mut terminal);
    change_and_save(&house, &mut vim, &mut terminal, agent);
    change_without_saving(&house, &mut vim, &mut terminal, agent);
    refuse_a_conflict(&house, &mut vim, &mut terminal);
    answer_in_the_terminal(&house, &mut vim, &mut terminal, agent);
    reject(&house, &mut vim, &mut terminal);
    terminal.quit();
    vim.type_keys(":qa!\r");
    vim.ended();
    nothing_is_left(&house);
}

/// Edits of every kind first, so that what is selected shows whether the texts are still the same.
fn selection_outlives_the_step_into_a_terminal(
    house: &Household,
    vim: &mut Terminal,
    terminal: &mut Terminal,
) {
    vim.type_keys(":botright terminal ++rows=10\r");
    vim.wait_until("a terminal in Vim", |screen| screen.contains("[running]"));
    vim.type_keys("echo port=$QWEN_CODE_IDE_SERVER_PORT.\r");
    let port = format!("port={}.", house.status()["port"]);
    vim.wait_until("the environment", |screen| screen.contains(&port));
    vim.type_keys("\x17kggOtyped and not saved\x1b");
    vim.type_keys(":2delete\r:2copy $\r:%s/third/THIRD 🙂/\r");
    vim.wait_until("the edits", |screen| screen.contains("THIRD"));
    vim.type_keys("ggVG");
    let text = "typed and not saved\nsecond line\nTHIRD 🙂 line\nsecond line";
    story::selected(house, vim, text);
    vim.type_keys("\x17jecho in-$((1+1))-again\r");
    vim.wait_until("the terminal", |screen| screen.contains("in-2-again"));
    story::selected(house, vim, text);

    let mark = house.ask(terminal, vec![]);
    house.wait_until_done(terminal, &mark);
    let request = house.model.requests_containing(&mark)[0].to_string();
    // Qwen Code writes it as text, Gemini CLI as JSON within JSON.
    let request = request.replace(r"\\n", r"\n");
    let written = text.replace('\n', r"\n");
    assert!(request.contains(&written), "no {written} in {request}");
}

fn accept_while_the_person_is_in_a_terminal(
    house: &Household,
    vim: &mut Terminal,
    terminal: &mut Terminal,
) {
    let text = "line one\nline two\n";
    let mark = house.ask_to_create(terminal, "new.txt", text);
    vim.wait_until("the tab page", |screen| screen.contains("/new.txt"));
    vim.type_keys("echo still-$((1+1))-here\r");
    vim.wait_until("the terminal", |screen| screen.contains("still-2-here"));
    vim.type_keys("\x17:Outrigger show\r");
    vim.wait_until("the diff", |screen| screen.contains("line two"));
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    vim.type_keys(":w\r");
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    // Back in the terminal, as if nothing had been.
    vim.type_keys("echo back-$((1+1))-again\r");
    vim.wait_until("the terminal", |screen| screen.contains("back-2-again"));
    vim.type_keys("\x17:quit!\r:edit! hello.txt\r");
}

fn accept_edited_with_odd_bytes(house: &Household, vim: &mut Terminal, terminal: &mut Terminal) {
    story::write_odd_bytes(house);
    vim.type_keys(":edit odd.txt\r");
    let mark = story::change_of_odd_bytes(house, terminal);
    vim.wait_until("the diff", |screen| screen.contains("new words"));
    vim.type_keys("ccother words\x1b:w\r");
    story::odd_bytes_are_edited(house, terminal, &mark);
    vim.wait_until("the file, loaded again", |screen| {
        screen.contains("odd.txt [outrigger: 1 agent]") && screen.contains("other words")
    });
}

fn accept_one_hunk(house: &Household, vim: &mut Terminal, terminal: &mut Terminal) {
    let mark = story::two_changes(house, terminal);
    vim.wait_until("the diff", |screen| screen.contains("SEVENTEENTH"));
    // The cursor is on the first hunk.
    vim.type_keys("do:w\r");
    story::second_change_is_made(house, terminal, &mark);
    put_away(vim);
}

fn nothing_is_taken_from_somebody_who_types(
    house: &Household,
    vim: &mut Terminal,
    terminal: &mut Terminal,
) {
    vim.type_keys(":edit! hello.txt\rggOtyped ");
    let mark = house.ask_to_create(terminal, "quiet.txt", "quiet\n");
    vim.wait_until("the tab page", |screen| screen.contains("/quiet.txt"));
    vim.type_keys("without a break\x1b");
    vim.wait_until("what was typed", |screen| {
        screen.contains("typed without a break")
    });
    vim.type_keys(":Outrigger accept\r");
    house.wait_for_file(terminal, "quiet.txt", "quiet\n");
    house.wait_until_done(terminal, &mark);
    vim.wait_until("one tab page", |screen| {
        screen.starts_with("typed without a break")
    });
    vim.type_keys(":edit!\r");
}

/// The person goes on writing the file, and saves it, while its diff is open.
fn change_and_save(house: &Household, vim: &mut Terminal, terminal: &mut Terminal, agent: Agent) {
    let name = "saved.txt";
    story::write_shared_file(house, name);
    vim.type_keys(":edit! saved.txt\r");
    let mark = story::change_of_a_shared_file(house, terminal, name);
    vim.wait_until("the diff, who proposes it and how to decide", |screen| {
        let who = match agent {
            Agent::Qwen => "Qwen Code",
            Agent::Gemini => "Gemini CLI",
        };
        let proposes = " proposes | :w accepts, :q rejects";
        screen.contains("THIRD") && screen.contains(who) && screen.contains(proposes)
    });
    vim.type_keys(&format!("gtGo{}\x1b:w\r", story::MINE));
    story::shared_file_is_saved(house, terminal, name);
    vim.wait_until("the news, where the person is", |screen| {
        screen.contains("the file has changed since") && !screen.contains("proposes |")
    });
    // With what is folded because it is the same.
    vim.type_keys(":Outrigger show\rzR");
    vim.wait_until("the diff with both changes", |screen| {
        screen.contains("THIRD") && screen.contains(story::MINE)
    });
    vim.type_keys(":w\r");
    story::shared_file_is_whole(house, terminal, name, agent, true, &mark);
    put_away(vim);
}

/// The person goes on writing the file without saving it.
fn change_without_saving(
    house: &Household,
    vim: &mut Terminal,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let name = "unsaved.txt";
    story::write_shared_file(house, name);
    vim.type_keys(&format!(":edit! unsaved.txt\rGo{}\x1b", story::MINE));
    vim.wait_until("what was typed", |screen| screen.contains(story::MINE));
    let mark = story::change_of_a_shared_file(house, terminal, name);
    vim.wait_until("the diff, and what it is about", |screen| {
        screen.contains("THIRD") && screen.contains("unsaved.txt with your unsaved changes")
    });
    vim.type_keys("zR");
    vim.wait_until("what was typed", |screen| screen.contains(story::MINE));
    vim.type_keys(":w\r");
    story::shared_file_is_whole(house, terminal, name, agent, false, &mark);
    put_away(vim);
    // What was merged is loaded without a question. Vim's own line about that comes over an older one.
    vim.wait_until("the file, loaded again", |screen| {
        screen.contains("THIRD") && screen.contains(story::MINE)
    });
    vim.type_keys(":echo 'modified:' .. &modified .. getline(3)\r");
    vim.wait_until("that nothing is unsaved", |screen| {
        screen.contains("modified:0THIRD")
    });
}

/// Both have changed the same line. The decision is refused until the person has said what it should
/// be, and `:wq` does not lose the diff.
fn refuse_a_conflict(house: &Household, vim: &mut Terminal, terminal: &mut Terminal) {
    house.write("both.txt", "as it was\n");
    vim.type_keys(":edit! both.txt\rccMINE\x1b");
    vim.wait_until("what was typed", |screen| screen.contains("MINE"));
    let mark = house.ask_to_edit(terminal, "both.txt", "as it was", "THEIRS");
    vim.wait_until("the conflict", |screen| {
        screen.contains(">>>>>>> proposed") && screen.contains("1 in conflict")
    });
    for accept in [":w\r", ":wq\r"] {
        vim.type_keys(":call popup_clear()\r");
        vim.wait_until("no notice", |screen| !screen.contains("or reject the"));
        vim.type_keys(accept);
        vim.wait_until("all of the refusal, above the diff", |screen| {
            screen.contains("or reject the") && screen.contains(">>>>>>> proposed")
        });
    }
    vim.type_keys("ggdGiMINE and THEIRS\x1b:w\r");
    house.wait_for_file(terminal, "both.txt", "MINE and THEIRS\n");
    house.wait_until_done(terminal, &mark);
    put_away(vim);
}

fn answer_in_the_terminal(
    house: &Household,
    vim: &mut Terminal,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let mark = story::change_for_the_terminal(house, terminal);
    vim.wait_until("the diff", |screen| {
        screen.contains("as the agent wants it")
    });
    vim.type_keys("cctyped in Vim\x1b");
    vim.wait_until("the edit", |screen| screen.contains("typed in Vim"));
    story::yes_in_the_terminal(terminal);
    story::terminal_has_decided(house, terminal, agent, &mark, "typed in Vim\n");
    put_away(vim);
}

fn reject(house: &Household, vim: &mut Terminal, terminal: &mut Terminal) {
    story::unwanted_change(house, terminal);
    vim.wait_until("the diff", |screen| screen.contains("something else"));
    vim.type_keys(":q\r");
    story::nothing_is_changed(house, terminal);
    put_away(vim);
}

#[test]
fn vim_starts_the_companion_again_and_keeps_the_diff() {
    let Some(house) = household() else {
        return;
    };
    let mut vim = start(&house, &[]);
    let mut terminal = house.start_connected(Agent::Qwen);
    house.ask_to_create(&mut terminal, "crash.txt", "as the agent wants it\n");
    vim.wait_until("the diff", |screen| {
        screen.contains("as the agent wants it")
    });
    vim.type_keys("cctyped before the crash\x1b");
    vim.wait_until("the edit", |screen| {
        screen.contains("typed before the crash")
    });
    terminal.wait_until("the question", asks);
    let second = story::another_companion(&house, &vim);
    proposal_is_known(&vim);
    house.wait_for_proposal(&terminal, Agent::Qwen, "crash.txt");
    vim.type_keys(":Outrigger restart\r");
    story::companion_after(&house, &vim, second);
    proposal_is_known(&vim);
    house.wait_for_proposal(&terminal, Agent::Qwen, "crash.txt");
    vim.type_keys(":Outrigger log\r");
    vim.wait_until("the news", |screen| screen.contains("is started again"));
    vim.type_keys("q:w\r");
    house.wait_for_file(&terminal, "crash.txt", "typed before the crash\n");
    put_away(&vim);
}

#[test]
fn vim_gives_up_a_companion_that_ends_at_once() {
    let Some(house) = household() else {
        return;
    };
    prepare(&house);
    let command = ["vim", "-N", "--cmd", "let g:outrigger_command = 'false'"];
    let mut vim = Terminal::edit(&command, &house.workspace(), &house.environment());
    vim.wait_until("the end of all tries", |screen| {
        screen.contains("[outrigger: failed]")
    });
    vim.type_keys(":Outrigger log\r");
    vim.wait_until("six ends in the log", |screen| {
        screen.contains("outrigger://log") && screen.matches("ended with code 1").count() == 6
    });
    let log = vim.screen();
    assert_eq!(log.matches("is started again").count(), 1, "{vim}");
    assert_eq!(log.matches("ends again and again").count(), 1, "{vim}");
    vim.type_keys("q:Outrigger health\r");
    vim.wait_until("the report", |screen| {
        screen.contains("companion is failed (given up)")
    });
}

#[test]
fn a_pause_outlives_the_companion_in_vim() {
    let Some(house) = household() else {
        return;
    };
    let mut vim = start(&house, &[]);
    vim.type_keys(":Outrigger pause\r");
    vim.wait_until("the pause", |screen| {
        screen.contains("[outrigger: no agent, paused]")
    });
    story::another_companion(&house, &vim);
    vim.wait_until("the pause in the next one", |screen| {
        screen.contains("[outrigger: no agent, paused]")
    });
    vim.type_keys(":Outrigger resume\r");
    vim.wait_until("the end of the pause", |screen| {
        screen.contains("[outrigger: no agent]")
    });
}

#[test]
fn nothing_is_left_of_a_vim_that_was_killed() {
    let Some(house) = household() else {
        return;
    };
    let mut vim = start(&house, &[]);
    let mut terminal = house.start_connected(Agent::Gemini);
    let orphan = Orphan::propose(&house, &mut terminal);
    vim.wait_until("the diff", |screen| {
        screen.contains(Orphan::TEXT.trim_end())
    });
    assert!(!discovery_files(&house).is_empty());
    vim.kill();
    orphan.decide_in(&house, &mut terminal);
    nothing_is_left(&house);
}

#[test]
fn vim_without_the_program_says_so_once() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new("/bin/false", &clients);
    prepare(&house);
    let mut vim = Terminal::edit(
        &["vim", "-N", "hello.txt"],
        &house.workspace(),
        &house.environment(),
    );
    vim.wait_until("the advice", |screen| {
        screen.contains("there is no program outrigger; see :help outrigger-install")
    });
    vim.type_keys(":edit other.txt\r:helptags ALL\r:help outrigger-install\r");
    vim.wait_until("the help", |screen| screen.contains("*outrigger-install*"));
    vim.type_keys(":only | Outrigger health\r");
    vim.wait_until("the report", |screen| {
        screen.contains("!     no program outrigger") && screen.contains("companion is failed")
    });
    vim.type_keys(":messages\r");
    vim.wait_until("the messages", |screen| screen.contains("Press ENTER"));
    let said = vim.screen().matches("there is no program").count();
    assert!(said <= 2, "said more than once, and in the log:\n{vim}");
}

/// Vim shows no conversation, but the page of the companion that it starts does.
#[test]
fn the_settings_of_vim_say_which_daemon() {
    let Some(stage) = Stage::set() else {
        return;
    };
    let (url, token_file) = stage.address_and_token_file();
    let daemon = format!("#{{url: '{url}', tokenFile: '{token_file}', mode: 'plan'}}");
    let setting = format!("let g:outrigger_options = #{{daemon: {daemon}}}");
    let vim = start(&stage.house, &["--cmd", &setting, "hello.txt"]);
    stage.wait_for_conversation(&vim, "plan");
}

#[test]
fn the_plugin_passes_its_own_tests() {
    let Some(house) = household() else {
        return;
    };
    let report = house.path("report");
    let mut environment = house.environment();
    environment.push(("OUTRIGGER_TEST_REPORT".into(), report.display().to_string()));
    let script = plugin().join("test/run.vim").display().to_string();
    let command = ["vim", "-u", "NONE", "-i", "NONE", "-S", &script];
    Terminal::edit(&command, &house.workspace(), &environment).ended();
    let report = fs::read_to_string(report).unwrap();
    assert!(
        report.trim_end().ends_with(" tests, 0 failures"),
        "{report}"
    );
}

/// Starts Vim with the plugin and waits until the companion runs.
pub(crate) fn start(house: &Household, arguments: &[&str]) -> Terminal {
    prepare(house);
    let mut environment = house.environment();
    let folder = house.program().parent().unwrap().display().to_string();
    for (name, value) in &mut environment {
        if name == "PATH" {
            *value = format!("{folder}:{value}");
        }
    }
    let command = [&["vim", "-N"], arguments].concat();
    let vim = Terminal::edit(&command, &house.workspace(), &environment);
    vim.wait_until("the companion in the status line", |screen| {
        screen.contains("[outrigger: no agent]")
    });
    vim
}

/// Installs the plugin as a package, in a workspace that has a repository.
fn prepare(house: &Household) {
    fs::create_dir(house.path(".git")).unwrap();
    let packages = house.home().join(".vim/pack/editors/start");
    fs::create_dir_all(&packages).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(plugin()).arg(packages.join("outrigger"));
    assert!(copy.status().unwrap().success());
    let settings = "set nocompatible noswapfile laststatus=2 shortmess+=I\n\
                    set statusline=%f\\ %{outrigger#Statusline()}\n";
    fs::write(house.home().join(".vimrc"), settings).unwrap();
}

fn plugin() -> PathBuf {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vim");
    plugin.canonicalize().unwrap()
}

/// Waits until no diff is on the screen.
fn put_away(vim: &Terminal) {
    vim.wait_until("the end of the diff", |screen| {
        !screen.contains("proposes |")
    });
}

/// Waits until Vim knows of the proposal.
fn proposal_is_known(vim: &Terminal) {
    vim.wait_until("the proposal in the status line", |screen| {
        screen.contains("1 pending]")
    });
}
