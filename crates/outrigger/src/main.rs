//! The program. Everything that it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    outrigger::main()
}
