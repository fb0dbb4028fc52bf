//! As much of a daemon as a connection needs, and a stream of as many events as a measurement wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

const FEATURES: [&str; 5] = [
    "session_create",
    "session_prompt",
    "session_cancel",
    "session_events",
    "session_permission_vote",
];

/// How the events of a stream are sent.
struct Pace {
    events: u64,
    /// How long to wait between two; none at all if zero.
    pause: Duration,
}

/// When each event was sent.
pub(super) type Sent = Arc<Mutex<Vec<Instant>>>;

/// A stand-in that serves until the benchmark ends.
pub(super) struct Standin {
    port: u16,
    pub(super) sent: Sent,
}

impl Standin {
    /// One that sends all events at once.
    pub(super) fn start(events: u64) -> Standin {
        let pause = Duration::ZERO;
        Self::with(Pace { events, pause })
    }

    /// One that sends an event every millisecond.
    pub(super) fn dripping(events: u64) -> Standin {
        let pause = Duration::from_millis(1);
        Self::with(Pace { events, pause })
    }

    fn with(pace: Pace) -> Standin {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = Sent::default();
        let (pace, shared) = (Arc::new(pace), sent.clone());
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (pace, sent) = (pace.clone(), shared.clone());
                // A client that leaves early is none of our business.
                thread::spawn(move || serve(socket, &pace, &sent));
            }
        });
        Standin { port, sent }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

fn serve(mut socket: TcpStream, pace: &Pace, sent: &Sent) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    let answer = if request.contains("/events") {
        return stream(&mut socket, pace, sent);
    } else if request.contains("/capabilities") {
        json!({"v": 1, "features": FEATURES, "workspaceCwd": "/"})
    } else if request.contains("/status") {
        json!({"sessionId": "s", "pendingInteractions": []})
    } else {
        json!({"sessionId": "s", "clientId": "client_1", "attached": false})
    };
    let answer = answer.to_string();
    write!(
        socket,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}",
        answer.len()
    )
}

fn stream(socket: &mut TcpStream, pace: &Pace, sent: &Sent) -> std::io::Result<()> {
    socket.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Qwen-Event-Epoch: e\r\nConnection: close\r\n\r\n",
    )?;
    let complete = json!({"v": 1, "type": "replay_complete", "data": {"replayedCount": 0}});
    write!(socket, "data: {complete}\n\n")?;
    for id in 1..=pace.events {
        // As the daemon writes a piece of what the agent says.
        let event = json!({"id": id, "v": 1, "type": "session_update",
            "data": {"sessionId": "6be2401f-3d05-48f7-85a9-44aed1d4560a", "update": {
                "content": {"text": format!("{id} "), "type": "text"},
                "sessionUpdate": "agent_message_chunk"}},
            "promptId": "d62cfc50-aa7f-4f2a-a89e-7c2914d1f630",
            "originatorClientId": "client_392f170e-8e0a-41c7-b3c5-ec9490301867",
            "_meta": {"serverTimestamp": 1_794_765_644_551_u64}});
        let frame = format!("id: {id}\nevent: session_update\ndata: {event}\n\n");
        if !pace.pause.is_zero() {
            thread::sleep(pace.pause);
            sent.lock().unwrap().push(Instant::now());
        }
        socket.write_all(frame.as_bytes())?;
    }
    // The stream stays open, as a daemon's does.
    socket.read_exact(&mut [0]).or(Ok(()))
}
