//! The routes that only read: files and folders, and what the daemon says about itself. And a daemon that
//! answers about other files than those that were asked for.

use outrigger_daemon::client::{WholeFile, WholeFileError};
use outrigger_daemon::wire::{
    ByteRange, FileKind, GlobRequest, Hidden, RelativePath, TextRange, WorkspaceEnvironment,
};
use outrigger_daemon::{DaemonError, ErrorReason};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, http};
use crate::routes::captured;
use crate::watching::Opens;

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).unwrap()
}

fn answer(value: &Value) -> Vec<u8> {
    http(200, "", &value.to_string())
}

#[tokio::test]
async fn files_and_folders() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();

    daemon.answer_next("GET /file", captured("file-part.http.txt"));
    let range = TextRange {
        line: Some(2),
        limit: Some(1),
        max_bytes: Some(100),
        cursor: None,
    };
    let text = files.read_text(&path("a.txt"), &range).await.unwrap();
    assert_eq!((text.content.as_str(), text.truncated), ("TWO", true));
    assert_eq!(text.original_line_count, Some(4));
    let asked = daemon.requests("GET /file");
    assert_eq!(asked[0].query, "path=a%2Etxt&line=2&limit=1&maxBytes=100");

    daemon.answer_next("GET /file", captured("file-odd-name.http.txt"));
    let odd = path("sub/deep/ü c.txt");
    let text = files.read_text(&odd, &TextRange::default()).await.unwrap();
    assert_eq!((text.content.as_str(), text.bom), ("cee\r\n", Some(true)));

    daemon.answer_next("GET /file/bytes", captured("file-bytes.http.txt"));
    let all = ByteRange::default();
    let bytes = files.read_bytes(&path("bin.dat"), all).await.unwrap();
    assert_eq!(bytes.content, [0, 255, 1, 2]);

    daemon.answer_next("GET /stat", captured("file-stat-folder.http.txt"));
    let stat = files.stat(&path("sub")).await.unwrap();
    assert_eq!(stat.kind, FileKind::Directory);

    daemon.answer_next("GET /list", captured("file-list-folder.http.txt"));
    let listing = files.list(&path("sub"), true).await.unwrap();
    let names: Vec<&str> = listing.entries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["b.txt", "deep"]);
    let asked = daemon.requests("GET /list");
    assert_eq!(asked[0].query, "path=sub&includeIgnored=1");

    daemon.answer_next("GET /glob", captured("file-glob-folder.http.txt"));
    let request = GlobRequest {
        pattern: "*.txt".into(),
        folder: Some(path("sub")),
        max_results: Some(5),
        ..GlobRequest::default()
    };
    let found = files.glob(&request).await.unwrap();
    assert_eq!(found.matches, [path("sub/b.txt")]);
    let asked = daemon.requests("GET /glob");
    assert_eq!(asked[0].query, "pattern=%2A%2Etxt&cwd=sub&maxResults=5");
}

/// A folder that is not the primary one has routes of its own, and never those of the primary one.
#[tokio::test]
async fn another_folder_of_the_daemon() {
    let daemon = FakeDaemon::start().await;
    let route = "GET /workspaces/%2Fhome%2Fdev%2Fws/list";
    daemon.answer_next(route, captured("file-list-of-workspace.http.txt"));
    let folder = daemon.client().workspace("/home/dev/ws");
    let listing = folder.list(&RelativePath::root(), false).await.unwrap();
    assert!(
        listing
            .entries
            .iter()
            .any(|it| it.kind == FileKind::Symlink)
    );
    let route = "GET /workspaces/%2Fhome%2Fdev%2Fws/env";
    daemon.answer_next(route, captured("workspace-env.http.txt"));
    assert!(!folder.environment().await.unwrap().cells.is_empty());
}

#[tokio::test]
async fn what_the_daemon_refuses_to_read() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();
    for (name, reason) in [
        ("file-missing.http.txt", ErrorReason::NotFound),
        ("file-outside.http.txt", ErrorReason::OutsideFolder),
        ("file-link-outside.http.txt", ErrorReason::OutsideFolder),
        ("file-not-text.http.txt", ErrorReason::NotText),
    ] {
        daemon.answer_next("GET /file", captured(name));
        let refused = files.read_text(&path("a"), &TextRange::default()).await;
        assert_eq!(refused.unwrap_err().reason(), Some(reason), "{name}");
    }
}

