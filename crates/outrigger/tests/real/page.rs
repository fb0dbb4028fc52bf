//! The page in a real browser, with real agents.

mod access;
mod faults;
mod hostile;
mod lives;
mod played;
mod reviews;
mod sharper;
mod slips;
mod truth;

use serde_json::Value;
use testkit::{Agent, Browser, Call, Household, Look, Proposal, Terminal};

pub(crate) use access::{inspect, take_picture};
pub(crate) use hostile::{EVIL, nothing_happened};

/// The key, as `WebDriver` writes it.
pub(crate) const ESCAPE: &str = "\u{e00c}";

/// Control and End.
const TO_THE_END: &str = "\u{e009}\u{e010}\u{e000}";

/// The lines of the result, without the note that the last one does not end.
const SHOWN: &str = "return [...document.querySelectorAll('[data-side=result] .cm-line')]\
    .map(line => {\
        const copy = line.cloneNode(true);\
        copy.querySelectorAll('.no-newline').forEach(note => note.remove());\
        return copy.textContent;\
    }).join('\\n')";

/// The page of a household, in a browser of its own.
pub(crate) struct Page<'a> {
    house: &'a Household,
    browser: Browser,
}

impl<'a> Page<'a> {
    /// Opens the page with a fresh link, as a person does.
    #[track_caller]
    fn open(house: &'a Household, look: Look) -> Self {
        Self::open_link(house, look, &link(house))
    }

    /// Opens the page with a link that the person has got.
    #[track_caller]
    pub(crate) fn open_link(house: &'a Household, look: Look, link: &str) -> Self {
        let browser = Browser::start(look);
        browser.open(link);
        browser.wait_for("html[data-state=live]");
        Self { house, browser }
    }

    /// Has an agent write a file, and shows its proposal.
    #[track_caller]
    fn propose(
        &self,
        terminal: &mut Terminal,
        agent: Agent,
        name: &str,
        text: &str,
    ) -> (String, Proposal) {
        let call = Call::write(self.house.path(name), text);
        self.propose_with(terminal, agent, name, call)
    }

    /// Has an agent make a call for a file, and shows its proposal.
    #[track_caller]
    fn propose_with(
        &self,
        terminal: &mut Terminal,
        agent: Agent,
        name: &str,
        call: Call,
    ) -> (String, Proposal) {
        let path = self.house.path(name);
        // Agents change only what they have read.
        let read = path.exists().then(|| vec![Call::read(&path)]);
        let turns = read.into_iter().chain([vec![call]]).collect();
        let mark = self.house.ask(terminal, turns);
        let proposal = self.house.wait_for_proposal(terminal, agent, name);
        self.show(&proposal);
        (mark, proposal)
    }

    /// Shows a proposal, unless it is shown already, and waits until it can be decided.
    #[track_caller]
    pub(crate) fn show(&self, proposal: &Proposal) {
        let id = proposal.id;
        let shown = format!("[data-detail='{id}']");
        if self.browser.count(&shown) == 0 {
            self.browser.click(&format!("button[data-proposal='{id}']"));
        }
        self.browser
            .wait_for(&format!("{shown}[data-ready=true][data-settled=true]"));
    }

    /// Has the page hear more than the companion says. Also notes what the page asks for.
    #[track_caller]
    fn pretend(&self, more: &str, about: &str) {
        pretend(&self.browser, more, about);
    }

    /// The requests of one kind that the page has made since it was pretended.
    #[track_caller]
    fn asked_to(&self, what: &str) -> Vec<Value> {
        let asked = self.browser.run("return window.asked", Vec::new());
        let mut asked: Vec<Value> = serde_json::from_value(asked).unwrap();
        asked.retain(|it| it["path"].as_str().unwrap().ends_with(what));
        asked
    }

    /// The paths of all decisions since then.
    #[track_caller]
    fn decisions(&self) -> Vec<Value> {
        [self.asked_to("accept"), self.asked_to("reject")].concat()
    }

    /// The numbers of the proposals that the page wanted to accept since then.
    #[track_caller]
    fn accepts(&self) -> Vec<u64> {
        let number = |asked: &Value| {
            let path = asked["path"].as_str().unwrap().to_owned();
            path.split('/').rev().nth(1).unwrap().parse().unwrap()
        };
        self.asked_to("accept").iter().map(number).collect()
    }

    /// Waits until a proposal is not offered any more.
    #[track_caller]
    pub(crate) fn wait_until_closed(&self, proposal: &Proposal) {
        let id = proposal.id;
        self.browser
            .wait_for_no(&format!("button[data-proposal='{id}']"));
    }

    /// The text that would be written, as the page shows it.
    #[track_caller]
    fn shown(&self) -> String {
        let shown = self.browser.run(SHOWN, Vec::new());
        shown.as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn wait_until_shown(&self, text: &str) {
        let what = format!("the page to show {text:?}");
        self.browser.wait_until(&what, || self.shown() == text);
    }

    /// Clicks one of the page's buttons.
    #[track_caller]
    pub(crate) fn act(&self, name: &str) {
        self.browser.click(&format!("button[data-act={name}]"));
    }
}

/// A fresh link to the page.
#[track_caller]
pub(crate) fn link(house: &Household) -> String {
    house.run(&["url"]).good().trim_end().to_owned()
}

/// Has a page hear more than the companion says: what a script returns for a `proposal`, and for a
/// `session`. Then `window.tell` lets it hear an event.
#[track_caller]
pub(crate) fn pretend(browser: &Browser, more: &str, about: &str) {
    let script = include_str!("page/pretence.js");
    browser.run(script, vec![more.into(), about.into()]);
    browser.wait_until("the page to listen anew", || {
        browser.run("return window.tell !== undefined", Vec::new()) == Value::Bool(true)
    });
    browser.wait_for("html[data-state=live]");
}
