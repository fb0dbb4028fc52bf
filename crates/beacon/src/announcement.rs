//! The content of a discovery file: what a companion announces about itself.
//!
//! This is the only module that knows the JSON of these files. It writes nothing to disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde_json::json;
use workbench::Agent;

/// Separates the roots in one string, like `path.delimiter` of Node.
const DELIMITER: char = if cfg!(windows) { ';' } else { ':' };

/// What a companion announces to every agent.
#[derive(Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The port on 127.0.0.1 that it listens on.
    pub port: u16,
    /// The folders that it serves. An agent connects only from within one of them.
    pub roots: Vec<PathBuf>,
    /// The editor, as the agent shows it to people.
    pub ide: IdeInfo,
    /// The token for each agent; an agent without one is not served.
    pub tokens: BTreeMap<Agent, String>,
    /// A process of the same user that lives as long as the companion is needed: the editor, or
    /// the companion itself. Qwen Code deletes a file whose process is gone, and one that
    /// it may not send a signal to counts as gone.
    pub serves: u32,
    /// A program that speaks the protocol on its standard input and output, for agents that
    /// cannot reach the port.
    pub stdio: Option<Stdio>,
}

/// The name of an editor. An agent that finds both names in the file accepts any editor. Without
/// them it looks in the environment for one of the few editors that it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdeInfo {
    /// A short name for programs, such as `helix`.
    pub name: String,
    /// The name for people, such as `Helix`.
    pub display_name: String,
}

/// A program to start instead of connecting to the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The roots in the form that agents read, and those that this form cannot express.
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
    pub reason: LeftOutReason,
}

/// Why a root cannot be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It contains the character that separates roots. The newest versions of one agent know a
    /// form without that limit, but in all others that form breaks the whole search.
    Delimiter,
    /// It is not Unicode, and the file is JSON.
    NotUnicode,
    /// It is not absolute. Agents drop such a root, or resolve it against their own folder.
    Relative,
}

/// Why there is nothing to announce.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnouncementError {
    /// No root can be announced. An empty list must not be written: one agent treats it as a match
    /// for every folder.
    #[error(
        "no folder can be announced{}; open a folder whose path is absolute and plain",
        because(left_out)
    )]
    NoRoots {
        /// All roots of the announcement, each with its reason.
        left_out: Vec<LeftOut>,
    },
    /// The editor has no name or no display name, and agents insist on both.
    #[error("the editor's name and display name must not be empty; give it both")]
    NoName,
    /// Port 0 is not a port that an agent could connect to.
    #[error("port 0 cannot be announced; announce after the companion listens")]
    NoPort,
    /// This agent has no token, so it could not connect.
    #[error("there is no token for {agent}; add one or switch the agent off")]
    NoToken {
        /// The agent.
        agent: Agent,
    },
}

impl Announcement {
    /// The roots in the form that every published version understands: one string. An array,
    /// or a JSON `null`, in any file makes the search of an agent fail for all companions.
    pub fn workspace(&self) -> Result<Workspace, AnnouncementError> {
        let mut seen = BTreeSet::new();
        let (mut fit, mut left_out) = (Vec::new(), Vec::new());
        for root in &self.roots {
            let reason = match root.to_str() {
                None => LeftOutReason::NotUnicode,
                Some(_) if !root.is_absolute() => LeftOutReason::Relative,
                Some(text) if text.contains(DELIMITER) => LeftOutReason::Delimiter,
                Some(text) => {
                    if seen.insert(text) {
                        fit.push(text);
                    }
                    continue;
                }
            };
            left_out.push(LeftOut {
                root: root.clone(),
                reason,
            });
        }
        if fit.is_empty() {
            return Err(AnnouncementError::NoRoots { left_out });
        }
        let path = fit.join(DELIMITER.encode_utf8(&mut [0; 4]));
        Ok(Workspace { path, left_out })
    }

    /// The content of a discovery file for `agent`.
    ///
    /// Every field but `stdio` is always there: a missing `ppid` gets a file with several roots
    /// deleted, and a missing `ideInfo` limits the agent to the editors that it knows.
    pub fn json(&self, agent: Agent) -> Result<Vec<u8>, AnnouncementError> {
        if self.port == 0 {
            return Err(AnnouncementError::NoPort);
        }
        if self.ide.name.is_empty() || self.ide.display_name.is_empty() {
            return Err(AnnouncementError::NoName);
        }
        let token = self
            .token(agent)
            .ok_or(AnnouncementError::NoToken { agent })?;
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

/// Shows which agents have a token, and never a token.
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
        match self.reason {
            LeftOutReason::Delimiter => {
                write!(f, "{root} contains {DELIMITER:?}, which separates folders")
            }
            LeftOutReason::NotUnicode => write!(f, "{root} is not Unicode"),
            LeftOutReason::Relative => write!(f, "{root:?} is not an absolute path"),
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
    fn roots_that_cannot_be_announced_are_left_out_with_the_reason() {
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
        let reasons: Vec<_> = workspace.left_out.iter().map(|root| root.reason).collect();
        assert_eq!(
            reasons,
            [
                LeftOutReason::Delimiter,
                LeftOutReason::Relative,
                LeftOutReason::Relative,
                LeftOutReason::NotUnicode
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
        let no_roots = AnnouncementError::NoRoots {
            left_out: Vec::new(),
        };
        let no_token = AnnouncementError::NoToken { agent: Agent::Qwen };
        let table = [
            (
                Announcement {
                    port: 0,
                    ..good.clone()
                },
                AnnouncementError::NoPort,
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
                AnnouncementError::NoName,
            ),
            (
                Announcement {
                    ide: ide("helix", ""),
                    ..good.clone()
                },
                AnnouncementError::NoName,
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
