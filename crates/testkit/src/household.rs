//! One person's machine with agents on it: the model behind them, and the companion.
//!
//! Declare a household before its terminals: they must be gone before their folders are.

use std::cell::Cell;
use std::fmt::Display;
use std::ops::Deref;
use std::path::Path;

use crate::{
    Agent, Call, Clients, Companion, Machine, Model, Proposal, ScriptedEditor, Terminal, wait_for,
};

/// What the input box of both agents shows while it waits for the person.
const PROMPT: &str = "Type your message";

/// A machine with the published agents.
pub struct Household {
    /// The companion, while one runs.
    companion: Option<Companion>,
    /// The model behind every agent of this household.
    pub model: Model,
    clients: Clients,
    /// How many marks [`Self::ask`] has made up.
    asked: Cell<usize>,
    /// The last field: the companion must be gone before its folders are.
    machine: Machine,
}

impl Deref for Household {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl Household {
    /// A machine where the person has used both agents before, but runs no companion.
    pub fn new(program: impl AsRef<Path>, clients: &Clients) -> Self {
        let this = Self::unused(program, clients);
        for agent in Agent::ALL {
            agent.write_settings(&this.home());
        }
        this
    }

    /// A machine where the person has chosen a model for both agents, and has done nothing else yet.
    pub fn unused(program: impl AsRef<Path>, clients: &Clients) -> Self {
        let mut machine = Machine::new(program);
        let commands = clients.commands();
        machine.set("PATH", format!("{}:/usr/bin:/bin", commands.display()));
        machine.set("TERM", "xterm-256color");
        machine.set("LANG", "C.UTF-8");
        machine.set("SHELL", "/bin/bash");
        // Inside a container the agents look for the editor on the host unless told otherwise.
        if Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists() {
            machine.set("REMOTE_CONTAINERS", "1");
        }
        for agent in Agent::ALL {
            agent.write_model_settings(&machine.home());
        }
        Self {
            companion: None,
            model: Model::start(),
            clients: clients.clone(),
            asked: Cell::new(0),
            machine,
        }
    }

    /// The same, with a companion for the workspace.
    pub fn with_companion(program: impl AsRef<Path>, clients: &Clients) -> Self {
        let mut this = Self::new(program, clients);
        this.serve();
        this
    }

    /// The installed clients.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The environment of a terminal whose `agent` is sent to the model.
    pub fn environment_for(&self, agent: Agent) -> Vec<(String, String)> {
        let mut environment = self.environment();
        for (name, value) in agent.environment(self.model.port()) {
            environment.push((name.into(), value));
        }
        environment
    }

    /// Starts the companion; the same command as after a crash.
    #[track_caller]
    pub fn serve(&mut self) {
        self.companion = Some(self.start_companion(&[]));
    }

    /// Starts a companion that holds conversations with the daemon at `url`, or with one that it
    /// starts itself.
    #[track_caller]
    pub fn serve_with_daemon(&mut self, url: &str) {
        self.serve_with_token(url, crate::TOKEN);
    }

    /// The same, with a token that the daemon may not know.
    #[track_caller]
    pub fn serve_with_token(&mut self, url: &str, token: &str) {
        let mut command = self.command(&["serve", "--json", "--daemon-url", url]);
        command
            .envs(self.environment_for(Agent::Qwen))
            .env("QWEN_SERVER_TOKEN", token);
        self.companion = Some(Companion::start(command));
    }

    /// Starts an editor with a plugin, which starts the companion if none runs; the same as after a
    /// crash. Its process is `process`.
    #[track_caller]
    pub fn edit(&self, process: u32) -> ScriptedEditor {
        let mut editor = ScriptedEditor::start(self.command(&["lsp"]));
        editor.begin("Scripted", &self.workspace(), process);
        editor
    }

    /// The running companion.
    #[track_caller]
    pub fn companion(&mut self) -> &mut Companion {
        self.companion.as_mut().unwrap()
    }

    /// Starts `agent` in a terminal and waits until the person can type.
    #[track_caller]
    pub fn start(&self, agent: Agent) -> Terminal {
        let environment = self.environment_for(agent);
        let terminal = Terminal::start(agent.command(), &self.workspace(), &environment);
        terminal.wait_until("the input box", |screen| screen.contains(PROMPT));
        terminal
    }

    /// The same, and waits until the companion has the agent's session with its stream.
    #[track_caller]
    pub fn start_connected(&self, agent: Agent) -> Terminal {
        let terminal = self.start(agent);
        self.wait_for_session(&terminal, agent);
        terminal
    }

    /// Waits until the companion has a session of `agent` with its stream.
    #[track_caller]
    pub fn wait_for_session(&self, terminal: &Terminal, agent: Agent) {
        wait_for(
            &format!("a session of {} with a stream", agent.name()),
            || {
                let sessions = self.sessions();
                let mut ours = sessions.iter().filter(|it| it["agent"] == agent.name());
                ours.any(|it| it["streaming"] == true).then_some(())
            },
            || format!("sessions: {:?}\n{terminal}", self.sessions()),
        );
    }

    /// Tells the agent in `terminal` to make these calls, and returns the mark that stands for them.
    #[track_caller]
    pub fn ask(&self, terminal: &mut Terminal, turns: Vec<Vec<Call>>) -> String {
        self.asked.set(self.asked.get() + 1);
        let mark = format!("TASK-{}-PLEASE", self.asked.get());
        self.model.on(&mark, turns);
        self.wait_for_prompt(terminal);
        terminal.say(&mark);
        wait_for(
            "the task at the model",
            || (!self.model.requests_containing(&mark).is_empty()).then_some(()),
            || terminal.to_string(),
        );
        mark
    }

    /// Waits until the agent has done what `mark` stands for.
    #[track_caller]
    pub fn wait_until_done(&self, terminal: &Terminal, mark: &str) {
        let done = format!("DONE {mark}");
        terminal.wait_until(&done, |screen| screen.contains(&done));
        self.wait_for_prompt(terminal);
    }

    /// Waits until the agent's input box is empty and the person can type.
    #[track_caller]
    pub fn wait_for_prompt(&self, terminal: &Terminal) {
        terminal.wait_until("the empty input box", |screen| screen.contains(PROMPT));
    }

    /// Waits for the proposal of `agent` for the file `name`; `seen` is what the agent shows.
    #[track_caller]
    pub fn wait_for_proposal(&self, seen: &impl Display, agent: Agent, name: &str) -> Proposal {
        let path = self.path(name);
        wait_for(
            &format!("a proposal of {} for {name}", agent.name()),
            || {
                let mut all = self.proposals().into_iter();
                all.find(|it| it.agent == agent.name() && it.path == path)
            },
            || format!("proposals: {:?}\n{seen}", self.proposals()),
        )
    }

    /// Waits until no proposal is left.
    #[track_caller]
    pub fn wait_for_no_proposals(&self) {
        wait_for(
            "the end of all proposals",
            || self.proposals().is_empty().then_some(()),
            || format!("proposals: {:?}", self.proposals()),
        );
    }

    /// Waits until the file `name` has exactly this content.
    #[track_caller]
    pub fn wait_for_file(&self, terminal: &Terminal, name: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        wait_for(
            &format!("{name} to be {:?}", shown(content)),
            || (self.read(name)? == content).then_some(()),
            || {
                let now = self.read(name).map(|bytes| shown(&bytes));
                format!("it is {now:?}\n{terminal}")
            },
        );
    }
}
