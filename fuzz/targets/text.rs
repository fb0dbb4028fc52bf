//! Tries `promises::text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::text::check(case));
