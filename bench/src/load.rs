//! What a thousand agents with a hundred proposals each cost everybody else.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, LocalSet};

use crate::http::{Connection, Listener, focus};
use crate::process::{Companion, megabytes};
use crate::report::{Report, Row, Sample};

const SESSIONS: u32 = 1_000;
const PROPOSALS: u32 = 100;
/// How many of the sessions propose at the same time.
const AT_ONCE: usize = 8;
/// How often the other agent and the person do something in each phase, and how long they pause.
const PROBES: usize = 200;
const PAUSE: Duration = Duration::from_millis(10);
/// A text of the usual size of an edit.
const TEXT: usize = 2_000;

const METHOD: &str = "load: 1,000 sessions of one agent open a stream; of ten, seven read it, two \
    never do, and one loses it. Each proposes 100 edits of 2 kB for files that do not exist yet, \
    8 sessions at a time. Meanwhile, on a thread of their own and every 10 ms, a session of \
    another agent calls openDiff and closeDiff, and the person moves the cursor and accepts one of \
    that agent's proposals: 200 times before the load, throughout its proposing (200 decisions), \
    and 200 times while all of it waits. Each is timed from the first byte of the request to the \
    last byte of its answer. Ratios are of medians, to those before. What is refused is answered \
    with a reason.";

pub(crate) fn measure(program: &Path, report: &mut Report) {
    raise_file_limit();
    let companion = Companion::start(program, &[]);
    let runtime = runtime();
    let mut probe = runtime.block_on(Probe::new(&companion));
    let alone = runtime.block_on(probe.run(|count| count < PROBES));
    let memory_before = companion.memory().0;

    let ended = AtomicBool::new(false);
    let (tell, told) = mpsc::channel();
    let (load, proposing, waiting) = thread::scope(|scope| {
        scope.spawn(|| LocalSet::new().block_on(&self::runtime(), crowd(&companion, tell, &ended)));
        let mut load = None;
        let proposing = runtime.block_on(probe.run(|_| {
            load = told.try_recv().ok();
            load.is_none()
        }));
        let waiting = runtime.block_on(probe.run(|count| count < PROBES));
        ended.store(true, Ordering::Release);
        (load.unwrap(), proposing, waiting)
    });
    let (rested, peak) = companion.memory();

    let rate = f64::from(load.taken) / load.took.as_secs_f64();
    let row = Row::new("load", "1,000 sessions, 100 proposals each");
    let row = row.shown(format!(
        "{} sessions, {} refused; {} proposals, {} refused, {rate:.0}/s; memory {} (before {}, \
         peak {})",
        load.sessions,
        SESSIONS - load.sessions,
        load.taken,
        load.refused,
        megabytes(rested),
        megabytes(memory_before),
        megabytes(peak),
    ));
    let row = row
        .figure("sessions", load.sessions)
        .figure("sessions_refused", SESSIONS - load.sessions)
        .figure("proposals_taken", load.taken)
        .figure("proposals_refused", load.refused)
        .figure("proposals_per_s", rate.round())
        .figure("rss_before_kb", memory_before)
        .figure("rss_kb", rested)
        .figure("peak_rss_kb", peak);
    report.add(row);
    let phases = [alone, proposing, waiting];
    let diffs = phases.each_ref().map(|times| &times.diffs);
    report.add(row_of("open_diff", "another agent's openDiff", diffs));
    let decisions = phases.each_ref().map(|times| &times.decisions);
    report.add(row_of("decision", "the person's decision", decisions));
    report.method(METHOD);
}

/// What took so long alone, while the load proposes, and while all of it waits.
fn row_of(key: &str, what: &str, phases: [&Sample; 3]) -> Row {
    let [alone, proposing, waiting] = phases.map(|sample| sample.percentile(50));
    let [_, worst_proposing, worst_waiting] = phases.map(|sample| sample.percentile(99));
    Row::new(format!("load_{key}"), format!("{what}, under load"))
        .shown(format!(
            "p50 {alone:.2} ms alone; {proposing:.2} ms ({:.1}×, p99 {worst_proposing:.2} ms) \
             while it proposes; {waiting:.2} ms ({:.1}×, p99 {worst_waiting:.2} ms) while it waits",
            proposing / alone,
            waiting / alone,
        ))
        .figure("p50_alone_ms", alone)
        .figure("p50_proposing_ms", proposing)
        .figure("p99_proposing_ms", worst_proposing)
        .figure("p50_waiting_ms", waiting)
        .figure("p99_waiting_ms", worst_waiting)
        .figure("ratio_proposing", proposing / alone)
        .figure("ratio_waiting", waiting / alone)
        .guide("≤ 2× while it waits", waiting <= 2.0 * alone)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// One connection is one file, here too.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without it the measurement stops where it needs more.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Another agent, and the person.
struct Probe<'a> {
    companion: &'a Companion,
    agent: Connection,
    person: Connection,
    /// Sessions of the other agent with what there is to decide, one for each phase.
    _stock: Vec<Connection>,
    /// Proposals that were decided. They have the first numbers.
    decided: usize,
}

