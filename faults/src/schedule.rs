//! What happens in one schedule: a list of steps that follows from a seed and from nothing else.

use std::fmt;
use std::time::Duration;

use crate::random::Random;

/// How many agents there are: Qwen Code, Gemini CLI, and Qwen Code again.
pub const AGENTS: usize = 3;
/// How many files agents propose edits for.
pub const FILES: usize = 3;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An agent proposes an edit of a file; if it has proposed one before, the new one replaces it.
    Propose {
        /// Which agent.
        agent: usize,
        /// Which file.
        file: usize,
    },
    /// The person decides one of the proposals that are listed.
    Decide {
        /// By which way.
        by: Way,
        /// What they decide.
        how: Choice,
        /// Which proposal, counted round the list.
        which: usize,
    },
    /// The person edits the text of a proposal at the page, and does not decide.
    Draft {
        /// Which proposal, counted round the list.
        which: usize,
    },
    /// An agent takes a proposal back.
    Close {
        /// Which agent.
        agent: usize,
        /// Which file.
        file: usize,
    },
    /// An agent ends its session and begins another one.
    Leave {
        /// Which agent.
        agent: usize,
    },
    /// Somebody writes a file.
    Edit {
        /// Which file.
        file: usize,
    },
    /// Nobody does anything.
    Wait(Duration),
    /// An editor joins, if none is there.
    EditorJoins,
    /// The editor says goodbye and leaves.
    EditorQuits,
    /// The companion is started, unless it runs.
    Start,
    /// `outrigger restart`.
    Restart,
    /// `outrigger stop`.
    Stop,
    /// Something goes wrong.
    Fault(Fault),
    /// The disk is as it should be again.
    DiskRecovers,
}

/// The way by which the person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The API, with the page's key.
    Page,
    /// `outrigger accept` or `outrigger reject`.
    Command,
    /// The editor.
    Editor,
}

/// What the person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The text as it stands.
    Accept,
    /// No.
    Reject,
    /// The first hunk only.
    FirstHunk,
    /// Another text.
    OtherText,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The companion is killed while the next step acts.
    Kill {
        /// How long after it has begun to act.
        after: Duration,
    },
    /// The editor's pipe process is killed.
    KillEditor,
    /// The companion stands still for a while, during the next steps.
    Freeze(Duration),
    /// No byte can be written to home and temporary folder, but for this many pages.
    FullDisk {
        /// Free pages of the file system, in home and temporary folder each.
        pages: usize,
    },
    /// Nothing can be created, replaced or removed in the state folder.
    ReadOnlyState,
    /// Nothing can be created, replaced or removed in the folders of discovery files.
    ReadOnlyDiscovery,
    /// The companion may open no more files for a while, during the next steps.
    NoDescriptors(Duration),
    /// Files are removed.
    Remove(Files),
    /// Files get the times of another day, as after a jump of the clock.
    Age {
        /// Which files.
        files: Files,
        /// How many days ago; negative ones are to come.
        days: i64,
    },
    /// All connections of an agent are cut while the next step acts.
    Cut {
        /// Which agent.
        agent: usize,
        /// How long after it has begun to act.
        after: Duration,
    },
    /// All connections of an agent are cut, and it gets no other one for a while, during the next
    /// steps.
    Unplug {
        /// Which agent.
        agent: usize,
        /// For how long.
        time: Duration,
    },
    /// Nothing goes over the connections of an agent for a while, during the next steps.
    Stall {
        /// Which agent.
        agent: usize,
        /// For how long.
        time: Duration,
    },
}

/// Files of a companion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// `companion.json`.
    Record,
    /// `lock`, and the lock of those that start.
    Locks,
    /// Sessions, proposals and verdicts.
    Journal,
    /// What agents find it by.
    Discovery,
    /// The whole folder in which all companions keep their state.
    State,
}

