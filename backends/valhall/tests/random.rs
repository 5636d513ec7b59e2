//! Random structured programs become programs that break no rule, at every level of effort.

use gpucc_ir::ssa::Func;
use gpucc_ir::ssa::random::{self, Config};
use gpucc_passes::{Ctx, Level, Plan, Quiet, Runner};
use gpucc_valhall as valhall;

fn optimised(mut func: Func, level: Level) -> Func {
    let options = gpucc_passes::Options { level, ..gpucc_passes::Options::default() };
    let mut ctx = Ctx::new(options, valhall::numerics(), valhall::target_info());
    let plan = Plan::for_options(&ctx.options);
    Runner::default()
        .run(&plan, &mut func, &mut ctx, &mut Quiet)
        .expect("the shared passes accept their own text");
    func
}

/// Compiles; legality is judged within. Our own faults are errors, refusals are not.
fn compile(seed: u64, config: &Config, level: Level) -> Result<bool, String> {
    let func = optimised(random::program(seed, config), level);
    let options = valhall::Options {
        effort: match level {
            Level::O0 => valhall::Effort::None,
            _ => valhall::Effort::Full,
        },
        ..valhall::Options::default()
    };
    match valhall::compile(func, &options) {
        Ok(_) => Ok(true),
        Err(valhall::Failure::Internal { pass, message }) => Err(format!("{pass}: {message}")),
        Err(_) => Ok(false),
    }
}

fn many(config: &Config, first: u64, count: u64) {
    let (mut compiled, mut failures) = (0, Vec::new());
    for seed in first..first + count {
        for level in [Level::O0, Level::O2] {
            match compile(seed, config, level) {
                Ok(done) => compiled += u64::from(done),
                Err(why) => failures.push(format!("{seed} {level:?}: {why}")),
            }
        }
    }
    let first: Vec<&String> = failures.iter().take(12).collect();
    assert!(failures.is_empty(), "{} failures: {first:#?}", failures.len());
    assert!(compiled * 2 > count, "{compiled} of {count} programs compiled");
}

const COMPUTE: Config = Config { textures: false, doubles: false, ..Config::COMPUTE };

#[test]
fn small_programs_break_no_rule() {
    many(&Config { size: 30, ..COMPUTE }, 0, 200);
}

#[test]
fn programs_with_control_flow_break_no_rule() {
    many(&COMPUTE, 1000, 100);
}

#[test]
fn programs_with_many_values_break_no_rule() {
    many(&Config { size: 400, ..COMPUTE }, 2000, 20);
}
