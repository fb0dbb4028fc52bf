//! Opening the page in a browser, and when to do so without being asked.

use crate::failure::Failure;

/// Whether a browser that we open would appear before the person who started us. `is_terminal` says
/// whether somebody sees what we print.
pub(crate) fn would_be_seen(variable: &dyn Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    let is_unattended = is_set("CI") || !is_terminal;
    // Windows shows what its Linux subsystem opens, with or without a display there.
    let has_display = cfg!(any(windows, target_os = "macos"))
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
            .into_iter()
            .any(is_set);
    has_display && !is_remote && !is_unattended
}

/// Opens a link in the person's browser. The link stands in the argument list of other programs for
/// a moment, so it must hold nothing that is valid for long.
pub(crate) fn open(link: &str) -> Result<(), Failure> {
    open::that_detached(link).map_err(|error| {
        Failure::other("cannot open a browser", error)
            .hint("open the link that `outrigger url` prints by hand")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_browser_is_opened_only_where_somebody_sees_it() {
        let table: [(&[&str], bool, bool); 9] = [
            (&["DISPLAY"], true, true),
            (&["WAYLAND_DISPLAY"], true, true),
            (&["WSL_DISTRO_NAME"], true, true),
            (&[], true, false),
            (&["DISPLAY"], false, false),
            (&["DISPLAY", "SSH_CONNECTION"], true, false),
            (&["DISPLAY", "SSH_TTY"], true, false),
            (&["DISPLAY", "CI"], true, false),
            (&["SSH_CONNECTION"], true, false),
        ];
        for (set, is_terminal, opens) in table {
            let variable = |name: &str| set.contains(&name).then(|| "x".to_owned());
            let seen = would_be_seen(&variable, is_terminal);
            assert_eq!(seen, opens, "{set:?} {is_terminal}");
        }
        let empty = |name: &str| (name == "DISPLAY").then(String::new);
        assert!(!would_be_seen(&empty, true), "an empty variable is not set");
    }
}
