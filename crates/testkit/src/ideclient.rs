//! The connection code of a published agent, without the agent's screen.
//!
//! The real `IdeClient` class runs under node in a small driver (`ideclient.mjs`), which finds it in
//! whatever layout that version was published in. This is how old versions are tried: what a person
//! would see in them is not the companion's business, whether they find it and understand it is.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::{Agent, Household, wait_for};

/// How the person starts the agent.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// In a plain terminal.
    Plain,
    /// In a terminal that has the variables of `outrigger env`.
    Environment,
    /// With `outrigger run`.
    Run,
    /// In a terminal that names `outrigger bridge` as a program to speak to, with every discovery
    /// file out of sight.
    Bridge,
}

/// A running client. Dropping it ends it.
pub struct IdeClient {
    child: Child,
    commands: Option<ChildStdin>,
    /// How many commands were sent.
    sent: u64,
    heard: Arc<Mutex<Heard>>,
}

/// A diff that was asked for.
#[derive(Debug)]
pub struct PendingDiff(u64);

/// What has come from the driver.
#[derive(Default)]
struct Heard {
    answers: HashMap<u64, Value>,
    /// Everything the client itself had to say.
    log: String,
}

impl IdeClient {
    /// Starts the client of `agent` that is installed in `set`.
    #[track_caller]
    pub fn start(house: &Household, set: &str, agent: Agent, start: Start) -> Self {
        let driver = house.temporary().join("ideclient.mjs");
        std::fs::write(&driver, include_str!("ideclient.mjs")).unwrap();
        let package = house.clients().package(set, agent);
        let node: [PathBuf; 3] = [
            house.clients().node(),
            // Some versions leave a rejected promise behind when a diff cannot be opened.
            "--unhandled-rejections=warn".into(),
            driver,
        ];
        let mut command = match start {
            Start::Run => {
                let mut command = house.command(&["run", "--"]);
                command.args(node);
                command
            }
            Start::Plain | Start::Environment | Start::Bridge => {
                let mut command = Command::new(&node[0]);
                command.args(&node[1..]).current_dir(house.workspace());
                command.env_clear().envs(house.environment());
                command
            }
        };
        match start {
            Start::Plain | Start::Run => {}
            Start::Environment => {
                let variables = house.run(&["env", "--shell", "json"]).good();
                let variables: HashMap<String, String> = serde_json::from_str(&variables).unwrap();
                command.envs(variables);
            }
            Start::Bridge => {
                command.envs(bridge(house, agent));
            }
        }
        command.arg(package);
        Self::drive(command)
    }

