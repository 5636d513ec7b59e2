//! No pass changes what a program does: the interpreter gives the same before and after, under the
//! same numeric model.

use crate::common::{
    add_endless, add_exits, add_table, demote_arms, difference, echo_arms, echo_stores,
    has_private_memory, phis_to_memory, private_accesses, run,
};
use gpucc_ir::driver::{FragmentState, State};
use gpucc_ir::ssa::numerics::{Denormals, Fma, Rounding, ZeroRule};
use gpucc_ir::ssa::random::{Config, program};
use gpucc_ir::ssa::{Bounds, Func, MemSpace, Numerics, Op, Sig, Type, Value};
use gpucc_passes::{
    Ctx, Level, Neutral, Options, PASSES, Plan, Proof, Quiet, Robustness, Runner, TargetInfo,
};

/// A machine with masks only, like R700.
struct Masks;

impl TargetInfo for Masks {
    fn holds_64_bits(&self) -> bool {
        false
    }
    fn holds_16_bits(&self) -> bool {
        false
    }
    fn has_branches(&self) -> bool {
        false
    }
    fn has_continue(&self) -> bool {
        false
    }
    fn flatten_limit(&self) -> u32 {
        16
    }
    fn native(&self, _: Op, ty: Type) -> bool {
        ty != Type::B64
    }
    fn has_fma(&self, _: Type) -> bool {
        true
    }
    fn select_chain_limit(&self) -> u32 {
        8
    }
    fn speculates_loads(&self) -> bool {
        true
    }
    fn table_words(&self) -> Option<(u32, u32)> {
        Some((1, 64))
    }
}

/// A machine to which chains of selects are cheaper than any memory, and that asks for bits of indices.
struct Selects;

impl TargetInfo for Selects {
    fn select_chain_limit(&self) -> u32 {
        64
    }
    fn chooses_by_bits(&self) -> bool {
        true
    }
}

/// A machine with masks that runs `continuing` itself, like Gen4.
struct MasksWithContinue;

impl TargetInfo for MasksWithContinue {
    fn has_branches(&self) -> bool {
        false
    }
}

/// Flushes, rounds twice, compares zeros as equal.
const SLOPPY: Numerics = Numerics {
    name: "sloppy",
    f32_denormals: Denormals::FLUSH,
    min_max_flush: true,
    fma: Fma::Twice,
    min_max_zero: ZeroRule::Compared,
    ..Numerics::REFERENCE
};

/// The same toward zero, like Gen4.
const CUTTING: Numerics =
    Numerics { name: "cutting", rounding: Rounding::TowardZeroOverflowing, ..SLOPPY };

const SEEDS: u64 = 40;

/// Programs of products and sums.
const SUMS: Config =
    Config { allow: |op| matches!(op, Op::FMul | Op::FAdd | Op::FSub), ..Config::COMPUTE };

/// Fragment programs where nobody sees what a demoted invocation computes.
const UNSEEN: Config = Config {
    allow: |op| {
        let exchanges = matches!(op, Op::Ballot | Op::Shuffle | Op::Reduce | Op::IsHelper);
        !exchanges && op != Op::Tex && !op.flags().has(gpucc_ir::ssa::Flags::QUAD)
    },
    textures: false,
    size: 60,
    depth: 2,
    ..Config::FRAGMENT
};

struct Case {
    names: Vec<&'static str>,
    options: Options,
    target: &'static dyn TargetInfo,
    numerics: Numerics,
}

