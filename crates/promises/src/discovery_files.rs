//! Whatever the folders and the editor are called, a discovery file is one that every published agent
//! can read, and that breaks no other companion's search: JSON without a `null`, the folders in one
//! string that splits into exactly those that were announced. Of files that are found, only those with
//! a token of ours are removed. And no `.env` file of the person's leads a file of ours astray.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use beacon::{Announcement, IdeInfo, Leftovers, Stdio, Surroundings, places};
use serde_json::Value;
use workbench::Agent;

use crate::input::{parts, texts};
use crate::scratch::Scratch;

const TOKEN: &str = "t0ken";

/// Takes a discovery file as it is found, a `.env` file, a name of an editor, and folders.
pub fn check(data: &[u8]) {
    check_leftover(parts(data).next().unwrap());
    let mut texts = texts(data).skip(1);
    let (dotenv, name) = (texts.next().unwrap(), texts.next().unwrap());
    check_places(&dotenv);
    let folders = parts(data).skip(3).take_while(|part| !part.is_empty());
    let roots: Vec<PathBuf> = folders.map(|part| OsStr::from_bytes(part).into()).collect();
    check_announcement(&name, roots);
}

fn check_leftover(content: &[u8]) {
    thread_local!(static SCRATCH: Scratch = Scratch::new());
    SCRATCH.with(|scratch| {
        let path = scratch.write("4711.lock", content);
        let leftovers = Leftovers {
            port: 4711,
            tokens: [TOKEN.into(), String::new()].into(),
            files: [path.clone()].into(),
        };
        let removed = leftovers.clear();
        let found: Value = serde_json::from_slice(content).unwrap_or_default();
        let is_ours = found.get("authToken").is_some_and(|token| token == TOKEN);
        assert_eq!(!removed.is_empty(), is_ours);
        assert_eq!(path.exists(), !is_ours);
    });
}

fn check_places(dotenv: &str) {
    let surroundings = Surroundings {
        qwen_dotenv: Some(dotenv.to_owned()),
        home_dotenv: Some(dotenv.to_owned()),
        ..Surroundings::new(Some("/home/ada".into()), "/w".into())
    };
    for place in places(&surroundings, &Agent::DISCOVERING, 4711, &[42]) {
        let path = place.path();
        assert!(path.is_absolute(), "{path:?}");
        let name = path.file_name().and_then(OsStr::to_str).unwrap();
        assert!(name.contains("4711"), "{path:?}");
    }
}

fn check_announcement(name: &str, roots: Vec<PathBuf>) {
    let announcement = Announcement {
        port: 4711,
        roots,
        ide: IdeInfo {
            name: name.to_owned(),
            display_name: name.to_owned(),
        },
        tokens: BTreeMap::from([(Agent::Qwen, TOKEN.into()), (Agent::Gemini, TOKEN.into())]),
        serves: 42,
        stdio: Some(Stdio {
            command: name.to_owned(),
            args: vec![name.to_owned()],
        }),
    };
    for agent in Agent::DISCOVERING {
        let Ok(json) = announcement.json(agent) else {
            continue;
        };
        let file: Value = serde_json::from_slice(&json).unwrap();
        assert!(!has_null(&file), "{file}");
        let workspace = announcement.workspace().unwrap();
        assert_eq!(file["workspacePath"], workspace.path);
        assert_eq!(file["authToken"], TOKEN);
        assert_eq!(file["ideInfo"]["displayName"], name);
        let left_out = |root: &PathBuf| workspace.left_out.iter().any(|it| it.root == *root);
        let announced: Vec<PathBuf> = workspace.path.split(':').map(PathBuf::from).collect();
        assert!(announced.iter().all(|root| root.is_absolute()));
        for root in &announcement.roots {
            assert_ne!(left_out(root), announced.contains(root), "{root:?}");
        }
        for root in &announced {
            assert!(announcement.roots.contains(root), "{root:?}");
        }
    }
    for (name, value) in beacon::environment(&announcement, &Agent::DISCOVERING) {
        assert!(!name.is_empty() && name.bytes().all(|it| it.is_ascii_uppercase() || it == b'_'));
        if name.ends_with("WORKSPACE_PATH") {
            assert!(!value.is_empty());
        }
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}
