//! HTTP over real sockets, one request per connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::world::{Piece, Seen, World};

pub(super) async fn serve(mut socket: TcpStream, world: Arc<Mutex<World>>) -> Option<()> {
    let seen = read_request(&mut socket).await?;
    let (answer, stream) = world.lock().unwrap().answer(&seen);
    socket.write_all(&answer).await.ok()?;
    pump(&mut socket, stream?).await
}

async fn pump(socket: &mut TcpStream, mut stream: UnboundedReceiver<Piece>) -> Option<()> {
    loop {
        match stream.recv().await? {
            Piece::Bytes(bytes) => {
                let head = format!("{:x}\r\n", bytes.len());
                socket
                    .write_all(&[head.as_bytes(), &bytes, b"\r\n"].concat())
                    .await
                    .ok()?;
            }
            Piece::End => socket.write_all(b"0\r\n\r\n").await.ok()?,
            Piece::Cut => return None,
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |it| it.parse().unwrap());
    let mut body = bytes[head_end + 4..].to_vec();
    while body.len() < length {
        if socket.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Seen {
        what: format!("{method} {path}"),
        query: query.into(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
