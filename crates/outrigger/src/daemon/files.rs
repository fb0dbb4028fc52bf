//! `outrigger daemon files` and `outrigger daemon read`: what the agent sees of a folder that may not
//! be here. Nothing is ever written.

use std::process::ExitCode;

use ::daemon::client::{WholeFile, WholeFileError};
use ::daemon::wire::{FileKind, FolderListing, RelativePath};
use serde::Serialize;

use super::{request_failure, served_folder};
use crate::args::{FilesArgs, GlobalArgs, ReadArgs};
use crate::config::DaemonTarget;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::{is_terminal, note, print_exactly, print_json, print_line, speech};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    is_folder: bool,
    ignored: bool,
}

pub(super) async fn list(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &FilesArgs,
) -> CommandResult {
    let folder = path(args.path.as_deref().unwrap_or("."))?;
    let listing = workspace(global, target)
        .await?
        .list(&folder, args.all)
        .await;
    let listing = listing.map_err(|error| request_failure(&error))?;
    let truncated = listing.truncated;
    let entries = entries(listing);
    if args.json {
        print_json(&entries);
    } else {
        for entry in &entries {
            let mark = if entry.is_folder { "/" } else { "" };
            print_line(format_args!("{}{mark}", entry.name));
        }
    }
    if truncated {
        note("there is more in this folder than the daemon lists");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn read(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &ReadArgs,
) -> CommandResult {
    let path = path(&args.file)?;
    let workspace = workspace(global, target).await?;
    let failed = |error| read_failure(&path, &error);
    let file = WholeFile::open(workspace, path.clone()).await;
    let mut file = file.map_err(failed)?;
    let is_terminal = is_terminal();
    let mut held = Vec::new();
    while let Some(part) = file.next_part().await.map_err(failed)? {
        if is_terminal {
            speech(&text_so_far(&mut held, &part));
        } else {
            print_exactly(&part);
        }
    }
    speech(&String::from_utf8_lossy(&held));
    Ok(ExitCode::SUCCESS)
}

/// The text of the bytes so far, for a terminal. A character that was cut at their end stays in
/// `held`.
fn text_so_far(held: &mut Vec<u8>, part: &[u8]) -> String {
    held.extend_from_slice(part);
    let is_cut = |bytes: &&[u8]| str::from_utf8(bytes).is_err_and(|it| it.error_len().is_none());
    let end = held.utf8_chunks().last().map(|chunk| chunk.invalid());
    let end = end.filter(is_cut).map_or(0, <[u8]>::len);
    let cut = held.split_off(held.len() - end);
    let whole = std::mem::replace(held, cut);
    String::from_utf8_lossy(&whole).into_owned()
}

fn read_failure(path: &RelativePath, error: &WholeFileError) -> Failure {
    let failure = Failure::new(FailureKind::Refused, format_args!("{path}: {error}"));
    match error {
        WholeFileError::Daemon(error) => request_failure(error),
        WholeFileError::Changed => failure.hint("what was printed is a part of it; read it again"),
        _ => failure,
    }
}

async fn workspace(
    global: &GlobalArgs,
    target: &DaemonTarget,
) -> Result<::daemon::client::WorkspaceClient, Failure> {
    let client = target.client();
    let capabilities = client.capabilities().await;
    let capabilities = capabilities.map_err(|error| request_failure(&error))?;
    let folder = served_folder(global, &capabilities)?;
    Ok(client.workspace(folder))
}

fn path(typed: &str) -> Result<RelativePath, Failure> {
    let trimmed = typed.trim_end_matches('/').trim_start_matches("./");
    let trimmed = if trimmed.is_empty() { "." } else { trimmed };
    RelativePath::new(trimmed).map_err(|error| {
        Failure::new(FailureKind::Refused, format!("{typed}: {error}"))
            .hint("give a path as it is seen from the folder of the daemon, such as `src/main.rs`")
    })
}

fn entries(listing: FolderListing) -> Vec<Entry> {
    let entry = |entry: ::daemon::wire::FolderEntry| Entry {
        is_folder: entry.kind == FileKind::Directory,
        ignored: entry.ignored == Some(true),
        name: entry.name,
    };
    listing.entries.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::text_so_far;

    #[test]
    fn a_character_that_is_cut_is_shown_with_its_other_half() {
        let text = "aé€😀b".as_bytes();
        for at in 0..=text.len() {
            let mut held = Vec::new();
            let shown = text_so_far(&mut held, &text[..at]) + &text_so_far(&mut held, &text[at..]);
            assert_eq!((shown.as_str(), held.len()), ("aé€😀b", 0), "{at}");
        }
        // What is no text is not waited for.
        let mut held = Vec::new();
        assert_eq!(text_so_far(&mut held, b"a\xffb\xff"), "a\u{fffd}b\u{fffd}");
        assert_eq!(text_so_far(&mut held, b"\xe2"), "");
        assert_eq!(text_so_far(&mut held, b"c"), "\u{fffd}c");
    }
}
