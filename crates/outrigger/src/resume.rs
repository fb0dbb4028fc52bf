//! A planned restart: the same process becomes the new program and keeps the socket.
//!
//! Connections that arrive in between wait in the system's queue. So no agent finds the port
//! closed: one refused connection would disconnect it for good. The socket is passed on as
//! standard input, which a companion does not read.

use std::net::TcpListener;

use crate::failure::{Failure, FailureKind};

/// Tells the new program that standard input is the socket with this port.
const VARIABLE: &str = "OUTRIGGER_RESUME_PORT";

/// The socket that the program before us passed on, if there was one.
#[cfg(unix)]
pub(crate) fn inherited_socket() -> Option<TcpListener> {
    use std::os::fd::AsFd;

    let port: u16 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    let listener = TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    // The variable may have been inherited by accident; then standard input is something else.
    if listener.local_addr().ok()?.port() != port {
        return None;
    }
    let null = std::fs::File::open("/dev/null").ok()?;
    rustix::stdio::dup2_stdin(null).ok()?;
    Some(listener)
}

/// Becomes the program that is installed now. Returns only if that fails.
#[cfg(unix)]
pub(crate) fn restart(listener: &TcpListener) -> Failure {
    use std::os::unix::process::CommandExt;

    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(FailureKind::Start, format!("cannot restart: {why}"))
            .hint("start the companion again; it continues where this one stopped")
    };
    let port = match listener.local_addr() {
        Ok(address) => address.port(),
        Err(error) => return failed(&error),
    };
    if let Err(error) = rustix::stdio::dup2_stdin(listener) {
        return failed(&error);
    }
    let program = match program() {
        Ok(program) => program,
        Err(error) => return failed(&error),
    };
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, port.to_string())
        .exec();
    failed(&error)
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
pub(crate) fn inherited_socket() -> Option<TcpListener> {
    None
}

/// Starts the program that is installed now as a process of its own.
#[cfg(not(unix))]
pub(crate) fn restart(_listener: &TcpListener) -> Failure {
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
