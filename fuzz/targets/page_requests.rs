//! Tries `promises::page_requests`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::page_requests::check(case));
