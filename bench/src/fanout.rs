//! How many contexts a companion can tell to many agents at once.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;

use crate::http::{Connection, Listener, focus};
use crate::process::{Companion, own_cpu};
use crate::report::{Report, Row};

const STREAMS: [usize; 3] = [1, 10, 100];
/// More would only make the companion throw contexts away that nobody had time to read.
const DRIVERS: u32 = 2;
const WARM_UP: Duration = Duration::from_millis(500);
const SPAN: Duration = Duration::from_secs(2);
const SPANS: usize = 5;

const METHOD: &str = "fan-out: OUTRIGGER_DEBOUNCE_MS=0; 2 kept-alive connections post cursor \
    moves to /api/focus, each as soon as the last was answered, while 1, 10 or 100 sessions \
    listen. Counted are the contexts that arrived; a stream that is behind is sent only the \
    newest. Median and best of 5 spans of 2 s. The load and all readers share one thread, and \
    the companion the same cores, so this is what both can do together. Processor time per \
    message from /proc/PID/stat, answering the posts included.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    for streams in STREAMS {
        LocalSet::new()
            .run_until(measure_one(program, streams, report))
            .await;
    }
    report.method(METHOD);
}

/// What has happened so far.
#[derive(Clone, Default)]
struct Tally {
    /// Contexts that arrived, over all streams.
    received: Rc<Cell<u32>>,
    /// Moves that were answered.
    moves: Rc<Cell<u32>>,
}

/// The counters at one moment.
struct Reading {
    at: Instant,
    received: u32,
    moves: u32,
    /// Processor time of the companion, and of the load.
    cpu: (Duration, Duration),
}

impl Reading {
    fn take(companion: &Companion, tally: &Tally) -> Reading {
        Reading {
            at: Instant::now(),
            received: tally.received.get(),
            moves: tally.moves.get(),
            cpu: (companion.cpu(), own_cpu()),
        }
    }
}

async fn measure_one(program: &Path, streams: usize, report: &mut Report) {
    let companion = Companion::start(program, &[("OUTRIGGER_DEBOUNCE_MS", "0")]);
    let path = companion.household.write("moved.rs", "fn main() {}\n");
    let tally = Tally::default();
    for _ in 0..streams {
        let agent = Connection::agent(&companion).await;
        tokio::task::spawn_local(count(agent.listen().await, tally.received.clone()));
    }
    for driver in 0..DRIVERS {
        let person = Connection::person(&companion).await;
        tokio::task::spawn_local(drive(person, path.clone(), driver, tally.moves.clone()));
    }

    tokio::time::sleep(WARM_UP).await;
    let mut readings = vec![Reading::take(&companion, &tally)];
    for _ in 0..SPANS {
        tokio::time::sleep(SPAN).await;
        readings.push(Reading::take(&companion, &tally));
    }
    let (_, peak) = companion.memory();
    report.add(row(streams, &readings).figure("peak_rss_kb", peak));
}

fn row(streams: usize, readings: &[Reading]) -> Row {
    let mut rates: Vec<_> = readings
        .windows(2)
        .map(|pair| {
            let messages = f64::from(pair[1].received - pair[0].received);
            messages / (pair[1].at - pair[0].at).as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let (median, best) = (rates[SPANS / 2], rates[SPANS - 1]);
    let (first, last) = (&readings[0], &readings[SPANS]);
    let seconds = (last.at - first.at).as_secs_f64();
    let messages = f64::from(last.received - first.received);
    let companion = last.cpu.0.saturating_sub(first.cpu.0).as_secs_f64();
    let load = last.cpu.1.saturating_sub(first.cpu.1).as_secs_f64();
    let row = Row::new(
        format!("fan_out_{streams}"),
        format!("fan-out, streams: {streams}"),
    )
    .shown(format!(
        "{median:.0} messages/s (best {best:.0}), {:.1} µs of processor time each",
        companion / messages * 1e6,
    ))
    .figure("messages_per_s", median.round())
    .figure("best_messages_per_s", best.round())
    .figure(
        "moves_per_s",
        (f64::from(last.moves - first.moves) / seconds).round(),
    )
    .figure("companion_cpu_us_per_message", companion / messages * 1e6)
    .figure("load_cpu_us_per_message", load / messages * 1e6)
    .figure("companion_cores", companion / seconds)
    .figure("load_cores", load / seconds);
    if streams == 100 {
        row.guide("≥ 100,000 messages/s", median >= 1e5)
    } else {
        row
    }
}

async fn count(mut listener: Listener, received: Rc<Cell<u32>>) {
    loop {
        let more = listener.contexts().await;
        received.set(received.get() + more);
    }
}

/// Moves the cursor for ever. No two moves of all drivers are to the same line.
async fn drive(mut person: Connection, path: PathBuf, driver: u32, moves: Rc<Cell<u32>>) {
    for line in (driver + 1..).step_by(DRIVERS as usize) {
        person.post("/api/focus", &focus(&path, line, None)).await;
        moves.set(moves.get() + 1);
    }
}
