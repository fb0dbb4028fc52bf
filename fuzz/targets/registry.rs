//! Tries `promises::registry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::registry::check(case));
