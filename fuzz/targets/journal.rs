//! Tries `promises::journal`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::journal::check(case));
