//! Request bodies: read whole up to a limit, skimmed and thrown away beyond it.
//!
//! All bodies share one budget of memory. When it is used up, whoever has most of it gives some
//! back, so that a sender that is slow, or has much to say, takes nothing from one that needs
//! little.

mod ledger;

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::time::Instant;

pub(crate) use ledger::{Account, Sender};

use crate::limits::Limits;
use crate::mcp::skim::{Gist, Skimmer};
use ledger::Ledger;

/// How much of a body has to come within `Limits::patience`, unless it ends.
const PROGRESS: usize = 64 * 1024;

/// Memory that request bodies may take together, over all peers.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    ledger: Ledger,
    body: usize,
    drain: usize,
    patience: Duration,
}

/// A body as far as it could be read.
#[derive(Debug)]
pub(crate) enum Received {
    /// All of it. The account gives the memory back to the budget when it is dropped.
    Whole(Bytes, Account),
    /// Too large, or too much at once; these few fields were read in passing.
    Skimmed(Gist, Excess),
}

/// Why a body was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Over the limit for one body.
    Large { limit: usize },
    /// All the room is taken, and nobody has more of it than this sender.
    Busy,
}

/// The body could not be read to its end; there is nobody left to answer.
#[derive(Debug, thiserror::Error)]
#[error("the request body ended early")]
pub(crate) struct BodyCutShort;

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Budget {
        Budget {
            ledger: Ledger::new(limits.bodies),
            body: limits.body,
            drain: limits.drain,
            patience: limits.patience,
        }
    }

    /// Reads the body that `sender` sends, which may be of any size, in bounded memory.
    pub(crate) async fn receive(
        &self,
        sender: Sender,
        body: Body,
    ) -> Result<Received, BodyCutShort> {
        let mut incoming = IncomingBody::new(body, self.patience);
        let mut kept = BytesMut::new();
        let mut account = self.ledger.open(sender);
        loop {
            let piece = tokio::select! {
                piece = incoming.next() => piece?,
                () = account.revoked() => {
                    return self.skim(kept, Bytes::new(), incoming, Excess::Busy).await;
                }
            };
            let Some(piece) = piece else { break };
            let size = kept.len() + piece.len();
            if size > self.body {
                let excess = Excess::Large { limit: self.body };
                drop(account);
                return self.skim(kept, piece, incoming, excess).await;
            }
            if !account.holds(size) {
                drop(account);
                return self.skim(kept, piece, incoming, Excess::Busy).await;
            }
            kept.extend_from_slice(&piece);
        }
        account.settle();
        Ok(Received::Whole(kept.freeze(), account))
    }

    async fn skim(
        &self,
        kept: BytesMut,
        piece: Bytes,
        mut incoming: IncomingBody,
        excess: Excess,
    ) -> Result<Received, BodyCutShort> {
        let mut skimmer = Skimmer::default();
        skimmer.read(&kept);
        let mut seen = kept.len();
        drop(kept);
        let mut piece = Some(piece);
        while let Some(bytes) = piece {
            skimmer.read(&bytes);
            seen += bytes.len();
            if seen > self.drain {
                return Err(BodyCutShort);
            }
            piece = incoming.next().await?;
        }
        Ok(Received::Skimmed(skimmer.finish(), excess))
    }
}

/// A body from a peer that has to go on sending.
struct IncomingBody {
    body: Body,
    patience: Duration,
    /// Until then, `owed` more bytes have to come.
    deadline: Instant,
    owed: usize,
}

impl IncomingBody {
    fn new(body: Body, patience: Duration) -> IncomingBody {
        IncomingBody {
            body,
            patience,
            deadline: Instant::now() + patience,
            owed: PROGRESS,
        }
    }

