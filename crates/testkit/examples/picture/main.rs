//! Draws the pictures of the documentation: real agents and real editors, in real terminals.
//!
//! ```text
//! cargo build && cargo run -p outrigger-testkit --example picture -- companion target/debug/outrigger docs/images/companion.svg
//! ```

#![allow(
    clippy::print_stderr,
    reason = "whoever makes the pictures reads it, not the person"
)]

mod companion;
mod drawing;
mod emacs;
mod neovim;
mod vim;

use std::path::Path;
use std::process::ExitCode;

use testkit::{Clients, NEOVIM};

/// Makes a picture with the program under the path, and returns it as SVG.
type Artist = fn(&Path, &Clients) -> String;

const PICTURES: &[(&str, Artist)] = &[
    ("companion", companion::draw),
    ("emacs", emacs::draw),
    ("neovim", neovim::draw),
    ("vim", vim::draw),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [name, program, file] = &arguments[..] else {
        return usage();
    };
    let Some((_, draw)) = PICTURES.iter().find(|(known, _)| known == name) else {
        return usage();
    };
    let program = std::fs::canonicalize(program).expect("the program is built");
    let Some(clients) = Clients::find_with(&[NEOVIM.0]) else {
        return ExitCode::FAILURE;
    };
    std::fs::write(file, draw(&program, &clients)).expect("the picture can be written");
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<_> = PICTURES.iter().map(|(name, _)| *name).collect();
    eprintln!("usage: picture {} PROGRAM FILE.svg", names.join("|"));
    ExitCode::from(2)
}
