#![no_main]
libfuzzer_sys::fuzz_target!(|seed: u64| gpucc_tests::fuzz::program(seed));
