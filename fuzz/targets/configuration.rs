//! Tries `promises::configuration`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::configuration::check(case));
