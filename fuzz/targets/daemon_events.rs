//! Tries `promises::daemon_events`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::daemon_events::check(case));