impl Fault {
    /// The word by which a person leaves this kind of fault out.
    pub fn kind(self) -> &'static str {
        match self {
            Fault::Kill { .. } => "kill",
            Fault::KillEditor => "kill-editor",
            Fault::Freeze(_) => "freeze",
            Fault::FullDisk { .. } => "full-disk",
            Fault::ReadOnlyState => "read-only-state",
            Fault::ReadOnlyDiscovery => "read-only-discovery",
            Fault::NoDescriptors(_) => "no-descriptors",
            Fault::Remove(Files::Record) => "remove-record",
            Fault::Remove(Files::Locks) => "remove-locks",
            Fault::Remove(Files::Journal) => "remove-journal",
            Fault::Remove(Files::Discovery) => "remove-discovery",
            Fault::Remove(Files::State) => "remove-state",
            Fault::Age { .. } => "age",
            Fault::Cut { .. } => "cut",
            Fault::Unplug { .. } => "unplug",
            Fault::Stall { .. } => "stall",
        }
    }
}

/// The steps of a seed.
pub fn steps(seed: u64) -> Vec<Step> {
    let mut random = Random::new(seed);
    let length = 8 + random.below(13);
    // Two kinds of trouble at most, so that a failure says what it comes from.
    let troubles = [draw_trouble(&mut random), draw_trouble(&mut random)];
    let mut steps = Vec::new();
    let mut disk_is_bad = false;
    // Something to lose.
    for agent in 0..AGENTS {
        if random.chance(2, 3) {
            let file = random.below(FILES);
            steps.push(Step::Propose { agent, file });
        }
    }
    while steps.len() < length {
        if random.chance(1, 3) {
            let trouble = troubles[random.below(2)];
            draw_fault(&mut random, trouble, &mut steps, &mut disk_is_bad);
        } else {
            steps.extend(draw_step(&mut random));
        }
        if disk_is_bad && random.chance(1, 4) {
            steps.push(Step::DiskRecovers);
            disk_is_bad = false;
        }
    }
    steps
}

/// A kind of trouble.
#[derive(Clone, Copy)]
enum Trouble {
    Crash,
    Ends,
    Sockets,
    Disk,
    Loss,
    Exhaustion,
}

fn draw_trouble(random: &mut Random) -> Trouble {
    let troubles = [
        (5, Trouble::Crash),
        (3, Trouble::Ends),
        (3, Trouble::Sockets),
        (3, Trouble::Disk),
        (2, Trouble::Loss),
        (2, Trouble::Exhaustion),
    ];
    random.weighted(&troubles).unwrap_or(Trouble::Crash)
}

fn draw_fault(
    random: &mut Random,
    trouble: Trouble,
    steps: &mut Vec<Step>,
    disk_is_bad: &mut bool,
) {
    let mut moment = |most: usize| Duration::from_micros(random.below(most * 1000) as u64);
    match trouble {
        Trouble::Crash => {
            let after = moment(8);
            steps.push(Step::Fault(Fault::Kill { after }));
            steps.extend(draw_busy_step(random));
            if random.chance(3, 4) {
                steps.push(Step::Start);
            }
        }
        Trouble::Ends => match random.below(4) {
            0 => steps.extend([Step::Stop, Step::Start]),
            1 => steps.push(Step::Stop),
            2 => steps.push(Step::Fault(Fault::KillEditor)),
            _ => steps.push(Step::Restart),
        },
        Trouble::Sockets => {
            let (cut, stall) = (moment(12), moment(400));
            let agent = random.below(AGENTS);
            steps.push(Step::Fault(match random.below(3) {
                0 => Fault::Cut { agent, after: cut },
                1 => Fault::Stall { agent, time: stall },
                _ => Fault::Unplug { agent, time: stall },
            }));
            steps.extend(draw_busy_step(random));
        }
        Trouble::Disk => {
            let fault = match random.below(4) {
                0 | 1 => Fault::FullDisk {
                    pages: random.below(4),
                },
                2 => Fault::ReadOnlyState,
                _ => Fault::ReadOnlyDiscovery,
            };
            *disk_is_bad = true;
            steps.push(Step::Fault(fault));
        }
        Trouble::Loss => {
            let files = [
                (2, Files::Record),
                (2, Files::Locks),
                (2, Files::Journal),
                (3, Files::Discovery),
                (2, Files::State),
            ];
            let files = random.weighted(&files).unwrap_or(Files::Discovery);
            let days = [8, 400, -2][random.below(3)];
            steps.push(Step::Fault(if random.chance(1, 3) {
                Fault::Age { files, days }
            } else {
                Fault::Remove(files)
            }));
        }
        Trouble::Exhaustion => {
            let time = moment(400);
            steps.push(Step::Fault(if random.chance(1, 2) {
                Fault::Freeze(time)
            } else {
                Fault::NoDescriptors(time)
            }));
            steps.extend(draw_busy_step(random));
        }
    }
}

