#![no_main]
use gpucc::Target;
// The low bit says which machine.
libfuzzer_sys::fuzz_target!(|seed: u64| {
    let target = [Target::R700, Target::Valhall][(seed & 1) as usize];
    gpucc_tests::fuzz::program(target, seed >> 1);
});
