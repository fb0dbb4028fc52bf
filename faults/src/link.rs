//! The wire between an agent and the companion: a proxy that can be cut and stalled.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// How long the companion may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A wire. It carries bytes as they are to whichever port it leads to at the moment.
pub(crate) struct Link {
    port: u16,
    wire: Arc<Wire>,
}

#[derive(Default)]
struct Wire {
    /// The port of the companion.
    leads_to: AtomicU16,
    stalled: Mutex<bool>,
    changed: Condvar,
    /// Both ends of every connection that is open.
    open: Mutex<Vec<[TcpStream; 2]>>,
    /// Whether new connections are closed at once.
    unplugged: AtomicBool,
    over: AtomicBool,
}

impl Link {
    /// A wire that leads nowhere yet.
    pub(crate) fn new() -> io::Result<Link> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let wire = Arc::<Wire>::default();
        let carried = wire.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                if carried.over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(client) = client {
                    let wire = carried.clone();
                    // Without a companion behind it the client finds its connection closed.
                    thread::spawn(move || drop(wire.carry(client)));
                }
            }
        });
        Ok(Link { port, wire })
    }

    /// The port at the agent's end.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Leads new connections to this port.
    pub(crate) fn lead_to(&self, port: u16) {
        self.wire.leads_to.store(port, Ordering::Relaxed);
    }

    /// Tears all connections down. What was on its way is lost.
    pub(crate) fn cut(&self) {
        for ends in self.wire.open().drain(..) {
            for end in ends {
                // A reset, as of a machine that has gone, and not a goodbye.
                let _ = set_socket_linger(&end, Some(Duration::ZERO));
                let _ = end.shutdown(Shutdown::Both);
            }
        }
    }

    /// Takes no new connections, or takes them again.
    pub(crate) fn unplug(&self, unplugged: bool) {
        self.wire.unplugged.store(unplugged, Ordering::Relaxed);
    }

    /// Lets nothing through, or lets everything through again.
    pub(crate) fn stall(&self, stalled: bool) {
        *self.wire.stalled() = stalled;
        self.wire.changed.notify_all();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.wire.over.store(true, Ordering::Relaxed);
        self.stall(false);
        self.cut();
        // Wakes the listener.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Wire {
    fn stalled(&self) -> MutexGuard<'_, bool> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, Vec<[TcpStream; 2]>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        self.wait();
        if self.unplugged.load(Ordering::Relaxed) {
            return Ok(());
        }
        let port = self.leads_to.load(Ordering::Relaxed);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let server = TcpStream::connect_timeout(&address, PATIENCE)?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
        }
        self.open().push([client.try_clone()?, server.try_clone()?]);
        let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
        let wire = self.clone();
        thread::spawn(move || {
            let _ = wire.pump(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        let (mut server, mut client) = (server, client);
        let _ = self.pump(&mut server, &mut client);
        for end in [&client, &server] {
            let _ = end.shutdown(Shutdown::Both);
        }
        // Connections that are over need not be cut any more.
        self.open().retain(|ends| ends[0].peer_addr().is_ok());
        Ok(())
    }

    fn pump(&self, from: &mut TcpStream, to: &mut TcpStream) -> io::Result<()> {
        let mut bytes = [0; 8192];
        loop {
            let size = from.read(&mut bytes)?;
            if size == 0 {
                return Ok(());
            }
            self.wait();
            to.write_all(&bytes[..size])?;
        }
    }

    /// Waits while the wire is stalled.
    fn wait(&self) {
        let mut stalled = self.stalled();
        while *stalled {
            stalled = self
                .changed
                .wait(stalled)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
