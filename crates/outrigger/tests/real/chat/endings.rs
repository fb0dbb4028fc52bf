//! Everything that can end does, while the page is looked at: the page itself, the companion, the
//! agent, the daemon. The conversation is complete and in order afterwards.

use std::collections::BTreeSet;

use testkit::{Call, Look, Speech};

use super::scene::{Scene, page};
use super::screen::{ENTER, Screen};

#[test]
fn the_page_shows_the_whole_conversation_whatever_ends() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::DESK);
    let mut story = Story {
        scene,
        screen,
        said: Vec::new(),
        secrets: BTreeSet::new(),
    };
    story.tell_of_a_file();
    story.the_page_and_the_companion_while_a_question_waits();
    story.the_agent_within_a_turn();
    story.the_daemon_while_a_question_waits();
    story.the_daemon_within_a_turn();
    story.tell("LAST-PLEASE");
    story.screen.reload();
    story.check();
    story.secrets.extend(story.scene.peer().secrets());
    let told = "DONE LAST-PLEASE";
    story.screen.never_received(&story.secrets, told);
}

/// A conversation that survives a lot.
struct Story {
    scene: Scene,
    screen: Screen,
    /// What has to stand on the screen.
    said: Vec<String>,
    /// What must never reach the page, of all daemons so far.
    secrets: BTreeSet<String>,
}

impl Story {
    /// Says something that is answered.
    #[track_caller]
    fn tell(&mut self, mark: &str) {
        self.screen.ask(&self.scene.house, mark, vec![]);
        self.screen.wait_until_done(mark);
        self.note(mark, &format!("DONE {mark}"));
        self.check();
    }

    /// The same, with something attached.
    #[track_caller]
    fn tell_of_a_file(&mut self) {
        self.scene.house.write("notes.txt", "thyme\n");
        self.screen.type_text("@notes");
        self.screen.browser.wait_for("[role=listbox]");
        self.screen.browser.press(ENTER);
        self.screen.browser.wait_for("[data-attached]");
        self.scene.house.model.on("FIRST-PLEASE", vec![]);
        self.screen.say("FIRST-PLEASE");
        self.note("notes.txt FIRST-PLEASE", "DONE FIRST-PLEASE");
        self.check();
    }

    fn note(&mut self, mine: &str, theirs: &str) {
        self.said.push(format!("me: {mine}"));
        self.said.push(format!("agent: {theirs}"));
    }

    /// The whole conversation is on the screen, each word once and in order.
    #[track_caller]
    fn check(&self) {
        self.screen.wait_for_state("live");
        let said: Vec<&str> = self.said.iter().map(String::as_str).collect();
        self.screen.wait_until_said(&said);
    }

    /// Asks a question, and leaves it unanswered.
    #[track_caller]
    fn ask(&self, mark: &str) -> String {
        self.screen
            .ask(&self.scene.house, mark, vec![vec![Call::questions()]]);
        self.screen.wait_for_request()
    }

    #[track_caller]
    fn answer(&self) {
        let browser = &self.screen.browser;
        browser.click("[data-question='0'] input[value=Tea]");
        browser.click("[data-question='1'] input[value=Coffee]");
        self.screen.act("answer");
    }

    /// Has the agent begin to speak.
    #[track_caller]
    fn begin(&self, mark: &str, beginning: &str) -> Speech {
        let speech = self.scene.house.model.speak(mark, vec![]);
        self.screen.say(mark);
        speech.say(beginning);
        self.screen
            .wait_for_text("[data-speaker=agent] .prose", beginning);
        speech
    }

    /// The number of the first entry, which is another one once the conversation was told anew.
    fn first(&self) -> String {
        let script = "return document.querySelector('[data-entry]')?.dataset.entry ?? ''";
        let first = self.screen.browser.run(script, Vec::new());
        first.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the conversation was told anew.
    #[track_caller]
    fn wait_for_return(&self, before: &str) {
        self.screen.browser.wait_long_until("the return", || {
            self.screen.wait_until_live();
            !["", before].contains(&self.first().as_str())
        });
    }

    /// Kills the agent, and waits until it is back.
    #[track_caller]
    fn kill_agent(&self) {
        let before = self.first();
        assert!(self.scene.daemon.as_ref().unwrap().kill_agent());
        self.wait_for_return(&before);
    }

    /// Kills the daemon, starts another one in its place, and waits until that is connected.
    #[track_caller]
    fn kill_daemon(&mut self) {
        self.secrets.extend(self.scene.peer().secrets());
        let before = self.first();
        let mut daemon = self.scene.daemon.take().unwrap();
        let port = daemon.port();
        daemon.kill();
        self.screen.browser.wait_for_no("[data-chat-state=live]");
        let workspace = self.scene.house.workspace();
        self.scene.daemon = Some(self.scene.house.start_daemon(&workspace, port));
        self.wait_for_return(&before);
    }

    fn the_page_and_the_companion_while_a_question_waits(&mut self) {
        let asked = self.ask("ASK-PLEASE");
        self.screen.reload();
        assert_eq!(self.screen.wait_for_request(), asked);
        let url = self.scene.daemon.as_ref().unwrap().url();
        self.scene.house.companion().kill();
        self.screen
            .browser
            .wait_for("html[data-state=reconnecting]");
        self.scene.house.serve_with_daemon(&url);
        self.scene.page = page(&self.scene.house);
        self.screen.unlock(&self.scene.house);
        self.screen.wait_until_live();
        assert_eq!(self.screen.wait_for_request(), asked);
        self.answer();
        self.screen.wait_until_done("ASK-PLEASE");
        self.note("ASK-PLEASE", "DONE ASK-PLEASE");
        self.check();
    }

    fn the_agent_within_a_turn(&mut self) {
        let _speech = self.begin("CUT-PLEASE", "This is cut off");
        self.kill_agent();
        self.screen
            .wait_for_text("[data-kind=note]", "before it had answered");
        self.said.push("me: CUT-PLEASE".into());
        self.check();
        self.tell("GO-ON-PLEASE");
    }

    fn the_daemon_while_a_question_waits(&mut self) {
        self.ask("LEFT-PLEASE");
        self.kill_daemon();
        // Nobody is there any more who could be answered.
        self.screen.wait_for_no_request();
        self.said.push("me: LEFT-PLEASE".into());
        self.check();
        self.ask("TAKEN-PLEASE");
        self.answer();
        self.screen.wait_until_done("TAKEN-PLEASE");
        self.note("TAKEN-PLEASE", "DONE TAKEN-PLEASE");
        self.check();
    }

    fn the_daemon_within_a_turn(&mut self) {
        let _speech = self.begin("SLOW-PLEASE", "This is slow");
        self.kill_daemon();
        self.screen
            .wait_for_text("[data-kind=note]", "before it had answered");
        self.said.push("me: SLOW-PLEASE".into());
        self.check();
    }
}
