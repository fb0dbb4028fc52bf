//! Pictures, links and files in a conversation, tasks in the background, and what a newer companion
//! says that this page does not know.

use daemon::wire::ContentBlock;
use serde_json::{Value, json};
use testkit::{Browser, Look};

use super::scene::Scene;
use super::screen::Screen;
use crate::page::{EVIL, inspect, nothing_happened, pretend};

/// A picture that is larger than every screen here, as base64.
const DRAW: &str = "const canvas = document.createElement('canvas');\
    [canvas.width, canvas.height] = [2400, 1800];\
    canvas.getContext('2d').fillRect(0, 0, 1200, 900);\
    return canvas.toDataURL('image/png').split(',')[1]";

/// The width of the picture itself, and whether it is seen, fits onto the screen and is not distorted.
const SEEN: &str = "const picture = document.querySelector(arguments[0]);\
    const { width, height } = picture.getBoundingClientRect();\
    return [picture.naturalWidth, width > 100 && height > 100,\
        width < innerWidth && height < innerHeight, Math.abs(width / height - 4 / 3) < 0.02,\
        document.documentElement.scrollWidth <= innerWidth]";

/// What a picture is that only says that it is one.
const BROKEN: &str = "bm8gcGljdHVyZQ==";

#[test]
fn what_is_attached_is_shown_and_neither_loaded_nor_run() {
    let Some(scene) = Scene::set_with(&["axe"]) else {
        return;
    };
    for look in [Look::DESK, Look::PHONE.in_the_dark()] {
        let screen = Screen::open(&scene.house, look);
        screen.wait_for_state("live");
        let picture = screen.browser.run(DRAW, Vec::new());
        let picture = picture.as_str().unwrap();
        if look == Look::DESK {
            attached_elsewhere(&scene, &screen, picture);
        }
        pretend(&screen.browser, "return {}", "return {}");
        screen.show_chat();
        told(&screen.browser, picture);
        unknown(&screen.browser);
        inspect(&scene.house, &screen.browser, look, "attachments");
    }
}

/// Somebody else attaches something in the published daemon.
fn attached_elsewhere(scene: &Scene, screen: &Screen, picture: &str) {
    scene.house.model.on("LOOK-PLEASE", vec![]);
    scene.peer().say(vec![
        ContentBlock::text("LOOK-PLEASE\n"),
        ContentBlock::image(picture, "image/png"),
        ContentBlock::resource_link("a script", "javascript:window.owned=5"),
    ]);
    screen.wait_until_done("LOOK-PLEASE");
    let theirs = "[data-kind=attached][data-speaker=other]";
    screen.wait_for_text(theirs, "a script javascript:window.owned=5");
    screen
        .browser
        .wait_for(&format!("{theirs} img[alt*='a picture (image/png']"));
    is_seen(&screen.browser, &format!("{theirs} img"));
    assert_eq!(screen.browser.count("main img"), 1);
    assert_eq!(screen.browser.count("main a"), 0);
    nothing_happened(&screen.browser);
}

/// What an agent attaches, and what its tools and its tasks show.
fn told(browser: &Browser, picture: &str) {
    let attached = |attachment: &Value| json!({ "kind": "attached", "speaker": "agent", "text": "the line", "attachment": attachment });
    let image = json!({ "type": "image", "mimeType": "image/png", "data": picture });
    put(browser, 901, attached(&image));
    is_seen(browser, "[data-entry='901'] img");

    for (id, attachment) in [
        (902, json!({ "type": "image", "mimeType": "image/png" })),
        (
            903,
            json!({ "type": "image", "mimeType": "image/png", "data": BROKEN }),
        ),
        (
            904,
            json!({ "type": "image", "mimeType": "image/svg+xml", "data": picture }),
        ),
        (905, json!({ "type": "file", "uri": "file:///a" })),
        (906, json!({ "type": "hologram", "data": picture })),
    ] {
        put(browser, id, attached(&attachment));
        wait_for_entry(browser, id, "the line");
        assert_eq!(browser.count(&format!("[data-entry='{id}'] img")), 0);
    }

    let web = json!({ "type": "link", "name": EVIL, "uri": "https://evil.example/" });
    put(browser, 907, attached(&web));
    browser.wait_for("[data-entry='907'] a[href='https://evil.example/'][rel~=noopener]");
    let there = json!({ "type": "link", "name": "it", "uri": "file:///w/it.txt" });
    put(browser, 908, attached(&there));
    wait_for_entry(browser, 908, "it file:///w/it.txt (daemon’s)");
    assert_eq!(browser.count("[data-entry='908'] a"), 0);

    let file = json!({ "type": "file", "uri": "file:///w/b.txt", "content": EVIL });
    put(browser, 909, attached(&file));
    wait_for_entry(browser, 909, "File file:///w/b.txt (daemon’s), 1 line");
    assert_eq!(browser.count("[data-entry='909'] pre"), 0);
    browser.click("[data-entry='909'] summary");
    browser.wait_for("[data-entry='909'] pre");
    wait_for_entry(browser, 909, "<script>window.owned=2</script>");

    let output = json!({ "type": "attachment", "text": "the line", "attachment": image });
    let tool = json!({ "id": "t", "status": "completed", "content": [output] });
    put(browser, 910, json!({ "kind": "tool", "tool": tool }));
    is_seen(browser, "[data-entry='910'] img");

    put(
        browser,
        911,
        json!({ "kind": "said", "speaker": "task", "text": "tests" }),
    );
    wait_for_entry(browser, 911, "Background task");
    wait_for_entry(browser, 911, "tests");
    nothing_happened(browser);
}

/// A companion that is newer than the page says what the page does not know.
fn unknown(browser: &Browser) {
    put(browser, 920, json!({ "kind": "dance", "text": EVIL }));
    wait_for_entry(browser, 920, "<script>window.owned=2</script>");
    put(browser, 921, json!({ "kind": "dance", "steps": 3 }));
    wait_for_entry(browser, 921, "Something is not shown here");
    put(
        browser,
        922,
        json!({ "kind": "said", "speaker": "oracle", "text": "beware" }),
    );
    wait_for_entry(browser, 922, "oracle");
    wait_for_entry(browser, 922, "beware");
    let output = json!({ "type": "hologram", "text": EVIL });
    let tool = json!({ "id": "u", "content": [output, { "type": "hologram" }] });
    put(browser, 923, json!({ "kind": "tool", "tool": tool }));
    wait_for_entry(browser, 923, "<script>window.owned=2</script>");
    wait_for_entry(browser, 923, "does not know it: hologram");
    put(browser, 924, json!({ "kind": "note", "text": "the last" }));
    wait_for_entry(browser, 924, "the last");
    nothing_happened(browser);
}

/// Lets the page hear of an entry.
fn put(browser: &Browser, id: u64, mut entry: Value) {
    entry["id"] = id.into();
    let change = json!({ "change": "put", "entry": entry });
    browser.run("window.tell('chat', arguments[0])", vec![change]);
}

#[track_caller]
fn wait_for_entry(browser: &Browser, id: u64, text: &str) {
    let entry = format!("[data-entry='{id}']");
    browser.wait_until(&format!("{text:?} in {entry}"), || {
        browser.texts(&entry).concat().contains(text)
    });
}

/// A picture that is there, and no larger than the screen.
#[track_caller]
fn is_seen(browser: &Browser, css: &str) {
    browser.wait_for(css);
    browser.wait_until("a picture of the right size", || {
        browser.run(SEEN, vec![css.into()]) == json!([2400, true, true, true, true])
    });
}