#[tokio::test]
async fn an_answer_about_another_path_is_refused() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();
    let foreign = |result: Result<(), DaemonError>, told: &str| match result {
        Err(DaemonError::ForeignPath {
            answered, asked, ..
        }) => assert_eq!((answered.as_str(), asked.is_empty()), (told, false)),
        other => panic!("{told}: {other:?}"),
    };
    // What a link points to is another path.
    daemon.answer_next("GET /file", captured("file-link.http.txt"));
    let (link, whole, a, sub) = (
        path("link.txt"),
        TextRange::default(),
        path("a.txt"),
        path("sub"),
    );
    foreign(files.read_text(&link, &whole).await.map(drop), "a.txt");

    for told in [
        "/etc/passwd",
        "../a.txt",
        "b.txt",
        "a.txt/../b.txt",
        "a.txt ",
        "",
    ] {
        let text = json!({"path": told, "content": "root:x:0:0"});
        daemon.answer_next("GET /file", answer(&text));
        foreign(files.read_text(&a, &whole).await.map(drop), told);

        daemon.answer_next(
            "GET /file/bytes",
            answer(&json!({"path": told, "contentBase64": ""})),
        );
        let bytes = files.read_bytes(&a, ByteRange::default()).await;
        foreign(bytes.map(drop), told);

        daemon.answer_next("GET /stat", answer(&json!({"path": told, "type": "file"})));
        foreign(files.stat(&a).await.map(drop), told);

        daemon.answer_next("GET /list", answer(&json!({"path": told, "entries": []})));
        foreign(files.list(&sub, false).await.map(drop), told);
    }

    // Whoever goes through all folders would never come to an end in one that contains itself.
    for folder in [sub, RelativePath::root()] {
        for name in ["../x", "..", ".", "", "a/b", "/etc/passwd", "x\0"] {
            let entries = json!([{"name": "good", "kind": "file"}, {"name": name, "kind": "file"}]);
            let listing = json!({"path": folder, "entries": entries});
            daemon.answer_next("GET /list", answer(&listing));
            foreign(files.list(&folder, false).await.map(drop), name);
        }
    }

    let request = GlobRequest {
        pattern: "*".into(),
        folder: Some(path("sub")),
        ..GlobRequest::default()
    };
    for found in ["/etc/passwd", "../x", "other/x", "subx", "sub/../x", "sub"] {
        let matches = json!({"pattern": "*", "matches": ["sub/good", found]});
        daemon.answer_next("GET /glob", answer(&matches));
        foreign(files.glob(&request).await.map(drop), found);
    }
    let everywhere = GlobRequest {
        folder: None,
        ..request
    };
    for found in [".", "..", "/etc/passwd"] {
        let matches = json!({"pattern": "*", "matches": ["good", found]});
        daemon.answer_next("GET /glob", answer(&matches));
        foreign(files.glob(&everywhere).await.map(drop), found);
    }
}

/// The daemon gives 256 KiB of a file at a time.
#[tokio::test]
async fn a_file_is_put_together_from_its_parts() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();
    let large: Vec<u8> = (0..600_000_u32).flat_map(u32::to_le_bytes).collect();
    daemon.world().files.write("large", large.as_slice());
    let open = async || WholeFile::open(files.clone(), path("large")).await.unwrap();
    assert!(open().await.read(large.len() as u64).await.unwrap() == large);
    let refused = open().await.read(large.len() as u64 - 1).await;
    assert!(
        matches!(refused, Err(WholeFileError::TooLarge(_))),
        "{refused:?}"
    );
    // It is another file after the first part.
    let mut file = open().await;
    assert_eq!(file.next_part().await.unwrap().unwrap().len(), 256 * 1024);
    daemon.world().files.write("large", &large[..300_000]);
    let rest = async {
        while file.next_part().await?.is_some() {}
        Ok::<(), WholeFileError>(())
    };
    assert!(matches!(rest.await, Err(WholeFileError::Changed)));
    daemon.answer_next("GET /stat", captured("file-stat-folder.http.txt"));
    let refused = WholeFile::open(files, path("sub")).await;
    assert!(matches!(refused, Err(WholeFileError::NotAFile)));
}

/// Whoever limits what is read counts on it.
#[tokio::test]
async fn more_text_than_was_asked_for_is_refused() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();
    let range = TextRange {
        max_bytes: Some(4),
        ..TextRange::default()
    };
    for (content, is_taken) in [("four", true), ("seven", false)] {
        let text = json!({"path": "a", "content": content});
        daemon.answer_next("GET /file", answer(&text));
        let read = files.read_text(&path("a"), &range).await;
        assert_eq!(read.is_ok(), is_taken, "{content}");
    }
}

#[tokio::test]
async fn bytes_that_were_not_asked_for_are_refused() {
    let daemon = FakeDaemon::start().await;
    let files = daemon.client().primary_workspace();
    let range = ByteRange {
        offset: 4,
        max_bytes: Some(3),
    };
    for (offset, content) in [(0, "VFdP"), (4, "VFdPVFdP"), (4, "not base64!")] {
        let bytes = json!({"path": "a", "offset": offset, "contentBase64": content});
        daemon.answer_next("GET /file/bytes", answer(&bytes));
        let refused = files.read_bytes(&path("a"), range).await;
        assert!(
            matches!(refused, Err(DaemonError::InvalidResponse { .. })),
            "{content}: {refused:?}"
        );
    }
    let bytes = json!({"path": "a", "offset": 4, "contentBase64": "VFdP"});
    daemon.answer_next("GET /file/bytes", answer(&bytes));
    assert_eq!(
        files.read_bytes(&path("a"), range).await.unwrap().content,
        b"TWO"
    );
}