impl Case {
    fn of(names: &[&'static str]) -> Case {
        Case {
            names: names.to_vec(),
            options: Options { zero_workgroup: false, ..Options::default() },
            target: &Neutral,
            numerics: Numerics::REFERENCE,
        }
    }

    fn apply(&self, func: &mut Func) -> u64 {
        // Passes that run behind `robust` alone may make of a length what no longer looks like one.
        let all = Plan::for_options(&Options::default()).names();
        let robust = all.iter().position(|&name| name == "robust");
        let early = |name: &str| all.iter().position(|&other| other == name) <= robust;
        if !self.names.iter().all(|name| early(name)) && !self.names.contains(&"robust") {
            func.bounds = Bounds::Trusted;
        }
        let mut ctx = Ctx::new(self.options, self.numerics, self.target);
        let plan = Plan::of(&self.names);
        let mut runner = Runner { verify_each: true, ..Runner::default() };
        if let Err(error) = runner.run(&plan, func, &mut ctx, &mut Quiet) {
            panic!("{}: {error}\n{func}", func.name);
        }
        ctx.rewrites
    }
}

/// Runs random programs before and after, and gives back how many could be compared.
fn compare(case: &Case, config: &Config, prepare: fn(&mut Func)) -> u64 {
    let mut compared = 0;
    for seed in 0..SEEDS {
        let mut before = program(seed, config);
        prepare(&mut before);
        gpucc_ir::ssa::verify::verify(&before).expect("a sound random program");
        let mut after = before.clone();
        case.apply(&mut after);
        let Ok(expected) = run(&before, seed, &case.numerics) else {
            continue;
        };
        compared += 1;
        match run(&after, seed, &case.numerics) {
            Err(stop) => panic!("seed {seed} {:?}: {stop}\n{before}\n{after}", case.names),
            Ok(actual) => {
                if let Some(difference) = difference(&expected, &actual) {
                    panic!("seed {seed} {:?}: {difference}\n{before}\n{after}", case.names);
                }
            }
        }
    }
    compared
}

fn compare_all(case: &Case) {
    let mut compared = compare(case, &Config::COMPUTE, |_| {});
    compared += compare(case, &Config::FRAGMENT, |_| {});
    compared += compare(case, &Config::GEOMETRY, |_| {});
    compared += compare(case, &Config { depth: 6, size: 150, ..Config::COMPUTE }, phis_to_memory);
    assert!(compared >= SEEDS * 2, "only {compared} programs could be compared");
}

#[test]
fn each_pass_alone_keeps_the_meaning() {
    for pass in PASSES.iter().filter(|pass| pass.proof == Proof::Exact) {
        compare_all(&Case::of(&[pass.name]));
    }
}

#[test]
fn each_pass_alone_keeps_the_meaning_on_a_sloppy_machine() {
    for pass in PASSES.iter().filter(|pass| pass.proof == Proof::Exact) {
        compare_all(&Case { numerics: SLOPPY, ..Case::of(&[pass.name]) });
    }
}

#[test]
fn guards_keep_the_meaning_and_leave_no_exit() {
    for target in [&Masks as &'static dyn TargetInfo, &MasksWithContinue] {
        let case = Case { target, ..Case::of(&["exits_to_guards"]) };
        compare_all(&case);
        for seed in 0..SEEDS {
            let mut func = program(seed, &Config { depth: 6, size: 200, ..Config::COMPUTE });
            case.apply(&mut func);
            for (region, ..) in func.regions_in_order() {
                for (index, &inst) in func.regions[region].insts.iter().enumerate() {
                    let op = func.insts[inst].op;
                    assert!(!matches!(op, Op::Exit | Op::Block), "{func}");
                    if target.has_continue() {
                        continue;
                    }
                    assert_ne!(op, Op::BreakIf, "{func}");
                    if op == Op::Loop {
                        let continuing = func.insts[inst].regions[1];
                        assert_eq!(func.regions[continuing].insts.len(), 1, "{func}");
                    }
                    if op == Op::Continue {
                        assert_eq!(index + 1, func.regions[region].insts.len());
                    }
                }
            }
        }
    }
}

#[test]
fn a_continuing_that_never_ends_is_never_reached_again() {
    let text = r#"func "main" compute {
  res0 = "out" group 0 binding 0 storage 4 load store as u32
  in0 = "id" u32 x 1 builtin local_invocation_index
} body {
  %0: b32 = const 0x0
  %1: b32 = const 0x5
  %2: b32 = input in0.0
  %3: b32 = loop %0, %1 body (%4: b32, %5: b32) {
    %6: b1 = ult %4, %5
    if %6 {
      break %2
    } else {
      yield
    }
    continue %4, %5
  } continuing (%7: b32, %8: b32) {
    %9: b32 = iadd %7, %8
    loop %9 body (%10: b32) {
      continue %10
    } continuing (%11: b32) {
      next %11
    }
    unreachable
  }
  buffer_store res0, %0, %3
  yield
}
"#;
    let parsed = gpucc_ir::ssa::parse(text).expect("the text is right");
    for target in [&Masks as &'static dyn TargetInfo, &MasksWithContinue] {
        let case = Case { target, ..Case::of(&["exits_to_guards"]) };
        let mut func = parsed.funcs[0].clone();
        case.apply(&mut func);
        gpucc_ir::ssa::verify(&func).unwrap_or_else(|broken| panic!("{broken}\n{func}"));
        let ran = |func: &Func| run(func, 1, &case.numerics).expect("the first trip leaves");
        assert_eq!(difference(&ran(&parsed.funcs[0]), &ran(&func)), None, "{func}");
    }
}

