//! What closes folders to agents.

use serde::{Deserialize, Serialize};
use text::show::one_line;
use workbench::{Position, Scope};

/// A mistake in what says which files may be shared. Until it is mended, nothing of `folder` is
/// shared, and nothing at all if it names no folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Where it is: the path of a file, a variable, an editor's settings.
    pub source: String,
    /// The line in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// What is wrong, in words.
    pub message: String,
    /// The folder that it closes; absent if it closes all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl From<&workbench::Fault> for Fault {
    fn from(fault: &workbench::Fault) -> Fault {
        Fault {
            source: fault.source.clone(),
            line: fault.position.map(|position| position.line),
            column: fault.position.map(|position| position.column),
            // It can quote a hostile workspace, and editors show it as it is.
            message: one_line(&fault.message),
            folder: match &fault.scope {
                Scope::Everywhere => None,
                Scope::Below(root) => Some(root.to_string_lossy().into_owned()),
            },
        }
    }
}

impl From<Fault> for workbench::Fault {
    fn from(fault: Fault) -> workbench::Fault {
        let position = fault.line.zip(fault.column);
        workbench::Fault {
            source: fault.source,
            position: position.map(|(line, column)| Position { line, column }),
            message: fault.message,
            scope: fault
                .folder
                .map_or(Scope::Everywhere, |folder| Scope::Below(folder.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_goes_there_and_back_in_one_line() {
        for (position, scope) in [
            (None, Scope::Everywhere),
            (
                Some(Position { line: 2, column: 3 }),
                Scope::Below("/w".into()),
            ),
        ] {
            let mut fault = workbench::Fault {
                source: "/w/f".into(),
                position,
                message: "there is no setting `a\u{1b}[2J\n`".into(),
                scope,
            };
            let there = Fault::from(&fault);
            fault.message = "there is no setting `a␛[2J␊`".into();
            assert_eq!(workbench::Fault::from(there), fault);
        }
    }
}