    #[track_caller]
    fn drive(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let heard = Arc::<Mutex<Heard>>::default();
        let stderr = child.stderr.take().unwrap();
        let ears = heard.clone();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                ears.lock().unwrap().log += &format!("{line}\n");
            }
        });
        let stdout = child.stdout.take().unwrap();
        let ears = heard.clone();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let mut heard = ears.lock().unwrap();
                let answer = line.strip_prefix('@');
                match answer.and_then(|it| serde_json::from_str::<Value>(it).ok()) {
                    Some(answer) => {
                        let id = answer["id"].as_u64().unwrap();
                        heard.answers.insert(id, answer);
                    }
                    None => heard.log += &format!("{line}\n"),
                }
            }
        });
        let mut this = Self {
            commands: child.stdin.take(),
            child,
            sent: 0,
            heard,
        };
        assert_eq!(this.answer(0, "ready"), "ready");
        this
    }

    /// Looks for a companion; the name of the editor it claims to be, if one was found.
    #[track_caller]
    pub fn discover(&mut self) -> Option<String> {
        self.call("discover").as_str().map(str::to_owned)
    }

    /// Connects; the status afterwards.
    #[track_caller]
    pub fn connect(&mut self) -> String {
        self.call("connect").as_str().unwrap().to_owned()
    }

    /// The status the agent would show.
    #[track_caller]
    pub fn status(&mut self) -> String {
        self.call("status").as_str().unwrap().to_owned()
    }

    /// Whether the agent would ask for diffs.
    #[track_caller]
    pub fn diffing(&mut self) -> bool {
        self.call("diffing").as_bool().unwrap()
    }

    /// Waits until the context the agent has satisfies `condition`.
    #[track_caller]
    pub fn wait_for_context(&mut self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let heard = self.heard.clone();
        let mut last = Value::Null;
        let probe = || {
            last = self.call("context");
            condition(&last).then(|| last.clone())
        };
        wait_for(what, probe, || heard.lock().unwrap().log.clone())
    }

    /// Asks for a diff, without waiting for its verdict.
    #[track_caller]
    pub fn open_diff(&mut self, path: &str, content: &str) -> PendingDiff {
        PendingDiff(self.send(json!({"command": "openDiff", "path": path, "content": content})))
    }

    /// Waits for the verdict on a diff, as the agent understood it.
    #[track_caller]
    pub fn verdict(&mut self, PendingDiff(id): PendingDiff) -> Value {
        self.answer(id, "the verdict")
    }

    /// The person decides in the terminal: `accepted` or `rejected`.
    #[track_caller]
    pub fn close_diff(&mut self, path: &str, outcome: &str) {
        let command = json!({"command": "closeDiff", "path": path, "outcome": outcome});
        let id = self.send(command);
        self.answer(id, "the end of closeDiff");
    }

    /// Disconnects as the agent does when it ends.
    #[track_caller]
    pub fn disconnect(&mut self) {
        self.call("disconnect");
    }

    #[track_caller]
    fn call(&mut self, command: &str) -> Value {
        let id = self.send(json!({"command": command}));
        self.answer(id, command)
    }

    fn send(&mut self, mut command: Value) -> u64 {
        self.sent += 1;
        command["id"] = self.sent.into();
        let mut pipe = self.commands.as_ref().unwrap();
        // A driver that has died is noticed when its answer does not come.
        let _ = writeln!(pipe, "{command}");
        self.sent
    }

    #[track_caller]
    fn answer(&mut self, id: u64, what: &str) -> Value {
        let (heard, child) = (&self.heard, &mut self.child);
        let answer = wait_for(
            what,
            || {
                let answer = heard.lock().unwrap().answers.remove(&id);
                let gone = answer.is_none() && !matches!(child.try_wait(), Ok(None));
                assert!(!gone, "the client is gone\n{}", heard.lock().unwrap().log);
                answer
            },
            || heard.lock().unwrap().log.clone(),
        );
        assert!(answer.get("error").is_none(), "{what}: {}", answer["error"]);
        answer["result"].clone()
    }
}

/// The variables of a terminal from which only the bridge leads to the companion.
fn bridge(house: &Household, agent: Agent) -> [(String, String); 6] {
    let prefix = match agent {
        Agent::Qwen => "QWEN_CODE_IDE",
        Agent::Gemini => "GEMINI_CLI_IDE",
    };
    let arguments = json!(["bridge", "--agent", agent.name()]);
    let elsewhere = house.temporary().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let text = |path: &Path| path.display().to_string();
    [
        (
            format!("{prefix}_SERVER_STDIO_COMMAND"),
            text(house.program()),
        ),
        (format!("{prefix}_SERVER_STDIO_ARGS"), arguments.to_string()),
        (format!("{prefix}_WORKSPACE_PATH"), text(&house.workspace())),
        ("TERM_PROGRAM".into(), "vscode".into()),
        ("QWEN_HOME".into(), text(&elsewhere)),
        ("TMPDIR".into(), text(&elsewhere)),
    ]
}

impl Display for IdeClient {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let heard = self.heard.lock().unwrap();
        write!(f, "--- said by the client ---\n{}", heard.log)
    }
}

impl Drop for IdeClient {
    fn drop(&mut self) {
        // The driver leaves at the end of its input, also when a launcher stands in between.
        drop(self.commands.take());
        let child = &mut self.child;
        for _ in 0..250 {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
