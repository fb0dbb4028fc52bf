//! Tries `promises::review`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::review::check(case));
