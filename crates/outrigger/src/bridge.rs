//! `outrigger bridge`: an agent that speaks MCP on stdin and stdout, joined to the companion.
//!
//! Every line from stdin is posted to the companion, every answer and every event of the
//! session's stream becomes a line on stdout. The bridge adds nothing and understands only
//! what it has to: that a session begins with the answer to `initialize`.

use std::process::ExitCode;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use companion::registry::Record;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use workbench::Agent;

use crate::args::{Bridge, Global};
use crate::failure::{Failure, Kind};
use crate::folders;

const SESSION: &str = "mcp-session-id";
/// A line or event longer than this is not taken.
const LONGEST: usize = 256 << 20;
/// How often, and at what intervals, a stream that ended is opened again.
const RETRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

pub(crate) async fn bridge(global: &Global, args: &Bridge) -> Result<ExitCode, Failure> {
    let record = folders::companion(global)?;
    let agent = args.agent.map_or(Agent::Unnamed, Agent::from);
    let far = Far::new(&record, agent)?;
    let (say, mut said) = mpsc::channel::<Bytes>(16);
    let writing = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(line) = said.recv().await {
            let written = async {
                stdout.write_all(&line).await?;
                stdout.write_all(b"\n").await?;
                stdout.flush().await
            };
            if written.await.is_err() {
                return;
            }
        }
    });
    let left = talk(&far, &say).await;
    drop(say);
    let _ = writing.await;
    left.map(|()| ExitCode::SUCCESS)
}

/// Passes messages until the agent closes its side or the companion is gone.
async fn talk(far: &Far, say: &mpsc::Sender<Bytes>) -> Result<(), Failure> {
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut session: Option<HeaderValue> = None;
    let mut listening: Option<tokio::task::JoinHandle<Result<(), Failure>>> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = tokio::select! {
            read = stdin.read_until(b'\n', &mut line) => read,
            ended = finished(&mut listening) => return ended,
        };
        match read {
            Ok(0) => break,
            Ok(_) if line.len() > LONGEST => {
                return Err(Failure::other(
                    "cannot read from the agent",
                    "a line is too long",
                ));
            }
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
            Err(error) => return Err(Failure::other("cannot read from the agent", error)),
        }
        let message = Bytes::copy_from_slice(line.trim_ascii());
        let response = far.ask(Method::POST, session.as_ref(), message).await?;
        let status = response.status();
        let named = response.headers().get(SESSION).cloned();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| far.gone(&error))?
            .to_bytes();
        if !body.is_empty() {
            let _ = say.send(body).await;
        }
        if let Some(named) = named {
            session = Some(named);
        } else if let (Some(session), StatusCode::ACCEPTED, None) = (&session, status, &listening) {
            // The first notification is `initialized`; from here on the companion may speak.
            let stream = far.ask(Method::GET, Some(session), Bytes::new()).await?;
            listening = Some(tokio::spawn(listen(
                far.clone(),
                session.clone(),
                stream,
                say.clone(),
            )));
        }
    }
    if let Some(session) = &session {
        let _ = far.ask(Method::DELETE, Some(session), Bytes::new()).await;
    }
    Ok(())
}

async fn finished(
    listening: &mut Option<tokio::task::JoinHandle<Result<(), Failure>>>,
) -> Result<(), Failure> {
    match listening {
        Some(task) => task.await.unwrap_or(Ok(())),
        None => std::future::pending().await,
    }
}

/// Passes events on, and opens the stream again when it ends.
async fn listen(
    far: Far,
    session: HeaderValue,
    mut stream: Response<Incoming>,
    say: mpsc::Sender<Bytes>,
) -> Result<(), Failure> {
    loop {
        pass_on(stream.into_body(), &say).await?;
        let mut tries = 0;
        stream = loop {
            tokio::time::sleep(PAUSE).await;
            tries += 1;
            match far.ask(Method::GET, Some(&session), Bytes::new()).await {
                Ok(stream) if stream.status() == StatusCode::OK => break stream,
                Ok(stream) => return Err(far.gone(&format!("it answers {}", stream.status()))),
                Err(error) if tries >= RETRIES => return Err(error),
                Err(_) => {}
            }
        };
    }
}

/// Makes a line of every event until the stream ends.
async fn pass_on(mut body: Incoming, say: &mpsc::Sender<Bytes>) -> Result<(), Failure> {
    let mut events = Events::default();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        for data in events.read(&piece) {
            if say.send(data).await.is_err() {
                return Ok(());
            }
        }
        if events.pending.len() > LONGEST {
            return Err(Failure::other(
                "cannot read from the companion",
                "an event is too long",
            ));
        }
    }
    Ok(())
}

/// Cuts the companion's own event streams into the data of their events.
///
/// Each of its events has exactly one line of data, and lines end with a plain line feed.
#[derive(Default)]
struct Events {
    pending: BytesMut,
}

impl Events {
    fn read(&mut self, piece: &[u8]) -> Vec<Bytes> {
        let mut searched = self.pending.len();
        self.pending.extend_from_slice(piece);
        let mut data = Vec::new();
        while let Some(at) = self.pending[searched..]
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let line = self.pending.split_to(searched + at + 1).freeze();
            searched = 0;
            if line.starts_with(b"data: ") {
                data.push(line.slice(6..line.len() - 1));
            }
        }
        data
    }
}

/// The companion on the far side.
#[derive(Clone)]
struct Far {
    port: u16,
    authorization: HeaderValue,
}

impl Far {
    fn new(record: &Record, agent: Agent) -> Result<Far, Failure> {
        let token = record
            .tokens
            .iter()
            .find(|(slug, _)| slug == agent.slug())
            .map(|(_, token)| token.expose());
        let authorization = token.and_then(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        let refused = || {
            Failure::new(
                Kind::Refused,
                format!("the companion does not let {agent} in"),
            )
        };
        Ok(Far {
            port: record.port,
            authorization: authorization.ok_or_else(refused)?,
        })
    }

    async fn ask(
        &self,
        method: Method,
        session: Option<&HeaderValue>,
        body: Bytes,
    ) -> Result<Response<Incoming>, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))
            .await
            .map_err(|error| self.gone(&error))?;
        let _ = stream.set_nodelay(true);
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| self.gone(&error))?;
        tokio::spawn(connection);
        // Answers come as JSON, never as a stream, because the session listens elsewhere.
        let accept = if method == Method::GET {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header(HOST, format!("127.0.0.1:{}", self.port))
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, accept);
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let request = request
            .body(Full::new(body))
            .map_err(|error| self.gone(&error))?;
        sender
            .send_request(request)
            .await
            .map_err(|error| self.gone(&error))
    }

    fn gone(&self, why: &impl ToString) -> Failure {
        Failure::new(
            Kind::Silent,
            format!(
                "the companion on port {} is gone: {}",
                self.port,
                why.to_string()
            ),
        )
        .hint("start it again with `outrigger`, then reconnect the agent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_wherever_the_pieces_end() {
        let text =
            b":\n\nevent: message\ndata: {\"a\":1}\n\nretry: 5\n\nevent: message\ndata: {}\n\n";
        for cut in 0..text.len() {
            let mut events = Events::default();
            let mut data = events.read(&text[..cut]);
            data.extend(events.read(&text[cut..]));
            assert_eq!(data, ["{\"a\":1}", "{}"], "cut at {cut}");
        }
    }
}
