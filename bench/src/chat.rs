//! A long conversation in the page: the published daemon, a model that talks fast, a real Chromium.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::{Browser, Clients, Daemon, Household, Look, Speech};

use crate::process::megabytes;
use crate::report::{Report, Row, Sample, millis};

/// Turns, and the pieces in which the model says something in each.
const TURNS: usize = 20;
const PIECES: usize = 500;
/// How many pieces the model says at once, and how long it waits before the next.
const AT_ONCE: usize = 25;
const PAUSE: Duration = Duration::from_millis(25);

const METHOD: &str = "chat: the published `qwen serve` with a model on loopback, and the page in \
    the Chromium of the rows above. 20 prompts are typed one after the other; to each the model \
    says 500 pieces of Markdown, 1,000 a second, so the page hears of 10,000 of them. Measured is \
    the time between frames from the first prompt to the last answer, then from a reload to the \
    last answer on the screen. Memory: the companion's VmRSS before the first prompt and after the \
    last answer, and the page's heap as Chromium tells it (`performance.memory`), rubbish included.";

/// Notes the time of each frame from now on.
const WATCH: &str = "window.between = []; let last;\
    const frame = now => {\
        if (last !== undefined) window.between.push(now - last);\
        last = now;\
        requestAnimationFrame(frame);\
    };\
    requestAnimationFrame(frame);";

/// Whether the page shows a text, looked for where the newest things are.
const SHOWS: &str = "const entries = document.querySelectorAll('[data-entry]');\
    return [...entries].slice(-3).some(entry => entry.textContent.includes(arguments[0]))";

const HEAP: &str = "return performance.memory.usedJSHeapSize";

/// The key, as `WebDriver` writes it.
const ENTER: &str = "\u{e007}";

pub(crate) fn measure(program: &Path, report: &mut Report) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let mut scene = Scene::set(program, &clients);
    let before = scene.memory();
    scene.browser.run(WATCH, Vec::new());
    for turn in 0..TURNS {
        scene.talk(turn);
    }
    let mut frames = Sample::default();
    let between = scene.browser.run("return window.between", Vec::new());
    for time in between.as_array().unwrap() {
        frames.push(Duration::from_secs_f64(time.as_f64().unwrap() / 1e3));
    }
    let (after, heap) = (scene.memory(), scene.heap());
    let reloaded = Instant::now();
    scene.browser.run("location.reload()", Vec::new());
    scene.browser.wait_for("html[data-state=live]");
    scene.browser.click("button[data-nav=chat]");
    scene.wait_until_shown(&last_words(TURNS - 1));
    let reloaded = reloaded.elapsed();

    let (p50, p99) = (frames.percentile(50), frames.percentile(99));
    let longest = frames.percentile(100);
    let what = "chat: 10,000 pieces arrive, time between frames";
    let row = Row::new("chat_frames", what).shown(format!(
        "p50 {p50:.1} ms, p99 {p99:.1} ms, longest {longest:.1} ms over {} frames",
        frames.len()
    ));
    let row = row.figure("p50_ms", p50).figure("p99_ms", p99);
    let row = row.figure("longest_ms", longest);
    report.add(row.guide("≤ 50 ms (p99)", p99 <= 50.0));
    let shown = format!(
        "companion {} → {}, page {}",
        megabytes(before),
        megabytes(after),
        megabytes(heap)
    );
    let row = Row::new("chat_memory", "chat: memory with that conversation").shown(shown);
    let row = row.figure("companion_before_kb", before);
    let row = row.figure("companion_after_kb", after);
    report.add(row.figure("page_heap_kb", heap));
    let row = Row::new("chat_reload", "chat: reload → all of it on the screen");
    let row = row.shown(format!("{:.0} ms", millis(reloaded)));
    report.add(row.figure("ms", millis(reloaded)));
    report.method(METHOD);
}

/// A conversation that is open in a browser.
struct Scene {
    browser: Browser,
    house: Household,
    _daemon: Daemon,
}

impl Scene {
    fn set(program: &Path, clients: &Clients) -> Scene {
        let mut house = Household::new(program, clients);
        let daemon = house.start_daemon(&house.workspace(), 0);
        house.serve_with_daemon(&daemon.url());
        let browser = Browser::start(Look::DESK);
        let link = house.run(&["url"]).good();
        browser.open(link.trim_end());
        browser.wait_for("html[data-state=live]");
        browser.click("button[data-nav=chat]");
        browser.wait_for("[data-chat-state=live]");
        Scene {
            browser,
            house,
            _daemon: daemon,
        }
    }

    /// One prompt, and a long answer.
    fn talk(&mut self, turn: usize) {
        let mark = format!("TURN-{turn}-PLEASE");
        let speech = self.house.model.speak(&mark, Vec::new());
        self.browser.click("textarea[data-chat-input]");
        self.browser.press(&format!("{mark}{ENTER}"));
        self.wait_until_shown(&mark);
        answer(&speech, turn);
        drop(speech);
        self.wait_until_shown(&last_words(turn));
        self.browser.wait_for("button[data-act=send]");
    }

    fn wait_until_shown(&self, text: &str) {
        let what = format!("the page to show {text:?}");
        self.browser.wait_until(&what, || {
            let shown = self.browser.run(SHOWS, vec![Value::from(text)]);
            shown == true
        });
    }

    /// What the companion has resident, in kB.
    fn memory(&mut self) -> u64 {
        let pid = self.house.companion().pid();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse().unwrap()
    }

    /// What the page's scripts hold, in kB.
    fn heap(&self) -> u64 {
        self.browser.run(HEAP, Vec::new()).as_u64().unwrap() / 1024
    }
}

/// Says the answer of a turn piece by piece: lists, emphasis and code.
fn answer(speech: &Speech, turn: usize) {
    let mut paragraph = String::new();
    for piece in 0..PIECES {
        paragraph.clear();
        match piece % 50 {
            0 => write!(paragraph, "\n\n## Part {piece}\n\n"),
            10 => write!(paragraph, "\n\n```rust\nlet answer = {piece};\n"),
            20 => write!(paragraph, "```\n\n- **first** "),
            30 => write!(paragraph, "\n- `second` "),
            40 => write!(paragraph, "\n\nThen "),
            _ => write!(paragraph, "word {turn}.{piece} "),
        }
        .unwrap();
        speech.say(&paragraph);
        if piece % AT_ONCE == AT_ONCE - 1 {
            thread::sleep(PAUSE);
        }
    }
    speech.say(&format!("\n\n{}", last_words(turn)));
}

fn last_words(turn: usize) -> String {
    format!("That was answer {turn}, and all of it.")
}
