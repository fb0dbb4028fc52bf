//! Who holds how many of the open connections.
//!
//! Every program of the machine can connect to a loopback port, and nothing is known of it until a
//! request has presented a valid key. Until then the connection is a *stranger's*. Strangers have
//! little time, and one too many of them takes the place of the oldest. Holders of a key
//! have places of their own, so that strangers cannot keep them out, nor one agent another or the
//! person.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use workbench::Agent;

use crate::limits::Limits;
use crate::locked;

/// Whoever has presented a valid key on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyHolder {
    /// An agent, by its token. Those with the same token share their places.
    Agent(Agent),
    /// The person: commands, editors and pages.
    Person,
}

/// A holder of a key has as many connections as it may have, and none of them is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many connections are open with this key; close some of them, then try again")]
pub struct Crowded;

/// All open connections of a server.
#[derive(Debug)]
pub(crate) struct Occupancy {
    open: Mutex<Open>,
    strangers: usize,
    connections: usize,
    /// How long a stranger may be silent.
    silence: Duration,
    /// How long it may stay.
    stay: Duration,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// The oldest first.
    strangers: BTreeMap<u64, Arc<State>>,
    known: HashMap<KeyHolder, Room>,
}

/// The connections of one holder of a key.
#[derive(Debug)]
struct Room {
    places: Arc<Semaphore>,
    connections: BTreeMap<u64, Arc<State>>,
}

/// One connection.
#[derive(Debug)]
struct State {
    number: u64,
    accepted: Instant,
    /// When bytes last moved, in milliseconds since it was accepted.
    moved: AtomicU64,
    /// When it last had an answer to give, in milliseconds since it was accepted.
    answered: AtomicU64,
    /// Requests that are being answered.
    exchanges: AtomicUsize,
    /// Whether it has presented a key; perhaps it has no place yet.
    has_key: AtomicBool,
    place: Mutex<Option<(KeyHolder, OwnedSemaphorePermit)>>,
    /// Others need its place.
    end: Notify,
    /// Whether it is ended without regard to what is still to be sent.
    is_cut: AtomicBool,
}

/// A connection, as the task that serves it holds it. Dropping it frees its place.
#[derive(Debug)]
pub(crate) struct OpenConnection(Caller);

/// The other end of a connection, as a request on it knows it.
#[derive(Clone, Debug)]
pub struct Caller {
    state: Arc<State>,
    occupancy: Arc<Occupancy>,
}

impl Occupancy {
    pub(crate) fn new(limits: &Limits) -> Occupancy {
        Occupancy {
            open: Mutex::default(),
            strangers: limits.strangers.max(1),
            connections: limits.connections,
            silence: limits.stranger_silence,
            stay: limits.patience,
        }
    }

    /// A new connection, which is a stranger's, and whether another one had to go for it.
    pub(crate) fn enter(self: &Arc<Self>) -> (OpenConnection, bool) {
        let mut open = locked(&self.open);
        let number = open.next;
        open.next += 1;
        let state = Arc::new(State {
            number,
            accepted: Instant::now(),
            moved: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            exchanges: AtomicUsize::new(0),
            has_key: AtomicBool::new(false),
            place: Mutex::new(None),
            end: Notify::new(),
            is_cut: AtomicBool::new(false),
        });
        let is_crowded = open.strangers.len() >= self.strangers;
        if is_crowded && let Some((_, oldest)) = open.strangers.pop_first() {
            oldest.end.notify_one();
        }
        open.strangers.insert(number, state.clone());
        let occupancy = self.clone();
        (OpenConnection(Caller { state, occupancy }), is_crowded)
    }

    /// The system can open nothing more: ends the oldest stranger or, if there is none, the
    /// connection of a key's holder that has been idle for longest.
    pub(super) fn make_room(&self) {
        let mut open = locked(&self.open);
        let oldest = open.strangers.pop_first().map(|(_, state)| state);
        let ended = oldest.or_else(|| {
            let rooms = open.known.values();
            rooms
                .filter_map(Room::idlest)
                .min_by_key(|state| state.idle_since())
        });
        if let Some(state) = ended {
            state.end.notify_one();
        }
    }

