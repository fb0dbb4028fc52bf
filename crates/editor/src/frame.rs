//! Messages on a pipe: a `Content-Length` header, an empty line, and that many bytes.
//!
//! The other side is an editor, but a pipe can carry anything. What is not a header is
//! skipped up to a limit, what is too large is skipped and reported, and nothing is
//! allocated because a header says so.

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::rpc::{self, Incoming};

/// The largest message that is read into memory: a document of 100 MB with room for escapes.
pub const LARGEST: usize = 512 << 20;
/// How much that is no header may go by before the pipe is given up.
const MOST_GARBAGE: usize = 1 << 20;
/// The longest line of a header.
const LONGEST_LINE: usize = 8 << 10;
/// Memory is taken in steps of at most this size, as the bytes arrive.
const STEP: usize = 1 << 20;

/// What came over the pipe.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The content of one message.
    Message(Vec<u8>),
    /// A message that was larger than [`LARGEST`]; it was skipped.
    TooLarge(usize),
}

impl Frame {
    /// The message in it, as far as it can be understood.
    pub fn parse(&self) -> Incoming {
        match self {
            Frame::Message(content) => rpc::parse(content),
            Frame::TooLarge(length) => Incoming::Invalid(
                None,
                rpc::INVALID_REQUEST,
                format!("a message of {length} bytes is too large and was skipped"),
            ),
        }
    }
}

/// Why nothing more can be read.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The pipe itself failed.
    #[error("cannot read from the editor: {0}")]
    Io(#[from] std::io::Error),
    /// The pipe ended inside a message.
    #[error("the editor's message ended early")]
    Cut,
    /// What comes over the pipe is not the protocol.
    #[error("what the editor sends is not the language server protocol")]
    Garbage,
}

/// Reads the next message; `None` at the end of the pipe.
pub async fn read(pipe: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Frame>, Broken> {
    let Some(length) = read_header(pipe).await? else {
        return Ok(None);
    };
    if length > LARGEST {
        let mut rest = pipe.take(length as u64);
        let skipped = tokio::io::copy_buf(&mut rest, &mut tokio::io::sink()).await?;
        if skipped < length as u64 {
            return Err(Broken::Cut);
        }
        return Ok(Some(Frame::TooLarge(length)));
    }
    let mut content = Vec::with_capacity(length.min(STEP));
    let read = pipe.take(length as u64).read_to_end(&mut content).await?;
    if read < length {
        return Err(Broken::Cut);
    }
    Ok(Some(Frame::Message(content)))
}

/// Reads header lines until the empty one; lines that say nothing useful are skipped.
async fn read_header(pipe: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<usize>, Broken> {
    let mut length = None;
    let mut garbage = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut *pipe)
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut line)
            .await?;
        if read == 0 {
            return if length.is_none() && garbage == 0 {
                Ok(None)
            } else {
                Err(Broken::Cut)
            };
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            if let Some(length) = length {
                return Ok(Some(length));
            }
            garbage += read;
        } else if let Some(said) = content_length(text) {
            length = Some(said);
        } else if !text.contains(&b':') || length.is_none() {
            garbage += read;
        }
        if garbage > MOST_GARBAGE {
            return Err(Broken::Garbage);
        }
    }
}

/// What the header says. After a length that was too small, it stands behind the rest of the
/// message before, on the same line.
fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length";
    let mut places = line.windows(NAME.len());
    let at = places.rposition(|place| place.eq_ignore_ascii_case(NAME))?;
    let value = std::str::from_utf8(&line[at + NAME.len()..]).ok()?;
    value.trim_start().strip_prefix(':')?.trim().parse().ok()
}

/// Writes one message.
pub async fn write(pipe: &mut (impl AsyncWrite + Unpin), content: &[u8]) -> std::io::Result<()> {
    let header = format!("Content-Length: {}\r\n\r\n", content.len());
    pipe.write_all(header.as_bytes()).await?;
    pipe.write_all(content).await?;
    pipe.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that can be read from `bytes`, in words.
    async fn all(bytes: &[u8]) -> Vec<String> {
        let mut pipe = tokio::io::BufReader::with_capacity(7, bytes);
        let mut seen = Vec::new();
        loop {
            match read(&mut pipe).await {
                Ok(Some(Frame::Message(content))) => seen.push(String::from_utf8(content).unwrap()),
                Ok(Some(Frame::TooLarge(length))) => seen.push(format!("too large: {length}")),
                Ok(None) => return seen,
                Err(broken) => {
                    seen.push(format!("{broken}"));
                    return seen;
                }
            }
        }
    }

    #[tokio::test]
    async fn messages_are_read_whatever_stands_around_them() {
        const CUT: &str = "the editor's message ended early";
        for (bytes, seen) in [
            ("", vec![]),
            ("Content-Length: 2\r\n\r\n{}", vec!["{}"]),
            (
                "content-length:2\n\n{}Content-Length: 0\r\n\r\n",
                vec!["{}", ""],
            ),
            (
                "Content-Type: x\r\nContent-Length: 2\r\nX: y\r\n\r\n{}",
                vec!["{}"],
            ),
            ("hello\r\n\r\nContent-Length: 2\r\n\r\n{}", vec!["{}"]),
            (
                "Content-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}",
                vec!["{}"],
            ),
            (
                "Content-Length: -1\r\nContent-Length: 2\r\n\r\n{}",
                vec!["{}"],
            ),
            ("Content-Length: 3\r\n\r\n{}", vec![CUT]),
            ("Content-Length: 2\r\n", vec![CUT]),
            (
                "Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}",
                vec!["{", "{}"],
            ),
            ("garbage", vec![CUT]),
            ("Content-Length: 99999999999\r\n\r\n{}", vec![CUT]),
            (
                "Content-Length: 99999999999999999999999\r\n\r\n{}",
                vec![CUT],
            ),
        ] {
            assert_eq!(all(bytes.as_bytes()).await, seen, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn garbage_without_end_is_given_up() {
        let garbage = vec![b'x'; 3 << 20];
        assert_eq!(
            all(&garbage).await,
            ["what the editor sends is not the language server protocol"]
        );
    }

    #[tokio::test]
    async fn what_is_written_can_be_read() {
        let mut pipe = Vec::new();
        write(&mut pipe, b"{\"a\":1}").await.unwrap();
        write(&mut pipe, "é".as_bytes()).await.unwrap();
        assert_eq!(all(&pipe).await, ["{\"a\":1}", "é"]);
    }
}
