//! A workspace can be hostile, so its file can only narrow what is shared and change nothing else; a
//! file that cannot be understood closes its folder and keeps nobody from starting; and what the
//! person is told of it stays in one line. A mistake in the person's own file is an error or a fault,
//! never a silent default for what is shared.

use std::path::PathBuf;

use outrigger::fuzzing::{Configuration, configuration};
use workbench::Scope;

use crate::input::parts;
use crate::scratch::Scratch;

/// Takes the person's file, the workspace's file, and a variable.
pub fn check(data: &[u8]) {
    thread_local!(static SCRATCH: Scratch = Scratch::new());
    SCRATCH.with(|scratch| {
        let mut parts = parts(data);
        let (user, workspace) = (parts.next().unwrap(), parts.next().unwrap());
        let variable = String::from_utf8_lossy(parts.next().unwrap()).into_owned();
        let user_file = scratch.write("config.toml", user);
        let root = scratch.path().join("w");
        std::fs::create_dir_all(&root).unwrap();
        let load = |workspace: &[u8], roots: &[PathBuf]| {
            scratch.write("w/.outrigger.toml", workspace);
            let variables = ["OUTRIGGER_IGNORE", "OUTRIGGER_AGENTS"];
            let named = |name: &str| variables.contains(&name).then(|| variable.clone());
            configuration(&user_file, &named, roots)
        };
        let roots = [root.clone()];
        let without = load(b"", &roots);
        let with = load(workspace, &roots);
        assert_eq!(with.is_err(), without.is_err(), "a workspace stops nobody");
        let (Ok(with), Ok(without)) = (with, without) else {
            return;
        };
        check_narrower(&with, &without, &root);
        for warning in with.warnings.iter().chain(&without.warnings) {
            assert!(!warning.contains(char::is_control), "{warning:?}");
        }
        let is_toml =
            |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(outrigger::fuzzing::is_toml);
        if !is_toml(workspace) {
            let closed = Scope::Below(root.clone());
            assert!(with.faults.iter().any(|fault| fault.scope == closed));
        }
        if !is_toml(user) {
            let closed = Scope::Everywhere;
            assert!(with.faults.iter().any(|fault| fault.scope == closed));
        }
    });
}

fn check_narrower(with: &Configuration, without: &Configuration, root: &std::path::Path) {
    assert_eq!(with.rest, without.rest);
    assert!(
        with.agents
            .iter()
            .all(|agent| without.agents.contains(agent))
    );
    for list in &without.ignore {
        assert!(with.ignore.contains(list));
    }
    for fault in &without.faults {
        assert!(with.faults.contains(fault));
    }
    // What it adds is about its own folder alone.
    let own = Scope::Below(root.to_owned());
    let added = with.ignore.iter().filter(|it| !without.ignore.contains(it));
    assert!(added.map(|list| &list.scope).all(|scope| *scope == own));
    let added = with.faults.iter().filter(|it| !without.faults.contains(it));
    assert!(added.map(|fault| &fault.scope).all(|scope| *scope == own));
}
