//! What closes folders to agents.

use text::show::one_line;
use workbench::{Fault, Scope};

/// What a fault has closed, and where it is.
pub fn fault(fault: &Fault) -> String {
    let closed = match &fault.scope {
        Scope::Everywhere => "nothing is shared with agents".to_owned(),
        Scope::Below(root) => format!("nothing of {} is shared with agents", root.display()),
    };
    one_line(format_args!("{closed} until this is mended: {fault}"))
}

/// What has become of the faults, a sentence for each that is new, and for each source that is in
/// order again.
pub fn faults_changed(before: &[Fault], now: &[Fault]) -> Vec<String> {
    let new = now.iter().filter(|fault| !before.contains(fault));
    let mut said: Vec<_> = new.map(fault).collect();
    let mut mended: Vec<&str> = before.iter().map(|fault| fault.source.as_str()).collect();
    mended.dedup();
    mended.retain(|source| now.iter().all(|fault| fault.source != *source));
    let rest = if now.is_empty() {
        "agents are told again what is open"
    } else {
        "other faults remain"
    };
    said.extend(
        mended
            .iter()
            .map(|source| one_line(format_args!("{source} is mended; {rest}"))),
    );
    said
}

#[cfg(test)]
pub(super) mod tests {
    use workbench::Position;

    use super::*;

    pub(in super::super) fn broken(source: &str, message: &str, scope: Scope) -> Fault {
        Fault {
            source: source.into(),
            position: Some(Position {
                line: 1,
                column: 10,
            }),
            message: message.into(),
            scope,
        }
    }

    #[test]
    fn a_fault_is_told_when_it_appears_and_when_it_is_mended() {
        let one = || broken("/w/a", "bad\n\u{1b}[2J", Scope::Below("/w".into()));
        let other = || broken("/w/a", "worse", Scope::Below("/w".into()));
        let mine = || broken("V", "bad", Scope::Everywhere);
        for (before, now, said) in [
            (vec![], vec![], ""),
            (
                vec![],
                vec![one(), mine()],
                "nothing of /w is shared with agents until this is mended: /w/a:1:10: bad␊␛[2J | \
                 nothing is shared with agents until this is mended: V:1:10: bad",
            ),
            (vec![one()], vec![one()], ""),
            (
                vec![one()],
                vec![other()],
                "nothing of /w is shared with agents until this is mended: /w/a:1:10: worse",
            ),
            (vec![one(), other()], vec![other()], ""),
            (
                vec![one(), other(), mine()],
                vec![mine()],
                "/w/a is mended; other faults remain",
            ),
            (
                vec![one(), other()],
                vec![],
                "/w/a is mended; agents are told again what is open",
            ),
        ] {
            assert_eq!(faults_changed(&before, &now).join(" | "), said);
        }
    }
}
