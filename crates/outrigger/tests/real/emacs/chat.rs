//! A conversation with the published daemon, in Emacs' own windows and minibuffer.

use testkit::wait_for;

use super::driver::{ACCEPT, Emacs, command_line};
use crate::talks::{self, Stage, Talker};

#[test]
fn a_conversation_is_held_in_emacs() {
    let Some(mut stage) = Stage::set() else {
        return;
    };
    let mut emacs = start(&stage);
    talks::turns(&stage, &mut emacs);
    talks::answers_from_elsewhere(&stage, &mut emacs);
    talks::choices(&stage, &mut emacs);
    talks::daemon_killed(&mut stage, &mut emacs);

    let before = emacs.transcript();
    emacs.command("kill-emacs");
    emacs.terminal.ended();
    let mut emacs = start(&stage);
    talks::is_still_there(&emacs, &before);

    // Thrown away and opened again, it is the same.
    emacs.keys("\x1b:(kill-buffer (outrigger-chat--find (car outrigger-companions)))\r");
    emacs.command("outrigger-chat");
    talks::is_still_there(&emacs, &before);
}

/// Neither the environment nor the configuration of the program names it.
#[test]
fn the_settings_of_emacs_say_which_daemon() {
    let Some(stage) = Stage::set() else {
        return;
    };
    let (url, token_file) = stage.address_and_token_file();
    let setting = format!(
        "(setq outrigger-daemon '(:url {url:?} :token-file {token_file:?} :mode \"plan\"))"
    );
    let mut command = command_line(&stage.house, &["hello.txt"]);
    command.insert(3, format!("--eval={setting}"));
    let emacs = Emacs::launch(&stage.house, &command, stage.house.environment());
    emacs.wait_for_ready();
    stage.wait_for_conversation(&emacs, "plan");
}

/// Starts Emacs, which finds the daemon and listens to us, and opens the conversation.
fn start(stage: &Stage) -> Emacs {
    let mut emacs = Emacs::start_with(&stage.house, &["hello.txt"], stage.environment());
    emacs.command("server-start");
    emacs.command("outrigger-chat");
    emacs.wait_until("the conversation", |screen| {
        screen.contains("*outrigger-say")
    });
    emacs
}

impl Emacs {
    fn in_conversation(&self, expression: &str) -> String {
        let buffer = "(outrigger-chat--find (car outrigger-companions))";
        self.eval(&format!("(with-current-buffer {buffer} {expression})"))
    }

    /// What the minibuffer asks now.
    fn asked(&self) -> String {
        let prompt = "(with-current-buffer (window-buffer (active-minibuffer-window)) \
                      (minibuffer-prompt))";
        self.eval(&format!("(if (active-minibuffer-window) {prompt} \"\")"))
    }

    /// Answers the minibuffer once it asks `what`.
    fn reply(&mut self, what: &str, answer: &str) {
        self.wait_for_picker(what);
        self.keys(&format!("{answer}\r"));
    }
}

impl Talker for Emacs {
    fn say(&mut self, text: &str) {
        self.command("outrigger-chat");
        self.keys(text);
        self.wait_until("the typed text", |screen| screen.contains(text));
        self.keys("\x03\x03");
    }

    fn transcript(&self) -> String {
        self.in_conversation("(buffer-substring-no-properties (point-min) (point-max))")
    }

    fn bar(&self) -> String {
        self.in_conversation("(substring-no-properties (outrigger-chat--header))")
    }

    fn wait_for_picker(&self, what: &str) {
        wait_for(
            &format!("{what:?} in the minibuffer"),
            || self.asked().contains(what).then_some(()),
            || self.to_string(),
        );
    }

    fn wait_for_no_picker(&mut self, _what: &str) {
        self.wait_until("the news", |screen| {
            screen.contains("It was answered elsewhere")
        });
        assert_eq!(self.asked(), "");
    }

    fn choose(&mut self, _number: usize, title: &str) {
        self.keys(&format!("{title}\r"));
    }

    fn answer_questions(&mut self) {
        self.reply("Which drink?", "Tea");
        self.reply("Which more? []", "Coffee");
        self.reply("Which more? [Coffee]", "Water");
        self.reply("Which more? [Coffee, Water]", "");
    }

    fn accept(&mut self, name: &str) {
        self.wait_for_diff(name);
        self.command("outrigger-show");
        self.keys("k");
        self.wait_until("the refusal to drop a hunk", |screen| {
            screen.contains("takes its own text or none")
        });
        self.keys(ACCEPT);
    }

    fn wait_for_diff(&self, name: &str) {
        self.wait_until("the diff", |screen| {
            screen.contains("*proposal") && screen.contains(&format!("{name} (proposed)"))
        });
    }

    fn wait_for_no_diff(&self) {
        self.wait_for_no_diff();
    }

    fn stop(&mut self) {
        self.command("outrigger-chat-cancel");
    }

    fn switch_model(&mut self, _number: usize, name: &str) {
        self.command("outrigger-chat-model");
        self.reply("Model:", name);
    }

    fn begin_anew(&mut self) {
        self.command("outrigger-chat-connect");
        self.reply("Which:", "new");
    }

    fn go_back_to(&mut self, _number: usize, title: &str) {
        self.command("outrigger-chat-sessions");
        self.reply("Conversation:", title);
    }
}
