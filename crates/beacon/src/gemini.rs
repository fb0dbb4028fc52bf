//! Where Gemini CLI looks for a companion.
//!
//! It reads `<tmpdir>/gemini/ide/gemini-ide-server-<pid>-<port>.json` since 0.5.5. Up to 0.30
//! the process id must be that of the process which the client takes for its editor, so there
//! is a file for each process that may be it; since 0.31 any id will do and the right one only
//! ranks higher. The form without a port is not written: the client prefers it to every other file
//! without checking the folder, so it would hide companions of other folders.

use workbench::Agent;

use crate::Surroundings;
use crate::places::{DiscoveryPath, temporary_folders};

/// The folders below the temporary folder. Old versions of Qwen Code, which began as a copy of
/// this client, look in the same folder for a name of their own.
pub(crate) const BELOW: &[&str] = &["gemini", "ide"];

pub(crate) fn places(surroundings: &Surroundings, port: u16, pids: &[u32]) -> Vec<DiscoveryPath> {
    let mut places = Vec::new();
    for base in temporary_folders(surroundings) {
        for pid in pids {
            places.push(DiscoveryPath {
                agent: Agent::Gemini,
                base: base.clone(),
                below: BELOW,
                name: format!("gemini-ide-server-{pid}-{port}.json"),
            });
        }
    }
    places
}
