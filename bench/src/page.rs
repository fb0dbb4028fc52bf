//! The page in a real Chromium: how soon it is there, and how it bears a lot.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Browser, Look};
use tokio::runtime::Runtime;

use crate::http::{Connection, Listener};
use crate::process::Companion;
use crate::report::{Report, Row, Sample};

/// How often the empty page is opened.
const OPENED: usize = 20;
/// How often the large proposal is shown.
const SHOWN: usize = 5;
/// The large proposal: lines, and every how many of them one changes.
const LINES: usize = 200_000;
const EVERY: usize = 40;
/// The long queue, and how many of it one agent can have.
const QUEUE: usize = 1_000;
const EACH: usize = 250;

const METHOD: &str = "page: Debian's Chromium without a window (`--headless=new --disable-gpu`, so it \
    paints with the processor), 1280 × 860, driven by chromedriver. First paint is the browser's \
    own first-contentful-paint of a fresh link, live is when the page has all its state and its \
    stream; both since the navigation began, 20 times, in turns with a page of one line, which is what \
    the browser itself needs. Large diff: a file of 10 MB in 200,000 \
    lines, 5,000 of them changed one by one; from the navigation to the diff that takes keys \
    (`data-ready` and the two frames after it), and from there a key to the next hunk and the frame \
    that shows it; 5 times. Queue: 1,000 proposals of four agents; the queue is scrolled by 240 \
    pixels in each frame from its top to its end and back, the time between frames is measured.";

/// Calls back when the page shows an interactive diff, with the time since the navigation.
const READY: &str = "const done = arguments[arguments.length - 1];\
    const look = () => document.querySelector('[data-detail][data-ready=true]')\
        ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))\
        : setTimeout(look, 5);\
    look();";

/// Calls back with the time from a key to the frame after the next hunk is marked.
const NEXT_HUNK: &str = "const done = arguments[arguments.length - 1];\
    const marked = () => document.querySelector('[data-hunk][aria-current=true]')?.dataset.hunk;\
    const before = marked(), began = performance.now();\
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));\
    const look = () => marked() !== before && marked() !== undefined\
        ? requestAnimationFrame(() => done(performance.now() - began))\
        : requestAnimationFrame(look);\
    look();";

/// Calls back with the times between frames while the queue is scrolled.
const SCROLL: &str = "const done = arguments[arguments.length - 1];\
    let queue = document.querySelector('button[data-proposal]');\
    while (queue.scrollHeight <= queue.clientHeight + 1) queue = queue.parentElement;\
    const times = []; let last, step = 240;\
    const frame = now => {\
        if (last !== undefined) times.push(now - last);\
        last = now;\
        const before = queue.scrollTop;\
        queue.scrollTop += step;\
        if (queue.scrollTop === before) {\
            if (step < 0) return done(times);\
            step = -step;\
        }\
        requestAnimationFrame(frame);\
    };\
    requestAnimationFrame(frame);";

pub(crate) fn measure(program: &Path, runtime: &Runtime, report: &mut Report) {
    empty(program, runtime, report);
    large(program, runtime, report);
    queue(program, runtime, report);
    report.method(METHOD);
}

fn empty(program: &Path, runtime: &Runtime, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let browser = Browser::start(Look::DESK);
    let bare = serve_a_bare_page();
    let (mut paint, mut live) = (Sample::default(), Sample::default());
    let mut least = Sample::default();
    for _ in 0..OPENED {
        browser.open("about:blank");
        browser.open(&bare);
        least.push(when(&browser, PAINTED));
        browser.open("about:blank");
        browser.open(&link(&companion, runtime));
        live.push(when(&browser, LIVE));
        paint.push(when(&browser, PAINTED));
    }
    let row = paint.describe(Row::new("page_first_paint", "page: first paint"));
    let over = paint.percentile(50) - least.percentile(50);
    let shown = format!(
        "p50 {:.0} ms, p99 {:.0} ms (a page of one line: {:.0} ms, {:.0} ms)",
        paint.percentile(50),
        paint.percentile(99),
        least.percentile(50),
        least.percentile(99)
    );
    let row = row.shown(shown).figure("over_a_bare_page_ms", over);
    let met = paint.percentile(50) <= 100.0;
    report.add(row.guide("≤ 100 ms (p50)", met));
    report.add(live.describe(Row::new("page_live", "page: live")));
}

/// Serves a page of one line for as long as the benchmark runs, and tells where: what a browser needs
/// for the least that it can show.
fn serve_a_bare_page() -> String {
    const PAGE: &str = "<!doctype html><title>Bare</title><p>Bare";
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut request = [0; 4096];
            // A browser that leaves early is none of our business.
            let _ = socket.read(&mut request);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
            let _ = write!(
                socket,
                "{head}\r\nContent-Length: {}\r\n\r\n{PAGE}",
                PAGE.len()
            );
        }
    });
    url
}

