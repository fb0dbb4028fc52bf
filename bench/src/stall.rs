//! What an agent that has stopped reading costs.

use std::path::Path;
use std::time::Duration;

use crate::http::{Connection, focus};
use crate::process::{Companion, megabytes};
use crate::report::{Report, Row};

const UPDATES: u32 = 2_000;
/// As much as agents are ever told, so that the system's own buffers are soon full.
const SELECTION: usize = 16_384;

const METHOD: &str = "stall: OUTRIGGER_DEBOUNCE_MS=0; one session opens a stream and does not \
    read it, another one reads; 2,000 contexts with a selection of 16,384 characters, each \
    awaited by the reader, which is far more than the system buffers. Growth of VmRSS; the \
    stalled agent's next request must be answered.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    let companion = Companion::start(program, &[("OUTRIGGER_DEBOUNCE_MS", "0")]);
    let path = companion.household.write("moved.rs", "fn main() {}\n");
    let selection = "x".repeat(SELECTION);
    let mut stalled = Connection::agent(&companion).await;
    let _unread = stalled.again(&companion).await.listen().await;
    let mut reader = Connection::agent(&companion).await.listen().await;
    let mut person = Connection::person(&companion).await;

    // The first update makes the buffers that every later one uses again.
    let mut before = 0;
    for line in 1..=UPDATES {
        let body = focus(&path, line, Some(&selection));
        tokio::join!(person.post("/api/focus", &body), reader.cursor_on(line));
        if line == 1 {
            before = companion.memory().0;
        }
    }
    let after = companion.memory().0;
    let ping = br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let answer = tokio::time::timeout(Duration::from_secs(5), stalled.post("/mcp", ping)).await;
    let answered = answer.is_ok_and(|answer| answer.status == 200);

    let growth = after.saturating_sub(before);
    let row = Row::new("stall", "one stream stalls, 2,000 updates")
        .shown(format!(
            "+{} of memory, the stalled agent's next request is {}",
            megabytes(growth),
            if answered { "answered" } else { "not answered" }
        ))
        .figure("growth_kb", growth)
        .figure("next_request_answered", answered);
    report.add(row);
    report.method(METHOD);
}
