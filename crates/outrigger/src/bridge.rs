//! `outrigger bridge`: connects an agent that speaks MCP on stdin and stdout to the companion.
//!
//! Every line of stdin is posted to the companion; every response and every event of the session's
//! stream becomes a line on stdout. The bridge adds no message of its own and understands only one
//! thing: a session begins with the response to `initialize`.

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
use tokio::task::JoinHandle;
use workbench::Agent;

use crate::args::{BridgeArgs, GlobalArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::output::protocol_pipe;

const SESSION_HEADER: &str = "mcp-session-id";
/// The longest line and the longest event that are forwarded.
const LONGEST: usize = 256 << 20;
/// How often, and at what intervals, to reopen a stream that ended.
const RETRIES: u32 = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) async fn bridge(global: &GlobalArgs, args: &BridgeArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let agent = args.agent.map_or(Agent::Unnamed, Agent::from);
    let client = McpClient::new(&record, agent)?;
    let (out, mut lines) = mpsc::channel::<Bytes>(16);
    let writing = tokio::spawn(async move {
        let mut stdout = protocol_pipe();
        while let Some(line) = lines.recv().await {
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
    let result = forward(&client, &out).await;
    drop(out);
    let _ = writing.await;
    result.map(|()| ExitCode::SUCCESS)
}

/// Forwards messages until the agent closes its side or the companion is gone.
async fn forward(client: &McpClient, out: &mpsc::Sender<Bytes>) -> Result<(), Failure> {
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut session: Option<HeaderValue> = None;
    let mut stream: Option<StreamTask> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = tokio::select! {
            read = stdin.read_until(b'\n', &mut line) => read,
            ended = stream_end(&mut stream) => return ended,
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
        let response = client.send(Method::POST, session.as_ref(), message).await?;
        let status = response.status();
        let new_session = response.headers().get(SESSION_HEADER).cloned();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| client.gone(&error))?
            .to_bytes();
        if !body.is_empty() {
            // If nobody reads stdout any more, stdin is about to end too.
            let _ = out.send(body).await;
        }
        if new_session.is_some() {
            session = new_session;
        } else if let (Some(session), StatusCode::ACCEPTED, None) = (&session, status, &stream) {
            // The first notification is `initialized`; from then on the companion may send events.
            let opened = client
                .send(Method::GET, Some(session), Bytes::new())
                .await?;
            stream = Some(tokio::spawn(forward_events(
                client.clone(),
                session.clone(),
                opened,
                out.clone(),
            )));
        }
    }
    if let Some(session) = &session {
        let _ = client
            .send(Method::DELETE, Some(session), Bytes::new())
            .await;
    }
    Ok(())
}

/// Forwards the events of a session.
type StreamTask = JoinHandle<Result<(), Failure>>;

/// Waits for the end of the stream, for ever if there is none.
async fn stream_end(stream: &mut Option<StreamTask>) -> Result<(), Failure> {
    match stream {
        Some(task) => task.await.unwrap_or(Ok(())),
        None => std::future::pending().await,
    }
}

/// Forwards events, and opens the stream again when it ends.
async fn forward_events(
    client: McpClient,
    session: HeaderValue,
    mut stream: Response<Incoming>,
    out: mpsc::Sender<Bytes>,
) -> Result<(), Failure> {
    loop {
        forward_stream(stream.into_body(), &out).await?;
        let mut tries = 0;
        stream = loop {
            tokio::time::sleep(RETRY_INTERVAL).await;
            tries += 1;
            match client.send(Method::GET, Some(&session), Bytes::new()).await {
                Ok(stream) if stream.status() == StatusCode::OK => break stream,
                Ok(stream) => return Err(client.gone(&format!("it answers {}", stream.status()))),
                Err(error) if tries >= RETRIES => return Err(error),
                Err(_) => {}
            }
        };
    }
}

/// Writes one line for every event until the stream ends.
async fn forward_stream(mut body: Incoming, out: &mpsc::Sender<Bytes>) -> Result<(), Failure> {
    let mut parser = EventParser::default();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        for data in parser.read(&piece) {
            if out.send(data).await.is_err() {
                return Ok(());
            }
        }
        if parser.pending.len() > LONGEST {
            return Err(Failure::other(
                "cannot read from the companion",
                "an event is too long",
            ));
        }
    }
    Ok(())
}

/// Splits an event stream of the companion into the data of its events.
///
/// Each of its events has exactly one line of data, and lines end with a plain line feed.
#[derive(Default)]
struct EventParser {
    pending: BytesMut,
}

impl EventParser {
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

/// Sends requests to the MCP endpoint of the companion.
#[derive(Clone)]
struct McpClient {
    port: u16,
    authorization: HeaderValue,
    /// The process that has started the bridge, which is the agent.
    agent_process: Option<u32>,
}

impl McpClient {
    fn new(record: &Record, agent: Agent) -> Result<McpClient, Failure> {
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
                FailureKind::Refused,
                format!("the companion does not accept {agent}"),
            )
        };
        #[cfg(unix)]
        let agent_process = Some(std::os::unix::process::parent_id());
        #[cfg(not(unix))]
        let agent_process = None;
        Ok(McpClient {
            port: record.port,
            authorization: authorization.ok_or_else(refused)?,
            agent_process,
        })
    }

    async fn send(
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
        // Responses come as JSON, never as a stream, because the session has its own stream.
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
            request = request.header(SESSION_HEADER, session);
        }
        if let Some(agent) = self.agent_process {
            request = request.header(companion::mcp::SPEAKS_FOR, agent);
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
            FailureKind::Silent,
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
            let mut events = EventParser::default();
            let mut data = events.read(&text[..cut]);
            data.extend(events.read(&text[cut..]));
            assert_eq!(data, ["{\"a\":1}", "{}"], "cut at {cut}");
        }
    }
}
