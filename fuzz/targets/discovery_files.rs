//! Tries `promises::discovery_files`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::discovery_files::check(case));
