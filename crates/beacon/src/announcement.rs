//! What a companion says about itself: the content of a discovery file.
//!
//! This is the only module that knows the JSON of these files. It writes nothing to disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde_json::json;
use workbench::Agent;

/// What stands between two roots in one string, as `path.delimiter` of Node.
const DELIMITER: char = if cfg!(windows) { ';' } else { ':' };

/// What a companion says about itself to every agent.
#[derive(Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The port on 127.0.0.1 that it listens on.
    pub port: u16,
    /// The folders that it is for. An agent connects from within one of them only.
    pub roots: Vec<PathBuf>,
    /// The editor, as the agent shows it to people.
    pub ide: IdeInfo,
    /// The token for each agent; an agent without one is not served.
    pub tokens: BTreeMap<Agent, String>,
    /// A process of the same user that lives as long as the companion is of use: the editor,
    /// or the companion itself. Qwen Code deletes a file whose process is gone, and one that
    /// it may not send a signal to counts as gone.
    pub serves: u32,
    /// A program that speaks the protocol on its standard input and output, for agents that
    /// cannot reach the port.
    pub stdio: Option<Stdio>,
}

/// The name of an editor. An agent that finds both names in the file accepts any editor;
/// without them it asks the environment for one of the few editors that it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdeInfo {
    /// A short name for programs, such as `helix`.
    pub name: String,
    /// The name for people, such as `Helix`.
    pub display_name: String,
}

/// A program to start instead of dialling a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The roots as the agents read them, and those that could not be told to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// All roots in one string, with `:` (on Windows `;`) between them.
    pub path: String,
    /// The roots that are not part of it.
    pub left_out: Vec<LeftOut>,
}

/// A root that cannot be announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The root.
    pub root: PathBuf,
    /// What is wrong with it.
    pub why: Unfit,
}

/// Why a root cannot be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It contains the character that separates roots. The newest versions of one agent know a
    /// form without that limit, but in all others that form breaks the whole search.
    Delimiter,
    /// It is not Unicode, and the file is JSON.
    NotUnicode,
    /// It is not absolute. Agents drop such a root, or take it relative to wherever they are.
    Relative,
}

/// Why there is nothing to announce.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No root is left. An empty list must not be written: one agent takes it for a match with
    /// every folder.
    #[error(
        "no folder can be announced{}; open a folder whose path is absolute and plain",
        because(left_out)
    )]
    NoRoots {
        /// The roots there were.
        left_out: Vec<LeftOut>,
    },
    /// The editor has no name or no display name, and agents insist on both.
    #[error("the editor's name and display name must not be empty; give it both")]
    NoName,
    /// Port 0 is no port that an agent could dial.
    #[error("port 0 cannot be announced; announce after the companion listens")]
    NoPort,
    /// There is no token for this agent.
    #[error("there is no token for {agent}; add one or switch the agent off")]
    NoToken {
        /// The agent.
        agent: Agent,
    },
}

impl Announcement {
    /// The roots in the form that every published version understands: one string. An array,
    /// or a JSON `null`, in any file makes the search of an agent fail for all companions.
    pub fn workspace(&self) -> Result<Workspace, Error> {
        let mut seen = BTreeSet::new();
        let (mut fit, mut left_out) = (Vec::new(), Vec::new());
        for root in &self.roots {
            let why = match root.to_str() {
                None => Unfit::NotUnicode,
                Some(_) if !root.is_absolute() => Unfit::Relative,
                Some(text) if text.contains(DELIMITER) => Unfit::Delimiter,
                Some(text) => {
                    if seen.insert(text) {
                        fit.push(text);
                    }
                    continue;
                }
            };
            left_out.push(LeftOut {
                root: root.clone(),
                why,
            });
        }
        if fit.is_empty() {
            return Err(Error::NoRoots { left_out });
        }
        let path = fit.join(DELIMITER.encode_utf8(&mut [0; 4]));
        Ok(Workspace { path, left_out })
    }

    /// The content of a discovery file for `agent`.
    ///
    /// Every field but `stdio` is always there: a missing `ppid` gets a file with several roots
    /// deleted, and a missing `ideInfo` limits the agent to the editors that it knows.
    pub fn json(&self, agent: Agent) -> Result<Vec<u8>, Error> {
        if self.port == 0 {
            return Err(Error::NoPort);
        }
        if self.ide.name.is_empty() || self.ide.display_name.is_empty() {
            return Err(Error::NoName);
        }
        let token = self.token(agent).ok_or(Error::NoToken { agent })?;
        let mut file = json!({
            "port": self.port,
            "workspacePath": self.workspace()?.path,
            "authToken": token,
            "ppid": self.serves,
            // The specification lists this one; no client reads it.
            "ideName": self.ide.display_name,
            "ideInfo": { "name": self.ide.name, "displayName": self.ide.display_name },
        });
        if let Some(stdio) = &self.stdio {
            file["stdio"] = json!({ "command": stdio.command, "args": stdio.args });
        }
        Ok(file.to_string().into_bytes())
    }

