//! Tries `promises::agent_messages`.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: &[u8]| promises::agent_messages::check(case));
