//! What can be typed. What it means is decided elsewhere.

mod daemon;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use workbench::Agent;

pub(crate) use daemon::{Daemon, DaemonCommand, DaemonLink, DaemonPrompt, YesNo};

const EXAMPLES: &str = "\
Examples:
  outrigger                      a companion for this folder and its page; then run `qwen` or `gemini`
  outrigger focus src/main.rs --line 12
  outrigger proposals            what agents want to change
  outrigger show 3               one proposal as a diff, with numbered hunks
  outrigger accept 3 --hunks 1,3
  outrigger run -- gemini        an agent that finds the companion for certain

Exit codes: 0 done · 1 failed · 2 wrong usage · 3 no companion serves this folder · 4 refused
            5 the companion does not answer · 6 wrong configuration · 7 cannot start";

/// One companion, every editor, every terminal agent.
///
/// Gives terminal coding agents (Qwen Code, Gemini CLI) their IDE mode in any editor and in
/// none: they see what you have open, and their edits wait for your decision.
#[derive(Debug, Parser)]
#[command(name = "outrigger", version, after_help = EXAMPLES, subcommand_precedence_over_arg = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Where companions keep their state [default: `$XDG_STATE_HOME` or `~/.local/state`].
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "OUTRIGGER_STATE_DIR",
        hide_env = true
    )]
    pub(crate) state_dir: Option<PathBuf>,
    /// Act on the companion of this folder instead of the current one.
    #[arg(long, short = 'C', global = true, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a companion for one or more folders (the default command).
    #[command(
        after_help = "Examples:\n  outrigger serve\n  outrigger serve ~/api ~/web --port 4711\n  outrigger serve --json | head -1"
    )]
    Serve(Serve),
    /// Show the running companions: agents, pending proposals, what privacy holds back.
    Status(Listing),
    /// List the proposals that wait for a decision.
    Proposals(Listing),
    /// Show a proposal as a diff with numbered hunks.
    Show(Show),
    /// Accept a proposal: whole, some hunks, or another text. The agent writes the file.
    #[command(
        after_help = "Examples:\n  outrigger accept 3\n  outrigger accept 3 --hunks 1,3\n  outrigger accept 3 --content-from edited.rs"
    )]
    Accept(Accept),
    /// Reject a proposal.
    Reject(Chosen),
    /// Tell the companion where you are, for any editor that can run a command.
    #[command(
        after_help = "Examples:\n  outrigger focus src/main.rs --line 12 --column 4\n  pbpaste | outrigger focus src/main.rs --selection-from -"
    )]
    Focus(Focus),
    /// Print a fresh link to the page, good for one tab and ten minutes.
    Url(Url),
    /// Print the variables that an agent's terminal should have.
    #[command(
        after_help = "Examples:\n  eval \"$(outrigger env)\"\n  outrigger env --shell fish | source"
    )]
    Env(Env),
    /// Run an agent so that it finds the companion for certain, whatever its version.
    ///
    /// Uses the companion of this folder, or runs one for as long as the command lasts.
    #[command(
        after_help = "Examples:\n  outrigger run -- qwen\n  outrigger run --like-vscode -- gemini    for Gemini CLI 0.3.4 to 0.6"
    )]
    Run(Run),
    /// Serve an editor: a language server on stdin and stdout, with a companion inside.
    ///
    /// Editors start this; see docs/editor-protocol.md.
    Lsp(Lsp),
    /// Join an agent that speaks MCP on stdin and stdout to the companion of this folder.
    Bridge(Bridge),
    /// Talk to a running `qwen serve`: its state, its conversations, and a prompt.
    Daemon(Daemon),
    /// Restart the companion of this folder; connected agents do not notice.
    Restart,
    /// Stop the companion of this folder.
    Stop,
    /// Show the configuration in force and where each value comes from.
    Config(Serve),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// How to run a companion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Serve {
    /// The folders to serve [default: the current one].
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Listen on this port [default: the last one used for these folders, or any free one].
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print one line of JSON on stdout when ready, and open no browser.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not open the page in a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Hold conversations with `qwen serve` in the page and in editors.
    #[arg(long)]
    pub(crate) daemon: bool,
    /// The address of the daemon; implies --daemon [default: port 4170 of this machine].
    #[arg(long, value_name = "URL")]
    pub(crate) daemon_url: Option<String>,
    /// End when this process ends.
    #[arg(long, value_name = "PID")]
    pub(crate) parent: Option<u32>,
    /// Let only these agents in.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) agents: Vec<AgentName>,
    /// Keep files that match this pattern from all agents (gitignore syntax; can be repeated).
    #[arg(long, value_name = "PATTERN")]
    pub(crate) ignore: Vec<String>,
    /// The editor's name as agents show it.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How much to log on stderr: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// The number of the proposal.
    pub(crate) id: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The number of the proposal.
    pub(crate) id: u64,
    /// As JSON, with both texts.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Accept {
    /// The number of the proposal.
    pub(crate) id: u64,
    /// Only these hunks.
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        conflicts_with = "content_from"
    )]
    pub(crate) hunks: Option<Vec<usize>>,
    /// The final text, from a file or from stdin (-).
    #[arg(long, value_name = "FILE")]
    pub(crate) content_from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Focus {
    /// The file you are in.
    pub(crate) file: PathBuf,
    /// The line of the cursor, from 1.
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// The column of the cursor, from 1.
    #[arg(long, value_name = "N", requires = "line")]
    pub(crate) column: Option<u32>,
    /// The selected text, from a file or from stdin (-).
    #[arg(long, value_name = "FILE")]
    pub(crate) selection_from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Url {
    /// Open it in a browser instead.
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Env {
    /// The form to print.
    #[arg(long, value_enum, default_value_t = EnvForm::Sh)]
    pub(crate) shell: EnvForm,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EnvForm {
    /// For sh, bash, zsh and the like.
    Sh,
    /// For fish.
    Fish,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Also say that the terminal is VS Code's, which agents of 2025 insist on.
    #[arg(long)]
    pub(crate) like_vscode: bool,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Lsp {
    /// Write every message of the conversation to this file, without secrets.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// How much to log on stderr: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bridge {
    /// Which agent is on the other side.
    #[arg(long)]
    pub(crate) agent: Option<AgentName>,
}

/// An agent as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    /// Qwen Code.
    Qwen,
    /// Gemini CLI.
    Gemini,
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Agent {
        match name {
            AgentName::Qwen => Agent::Qwen,
            AgentName::Gemini => Agent::Gemini,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn without_a_command_it_serves() {
        let typed = Arguments::try_parse_from(["outrigger", "/w", "--port", "7"]).unwrap();
        assert!(typed.command.is_none());
        assert_eq!(typed.serve.port, Some(7));
        assert_eq!(typed.serve.dirs, [PathBuf::from("/w")]);
    }

    #[test]
    fn global_options_may_stand_before_a_command() {
        let typed =
            Arguments::try_parse_from(["outrigger", "--state-dir", "/s", "-C", "/w", "status"])
                .unwrap();
        assert!(matches!(typed.command, Some(Command::Status(_))));
        assert_eq!(typed.serve, Serve::default());
    }

    #[test]
    fn an_agents_own_options_stay_its_own() {
        let typed =
            Arguments::try_parse_from(["outrigger", "run", "--", "qwen", "--model", "x"]).unwrap();
        assert!(
            matches!(typed.command, Some(Command::Run(run)) if run.command == ["qwen", "--model", "x"])
        );
    }
}
