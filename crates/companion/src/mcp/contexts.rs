//! Contexts on their way from the desk to the event streams.
//!
//! A context is encoded once, when the desk publishes it. All streams share the bytes, so a
//! hundred agents cost no more than one.

use bytes::Bytes;
use tokio::sync::watch;
use workbench::Context;

use super::ide;
use crate::desk::ContextSink;

/// A channel for contexts: the desk gets the sender, the endpoint the receiver.
pub fn context_channel() -> (ContextSender, ContextReceiver) {
    let (newest, receiver) = watch::channel(Bytes::new());
    (ContextSender(newest), ContextReceiver(receiver))
}

/// Encodes contexts for event streams.
#[derive(Debug)]
pub struct ContextSender(watch::Sender<Bytes>);

/// The newest context as it stands on an event stream.
#[derive(Clone, Debug)]
pub struct ContextReceiver(pub(super) watch::Receiver<Bytes>);

impl ContextSink for ContextSender {
    fn publish(&mut self, context: &Context) -> usize {
        let frame = ide::context_frame(context);
        let size = frame.len();
        self.0.send_replace(frame);
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_streams_share_the_bytes_of_one_encoding() {
        let (mut sender, receiver) = context_channel();
        let streams: Vec<_> = (0..100).map(|_| receiver.clone()).collect();
        let size = sender.publish(&Context::default());
        let sent = |stream: &ContextReceiver| stream.0.borrow().clone();
        let first = sent(&receiver);
        assert_eq!(first, ide::context_frame(&Context::default()));
        assert_eq!(first.len(), size);
        let is_shared = |stream| sent(stream).as_ptr() == first.as_ptr();
        assert!(streams.iter().all(is_shared));
    }
}