#[derive(Default)]
struct Times {
    diffs: Sample,
    decisions: Sample,
}

impl Probe<'_> {
    async fn new(companion: &Companion) -> Probe<'_> {
        let mut stock = Vec::new();
        for phase in 0..3 {
            let mut agent = Connection::other_agent(companion).await;
            let stream = agent.again(companion).await.listen().await;
            tokio::spawn(stream.drain());
            for number in 0..PROBES {
                let name = format!("decided-{phase}-{number}.rs");
                agent.call("openDiff", &edit(companion, &name)).await;
            }
            stock.push(agent);
        }
        let agent = Connection::other_agent(companion).await;
        tokio::spawn(agent.again(companion).await.listen().await.drain());
        Probe {
            companion,
            agent,
            person: Connection::person(companion).await,
            _stock: stock,
            decided: 0,
        }
    }

    /// Goes on as long as `goes_on` says, which is told how often it was done.
    async fn run(&mut self, mut goes_on: impl FnMut(usize) -> bool) -> Times {
        let mut times = Times::default();
        let moved = self.companion.household.write("moved.rs", "fn main() {}\n");
        let open = edit(self.companion, "probed.rs");
        let mut count = 0;
        while goes_on(count) {
            count += 1;
            tokio::time::sleep(PAUSE).await;
            let line = u32::try_from(count).unwrap();
            self.person
                .post("/api/focus", &focus(&moved, line, None))
                .await;
            times.diffs.push(self.agent.call("openDiff", &open).await);
            self.agent.call("closeDiff", &open).await;
            if count <= PROBES {
                self.decided += 1;
                let path = format!("/api/proposals/{}/accept", self.decided);
                let asked = Instant::now();
                self.person.post(&path, br#"{"revision":1}"#).await;
                times.decisions.push(asked.elapsed());
            }
        }
        // What was not decided in this phase would be counted for the next.
        self.decided = self.decided.next_multiple_of(PROBES);
        times
    }
}

/// The arguments of openDiff for a file that does not exist.
fn edit(companion: &Companion, name: &str) -> serde_json::Value {
    let path = companion.household.workspace().join(name);
    json!({ "filePath": path, "newContent": "x".repeat(TEXT) })
}

/// What became of the load.
struct Load {
    sessions: u32,
    taken: u32,
    refused: u32,
    took: Duration,
}

/// Connects and proposes, tells how that went, and stays until it is `ended`.
async fn crowd(companion: &Companion, tell: Sender<Load>, ended: &AtomicBool) {
    let (mut agents, mut unread) = (Vec::new(), Vec::<Listener>::new());
    for number in 0..SESSIONS {
        let Some(agent) = Connection::try_agent(companion).await else {
            continue;
        };
        let stream = agent.again(companion).await.listen().await;
        match number % 10 {
            0 => drop(stream),
            1 | 2 => unread.push(stream),
            _ => drop(tokio::task::spawn_local(stream.drain())),
        }
        agents.push((number, agent));
    }
    let sessions = u32::try_from(agents.len()).unwrap();
    let (taken, refused) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let waiting = Rc::new(RefCell::new(agents));
    let (folder, port) = (companion.household.workspace(), companion.port);
    let began = Instant::now();
    let mut proposers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let waiting = waiting.clone();
        let (taken, refused) = (taken.clone(), refused.clone());
        let folder = folder.clone();
        proposers.spawn_local(async move {
            loop {
                // Its borrow must not last until the next round.
                let next = waiting.borrow_mut().pop();
                let Some((session, agent)) = next else {
                    return;
                };
                // Its first connection may have been idle for too long to be kept. The new one ends with
                // its proposals: the streams alone are nearly as many as one agent may have.
                let mut agent = agent.again_on(port).await;
                agent.take_no_streams();
                for number in 0..PROPOSALS {
                    let path = folder.join(format!("load-{session}-{number}.rs"));
                    let edit = json!({ "filePath": path, "newContent": "x".repeat(TEXT) });
                    let count = if agent.offer(&edit).await {
                        &taken
                    } else {
                        &refused
                    };
                    count.set(count.get() + 1);
                }
            }
        });
    }
    while proposers.join_next().await.is_some() {}
    let load = Load {
        sessions,
        taken: taken.get(),
        refused: refused.get(),
        took: began.elapsed(),
    };
    // Without a receiver the measurement has failed already.
    let _ = tell.send(load);
    while !ended.load(Ordering::Acquire) {
        tokio::time::sleep(PAUSE).await;
    }
    drop(unread);
}
