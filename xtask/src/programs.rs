//! The test programs: built once by cargo, then run side by side.
//!
//! `cargo test` runs one after the other, and the longest of them wait for agents half of the time.
//! What a program says is shown in one piece when it ends, as cargo shows it; until then a line now
//! and then tells how far each is, and a test that fails is told at once.

mod progress;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::chore::{Chore, tell};
use crate::{clients, side_by_side};
use progress::Progress;

/// The program that takes longest. It has a lane of its own, and more tests at a time than there are
/// processors, because each of them keeps half of one busy and waits for the rest of the time.
const LONGEST: &str = "outrigger tests/real";

/// The tests of a program that measure their own process and must have it for themselves.
const ALONE: (&str, &str) = ("daemon tests/real", "soak::");

/// What cargo has built.
#[derive(Debug, Default)]
pub(crate) struct Programs(Vec<Program>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    /// The package's folder and where the source is in it, for example `daemon tests/wire`.
    name: String,
    executable: PathBuf,
    /// The folder of the package, which its tests run in.
    folder: PathBuf,
    arguments: Vec<String>,
}

impl Programs {
    /// Builds all test programs of the workspace, and the examples that some of them run.
    pub(crate) fn build() -> Result<Programs> {
        let messages = Chore::cargo(["test", "--workspace", "--no-run"])
            .arg("--message-format=json-render-diagnostics")
            .output()?;
        let messages = String::from_utf8(messages)?;
        let mut programs = Vec::new();
        for line in messages.lines() {
            programs.extend(program(line)?);
        }
        Ok(Programs(programs))
    }

    /// Runs all of them, and fails if any test does.
    pub(crate) fn run(self) -> Result<()> {
        let (longest, others) = lanes(self.0)?;
        let progress = Progress::default();
        progress.told_while(|| {
            side_by_side::run(vec![
                Box::new(|| run_in_turn(&longest, &progress)),
                Box::new(|| run_in_turn(&others, &progress)),
            ])
        })
    }
}

