//! Tries `promises::three_way`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::three_way::check(case));
