//! How long an agent waits for `openDiff`, for texts of every size.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::http::Connection;
use crate::process::{Companion, megabytes};
use crate::report::{Report, Row, Sample};

/// What the text is called, its size, and how often it is proposed.
const TEXTS: [(&str, usize, usize); 3] = [
    ("2 kB", 2_000, 1_000),
    ("64 kB", 64_000, 400),
    ("9.5 MB", 9_500_000, 30),
];

const SETTLING: Duration = Duration::from_secs(1);

const METHOD: &str = "openDiff: from the first byte of the POST to the last byte of its answer, \
    on a kept-alive connection of a session that also listens; the file exists and differs in \
    one line; closeDiff after each, not timed. 1,000, 400 and 30 times, each size in a process \
    of its own. Peak memory is VmHWM; afterwards is VmRSS one second after the last closeDiff.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    for (name, size, times) in TEXTS {
        let companion = Companion::start(program, &[]);
        let mut agent = Connection::agent(&companion).await;
        let listener = agent.again(&companion).await.listen().await;
        let listening = tokio::spawn(listener.drain());

        let (original, proposed) = texts(size);
        let path = companion.household.write("proposed.rs", &original);
        let open = json!({ "filePath": path, "newContent": proposed });
        let close = json!({ "filePath": path });
        let mut sample = Sample::default();
        for _ in 0..times {
            sample.push(agent.call("openDiff", &open).await);
            agent.call("closeDiff", &close).await;
        }
        listening.abort();

        // What the companion still holds when all is decided and written down.
        tokio::time::sleep(SETTLING).await;
        let (rested, peak) = companion.memory();
        let row = Row::new(format!("open_diff_{size}"), format!("openDiff, {name}"));
        let (p50, p99) = (sample.percentile(50), sample.percentile(99));
        let row = sample.describe(row).shown(format!(
            "p50 {p50:.2} ms, p99 {p99:.2} ms, peak memory {}, afterwards {}",
            megabytes(peak),
            megabytes(rested)
        ));
        let row = row.figure("peak_rss_kb", peak);
        report.add(row.figure("rss_afterwards_kb", rested));
    }
    report.method(METHOD);
}

/// A text of about `size` bytes that looks like source code, and the same with one line changed.
fn texts(size: usize) -> (String, String) {
    let mut original = String::with_capacity(size + 64);
    let mut number = 0_u32;
    while original.len() < size {
        number += 1;
        writeln!(
            original,
            "    let value_{number} = \"text {number}\"; // line"
        )
        .unwrap();
    }
    let proposed = original.replacen("let value_7 ", "let other_7 ", 1);
    (original, proposed)
}
