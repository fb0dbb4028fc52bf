//! Tries `promises::live_buffer`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::live_buffer::check(case));
