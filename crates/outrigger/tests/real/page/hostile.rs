//! Texts, names and versions that would like to be more than text.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::{Agent, Browser, Household, Look};

use super::Page;
use crate::served_household;

/// Markup that would run if it were taken for markup, and escapes that would move a terminal.
pub(crate) const EVIL: &str = "<img src=x onerror=\"window.owned=1\"><script>window.owned=2</script>\
                    </textarea><svg onload=window.owned=3>\u{1b}]0;owned\u{7}\u{202e}";

#[test]
fn what_agents_send_stays_text() {
    let Some(house) = served_household() else {
        return;
    };
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    browser.click("button[data-nav=live]");
    browser.wait_for("main[data-view=live]");
    introduce(&house, EVIL);
    // What it says of itself is not shown, and does nothing.
    browser.wait_for("[data-session]");
    nothing_happened(browser);

    browser.click("button[data-nav=review]");
    let mut terminal = house.start_connected(Agent::Qwen);
    let name = "<img src=x onerror=window.owned=4>.html";
    let text = format!("{EVIL}\n<b>bold</b> &amp; {{{{x}}}}\n");
    let (mark, proposal) = page.propose(&mut terminal, Agent::Qwen, name, &text);
    let shown = page.shown();
    assert!(shown.contains("<b>bold</b> &amp; {{x}}"), "{shown}");
    assert!(shown.contains("<script>window.owned=2</script>"), "{shown}");
    nothing_happened(browser);
    page.act("accept");
    house.wait_for_file(&terminal, name, &text);
    house.wait_until_done(&terminal, &mark);
    page.wait_until_closed(&proposal);
    nothing_happened(browser);
}

/// No script ran, and no element was made of what was sent.
#[track_caller]
pub(crate) fn nothing_happened(browser: &Browser) {
    let owned = browser.run("return window.owned ?? null", Vec::new());
    assert_eq!(owned, Value::Null, "a script ran");
    for css in ["img[src=x]", "main script", "main b", "svg[onload]"] {
        assert_eq!(browser.count(css), 0, "{css}");
    }
    assert!(!browser.title().contains("owned;"));
}

/// An agent that says this of itself.
fn introduce(house: &Household, version: &str) {
    let record = std::fs::read_dir(house.home().join(".qwen/ide")).unwrap();
    let lock = record.map(|entry| entry.unwrap().path()).next().unwrap();
    let lock: Value = serde_json::from_slice(&std::fs::read(lock).unwrap()).unwrap();
    let (port, token) = (&lock["port"], lock["authToken"].as_str().unwrap());
    let port: u16 = port
        .as_u64()
        .map(|port| port.to_string())
        .or(port.as_str().map(str::to_owned))
        .unwrap()
        .parse()
        .unwrap();
    let params = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": { "name": version, "version": version },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let body = body.to_string();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
