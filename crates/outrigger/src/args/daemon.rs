//! The command line of `outrigger daemon`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ListArgs;

const EXAMPLES: &str = "\
Examples:
  outrigger daemon status                 version, process and folders of the daemon
  outrigger daemon sessions
  outrigger daemon runtime                what the agent has there, and what it lacks
  outrigger daemon read src/main.rs       a file as the agent sees it
  outrigger daemon prompt \"What does this project do?\"
  outrigger daemon answer                 what an agent asks in a conversation that you left
  outrigger daemon --url http://127.0.0.1:4171 status

Exit codes:
  0    done; for a prompt: the turn is over
  1    the turn failed
  4    the daemon refused
  5    the daemon does not answer, or ended
  6    something has to be set up differently: the address, the token, the folder, the model
  130  the turn was cancelled, or a request left open, with Ctrl-C";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    pub(crate) options: DaemonOptions,
    #[command(subcommand)]
    pub(crate) command: DaemonCommand,
}

/// Where the daemon is, and the token for it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DaemonOptions {
    /// The address of the daemon [default: `$QWEN_IDE_DAEMON_URL` or `http://127.0.0.1:4170`].
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A file with the token of the daemon [default: `$QWEN_SERVER_TOKEN`].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Show the version, the folders and the load of the daemon.
    Status(ListArgs),
    /// List the conversations of this folder.
    Sessions(ListArgs),
    /// Show what an agent has where the daemon runs: models, MCP servers, skills, tools, and what is
    /// missing.
    Runtime(ListArgs),
    /// List a folder as the agent sees it, which may be on another machine.
    Files(FilesArgs),
    /// Print a file as the agent sees it.
    Read(ReadArgs),
    /// Send a prompt, show what the agent does, and let you answer what it asks.
    ///
    /// Answers are read from stdin, one per line; when stdin ends, every further request is
    /// declined. Ctrl-C cancels the turn, a second Ctrl-C quits. While the agent asks something,
    /// Ctrl-C leaves the request open, to be answered with `outrigger daemon answer`.
    #[command(
        after_help = "Examples:\n  outrigger daemon prompt \"What does this project do?\"\n  git diff | outrigger daemon prompt -\n  outrigger daemon prompt \"Fix the typo\" --yes-to-edits=yes --json"
    )]
    Prompt(PromptArgs),
    /// Answer what an agent asks in a conversation, and show the rest of its turn.
    #[command(
        after_help = "Examples:\n  outrigger daemon answer            the only conversation that waits\n  outrigger daemon answer ID         this one; `outrigger daemon sessions` lists them"
    )]
    Answer(AnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// The folder, as it is seen from the folder of the daemon.
    #[arg(value_name = "FOLDER")]
    pub(crate) path: Option<String>,
    /// List also what the agent does not look at.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The file, as it is seen from the folder of the daemon.
    pub(crate) file: String,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// The prompt, or `-` to read it from stdin.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) turn: TurnArgs,
    /// Continue this conversation instead of a new one.
    #[arg(long, value_name = "ID", conflicts_with = "shared")]
    pub(crate) session: Option<String>,
    /// Use the conversation that all clients in this folder share.
    #[arg(long)]
    pub(crate) shared: bool,
    /// What the agent may do without asking, in a conversation that this command starts or brings
    /// back from disk [default: the one of your configuration, or `default`].
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// The model of a conversation that this command starts. The daemon makes it your default, too.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// It reads and plans. Edits and commands that write are refused; it asks before commands that are
    /// neither one nor the other for sure.
    Plan,
    /// It asks before edits, and before commands that do not only read.
    Default,
    /// It edits without asking, also with `sed -i`, and asks before other commands that do not only
    /// read.
    AutoEdit,
    /// A model decides what it may do. It edits in the folder without asking.
    Auto,
    /// It never asks for permission.
    Yolo,
}

impl ModeName {
    /// The name as the daemon and the configuration have it.
    pub(crate) fn id(self) -> String {
        let id = match self {
            ModeName::Plan => "plan",
            ModeName::Default => "default",
            ModeName::AutoEdit => "auto-edit",
            ModeName::Auto => "auto",
            ModeName::Yolo => "yolo",
        };
        id.to_owned()
    }
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The conversation [default: the only one that waits for an answer].
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) turn: TurnArgs,
}

/// How a turn is followed.
#[derive(Debug, Args)]
pub(crate) struct TurnArgs {
    /// Print events as JSON, one per line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Allow edits of files without asking. What else the agent asks about still needs your answer.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = YesNo::No)]
    pub(crate) yes_to_edits: YesNo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}
