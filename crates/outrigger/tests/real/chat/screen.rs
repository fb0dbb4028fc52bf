//! The chat of the page in a real browser, and all that ever reached that browser.

use std::collections::BTreeSet;

use testkit::{Browser, Call, Household, Look, Proxy, Tab};

use crate::page::link;

/// Keys, as `WebDriver` writes them.
pub(super) const ENTER: &str = "\u{e007}";
const EVERYTHING_GONE: &str = "\u{e009}a\u{e000}\u{e017}";

const INPUT: &str = "textarea[data-chat-input]";

/// What people and the agent said, without what it thought. What this person said before a restart
/// counts as said elsewhere, which makes no difference here.
const SAID: &str = "return [...document.querySelectorAll('[data-kind=said]')]\
    .filter(entry => entry.dataset.speaker !== 'thought')\
    .map(entry => `${entry.dataset.speaker === 'agent' ? 'agent' : 'me'}: \
        ${entry.querySelector('.prose, .typed').textContent.trim()}`)";

/// The chat of a companion's page, in a browser of its own.
pub(super) struct Screen {
    pub(super) browser: Browser,
    /// What stands between the browser and the companion.
    wire: Proxy,
}

impl Screen {
    /// Opens the chat with a fresh link, as a person does.
    #[track_caller]
    pub(super) fn open(house: &Household, look: Look) -> Screen {
        let (port, ticket) = port_and_ticket(house);
        let screen = Screen {
            browser: Browser::start(look),
            wire: Proxy::recording(port),
        };
        screen.browser.open(&screen.wire.url(&ticket));
        screen.show_chat();
        screen
    }

    /// Opens the chat in one more tab, which is the current one then.
    #[track_caller]
    pub(super) fn open_tab(&self, house: &Household) -> Tab {
        let (_, ticket) = port_and_ticket(house);
        let tab = self.browser.open_tab(&self.wire.url(&ticket));
        self.show_chat();
        tab
    }

    /// Loads the page again, with the key that the tab has.
    #[track_caller]
    pub(super) fn reload(&self) {
        self.browser.open(&self.wire.url("/"));
        self.show_chat();
    }

    /// Goes on in this tab with a fresh link, after a crash has cost it its key.
    #[track_caller]
    pub(super) fn unlock(&self, house: &Household) {
        self.browser.wait_for("html[data-state=locked]");
        let (_, ticket) = port_and_ticket(house);
        self.browser.open(&self.wire.url(&ticket));
        self.show_chat();
    }

    #[track_caller]
    pub(super) fn show_chat(&self) {
        self.browser.wait_for("html[data-state=live]");
        self.browser.click("button[data-nav=chat]");
        self.browser.wait_for("main[data-view=chat]");
    }

    /// Waits until the connection to the daemon is as the page names it.
    #[track_caller]
    pub(super) fn wait_for_state(&self, state: &str) {
        self.browser.wait_for(&format!("[data-chat-state={state}]"));
    }

    /// Waits until there is a conversation, and tries again for as long as the page offers to: the
    /// daemon gives its agent ten seconds to start, which is not always enough.
    #[track_caller]
    pub(super) fn wait_until_live(&self) {
        self.browser.wait_long_until("a conversation", || {
            if self.browser.count("[data-trouble] button[data-act=retry]") > 0 {
                self.act("retry");
            }
            self.browser.count("[data-chat-state=live]") > 0
        });
    }

    /// Types into the field.
    #[track_caller]
    pub(super) fn type_text(&self, text: &str) {
        self.browser.click(INPUT);
        self.browser.press(text);
    }

    /// Empties the field.
    #[track_caller]
    pub(super) fn clear(&self) {
        self.type_text(EVERYTHING_GONE);
        self.browser
            .wait_until("an empty field", || self.typed().is_empty());
    }

    /// What stands in the field.
    #[track_caller]
    pub(super) fn typed(&self) -> String {
        self.value_of(INPUT)
    }