/// A test program, if this line of cargo tells of one.
fn program(line: &str) -> Result<Option<Program>> {
    #[derive(Deserialize)]
    struct Message {
        reason: String,
        executable: Option<PathBuf>,
        manifest_path: Option<PathBuf>,
        target: Option<Target>,
        profile: Option<Profile>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
        kind: Vec<String>,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    let message: Message = serde_json::from_str(line).context("cargo said something else")?;
    let (Some(executable), Some(manifest), Some(target), Some(Profile { test: true })) = (
        message.executable,
        message.manifest_path,
        message.target,
        message.profile,
    ) else {
        return Ok(None);
    };
    if message.reason != "compiler-artifact" {
        return Ok(None);
    }
    let folder = manifest.parent().context("a manifest is in a folder")?;
    let package = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = if target.kind.iter().any(|kind| kind == "test") {
        format!("{package} tests/{}", target.name)
    } else {
        format!("{package} src")
    };
    Ok(Some(Program {
        name,
        executable,
        folder: folder.into(),
        arguments: Vec::new(),
    }))
}

/// What runs beside each other, each in its order: the longest program, and all others.
fn lanes(programs: Vec<Program>) -> Result<(Vec<Program>, Vec<Program>)> {
    for name in [LONGEST, ALONE.0] {
        let is_there = programs.iter().any(|program| program.name == name);
        ensure!(is_there, "there is no test program {name}");
    }
    let (mut longest, mut others): (Vec<_>, Vec<_>) = programs
        .into_iter()
        .partition(|program| program.name == LONGEST);
    let processors = available_parallelism().map_or(1, usize::from);
    for program in &mut longest {
        let at_a_time = processors + processors.div_ceil(2);
        program
            .arguments
            .push(format!("--test-threads={at_a_time}"));
    }
    let mut alone = Vec::new();
    for program in &mut others {
        if program.name == ALONE.0 {
            let mut itself = program.clone();
            itself.name = format!("{} {}", ALONE.0, ALONE.1);
            itself.arguments.push(ALONE.1.into());
            alone.push(itself);
            // Each of its tests starts a daemon and its agent, and the longest program keeps the
            // processors busy meanwhile: a second one at a time would only make both late.
            let arguments = ["--test-threads=1", "--skip", ALONE.1];
            program.arguments.extend(arguments.map(String::from));
        }
    }
    // What is quick to fail goes first.
    others.sort_by_key(|program| program.name == ALONE.0);
    others.extend(alone);
    Ok((longest, others))
}

/// Runs programs one after the other, all of them even if one fails.
fn run_in_turn(programs: &[Program], progress: &Progress) -> Result<()> {
    let mut failed = Vec::new();
    for program in programs {
        if !run(program, progress).with_context(|| program.name.clone())? {
            failed.push(program.name.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(", "));
    }
    Ok(())
}

/// Runs a program, shows what it says, and tells whether its tests pass.
fn run(program: &Program, progress: &Progress) -> Result<bool> {
    let began = Instant::now();
    let (reader, writer) = std::io::pipe()?;
    let mut command = Chore::new(&program.executable)
        .args(&program.arguments)
        .inside(&program.folder)
        // With `CI` set a test that cannot run fails instead of being skipped.
        .set("CI", "true")
        .set("OUTRIGGER_CLIENTS", clients::folder())
        .set("CARGO_MANIFEST_DIR", &program.folder)
        .into_command();
    command.stdin(Stdio::null());
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command has the writing end, and as long as anybody has it nobody sees the end.
    drop(command);
    let mut said = format!("     Running {} ({})\n", program.name, shown(program));
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        progress.hear(&program.name, &line);
        said += &line;
        said.push('\n');
    }
    let passed = child.wait()?.success();
    progress.end(&program.name);
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(said.as_bytes())?;
    stdout.flush()?;
    drop(stdout);
    let seconds = began.elapsed().as_secs();
    tell(&format!("done after {seconds} s: {}", program.name));
    Ok(passed)
}

/// The program's path as cargo shows it.
fn shown(program: &Program) -> String {
    let root = crate::chore::root();
    let path: &Path = &program.executable;
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Program {
        Program {
            name: name.into(),
            executable: "/t/x".into(),
            folder: "/w/x".into(),
            arguments: Vec::new(),
        }
    }

    #[test]
    fn only_test_programs_are_taken() {
        let artifact = |test: bool, kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/daemon/Cargo.toml","target":{{"name":"wire","kind":["{kind}"]}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let name = |line: &str| program(line).unwrap().map(|program| program.name);
        let wire = artifact(true, "test", r#""/t/wire-1""#);
        assert_eq!(name(&wire).as_deref(), Some("daemon tests/wire"));
        let units = artifact(true, "lib", r#""/t/daemon-1""#);
        assert_eq!(name(&units).as_deref(), Some("daemon src"));
        assert_eq!(name(&artifact(false, "bin", r#""/t/daemon""#)), None);
        assert_eq!(name(&artifact(true, "lib", "null")), None);
        assert_eq!(name(r#"{"reason":"build-finished","success":true}"#), None);
        assert!(program("warning: nonsense").is_err());
    }

    #[test]
    fn what_must_be_alone_is_and_nothing_is_left_out() {
        let programs = [ALONE.0, "daemon src", LONGEST, "web src"].map(named);
        let (longest, others) = lanes(programs.into()).unwrap();
        assert_eq!(longest.len(), 1);
        assert!(longest[0].arguments[0].starts_with("--test-threads="));
        let others: Vec<_> = others
            .iter()
            .map(|it| (it.name.as_str(), it.arguments.join(" ")))
            .collect();
        let expected = [
            ("daemon src", ""),
            ("web src", ""),
            ("daemon tests/real", "--test-threads=1 --skip soak::"),
            ("daemon tests/real soak::", "soak::"),
        ];
        assert_eq!(others, expected.map(|(name, line)| (name, line.to_owned())));
        assert!(lanes(vec![named("web src")]).is_err());
    }
}
