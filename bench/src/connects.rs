//! What is left of agents that come and vanish, which is how published ones leave.

use std::path::Path;

use crate::http::Connection;
use crate::process::{Companion, megabytes};
use crate::report::{Report, Row};

const MILESTONES: [u32; 4] = [100, 1_000, 5_000, 10_000];
/// Growth from one milestone to the last that is no growth, in kB.
const SLACK: u64 = 1_024;

const METHOD: &str = "connects: 10,000 times initialize and GET on one connection, the first \
    context read, then dropped without DELETE, one after the other; VmRSS after so many. Flat \
    means no more than 1 MB of growth between 1,000 and 10,000.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    let mut memory = Vec::new();
    for connect in 1..=MILESTONES[3] {
        let agent = Connection::agent(&companion).await;
        agent.listen().await.contexts().await;
        if MILESTONES.contains(&connect) {
            memory.push(companion.memory().0);
        }
    }
    let shown: Vec<_> = memory.iter().map(|rss| megabytes(*rss)).collect();
    let mut row = Row::new(
        "connects",
        "memory after 100 / 1,000 / 5,000 / 10,000 connects",
    )
    .shown(shown.join(" / "));
    for (connects, rss) in MILESTONES.iter().zip(&memory) {
        row = row.figure(&format!("rss_after_{connects}_kb"), *rss);
    }
    let growth = memory[3].saturating_sub(memory[1]);
    report.add(row.guide("flat", growth <= SLACK));
    report.method(METHOD);
}
