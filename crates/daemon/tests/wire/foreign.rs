//! Another user of the machine listens where the daemon should be.

use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use outrigger_daemon::connection::{ConnectError, ConnectOptions, SetupError};
use outrigger_daemon::{Address, DaemonClient, DaemonError, IdeConnection, Token};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

const NOBODY: u32 = 65_534;

/// A server of another user. Whether it accepts depends on the test: a token must go neither to
/// whoever has accepted the connection nor to whoever is going to.
struct ForeignServer {
    port: u16,
    at: SocketAddr,
    serving: JoinHandle<Vec<u8>>,
}

impl ForeignServer {
    /// `None` where one cannot act as another user.
    fn start(accepts: bool) -> Option<ForeignServer> {
        if !geteuid().is_root() {
            assert!(
                std::env::var_os("CI").is_none(),
                "only root can act as another user"
            );
            eprintln!("SKIPPED: only root can act as another user");
            return None;
        }
        let (tell, told) = mpsc::channel();
        // The user is a property of a thread here.
        let serving = thread::spawn(move || {
            let nobody = Uid::from_raw(NOBODY);
            set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let mut received = Vec::new();
            if !accepts {
                // Only for the connection that ends the test.
                wait_for_two(&listener);
            }
            let (mut first, _) = listener.accept().unwrap();
            // It may be cut off instead of closed.
            let _ = first.read_to_end(&mut received);
            received
        });
        let at: SocketAddr = told.recv().unwrap();
        let port = at.port();
        Some(ForeignServer { port, at, serving })
    }

    fn address(&self) -> Address {
        Address::local(self.port)
    }

    /// What it was sent before the connection was closed.
    fn received(self) -> Vec<u8> {
        // It ends also if nobody has come.
        let last = TcpStream::connect(self.at);
        if let Ok(last) = &last {
            let _ = last.shutdown(Shutdown::Write);
        }
        self.serving.join().unwrap()
    }
}

/// Waits until a second connection is in the queue of a listener: the first one has waited
/// until then without being accepted.
fn wait_for_two(listener: &TcpListener) {
    let port = format!(":{:04X}", listener.local_addr().unwrap().port());
    testkit::until("a second connection", || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let local = table
            .lines()
            .filter_map(|row| row.split_whitespace().nth(1));
        // The listener itself is one of them.
        let count = local.filter(|local| local.ends_with(&port)).count();
        (count >= 3).then_some(())
    });
}

fn token() -> Token {
    Token::new("a-token-that-nobody-else-may-have").unwrap()
}

#[tokio::test]
async fn nothing_is_sent_to_another_users_server() {
    for accepts in [true, false] {
        let Some(server) = ForeignServer::start(accepts) else {
            return;
        };
        let client = DaemonClient::new(server.address(), Some(token()));
        let error = client.capabilities().await.unwrap_err();
        assert!(
            matches!(error, DaemonError::Foreign { .. }),
            "accepts: {accepts}: {error}"
        );
        assert!(error.nothing_was_sent());
        assert!(error.hint().unwrap().contains("your token"));
        let received = tokio::task::spawn_blocking(|| server.received());
        let received = received.await.unwrap();
        assert_eq!(String::from_utf8_lossy(&received), "", "accepts: {accepts}");
    }
}

#[tokio::test]
async fn a_connection_says_whose_server_it_is() {
    let Some(server) = ForeignServer::start(true) else {
        return;
    };
    let (connection, _events) = IdeConnection::new();
    let options = ConnectOptions {
        address: server.address(),
        token: Some(token()),
        ..ConnectOptions::default()
    };
    let error = connection.connect(options).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Setup(SetupError::ForeignServer(_))),
        "{error}"
    );
    let received = tokio::task::spawn_blocking(|| server.received());
    assert_eq!(received.await.unwrap(), b"");
}
