//! HTTP over a blocking socket that may fail at any moment. Nothing here panics: what a fault does to
//! an exchange is for the caller to judge.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use testkit::http::Request;

/// How long an exchange may take before the peer gives up, as a client would.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);
/// How often a silent stream looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(100);

/// What a request was answered.
pub(crate) enum Answer {
    /// With a body that is there as a whole.
    Whole(Response),
    /// With a stream of events.
    Stream(Events),
}

/// An answer that is there as a whole.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Response {
    /// The value of a header, whose name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// Sends a request to a port and reads what it is answered, or the beginning of a stream.
pub(crate) fn exchange(port: u16, request: &Request) -> io::Result<Answer> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut socket = TcpStream::connect_timeout(&address, PATIENCE)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(&request.bytes())?;
    let mut raw = Vec::new();
    let head = loop {
        if let Some(head) = take_until(&mut raw, b"\r\n\r\n") {
            break head;
        }
        fill(&mut socket, &mut raw)?;
    };
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let status: u16 = status.ok_or(ErrorKind::InvalidData)?;
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    if header(&headers, "content-type") == Some("text/event-stream") {
        socket.set_read_timeout(Some(GLANCE))?;
        return Ok(Answer::Stream(Events {
            socket,
            raw,
            text: Vec::new(),
        }));
    }
    let length = header(&headers, "content-length").and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or_default();
    while raw.len() < length {
        fill(&mut socket, &mut raw)?;
    }
    let body = serde_json::from_slice(&raw[..length]).unwrap_or_default();
    Ok(Answer::Whole(Response {
        status,
        headers,
        body,
    }))
}

/// The same, where a stream is no answer.
pub(crate) fn ask(port: u16, request: &Request) -> io::Result<Response> {
    match exchange(port, request)? {
        Answer::Whole(response) => Ok(response),
        Answer::Stream(_) => Err(ErrorKind::InvalidData.into()),
    }
}

/// A request to the person's API.
pub(crate) fn api(method: &str, path: &str, port: u16, key: &str, body: Option<&Value>) -> Request {
    let request = Request::new(method, path)
        .header("host", &format!("127.0.0.1:{port}"))
        .header("connection", "close")
        .header("authorization", &format!("Bearer {key}"));
    match body {
        Some(body) => {
            let body = body.to_string();
            request
                .header("content-type", "application/json")
                .header("content-length", &body.len().to_string())
                .body(body)
        }
        None => request,
    }
}

/// A stream of server-sent events.
pub(crate) struct Events {
    socket: TcpStream,
    /// What has come and was not looked at yet.
    raw: Vec<u8>,
    /// The same, without the frames of HTTP.
    text: Vec<u8>,
}

impl Events {
    /// The next block (an event, a comment, a `retry`). `Ok(None)` if there is silence for a moment;
    /// an error if the stream has ended, well or not.
    pub(crate) fn block(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(block) = take_until(&mut self.text, b"\n\n") {
                return Ok(Some(block));
            }
            if self.chunk()? {
                continue;
            }
            match fill(&mut self.socket, &mut self.raw) {
                Ok(()) => {}
                Err(error) if is_silence(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a chunk out of its frame, if all of it is there.
    fn chunk(&mut self) -> io::Result<bool> {
        let Some(at) = position(&self.raw, b"\r\n") else {
            return Ok(false);
        };
        let size = std::str::from_utf8(&self.raw[..at]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.ok_or(ErrorKind::InvalidData)?;
        if size == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let begin = at + 2;
        if self.raw.len() < begin + size + 2 {
            return Ok(false);
        }
        self.text.extend_from_slice(&self.raw[begin..begin + size]);
        self.raw.drain(..begin + size + 2);
        Ok(true)
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn fill(socket: &mut TcpStream, raw: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 8192];
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(size) => {
                raw.extend_from_slice(&bytes[..size]);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn position(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

/// The text up to `mark`, which is thrown away.
fn take_until(bytes: &mut Vec<u8>, mark: &[u8]) -> Option<String> {
    let at = position(bytes, mark)?;
    let text = String::from_utf8_lossy(&bytes[..at]).into_owned();
    bytes.drain(..at + mark.len());
    Some(text)
}
