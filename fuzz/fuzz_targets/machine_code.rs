#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gpucc_tests::fuzz::machine_code(bytes));
