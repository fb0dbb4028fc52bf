//! `outrigger accept` and `outrigger reject`: one proposal, or several after a question.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use front::words;
use serde::Serialize;
use web::{Client, ClientError, wire};
use workbench::Agent;

use super::client;
use super::proposals::{list, only, shown_path, summaries};
use crate::args::{AcceptArgs, ChosenArgs, GlobalArgs, RejectArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::input::{read_line, read_text};
use crate::output::{self, ask, counted, note, print_error, print_json};

pub(crate) async fn accept(global: &GlobalArgs, args: &AcceptArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let client = client(&record);
    let content = args.content_from.as_deref().map(read_text).transpose()?;
    let proposals = list(&client).await?;
    if args.chosen.several() {
        return decide_several(&client, proposals, &args.chosen, Verb::Accept).await;
    }
    let proposal = &chosen(&client, &proposals, &args.chosen, Verb::Accept).await?;
    let hunks = args.hunks.as_ref().map(|list| list.numbers(proposal.hunks));
    let hunks = hunks.transpose();
    let hunks = hunks.map_err(|unknown| Failure::new(FailureKind::Refused, unknown))?;
    let path = shown_path(&proposal.path);
    let what = match (&hunks, &content) {
        (Some(kept), _) => {
            let all = counted(proposal.hunks, "hunk");
            format!("accepted {} of {all} of {path}", kept.len())
        }
        (None, Some(_)) => format!("accepted another text for {path}"),
        (None, None) => format!("accepted {path}"),
    };
    let accept = wire::Accept {
        hunks: hunks.map(|numbers| numbers.into_iter().collect()),
        content,
        // The person has seen what `outrigger show` has shown.
        revision: None,
    };
    let decided = post_accept(&client, proposal.id, &accept).await?;
    tell(&what, &decided);
    if args.chosen.json {
        print_json(&[Report::of(proposal, &decided)]);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn reject(global: &GlobalArgs, args: &RejectArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let client = client(&record);
    let proposals = list(&client).await?;
    if args.chosen.several() {
        return decide_several(&client, proposals, &args.chosen, Verb::Reject).await;
    }
    let proposal = &chosen(&client, &proposals, &args.chosen, Verb::Reject).await?;
    let decided = Verb::Reject.post(&client, proposal.id).await?;
    tell(
        &format!("rejected {}", shown_path(&proposal.path)),
        &decided,
    );
    if args.chosen.json {
        print_json(&[Report::of(proposal, &decided)]);
    }
    Ok(ExitCode::SUCCESS)
}

/// What becomes of a proposal as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Accept,
    Reject,
}

impl Verb {
    /// The command.
    const fn word(self) -> &'static str {
        match self {
            Verb::Accept => "accept",
            Verb::Reject => "reject",
        }
    }

    /// What was done.
    const fn done(self) -> &'static str {
        match self {
            Verb::Accept => "accepted",
            Verb::Reject => "rejected",
        }
    }

    async fn post(self, client: &Client, id: u64) -> Result<wire::Decided, ClientError> {
        match self {
            Verb::Accept => post_accept(client, id, &wire::Accept::default()).await,
            Verb::Reject => {
                let path = format!("/api/proposals/{id}/reject");
                client.post(&path, &()).await
            }
        }
    }
}

async fn post_accept(
    client: &Client,
    id: u64,
    accept: &wire::Accept,
) -> Result<wire::Decided, ClientError> {
    let path = format!("/api/proposals/{id}/accept");
    client.post(&path, accept).await
}

impl ChosenArgs {
    /// Whether a whole list is meant.
    fn several(&self) -> bool {
        self.all || self.agent.is_some()
    }
}

async fn chosen(
    client: &Client,
    proposals: &[wire::Proposal],
    args: &ChosenArgs,
    verb: Verb,
) -> Result<wire::Proposal, Failure> {
    let Some(id) = args.id else {
        let only = only(proposals, verb.word()).map_err(|failure| match proposals {
            [] => failure,
            _ => failure.hint(format_args!(
                "name one of them, as in `outrigger {0} {1}`, or `outrigger {0} --all`",
                verb.word(),
                proposals[0].id
            )),
        });
        return only.cloned();
    };
    if let Some(found) = proposals.iter().find(|proposal| proposal.id == id) {
        return Ok(found.clone());
    }
    // The companion knows why there is none with this number.
    let detail: wire::Detail = client.get(&format!("/api/proposals/{id}")).await?;
    Ok(detail.proposal)
}

/// A decision as `--json` prints it.
#[derive(Serialize)]
struct Report<'a> {
    id: u64,
    path: &'a str,
    agent: &'a str,
    /// Whether the agent has heard it; otherwise it hears it when it comes back.
    streaming: bool,
    /// That the decision is not on disk yet, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsaved: Option<String>,
}

