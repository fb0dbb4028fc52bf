//! From nothing to found: how long after its start agents can find and reach a companion.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use crate::process::{Household, Running, wait_for};
use crate::report::{Report, Row, Sample};

const STARTS: usize = 50;

const METHOD: &str = "start: 50 starts, each in a fresh home. From just before the process is \
    created until the files that current versions of both agents look for are there (looked for \
    every 0.1 ms), and until a connection to the port is accepted. With 50 samples p99 is the \
    slowest.";

pub(crate) fn measure(program: &Path, report: &mut Report) {
    let (mut written, mut reachable) = (Sample::default(), Sample::default());
    for _ in 0..STARTS {
        let household = Household::new();
        let command = household.command(program);
        let asked = Instant::now();
        let running = Running::spawn(command);
        let port = wait_for("a discovery file", || announced(&household));
        written.push(asked.elapsed());
        TcpStream::connect(("127.0.0.1", port)).unwrap();
        reachable.push(asked.elapsed());
        drop(running);
    }
    let row = Row::new("start_to_file", "start → discovery files written");
    let met = written.percentile(50) <= 10.0;
    report.add(written.describe(row).guide("≤ 10 ms (p50)", met));
    let row = Row::new("start_to_port", "start → files written and port accepting");
    report.add(reachable.describe(row));
    report.method(METHOD);
}

/// The port, once both agents can find it.
fn announced(household: &Household) -> Option<u16> {
    let locks = names(&household.home().join(".qwen/ide"));
    let port: u16 = locks
        .iter()
        .find_map(|name| name.strip_suffix(".lock")?.parse().ok())?;
    let files = names(&household.tmp().join("gemini/ide"));
    let suffix = format!("-{port}.json");
    files
        .iter()
        .any(|name| name.starts_with("gemini-ide-server-") && name.ends_with(&suffix))
        .then_some(port)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
