//! Tries `promises::conversation`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::conversation::check(case));
