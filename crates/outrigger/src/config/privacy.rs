//! The settings that say what is shared, and with whom: `agents` and `ignore`.
//!
//! They fail closed. What cannot be read is a [`Fault`]: the companion runs, and shares nothing of
//! what the unreadable part would have been about. The files are read again when they change, so a
//! fault is gone as soon as it is mended.

use std::path::{Path, PathBuf};

use companion::settings_file::{self, Sight};
use workbench::{Agent, Fault, Pattern, PatternList, Position, Scope};

use super::document::{Found, Mistake, Table, meant};
use super::parse;
use super::setting::{Origin, Setting};
use super::user_file;
use super::workspace;
use crate::output::one_line;

/// The settings that decide what is shared.
pub(super) const PRIVACY_KEYS: [&str; 2] = ["agents", "ignore"];

/// What one source says about privacy.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrivacyLayer {
    pub(super) agents: Option<Setting<Vec<Agent>>>,
    /// Whether it names agents in a way that cannot be understood. Then it lets none in.
    pub(super) has_faulty_agents: bool,
    pub(super) ignore: Option<PatternList>,
    pub(super) faults: Vec<Fault>,
    /// What was found and not used, as sentences for the person.
    pub(super) warnings: Vec<String>,
}

impl PrivacyLayer {
    /// What a file says. One that does not exist says nothing.
    pub(super) fn from_file(path: &Path, scope: &Scope, keys: FileKeys<'_>) -> PrivacyLayer {
        let text = match read(path) {
            Ok(Some(text)) => text,
            Ok(None) => return PrivacyLayer::default(),
            Err(mistake) => return PrivacyLayer::closed(path, mistake, scope),
        };
        match Table::parse(&text) {
            Ok(table) => PrivacyLayer::from_table(&table, path, scope, keys),
            Err(mistake) => PrivacyLayer::closed(path, mistake, scope),
        }
    }

    /// What a file says that could be parsed.
    pub(super) fn from_table(
        table: &Table<'_>,
        path: &Path,
        scope: &Scope,
        keys: FileKeys<'_>,
    ) -> PrivacyLayer {
        let mut layer = PrivacyLayer::default();
        let source = Source { path, scope };
        match table.strings("agents") {
            Ok(Some(list)) => {
                let origin = Origin::File(path.to_owned(), Some(list.position));
                let names = list.value.iter();
                let names = names.map(|name| (name.value.as_str(), Some(name.position)));
                layer.set_agents(&names.collect::<Vec<_>>(), &origin, scope);
            }
            Ok(None) => {}
            Err(mistake) => {
                let origin = Origin::File(path.to_owned(), mistake.position);
                layer.agents = Setting::from_source(Some(Vec::new()), &origin);
                layer.has_faulty_agents = true;
                layer.faults.push(source.fault(mistake));
            }
        }
        match table.strings("ignore") {
            Ok(patterns) => {
                layer.ignore = patterns.map(|patterns| PatternList {
                    source: path.display().to_string(),
                    scope: scope.clone(),
                    patterns: patterns.value.into_iter().map(pattern).collect(),
                });
            }
            Err(mistake) => layer.faults.push(source.fault(mistake)),
        }
        for (key, position) in table.keys() {
            layer.judge_key(key, position, &source, keys);
        }
        layer
    }

    /// A file that cannot be read at all.
    pub(super) fn closed(path: &Path, mistake: Mistake, scope: &Scope) -> PrivacyLayer {
        PrivacyLayer {
            faults: vec![Source { path, scope }.fault(mistake)],
            ..PrivacyLayer::default()
        }
    }

    /// The agents that a source names, each with its place.
    ///
    /// One that we do not know is not let in anyway. But if all are unknown, nobody can tell who
    /// was meant.
    pub(super) fn set_agents(
        &mut self,
        names: &[(&str, Option<Position>)],
        origin: &Origin,
        scope: &Scope,
    ) {
        let known = names.iter().filter_map(|(name, _)| parse::agent(name));
        let agents: Vec<_> = known.collect();
        let unknown = names
            .iter()
            .filter(|(name, _)| parse::agent(name).is_none());
        for (name, position) in unknown {
            let message = parse::unknown_agent(name);
            if agents.is_empty() {
                self.has_faulty_agents = true;
                self.faults.push(Fault {
                    source: origin.source(),
                    position: *position,
                    message,
                    scope: scope.clone(),
                });
            } else {
                self.warnings
                    .push(located(&origin.source(), *position, &message));
            }
        }
        self.agents = Setting::from_source(Some(agents), origin);
    }

