//! What the person does not get to review in a mode, in words.
//!
//! Modes belong to the agent, and a newer one may have others. So this asks for the name alone, and
//! says of a name that it does not know that it does not. The words are those of Qwen Code 0.24.4, and
//! a test of the daemon's crate holds the published one against them.

use text::show::one_line;

/// What happens without being asked in the mode with this name. Nothing if the agent asks before each
/// edit or makes none. That goes for the agent itself: what only reads is asked about in no mode, and a
/// subagent that the person has let start edits without asking in `default`, too.
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

#[cfg(test)]
mod tests {
    use super::unreviewed;

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
