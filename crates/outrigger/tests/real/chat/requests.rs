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
    a_question_with_answers(&scene, &screen);
    leave(&scene, &screen);
    no_leave(&scene, &screen);
    a_prompt_that_is_withdrawn(&scene, &screen);
    answered_elsewhere(&scene, &screen);
    an_edit_that_is_accepted(&scene, &screen);
    an_edit_that_is_rejected(&scene, &screen);
    questions(&scene, &screen);
    screen.never_received(&scene.peer().secrets(), "DONE QUESTIONS-PLEASE");
}

/// The card asks a question, shows the command once, and is answered with a digit.
fn a_question_with_answers(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    let call = Call::shell("touch asked");
    screen.ask(&scene.house, "CARD-PLEASE", vec![vec![call]]);
    screen.wait_for_request();
    screen.wait_for_text("[data-request] h3", "Run this command?");
    let shown = "return document.querySelector('.conversation').innerText\
        .split('touch asked').length - 1";
    assert_eq!(browser.run(shown, Vec::new()), 1, "{browser}");
    let kinds = "return [...document.querySelectorAll('[data-request] [data-option-kind]')]\
        .map(it => [it.dataset.optionKind, it.closest('.lasting') !== null])";
    let kinds: Vec<(String, bool)> =
        serde_json::from_value(browser.run(kinds, Vec::new())).unwrap();
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(kind, apart)| (&**kind, *apart))
        .collect();
    assert_eq!(kinds[..2], [("allow_once", false), ("reject_once", false)]);
    assert!(kinds.len() > 2, "something lasts");
    assert!(kinds[2..].iter().all(|it| *it == ("allow_always", true)));
    let hint = browser.run(
        "return document.querySelector('[data-chat-input]').placeholder",
        Vec::new(),
    );
    assert!(hint.as_str().unwrap().contains("waits for your answer"));
    // A digit that is typed into the field is text, and nothing else.
    screen.type_text("1");
    assert_eq!(screen.typed(), "1");
    screen.clear();
    assert_eq!(browser.count("[data-request]"), 1);
    assert!(!scene.house.path("asked").exists());
    browser.run(
        "document.querySelector('[data-request]').focus()",
        Vec::new(),
    );
    browser.press("1");
    screen.wait_until_done("CARD-PLEASE");
    assert!(scene.house.path("asked").exists());

    // The next one leaves the focus to the field, although nothing is written there yet.
    let call = Call::shell("touch asked-again");
    screen.ask(&scene.house, "FIELD-PLEASE", vec![vec![call]]);
    screen.wait_for_request();
    browser.press("2");
    assert_eq!(screen.typed(), "2");
    assert_eq!(browser.count("[data-request]"), 1);
    screen.clear();
    screen.reject();
    screen.wait_for_no_request();
    screen.wait_until_idle();

    // It takes the focus if nothing has it.
    browser.run(
        "const field = document.querySelector('[data-chat-input]');\
         const leave = ({ key }) => {\
             if (key !== 'Enter') return;\
             field.removeEventListener('keydown', leave);\
             setTimeout(() => field.blur());\
         };\
         field.addEventListener('keydown', leave)",
        Vec::new(),
    );
    let call = Call::shell("touch asked-again");
    screen.ask(&scene.house, "FOCUS-PLEASE", vec![vec![call]]);
    screen.wait_for_request();
    browser.press("2");
    screen.wait_for_no_request();
    screen.wait_until_idle();
    assert!(!scene.house.path("asked-again").exists());
}

/// What waits for the end of the turn can be taken back, and stands in the field again.
fn a_prompt_that_is_withdrawn(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    let call = Call::shell("true");
    screen.ask(&scene.house, "WAIT-PLEASE", vec![vec![call]]);
    screen.wait_for_request();
    screen.say("NEVER-PLEASE");
    screen.wait_for_text("[data-queue]", "NEVER-PLEASE");
    screen.act("withdraw");
    browser.wait_for_no("[data-queue]");
    browser.wait_until("the text in the field", || screen.typed() == "NEVER-PLEASE");
    screen.clear();
    screen.allow();
    screen.wait_until_done("WAIT-PLEASE");
    let asked = scene.house.model.requests_containing("NEVER-PLEASE");
    assert!(asked.is_empty(), "it was said nevertheless");
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
    // A no is no failure.
    screen.browser.wait_for("[data-tool-status=rejected]");
    assert_eq!(screen.browser.count("[data-tool-status=failed]"), 0);
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
