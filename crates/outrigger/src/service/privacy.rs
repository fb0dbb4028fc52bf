//! What is shared while a companion runs: the files that say so, and telling when one is faulty.

use std::path::PathBuf;

use companion::IgnoreFiles;
use front::words;
use tokio::sync::watch;
use web::Owner;
use workbench::{Agent, Fault, Privacy};

use crate::config::{Config, PrivacyLayer, PrivacySettings, PrivacySources};
use crate::output::note;

/// The settings and ignore files that decide what is shared, read again when they change.
pub(super) struct PrivacyWatch {
    sources: PrivacySources,
    ignore_files: IgnoreFiles,
    /// The agents that may connect.
    admitted: watch::Sender<Vec<Agent>>,
    /// Those that may when the files are found unchanged once more, if they are others. A file that
    /// is being written may be empty for a moment, and then it lets everybody in.
    settling: Option<Vec<Agent>>,
    /// Warnings that were logged.
    warnings: Vec<String>,
    faults: Vec<Fault>,
    /// The faults that the person was told of.
    told: Vec<Fault>,
}

impl PrivacyWatch {
    /// Reads everything for the first time.
    pub(super) fn start(config: &Config, roots: &[PathBuf]) -> (PrivacyWatch, Privacy) {
        let mut watch = PrivacyWatch {
            sources: config.privacy_sources.clone(),
            ignore_files: IgnoreFiles::new(roots.to_vec()),
            admitted: watch::Sender::new(config.privacy.agents.value.clone()),
            settling: None,
            // Whoever loaded the configuration has logged these.
            warnings: config.privacy.warnings.clone(),
            faults: Vec::new(),
            told: Vec::new(),
        };
        let privacy = watch.changed();
        let privacy = privacy.unwrap_or_else(|| watch.ignore_files.read());
        (watch, privacy)
    }

    /// The agents that may connect, now and whenever that changes.
    pub(super) fn admitted(&self) -> watch::Receiver<Vec<Agent>> {
        self.admitted.subscribe()
    }

    /// Reads the files of other folders from now on.
    pub(super) fn set_roots(&mut self, roots: &[PathBuf]) {
        self.sources.set_roots(roots.to_vec());
        self.ignore_files.set_roots(roots.to_vec());
    }

    /// The editors that have joined say this about what is shared, beside everybody else.
    pub(super) fn set_editors(&mut self, editors: Vec<PrivacyLayer>) {
        self.sources.set_editors(editors);
    }

    /// A new filter, if a file has changed. Who may connect is in force when this returns.
    pub(super) fn changed(&mut self) -> Option<Privacy> {
        match (self.sources.changed(), self.settling.take()) {
            (Some(settings), _) => self.apply(settings),
            (None, Some(agents)) => self.admit(agents),
            (None, None) => {}
        }
        let privacy = self.ignore_files.changed()?;
        self.faults = privacy.faults().to_vec();
        Some(privacy)
    }

    fn apply(&mut self, settings: PrivacySettings) {
        let new = settings.warnings.iter();
        for warning in new.filter(|warning| !self.warnings.contains(warning)) {
            tracing::warn!("{warning}");
        }
        self.warnings = settings.warnings;
        self.ignore_files
            .set_configuration(settings.ignore, settings.faults);
        let agents = settings.agents.value;
        let mut admitted = self.admitted.borrow().clone();
        let is_wider = agents.iter().any(|agent| !admitted.contains(agent));
        if is_wider {
            admitted.retain(|agent| agents.contains(agent));
            self.settling = Some(agents);
            self.admit(admitted);
        } else {
            self.admit(agents);
        }
    }

    fn admit(&self, agents: Vec<Agent>) {
        self.admitted.send_if_modified(|admitted| {
            let is_other = *admitted != agents;
            *admitted = agents;
            is_other
        });
    }

    /// What closes folders now.
    pub(super) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Tells the person what has become faulty, and what is mended. Pages and editors are told
    /// through the front.
    pub(super) fn report(&mut self, owner: Owner) {
        for line in words::faults_changed(&self.told, &self.faults) {
            match owner {
                Owner::Itself => note(line),
                Owner::Editor => tracing::warn!("{line}"),
                // The agent has the terminal.
                Owner::Launcher => {}
            }
        }
        self.told.clone_from(&self.faults);
    }
}