/// A step that a fault can meet in the middle.
fn draw_busy_step(random: &mut Random) -> Option<Step> {
    let agent = random.below(AGENTS);
    let file = random.below(FILES);
    let decide = draw_decision(random);
    random.weighted(&[
        (5, decide),
        (3, Step::Propose { agent, file }),
        (1, Step::Close { agent, file }),
        (1, Step::Restart),
    ])
}

fn draw_step(random: &mut Random) -> Option<Step> {
    let agent = random.below(AGENTS);
    let file = random.below(FILES);
    let which = random.below(9);
    let decide = draw_decision(random);
    let wait = Step::Wait(Duration::from_millis(random.below(150) as u64));
    random.weighted(&[
        (8, Step::Propose { agent, file }),
        (8, decide),
        (1, Step::Draft { which }),
        (2, Step::Close { agent, file }),
        (1, Step::Leave { agent }),
        (2, Step::Edit { file }),
        (1, wait),
        (2, Step::EditorJoins),
        (1, Step::EditorQuits),
        (2, Step::Start),
    ])
}

fn draw_decision(random: &mut Random) -> Step {
    let which = random.below(9);
    let by = random.weighted(&[(5, Way::Page), (3, Way::Command), (2, Way::Editor)]);
    let how = random.weighted(&[
        (5, Choice::Accept),
        (3, Choice::Reject),
        (1, Choice::FirstHunk),
        (2, Choice::OtherText),
    ]);
    Step::Decide {
        by: by.unwrap_or(Way::Page),
        how: how.unwrap_or(Choice::Accept),
        which,
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Propose { agent, file } => {
                write!(f, "agent {agent} proposes an edit of file {file}")
            }
            Step::Decide { by, how, which } => {
                write!(f, "{by:?} decides {how:?} of proposal {which}")
            }
            Step::Draft { which } => write!(f, "page drafts proposal {which}"),
            Step::Close { agent, file } => write!(f, "agent {agent} closes file {file}"),
            Step::Leave { agent } => write!(f, "agent {agent} leaves"),
            Step::Edit { file } => write!(f, "somebody edits file {file}"),
            Step::Wait(time) => write!(f, "wait {time:?}"),
            Step::EditorJoins => write!(f, "an editor joins"),
            Step::EditorQuits => write!(f, "the editor quits"),
            Step::Start => write!(f, "start"),
            Step::Restart => write!(f, "restart"),
            Step::Stop => write!(f, "stop"),
            Step::Fault(fault) => write!(f, "FAULT {fault:?}"),
            Step::DiskRecovers => write!(f, "the disk recovers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_says_the_same_every_time_and_another_one_something_else() {
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    #[test]
    fn every_fault_and_every_step_is_drawn_by_some_seed() {
        let all: Vec<_> = (0..2000).flat_map(steps).collect();
        let faults: BTreeSet<_> = all
            .iter()
            .filter_map(|step| match step {
                Step::Fault(fault) => Some(fault.kind()),
                _ => None,
            })
            .collect();
        assert_eq!(faults.len(), 16, "{faults:?}");
        let kinds: BTreeSet<_> = all
            .iter()
            .map(|step| {
                format!("{step:?}")
                    .split([' ', '('])
                    .next()
                    .map(str::to_owned)
            })
            .collect();
        assert_eq!(kinds.len(), 14, "{kinds:?}");
    }
}