    /// The value of a field or of a list to choose from.
    #[track_caller]
    pub(super) fn value_of(&self, css: &str) -> String {
        let script = "return document.querySelector(arguments[0]).value";
        let value = self.browser.run(script, vec![css.into()]);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Types something and sends it.
    #[track_caller]
    pub(super) fn say(&self, text: &str) {
        self.wait_for_state("live");
        self.type_text(text);
        self.browser.press(ENTER);
        self.browser
            .wait_until("the field to be taken", || self.typed().is_empty());
    }

    /// Says something that makes the model do these things.
    #[track_caller]
    pub(super) fn ask(&self, house: &Household, mark: &str, turns: Vec<Vec<Call>>) {
        house.model.on(mark, turns);
        self.say(mark);
    }

    /// What people and the agent said, in the order in which it stands there.
    #[track_caller]
    pub(super) fn said(&self) -> Vec<String> {
        serde_json::from_value(self.browser.run(SAID, Vec::new())).unwrap()
    }

    /// Waits until exactly this stands there, and nothing is going on.
    #[track_caller]
    pub(super) fn wait_until_said(&self, lines: &[&str]) {
        let what = format!("the page to say {lines:?}");
        self.browser
            .wait_until(&what, || self.is_idle() && self.said() == lines);
    }

    /// Waits until the agent has done what `mark` stands for.
    #[track_caller]
    pub(super) fn wait_until_done(&self, mark: &str) {
        let done = format!("agent: DONE {mark}");
        self.browser
            .wait_until(&done, || self.is_idle() && self.said().contains(&done));
    }

    #[track_caller]
    pub(super) fn wait_until_idle(&self) {
        self.browser
            .wait_until("the end of the turn", || self.is_idle());
    }

    fn is_idle(&self) -> bool {
        self.browser.count("button[data-act=stop]") == 0
    }

    /// Waits until something on the page shows this text.
    #[track_caller]
    pub(super) fn wait_for_text(&self, css: &str, text: &str) {
        let what = format!("{text:?} in {css}");
        self.browser.wait_until(&what, || {
            self.browser.texts(css).iter().any(|it| it.contains(text))
        });
    }

    /// Waits for a card that asks for something, and until it can be answered; its name.
    #[track_caller]
    pub(super) fn wait_for_request(&self) -> String {
        self.browser.wait_for("[data-request][data-settling=false]");
        let script = "return document.querySelector('[data-request]').dataset.request";
        let request = self.browser.run(script, Vec::new());
        request.as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(super) fn wait_for_no_request(&self) {
        self.browser.wait_for_no("[data-request]");
    }

    /// Presses the button of a card that gives leave for this time.
    #[track_caller]
    pub(super) fn allow(&self) {
        self.browser
            .click("[data-request][data-settling=false] button[data-option-kind=allow_once]");
    }

    /// Presses the one that does not.
    #[track_caller]
    pub(super) fn reject(&self) {
        self.browser
            .click("[data-request][data-settling=false] button[data-option-kind=reject_once]");
    }

    /// Clicks one of the page's buttons.
    #[track_caller]
    pub(super) fn act(&self, name: &str) {
        self.browser.click(&format!("button[data-act={name}]"));
    }

    /// Fails if anything that ever reached the browser holds one of these. `told` is something that
    /// did reach it, which shows that somebody listened.
    #[track_caller]
    pub(super) fn never_received(&self, secrets: &BTreeSet<String>, told: &str) {
        let delivered = self.wire.delivered();
        assert!(delivered.contains(told), "{told} was not recorded");
        for secret in secrets {
            assert!(!delivered.contains(secret), "the page received {secret}");
        }
    }
}

/// Where a fresh link leads: the port of the companion, and the path with the ticket.
#[track_caller]
fn port_and_ticket(house: &Household) -> (u16, String) {
    let link = link(house);
    let (authority, ticket) = link
        .trim_start_matches("http://")
        .split_once('/')
        .expect("a link has a path");
    let (_, port) = authority.split_once(':').expect("a link has a port");
    (port.parse().unwrap(), format!("/{ticket}"))
}
