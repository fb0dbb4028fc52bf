//! Tries `promises::ignore_patterns`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::ignore_patterns::check(case));
