//! Tries `promises::editor_frames`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::editor_frames::check(case));