#[test]
fn simplifying_after_the_guards_makes_no_exit_of_a_loop_of_one_trip() {
    let text = r#"func "main" compute {
  res0 = "out" group 0 binding 0 storage 4 load store as u32
  in0 = "id" u32 x 1 builtin local_invocation_index
} body {
  %0: b32 = const 0x0
  %1: b32 = const 0x5
  %2: b32 = input in0.0
  %3: b1 = ult %2, %1
  %4: b32 = loop %0 body (%5: b32) {
    if %3 {
      break %2
    } else {
      break %1
    }
    unreachable
  } continuing (%6: b32) {
    next %6
  }
  buffer_store res0, %0, %4
  yield
}
"#;
    let mut func = gpucc_ir::ssa::parse(text).expect("the text is right").funcs.remove(0);
    let case = Case { target: &Masks, ..Case::of(&["exits_to_guards", "simplify"]) };
    case.apply(&mut func);
    assert!(!func.to_string().contains("exit"), "{func}");
}

#[test]
fn every_pipeline_keeps_the_meaning() {
    for level in [Level::O0, Level::O1, Level::O2, Level::Omax] {
        for target in [&Masks as &'static dyn TargetInfo, &MasksWithContinue, &Neutral] {
            for numerics in [Numerics::REFERENCE, SLOPPY, CUTTING] {
                // Contraction shows where fma is fused.
                let options = Options {
                    level,
                    zero_workgroup: false,
                    contract: numerics.fma == Fma::Twice,
                    ..Options::default()
                };
                let names = Plan::for_options(&options).names();
                compare_all(&Case { names, options, target, numerics });
            }
        }
    }
}

#[test]
fn bounded_loops_and_zeroed_memory_keep_the_meaning() {
    let options = Options { bound_loops: true, contract: false, ..Options::default() };
    let names = Plan::for_options(&options).names();
    compare_all(&Case { options, ..Case::of(&["bound_loops", "zero_workgroup"]) });
    compare_all(&Case { options, target: &Masks, ..Case::of(&names) });
}

#[test]
fn indices_in_range_mean_the_same_under_every_robustness() {
    // Random programs keep their indices in range only by the clamp that `index` is, so the other
    // modes are compared with restrict where the clamp was proved needless or came first.
    let restrict = Case::of(&["robust"]);
    compare_all(&restrict);
    let twice = Case {
        options: Options { robustness: Robustness::Zero, ..restrict.options },
        ..Case::of(&["robust"])
    };
    for seed in 0..SEEDS {
        let mut func = program(seed, &Config::COMPUTE);
        twice.apply(&mut func);
        if let Ok(ran) = run(&func, seed, &Numerics::REFERENCE) {
            assert!(ran.world.written.len() < 4096);
        }
    }
}