    /// What the settings of an editor say.
    pub(crate) fn of_editor(options: &editor::Options) -> PrivacyLayer {
        let mut layer = PrivacyLayer::default();
        if let Some(names) = &options.agents {
            let named: Vec<_> = names.iter().map(|it| (it.as_str(), None)).collect();
            layer.set_agents(&named, &Origin::Editor, &Scope::Everywhere);
        }
        layer.set_patterns(&options.ignore, &Origin::Editor);
        layer
    }

    /// Its patterns as they are written.
    #[cfg(test)]
    pub(crate) fn patterns(&self) -> Vec<String> {
        let lists = self.ignore.iter();
        let patterns = lists.flat_map(|list| &list.patterns);
        patterns.map(|pattern| pattern.text.clone()).collect()
    }

    /// Patterns that are in no file.
    pub(super) fn set_patterns(&mut self, patterns: &[String], origin: &Origin) {
        if !patterns.is_empty() {
            self.ignore = Some(PatternList {
                source: origin.source(),
                scope: Scope::Everywhere,
                patterns: patterns.iter().map(|it| it.as_str().into()).collect(),
            });
        }
    }

    /// A key that nobody knows is a warning, unless it may have been meant to hide something.
    fn judge_key(
        &mut self,
        key: &str,
        position: Position,
        source: &Source<'_>,
        keys: FileKeys<'_>,
    ) {
        let mut warn = |message: String| {
            let path = source.path.display().to_string();
            self.warnings.push(located(&path, Some(position), &message));
        };
        if keys.usable.contains(&key) {
            return;
        }
        if keys.known.contains(&key) {
            return warn(format!("`{key}` is not used: {}", keys.unused));
        }
        let message = unknown_key(key, keys.known);
        match meant(key, keys.known) {
            Some(meant) if PRIVACY_KEYS.contains(&meant) => {
                let position = Some(position);
                self.faults
                    .push(source.fault(Mistake { position, message }));
            }
            _ => warn(message),
        }
    }
}

/// Which settings a file may have.
#[derive(Clone, Copy)]
pub(super) struct FileKeys<'a> {
    /// Those that have an effect in it.
    pub(super) usable: &'a [&'a str],
    /// All that exist.
    pub(super) known: &'a [&'a str],
    /// Why the others have none.
    pub(super) unused: &'a str,
}

/// A file, and what is closed if it cannot be understood.
struct Source<'a> {
    path: &'a Path,
    scope: &'a Scope,
}

impl Source<'_> {
    fn fault(&self, mistake: Mistake) -> Fault {
        Fault {
            source: self.path.display().to_string(),
            position: mistake.position,
            message: mistake.message,
            scope: self.scope.clone(),
        }
    }
}

/// The text of a configuration file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Mistake> {
    settings_file::read(path).map_err(|error| Mistake {
        position: error.position,
        message: format!("the file cannot be read: {error}"),
    })
}

/// That there is no such setting, and which one was perhaps meant.
pub(super) fn unknown_key(key: &str, known: &[&str]) -> String {
    match meant(key, known) {
        Some(meant) => format!("there is no setting `{key}`; did you mean `{meant}`?"),
        None => format!("there is no setting `{key}`"),
    }
}

/// A sentence with its place before it, in one line.
pub(super) fn located(source: &str, position: Option<Position>, message: &str) -> String {
    match position {
        Some(position) => one_line(format_args!("{source}:{position}: {message}")),
        None => one_line(format_args!("{source}: {message}")),
    }
}

fn pattern(found: Found<String>) -> Pattern {
    Pattern {
        text: found.value,
        position: Some(found.position),
    }
}

/// The settings in force that decide what is shared.
#[derive(Clone, Debug)]
pub(crate) struct PrivacySettings {
    /// The agents that may connect.
    pub(crate) agents: Setting<Vec<Agent>>,
    /// Patterns from every source; they add up.
    pub(crate) ignore: Vec<PatternList>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) warnings: Vec<String>,
}

