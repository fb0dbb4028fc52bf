//! Bytes between an editor and its companion, in both directions.

use std::time::Duration;

use editor::{Recording, SessionEnd, Trace, frame};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
};
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
        trace.as_ref().map(Trace::heard),
        trace.as_ref().map(Trace::said),
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
    for recording in [heard, said].into_iter().flatten() {
        recording.finish().await;
    }
    end
}

/// What the editor says, to the companion. Ends with the editor's pipe.
async fn send(
    mut from: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    recording: &mut Option<Recording>,
) {
    while let Ok(bytes) = from.fill_buf().await
        && !bytes.is_empty()
    {
        if let Some(recording) = recording {
            recording.record(bytes).await;
        }
        // The end of the companion is noticed by whoever reads from it.
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return;
        }
        let length = bytes.len();
        from.consume(length);
    }
    let _ = to.shutdown().await;
}

/// What the companion says, to the editor. Ends with the companion's pipe.
async fn receive(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    recording: &mut Option<Recording>,
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
        if let Some(recording) = recording {
            recording.record(bytes).await;
        }
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return SessionEnd::Abrupt;
        }
        if end.is_some() {
            return SessionEnd::Clean;
        }
    }
}