#[test]
fn what_only_carries_values_leaves_memory() {
    for seed in 0..SEEDS {
        let config = Config {
            allow: |op| !matches!(op.sig(), Sig::Custom | Sig::Fixed(..)),
            ..Config::COMPUTE
        };
        let mut func = program(seed, &config);
        let dynamic = has_private_memory(&func);
        phis_to_memory(&mut func);
        Case::of(&["mem2reg"]).apply(&mut func);
        assert!(dynamic || !has_private_memory(&func), "seed {seed}\n{func}");
    }
}

#[test]
fn every_pass_finds_something_to_do_in_random_programs() {
    let mut idle: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    // No colour target is bound.
    let bare = State { fragment: Some(FragmentState::default()), ..State::default() };
    for seed in 0..SEEDS {
        let config = match seed % 8 {
            0 => SUMS,
            _ => Config::COMPUTE,
        };
        let mut func = program(seed, &config);
        if seed % 2 == 1 {
            phis_to_memory(&mut func);
        }
        if seed % 4 == 3 {
            echo_stores(&mut func);
        }
        if seed % 4 == 2 {
            echo_arms(&mut func);
        }
        if seed % 4 == 1 {
            add_table(&mut func);
        }
        let options = Options { bound_loops: true, ..Options::default() };
        let mut endless = func.clone();
        add_endless(&mut endless);
        let mut demoting = program(seed, &UNSEEN);
        demote_arms(&mut demoting);
        let mut leaving = func.clone();
        add_exits(&mut leaving);
        for pass in PASSES {
            for func in [&func, &endless, &demoting, &leaving] {
                let mut ctx = Ctx::new(options, SLOPPY, &Masks);
                ctx.pipeline = Some(&bare);
                if (pass.run)(&mut func.clone(), &mut ctx) {
                    idle.retain(|name| *name != pass.name);
                }
            }
        }
        let mut ctx = Ctx::new(options, SLOPPY, &Masks);
        for name in ["robust", "fold", "mem2reg", "copy_prop", "dce"] {
            (gpucc_passes::runner::pass(name).expect("a pass").run)(&mut func, &mut ctx);
        }
        for target in [&Masks as &dyn TargetInfo, &Selects] {
            let mut ctx = Ctx::new(options, SLOPPY, target);
            for pass in PASSES {
                if (pass.run)(&mut func.clone(), &mut ctx) {
                    idle.retain(|name| *name != pass.name);
                }
            }
        }
    }
    assert!(idle.is_empty(), "{idle:?} never changed anything");
}

#[test]
fn a_pass_that_says_it_changed_nothing_has_changed_nothing() {
    for target in [&Masks as &dyn TargetInfo, &Neutral, &Selects] {
        for seed in 0..SEEDS {
            let mut func = program(seed, &Config::COMPUTE);
            if seed % 2 == 1 {
                phis_to_memory(&mut func);
            }
            let mut ctx = Ctx::new(Options::default(), SLOPPY, target);
            for name in Plan::for_options(&ctx.options).names() {
                let before = func.to_string();
                let pass = gpucc_passes::runner::pass(name).expect("a pass");
                if !(pass.run)(&mut func, &mut ctx) {
                    assert_eq!(func.to_string(), before, "seed {seed}: {name}");
                }
            }
        }
    }
}

#[test]
fn a_pass_that_found_nothing_rests_until_another_finds_something() {
    let mut func = program(1, &Config::COMPUTE);
    let names = ["dce", "dce", "bound_loops", "dce", "gvn", "fold", "gvn", "dce", "gvn", "dce"];
    let mut ctx = Ctx::new(Options::default(), SLOPPY, &Neutral);
    let plan = Plan::of(&names);
    let mut runner = Runner::default();
    let report = runner.run(&plan, &mut func, &mut ctx, &mut Quiet).expect("a sound program");
    let ran: Vec<_> = report.timings.iter().map(|t| (t.name, t.changed)).collect();
    // Dead code is found in one run, and loops are not bounded unless asked for. What `gvn` leaves dead gives `gvn`
    // nothing new when it is gone.
    let expected = [
        ("dce", true),
        ("bound_loops", false),
        ("gvn", true),
        ("fold", true),
        ("gvn", true),
        ("dce", true),
    ];
    assert_eq!(ran, expected);
}