impl<'a> Report<'a> {
    fn of(proposal: &'a wire::Proposal, decided: &wire::Decided) -> Report<'a> {
        Report {
            id: proposal.id,
            path: &proposal.path,
            agent: &proposal.agent,
            streaming: decided.streaming,
            unsaved: decided.unsaved.clone(),
        }
    }
}

/// Decides all that `args` choose, after the person has seen what they are.
async fn decide_several(
    client: &Client,
    mut proposals: Vec<wire::Proposal>,
    args: &ChosenArgs,
    verb: Verb,
) -> CommandResult {
    if let Some(agent) = &args.agent {
        check_agent(agent, &proposals)?;
        proposals.retain(|proposal| proposal.agent == *agent);
    }
    let left = match verb {
        Verb::Accept => take_unseen(&mut proposals),
        Verb::Reject => Vec::new(),
    };
    if !left.is_empty() {
        print_error(&summaries(&left));
        let left = counted(left.len(), "proposal");
        note(format_args!(
            "{left} can only be accepted in the agent's own terminal"
        ));
    }
    if proposals.is_empty() {
        note(format_args!("there is nothing to {}", verb.word()));
        if args.json {
            print_json(&[] as &[Report<'_>; 0]);
        }
        return Ok(ExitCode::SUCCESS);
    }
    print_error(&summaries(&proposals));
    if !args.yes && !agreed(&question(verb, &proposals), verb)? {
        let message = format!("nothing was {}", verb.done());
        return Err(Failure::new(FailureKind::Other, message));
    }
    let mut reports = Vec::new();
    let mut refused = 0_usize;
    for proposal in &proposals {
        match verb.post(client, proposal.id).await {
            Ok(decided) => {
                let path = shown_path(&proposal.path);
                tell(&format!("{} {path}", verb.done()), &decided);
                reports.push(Report::of(proposal, &decided));
            }
            // Others are decided all the same: each of them was shown and agreed to.
            Err(error @ ClientError::Refused(_)) => {
                note(error);
                refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        print_json(&reports);
    }
    if refused > 0 {
        let message = format!(
            "{} could not be {}",
            counted(refused, "proposal"),
            verb.done()
        );
        return Err(Failure::new(FailureKind::Refused, message));
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the proposals out of the list that nobody can have seen, and that cannot be accepted here.
fn take_unseen(proposals: &mut Vec<wire::Proposal>) -> Vec<wire::Proposal> {
    let unseen = |proposal: &mut wire::Proposal| proposal.terminal_only.is_some();
    proposals.extract_if(.., unseen).collect()
}

/// An agent that is unknown here and has proposed nothing is a typing error.
fn check_agent(name: &str, proposals: &[wire::Proposal]) -> Result<(), Failure> {
    let known = Agent::from_slug(name).is_some();
    if known || proposals.iter().any(|proposal| proposal.agent == name) {
        return Ok(());
    }
    let names: Vec<_> = Agent::DISCOVERING
        .iter()
        .map(|agent| agent.slug())
        .collect();
    let message = format!("there is no agent called {name}");
    let hint = format!("agents are called {}", names.join(" or "));
    Err(Failure::new(FailureKind::Usage, message).hint(hint))
}

/// "accept 2 proposals (+3 −2)?"
fn question(verb: Verb, proposals: &[wire::Proposal]) -> String {
    let sum = |count: fn(&wire::Proposal) -> usize| proposals.iter().map(count).sum::<usize>();
    format!(
        "{} {} (+{} −{})?",
        verb.word(),
        counted(proposals.len(), "proposal"),
        sum(|proposal| proposal.added),
        sum(|proposal| proposal.removed)
    )
}

/// Asks the person at the terminal. Where there is none, nobody can agree.
fn agreed(question: &str, verb: Verb) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !output::error_is_terminal() {
        let message = format!("{question} There is no terminal to ask at");
        let hint = format!("`outrigger {} … --yes` asks nothing", verb.word());
        return Err(Failure::new(FailureKind::Refused, message).hint(hint));
    }
    ask(format_args!("{question} [y/N]"));
    let answer = read_line()?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says what was decided, and whether the agent has heard it.
fn tell(what: &str, decided: &wire::Decided) {
    let agent = Agent::from_slug(&decided.agent).map(Agent::display_name);
    let agent = agent.unwrap_or(&decided.agent);
    let heard = words::heard(agent, decided.streaming, decided.may_read_again);
    let unsaved = decided.unsaved.as_ref();
    let unsaved = unsaved.map_or_else(String::new, |it| format!("; {it}"));
    note(format_args!("{what}{heard}{unsaved}"));
}
