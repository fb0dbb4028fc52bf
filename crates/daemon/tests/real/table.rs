//! The table of the routes, held against the code of the published daemon.

use std::collections::BTreeSet;
use std::fs;

use testkit::{Agent, Clients};

use crate::routes_page::routes;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Routes that the daemon's code names by a variable alone.
const NAMED: [&str; 7] = [
    "GET /acp",
    "POST /acp",
    "DELETE /acp",
    "GET /workspaces/:workspace/acp",
    "POST /workspaces/:workspace/acp",
    "DELETE /workspaces/:workspace/acp",
    "GET /workspace/extensions",
];

/// The daemon's routes as its code has them: `app.get("/path"`, or with a template for a path.
fn published(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for call in code.split("app.").skip(1) {
        let Some((method, rest)) = call.split_once('(') else {
            continue;
        };
        if !METHODS.contains(&method) {
            continue;
        }
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|it| "\"`".contains(*it)) else {
            continue;
        };
        if let Some((path, _)) = rest[1..].split_once(quote)
            && path.starts_with(['/', '$'])
        {
            found.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    found
}

/// Whether a route is one of those that a template stands for.
fn fits(template: &str, route: &str) -> bool {
    let mut rest = route;
    for (index, piece) in template.split("${").enumerate() {
        // Behind the name of the variable.
        let fixed = if index == 0 {
            piece
        } else {
            piece.split_once('}').map_or("", |(_, fixed)| fixed)
        };
        let found = if index == 0 {
            rest.starts_with(fixed).then_some(0)
        } else if fixed.is_empty() {
            // A variable at the end is one word.
            (!rest.is_empty() && !rest.contains('/')).then_some(rest.len())
        } else {
            rest.rfind(fixed).filter(|at| *at > 0)
        };
        let Some(at) = found else { return false };
        rest = &rest[at + fixed.len()..];
    }
    rest.is_empty()
}

#[test]
fn the_table_has_every_route_of_the_published_daemon_and_no_other() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let chunks = clients.package("current", Agent::Qwen).join("chunks");
    let codes = fs::read_dir(chunks).unwrap().map(|it| it.unwrap().path());
    let scripts = codes.filter(|it| it.extension().is_some_and(|it| it == "js"));
    let mut servers = scripts
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .filter(|code| code.contains("app.get(\"/capabilities\""));
    let server = servers.next().expect("the code of the daemon");
    let published = published(&server);
    let (templates, plain): (Vec<&String>, Vec<&String>) =
        published.iter().partition(|it| it.contains("${"));
    assert!(plain.len() > 250 && templates.len() > 30, "{published:?}");
    let table = routes();
    let missing: Vec<&&String> = plain
        .iter()
        .filter(|route| !table.contains(route.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
    let unnamed: Vec<&&String> = templates
        .iter()
        .filter(|template| !table.iter().any(|route| fits(template, route)))
        .collect();
    assert!(
        unnamed.is_empty(),
        "no route in the table for: {unnamed:#?}"
    );
    let invented: Vec<&&str> = table
        .iter()
        .filter(|route| !published.contains(**route) && !NAMED.contains(route))
        .filter(|route| !templates.iter().any(|template| fits(template, route)))
        .collect();
    assert!(
        invented.is_empty(),
        "the daemon has no such route: {invented:#?}"
    );
}

#[test]
fn a_template_stands_for_what_it_says() {
    for (template, route, expected) in [
        (
            "POST ${base}/runtime/ensure",
            "POST /workspace/runtime/ensure",
            true,
        ),
        (
            "POST ${base}/runtime/ensure",
            "GET /workspace/runtime/ensure",
            false,
        ),
        (
            "POST ${base}/runtime/ensure",
            "POST /workspace/runtime/ensured",
            false,
        ),
        ("POST /s/:id/${action}", "POST /s/:id/load", true),
        ("POST /s/:id/${action}", "POST /s/:id/load/x", false),
        (
            "POST ${b}/mcp/:server/${a}",
            "POST /workspace/mcp/:server/enable",
            true,
        ),
        (
            "POST ${b}/mcp/:server/${a}",
            "POST /workspace/mcp/:other/enable",
            false,
        ),
    ] {
        assert_eq!(fits(template, route), expected, "{template} {route}");
    }
}
