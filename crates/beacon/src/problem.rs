//! Why a discovery file could not be written, in words that a person can act on.

use std::fmt;
use std::path::PathBuf;

use workbench::Agent;

use crate::announcement::{AnnouncementError, LeftOut};

/// Something that keeps agents from finding the companion. The companion keeps running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The affected agents.
    pub agents: Vec<Agent>,
    /// The file or folder that causes the problem, if there is one.
    pub path: Option<PathBuf>,
    /// What is wrong and why; it never contains a token.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

impl Problem {
    /// A file or folder that could not be used.
    pub(crate) fn file(agents: &[Agent], error: &private::Error) -> Problem {
        Problem {
            agents: agents.to_vec(),
            path: error.path().map(Into::into),
            message: error.to_string(),
            hint: "until then, start the agent with the companion's environment variables, which \
                   work without this file"
                .to_owned(),
        }
    }

    /// A file of ours that could not be removed.
    pub(crate) fn stuck(agents: &[Agent], error: &private::Error) -> Problem {
        Problem {
            hint: "remove it by hand, since the agent may try it in vain".to_owned(),
            ..Problem::file(agents, error)
        }
    }

    /// An announcement that cannot be written for this agent.
    pub(crate) fn announcement(agent: Agent, error: &AnnouncementError) -> Problem {
        Problem {
            agents: vec![agent],
            path: None,
            message: error.to_string(),
            hint: "no discovery file is written for this agent until then".to_owned(),
        }
    }

    /// A root that is not in the discovery files.
    pub(crate) fn root(agents: &[Agent], left_out: &LeftOut) -> Problem {
        Problem {
            agents: agents.to_vec(),
            path: Some(left_out.root.clone()),
            message: format!("agents cannot be told about a folder: {left_out}"),
            hint: "rename the folder, or reach it through a symlink with a plain absolute path"
                .to_owned(),
        }
    }

    /// Adds this problem to a list. Equal problems of several agents become one entry.
    pub(crate) fn add_to(self, problems: &mut Vec<Problem>) {
        match problems.iter_mut().find(|known| {
            known.path == self.path && known.message == self.message && known.hint == self.hint
        }) {
            Some(known) => {
                for agent in self.agents {
                    if !known.agents.contains(&agent) {
                        known.agents.push(agent);
                        known.agents.sort();
                    }
                }
            }
            None => problems.push(self),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}
