//! Bytes between an editor and its companion, in both directions.

use std::time::Duration;

use editor::{SessionEnd, Trace, frame};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream,
};
use tokio::task::JoinHandle;
use web::EditorPipe;

use crate::service::CLEAN_END;

/// How long the companion may take to end the session after the editor's last words, and the editor
/// to read what it says then. It may have to end itself meanwhile.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Forwards everything until either side ends, beginning with `first`, a message that was read
/// already.
pub(super) async fn forward(
    (from, to): (impl AsyncBufRead + Unpin, impl AsyncWrite + Unpin),
    companion: EditorPipe,
    first: &[u8],
    trace: Option<Trace>,
) -> SessionEnd {
    let (answers, mut requests) = tokio::io::split(companion);
    if frame::write(&mut requests, first).await.is_err() {
        return SessionEnd::Abrupt;
    }
    let (mut heard, mut said) = (
        Recording::new(trace.as_ref().map(Trace::heard)),
        Recording::new(trace.as_ref().map(Trace::said)),
    );
    let end = {
        let up = async {
            send(from, requests, &mut heard).await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            end = receive(answers, to, &mut said) => end,
            () = up => SessionEnd::Abrupt,
        }
    };
    heard.finish().await;
    said.finish().await;
    end
}

/// What the editor says, to the companion. Ends with the editor's pipe.
async fn send(
    mut from: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    recording: &mut Recording,
) {
    while let Ok(bytes) = from.fill_buf().await
        && !bytes.is_empty()
    {
        // The end of the companion is noticed by whoever reads from it.
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return;
        }
        recording.record(bytes).await;
        let length = bytes.len();
        from.consume(length);
    }
    let _ = to.shutdown().await;
}

/// What the companion says, to the editor. Ends with the companion's pipe.
async fn receive(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    recording: &mut Recording,
) -> SessionEnd {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = from.read(&mut buffer).await else {
            return SessionEnd::Abrupt;
        };
        let bytes = &buffer[..length];
        let end = bytes.iter().position(|byte| *byte == CLEAN_END);
        let bytes = &bytes[..end.unwrap_or(length)];
        // Recorded first: the editor may end us as soon as it has the answer.
        recording.record(bytes).await;
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return SessionEnd::Abrupt;
        }
        if end.is_some() {
            return SessionEnd::Clean;
        }
    }
}

/// The recording of one direction, if there is one.
struct Recording(Option<(DuplexStream, JoinHandle<()>)>);

impl Recording {
    fn new(into: Option<(DuplexStream, JoinHandle<()>)>) -> Recording {
        Recording(into)
    }

    async fn record(&mut self, bytes: &[u8]) {
        if let Some((into, _)) = &mut self.0 {
            // A trace that cannot be written must not disturb the session.
            let _ = into.write_all(bytes).await;
        }
    }

    /// Waits until the last message is written down.
    async fn finish(self) {
        if let Some((into, task)) = self.0 {
            drop(into);
            let _ = task.await;
        }
    }
}
