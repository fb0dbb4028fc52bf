//! A companion without anything around it, with one proposal in it.

use std::path::PathBuf;

use companion::Limits;
use companion::desk::{Desk, State};
use companion::journal::{Journal, Saved};
use front::{Front, NoConversation, ServiceCommand, ServiceCommands, ServiceFacts};
use tokio::sync::mpsc;
use workbench::{
    Agent, Original, Privacy, ProposalRequest, SessionId, Standing, Texts, VerdictCapabilities,
    Workbench,
};

/// The folder that it serves, which does not exist.
pub(crate) const ROOT: &str = "/nonexistent/w";

/// A request to write a file.
pub(crate) fn proposal(session: &str, path: &str) -> ProposalRequest {
    ProposalRequest {
        session: SessionId::new(session),
        agent: Agent::Qwen,
        path: path.to_owned(),
        texts: Texts::new(Original::Absent, "one\ntwo\n".into()),
        standing: Standing::Open,
        capabilities: VerdictCapabilities {
            takes_empty_text: true,
            takes_edited_text: true,
        },
    }
}

/// The state of such a companion, without a proposal.
pub(crate) fn desk(saved: Saved) -> Desk {
    let root = PathBuf::from(ROOT);
    let privacy = Privacy::new(std::slice::from_ref(&root), &[], &[]);
    let workbench = Workbench::new(vec![root], privacy);
    let (sink, _) = companion::mcp::context_channel();
    Desk::start(workbench, saved, Journal::none(), Limits::default(), sink)
}

/// What a person can do and see there.
pub(crate) async fn workplace() -> Front {
    let desk = desk(Saved::default());
    let propose = |state: &mut State| {
        let request = proposal("s", &format!("{ROOT}/a"));
        // Nobody waits for the verdict.
        drop(state.propose(request));
    };
    desk.ask(propose).await.unwrap();
    Front::start(desk, program(), |_| Err(NoConversation::Off)).unwrap()
}

/// A program that carries out nothing.
fn program() -> ServiceCommands {
    let (commands, mut inbox) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Some(command) = inbox.recv().await {
            // Whoever asked may have left.
            match command {
                ServiceCommand::Facts(answer) => drop(answer.send(ServiceFacts::default())),
                ServiceCommand::StopUnused(answer) => drop(answer.send(false)),
                ServiceCommand::AddHostProcess(_, done) => drop(done.send(())),
                ServiceCommand::Environment(answer) => drop(answer.send([].into())),
                ServiceCommand::Restart | ServiceCommand::Stop | ServiceCommand::SetFolders(..) => {
                }
            }
        }
    });
    commands
}