    /// The next piece; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyCutShort> {
        loop {
            let frame = tokio::time::timeout_at(self.deadline, self.body.frame()).await;
            match frame.map_err(|_| BodyCutShort)? {
                None => return Ok(None),
                Some(Err(_)) => return Err(BodyCutShort),
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        self.count(piece.len());
                        return Ok(Some(piece));
                    }
                }
            }
        }
    }

    /// A byte now and then is no progress.
    fn count(&mut self, bytes: usize) {
        self.owed = self.owed.saturating_sub(bytes);
        if self.owed == 0 {
            self.owed = PROGRESS;
            self.deadline = Instant::now() + self.patience;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::sync::mpsc;
    use workbench::Agent;

    use super::*;

    const QWEN: Sender = Sender::Agent(Agent::Qwen);
    const GEMINI: Sender = Sender::Agent(Agent::Gemini);

    fn budget(body: usize, bodies: usize) -> Budget {
        Budget::new(&Limits {
            body,
            bodies,
            drain: 1 << 20,
            ..Limits::default()
        })
    }

    #[tokio::test]
    async fn a_body_within_the_limit_is_kept() {
        let budget = budget(10, 1 << 20);
        let received = budget.receive(QWEN, Body::from("0123456789"));
        let received = received.await.unwrap();
        assert!(matches!(received, Received::Whole(bytes, _) if bytes == "0123456789"));
    }

    #[tokio::test]
    async fn a_body_over_the_limit_leaves_its_id() {
        let text = format!(r#"{{"method":"m","x":"{}","id":5}}"#, "y".repeat(5000));
        let received = budget(1000, 1 << 20)
            .receive(QWEN, Body::from(text))
            .await
            .unwrap();
        let Received::Skimmed(gist, Excess::Large { limit: 1000 }) = received else {
            panic!("{received:?}");
        };
        assert_eq!(gist.id.as_deref(), Some("5"));
        assert_eq!(gist.method.as_deref(), Some("\"m\""));
    }

    #[tokio::test]
    async fn a_body_without_end_is_cut() {
        let endless = Body::from_stream(futures_util::stream::repeat_with(|| {
            Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4096]))
        }));
        let budget = budget(1000, 1 << 20);
        assert!(budget.receive(QWEN, endless).await.is_err());
    }

    #[tokio::test]
    async fn the_bodies_together_stay_within_the_budget() {
        let budget = budget(100_000, 100 * 1024);
        let big = "x".repeat(90_000);
        let first = budget.receive(QWEN, Body::from(big.clone())).await.unwrap();
        assert!(matches!(first, Received::Whole(_, _)));
        // It is read already and about to be given back.
        let second = budget.receive(GEMINI, Body::from(big.clone()));
        assert!(matches!(
            second.await.unwrap(),
            Received::Skimmed(_, Excess::Busy)
        ));
        drop(first);
        let third = budget.receive(GEMINI, Body::from(big)).await.unwrap();
        assert!(matches!(third, Received::Whole(_, _)));
    }

    /// A body that goes on when the test says so.
    fn slow_body() -> (mpsc::Sender<Bytes>, Body) {
        let (send, pieces) = mpsc::channel::<Bytes>(1);
        let stream = futures_util::stream::unfold(pieces, |mut pieces| async move {
            let piece = pieces.recv().await?;
            Some((Ok::<_, Infallible>(piece), pieces))
        });
        (send, Body::from_stream(stream))
    }

    #[tokio::test]
    async fn a_slow_sender_takes_no_room_from_another() {
        let budget = budget(100_000, 100 * 1024);
        let mut slow = Vec::new();
        for _ in 0..2 {
            let (send, body) = slow_body();
            let budget = budget.clone();
            let receiving = tokio::spawn(async move { budget.receive(QWEN, body).await.unwrap() });
            send.send(r#"{"id":5,"x":""#.into()).await.unwrap();
            send.send("x".repeat(50_000).into()).await.unwrap();
            // When there is room for this one, those before it have been read.
            send.send("x".into()).await.unwrap();
            send.send("x".into()).await.unwrap();
            slow.push((send, receiving));
        }
        let edit = Body::from("y".repeat(40_000));
        let received = budget.receive(GEMINI, edit).await.unwrap();
        assert!(matches!(received, Received::Whole(_, _)));

        // One of the slow ones has given its room back, and is answered when it ends.
        let mut kept = 0;
        for (send, receiving) in slow {
            // Its receiver may have seen the end of its room first.
            let _ = send.send(r#""}"#.into()).await;
            drop(send);
            match receiving.await.unwrap() {
                Received::Whole(_, _) => kept += 1,
                Received::Skimmed(gist, excess) => {
                    assert_eq!(excess, Excess::Busy);
                    assert_eq!(gist.id.as_deref(), Some("5"));
                }
            }
        }
        assert_eq!(kept, 1);
    }

    #[tokio::test]
    async fn whoever_has_most_is_the_one_that_is_refused() {
        let budget = budget(100_000, 100 * 1024);
        let (send, body) = slow_body();
        let receiving = tokio::spawn({
            let budget = budget.clone();
            async move { budget.receive(QWEN, body).await.unwrap() }
        });
        for _ in 0..3 {
            send.send("x".repeat(10_000).into()).await.unwrap();
        }
        let greedy = budget.receive(GEMINI, Body::from("y".repeat(90_000)));
        assert!(matches!(
            greedy.await.unwrap(),
            Received::Skimmed(_, Excess::Busy)
        ));
        drop(send);
        assert!(matches!(receiving.await.unwrap(), Received::Whole(_, _)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_only_drips_is_cut() {
        let budget = budget(100_000, 1 << 20);
        let (send, body) = slow_body();
        let receiving = tokio::spawn(async move { budget.receive(QWEN, body).await });
        for _ in 0..300 {
            // An error says that it was cut.
            let _ = send.send("x".into()).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        drop(send);
        assert!(receiving.await.unwrap().is_err());
    }
}
