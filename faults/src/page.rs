//! A page: it decides over the API with the page's key, and follows the event stream.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::http::{Answer, Events, Response, api, ask, exchange};

/// How long a page waits before it connects again.
const COMES_BACK: Duration = Duration::from_millis(100);

/// A page that is open.
pub(crate) struct Page {
    part: Arc<Part>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Part {
    /// Port and key, as soon as somebody has opened the page.
    key: Mutex<Option<(u16, String)>>,
    /// The proposals that it shows; `None` while it is not connected.
    shown: Mutex<Option<BTreeSet<u64>>>,
    over: AtomicBool,
}

impl Page {
    pub(crate) fn open() -> Page {
        let part = Arc::<Part>::default();
        let reading = part.clone();
        Page {
            part,
            reader: Some(thread::spawn(move || reading.run())),
        }
    }

    /// Opens the page of the companion on this port.
    pub(crate) fn set_key(&self, port: u16, key: &str) {
        *locked(&self.part.key) = Some((port, key.to_owned()));
    }

    /// The proposals that the page shows; `None` while it is not connected.
    pub(crate) fn shown(&self) -> Option<BTreeSet<u64>> {
        locked(&self.part.shown).clone()
    }

    /// Asks the companion something.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<Response> {
        let key = locked(&self.part.key).clone();
        let (port, key) = key.ok_or(io::ErrorKind::NotConnected)?;
        ask(port, &api(method, path, port, &key, body))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.part.over.store(true, Ordering::Relaxed);
        let _ = self.reader.take().map(JoinHandle::join);
    }
}

impl Part {
    fn run(&self) {
        while !self.over.load(Ordering::Relaxed) {
            let key = locked(&self.key).clone();
            if let Some((port, key)) = key {
                let request = api("GET", "/api/events", port, &key, None);
                if let Ok(Answer::Stream(events)) =
                    exchange(port, &request.header("connection", ""))
                {
                    self.read(events);
                }
                *locked(&self.shown) = None;
            }
            thread::sleep(COMES_BACK);
        }
    }

    fn read(&self, mut events: Events) {
        while !self.over.load(Ordering::Relaxed) {
            match events.block() {
                Ok(Some(block)) => self.see(&block),
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    fn see(&self, block: &str) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let (Some(kind), Some(data)) = (field("event: "), field("data: ")) else {
            return;
        };
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let mut shown = locked(&self.shown);
        match (kind, data["id"].as_u64()) {
            ("snapshot", _) => {
                let proposals = data["proposals"].as_array().into_iter().flatten();
                *shown = Some(proposals.filter_map(|it| it["id"].as_u64()).collect());
            }
            ("opened", Some(id)) => {
                let _ = shown.as_mut().map(|shown| shown.insert(id));
            }
            ("closed", Some(id)) => {
                let _ = shown.as_mut().map(|shown| shown.remove(&id));
            }
            _ => {}
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
