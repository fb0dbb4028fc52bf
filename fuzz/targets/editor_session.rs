//! Tries `promises::editor_session`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::editor_session::check(case));