#[tokio::test]
async fn diagnostics() {
    let daemon = FakeDaemon::start().await;
    let folder = daemon.client().primary_workspace();
    daemon.answer_next("GET /workspace/env", captured("workspace-env.http.txt"));
    let environment = folder.environment().await.unwrap();
    let key = environment
        .cells
        .iter()
        .find(|it| it.name.as_deref() == Some("OPENAI_API_KEY"));
    assert_eq!(key.unwrap().present, Some(true));
    daemon.answer_next(
        "GET /workspace/preflight",
        captured("workspace-preflight.http.txt"),
    );
    let preflight = folder.preflight().await.unwrap();
    assert!(
        preflight
            .cells
            .iter()
            .any(|it| it.kind == "auth" && it.error.is_none())
    );
    daemon.answer_next("GET /workspace/mcp", captured("workspace-mcp.http.txt"));
    let servers = folder.mcp_servers().await.unwrap().servers;
    assert_eq!((servers.len(), servers[0].name.as_str()), (2, "probe"));
    daemon.answer_next(
        "GET /workspace/mcp/a%2Fb/tools",
        captured("workspace-mcp-tools.http.txt"),
    );
    assert_eq!(
        folder.mcp_tools("a/b").await.unwrap().tools[0].name,
        "mcp__probe__hello"
    );
    daemon.answer_next(
        "GET /workspace/mcp/probe/resources",
        captured("workspace-mcp-resources.http.txt"),
    );
    assert_eq!(
        folder.mcp_resources("probe").await.unwrap().resources[0].uri,
        "note://one"
    );
    daemon.answer_next(
        "GET /workspace/mcp/nobody/tools",
        captured("workspace-mcp-unknown.http.txt"),
    );
    let unknown = folder.mcp_tools("nobody").await.unwrap();
    assert!(unknown.tools.is_empty() && unknown.errors[0].error.is_some());
    daemon.answer_next(
        "GET /workspace/skills",
        captured("workspace-skills.http.txt"),
    );
    assert_eq!(folder.skills().await.unwrap().skills.len(), 2);
    daemon.answer_next(
        "GET /workspace/providers",
        captured("workspace-providers.http.txt"),
    );
    let providers = folder.providers().await.unwrap();
    assert!(providers.current.unwrap().base_url.is_some());
    daemon.answer_next("GET /workspace/tools", captured("workspace-tools.http.txt"));
    assert_eq!(folder.tools().await.unwrap().tools[0].enabled, Some(true));
}

/// Addresses, arguments and whatever a newer daemon adds are there for a program, and not for its log.
#[tokio::test]
async fn secrets_are_not_in_debug_output() {
    let daemon = FakeDaemon::start().await;
    let folder = daemon.client().primary_workspace();
    let mut shown = Vec::new();
    let secret = "sk-secret";
    let cells = json!([{"kind": "proxy", "name": "HTTP_PROXY", "value": secret, "new": secret}]);
    daemon.answer_next(
        "GET /workspace/env",
        answer(&json!({"cells": cells, "new": secret})),
    );
    let environment: WorkspaceEnvironment = folder.environment().await.unwrap();
    assert_eq!(environment.cells[0].value, Some(Hidden(secret.into())));
    shown.push(format!("{environment:?}"));
    let cells = json!([{"kind": "auth", "detail": {"key": secret}}]);
    daemon.answer_next("GET /workspace/preflight", answer(&json!({"cells": cells})));
    shown.push(format!("{:?}", folder.preflight().await.unwrap()));
    let servers = json!([{"name": "n", "config": {"args": [secret]}, "env": {"K": secret}}]);
    daemon.answer_next("GET /workspace/mcp", answer(&json!({"servers": servers})));
    shown.push(format!("{:?}", folder.mcp_servers().await.unwrap()));
    let models = json!([{"modelId": "m", "baseUrl": secret, "apiKey": secret}]);
    let providers = json!({
        "current": {"modelId": "m", "baseUrl": secret},
        "providers": [{"authType": "openai", "models": models}],
    });
    daemon.answer_next("GET /workspace/providers", answer(&providers));
    shown.push(format!("{:?}", folder.providers().await.unwrap()));
    let refusal = json!({"error": "no", "requested": secret});
    daemon.refuse_next("GET /workspace/tools", 400, "", &refusal);
    let refused = folder.tools().await.unwrap_err();
    assert_eq!(refused.response().unwrap().field("requested"), Some(secret));
    shown.push(format!("{refused:?}"));
    for shown in shown {
        assert!(
            !shown.contains(secret) && shown.contains("Hidden"),
            "{shown}"
        );
    }
}