    /// The places of a holder; if all are taken, its connection that has been idle for longest
    /// loses its own.
    fn places(&self, holder: KeyHolder) -> Arc<Semaphore> {
        let mut open = locked(&self.open);
        let room = open.known.entry(holder).or_insert_with(|| Room {
            places: Arc::new(Semaphore::new(self.connections)),
            connections: BTreeMap::new(),
        });
        if room.places.available_permits() == 0
            && let Some(idlest) = room.idlest()
        {
            idlest.end.notify_one();
        }
        room.places.clone()
    }
}

impl Room {
    fn idlest(&self) -> Option<Arc<State>> {
        let idle = self.connections.values().filter(|state| state.is_idle());
        idle.min_by_key(|state| state.idle_since()).cloned()
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.exchanges.load(Ordering::Acquire) == 0
    }

    fn idle_since(&self) -> Instant {
        self.accepted + Duration::from_millis(self.answered.load(Ordering::Acquire))
    }

    /// Milliseconds since it was accepted.
    fn age(&self) -> u64 {
        u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl OpenConnection {
    pub(crate) fn caller(&self) -> Caller {
        self.0.clone()
    }

    /// Returns when the connection has to end: another one needs its place, or a stranger's time is
    /// over.
    pub(super) async fn ended(&self) {
        self.end_or_expiry().await;
        self.0.state.is_cut.store(true, Ordering::Release);
    }

    async fn end_or_expiry(&self) {
        loop {
            let expiry = async {
                match self.expires_at() {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.0.state.end.notified() => return,
                () = expiry => {}
            }
            if self.expires_at().is_some_and(|at| at <= Instant::now()) {
                return;
            }
        }
    }

    /// When a stranger has to go; a reader that does not read is silent too.
    fn expires_at(&self) -> Option<Instant> {
        let Caller { state, occupancy } = &self.0;
        if state.has_key.load(Ordering::Acquire) {
            return None;
        }
        let moved = Duration::from_millis(state.moved.load(Ordering::Acquire));
        Some(state.accepted + (moved + occupancy.silence).min(occupancy.stay))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let Caller { state, occupancy } = &self.0;
        let mut open = locked(&occupancy.open);
        open.strangers.remove(&state.number);
        // The permit goes back here, not with the last request that knows the connection.
        if let Some((holder, _permit)) = locked(&state.place).take()
            && let Some(room) = open.known.get_mut(&holder)
        {
            room.connections.remove(&state.number);
        }
    }
}

impl Caller {
    /// A request on this connection has presented the key of `holder`: it is no stranger's any
    /// more. Waits for a place if the holder has none left.
    pub async fn admit(&self, holder: KeyHolder) -> Result<(), Crowded> {
        let Caller { state, occupancy } = self;
        if locked(&state.place).is_some() {
            return Ok(());
        }
        // A stranger's time is not running while it waits.
        state.has_key.store(true, Ordering::Release);
        let place = occupancy.places(holder).acquire_owned();
        let place = tokio::time::timeout(occupancy.silence, place).await;
        // The semaphore is never closed.
        let Ok(Ok(permit)) = place else {
            state.has_key.store(false, Ordering::Release);
            return Err(Crowded);
        };
        let mut open = locked(&occupancy.open);
        open.strangers.remove(&state.number);
        *locked(&state.place) = Some((holder, permit));
        if let Some(room) = open.known.get_mut(&holder) {
            room.connections.insert(state.number, state.clone());
        }
        Ok(())
    }

    /// Bytes have come from the other end, or were taken by it.
    pub(super) fn moved(&self) {
        // Nobody asks for it once the key is known, and the clock is not free.
        if !self.state.has_key.load(Ordering::Relaxed) {
            self.state.moved.store(self.state.age(), Ordering::Release);
        }
    }

    /// Whether the connection is ended without regard to what is still to be sent.
    pub(super) fn is_cut(&self) -> bool {
        self.state.is_cut.load(Ordering::Acquire)
    }

    /// A request has come. The connection is in use until its response has been handed over.
    pub(super) fn begin_exchange(&self) -> Exchange {
        self.state.exchanges.fetch_add(1, Ordering::AcqRel);
        Exchange(self.state.clone())
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Exchange(Arc<State>);

impl Exchange {
    /// The body of the response. The request is answered when it is dropped.
    pub(super) fn until_end_of(self, body: Body) -> ResponseBody {
        ResponseBody {
            body,
            _exchange: self,
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.0.answered.store(self.0.age(), Ordering::Release);
        self.0.exchanges.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The body of a response, which keeps its connection in use.
#[derive(Debug)]
pub(super) struct ResponseBody {
    body: Body,
    _exchange: Exchange,
}

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QWEN: KeyHolder = KeyHolder::Agent(Agent::Qwen);

    fn occupancy(strangers: usize, connections: usize) -> Arc<Occupancy> {
        Arc::new(Occupancy::new(&Limits {
            strangers,
            connections,
            stranger_silence: Duration::from_secs(10),
            patience: Duration::from_secs(25),
            ..Limits::default()
        }))
    }

    /// For how many seconds a connection stays open, if bytes move at these times. Time is not real
    /// here.
    async fn stays(open: &OpenConnection, moves: &[u64]) -> Option<u64> {
        let began = Instant::now();
        let moving = async {
            for at in moves {
                tokio::time::sleep_until(began + Duration::from_secs(*at)).await;
                open.caller().moved();
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = open.ended() => Some(began.elapsed().as_secs()),
            () = moving => None,
            () = tokio::time::sleep(Duration::from_hours(1)) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_stranger_is_short() {
        let occupancy = occupancy(8, 8);
        for (moves, expected) in [
            (&[][..], 10),
            (&[4], 14),
            (&[4, 9], 19),
            (&[4, 15], 14),
            (&[9, 18, 24], 25),
        ] {
            let (open, _) = occupancy.enter();
            assert_eq!(stays(&open, moves).await, Some(expected), "{moves:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_holder_of_a_key_stays() {
        let occupancy = occupancy(1, 8);
        let (open, _) = occupancy.enter();
        open.caller().admit(QWEN).await.unwrap();
        let (stranger, is_crowded) = occupancy.enter();
        assert!(!is_crowded, "there is one place for strangers");
        assert_eq!(stays(&open, &[]).await, None);
        assert_eq!(stays(&stranger, &[]).await, Some(0), "an hour later");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_too_many_ends_the_oldest() {
        let occupancy = occupancy(2, 8);
        let (oldest, _) = occupancy.enter();
        let (second, _) = occupancy.enter();
        let (_third, is_crowded) = occupancy.enter();
        assert!(is_crowded);
        assert_eq!(stays(&oldest, &[]).await, Some(0));
        assert_eq!(stays(&second, &[]).await, Some(10));
        drop((oldest, second));
        let (_fourth, is_crowded) = occupancy.enter();
        assert!(!is_crowded, "whoever has gone needs no place");
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_makes_room_for_another_of_the_same_holder() {
        let occupancy = occupancy(8, 2);
        let mut open = Vec::new();
        for _ in 0..2 {
            let (connection, _) = occupancy.enter();
            connection.caller().admit(QWEN).await.unwrap();
            open.push(connection);
        }
        let busy = open[0].caller().begin_exchange();
        let (late, _) = occupancy.enter();
        let caller = late.caller();
        let admitted = tokio::spawn(async move { caller.admit(QWEN).await });
        assert_eq!(stays(&open[1], &[]).await, Some(0));
        drop(open.remove(1));
        assert_eq!(admitted.await.unwrap(), Ok(()));

        let also_busy = late.caller().begin_exchange();
        let (last, _) = occupancy.enter();
        assert_eq!(last.caller().admit(QWEN).await, Err(Crowded));
        for other in [KeyHolder::Person, KeyHolder::Agent(Agent::Gemini)] {
            let (connection, _) = occupancy.enter();
            assert_eq!(connection.caller().admit(other).await, Ok(()), "{other:?}");
        }
        drop((busy, also_busy));
    }

    #[tokio::test(start_paused = true)]
    async fn when_the_system_has_no_room_strangers_go_first() {
        let occupancy = occupancy(8, 8);
        let (known, _) = occupancy.enter();
        known.caller().admit(QWEN).await.unwrap();
        let (stranger, _) = occupancy.enter();
        occupancy.make_room();
        assert_eq!(stays(&stranger, &[]).await, Some(0));
        assert_eq!(stays(&known, &[]).await, None);
        occupancy.make_room();
        assert_eq!(stays(&known, &[]).await, Some(0));
    }
}
