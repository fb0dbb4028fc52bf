//! The walk up the process tree by which an agent guesses its editor, as pure functions over a
//! process table.

/// How many levels the agents walk up.
const STEPS: usize = 32;

/// The shells that the agents know. Others, and login shells, whose name starts with a dash,
/// are passed over like any other process.
#[cfg(any(unix, test))]
const SHELLS: [&str; 8] = ["zsh", "bash", "sh", "tcsh", "csh", "ksh", "fish", "dash"];

/// What the walk on Unix needs to know about a process.
#[cfg(any(unix, test))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    /// The process that started it; 0 when there is none.
    pub(super) parent: u32,
    /// The first word of its command, without folders.
    pub(super) name: String,
}

/// The walk on Unix: the nearest shell, counted from the process itself, stands for the
/// terminal; its parent is taken for a helper of the editor and its grandparent for the editor,
/// unless that is the very first process. Where there is no shell it is the top-most ancestor.
#[cfg(any(unix, test))]
pub(super) fn unix(from: u32, mut entry: impl FnMut(u32) -> Option<ProcessEntry>) -> u32 {
    let mut current = from;
    for _ in 0..STEPS {
        let Some(process) = entry(current) else { break };
        if SHELLS.contains(&process.name.as_str()) {
            let grandparent = entry(process.parent).map_or(0, |helper| helper.parent);
            return if grandparent > 1 {
                grandparent
            } else {
                process.parent
            };
        }
        if process.parent <= 1 {
            break;
        }
        current = process.parent;
    }
    current
}

/// The walk on Windows: the grandchild of the root of the tree, or the root where the tree is
/// not that deep.
#[cfg(any(windows, test))]
pub(super) fn windows(from: u32, mut parent: impl FnMut(u32) -> Option<u32>) -> u32 {
    let mut line = vec![from];
    let mut current = from;
    while line.len() < STEPS
        && let Some(above) = parent(current).filter(|above| *above != 0)
        && parent(above).is_some()
    {
        line.push(above);
        current = above;
    }
    let target = if line.len() >= 3 {
        line.len() - 3
    } else {
        line.len() - 1
    };
    line.get(target).copied().unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line = &'static [(u32, &'static str)];
    type Parents = &'static [(u32, u32)];

    /// A line of processes, the first one's parent being the second; the last has parent 1
    /// unless it is process 1 itself.
    fn find(line: &[(u32, &str)]) -> u32 {
        unix(line[0].0, |pid| {
            let at = line.iter().position(|(id, _)| *id == pid)?;
            let parent = match line.get(at + 1) {
                Some((parent, _)) => *parent,
                None => u32::from(pid != 1),
            };
            Some(ProcessEntry {
                parent,
                name: line[at].1.to_owned(),
            })
        })
    }

    #[test]
    fn the_walk_on_unix() {
        let table: &[(&str, Line, u32)] = &[
            (
                "an editor's terminal",
                &[(9, "node"), (8, "zsh"), (7, "helper"), (6, "code")],
                6,
            ),
            (
                "tmux",
                &[(9, "node"), (8, "bash"), (7, "tmux:"), (1, "init")],
                7,
            ),
            (
                "neovim",
                &[
                    (9, "node"),
                    (8, "fish"),
                    (7, "nvim"),
                    (6, "nvim"),
                    (5, "bash"),
                ],
                6,
            ),
            (
                "the nearest shell counts",
                &[
                    (9, "node"),
                    (8, "sh"),
                    (7, "a"),
                    (6, "b"),
                    (5, "bash"),
                    (4, "c"),
                    (3, "d"),
                ],
                6,
            ),
            ("a shell itself", &[(9, "dash"), (8, "a"), (7, "b")], 7),
            ("no shell", &[(9, "node"), (8, "a"), (7, "b")], 7),
            (
                "a login shell is none",
                &[(9, "node"), (8, "-bash"), (7, "sshd:"), (6, "sshd")],
                6,
            ),
            ("a shell below process 1", &[(9, "node"), (8, "sh")], 1),
            ("alone", &[(9, "node")], 9),
        ];
        for (what, line, expected) in table {
            assert_eq!(find(line), *expected, "{what}");
        }
    }

    #[test]
    fn the_walk_on_unix_ends() {
        assert_eq!(unix(9, |_| None), 9, "nothing is known");
        let mut lookups = 0;
        unix(9, |pid| {
            lookups += 1;
            Some(ProcessEntry {
                parent: pid,
                name: "loop".to_owned(),
            })
        });
        assert_eq!(lookups, STEPS, "its own parent");
        assert_eq!(
            unix(100, |pid| Some(ProcessEntry {
                parent: pid + 1,
                name: "x".to_owned()
            })),
            132
        );
    }

    #[test]
    fn the_walk_on_windows() {
        let table: &[(&str, Parents, u32)] = &[
            ("deep", &[(9, 8), (8, 7), (7, 6), (6, 5), (5, 0)], 7),
            ("three", &[(9, 8), (8, 7), (7, 0)], 9),
            ("two", &[(9, 8), (8, 0)], 8),
            ("one", &[(9, 0)], 9),
            ("the parent is gone", &[(9, 8), (8, 7), (7, 6)], 9),
            ("unknown", &[], 9),
        ];
        for (what, parents, expected) in table {
            let parent = |pid| {
                parents
                    .iter()
                    .find(|(id, _)| *id == pid)
                    .map(|(_, parent)| *parent)
            };
            assert_eq!(windows(9, parent), *expected, "{what}");
        }
        assert_eq!(windows(9, |_| Some(9)), 9, "its own parent");
    }
}
