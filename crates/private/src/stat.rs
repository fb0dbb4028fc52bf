//! What Linux says of a process in one line.

use std::fs;

/// A process of any user, as `/proc` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The name of its program, cut by the system.
    pub name: String,
    /// What it does, as a letter; `Z` is a zombie.
    pub state: char,
    /// The process that started it, or that has adopted it since.
    pub parent: u32,
    /// The device number of its terminal; 0 if it has none.
    pub terminal: u32,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
}

/// The process with this number; `None` if there is none.
pub fn process_stat(pid: u32) -> Option<ProcessStat> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(&String::from_utf8_lossy(&bytes))
}

/// Reads `pid (name) state parent …`. The name can contain anything, even parentheses, so its
/// end is the last one in the line.
fn parse(line: &str) -> Option<ProcessStat> {
    let (front, back) = line.rsplit_once(')')?;
    let (_, name) = front.split_once('(')?;
    let mut fields = back.split_ascii_whitespace();
    Some(ProcessStat {
        name: name.to_owned(),
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        // The 7th field of the line. The kernel writes it as a signed number.
        terminal: fields.nth(2)?.parse::<i32>().ok()?.cast_unsigned(),
        // The 22nd.
        started: fields.nth(14)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_confuse_the_reading() {
        let rest = "S 41 0 0 34819 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 8877 0 0";
        for name in ["cat", "a) R 7 (b", "tmux: server", ")", ""] {
            let stat = parse(&format!("42 ({name}) {rest}\n"));
            let expected = ProcessStat {
                name: name.into(),
                state: 'S',
                parent: 41,
                terminal: 34819,
                started: 8877,
            };
            assert_eq!(stat, Some(expected), "{name:?}");
        }
        for broken in [
            "",
            "42",
            "42 (cat)",
            "42 (cat) S",
            "42 (cat) S x",
            "42 (cat) S 41 0",
        ] {
            assert_eq!(parse(broken), None, "{broken:?}");
        }
    }
}
