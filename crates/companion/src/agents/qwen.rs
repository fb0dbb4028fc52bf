//! Qwen Code, verified with 0.1.3 to 0.24.4.

use workbench::VerdictCapabilities;

use super::{Dialect, RefusalStyle};

pub(super) const DIALECT: Dialect = Dialect {
    // A refused `openDiff` falls back to the terminal prompt, and the edit works from there.
    refusal: RefusalStyle::Error,
    capabilities: VerdictCapabilities {
        // An accepted text of `""` is taken for "not edited": the proposal itself is written.
        takes_empty_text: false,
        takes_edited_text: true,
    },
    // 0.15.10 and 0.24.4 compare the time and size of the file; 0.10.1 does not.
    reads_changed_files_again: true,
};
