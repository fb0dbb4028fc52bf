//! Request bodies: read whole up to a limit, skimmed and thrown away beyond it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::mcp::skim::{Gist, Skimmer};

/// Memory that request bodies may take together, over all peers.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    kibibytes: Arc<Semaphore>,
    body: usize,
    drain: usize,
    patience: Duration,
}

/// A body as far as it could be read.
#[derive(Debug)]
pub(crate) enum Received {
    /// All of it. The permit gives the memory back to the budget when it is dropped.
    Whole(Bytes, Option<OwnedSemaphorePermit>),
    /// Too large, or too much at once; these few fields were read in passing.
    Skimmed(Gist, Excess),
}

/// Why a body was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Over the limit for one body.
    Large { limit: usize },
    /// Other bodies take all the room at the moment.
    Busy,
}

/// The body could not be read to its end; there is nobody left to answer.
#[derive(Debug, thiserror::Error)]
#[error("the request body ended early")]
pub(crate) struct BodyCutShort;

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Budget {
        Budget {
            kibibytes: Arc::new(Semaphore::new(limits.bodies / 1024)),
            body: limits.body,
            drain: limits.drain,
            patience: limits.patience,
        }
    }

    /// Reads `body`, which may be of any size, in bounded memory.
    pub(crate) async fn receive(&self, body: Body) -> Result<Received, BodyCutShort> {
        let mut body = body;
        let mut kept = BytesMut::new();
        let mut permit: Option<OwnedSemaphorePermit> = None;
        while let Some(piece) = self.next(&mut body).await? {
            let size = kept.len() + piece.len();
            if size > self.body {
                let excess = Excess::Large { limit: self.body };
                return self.skim(kept, piece, body, excess).await;
            }
            // Small bodies are not worth the accounting.
            let owed = (size / 1024)
                .saturating_sub(permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
            if owed > 0 {
                let owed = u32::try_from(owed).unwrap_or(u32::MAX);
                let Ok(more) = self.kibibytes.clone().try_acquire_many_owned(owed) else {
                    drop(permit);
                    return self.skim(kept, piece, body, Excess::Busy).await;
                };
                match &mut permit {
                    Some(permit) => permit.merge(more),
                    None => permit = Some(more),
                }
            }
            kept.extend_from_slice(&piece);
        }
        Ok(Received::Whole(kept.freeze(), permit))
    }

    async fn skim(
        &self,
        kept: BytesMut,
        piece: Bytes,
        mut body: Body,
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
            piece = self.next(&mut body).await?;
        }
        Ok(Received::Skimmed(skimmer.finish(), excess))
    }

    /// The next piece, from a peer that keeps sending.
    async fn next(&self, body: &mut Body) -> Result<Option<Bytes>, BodyCutShort> {
        loop {
            let frame = tokio::time::timeout(self.patience, body.frame()).await;
            match frame.map_err(|_| BodyCutShort)? {
                None => return Ok(None),
                Some(Err(_)) => return Err(BodyCutShort),
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Ok(Some(piece));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let received = budget.receive(Body::from("0123456789")).await.unwrap();
        assert!(matches!(received, Received::Whole(bytes, None) if bytes == "0123456789"));
    }

    #[tokio::test]
    async fn a_body_over_the_limit_leaves_its_id() {
        let text = format!(r#"{{"method":"m","x":"{}","id":5}}"#, "y".repeat(5000));
        let received = budget(1000, 1 << 20)
            .receive(Body::from(text))
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
            Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; 4096]))
        }));
        assert!(budget(1000, 1 << 20).receive(endless).await.is_err());
    }

    #[tokio::test]
    async fn the_bodies_together_stay_within_the_budget() {
        let budget = budget(100_000, 100 * 1024);
        let big = "x".repeat(90_000);
        let first = budget.receive(Body::from(big.clone())).await.unwrap();
        assert!(matches!(first, Received::Whole(_, Some(_))));
        let second = budget.receive(Body::from(big.clone())).await.unwrap();
        assert!(matches!(second, Received::Skimmed(_, Excess::Busy)));
        drop(first);
        let third = budget.receive(Body::from(big)).await.unwrap();
        assert!(matches!(third, Received::Whole(_, Some(_))));
    }
}
