//! What the agent wants from the person, and how it is told.

use serde_json::json;
use testkit::{Call, Look};

use super::scene::Scene;
use super::screen::Screen;

#[test]
fn what_the_agent_asks_is_answered_in_the_page() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::DESK);
    screen.wait_for_state("live");
    leave(&scene, &screen);
    no_leave(&scene, &screen);
    answered_elsewhere(&scene, &screen);
    an_edit_that_is_accepted(&scene, &screen);
    an_edit_that_is_rejected(&scene, &screen);
    questions(&scene, &screen);
    screen.never_received(&scene.peer().secrets(), "DONE QUESTIONS-PLEASE");
}

fn leave(scene: &Scene, screen: &Screen) {
    screen.ask(
        &scene.house,
        "YES-PLEASE",
        vec![vec![Call::shell("touch yes")]],
    );
    screen.wait_for_request();
    screen.wait_for_text("[data-request] .output", "touch yes");
    // Whoever looks at something else sees that somebody waits.
    screen.wait_for_text("button[data-nav=chat] .count", "1");
    assert!(screen.browser.title().starts_with("(1)"));
    assert!(!scene.house.path("yes").exists());
    screen.allow();
    screen.wait_until_done("YES-PLEASE");
    assert!(scene.house.path("yes").exists());
    screen.wait_for_no_request();
    assert_eq!(screen.browser.count("[data-notice=answered]"), 0);
}

fn no_leave(scene: &Scene, screen: &Screen) {
    screen.ask(
        &scene.house,
        "NO-PLEASE",
        vec![vec![Call::shell("touch no")]],
    );
    screen.wait_for_request();
    // There is one way to say no.
    assert_eq!(screen.browser.count("[data-request] .reject"), 1);
    screen.reject();
    screen.wait_for_no_request();
    screen.wait_until_idle();
    assert!(!scene.house.path("no").exists());
    screen.browser.wait_for("[data-tool-status=failed]");
}

fn answered_elsewhere(scene: &Scene, screen: &Screen) {
    for (mark, at_the_daemon) in [("PEER-PLEASE", true), ("COMMAND-PLEASE", false)] {
        screen.ask(&scene.house, mark, vec![vec![Call::shell("true")]]);
        let request = screen.wait_for_request();
        let option = "proceed_once";
        let counted = if at_the_daemon {
            scene.peer().answer(&request, option)
        } else {
            scene.answer(&json!({ "request": request }), &json!({ "option": option }))
        };
        assert!(counted);
        screen.wait_for_no_request();
        screen.wait_for_text("[data-notice=answered]", "answered elsewhere");
        screen.wait_until_done(mark);
    }
}

/// Shows the edit that is asked for in the review, as all or nothing.
#[track_caller]
fn review(scene: &Scene, screen: &Screen, mark: &str, file: &str) {
    let browser = &screen.browser;
    let call = Call::write(scene.house.path(file), "made by the daemon\n");
    screen.ask(&scene.house, mark, vec![vec![call]]);
    screen.wait_for_request();
    screen.wait_for_text("button[data-act=review-edit]", "Review edit #");
    screen.act("review-edit");
    browser.wait_for("main[data-view=review]");
    browser.wait_for("[data-detail][data-ready=true][data-settled=true]");
    browser.wait_for("[data-badge=whole]");
    screen.wait_for_text("[data-notice=whole]", "cannot be edited");
    browser.wait_for("button[data-act=edit][disabled]");
    assert_eq!(browser.count("[data-act=toggle-hunk]"), 0);
    screen.wait_for_text("[data-side=result] .cm-line", "made by the daemon");
}

fn an_edit_that_is_accepted(scene: &Scene, screen: &Screen) {
    review(scene, screen, "MAKE-PLEASE", "made.txt");
    assert_eq!(scene.house.read("made.txt"), None);
    screen.act("accept");
    screen.browser.wait_for_no("button[data-proposal]");
    screen.show_chat();
    screen.wait_until_done("MAKE-PLEASE");
    screen.wait_for_no_request();
    let written = scene.house.read("made.txt").unwrap();
    assert_eq!(written, b"made by the daemon\n");
    screen.wait_for_text("[data-notice=answered]", "decided in the review");
}

fn an_edit_that_is_rejected(scene: &Scene, screen: &Screen) {
    review(scene, screen, "REFUSE-PLEASE", "never.txt");
    screen.act("reject");
    screen.browser.wait_for_no("button[data-proposal]");
    screen.show_chat();
    screen.wait_for_no_request();
    screen.wait_until_idle();
    assert_eq!(scene.house.read("never.txt"), None);
}

/// One of several, several of several, and something else.
fn questions(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    let option = |label: &str| json!({ "label": label, "description": "one of them" });
    let question = |text: &str, several: bool| {
        json!({
            "question": text, "header": "Choice", "multiSelect": several,
            "options": [option("Tea"), option("Coffee")],
        })
    };
    let questions = [
        question("Which drink?", false),
        question("Which more?", true),
        question("And which cake?", false),
    ];
    let call = Call::Other("ask_user_question", json!({ "questions": questions }));
    screen.ask(&scene.house, "QUESTIONS-PLEASE", vec![vec![call]]);
    screen.wait_for_request();
    browser.wait_for("button[data-act=answer][disabled]");
    browser.click("[data-question='0'] input[type=radio][value=Coffee]");
    browser.click("[data-question='0'] input[type=radio][value=Tea]");
    for label in ["Tea", "Coffee"] {
        let choice = format!("[data-question='1'] input[type=checkbox][value={label}]");
        browser.click(&choice);
    }
    browser.wait_for("button[data-act=answer][disabled]");
    browser.click("[data-question='2'] input[type=text]");
    browser.press("A crumble");
    screen.act("answer");
    screen.wait_until_done("QUESTIONS-PLEASE");
    screen.wait_for_no_request();
    let told = scene.house.model.requests_containing("A crumble");
    let told = told.first().expect("the model is told").to_string();
    assert!(told.contains("Tea, Coffee"), "{told}");
    assert!(!told.contains("Coffee, Tea"), "{told}");
}
