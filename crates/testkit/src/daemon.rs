//! The published daemon, `qwen serve`, on a household's machine.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::waiting::wait_within;
use crate::{Agent, Household, PATIENCE};

/// What every daemon of a household asks for.
pub const TOKEN: &str = "a-token-for-tests";

/// A running daemon. Dropping it ends it.
pub struct Daemon {
    child: Child,
    port: u16,
}

impl Household {
    /// Writes the settings of somebody who uses the daemon: two models, and plans. They are written anew
    /// because switching a model changes them.
    pub fn set_up_daemon(&self) {
        let path = self.home().join(".qwen/settings.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        let url = format!("http://127.0.0.1:{}/v1", self.model.port());
        let model =
            |id: &str| json!({"id": id, "name": id, "envKey": "OPENAI_API_KEY", "baseUrl": url});
        settings["model"] = json!({"name": "fake-model"});
        settings["modelProviders"] =
            json!({"openai": [model("fake-model"), model("fake-model-2")]});
        settings["tools"]["todoWrite"] = json!({"enabled": true});
        fs::write(path, settings.to_string()).unwrap();
    }

    /// What starts a daemon for `folder`, on `port` or on any.
    pub fn daemon_command(&self, folder: &Path, port: u16) -> Command {
        self.set_up_daemon();
        let mut command = Command::new(self.clients().commands().join("qwen"));
        command
            .args(["serve", "--hostname", "127.0.0.1", "--no-web", "--port"])
            .arg(port.to_string())
            .arg("--workspace")
            .arg(folder)
            .current_dir(folder)
            .env_clear()
            .envs(self.environment_for(Agent::Qwen))
            .env("QWEN_SERVER_TOKEN", TOKEN);
        command
    }

    /// Starts a daemon for `folder`, on `port` or on any, and waits until it listens.
    #[track_caller]
    pub fn start_daemon(&self, folder: &Path, port: u16) -> Daemon {
        Daemon::start(self.daemon_command(folder, port))
    }

    /// Starts a daemon for the workspace, on any port, and waits until the agent behind it runs.
    #[track_caller]
    pub fn start_daemon_with_agent(&self) -> Daemon {
        let daemon = self.start_daemon(&self.workspace(), 0);
        daemon.wait_for_agent();
        daemon
    }
}

impl Daemon {
    /// Starts what [`Household::daemon_command`] gives, and waits until it listens.
    #[track_caller]
    pub fn start(mut command: Command) -> Daemon {
        let log = NamedTempFile::new().unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(log.reopen().unwrap());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            while stdout.read_line(&mut line).is_ok_and(|read| read > 0) {
                if let Some(port) = listens_on(&line) {
                    let _ = send.send(port);
                    break;
                }
                line.clear();
            }
            // Nobody may ever block on a full pipe.
            let _ = stdout.read_to_end(&mut Vec::new());
        });
        let port = receive.recv_timeout(PATIENCE).unwrap_or_default();
        let daemon = Daemon { child, port };
        let complaints = || fs::read_to_string(log.path()).unwrap_or_default();
        assert_ne!(port, 0, "the daemon did not listen\n{}", complaints());
        daemon
    }

    /// Waits until the agent behind it runs. The first conversation starts the agent and gives it ten
    /// seconds, which is not enough on a machine that is busy enough; whoever comes first is told to
    /// try again.
    #[track_caller]
    pub fn wait_for_agent(&self) {
        let opened = wait_within(
            5 * PATIENCE,
            "the agent behind the daemon",
            || {
                let (status, body) = self.ask("POST", "/session", r#"{"sessionScope":"thread"}"#);
                let is_open_or_late = status == 200 || status >= 500;
                assert!(is_open_or_late, "no session but {status}: {body}");
                (status == 200).then_some(body)
            },
            || "the daemon opens no session".into(),
        );
        let session = opened["sessionId"].as_str().unwrap();
        let (status, _) = self.ask("DELETE", &format!("/session/{session}"), "");
        assert_eq!(status, 204, "the daemon does not close a session");
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The status and the body of its answer to a request.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
        let body = answer.split_once("\r\n\r\n").unwrap_or_default().1;
        let body = serde_json::from_str(body).unwrap_or_default();
        (status.unwrap_or_default(), body)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it without any warning, as a crash would.
    pub fn kill(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Kills the agent behind it, and says whether there was one.
    pub fn kill_agent(&self) -> bool {
        let parent = self.child.id().to_string();
        let agents = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| {
                let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
                let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
                let line = fs::read(entry.path().join("cmdline")).ok()?;
                let is_agent = line.windows(5).any(|word| word == b"--acp");
                // After the name in parentheses: the state, then the parent.
                let of = stat.rsplit(')').next()?.split_whitespace().nth(1)?;
                (of == parent && is_agent).then_some(pid)
            });
        let agents: Vec<_> = agents.filter_map(Pid::from_raw).collect();
        for agent in &agents {
            kill_process(*agent, Signal::KILL).unwrap();
        }
        !agents.is_empty()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The port in the line that says where a daemon listens.
fn listens_on(line: &str) -> Option<u16> {
    let (_, after) = line.split_once("http://127.0.0.1:")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