#[test]
fn products_and_sums_contract_to_the_same_bits_where_fma_rounds_twice() {
    for numerics in [SLOPPY, CUTTING] {
        let case = Case { target: &Masks, numerics, ..Case::of(&["algebra"]) };
        let compared = compare(&case, &SUMS, |_| {});
        assert!(compared >= SEEDS / 2, "only {compared} could be compared");
        let contracted = (0..SEEDS).filter(|&seed| case.apply(&mut program(seed, &SUMS)) > 0);
        assert!(contracted.count() as u64 > SEEDS / 2);
    }
}

#[test]
fn a_table_gives_what_the_array_gave() {
    let case = Case { target: &Masks, ..Case::of(&["tables"]) };
    let compared = compare(&case, &Config::COMPUTE, add_table);
    assert!(compared >= SEEDS / 2, "only {compared} could be compared");
    let mut func = program(1, &Config::COMPUTE);
    add_table(&mut func);
    case.apply(&mut func);
    assert!(func.mems.values().any(|mem| mem.space == MemSpace::Constant));
}

#[test]
fn loops_leave_with_what_they_left_with() {
    for names in
        [vec!["settle_loops"], vec!["join_exits"], vec!["settle_loops", "join_exits", "licm"]]
    {
        for target in [&Neutral as &'static dyn TargetInfo, &Masks] {
            let case = Case { target, ..Case::of(&names) };
            let compared = compare(&case, &Config::COMPUTE, add_exits);
            assert!(compared >= SEEDS / 2, "only {compared} could be compared");
            let mut func = program(1, &Config::COMPUTE);
            add_exits(&mut func);
            assert!(case.apply(&mut func) > 0, "{names:?}");
        }
    }
}

#[test]
fn words_hold_what_64_and_16_bits_held_and_leave_only_seams() {
    let config = Config {
        allow: |op| !matches!(op, Op::BufferAtomic | Op::MemAtomic | Op::ImageAtomic),
        halves: false,
        doubles: false,
        size: 200,
        ..Config::COMPUTE
    };
    let case = Case { target: &Masks, ..Case::of(&["words"]) };
    let compared = compare(&case, &config, |_| {});
    assert!(compared >= SEEDS / 2, "only {compared} could be compared");
    let mut split = 0;
    for seed in 0..SEEDS {
        let mut func = program(seed, &config);
        let wide = |func: &Func| {
            func.regions_in_order().iter().any(|&(region, ..)| {
                func.regions[region].insts.iter().any(|&inst| {
                    let data = &func.insts[inst];
                    let mut touched = data.args.iter().chain(&data.results);
                    let held = |&value: &Value| matches!(func.ty(value), Type::B1 | Type::B32);
                    // Joins of words that nobody needs are for `dce`.
                    data.op != Op::Join64 && touched.any(|value| !held(value))
                })
            })
        };
        split += u64::from(wide(&func));
        case.apply(&mut func);
        assert!(!wide(&func), "seed {seed}\n{func}");
    }
    assert!(split > SEEDS / 2, "only {split} programs had other widths");
}

#[test]
fn both_arms_may_share_work() {
    let prepare: fn(&mut Func) = |func| {
        echo_arms(func);
    };
    let case = Case::of(&["hoist"]);
    let compared = compare(&case, &Config::COMPUTE, prepare);
    assert!(compared >= SEEDS / 2, "only {compared} could be compared");
    let moved = (0..SEEDS).map(|seed| {
        let mut func = program(seed, &Config::COMPUTE);
        echo_arms(&mut func);
        case.apply(&mut func)
    });
    assert!(moved.sum::<u64>() > SEEDS, "both echoes of an arm move");
}

