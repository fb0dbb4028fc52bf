//! The variables by which an agent finds the companion, for a terminal or a program that we
//! start.
//!
//! They work without any file, so they are the fallback when no file can be written. Nothing here
//! reads or changes the environment of this process.

use serde_json::Value;
use workbench::Agent;

use crate::Announcement;

/// The environment in which `agents` find the companion, as names and values.
///
/// Qwen Code 0.5.2 to 0.10 requires the port, because it does not search. For every version the
/// port decides which of two companions for one folder is meant. The folders are what Gemini CLI
/// offers to the model as further folders. Qwen Code has no variable for the token and reads it
/// from the file.
pub fn environment(announcement: &Announcement, agents: &[Agent]) -> Vec<(String, String)> {
    let workspace = announcement
        .workspace()
        .ok()
        .map(|workspace| workspace.path);
    let mut variables = Vec::new();
    for agent in Agent::DISCOVERING
        .into_iter()
        .filter(|agent| agents.contains(agent))
    {
        let (prefix, takes_token) = match agent {
            Agent::Qwen => ("QWEN_CODE_IDE", false),
            Agent::Gemini => ("GEMINI_CLI_IDE", true),
            Agent::Unnamed => continue,
        };
        let mut set =
            |name: &str, value: String| variables.push((format!("{prefix}_{name}"), value));
        set("SERVER_PORT", announcement.port.to_string());
        if let Some(path) = &workspace {
            set("WORKSPACE_PATH", path.clone());
        }
        if takes_token && let Some(token) = announcement.token(agent) {
            set("AUTH_TOKEN", token.to_owned());
        }
        if let Some(stdio) = &announcement.stdio {
            set("SERVER_STDIO_COMMAND", stdio.command.clone());
            set(
                "SERVER_STDIO_ARGS",
                Value::from(stdio.args.clone()).to_string(),
            );
        }
    }
    variables
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::{IdeInfo, Stdio};

    fn announcement(roots: &[&str], stdio: Option<Stdio>) -> Announcement {
        Announcement {
            port: 4711,
            roots: roots.iter().map(Into::into).collect(),
            ide: IdeInfo {
                name: "helix".into(),
                display_name: "Helix".into(),
            },
            tokens: [
                (Agent::Qwen, "q-token".into()),
                (Agent::Gemini, "g-token".into()),
            ]
            .into(),
            serves: 42,
            stdio,
        }
    }

    fn listing(announcement: &Announcement, agents: &[Agent]) -> String {
        let lines: Vec<_> = environment(announcement, agents)
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        lines.join("\n")
    }

    #[test]
    fn both_agents() {
        let announcement = announcement(&["/a", "/b"], None);
        insta::assert_snapshot!(listing(&announcement, &Agent::DISCOVERING), @r"
        QWEN_CODE_IDE_SERVER_PORT=4711
        QWEN_CODE_IDE_WORKSPACE_PATH=/a:/b
        GEMINI_CLI_IDE_SERVER_PORT=4711
        GEMINI_CLI_IDE_WORKSPACE_PATH=/a:/b
        GEMINI_CLI_IDE_AUTH_TOKEN=g-token
        ");
    }

    #[test]
    fn one_agent_with_stdio() {
        let args = vec!["bridge".into(), "a \"b\"".into()];
        let stdio = Stdio {
            command: "/bin/outrigger".into(),
            args,
        };
        let announcement = announcement(&["/a"], Some(stdio));
        insta::assert_snapshot!(listing(&announcement, &[Agent::Qwen]), @r#"
        QWEN_CODE_IDE_SERVER_PORT=4711
        QWEN_CODE_IDE_WORKSPACE_PATH=/a
        QWEN_CODE_IDE_SERVER_STDIO_COMMAND=/bin/outrigger
        QWEN_CODE_IDE_SERVER_STDIO_ARGS=["bridge","a \"b\""]
        "#);
    }

    #[test]
    fn without_a_root_there_is_still_the_port() {
        let announcement = announcement(&["/a:b"], None);
        insta::assert_snapshot!(listing(&announcement, &[Agent::Qwen, Agent::Unnamed]), @"QWEN_CODE_IDE_SERVER_PORT=4711");
    }
}
