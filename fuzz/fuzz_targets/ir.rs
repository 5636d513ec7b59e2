#![no_main]
use gpucc_tests::fuzz;
libfuzzer_sys::fuzz_target!(init: fuzz::begin(), |bytes: &[u8]| fuzz::ir(bytes));