#[test]
fn where_nobody_sees_it_a_demoted_invocation_may_do_anything() {
    for target in [&Neutral as &'static dyn TargetInfo, &Masks] {
        for names in [vec!["demoted"], Plan::for_options(&Options::default()).names()] {
            let case = Case { target, ..Case::of(&names) };
            let compared = compare(&case, &UNSEEN, demote_arms);
            assert!(compared >= SEEDS / 2, "only {compared} could be compared");
        }
    }
    let case = Case::of(&["demoted"]);
    let changes = |seed: &u64| {
        let mut func = program(*seed, &UNSEEN);
        demote_arms(&mut func);
        case.apply(&mut func) > 0
    };
    let found = (0..4 * SEEDS).filter(changes).count();
    assert!(found >= 16, "only {found} programs were changed");
}

#[test]
fn what_would_run_for_ever_is_never_reached() {
    for target in [&Neutral as &'static dyn TargetInfo, &Masks] {
        for names in [
            vec!["prune"],
            vec!["simplify", "prune", "simplify"],
            Plan::for_options(&Options::default()).names(),
        ] {
            compare_all_prepared(&Case { target, ..Case::of(&names) });
        }
    }
    let case = Case::of(&["simplify", "prune"]);
    for seed in 0..SEEDS {
        let plain = program(seed, &Config::COMPUTE);
        let mut func = plain.clone();
        add_endless(&mut func);
        case.apply(&mut func);
        let branches = |func: &Func| func.to_string().matches("if %").count();
        assert!(branches(&func) <= branches(&plain), "seed {seed}\n{func}");
    }
}

fn compare_all_prepared(case: &Case) {
    let compared = compare(case, &Config::COMPUTE, add_endless)
        + compare(case, &Config::FRAGMENT, add_endless);
    assert!(compared >= SEEDS, "only {compared} could be compared");
}

#[test]
fn what_a_block_stored_it_does_not_load() {
    let prepare: fn(&mut Func) = |func| {
        phis_to_memory(func);
        assert!(echo_stores(func) > 0, "nothing is stored\n{func}");
    };
    let case = Case::of(&["forward"]);
    let config = Config { depth: 6, size: 150, ..Config::COMPUTE };
    let compared = compare(&case, &config, prepare);
    assert!(compared >= SEEDS / 2, "only {compared} could be compared");
    for seed in 0..SEEDS {
        let mut func = program(seed, &config);
        phis_to_memory(&mut func);
        let plain = private_accesses(&func);
        echo_stores(&mut func);
        case.apply(&mut func);
        let left = private_accesses(&func);
        assert!(left <= plain, "seed {seed}: {left} of {plain}\n{func}");
    }
}

#[test]
fn fuel_bisects_to_programs_that_all_mean_the_same() {
    for seed in 0..8 {
        let before = program(seed, &Config::COMPUTE);
        let Ok(expected) = run(&before, seed, &Numerics::REFERENCE) else {
            continue;
        };
        let case = Case::of(&Plan::for_options(&Options::default()).names());
        let mut whole = before.clone();
        let total = case.apply(&mut whole);
        for fuel in (0..total).step_by((total as usize / 16).max(1)) {
            let mut func = before.clone();
            let mut ctx = Ctx::new(case.options, Numerics::REFERENCE, &Neutral);
            ctx.fuel = Some(fuel);
            let plan = Plan::of(&case.names);
            let mut runner = Runner::default();
            let report =
                runner.run(&plan, &mut func, &mut ctx, &mut Quiet).expect("sound at any fuel");
            assert!(report.rewrites <= fuel);
            let actual = run(&func, seed, &Numerics::REFERENCE).expect("runs at any fuel");
            assert_eq!(difference(&expected, &actual), None, "seed {seed} fuel {fuel}");
        }
    }
}

#[test]
fn contraction_changes_nothing_where_fma_rounds_twice() {
    let options = Options { contract: true, zero_workgroup: false, ..Options::default() };
    let names = Plan::for_options(&options).names();
    compare_all(&Case { names, options, target: &Masks, numerics: SLOPPY });
}
