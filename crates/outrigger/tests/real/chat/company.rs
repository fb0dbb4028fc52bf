//! Two tabs and an editor at the same conversation: one answers, and it is over for the others.

use serde_json::{Value, json};
use testkit::{Call, Household, Look, ScriptedEditor, Tab, wait_for};

use super::peer::Peer;
use super::scene::editor;
use super::screen::Screen;
use crate::household;

/// Everybody who looks on.
struct Company {
    editor: ScriptedEditor,
    screen: Screen,
    tabs: [Tab; 2],
    house: Household,
}

#[test]
fn whoever_answers_answers_for_all() {
    let Some(house) = household() else {
        return;
    };
    let daemon = house.start_daemon_with_agent();
    let mut editor = editor(&house, &daemon);
    editor.begin("Scripted", &house.workspace(), std::process::id());
    editor.request("outrigger/daemon/follow", json!({ "follow": true }));
    let screen = Screen::open(&house, Look::DESK);
    let tabs = [screen.browser.tab(), screen.open_tab(&house)];
    let mut company = Company {
        editor,
        screen,
        tabs,
        house,
    };
    company.a_tab_answers();
    company.the_editor_answers();
    company.the_editor_decides_an_edit();
    company.everybody_says_the_same();
    let secrets = Peer::new(&company.house, &daemon).secrets();
    company.screen.never_received(&secrets, "DONE EDIT-PLEASE");
}

impl Company {
    /// Says something in the second tab, and waits until everybody shows what is asked for.
    #[track_caller]
    fn ask(&mut self, mark: &str, call: Call) -> Value {
        self.screen.browser.switch_to(&self.tabs[1]);
        self.screen.ask(&self.house, mark, vec![vec![call]]);
        for tab in &self.tabs {
            self.screen.browser.switch_to(tab);
            self.screen.wait_for_request();
        }
        self.heard_requests(1)["params"]["requests"][0].clone()
    }

    /// Waits until the editor hears that so many requests wait.
    #[track_caller]
    fn heard_requests(&mut self, number: usize) -> Value {
        self.editor.take("other requests", |message| {
            let requests = message["params"]["requests"].as_array();
            message["method"] == "outrigger/daemon/change"
                && requests.is_some_and(|requests| requests.len() == number)
        })
    }

    /// In the tabs that did not answer, the card is gone and it is said what it was about.
    #[track_caller]
    fn closed_in(&self, tabs: &[Tab], what: &str, how: &str) {
        for tab in tabs {
            self.screen.browser.switch_to(tab);
            self.screen.wait_for_no_request();
            self.screen.wait_for_text("[data-notice=answered]", what);
            self.screen.wait_for_text("[data-notice=answered]", how);
        }
    }

    fn a_tab_answers(&mut self) {
        self.ask("TAB-PLEASE", Call::shell("touch by-tab"));
        self.screen.browser.switch_to(&self.tabs[1]);
        self.screen.allow();
        self.screen.wait_until_done("TAB-PLEASE");
        assert_eq!(self.screen.browser.count("[data-notice=answered]"), 0);
        self.closed_in(&self.tabs[..1], "by-tab", "answered elsewhere");
        self.heard_requests(0);
        assert!(self.house.path("by-tab").exists());
    }

    fn the_editor_answers(&mut self) {
        let request = self.ask("EDITOR-PLEASE", Call::shell("touch by-editor"));
        let mut options = request["options"].as_array().unwrap().iter();
        let once = options.find(|it| it["kind"] == "allow_once").unwrap();
        let reply = json!({ "request": request["request"], "reply": { "option": once["id"] } });
        let answered = self
            .editor
            .request("outrigger/daemon/answer", reply.clone());
        assert_eq!(answered["counted"], true);
        self.closed_in(&self.tabs, "by-editor", "answered elsewhere");
        self.screen.wait_until_done("EDITOR-PLEASE");
        assert!(self.house.path("by-editor").exists());
        let late = self.editor.request("outrigger/daemon/answer", reply);
        assert_ne!(late["counted"], true, "{late}");
    }

    fn the_editor_decides_an_edit(&mut self) {
        let path = self.house.path("made.txt");
        self.ask("EDIT-PLEASE", Call::write(&path, "made\n"));
        let proposal = self.editor.show_proposal();
        assert_eq!(proposal["editable"], false);
        self.editor.decide(&proposal, json!({ "accepted": true }));
        self.closed_in(&self.tabs, "made.txt", "decided in the review");
        wait_for(
            "the file",
            || (self.house.read("made.txt")? == b"made\n").then_some(()),
            || self.screen.browser.to_string(),
        );
        self.screen.wait_until_done("EDIT-PLEASE");
        self.screen.browser.wait_for_no("button[data-proposal]");
    }

    fn everybody_says_the_same(&self) {
        let said = ["TAB-PLEASE", "EDITOR-PLEASE", "EDIT-PLEASE"]
            .map(|mark| [format!("me: {mark}"), format!("agent: DONE {mark}")])
            .concat();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        for tab in &self.tabs {
            self.screen.browser.switch_to(tab);
            self.screen.wait_until_said(&said);
        }
    }
}
