//! What a companion is started with, whether from the command line or by an editor.

use std::path::PathBuf;

use companion::registry::Registry;
use web::Owner;

use crate::args::GlobalArgs;
use crate::config::{Config, Conversations, Layer, Sources};
use crate::failure::Failure;
use crate::folders;
use crate::resume::Handover;

/// What a service is started with.
pub(crate) struct ServiceOptions {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) config: Config,
    /// The conversations that it offers.
    pub(crate) conversations: Conversations,
    pub(crate) registry: Registry,
    /// The folder where this user's programs keep their state.
    pub(crate) state: PathBuf,
    /// The companion ends with this process.
    pub(crate) parent: Option<u32>,
    /// The editor that it is started for, which has not joined yet.
    pub(crate) editor: Option<StartingEditor>,
    /// What the process belongs to: only one of its own may become a new program to restart.
    pub(crate) owner: Owner,
    /// What the run left that this one continues in the same process.
    pub(crate) handover: Option<Handover>,
}

/// The editor that a service is started for.
pub(crate) struct StartingEditor {
    /// Its process, if that is one of this machine.
    pub(crate) process: Option<u32>,
    /// What it asked for, as far as it holds for all editors.
    pub(crate) settings: String,
}

impl ServiceOptions {
    /// The options for `dirs`, or for the current folder if there are none. `start` is what the
    /// command line or the editor says.
    pub(crate) fn load(
        global: &GlobalArgs,
        dirs: &[PathBuf],
        start: Layer,
    ) -> Result<ServiceOptions, Failure> {
        let roots = folders::roots(global, dirs)?;
        let config = load_config(&roots, start)?;
        Ok(ServiceOptions {
            conversations: config.daemon.conversations()?,
            roots,
            config,
            registry: folders::registry(global)?,
            state: folders::state(global)?,
            parent: None,
            editor: None,
            owner: Owner::Itself,
            handover: None,
        })
    }
}

/// The configuration of this process for `roots`.
pub(crate) fn load_config(roots: &[PathBuf], start: Layer) -> Result<Config, Failure> {
    Config::load(Sources {
        start,
        // What is not Unicode is not lost: it may say what to hide.
        variable: &|name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()),
        user_file: folders::config_file().as_deref(),
        roots,
    })
}
