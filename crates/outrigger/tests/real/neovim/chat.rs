//! A conversation with the published daemon, in Neovim's own windows and pickers.

use super::nvim::Neovim;
use super::{NEW, OLD, needs};
use crate::talks::{self, Stage, Talker};

#[test]
fn a_conversation_is_held_in_an_old_neovim() {
    converse(OLD);
}

#[test]
fn a_conversation_is_held_in_a_new_neovim() {
    converse(NEW);
}

fn converse(which: usize) {
    let Some(mut stage) = Stage::set_with(needs(which)) else {
        return;
    };
    let mut neovim = start(&stage, which);
    talks::turns(&stage, &mut neovim);
    talks::answers_from_elsewhere(&stage, &mut neovim);
    talks::choices(&stage, &mut neovim);
    talks::daemon_killed(&mut stage, &mut neovim);

    let before = neovim.transcript();
    neovim.keys(":qa!\r");
    neovim.terminal.ended();
    let mut neovim = start(&stage, which);
    talks::is_still_there(&neovim, &before);
    neovim.leave_insert_mode();
    neovim.wait_for(&in_transcript("foldclosed(search('^▸', 'nb')) > 0"), "1");

    // Thrown away and opened again, it is the same.
    neovim.command("bwipeout! outrigger://chat");
    neovim.keys(":Outrigger chat\r");
    talks::is_still_there(&neovim, &before);
}

/// Neither the environment nor the configuration of the program names it.
#[test]
fn the_settings_of_neovim_say_which_daemon() {
    let Some(stage) = Stage::set_with(needs(NEW)) else {
        return;
    };
    let (url, token_file) = stage.address_and_token_file();
    let daemon = format!("{{'url': '{url}', 'token_file': '{token_file}', 'mode': 'plan'}}");
    let setting = format!("let g:outrigger_daemon = {daemon}");
    let neovim = Neovim::start(&stage.house, NEW, &["--cmd", &setting, "hello.txt"]);
    stage.wait_for_conversation(&neovim, "plan");
}

/// Starts Neovim, which finds the daemon, and opens the conversation.
fn start(stage: &Stage, which: usize) -> Neovim {
    let mut neovim = Neovim::start_bare(&stage.house, which, &["hello.txt"], stage.environment());
    neovim.wait_for_ready();
    neovim.keys(":Outrigger chat\r");
    neovim.wait_for("mode()", "i");
    neovim
}

/// An expression as it is in the window with the conversation.
fn in_transcript(expression: &str) -> String {
    let expression = expression.replace('\'', "''");
    format!("win_execute(bufwinid('outrigger://chat'), 'echon {expression}')")
}

impl Neovim {
    /// Waits for normal mode; nothing that comes after Escape may be taken for a part of it.
    fn leave_insert_mode(&mut self) {
        self.keys("\u{1b}");
        self.wait_for("mode()", "n");
    }

    /// Waits until the picker is gone. Until then Neovim answers no other question.
    fn wait_until_answered(&self) {
        let terminal = &self.terminal;
        terminal.wait_until("the end of the picker", |screen| !is_picker(screen));
    }

    /// Runs a command that asks something in the picker, and chooses.
    fn pick(&mut self, command: &str, number: usize) {
        self.keys(&format!(":{command}\r"));
        self.choose(number, "");
    }
}

/// What Neovim's own picker says last.
fn is_picker(screen: &str) -> bool {
    screen.contains("Type number and <Enter>")
}

impl Talker for Neovim {
    fn say(&mut self, text: &str) {
        self.leave_insert_mode();
        self.keys(":Outrigger chat\r");
        self.wait_for("mode()", "i");
        self.keys(text);
        self.leave_insert_mode();
        self.keys("\r");
    }

    fn transcript(&self) -> String {
        self.eval(r#"join(getbufline('outrigger://chat', 1, '$'), "\n")"#)
    }

    fn bar(&self) -> String {
        let said =
            |what: &str| self.eval(&format!(r#"luaeval('require("outrigger.chat").{what}()')"#));
        ["state", "place", "doing"].map(said).join("  ")
    }

    fn wait_for_picker(&self, what: &str) {
        self.terminal.wait_until("the picker", |screen| {
            screen.contains(what) && is_picker(screen)
        });
    }

    fn wait_for_no_picker(&mut self, _what: &str) {
        if self.which == OLD {
            // It hears of nothing while it asks. What the person chooses then does not count.
            self.choose(1, "");
            self.wait_until("the news", |it| it.messages().contains("was faster"));
        } else {
            self.wait_until_answered();
            self.wait_until("the news", |it| {
                it.messages().contains("answered elsewhere")
            });
        }
    }

    fn choose(&mut self, number: usize, _title: &str) {
        self.terminal.wait_until("the picker", is_picker);
        self.keys(&format!("{number}\r"));
        self.wait_until_answered();
    }

    fn answer_questions(&mut self) {
        // What was asked before stays on the screen, so each step waits for something new.
        self.keys("1\r");
        self.wait_for_picker("[ ] Coffee");
        self.keys("2\r");
        self.wait_for_picker("[x] Coffee");
        self.keys("3\r");
        self.terminal.wait_until("the input", |screen| {
            screen.trim_end().ends_with("Which more?")
        });
        self.keys("Water\r");
        self.wait_for_picker("[x] Water");
        self.choose(5, "that is all");
    }

    fn accept(&mut self, name: &str) {
        self.wait_for_review(name);
        assert_eq!(self.eval("&modifiable"), "0");
        self.keys(":w\r");
    }

    fn wait_for_diff(&self, name: &str) {
        self.wait_for_review(name);
    }

    fn wait_for_no_diff(&self) {
        self.wait_for("tabpagenr('$')", "1");
    }

    fn stop(&mut self) {
        self.keys("\u{3}");
    }

    fn switch_model(&mut self, number: usize, _name: &str) {
        self.pick("Outrigger model", number);
    }

    fn begin_anew(&mut self) {
        self.keys(":Outrigger connect new\r");
    }

    fn go_back_to(&mut self, number: usize, _title: &str) {
        self.pick("Outrigger sessions", number);
    }
}
