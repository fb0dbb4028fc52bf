//! `outrigger daemon runtime`: what an agent has where its daemon runs, and what it lacks.
//!
//! It is put together from named fields. The daemon's own answers also have addresses of providers,
//! and how servers are started, with their keys.

use std::process::ExitCode;

use ::daemon::DaemonError;
use ::daemon::client::WorkspaceClient;
use ::daemon::wire::{
    DiagnosticError, EnvironmentCell, McpServerList, PreflightCell, ProviderList, SkillList,
    ToolList, WorkspaceEnvironment, WorkspacePreflight,
};
use serde::Serialize;

use super::{request_failure, served_folder};
use crate::args::{GlobalArgs, ListArgs};
use crate::config::DaemonTarget;
use crate::failure::CommandResult;
use crate::output::{Lines, counted, print, print_json};

/// The kinds of environment cells whose value is no secret. The address of a proxy may have a password
/// in it.
const SHOWN: [&str; 4] = ["runtime", "platform", "memory", "sandbox"];

/// What was found out; each part by itself, because a daemon whose agent has not started yet answers
/// only some of them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RuntimeReport {
    folder: String,
    checks: Vec<Check>,
    environment: Vec<Fact>,
    /// The variables with keys and settings that are set. Their values are not sent.
    variables: Vec<String>,
    model: Option<String>,
    /// The mode of a conversation that is started without one.
    default_mode: Option<String>,
    models: Vec<String>,
    mcp_servers: Vec<Server>,
    skills: Vec<Skill>,
    tools: Vec<Tool>,
    /// What could not be found out, and why.
    unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    name: String,
    status: String,
    error: Option<String>,
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fact {
    kind: String,
    value: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    name: String,
    status: String,
    transport: Option<String>,
    disabled: bool,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Skill {
    name: String,
    /// Whose it is, for example `user` or `project`.
    level: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    name: String,
    enabled: bool,
}

pub(super) async fn runtime(
    global: &GlobalArgs,
    target: &DaemonTarget,
    args: &ListArgs,
) -> CommandResult {
    let client = target.client();
    let capabilities = client.capabilities().await;
    let capabilities = capabilities.map_err(|error| request_failure(&error))?;
    let folder = served_folder(global, &capabilities)?;
    let report = RuntimeReport::collect(folder.clone(), &client.workspace(folder)).await;
    if args.json {
        print_json(&report);
    } else {
        print(&describe(&report));
    }
    Ok(ExitCode::SUCCESS)
}

impl RuntimeReport {
    async fn collect(folder: String, workspace: &WorkspaceClient) -> RuntimeReport {
        let mut report = RuntimeReport {
            folder,
            ..RuntimeReport::default()
        };
        report.add("checks", workspace.preflight().await, Self::preflight);
        report.add(
            "environment",
            workspace.environment().await,
            Self::environment,
        );
        report.add("models", workspace.providers().await, Self::providers);
        report.add(
            "MCP servers",
            workspace.mcp_servers().await,
            Self::mcp_servers,
        );
        report.add("skills", workspace.skills().await, Self::skills);
        report.add("tools", workspace.tools().await, Self::tools);
        report
    }

    fn add<T>(
        &mut self,
        what: &str,
        answer: Result<T, DaemonError>,
        take: impl FnOnce(&mut Self, T),
    ) {
        match answer {
            Ok(answer) => take(self, answer),
            Err(error) => self.unknown.push(format!("{what}: {error}")),
        }
    }

    fn preflight(&mut self, found: WorkspacePreflight) {
        self.unknown_by_daemon("checks", &found.errors);
        self.checks = found.cells.into_iter().map(check).collect();
    }

    fn environment(&mut self, found: WorkspaceEnvironment) {
        self.unknown_by_daemon("environment", &found.errors);
        for cell in found.cells {
            match fact(&cell) {
                Some(fact) => self.environment.push(fact),
                None if cell.present == Some(true) => self.variables.extend(cell.name),
                None => {}
            }
        }
    }

    fn providers(&mut self, found: ProviderList) {
        self.unknown_by_daemon("models", &found.errors);
        self.model = found.current.and_then(|it| it.model_id);
        self.default_mode = found.approval_mode.map(|mode| mode.to_string());
        let models = found.providers.into_iter().flat_map(|it| it.models);
        self.models = models.map(|model| model.model_id).collect();
    }

    fn mcp_servers(&mut self, found: McpServerList) {
        self.unknown_by_daemon("MCP servers", &found.errors);
        let server = |server: ::daemon::wire::McpServer| Server {
            name: server.name,
            status: (server.mcp_status.or(server.status)).unwrap_or_else(|| "unknown".into()),
            transport: server.transport,
            disabled: server.disabled == Some(true),
            error: server.error,
        };
        self.mcp_servers = found.servers.into_iter().map(server).collect();
    }

    fn skills(&mut self, found: SkillList) {
        self.unknown_by_daemon("skills", &found.errors);
        let skill = |skill: ::daemon::wire::Skill| Skill {
            name: skill.name,
            level: skill.level,
        };
        self.skills = found.skills.into_iter().map(skill).collect();
    }

    fn tools(&mut self, found: ToolList) {
        self.unknown_by_daemon("tools", &found.errors);
        let tool = |tool: ::daemon::wire::ToolInfo| Tool {
            name: tool.name,
            enabled: tool.enabled != Some(false),
        };
        self.tools = found.tools.into_iter().map(tool).collect();
    }

    /// What the daemon itself could not find out. Its words may quote settings, so only its class of
    /// error and its advice are taken.
    fn unknown_by_daemon(&mut self, what: &str, errors: &[DiagnosticError]) {
        for error in errors {
            let kind = error.error_kind.as_deref().or(error.kind.as_deref());
            let kind = kind.unwrap_or("an error of the daemon");
            let hint = error.hint.as_ref().map(|hint| format!("; {hint}"));
            self.unknown
                .push(format!("{what}: {kind}{}", hint.unwrap_or_default()));
        }
    }
}

fn check(cell: PreflightCell) -> Check {
    Check {
        name: cell.kind,
        status: cell.status.unwrap_or_else(|| "unknown".into()),
        error: cell.error,
        hint: cell.hint,
    }
}

fn fact(cell: &EnvironmentCell) -> Option<Fact> {
    let value = cell
        .value
        .as_ref()
        .filter(|_| SHOWN.contains(&cell.kind.as_str()))?;
    Some(Fact {
        kind: cell.name.clone().unwrap_or_else(|| cell.kind.clone()),
        value: value.to_string(),
    })
}

fn describe(report: &RuntimeReport) -> Lines {
    let mut lines = Lines::new();
    lines.push(format_args!("{}, where the daemon runs", report.folder));
    let facts: Vec<String> = (report.environment.iter())
        .map(|fact| format!("{} {}", fact.kind, fact.value))
        .collect();
    section(&mut lines, "environment", &facts.join(" · "));
    section(
        &mut lines,
        "variables that are set",
        &report.variables.join(", "),
    );
    let fine = report.checks.iter().filter(|it| it.status == "ok").count();
    let checks = format!("{fine} of {} are fine", report.checks.len());
    section(
        &mut lines,
        "checks",
        if report.checks.is_empty() {
            ""
        } else {
            &checks
        },
    );
    for check in report.checks.iter().filter(|it| it.status != "ok") {
        let why: Vec<&str> = [check.error.as_deref(), check.hint.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(": {}", why.join("; "))
        };
        lines.push(format_args!("    {} {}{why}", check.name, check.status));
    }
    section(
        &mut lines,
        "model",
        report.model.as_deref().unwrap_or_default(),
    );
    section(&mut lines, "other models", &{
        let others = report
            .models
            .iter()
            .filter(|it| Some(*it) != report.model.as_ref());
        others.cloned().collect::<Vec<_>>().join(", ")
    });
    section(
        &mut lines,
        "mode without a choice",
        report.default_mode.as_deref().unwrap_or_default(),
    );
    lines.push(format_args!(
        "  {}",
        counted_all(report.mcp_servers.len(), "MCP server")
    ));
    for server in &report.mcp_servers {
        let transport = server.transport.as_deref().unwrap_or("unknown transport");
        let off = if server.disabled {
            ", switched off"
        } else {
            ""
        };
        let error = server.error.as_ref().map(|error| format!(": {error}"));
        lines.push(format_args!(
            "    {} {} over {transport}{off}{}",
            server.name,
            server.status,
            error.unwrap_or_default()
        ));
    }
    let skills: Vec<String> = (report.skills.iter())
        .map(|skill| match &skill.level {
            Some(level) => format!("{} ({level})", skill.name),
            None => skill.name.clone(),
        })
        .collect();
    lines.push(format_args!("  {}", counted_all(skills.len(), "skill")));
    section(&mut lines, "  which are", &skills.join(", "));
    let (on, off): (Vec<&Tool>, Vec<&Tool>) = report.tools.iter().partition(|it| it.enabled);
    lines.push(format_args!("  {}", counted_all(on.len(), "tool")));
    let names = |tools: &[&Tool]| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        names.join(", ")
    };
    section(&mut lines, "  which are", &names(&on));
    section(&mut lines, "  switched off", &names(&off));
    for unknown in &report.unknown {
        lines.push(format_args!("  not known: {unknown}"));
    }
    lines
}

/// A line with a name, if there is something to say.
fn section(lines: &mut Lines, name: &str, text: &str) {
    if !text.is_empty() {
        lines.push(format_args!("  {name}: {text}"));
    }
}

fn counted_all(count: usize, what: &str) -> String {
    counted(u64::try_from(count).unwrap_or(u64::MAX), what)
}
