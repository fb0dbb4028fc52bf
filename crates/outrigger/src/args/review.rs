//! The command line of the commands about proposals.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::hunks::HunkList;

#[derive(Debug, Args)]
pub(crate) struct ProposalsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) display: DisplayArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The number of the proposal [default: the only one that is open].
    #[arg(value_name = "N", value_parser = proposal)]
    pub(crate) id: Option<u64>,
    /// What the agent proposes, even if it was edited in a page or an editor since.
    #[arg(long)]
    pub(crate) proposed: bool,
    /// Print JSON, with both texts.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) display: DisplayArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    pub(crate) chosen: ChosenArgs,
    /// Accept only these hunks: numbers and ranges, as in 1-3,5.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["content_from", "all", "agent"])]
    pub(crate) hunks: Option<HunkList>,
    /// Accept this text instead, from a file or from stdin (-).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "agent"])]
    pub(crate) content_from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) chosen: ChosenArgs,
}

/// Which proposals are decided.
#[derive(Debug, Args)]
pub(crate) struct ChosenArgs {
    /// The number of the proposal [default: the only one that is open].
    #[arg(value_name = "N", value_parser = proposal, conflicts_with_all = ["all", "agent"])]
    pub(crate) id: Option<u64>,
    /// All open proposals, after a summary and a question.
    #[arg(long)]
    pub(crate) all: bool,
    /// All open proposals of this agent, after a summary and a question.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Ask no question about several proposals.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what was decided as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a text is shown on a terminal.
#[derive(Debug, Default, Args)]
pub(crate) struct DisplayArgs {
    /// When to use colours; auto is on a terminal, unless `$NO_COLOR` is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Do not use a pager (`$OUTRIGGER_PAGER`, `$PAGER` or less) for what does not fit the terminal.
    #[arg(long)]
    pub(crate) no_pager: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// The number of a proposal.
fn proposal(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "proposals have numbers; `outrigger proposals` lists them".into())
}
