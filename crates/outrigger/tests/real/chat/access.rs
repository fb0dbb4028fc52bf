//! The chat for people with other eyes and hands, and its pictures for everybody else.

use serde_json::json;
use testkit::{Call, Household, Look};

use super::scene::{Scene, plan};
use super::screen::Screen;
use crate::page::{ESCAPE, inspect, take_picture};

/// What the person says, which decides what the model does.
const FIRST: &str = "What could be nicer about our greetings?";
const SECOND: &str = "Yes, do that.";

const THOUGHT: &str = "Greetings end without a mark.";
const ANSWER: &str = "They are made in `src/greeting.rs`, and end **without** a mark. I would \
                      change that:\n\n```rust\nformat!(\"Hello, {name}!\")\n```\n\nSee \
                      [the style guide](https://doc.rust-lang.org/style-guide/) for the rest.";

#[test]
fn nothing_serious_keeps_anybody_from_using_the_chat() {
    let Some(scene) = Scene::set_with(&["axe"]) else {
        return;
    };
    let house = &scene.house;
    set_the_scene(house);
    for look in [
        Look::DESK,
        Look::DESK.in_the_dark(),
        Look::PHONE,
        Look::PHONE.in_the_dark(),
    ] {
        let screen = Screen::open(house, look);
        let browser = &screen.browser;
        screen.wait_for_state("live");
        if look.width == Look::PHONE.width {
            screen.act("conversations");
            browser.wait_for("[data-pane=list]");
            inspect(house, browser, look, "conversations");
        }
        if look != Look::DESK {
            screen.act("new-chat");
            screen.wait_until_said(&[]);
        }
        inspect(house, browser, look, "an empty chat");
        screen.say(FIRST);
        screen.wait_for_text("[data-speaker=agent]", "for the rest");
        screen.wait_until_idle();
        screen.say(SECOND);
        screen.wait_for_request();
        inspect(house, browser, look, "a request");
        take_picture(browser, look, "page-chat");
        screen.allow();
        browser.wait_for("[data-question='1']");
        inspect(house, browser, look, "a question");
        screen.act("decline");
        screen.wait_until_idle();
        screen.type_text("/");
        browser.wait_for("[role=listbox] [role=option]");
        inspect(house, browser, look, "commands");
        browser.press(ESCAPE);
        browser.wait_for_no("[role=listbox]");
        scene.post("/api/chat/mode", &json!({ "mode": "yolo" }));
        browser.wait_for("[data-unasking=true] .unasking");
        inspect(house, browser, look, "a mode that may not ask");
        scene.post("/api/chat/mode", &json!({ "mode": "default" }));
        browser.wait_for_no("[data-unasking=true]");
    }
}

/// An answer with all that texts can have, and a turn with all that turns can have.
fn set_the_scene(house: &Household) {
    let speech = house.model.speak(FIRST, vec![]);
    speech.think(THOUGHT);
    speech.say(ANSWER);
    let steps = [
        ("Read how people are greeted", "completed"),
        ("Run the tests", "in_progress"),
        ("Greet with more joy", "pending"),
    ];
    let tests = Call::shell("cargo test greeting");
    house.model.on(
        SECOND,
        vec![vec![plan(&steps)], vec![tests], vec![Call::questions()]],
    );
}
