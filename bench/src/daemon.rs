//! The client of `qwen serve` beside the published TypeScript SDK: the same bytes on the same machine
//! in the same minute, each in a process of its own.
//!
//! Unlike the rest of the benchmark this one links what it measures, because a library has no
//! outside. [`client`] is our side of each comparison, `sdk.mjs` the other.

pub(crate) mod client;
mod standin;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{megabytes, memory_of};
use crate::report::{Report, Row};
use standin::Standin;

/// How large the stream is that is parsed.
const STREAM: usize = 32 << 20;
/// How often each side parses it, in a process of its own each time.
const TURNS: usize = 3;
/// How many events a connection has seen when its memory is looked at.
const SEEN: u64 = 10_000;
/// How many events are timed, one each millisecond.
const TIMED: u64 = 3_000;

const METHOD: &str = "daemon: the recorded event streams of crates/daemon/tests/captures, one after \
    the other until there are 32 MB, in pieces of 16 kB from memory; processor time of the whole \
    process, best of 5 rounds in each of 3 processes of either side, in turns. Events: `parseSseStream` of \
    @qwen-code/sdk yields objects, every byte of them parsed; ours yields `Event`s with their \
    envelope read and the data kept as text. Typed: each event through the SDK's \
    `asKnownDaemonEvent`, which checks it; ours through `Event::body`, which makes it a typed value. \
    Memory: VmRSS of a process that has taken 10,000 events of one stream over loopback: an \
    `IdeConnection` with the `Translator` of the conversation, and the SDK's `subscribeEvents`. Time: from just before a \
    frame is written into a loopback socket to the translated event in the listener's hands, 3,000 \
    frames, one each millisecond.";

pub(crate) fn measure(report: &mut Report) {
    let sdk = Sdk::find();
    let folder = tempfile::tempdir().unwrap();
    parsing(&sdk, &folder, report);
    memory(&sdk, report);
    client::time_events(TIMED, report);
    report.method(METHOD);
}

/// The published SDK, and what runs it.
struct Sdk {
    node: PathBuf,
    script: PathBuf,
    module: PathBuf,
}

impl Sdk {
    fn find() -> Sdk {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let clients = std::env::var_os("OUTRIGGER_CLIENTS")
            .map_or_else(|| here.join("../target/clients"), PathBuf::from);
        let modules = clients.join("sdk/node_modules");
        let module = modules.join("@qwen-code/sdk/dist/daemon/index.js");
        assert!(
            module.exists(),
            "the SDK is not in {}; `cargo xtask bench` installs it",
            modules.display()
        );
        Sdk {
            node: modules.join(".bin/node"),
            script: here.join("src/daemon/sdk.mjs"),
            module: module.canonicalize().unwrap(),
        }
    }

    fn command(&self, what: &str, argument: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).arg(&self.module);
        command.args([what, argument]);
        command
    }
}

fn ours(what: &str, argument: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([client::FLAG, what, argument]);
    command
}

/// What one side says about parsing: seconds for all events, plain and typed.
struct Parsed {
    events: f64,
    plain: f64,
    typed: f64,
}

impl Default for Parsed {
    fn default() -> Self {
        Self {
            events: 0.0,
            plain: f64::INFINITY,
            typed: f64::INFINITY,
        }
    }
}

impl Parsed {
    fn keep_best(&mut self, other: &Parsed) {
        self.events = other.events;
        self.plain = self.plain.min(other.plain);
        self.typed = self.typed.min(other.typed);
    }
}

fn parsing(sdk: &Sdk, folder: &TempDir, report: &mut Report) {
    let path = folder.path().join("stream");
    let stream = stream();
    let megabytes = f64::from(u32::try_from(stream.len()).unwrap()) / 1e6;
    fs::write(&path, stream).unwrap();
    let path = path.to_str().unwrap();
    let parse = |mut command: Command| {
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
        let figure = |name: &str| figures[name].as_f64().unwrap();
        Parsed {
            events: figure("events"),
            plain: figure("plain"),
            typed: figure("typed"),
        }
    };
    // In turns, so that whatever else the machine does is in the way of both.
    let (mut mine, mut theirs) = (Parsed::default(), Parsed::default());
    for _ in 0..TURNS {
        mine.keep_best(&parse(ours("parse", path)));
        theirs.keep_best(&parse(sdk.command("parse", path)));
    }
    assert!(
        (mine.events - theirs.events).abs() < 0.5,
        "both sides must see the same events"
    );
    let levels = [
        ("plain", "events", mine.plain, theirs.plain),
        ("typed", "typed events", mine.typed, theirs.typed),
    ];
    for (key, what, mine_took, theirs_took) in levels {
        let ratio = theirs_took / mine_took;
        let shown = |took: f64| {
            format!(
                "{:.2} million/s, {:.0} MB/s",
                mine.events / took / 1e6,
                megabytes / took
            )
        };
        let row = Row::new(
            format!("daemon_parse_{key}"),
            format!("event stream → {what}"),
        )
        .shown(format!(
            "{} (SDK: {}), {ratio:.1} ×",
            shown(mine_took),
            shown(theirs_took)
        ))
        .figure("events_per_s", mine.events / mine_took)
        .figure("mb_per_s", megabytes / mine_took)
        .figure("sdk_events_per_s", mine.events / theirs_took)
        .figure("sdk_mb_per_s", megabytes / theirs_took)
        .figure("ratio", ratio);
        report.add(match key {
            "plain" => row.guide("≥ 10 × the SDK", ratio >= 10.0),
            _ => row,
        });
    }
}

/// The recorded streams, over and over.
fn stream() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/daemon/tests/captures");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".sse.txt"))
        // These show how a socket is cut, framing and all.
        .filter(|path| !path.to_string_lossy().contains("slow-client"))
        .collect();
    paths.sort();
    let mut round = Vec::new();
    for path in paths {
        let capture = fs::read(path).unwrap();
        let head = capture.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        round.extend_from_slice(&capture[head + 4..]);
        round.extend_from_slice(b"\n\n");
    }
    round.repeat(STREAM / round.len())
}

fn memory(sdk: &Sdk, report: &mut Report) {
    let standin = Standin::start(SEEN);
    let url = format!("http://127.0.0.1:{}", standin.port());
    let mine = settled(ours("listen", &url));
    let theirs = settled(sdk.command("listen", &url));
    let row = Row::new(
        "daemon_memory",
        "memory of a connection that has seen 10,000 events",
    )
    .shown(format!(
        "{} (SDK: {}), {} %",
        megabytes(mine),
        megabytes(theirs),
        mine * 100 / theirs
    ))
    .figure("rss_kb", mine)
    .figure("sdk_rss_kb", theirs);
    report.add(row.guide("≤ 1/5 of the SDK's process", mine * 5 <= theirs));
}

/// The resident memory of a process once it says that it has seen everything, in kB.
fn settled(mut command: Command) -> u64 {
    let mut child = Listener(
        command
            .arg(SEEN.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    let stdout = child.0.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "seen", "a client ended early");
    memory_of(child.0.id()).0
}

/// A process that is ended when this is dropped.
struct Listener(Child);

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
