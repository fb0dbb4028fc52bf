//! What the published daemon says about itself, with a key in every place that a person may have written one.

use outrigger_daemon::wire::RelativePath;
use serde_json::json;
use testkit::TOKEN;

use crate::house::House;
use crate::ide::connected;

/// A small MCP server, with one tool and one resource.
const SERVER: &str = r"
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answers = {
    'initialize': () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'notes', version: '1' },
    }),
    'tools/list': () => ({
      tools: [{ name: 'hello', description: 'says hello', inputSchema: { type: 'object' } }],
    }),
    'resources/list': () => ({ resources: [{ uri: 'note://one', name: 'one' }] }),
  };
  if (id === undefined) return;
  const result = (answers[method] ?? (() => ({})))();
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\n');
});
";

/// What a person keeps to themselves.
const KEY: &str = "sk-of-the-person";

#[tokio::test]
async fn the_daemon_tells_what_the_agent_has_and_our_log_keeps_no_key() {
    let house = House::with_mcp_servers(|household| {
        household.write("server.js", SERVER);
        let server = household.path("server.js");
        json!({
            "notes": {"command": "node", "args": [server, KEY], "env": {"NOTES_KEY": KEY}},
            "gone": {"httpUrl": format!("http://jo:{KEY}@127.0.0.1:9/mcp"), "headers": {"X": KEY}},
        })
    });
    let Some(house) = house else { return };
    let skill = "---\nname: greet\ndescription: how to greet\n---\nSay hello.\n";
    std::fs::create_dir_all(house.path(".qwen/skills/greet")).unwrap();
    house.write(".qwen/skills/greet/SKILL.md", skill);
    let (connection, _events) = connected(&house).await;
    let folder = connection.workspace().unwrap();
    let mut shown = Vec::new();

    let environment = folder.environment().await.unwrap();
    let variable = |name: &str| {
        let mut cells = environment.cells.iter();
        cells.find(|it| it.name.as_deref() == Some(name)).unwrap()
    };
    assert_eq!(variable("QWEN_SERVER_TOKEN").present, Some(true));
    assert_eq!(variable("GEMINI_API_KEY").present, Some(false));
    shown.push(format!("{environment:?}"));

    let preflight = folder.preflight().await.unwrap();
    let check = |kind: &str| preflight.cells.iter().find(|it| it.kind == kind).unwrap();
    assert_eq!(check("auth").status.as_deref(), Some("ok"));
    assert_eq!(check("workspace_dir").locality.as_deref(), Some("daemon"));
    shown.push(format!("{preflight:?}"));

    let servers = folder.mcp_servers().await.unwrap();
    let server = |name: &str| servers.servers.iter().find(|it| it.name == name).unwrap();
    assert_eq!(server("notes").mcp_status.as_deref(), Some("connected"));
    assert_eq!(server("gone").mcp_status.as_deref(), Some("disconnected"));
    // The daemon takes environment and headers out, but neither arguments nor addresses.
    assert!(server("gone").config.as_ref().unwrap()["httpUrl"].is_string());
    shown.push(format!("{servers:?}"));
    let tools = folder.mcp_tools("notes").await.unwrap();
    assert_eq!(tools.tools[0].name, "mcp__notes__hello");
    let resources = folder.mcp_resources("notes").await.unwrap();
    assert_eq!(resources.resources[0].uri, "note://one");
    let unknown = folder.mcp_tools("nobody").await.unwrap();
    assert!(unknown.tools.is_empty() && !unknown.errors.is_empty());

    let skills = folder.skills().await.unwrap();
    assert!(skills.skills.iter().all(|it| it.description.is_some()));
    assert!(skills.skills.len() > 3);
    let providers = folder.providers().await.unwrap();
    let current = providers.current.as_ref().unwrap();
    assert_eq!(current.model_id.as_deref(), Some("fake-model(openai)"));
    let model_address = format!("127.0.0.1:{}", house.model.port());
    assert!(current.base_url.as_ref().unwrap().contains(&model_address));
    shown.push(format!("{providers:?}"));
    let tools = folder.tools().await.unwrap();
    assert!(tools.tools.iter().any(|it| it.name == "read_file"));

    for secret in [KEY, TOKEN, "fake-key", &model_address] {
        for shown in &shown {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }
    // The folder's own routes say the same.
    let named = house
        .client()
        .workspace(house.workspace().to_str().unwrap());
    assert_eq!(named.tools().await.unwrap().tools.len(), tools.tools.len());
    assert!(named.environment().await.is_ok() && named.preflight().await.is_ok());
    assert!(named.stat(&RelativePath::root()).await.is_ok());
}
