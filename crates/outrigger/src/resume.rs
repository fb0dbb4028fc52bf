//! A planned restart: the same process becomes the new program and keeps its socket and its lock.
//!
//! Connections that arrive in between wait in the system's queue. So no agent finds the port
//! closed: one refused connection would disconnect it for good. And nobody else can listen on it,
//! or take the companion for dead.
//!
//! Both are passed on in a message that waits in a pipe, and the pipe as standard input, which a
//! companion does not read. So at no time a child of either program can inherit them: a child that
//! outlives the companion would keep its port and its lock from the next one.

use std::fs::File;
#[cfg(unix)]
use std::io::{IoSlice, IoSliceMut};
#[cfg(unix)]
use std::mem::MaybeUninit;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};
#[cfg(unix)]
use std::os::unix::net::UnixStream;

use crate::failure::{Failure, FailureKind};

/// Tells the new program that a socket with this port waits in standard input.
const VARIABLE: &str = "OUTRIGGER_RESUME_PORT";

/// What a program leaves to the one that its process becomes.
pub(crate) struct Handover {
    /// Where it listens.
    pub(crate) socket: TcpListener,
    /// The lock by which others know that the companion is alive.
    pub(crate) lock: File,
}

/// What the program before us passed on, if there was one.
#[cfg(unix)]
pub(crate) fn handover() -> Option<Handover> {
    let port: u16 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    // The variable may have been inherited by accident; then standard input is something else.
    let [socket, lock] = receive(std::io::stdin())?;
    let socket = TcpListener::from(socket);
    if socket.local_addr().ok()?.port() != port {
        return None;
    }
    let null = File::open("/dev/null").ok()?;
    rustix::stdio::dup2_stdin(null).ok()?;
    Some(Handover {
        socket,
        lock: File::from(lock),
    })
}

/// Becomes the program that is installed now. Returns only if that fails.
#[cfg(unix)]
pub(crate) fn restart(handover: Handover) -> Failure {
    let port = match handover.socket.local_addr() {
        Ok(address) => address.port(),
        Err(error) => return cannot_restart(&error),
    };
    let program = program();
    let program = program.and_then(|program| {
        let pipe = send(&[handover.socket.into(), handover.lock.into()])?;
        rustix::stdio::dup2_stdin(pipe)?;
        Ok(program)
    });
    match program {
        Ok(program) => {
            use std::os::unix::process::CommandExt;

            let mut command = std::process::Command::new(program);
            command.args(std::env::args_os().skip(1));
            cannot_restart(&command.env(VARIABLE, port.to_string()).exec())
        }
        Err(error) => cannot_restart(&error),
    }
}

#[cfg(unix)]
fn cannot_restart(why: &std::io::Error) -> Failure {
    Failure::new(FailureKind::Start, format!("cannot restart: {why}"))
        .hint("start the companion again; it continues where this one stopped")
}

/// A pipe in which these descriptors wait.
#[cfg(unix)]
fn send(descriptors: &[OwnedFd; 2]) -> std::io::Result<UnixStream> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    let (writer, reader) = UnixStream::pair()?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let borrowed = descriptors.each_ref().map(OwnedFd::as_fd);
    ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
    let one = [IoSlice::new(&[0])];
    sendmsg(&writer, &one, &mut ancillary, SendFlags::empty())?;
    Ok(reader)
}

/// The descriptors that wait in a pipe. They are closed in children, as all others.
#[cfg(unix)]
fn receive(pipe: impl AsFd) -> Option<[OwnedFd; 2]> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut one = [IoSliceMut::new(&mut byte)];
    recvmsg(pipe, &mut one, &mut ancillary, RecvFlags::DONTWAIT).ok()?;
    let mut received = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            received.extend(descriptors);
        }
    }
    for descriptor in &received {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC).ok()?;
    }
    received.try_into().ok()
}

/// The program as it is installed now. After an upgrade, Linux calls the running one deleted.
#[cfg(unix)]
fn program() -> std::io::Result<std::path::PathBuf> {
    let running = std::env::current_exe()?;
    let name = running.to_string_lossy();
    Ok(match name.strip_suffix(" (deleted)") {
        Some(replaced) if !running.exists() => replaced.into(),
        _ => running,
    })
}

/// A socket cannot be passed on here: a restart is an end and a start.
#[cfg(not(unix))]
pub(crate) fn handover() -> Option<Handover> {
    None
}

/// Starts the program that is installed now as a process of its own.
#[cfg(not(unix))]
pub(crate) fn restart(handover: Handover) -> Failure {
    drop(handover);
    let started = std::env::current_exe().and_then(|program| {
        std::process::Command::new(program)
            .args(std::env::args_os().skip(1))
            .spawn()
    });
    match started {
        Ok(_) => std::process::exit(0),
        Err(error) => Failure::new(FailureKind::Start, format!("cannot restart: {error}")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Seek, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_waits_in_a_pipe_arrives_and_is_closed_in_children() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"lock").unwrap();
        let pipe = send(&[socket.into(), file.into()]).unwrap();
        let [socket, file] = receive(&pipe).unwrap();
        for descriptor in [&socket, &file] {
            let flags = rustix::io::fcntl_getfd(descriptor).unwrap();
            assert_eq!(flags, rustix::io::FdFlags::CLOEXEC);
        }
        assert_eq!(TcpListener::from(socket).local_addr().unwrap(), address);
        assert_eq!(File::from(file).stream_position().unwrap(), 4);
        assert!(receive(&pipe).is_none(), "it is there once");
    }

    #[test]
    fn what_is_no_pipe_of_ours_has_nothing() {
        let (mut other, pipe) = UnixStream::pair().unwrap();
        assert!(receive(&pipe).is_none());
        other.write_all(b"words").unwrap();
        assert!(receive(&pipe).is_none());
        assert!(receive(File::open("/dev/null").unwrap()).is_none());
        let child = Command::new("true").stdin(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        assert!(receive(child.stdin.as_ref().unwrap()).is_none());
        child.wait().unwrap();
    }
}
