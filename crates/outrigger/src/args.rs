//! The command line: commands, flags and their help. What they mean is decided elsewhere.

mod daemon;
mod hunks;
mod review;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use workbench::Agent;

pub(crate) use daemon::{
    AnswerArgs, DaemonArgs, DaemonCommand, DaemonOptions, FilesArgs, ModeName, PromptArgs,
    ReadArgs, TurnArgs, YesNo,
};
pub(crate) use review::{
    AcceptArgs, ChosenArgs, ColorChoice, DisplayArgs, ProposalsArgs, RejectArgs, ShowArgs,
};

const EXAMPLES: &str = "\
Examples:
  outrigger run -- qwen          start an agent whose edits wait for you (or gemini)
  outrigger                      run a companion for all agents in this folder
  outrigger focus src/main.rs:12
  outrigger proposals            what agents want to change
  outrigger show 3               one proposal as a diff, with numbered hunks
  outrigger accept 3 --hunks 1-3,5

Exit codes: 0 done · 1 failed · 2 wrong usage · 3 no companion serves this folder · 4 refused
            5 the companion does not answer · 6 wrong configuration
            7 cannot start, or there is no such folder";

/// One companion, every editor, every terminal agent.
///
/// Gives terminal coding agents (Qwen Code, Gemini CLI) their IDE mode, with any editor or
/// without one: they see what you have open, and their edits wait for your decision.
#[derive(Debug, Parser)]
#[command(name = "outrigger", version, after_help = EXAMPLES, subcommand_precedence_over_arg = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
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
    Serve(ServeArgs),
    /// Show the running companions: agents, pending proposals, files held back from agents.
    Status(ListArgs),
    /// List the pending proposals.
    Proposals(ProposalsArgs),
    /// Show a proposal as a diff with numbered hunks.
    Show(ShowArgs),
    /// Accept a proposal: all of it, some hunks, or a text of your own. The agent writes the file.
    #[command(
        after_help = "Examples:\n  outrigger accept                 the only one that is open\n  outrigger accept 3 --hunks 1-3,5\n  outrigger accept 3 --content-from edited.rs\n  outrigger accept --all           after a summary and a question\n  outrigger accept --agent qwen --yes"
    )]
    Accept(AcceptArgs),
    /// Reject a proposal.
    #[command(
        after_help = "Examples:\n  outrigger reject                 the only one that is open\n  outrigger reject 3\n  outrigger reject --agent gemini  after a summary and a question"
    )]
    Reject(RejectArgs),
    /// Tell agents which file you are in, from any editor that can run a command.
    #[command(
        after_help = "Examples:\n  outrigger focus src/main.rs:12:4\n  outrigger focus src/main.rs --line 12 --column 4\n  pbpaste | outrigger focus src/main.rs --selection-from -"
    )]
    Focus(FocusArgs),
    /// Print a new link to the page, valid for one tab and ten minutes.
    Url(UrlArgs),
    /// Print the environment variables with which agents find the companion.
    #[command(
        after_help = "Examples:\n  eval \"$(outrigger env)\"\n  outrigger env --shell fish | source"
    )]
    Env(EnvArgs),
    /// Run an agent that is connected from the start and asks before it edits.
    ///
    /// Uses the companion of this folder, or runs one for as long as the command lasts and opens its
    /// page. What you have set in the agent, or say on its command line, goes before this. No
    /// settings file of yours is changed without your yes; only Gemini CLI needs that, once. Works
    /// with old versions of the agents too.
    #[command(
        after_help = "Examples:\n  outrigger run -- qwen\n  outrigger run --like-vscode -- gemini    for Gemini CLI 0.3.4 to 0.6"
    )]
    Run(RunArgs),
    /// Serve an editor: a language server on stdin and stdout, in front of the companion of its folders.
    ///
    /// Joins the companion that serves them, or starts one. Editors start this; see docs/editor-protocol.md.
    Lsp(LspArgs),
    /// Connect an agent that speaks MCP on stdin and stdout to the companion of this folder.
    Bridge(BridgeArgs),
    /// Use a running `qwen serve`: show its status, list its conversations, send a prompt.
    Daemon(DaemonArgs),
    /// Restart the companion of this folder. Agents keep their sessions.
    Restart,
    /// Stop the companion of this folder.
    ///
    /// What agents have proposed and nobody has decided, they ask about in their terminals. Gemini
    /// CLI cannot do that once the companion is gone, so its proposals are rejected.
    Stop,
    /// Show the configuration in force and where each value comes from.
    Config(ServeArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell to print it for.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or that of a command.
    #[command(
        after_help = "Examples:\n  outrigger man | man -l -\n  outrigger man accept\n  outrigger man daemon prompt\n  outrigger man --dir ~/.local/share/man/man1"
    )]
    Man(ManArgs),
}

/// Flags of a companion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that people type"
)]
pub(crate) struct ServeArgs {
    /// The folders to serve [default: the current one].
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Listen on this port [default: the last one used for these folders, or any free one].
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print JSON on stdout: the configuration, or one line when the companion is ready, without
    /// opening a browser.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not open the page in a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Do not tell on stderr what agents do.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Offer conversations with `qwen serve` in the page and in editors.
    #[arg(long)]
    pub(crate) daemon: bool,
    /// The address of the daemon; implies --daemon [default: `http://127.0.0.1:4170`].
    #[arg(long, value_name = "URL")]
    pub(crate) daemon_url: Option<String>,
    /// What the agent may do without asking in a conversation that starts here; implies --daemon.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) daemon_mode: Option<ModeName>,
    /// The model of a conversation that starts here; implies --daemon. The daemon makes it your
    /// default, too.
    #[arg(long, value_name = "MODEL")]
    pub(crate) daemon_model: Option<String>,
    /// End when this process ends.
    #[arg(long, value_name = "PID")]
    pub(crate) parent: Option<u32>,
    /// Accept only these agents.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) agents: Vec<AgentName>,
    /// Hold files that match this pattern back from all agents (gitignore syntax; repeatable).
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
pub(crate) struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FocusArgs {
    /// The file you are in; a line and a column may follow, as in src/main.rs:12:4.
    pub(crate) file: PathBuf,
    /// The line of the cursor, from 1.
    #[arg(long, value_name = "N", value_parser = position)]
    pub(crate) line: Option<u32>,
    /// The column of the cursor, from 1.
    #[arg(long, value_name = "N", requires = "line", value_parser = position)]
    pub(crate) column: Option<u32>,
    /// The selected text, from a file or from stdin (-).
    #[arg(long, value_name = "FILE")]
    pub(crate) selection_from: Option<PathBuf>,
}

/// The number of a line or a column.
fn position(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "lines and columns are numbers from 1".into())
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command [default: the program itself].
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UrlArgs {
    /// Print JSON.
    #[arg(long, conflicts_with = "open")]
    pub(crate) json: bool,
    /// Open the link in a browser instead.
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// The syntax to print them in.
    #[arg(long, value_enum, default_value_t = ShellSyntax::Sh)]
    pub(crate) shell: ShellSyntax,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ShellSyntax {
    /// For sh, bash, zsh and similar shells.
    Sh,
    /// For fish.
    Fish,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Pretend that the terminal is the one of VS Code, which agents of 2025 require.
    #[arg(long)]
    pub(crate) like_vscode: bool,
    /// Do not open the page in a browser; print its link.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Write every LSP message to this file, without secrets.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// How much to log on stderr: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BridgeArgs {
    /// The agent that uses the bridge.
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
        assert_eq!(typed.serve, ServeArgs::default());
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
