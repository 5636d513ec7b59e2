//! Lock step under masks gives what every invocation gives alone.

use crate::common::Words;
use gpucc_ir::ssa::interp::{Lanes, Options, run};
use gpucc_ir::ssa::random::{Config, Rng, program};
use gpucc_ir::ssa::{Func, Numerics, Op, Stage, parse, verify};

fn words(func: &Func, seed: u64) -> Words {
    let mut rng = Rng::new(seed);
    let buffers = func.resources.values();
    Words(buffers.map(|_| (0..64 * 12).map(|_| rng.bits() as u32).collect()).collect())
}

/// Lane `lane` of a run, as a run of its own.
fn alone(all: &Lanes, lane: usize) -> Lanes {
    Lanes {
        count: 1,
        inputs: all.inputs.iter().map(|lanes| vec![lanes[lane]]).collect(),
        workgroup: vec![0],
        helper: vec![all.helper[lane]],
    }
}

#[test]
fn lanes_together_store_what_each_stores_alone() {
    let config = Config {
        workgroup: false,
        // Atomics and subgroups are how lanes speak to each other.
        allow: |op| {
            !matches!(
                op,
                Op::BufferAtomic | Op::ImageAtomic | Op::Ballot | Op::Shuffle | Op::Reduce
            )
        },
        ..Config::COMPUTE
    };
    for seed in 0..150 {
        let func = program(seed, &config);
        let lanes = Lanes::compute(&func, [1, 1, 1], 0, 1);
        let before = words(&func, seed);
        let mut together = before.clone();
        let model = &Numerics::REFERENCE;
        let outcome = run(&func, &lanes, &mut together, Options::new(model)).expect("it ends");
        assert!(outcome.marks.is_empty(), "seed {seed} has races");
        let mut apart = before;
        for lane in 0..lanes.count {
            let one = alone(&lanes, lane);
            run(&func, &one, &mut apart, Options::new(model)).expect("it ends");
        }
        assert_eq!(together, apart, "seed {seed}");
    }
}

#[test]
fn a_program_that_went_through_text_does_the_same() {
    for seed in 0..60 {
        let config = [Config::COMPUTE, Config::FRAGMENT, Config::GEOMETRY][seed as usize % 3];
        let func = program(seed, &config);
        let text = func.to_string();
        let module = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
        let [read] = module.funcs.as_slice() else { panic!("one function") };
        assert_eq!(read.to_string(), text, "seed {seed}");
        verify(read).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        let lanes = match func.stage {
            Stage::Compute => Lanes::compute(&func, [1, 1, 1], 0, 1),
            Stage::Vertex | Stage::Geometry | Stage::Fragment => {
                let mut lanes = Lanes::new(&func, 16);
                let mut rng = Rng::new(seed);
                for lane in lanes.inputs.iter_mut().flatten() {
                    *lane = std::array::from_fn(|_| (rng.below(64) as f32 / 16.0).to_bits());
                }
                lanes.helper[3] = true;
                lanes
            }
        };
        let result = |func: &Func| {
            let mut world = words(func, seed);
            let outcome = run(func, &lanes, &mut world, Options::new(&Numerics::REFERENCE));
            let outcome = outcome.expect("it ends");
            (world, outcome.outputs, outcome.emitted, outcome.helper, outcome.steps)
        };
        assert_eq!(result(&func), result(read), "seed {seed}");
    }
}
