//! The desk as a task: its channel, its contexts, and files that hang.

use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;

use beacon::process::ProcessId;
use workbench::{Agent, Cursor, Focus, Place, Privacy};

use super::*;
use crate::agents::AgentProcess;

/// A sink that only counts.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl ContextSink for Counter {
    fn publish(&mut self, _: &Context) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn desk(sink: Counter, is_file: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Desk {
    let looking = Looking {
        is_file: Arc::new(is_file),
        ..Looking::default()
    };
    desk_with(sink, looking)
}

fn desk_with(sink: Counter, looking: Looking) -> Desk {
    Desk::start_with(setup(sink, looking, Limits::default()))
}

fn desk_within(limits: Limits) -> Desk {
    Desk::start_with(setup(Counter::default(), Looking::default(), limits))
}

fn setup(sink: Counter, looking: Looking, limits: Limits) -> Setup {
    let roots = vec![PathBuf::from("/w")];
    let privacy = Privacy::new(&roots, &[], &[]);
    Setup {
        workbench: Workbench::new(roots, privacy),
        saved: Saved::default(),
        journal: Journal::none(),
        limits,
        sink: Box::new(sink),
        looking,
    }
}

async fn look_at(desk: &Desk, path: &str, line: u32) {
    let focus = Focus {
        place: Place::direct(path),
        cursor: Some(Cursor::new(line, 1)),
        selection: None,
    };
    desk.ask(move |state| state.focus(workbench::Holder::COMMANDS, focus))
        .await
        .unwrap();
}

/// Waits until agents were sent exactly these files.
async fn published(desk: &Desk, files: &[&str]) {
    let mut context = desk.context();
    let is_so = |published: &Published| {
        let paths = published.context.files.iter().map(|file| &*file.path);
        paths.eq(files.iter().map(Path::new))
    };
    context.wait_for(is_so).await.unwrap();
}

/// A door that holds whoever comes until it is opened.
#[derive(Default)]
struct Door {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Door {
    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(
            self.opened
                .wait_while(is_open, |is_open| !*is_open)
                .unwrap(),
        );
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_finds_the_channel_full_waits_and_nothing_is_lost() {
    let desk = desk(Counter::default(), |_| true);
    let door = Arc::new(Door::default());
    let (entered, is_in) = oneshot::channel();
    let holding = door.clone();
    desk.tell(move |_| {
        entered.send(()).unwrap();
        holding.pass();
    })
    .await;
    is_in.await.unwrap();

    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |number: usize| {
        let order = order.clone();
        desk.tell(move |_| order.lock().unwrap().push(number))
    };
    for number in 0..JOBS {
        note(number).await;
    }
    assert_eq!(desk.jobs.capacity(), 0);
    let mut late = std::pin::pin!(note(JOBS));
    let waits = poll_fn(|cx| Poll::Ready(late.as_mut().poll(cx).is_pending()));
    assert!(waits.await, "there is no room");
    door.open();
    late.await;
    desk.ask(|_| ()).await.unwrap();
    assert!(order.lock().unwrap().iter().copied().eq(0..=JOBS));
}

#[tokio::test]
async fn a_context_is_encoded_once_however_many_hear_it() {
    let sink = Counter::default();
    let desk = desk(sink.clone(), |_| true);
    let encoded = || sink.0.load(Ordering::Relaxed);
    assert_eq!(encoded(), 1, "the empty one");
    let many: Vec<_> = (0..100).map(|_| desk.context()).collect();
    look_at(&desk, "/w/a", 1).await;
    for mut one in many {
        let named = |published: &Published| !published.context.files.is_empty();
        assert_eq!(one.wait_for(named).await.unwrap().bytes, 2);
    }
    look_at(&desk, "/w/a", 1).await;
    desk.ask(|_| ()).await.unwrap();
    assert_eq!(encoded(), 2, "the same again is not sent");
}

#[tokio::test]
async fn a_file_that_hangs_stalls_neither_the_desk_nor_other_files() {
    let door = Arc::new(Door::default());
    let dead = door.clone();
    let desk = desk(Counter::default(), move |path| {
        if path.starts_with("/w/dead") {
            dead.pass();
        }
        true
    });
    look_at(&desk, "/w/a", 1).await;
    published(&desk, &["/w/a"]).await;
    // The desk answers while the look hangs, and moving about in a known file goes on.
    look_at(&desk, "/w/dead/x", 1).await;
    look_at(&desk, "/w/a", 2).await;
    published(&desk, &["/w/a"]).await;
    // Another new file does not wait for the one that hangs.
    look_at(&desk, "/w/b", 1).await;
    published(&desk, &["/w/b", "/w/a"]).await;
    door.open();
    published(&desk, &["/w/b", "/w/a", "/w/dead/x"]).await;
}

#[tokio::test(start_paused = true)]
async fn new_files_that_hang_hold_a_context_back_together_and_not_each() {
    let never = Looking {
        spawn: drop,
        ..Looking::default()
    };
    let desk = desk_with(Counter::default(), never);
    let started = Instant::now();
    look_at(&desk, "/w/0", 1).await;
    desk.ask(|state| {
        state
            .workbench_mut()
            .set_trust(workbench::Holder::COMMANDS, Some(false));
    })
    .await
    .unwrap();
    let opening = async {
        for number in 1..20 {
            tokio::time::sleep(known_files::PATIENCE / 2).await;
            look_at(&desk, &format!("/w/{number}"), 1).await;
        }
    };
    let mut context = desk.context();
    let told = async {
        let distrusted = |it: &Published| it.context.trusted == Some(false);
        drop(context.wait_for(distrusted).await.unwrap());
        started.elapsed()
    };
    let ((), told) = tokio::join!(opening, told);
    assert_eq!(told, known_files::PATIENCE, "the clock is the test's own");
}

/// An agent of this process number.
fn agent_process(pid: u32) -> AgentProcess {
    AgentProcess {
        line: vec![ProcessId::of(pid).unwrap()],
        terminal: None,
        folder: None,
        product: None,
        version: None,
        unasking: None,
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_sessions_of_one_process_end_none_of_another_with_the_same_token() {
    let limits = Limits {
        sessions: 4,
        ..Limits::default()
    };
    let desk = desk_within(limits);
    let (one, other) = (agent_process(1), agent_process(std::process::id()));
    desk.ask(move |state| {
        let mut open = |process: &AgentProcess| {
            state.open_session(Agent::Qwen, AgentClient::default(), Some(process.clone()))
        };
        let quiet = open(&one).unwrap();
        let mut crowd = Vec::new();
        for _ in 0..10 {
            crowd.push(open(&other).unwrap());
        }
        assert!(state.mailbox(&quiet, Agent::Qwen).is_some());
        let left: Vec<_> = crowd
            .iter()
            .filter(|id| state.mailbox(id, Agent::Qwen).is_some())
            .collect();
        assert_eq!(left, crowd[7..].iter().collect::<Vec<_>>());
    })
    .await
    .unwrap();
}
