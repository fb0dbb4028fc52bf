//! A cursor that is held down, and one that is moved now and then, with the default debounce.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use crate::http::{Connection, focus};
use crate::process::Companion;
use crate::report::{Report, Row, Sample};

const FAST: u32 = 5_000;
const FAST_PAUSE: Duration = Duration::from_millis(1);
const SLOW: u32 = 150;
const SLOW_PAUSE: Duration = Duration::from_nanos(1_000_000_000 / 15);

const METHOD: &str = "moves: one session listens, one connection posts to /api/focus, the \
    default debounce. 5,000 moves at 1,000/s: contexts that arrived while they went on. 150 \
    moves at 15/s: from the first byte of the post to the context with that cursor.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    LocalSet::new().run_until(fast(program, report)).await;
    slow(program, report).await;
    report.method(METHOD);
}

async fn fast(program: &Path, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let path = companion.household.write("moved.rs", "fn main() {}\n");
    let mut listener = Connection::agent(&companion).await.listen().await;
    let mut person = Connection::person(&companion).await;
    listener.contexts().await;
    let received = Rc::new(Cell::new(0));
    let counting = received.clone();
    tokio::task::spawn_local(async move {
        loop {
            let more = listener.contexts().await;
            counting.set(counting.get() + more);
        }
    });

    let began = Instant::now();
    let mut pace = tokio::time::interval(FAST_PAUSE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for line in 1..=FAST {
        pace.tick().await;
        person.post("/api/focus", &focus(&path, line, None)).await;
    }
    let seconds = began.elapsed().as_secs_f64();
    let contexts = received.get();
    let row = Row::new("moves_1000", "1,000 cursor moves/s for 5 s")
        .shown(format!(
            "{contexts} contexts in {seconds:.1} s, while moving"
        ))
        .figure("contexts", contexts)
        .figure("moves_per_s", f64::from(FAST) / seconds);
    report.add(row);
}

async fn slow(program: &Path, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let path = companion.household.write("moved.rs", "fn main() {}\n");
    let mut listener = Connection::agent(&companion).await.listen().await;
    let mut person = Connection::person(&companion).await;
    let mut sample = Sample::default();
    let mut pace = tokio::time::interval(SLOW_PAUSE);
    for line in 1..=SLOW {
        pace.tick().await;
        let moved = Instant::now();
        let body = focus(&path, line, None);
        let told = async {
            listener.cursor_on(line).await;
            moved.elapsed()
        };
        let (_, took) = tokio::join!(person.post("/api/focus", &body), told);
        sample.push(took);
    }
    let row = Row::new("moves_15", "15 cursor moves/s: move → notification");
    report.add(sample.describe(row));
}
