//! `outrigger daemon files` and `outrigger daemon read`: what the agent sees of a folder that may not
//! be here. Nothing is ever written.

use std::process::ExitCode;

use ::daemon::wire::{FileKind, FolderListing, RelativePath, TextRange};
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
    let mut range = TextRange::default();
    loop {
        let part = workspace.read_text(&path, &range).await;
        let part = part.map_err(|error| request_failure(&error))?;
        if is_terminal() {
            speech(&part.content);
        } else {
            print_exactly(&part.content);
        }
        match part.next_cursor {
            // The daemon sends large files in parts. One that does not move on is not asked again.
            Some(cursor)
                if part.has_more == Some(true) && Some(&cursor) != range.cursor.as_ref() =>
            {
                range.cursor = Some(cursor);
            }
            _ if part.truncated => {
                note(format_args!(
                    "{path} is larger than what the daemon sends of a file"
                ));
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Ok(ExitCode::SUCCESS),
        }
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
