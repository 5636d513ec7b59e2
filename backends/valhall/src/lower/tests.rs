//! Lowering over random programs: what it makes is a sound machine function.

use super::{Part, lower};
use crate::abi::Abi;
use crate::api::{Effort, Options};
use gpucc_ir::mach;
use gpucc_ir::ssa::Op;
use gpucc_ir::ssa::random::{Config, program};
use gpucc_passes::{Ctx, Plan, Quiet, Runner};

#[test]
fn random_compute_programs_become_machine_code() {
    let config = Config {
        textures: false,
        // Those go with textures.
        allow: |op| !matches!(op, Op::CubeS | Op::CubeT | Op::CubeMajor | Op::CubeFace),
        ..Config::COMPUTE
    };
    for seed in 0..150 {
        let mut func = program(seed, &config);
        // Doubles are refused.
        if crate::refuse::check(&func).is_err() {
            continue;
        }
        let effort = if seed % 4 == 0 {
            Effort::None
        } else {
            Effort::Full
        };
        let options = Options {
            effort,
            ..Options::default()
        };
        {
            let level = match effort {
                Effort::None => gpucc_passes::Level::O0,
                _ => gpucc_passes::Level::O2,
            };
            let mut ctx = Ctx::new(
                gpucc_passes::Options {
                    level,
                    ..gpucc_passes::Options::default()
                },
                crate::numerics(),
                crate::target_info(),
            );
            let plan = Plan::for_options(&ctx.options);
            Runner::default()
                .run(&plan, &mut func, &mut ctx, &mut Quiet)
                .expect("the passes run");
        }
        if let Err(failure) = crate::compile(func.clone(), &options) {
            panic!("seed {seed}: {failure}");
        }
        let mut expanded = func;
        crate::expand(&mut expanded, &options).expect("sound");
        let abi = Abi::of(&expanded, &options).expect("few bindings");
        let lowered = lower(&expanded, &abi, Part::Whole).expect("compute programs are built");
        mach::verify(&lowered.func).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        assert!(!lowered.func.is_empty());
    }
}
