//! Tries `promises::skimmed_json`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::skimmed_json::check(case));