impl PrivacySettings {
    /// The weakest layer first; then the files of the workspaces, which may only narrow.
    fn merge(layers: Vec<PrivacyLayer>, workspaces: Vec<PrivacyLayer>) -> PrivacySettings {
        let mut settings = PrivacySettings {
            agents: Setting::default(Agent::DISCOVERING.to_vec()),
            ignore: Vec::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
        };
        for layer in layers {
            settings.agents.replace(layer.agents.clone());
            settings.add(layer);
        }
        // A folder that is closed says nothing about who may come for the other folders.
        let all_faulty = workspaces.iter().all(|layer| layer.has_faulty_agents);
        for layer in workspaces {
            if let Some(named) = &layer.agents
                && (all_faulty || !layer.has_faulty_agents)
            {
                settings.narrow(named);
            }
            settings.add(layer);
        }
        settings
    }

    fn narrow(&mut self, named: &Setting<Vec<Agent>>) {
        let before = self.agents.value.len();
        self.agents
            .value
            .retain(|agent| named.value.contains(agent));
        if self.agents.value.len() < before {
            self.agents.origin = named.origin.clone();
        }
    }

    fn add(&mut self, layer: PrivacyLayer) {
        self.ignore.extend(layer.ignore);
        self.faults.extend(layer.faults);
        self.warnings.extend(layer.warnings);
    }
}

/// Where the settings come from, to read them again when a file has changed.
#[derive(Clone, Debug)]
pub(crate) struct PrivacySources {
    /// The person's file, and whether they named it: then it has to exist.
    pub(super) user_file: Option<PathBuf>,
    pub(super) user_file_is_named: bool,
    /// What does not change while the companion runs: variables, then what this start asks for.
    pub(super) fixed: [PrivacyLayer; 2],
    /// What the editors that have joined say. They add patterns, and faults; who may connect was
    /// decided before they came.
    pub(super) editors: Vec<PrivacyLayer>,
    pub(super) roots: Vec<PathBuf>,
    /// What the files looked like when they were last read.
    pub(super) seen: Option<Vec<Sight>>,
}

impl PrivacySources {
    /// Reads the files of other folders from now on.
    pub(crate) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.seen = None;
    }

    /// These editors have joined.
    pub(crate) fn set_editors(&mut self, editors: Vec<PrivacyLayer>) {
        self.editors = editors;
        self.seen = None;
    }

    /// The settings if a file has changed since the last call, and always the first time.
    pub(crate) fn changed(&mut self) -> Option<PrivacySettings> {
        let workspaces = self.roots.iter().map(|root| workspace::file(root));
        let files = self.user_file.iter().cloned().chain(workspaces);
        let now: Vec<_> = files.map(|file| Sight::of(&file)).collect();
        if self.seen.as_ref() == Some(&now) {
            return None;
        }
        self.seen = Some(now);
        Some(self.load())
    }

    /// The settings as the files are now.
    pub(super) fn load(&self) -> PrivacySettings {
        let user = self.user_file.as_deref().map(|path| self.user_layer(path));
        let [variables, start] = self.fixed.clone();
        let layers = vec![user.unwrap_or_default(), variables, start];
        let workspaces = self.roots.iter().map(|root| workspace::privacy(root));
        let mut settings = PrivacySettings::merge(layers, workspaces.collect());
        for mut editor in self.editors.iter().cloned() {
            // The editor that the companion was started for has said it already.
            editor.faults.retain(|it| !settings.faults.contains(it));
            editor.ignore = editor.ignore.filter(|it| !settings.ignore.contains(it));
            settings.add(editor);
        }
        settings
    }

    fn user_layer(&self, path: &Path) -> PrivacyLayer {
        if self.user_file_is_named && Sight::of(path) == Sight::Absent {
            let mistake = Mistake {
                position: None,
                message: "there is no such file, but OUTRIGGER_CONFIG names it".into(),
            };
            return PrivacyLayer::closed(path, mistake, &Scope::Everywhere);
        }
        user_file::privacy(path)
    }
}
