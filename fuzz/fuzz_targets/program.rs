#![no_main]
use gpucc::Target;
use gpucc_tests::fuzz;
// The remainder says which machine.
libfuzzer_sys::fuzz_target!(init: fuzz::begin(), |seed: u64| {
    let target = [Target::R700, Target::VALHALL, Target::R600][(seed % 3) as usize];
    fuzz::program(target, seed / 3);
});
