//! Our side of each comparison.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use conversation::BackendEvent;
use conversation::backend::daemon::Translator;
use conversation::view::Speaker;
use daemon::connection::{ConnectOptions, IdeConnection, IdeEvents, SessionChoice};
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::sse::{SseItem, SseParser};
use daemon::{Address, DaemonEvent};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use super::standin::Standin;
use crate::report::{Report, Row, Sample};

/// What makes the benchmark one side of a comparison instead.
pub(crate) const FLAG: &str = "--client";

const PIECE: usize = 16 * 1024;
const ROUNDS: usize = 5;

/// Does what the words after [`FLAG`] say.
pub(crate) fn run(words: &[String]) {
    match words {
        [what, path] if what == "parse" => parse(path),
        [what, url, count] if what == "listen" => listen(url, count.parse().unwrap()),
        _ => panic!("{FLAG} is for the benchmark itself"),
    }
}

fn parse(path: &str) {
    let bytes = Bytes::from(fs::read(path).unwrap());
    let (events, plain) = best(&bytes, |event| {
        black_box(event);
    });
    let (_, typed) = best(&bytes, |event| {
        black_box(event.body());
    });
    println!(
        "{}",
        json!({"events": events, "plain": plain, "typed": typed})
    );
}

/// How many events there are, and the processor time of the best round in seconds.
fn best(bytes: &Bytes, take: impl Fn(DaemonEvent)) -> (u64, f64) {
    let rounds = (0..ROUNDS).map(|_| round(bytes, &take));
    rounds.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

fn round(bytes: &Bytes, take: impl Fn(DaemonEvent)) -> (u64, f64) {
    let before = processor_time();
    let mut parser = SseParser::default();
    let mut events = 0;
    for at in (0..bytes.len()).step_by(PIECE) {
        parser.push(bytes.slice(at..bytes.len().min(at + PIECE)));
        while let Some(item) = parser.pull() {
            if let SseItem::Frame(frame) = item
                && let (Ok(event), _) = DaemonEvent::from_frame(&frame)
            {
                take(event);
                events += 1;
            }
        }
    }
    (events, processor_time() - before)
}

/// Of this process so far, in seconds.
fn processor_time() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap().as_secs_f64()
}

/// Connects, says when it has seen this many events, and stays.
fn listen(url: &str, count: u64) {
    let address: Address = url.parse().unwrap();
    let mut seen = 0;
    let runtime = runtime();
    let (_connection, mut events) = runtime.block_on(connect(&address));
    runtime.block_on(take(&address, &mut events, |_| {
        seen += 1;
        if seen == count {
            println!("seen");
        }
        true
    }));
}

/// Times the way of events from a socket to their listener.
pub(super) fn time_events(count: u64, report: &mut Report) {
    let standin = Standin::dripping(count);
    let address = Address::local(standin.port());
    let runtime = runtime();
    let (_connection, mut events) = runtime.block_on(connect(&address));
    let mut sample = Sample::default();
    runtime.block_on(take(&address, &mut events, |text| {
        let now = Instant::now();
        let id: usize = text.trim().parse().unwrap();
        sample.push(now - standin.sent.lock().unwrap()[id - 1]);
        (sample.len() as u64) < count
    }));
    let fast = sample.percentile(99) < 1.0;
    let row = Row::new("daemon_latency", "frame in the socket → app event");
    report.add(sample.describe(row).guide("< 1 ms (p99)", fast));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

async fn connect(address: &Address) -> (IdeConnection, IdeEvents) {
    let (connection, events) = IdeConnection::new();
    let options = ConnectOptions {
        address: address.clone(),
        session: SessionChoice::New,
        ..ConnectOptions::default()
    };
    connection.connect(options).await.unwrap();
    (connection, events)
}

/// Hands out what the agent says, as a page would get it, until somebody has had enough.
async fn take(address: &Address, events: &mut IdeEvents, mut more: impl FnMut(&str) -> bool) {
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(None, address);
    let mut translator = Translator::new(sanitiser);
    while let Some(event) = events.next().await {
        for told in translator.translate(&event) {
            if let BackendEvent::Said { speaker, text } = told
                && speaker == Speaker::Agent
                && !more(&text)
            {
                return;
            }
        }
    }
}
