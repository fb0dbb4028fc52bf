//! Texts of a model that would like to be more than text, or that hold what is nobody's business.

use serde_json::json;
use testkit::{Call, Look};

use super::scene::Scene;
use super::screen::Screen;
use crate::page::{EVIL, nothing_happened};

/// Links and a picture, one of which would run and one of which would be loaded.
const LINKS: &str = "[a link](https://evil.example/target) [a script](javascript:window.owned=5) \
                     ![a picture](https://evil.example/picture.png)";

#[test]
fn what_a_model_says_stays_text() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::DESK);
    screen.wait_for_state("live");
    an_answer(&scene, &screen);
    a_tool(&scene, &screen);
    a_question(&scene, &screen);
    secrets(&scene, &screen);
    screen.never_received(&scene.peer().secrets(), "DONE LEAK-PLEASE");
}

fn an_answer(scene: &Scene, screen: &Screen) {
    let browser = &screen.browser;
    let speech = scene.house.model.speak("EVIL-PLEASE", vec![]);
    screen.say("EVIL-PLEASE");
    speech.say(&format!(
        "**bold** {EVIL}\n\n{EVIL}\n\n<b>not bold</b>\n\n{LINKS}\n"
    ));
    drop(speech);
    screen.wait_for_text("[data-speaker=agent]", "a picture");
    screen.wait_until_idle();
    let shown = browser.texts("[data-speaker=agent] .prose").concat();
    for text in [
        "<script>window.owned=2</script>",
        "<b>not bold</b>",
        "⟨001B⟩]0;owned⟨0007⟩⟨202E⟩",
        "a link (https://evil.example/target)",
        "a script (javascript:window.owned=5)",
        "(https://evil.example/picture.png)",
    ] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    assert_eq!(browser.texts(".prose strong"), ["bold"]);
    let link = "a[href='https://evil.example/target'][target=_blank][rel~=noopener]";
    assert_eq!(browser.count(link), 1);
    assert_eq!(browser.count("main a"), 1);
    nothing_came_of_it(screen);
}

/// The title of a command comes from the model, too, and so does what it shows.
fn a_tool(scene: &Scene, screen: &Screen) {
    let arguments = json!({
        "command": "touch ran && printf '\\033]0;owned\\007<b>bold</b>'",
        "description": EVIL, "is_background": false,
    });
    let call = Call::Other("run_shell_command", arguments);
    screen.ask(&scene.house, "TITLE-PLEASE", vec![vec![call]]);
    screen.wait_for_text(
        "[data-request] .request-about",
        "<script>window.owned=2</script>",
    );
    nothing_came_of_it(screen);
    screen.allow();
    screen.wait_until_done("TITLE-PLEASE");
    screen.wait_for_text("[data-kind=tool] .tool-title", "<script>");
    screen.wait_for_text("[data-kind=tool] .output", "<b>bold</b>");
    nothing_came_of_it(screen);
}

fn a_question(scene: &Scene, screen: &Screen) {
    let option = |label: &str| json!({ "label": label, "description": EVIL });
    let question = json!({
        "question": EVIL, "header": "Choice", "multiSelect": false,
        "options": [option("<b>one</b>"), option("two")],
    });
    let call = Call::Other("ask_user_question", json!({ "questions": [question] }));
    screen.ask(&scene.house, "QUESTION-PLEASE", vec![vec![call]]);
    screen.wait_for_text("[data-question] legend", "<script>window.owned=2</script>");
    screen.wait_for_text("[data-question] label", "<b>one</b>");
    nothing_came_of_it(screen);
    screen.act("decline");
    screen.wait_until_idle();
    nothing_came_of_it(screen);
}

/// What an agent finds out about its daemon does not get to the page, whoever tells it.
fn secrets(scene: &Scene, screen: &Screen) {
    let port = scene.daemon.as_ref().unwrap().port();
    let (token, address) = (testkit::TOKEN, format!("127.0.0.1:{port}"));
    let found = format!("it is http://{address}/ with {token} and localhost:{port}\n");
    scene.house.write("found.txt", &found);
    let turns = vec![vec![Call::shell(
        "touch ran && cat found.txt; echo \"$QWEN_SERVER_TOKEN\"",
    )]];
    screen.ask(&scene.house, "LEAK-PLEASE", turns);
    screen.wait_for_request();
    screen.allow();
    screen.wait_until_done("LEAK-PLEASE");
    screen.wait_for_text("[data-kind=tool] .output", "it is");

    let speech = scene.house.model.speak("TELL-PLEASE", vec![]);
    screen.say("TELL-PLEASE");
    let (first, second) = token.split_at(token.len() / 2);
    speech.think(&found);
    speech.say(&format!("It is {first}"));
    speech.say(&format!("{second} at http://{address}, and that is all."));
    drop(speech);
    screen.wait_for_text("[data-speaker=agent]", "and that is all.");
    screen.wait_until_idle();
    let shown = screen.browser.to_string();
    assert!(!shown.contains(token), "{shown}");
    assert!(!shown.contains(&address), "{shown}");
}

/// No script ran, nothing was opened or loaded, and nothing steers the screen.
#[track_caller]
fn nothing_came_of_it(screen: &Screen) {
    let browser = &screen.browser;
    nothing_happened(browser);
    assert_eq!(browser.count("main img, main iframe"), 0);
    assert_eq!(browser.count("a[href^=javascript]"), 0);
    assert_eq!(browser.tabs(), 1);
    let script = "return /[\\u0000-\\u0008\\u000b-\\u001f\\u202e]/.test(document.body.textContent)";
    assert_eq!(browser.run(script, Vec::new()), false, "{browser}");
}
