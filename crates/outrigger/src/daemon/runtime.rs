//! `outrigger daemon runtime`: what an agent has where its daemon runs, and what it lacks.
//!
//! It is put together from named fields. The daemon's own answers also have addresses of providers,
//! and how servers are started, with their keys; and so may its errors, which are therefore told by
//! their class. What is left passes the sanitiser, because names and values are from settings.

use std::process::ExitCode;

use ::daemon::DaemonError;
use ::daemon::client::WorkspaceClient;
use ::daemon::sanitiser::Sanitiser;
use ::daemon::wire::{
    DiagnosticError, EnvironmentCell, McpServerList, PreflightCell, ProviderList, SkillList,
    ToolList, WorkspaceEnvironment, WorkspacePreflight,
};
use conversation::Trouble;
use serde::Serialize;

use super::{request_failure, served_folder};
use crate::args::{GlobalArgs, ListArgs};
use crate::config::DaemonTarget;
use crate::failure::CommandResult;
use crate::output::{Lines, counted, print, print_json};

/// The kinds of environment cells whose value is no secret. The address of a proxy may have a password
/// in it.
const SHOWN: [&str; 4] = ["runtime", "platform", "memory", "sandbox"];

/// An error of which the daemon does not say the class.
const DAEMON_ERROR: &str = "an error, which the daemon describes where it runs";

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
    let workspace = client.workspace(folder.clone());
    let report = Collector {
        sanitiser: target.sanitiser(),
        report: RuntimeReport {
            folder,
            ..RuntimeReport::default()
        },
    };
    let report = report.collect(&workspace).await;
    if args.json {
        print_json(&report);
    } else {
        print(&describe(&report));
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts a report together.
struct Collector {
    sanitiser: Sanitiser,
    report: RuntimeReport,
}

impl Collector {
    async fn collect(mut self, workspace: &WorkspaceClient) -> RuntimeReport {
        self.add("checks", workspace.preflight().await, Self::preflight);
        self.add(
            "environment",
            workspace.environment().await,
            Self::environment,
        );
        self.add("models", workspace.providers().await, Self::providers);
        self.add(
            "MCP servers",
            workspace.mcp_servers().await,
            Self::mcp_servers,
        );
        self.add("skills", workspace.skills().await, Self::skills);
        self.add("tools", workspace.tools().await, Self::tools);
        self.report
    }

    fn add<T>(
        &mut self,
        what: &str,
        answer: Result<T, DaemonError>,
        take: impl FnOnce(&mut Self, T),
    ) {
        match answer {
            Ok(answer) => take(self, answer),
            Err(error) => {
                let why = Trouble::from(error).why;
                self.report.unknown.push(format!("{what}: {why}"));
            }
        }
    }

    fn line(&self, text: impl AsRef<str>) -> String {
        self.sanitiser.line(text.as_ref())
    }

    fn preflight(&mut self, found: WorkspacePreflight) {
        self.unknown_by_daemon("checks", &found.errors);
        let cells = found.cells.into_iter();
        self.report.checks = cells.map(|cell| self.check(cell)).collect();
    }

    fn check(&self, cell: PreflightCell) -> Check {
        let is_wrong = cell.error.is_some() || cell.error_kind.is_some();
        let kind = cell.error_kind.as_deref().unwrap_or(DAEMON_ERROR);
        Check {
            error: is_wrong.then(|| self.line(kind)),
            name: self.line(cell.kind),
            status: self.line(cell.status.as_deref().unwrap_or("unknown")),
            hint: cell.hint.map(|hint| self.line(hint)),
        }
    }

    fn environment(&mut self, found: WorkspaceEnvironment) {
        self.unknown_by_daemon("environment", &found.errors);
        for cell in found.cells {
            match self.fact(&cell) {
                Some(fact) => self.report.environment.push(fact),
                None if cell.present == Some(true) => {
                    let name = cell.name.map(|name| self.line(name));
                    self.report.variables.extend(name);
                }
                None => {}
            }
        }
    }

    fn fact(&self, cell: &EnvironmentCell) -> Option<Fact> {
        let is_shown = SHOWN.contains(&cell.kind.as_str());
        let value = cell.value.as_ref().filter(|_| is_shown)?;
        Some(Fact {
            kind: self.line(cell.name.as_deref().unwrap_or(&cell.kind)),
            value: self.line(value.to_string()),
        })
    }

    fn providers(&mut self, found: ProviderList) {
        self.unknown_by_daemon("models", &found.errors);
        let model = found.current.and_then(|it| it.model_id);
        self.report.model = model.map(|model| self.line(model));
        let mode = found.approval_mode.map(|mode| self.line(mode.as_str()));
        self.report.default_mode = mode;
        let models = found.providers.into_iter().flat_map(|it| it.models);
        self.report.models = models.map(|model| self.line(model.model_id)).collect();
    }

    fn mcp_servers(&mut self, found: McpServerList) {
        self.unknown_by_daemon("MCP servers", &found.errors);
        let server = |server: ::daemon::wire::McpServer| {
            let status = server.mcp_status.or(server.status);
            Server {
                name: self.line(server.name),
                status: self.line(status.as_deref().unwrap_or("unknown")),
                transport: server.transport.map(|it| self.line(it)),
                disabled: server.disabled == Some(true),
                // It may quote the command that starts the server, or its address.
                error: server.error.map(|_| DAEMON_ERROR.into()),
            }
        };
        self.report.mcp_servers = found.servers.into_iter().map(server).collect();
    }

    fn skills(&mut self, found: SkillList) {
        self.unknown_by_daemon("skills", &found.errors);
        let skill = |skill: ::daemon::wire::Skill| Skill {
            name: self.line(skill.name),
            level: skill.level.map(|it| self.line(it)),
        };
        self.report.skills = found.skills.into_iter().map(skill).collect();
    }

    fn tools(&mut self, found: ToolList) {
        self.unknown_by_daemon("tools", &found.errors);
        let tool = |tool: ::daemon::wire::ToolInfo| Tool {
            name: self.line(tool.name),
            enabled: tool.enabled != Some(false),
        };
        self.report.tools = found.tools.into_iter().map(tool).collect();
    }

    /// What the daemon itself could not find out. Its words may quote settings, so only its class of
    /// error and its advice are taken.
    fn unknown_by_daemon(&mut self, what: &str, errors: &[DiagnosticError]) {
        for error in errors {
            let kind = error.error_kind.as_deref().or(error.kind.as_deref());
            let kind = self.line(kind.unwrap_or(DAEMON_ERROR));
            let hint = error.hint.as_ref();
            let hint = hint.map(|hint| format!("; {}", self.line(hint)));
            self.report
                .unknown
                .push(format!("{what}: {kind}{}", hint.unwrap_or_default()));
        }
    }
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
