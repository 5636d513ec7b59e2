//! Programs with words exchanged: whatever is read and accepted also runs to an end or a typed stop.

use crate::common::Words;
use gpucc_ir::ssa::interp::{Lanes, Options, run};
use gpucc_ir::ssa::random::{Config, Rng, program};
use gpucc_ir::ssa::{Numerics, Op, Stage, parse, verify};

#[test]
fn what_is_accepted_runs_without_a_panic() {
    let mut rng = Rng::new(11);
    let (mut read, mut accepted, mut ended) = (0, 0, 0);
    for round in 0..1500 {
        let config = Config { size: 40, ..[Config::COMPUTE, Config::FRAGMENT][round % 2] };
        let text = program(round as u64 % 50, &config).to_string();
        let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
        let body = text.split(' ').position(|word| word.starts_with("body")).expect("a body");
        for _ in 0..=rng.below(3) {
            let at = body + 1 + rng.below(words.len() - body - 1);
            let other = body + 1 + rng.below(words.len() - body - 1);
            words[at] = match rng.below(3) {
                0 => words[other].clone(),
                1 if Op::by_name(&words[at]).is_some() => rng.pick(Op::ALL).name().into(),
                _ if words[at].starts_with('%') && words[at].ends_with(',') => {
                    format!("%{},", rng.below(80))
                }
                _ => continue,
            };
        }
        let text = words.join(" ");
        let Ok(module) = parse(&text) else { continue };
        read += 1;
        for func in &module.funcs {
            if verify(func).is_err() {
                continue;
            }
            accepted += 1;
            let lanes = match func.stage {
                Stage::Compute => Lanes::compute(func, [1, 1, 1], 0, 1),
                Stage::Vertex | Stage::Geometry | Stage::Fragment => Lanes::new(func, 8),
            };
            let mut world = Words(vec![vec![3; 64 * 12]; func.resources.len()]);
            let mut options = Options::new(&Numerics::REFERENCE);
            options.steps = 20_000;
            ended += u32::from(run(func, &lanes, &mut world, options).is_ok());
        }
    }
    assert!(read > 300 && accepted > 100 && ended > 50, "{read} {accepted} {ended}");
}
