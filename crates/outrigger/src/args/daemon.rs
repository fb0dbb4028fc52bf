//! What can be typed after `outrigger daemon`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Listing;

const EXAMPLES: &str = "\
Examples:
  outrigger daemon status                 what listens there, and where it works
  outrigger daemon sessions
  outrigger daemon prompt \"What does this project do?\"
  outrigger daemon --url http://127.0.0.1:4171 status

Exit codes:
  0    done; for a prompt: the turn is over
  1    the turn failed
  4    the daemon refused
  5    the daemon does not answer, or ended
  6    something has to be set up differently: the address, the token, the folder, the model
  130  the turn was cancelled with Ctrl-C";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Daemon {
    #[command(flatten)]
    pub(crate) link: DaemonLink,
    #[command(subcommand)]
    pub(crate) what: DaemonCommand,
}

/// Which daemon.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DaemonLink {
    /// Where it listens [default: `$QWEN_IDE_DAEMON_URL` or `http://127.0.0.1:4170`].
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A file with the token it asks for [default: `$QWEN_SERVER_TOKEN`].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Show what the daemon is, where it works and how busy it is.
    Status(Listing),
    /// List the conversations of this folder.
    Sessions(Listing),
    /// Say something, show what the agent does, and ask before it changes anything.
    ///
    /// Ctrl-C cancels the turn, a second one leaves. Answers are read from stdin, a line each; at
    /// its end every further request is declined.
    #[command(
        after_help = "Examples:\n  outrigger daemon prompt \"What does this project do?\"\n  git diff | outrigger daemon prompt -\n  outrigger daemon prompt \"Fix the typo\" --yes-to-edits=yes --json"
    )]
    Prompt(DaemonPrompt),
}

#[derive(Debug, Args)]
pub(crate) struct DaemonPrompt {
    /// What to say; `-` for what stands on stdin.
    pub(crate) text: String,
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Allow edits of files without asking. Commands are always asked for.
    #[arg(long, value_enum, value_name = "WHETHER", default_value_t = YesNo::No)]
    pub(crate) yes_to_edits: YesNo,
    /// Go on with this conversation instead of a new one.
    #[arg(long, value_name = "ID", conflicts_with = "shared")]
    pub(crate) session: Option<String>,
    /// Use the conversation that everybody in this folder shares.
    #[arg(long)]
    pub(crate) shared: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}
