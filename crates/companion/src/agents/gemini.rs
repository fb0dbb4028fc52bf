//! Gemini CLI, verified with 0.6.1 to 0.61.0 over HTTP and from 0.3.4 over stdio.

use workbench::VerdictCapabilities;

use super::{Dialect, RefusalStyle};

pub(super) const DIALECT: Dialect = Dialect {
    // After a refused `openDiff` the edit fails even if the person allows it in the
    // terminal, and versions up to 0.5.5 wait for ever.
    refusal: RefusalStyle::Silence,
    capabilities: VerdictCapabilities {
        // An accepted text of `""` is taken for "not edited": the proposal itself is written.
        takes_empty_text: false,
        takes_edited_text: true,
    },
    reads_changed_files_again: false,
};