    /// The token for `agent`; an empty one counts as none.
    pub(crate) fn token(&self, agent: Agent) -> Option<&str> {
        self.tokens
            .get(&agent)
            .map(String::as_str)
            .filter(|token| !token.is_empty())
    }
}

/// Shows for whom there is a token and never the token.
impl fmt::Debug for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcement")
            .field("port", &self.port)
            .field("roots", &self.roots)
            .field("ide", &self.ide)
            .field("tokens for", &self.tokens.keys().collect::<Vec<_>>())
            .field("serves", &self.serves)
            .field("stdio", &self.stdio)
            .finish()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.root.display();
        match self.why {
            Unfit::Delimiter => write!(f, "{root} contains {DELIMITER:?}, which separates folders"),
            Unfit::NotUnicode => write!(f, "{root} is not Unicode"),
            Unfit::Relative => write!(f, "{root:?} is not an absolute path"),
        }
    }
}

fn because(left_out: &[LeftOut]) -> String {
    let reasons: Vec<_> = left_out.iter().map(ToString::to_string).collect();
    if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join(", "))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn announcement() -> Announcement {
        Announcement {
            port: 4711,
            roots: vec!["/a".into(), "/b c".into()],
            ide: IdeInfo {
                name: "helix".into(),
                display_name: "Helix".into(),
            },
            tokens: [
                (Agent::Qwen, "q-secret".into()),
                (Agent::Gemini, "g-secret".into()),
            ]
            .into(),
            serves: 42,
            stdio: None,
        }
    }

    fn parsed(announcement: &Announcement, agent: Agent) -> serde_json::Value {
        serde_json::from_slice(&announcement.json(agent).unwrap()).unwrap()
    }

    #[test]
    fn a_file_says_everything_and_nothing_is_null() {
        let mut expected = json!({
            "port": 4711,
            "workspacePath": "/a:/b c",
            "authToken": "q-secret",
            "ppid": 42,
            "ideName": "Helix",
            "ideInfo": { "name": "helix", "displayName": "Helix" },
        });
        assert_eq!(parsed(&announcement(), Agent::Qwen), expected);

        let stdio = Stdio {
            command: "/bin/outrigger".into(),
            args: vec!["bridge".into()],
        };
        let announcement = Announcement {
            stdio: Some(stdio),
            ..announcement()
        };
        expected["authToken"] = json!("g-secret");
        expected["stdio"] = json!({ "command": "/bin/outrigger", "args": ["bridge"] });
        assert_eq!(parsed(&announcement, Agent::Gemini), expected);
    }

    #[test]
    fn roots_that_cannot_be_told_are_left_out_with_the_reason() {
        let odd = PathBuf::from(OsString::from_vec(b"/\xff".to_vec()));
        let roots = ["/a", "/b:c", "relative", "", "/d", "/a"].map(PathBuf::from);
        let roots = roots.into_iter().chain([odd]).collect();
        let workspace = Announcement {
            roots,
            ..announcement()
        }
        .workspace()
        .unwrap();
        assert_eq!(workspace.path, "/a:/d");
        let reasons: Vec<_> = workspace.left_out.iter().map(|root| root.why).collect();
        assert_eq!(
            reasons,
            [
                Unfit::Delimiter,
                Unfit::Relative,
                Unfit::Relative,
                Unfit::NotUnicode
            ]
        );
    }

    #[test]
    fn what_no_agent_could_use_is_not_announced() {
        let good = announcement();
        let ide = |name: &str, display_name: &str| IdeInfo {
            name: name.into(),
            display_name: display_name.into(),
        };
        let no_roots = Error::NoRoots {
            left_out: Vec::new(),
        };
        let no_token = Error::NoToken { agent: Agent::Qwen };
        let table = [
            (
                Announcement {
                    port: 0,
                    ..good.clone()
                },
                Error::NoPort,
            ),
            (
                Announcement {
                    roots: Vec::new(),
                    ..good.clone()
                },
                no_roots,
            ),
            (
                Announcement {
                    ide: ide("", "Helix"),
                    ..good.clone()
                },
                Error::NoName,
            ),
            (
                Announcement {
                    ide: ide("helix", ""),
                    ..good.clone()
                },
                Error::NoName,
            ),
            (
                Announcement {
                    tokens: BTreeMap::new(),
                    ..good.clone()
                },
                no_token.clone(),
            ),
            (
                Announcement {
                    tokens: [(Agent::Qwen, String::new())].into(),
                    ..good.clone()
                },
                no_token,
            ),
        ];
        for (announcement, expected) in table {
            assert_eq!(announcement.json(Agent::Qwen), Err(expected));
        }
    }

    #[test]
    fn the_error_names_the_roots_that_were_left_out() {
        let announcement = Announcement {
            roots: vec!["/a:b".into(), "c".into()],
            ..announcement()
        };
        insta::assert_snapshot!(announcement.workspace().unwrap_err(), @r#"no folder can be announced (/a:b contains ':', which separates folders, "c" is not an absolute path); open a folder whose path is absolute and plain"#);
    }

    #[test]
    fn tokens_do_not_show() {
        assert!(!format!("{:?}", announcement()).contains("secret"));
    }
}
