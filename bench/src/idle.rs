//! What a companion costs while nobody needs it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::process::{Companion, megabytes};
use crate::report::{Report, Row, millis};

const REST: Duration = Duration::from_secs(10);

const METHOD: &str = "idle: resident memory (VmRSS) half a second after the start and 10 s \
    later, with no agent connected; processor time from /proc/PID/stat over the same 10 s, in \
    steps of 10 ms.";

pub(crate) fn measure(program: &Path, report: &mut Report) {
    let companion = Companion::start(program, &[]);
    thread::sleep(Duration::from_millis(500));
    let (fresh, _) = companion.memory();
    let before = companion.cpu();
    thread::sleep(REST);
    let (rested, _) = companion.memory();
    let spent = millis(companion.cpu().saturating_sub(before));
    let row = Row::new("idle_memory", "idle memory, after the start / after 10 s")
        .shown(format!("{} / {}", megabytes(fresh), megabytes(rested)))
        .figure("rss_after_start_kb", fresh)
        .figure("rss_after_10_s_kb", rested);
    report.add(row.guide("≤ 8 MB", rested <= 8 * 1024));
    let row = Row::new("idle_cpu", "processor time in 10 idle seconds")
        .shown(format!("{spent:.0} ms"))
        .figure("cpu_ms", spent);
    report.add(row);
    report.method(METHOD);
}
