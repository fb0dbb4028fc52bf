//! A way to a daemon that can be cut without the daemon's help.

use std::sync::{Arc, Mutex};

use outrigger_daemon::Address;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

pub(crate) struct Tunnel {
    pub(crate) address: Address,
    open: Arc<Mutex<Vec<AbortHandle>>>,
}

/// How many bytes each event stream may carry, one after the other, before it is cut.
type Lengths = Box<dyn FnMut() -> u64 + Send>;

impl Tunnel {
    /// A tunnel to the daemon on `port`.
    pub(crate) async fn to(port: u16) -> Self {
        Self::cutting(port, Box::new(|| u64::MAX)).await
    }

    /// A tunnel that cuts event streams by itself, wherever they are then.
    pub(crate) async fn cutting(port: u16, mut lengths: Lengths) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::local(listener.local_addr().unwrap().port());
        let open = Arc::<Mutex<Vec<AbortHandle>>>::default();
        let (shared, ours) = (open.clone(), address.authority());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let task = tokio::spawn(carry(socket, ours.clone(), port, lengths()));
                let mut open = shared.lock().unwrap();
                open.retain(|task| !task.is_finished());
                open.push(task.abort_handle());
            }
        });
        Self { address, open }
    }

    /// Closes every connection that is open.
    pub(crate) fn cut(&self) {
        for task in self.open.lock().unwrap().drain(..) {
            task.abort();
        }
    }
}

async fn carry(mut near: TcpStream, ours: String, port: u16, length: u64) -> Option<()> {
    let mut far = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let mut head = Vec::new();
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        if near.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    // The daemon only answers to its own name.
    let at = head.windows(4).position(|it| it == b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(&head[..at]).replace(&ours, &format!("127.0.0.1:{port}"));
    let is_stream = text.lines().next()?.contains("/events");
    let length = if is_stream { length } else { u64::MAX };
    far.write_all(&[text.as_bytes(), &head[at..]].concat())
        .await
        .ok()?;
    let (mut near_in, mut near_out) = near.split();
    let (far_in, mut far_out) = far.split();
    let mut answer = far_in.take(length);
    // Both directions: the daemon must notice when its reader is gone.
    tokio::select! {
        _ = copy(&mut near_in, &mut far_out) => {}
        _ = copy(&mut answer, &mut near_out) => {}
    }
    Some(())
}