/// Calls back with the time of the first paint since the navigation, once there was one.
const PAINTED: &str = "const done = arguments[arguments.length - 1];\
    const look = () => {\
        const [paint] = performance.getEntriesByName('first-contentful-paint');\
        paint ? done(paint.startTime) : setTimeout(look, 5);\
    };\
    look();";

/// Calls back when the page has all its state, with the time since the navigation.
const LIVE: &str = "const done = arguments[arguments.length - 1];\
    const look = () => document.documentElement.dataset.state === 'live'\
        ? done(performance.now()) : setTimeout(look, 1);\
    look();";

fn large(program: &Path, runtime: &Runtime, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let (original, proposed) = texts();
    let path = companion.household.write("large.rs", &original);
    let _agent = runtime.block_on(async {
        let (mut agent, listener) = agent(&companion).await;
        let open = json!({ "filePath": path, "newContent": proposed });
        agent.call("openDiff", &open).await;
        (agent, listener)
    });
    let (mut ready, mut moves) = (Sample::default(), Sample::default());
    for _ in 0..SHOWN {
        // A browser of its own each time, so that nothing is left over from the one before.
        let browser = Browser::start(Look::DESK);
        browser.open(&link(&companion, runtime));
        ready.push(when(&browser, READY));
        for _ in 0..20 {
            moves.push(when(&browser, NEXT_HUNK));
        }
    }
    let what = "page: interactive diff of 10 MB with 5,000 hunks";
    report.add(ready.describe(Row::new("page_large_diff", what)));
    let what = "page: a key to the next of 5,000 hunks";
    report.add(moves.describe(Row::new("page_next_hunk", what)));
}

fn queue(program: &Path, runtime: &Runtime, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let _agents = runtime.block_on(async {
        let mut agents = Vec::new();
        for n in 0..QUEUE {
            if n % EACH == 0 {
                agents.push(agent(&companion).await);
            }
            let path = companion.household.write(&format!("file-{n}.rs"), "old\n");
            let open = json!({ "filePath": path, "newContent": format!("new {n}\n") });
            let (agent, _) = agents.last_mut().unwrap();
            agent.call("openDiff", &open).await;
        }
        agents
    });
    let browser = Browser::start(Look::DESK);
    let opened = Instant::now();
    browser.open(&link(&companion, runtime));
    browser.wait_for("[data-detail][data-ready=true]");
    let took = opened.elapsed();
    let times = browser.run_until_done(SCROLL, Vec::new());
    let mut frames = Sample::default();
    for time in times.as_array().unwrap() {
        frames.push(milliseconds(time));
    }
    let row = frames.describe(Row::new(
        "page_scroll",
        "page: scrolling 1,000 proposals, time between frames",
    ));
    let longest = frames.percentile(100);
    let shown = format!(
        "p50 {:.1} ms, p99 {:.1} ms, longest {longest:.1} ms over {} frames",
        frames.percentile(50),
        frames.percentile(99),
        frames.len()
    );
    let row = row.figure("longest_ms", longest);
    let row = row.figure("opened_ms", crate::report::millis(took));
    report.add(
        row.shown(shown)
            .guide("no frame over 50 ms", longest <= 50.0),
    );
}

/// An agent with its stream.
async fn agent(companion: &Companion) -> (Connection, Listener) {
    let agent = Connection::agent(companion).await;
    let listener = agent.again(companion).await.listen().await;
    (agent, listener)
}

/// A fresh link to the page.
fn link(companion: &Companion, runtime: &Runtime) -> String {
    let answer = runtime.block_on(async {
        let mut person = Connection::person(companion).await;
        person.post("/api/links", b"{}").await
    });
    let link: Value = serde_json::from_slice(&answer.body).unwrap();
    link["url"].as_str().unwrap().to_owned()
}

/// The time that a script calls back with.
fn when(browser: &Browser, script: &str) -> Duration {
    milliseconds(&browser.run_until_done(script, Vec::new()))
}

fn milliseconds(value: &Value) -> Duration {
    Duration::from_secs_f64(value.as_f64().unwrap() / 1e3)
}

/// A text of 10 MB, and the same with every so many lines changed.
fn texts() -> (String, String) {
    let (mut original, mut proposed) = (String::new(), String::new());
    for line in 0..LINES {
        let text = format!("    let value_{line:06} = compute({line:06}); // one line");
        writeln!(original, "{text}").unwrap();
        if line % EVERY == EVERY / 2 {
            writeln!(proposed, "{}", text.replace("compute", "reckon")).unwrap();
        } else {
            writeln!(proposed, "{text}").unwrap();
        }
    }
    (original, proposed)
}
