//! Whoever has no key may read the page's files, and holds up nobody.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use companion::Limits;
use testkit::{http::Connection, quiet_limits, soon};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::companion::CompanionWithPage;

/// The largest file of the page.
const LARGE: &str = "/assets/editor.js";

fn limits() -> Limits {
    Limits {
        connections: 8,
        strangers: 4,
        ..quiet_limits()
    }
}

fn request(companion: &CompanionWithPage, line: &str, more: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\n{more}\r\n",
        companion.port
    )
}

/// A connection that reads nothing and has asked for more than any system takes in for it.
async fn reads_nothing(companion: &CompanionWithPage) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, companion.port));
    let mut socket = soon("a connection", socket.connect(address)).await.unwrap();
    let asked = request(companion, &format!("GET {LARGE}"), "").repeat(50);
    soon("room to send", socket.write_all(asked.as_bytes()))
        .await
        .unwrap();
    socket
}

async fn is_cut(socket: &TcpStream) {
    soon("the connection is cut", async {
        while !matches!(socket.take_error(), Ok(Some(_))) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn strangers_keep_neither_commands_nor_pages_out() {
    let companion = CompanionWithPage::with(limits());
    let slow = request(&companion, "POST /api/page", "content-length: 900\r\n");
    let (mut strangers, mut readers) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let mut stranger = Connection::open(companion.port).await;
        stranger.send(format!("{slow}{{").as_bytes()).await;
        strangers.push(stranger);
        readers.push(reads_nothing(&companion).await);
    }
    for client in [companion.command(), companion.page()] {
        assert_eq!(client.get("/api/status").await.status, 200);
    }
    assert_eq!(companion.stranger().get("/").await.status, 200);
    is_cut(&readers[0]).await;
    drop(strangers);
}

#[tokio::test]
async fn a_stranger_that_reads_nothing_is_cut_off() {
    let companion = CompanionWithPage::with(Limits {
        stranger_silence: Duration::from_millis(300),
        ..limits()
    });
    let reader = reads_nothing(&companion).await;
    is_cut(&reader).await;
    assert_eq!(companion.stranger().get(LARGE).await.status, 200);
}

#[tokio::test]
async fn a_stranger_that_drips_its_body_is_cut_off() {
    let companion = CompanionWithPage::with(Limits {
        patience: Duration::from_millis(500),
        ..limits()
    });
    let mut socket = TcpStream::connect(("127.0.0.1", companion.port))
        .await
        .unwrap();
    let head = request(&companion, "POST /api/page", "content-length: 4000\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    soon("the connection is cut", async {
        while socket.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
