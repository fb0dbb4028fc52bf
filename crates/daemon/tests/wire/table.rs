//! The table of the routes names the methods that there are, all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::routes_page::methods;

/// What a client gives for reading bit by bit, by the methods that it has itself.
const READERS: &[&str] = &["EventStream", "WholeFile"];

/// The methods of the stateless clients that ask a route, as they stand in the source.
fn written() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/client");
    let mut found = BTreeSet::new();
    for file in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        let mut owner = "";
        for line in source.lines() {
            if let Some(name) = line.strip_prefix("impl ") {
                owner = name.split(' ').next().unwrap();
            }
            if let Some(rest) = line.strip_prefix("    pub async fn ")
                && !READERS.contains(&owner)
            {
                let name = rest.split('(').next().unwrap();
                found.insert(format!("{owner}::{name}"));
            }
        }
    }
    assert!(found.len() > 40, "{found:?}");
    found
}

#[test]
fn every_method_is_in_the_table_and_every_method_of_the_table_exists() {
    let named: BTreeSet<String> = methods().into_iter().map(str::to_owned).collect();
    assert_eq!(named, written());
}
