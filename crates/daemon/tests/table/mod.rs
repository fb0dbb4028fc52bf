//! The page with the routes of the daemon, read back.

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../docs/routes.md");

/// The cells of one column.
fn cells(column: usize) -> impl Iterator<Item = &'static str> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(move |row| row.split('|').nth(column))
}

/// What stands in code spans in a cell.
fn spans(cell: &'static str) -> impl Iterator<Item = &'static str> {
    cell.split('`').skip(1).step_by(2)
}

/// The routes, each with its method before it. Each is there once.
#[allow(dead_code, reason = "one of the two test programs asks")]
pub(crate) fn routes() -> BTreeSet<&'static str> {
    let all: Vec<&str> = cells(1).flat_map(spans).collect();
    let routes: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(all.len(), routes.len(), "a route stands twice in the table");
    routes
}

/// Our methods, with their type before them.
#[allow(dead_code, reason = "one of the two test programs asks")]
pub(crate) fn methods() -> BTreeSet<&'static str> {
    // A reason begins with a dash, and may name a method of another row.
    let ours = cells(2).filter(|cell| cell.trim_start().starts_with('`'));
    ours.flat_map(spans).collect()
}
