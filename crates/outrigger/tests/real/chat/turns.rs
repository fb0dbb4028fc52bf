//! Turns, from the field in which they are typed to their end.

use testkit::{Call, Look};

use super::scene::{Scene, plan};
use super::screen::Screen;

#[test]
fn a_person_talks_with_the_agent_in_the_page() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::DESK);
    where_it_works(&scene, &screen);
    an_answer_while_it_is_given(&scene, &screen);
    tools_and_a_plan(&scene, &screen);
    a_turn_that_is_stopped(&scene, &screen);
    a_prompt_that_waits(&scene, &screen);
    screen.never_received(&scene.peer().secrets(), "DONE TOOLS-PLEASE");
}

/// Nothing of the daemon's is implied to be where the page is.
fn where_it_works(scene: &Scene, screen: &Screen) {
    screen.wait_for_state("live");
    let place = screen.browser.texts("[data-place]").concat();
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(place.contains(machine.trim()), "{place}");
    let folder = scene.house.workspace().display().to_string();
    assert!(place.contains(&folder), "{place}");
}

fn an_answer_while_it_is_given(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    let speech = scene.house.model.speak("STORY-PLEASE", vec![]);
    screen.say("tell me a STORY-PLEASE");
    speech.think("It has to be short.");
    speech.say("Once upon");
    screen.wait_for_text("[data-speaker=agent] .prose", "Once upon");
    browser.wait_for("button[data-act=stop]");
    speech.say(" a **time**.\n\n- one\n- two\n");
    screen.wait_for_text("[data-speaker=agent] .prose", "Once upon a time.");
    browser.wait_for("button[data-act=stop]");
    drop(speech);
    screen.wait_until_idle();
    assert_eq!(browser.texts(".prose strong"), ["time"]);
    assert_eq!(browser.texts(".prose li"), ["one", "two"]);

    // What it thought is there for those who want to see it.
    let thought = "[data-speaker=thought]";
    assert_eq!(browser.count(&format!("{thought} details[open]")), 0);
    assert!(!browser.to_string().contains("It has to be short."));
    browser.click(&format!("{thought} summary"));
    screen.wait_for_text(thought, "It has to be short.");
    browser.wait_for("[data-usage] meter");
}

fn tools_and_a_plan(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    scene
        .house
        .write("notes.txt", "the secret ingredient is thyme\n");
    let steps = [
        ("look around", "completed"),
        ("do it", "in_progress"),
        ("rest", "pending"),
    ];
    let turns = vec![
        vec![plan(&steps)],
        vec![Call::read(scene.house.path("notes.txt"))],
        vec![Call::shell("touch ran && echo from-the-shell")],
    ];
    screen.ask(&scene.house, "TOOLS-PLEASE", turns);
    screen.wait_for_request();
    // It waits for leave.
    browser.wait_for("[data-kind=tool][data-tool-status=pending]");
    let steps = browser.texts("[data-kind=plan] [data-step]");
    assert_eq!(
        steps,
        ["done: look around", "under way: do it", "to do: rest"]
    );
    screen.wait_for_text("[data-kind=tool]", "notes.txt");
    screen.allow();
    screen.wait_until_done("TOOLS-PLEASE");
    screen.wait_for_text("[data-tool-status=completed] .output", "from-the-shell");
    assert_eq!(browser.count("[data-tool-status=pending]"), 0, "{browser}");
}

fn a_turn_that_is_stopped(scene: &Scene, screen: &Screen) {
    let speech = scene.house.model.speak("ENDLESS-PLEASE", vec![]);
    screen.say("ENDLESS-PLEASE");
    speech.say("This takes for ever");
    screen.wait_for_text("[data-speaker=agent] .prose", "This takes for ever");
    screen.act("stop");
    screen.wait_until_idle();
    screen.wait_for_text("[data-kind=ended][data-how=cancelled]", "Stopped");
}

fn a_prompt_that_waits(scene: &Scene, screen: &Screen) {
    let speech = scene.house.model.speak("FIRST-PLEASE", vec![]);
    screen.say("FIRST-PLEASE");
    speech.say("Not yet done");
    screen.wait_for_text("[data-speaker=agent] .prose", "Not yet done");
    screen.ask(&scene.house, "SECOND-PLEASE", vec![]);
    screen.wait_for_text("[data-queue] li", "SECOND-PLEASE");
    let answered = |lines: Vec<String>| lines.contains(&"agent: DONE SECOND-PLEASE".to_owned());
    assert!(!answered(screen.said()), "one after the other");
    drop(speech);
    screen.wait_until_done("SECOND-PLEASE");
    screen.browser.wait_for_no("[data-queue]");
    let said = screen.said();
    let last: Vec<_> = said.iter().rev().take(4).rev().collect();
    assert_eq!(
        last,
        [
            "me: FIRST-PLEASE",
            "agent: Not yet done",
            "me: SECOND-PLEASE",
            "agent: DONE SECOND-PLEASE",
        ]
    );
}
