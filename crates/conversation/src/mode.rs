//! What the person does not get to review, in words: in a mode, and of what a tool does.
//!
//! Modes belong to the agent, and a newer one may have others. So this asks for the name alone, and
//! says of a name that it does not know that it does not. The words are those of Qwen Code 0.24.4, and
//! a test of the daemon's crate holds the published one against them.

use text::show::one_line;

/// What happens without being asked in the mode with this name. Nothing if the agent asks before each
/// edit or makes none. That goes for the agent itself: what only reads is asked about in no mode, and
/// for what a tool does beside, see [`unreviewed_with`].
pub fn unreviewed(mode: &str) -> Option<String> {
    let words = match mode {
        "plan" | "default" => return None,
        "auto-edit" => {
            "Mode auto-edit: the agent changes files without asking, so its edits are not reviewed. \
             It also fetches web pages and starts subagents without asking. It asks before it runs \
             commands, but for those that only read, and for `sed -i`."
        }
        "auto" => {
            "Mode auto: a model decides what is allowed, and you are seldom asked. The agent changes the \
             files of the folder and runs commands without asking, and none of that is reviewed."
        }
        "yolo" => {
            "Mode yolo: the agent changes files and runs commands without asking. Nothing is reviewed."
        }
        other => {
            return Some(format!(
                "Mode {}: this version of Outrigger does not know what the agent asks about in it. \
                 Its edits may not be reviewed.",
                one_line(other)
            ));
        }
    };
    Some(words.into())
}

/// What is not reviewed of what a tool does that the person allows. In `default`, where the agent itself
/// asks before each edit, the subagents that it starts work in a mode of their own.
pub fn unreviewed_with(tool: &str) -> Option<&'static str> {
    (tool == "agent").then_some(
        "A subagent makes its edits without asking, except in mode plan, and they are not reviewed.",
    )
}

#[cfg(test)]
mod tests {
    use super::{unreviewed, unreviewed_with};

    #[test]
    fn a_subagent_is_no_tool_like_others() {
        assert!(unreviewed_with("agent").is_some_and(|said| said.contains("without asking")));
        for tool in ["edit", "write_file", "run_shell_command", "task", ""] {
            assert_eq!(unreviewed_with(tool), None, "{tool}");
        }
    }

    #[test]
    fn only_modes_that_ask_go_without_a_word() {
        for mode in ["plan", "default"] {
            assert_eq!(unreviewed(mode), None, "{mode}");
        }
        for (mode, words) in [
            ("auto-edit", "its edits are not reviewed"),
            ("auto", "none of that is reviewed"),
            ("yolo", "Nothing is reviewed"),
            ("Default", "does not know"),
            ("a\nb", "Mode a␊b: "),
        ] {
            let said = unreviewed(mode).unwrap();
            assert!(said.contains(words), "{said}");
            assert!(said.starts_with("Mode "), "{said}");
        }
    }
}
