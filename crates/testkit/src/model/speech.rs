//! What the model says while the test watches, piece by piece.

use axum::body::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::watch;

/// What the model is saying. The answer ends when this is dropped.
///
/// Whoever asks again, because the first answer was cut off, hears all of it from the beginning.
pub struct Speech(watch::Sender<Vec<Piece>>);

/// A piece of what the model says.
#[derive(Clone)]
pub(super) enum Piece {
    Thought(String),
    Text(String),
}

/// A speech as a request hears it.
#[derive(Clone)]
pub(super) struct Heard(watch::Receiver<Vec<Piece>>);

pub(super) fn begin() -> (Speech, Heard) {
    let (speech, heard) = watch::channel(Vec::new());
    (Speech(speech), Heard(heard))
}

impl Speech {
    /// Thinks aloud.
    pub fn think(&self, text: &str) -> &Self {
        self.add(Piece::Thought(text.into()))
    }

    /// Says the next piece.
    pub fn say(&self, text: &str) -> &Self {
        self.add(Piece::Text(text.into()))
    }

    /// Says these pieces, one after the other.
    pub fn say_all(&self, texts: &[String]) -> &Self {
        texts.iter().fold(self, |speech, text| speech.say(text))
    }

    fn add(&self, piece: Piece) -> &Self {
        self.0.send_modify(|pieces| pieces.push(piece));
        self
    }
}

impl Heard {
    /// What was said up to now.
    pub(super) fn so_far(&self) -> String {
        let said = self.0.borrow();
        let texts = said.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Thought(_) => None,
        });
        texts.collect()
    }

    /// All of it as it is said, each piece as `frame` writes it.
    pub(super) fn frames(
        self,
        frame: impl Fn(&Piece) -> String + Send + 'static,
    ) -> impl Stream<Item = Bytes> + Send {
        let news = stream::unfold((self.0, 0), |(mut pieces, known)| async move {
            loop {
                let new = pieces.borrow_and_update()[known..].to_vec();
                if !new.is_empty() {
                    let known = known + new.len();
                    return Some((stream::iter(new), (pieces, known)));
                }
                pieces.changed().await.ok()?;
            }
        });
        news.flatten().map(move |piece| Bytes::from(frame(&piece)))
    }
}
