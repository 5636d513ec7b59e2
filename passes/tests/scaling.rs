//! Work grows with the program, not with its square: instruction visits double when the size does.
//! `cargo test --release -p gpucc-passes --test scaling -- --ignored --nocapture` prints times.

use gpucc_ir::ssa::{
    Access, Builder, Func, ImageAccess, Input, InputData, InputKind, Mem, MemData, MemSpace,
    Numerics, Op, Resource, ResourceData, ResourceKind, Scalar, Stage, Value,
};
use gpucc_passes::{Ctx, Neutral, Observer, Options, Plan, Runner};
use std::time::{Duration, Instant};

fn setup() -> (Func, Input, Resource) {
    let mut func = Func::new("big", Stage::Compute);
    func.bounds = gpucc_ir::ssa::Bounds::Trusted;
    let input = func.inputs.push(InputData {
        kind: InputKind::Builtin(gpucc_ir::ssa::Builtin::LocalInvocationId),
        components: 3,
        scalar: Scalar::U32,
        name: "id".into(),
    });
    let access = ImageAccess { load: true, store: true, atomic: false };
    let sink = func.resources.push(ResourceData {
        group: 0,
        binding: 0,
        name: "out".into(),
        kind: ResourceKind::Storage { size: 0, stride: 4, access },
        count: None,
        scalar: Scalar::U32,
        mixed: false,
    });
    (func, input, sink)
}

fn variable(func: &mut Func, words: u32) -> Mem {
    func.mems.push(MemData {
        name: "v".into(),
        size: words * 4,
        space: MemSpace::Private,
        words: Vec::new(),
    })
}

fn store(b: &mut Builder, mem: Mem, word: u32, value: Value) {
    let address = b.u32(word * 4);
    b.mem_store(Access { mem, lo: word * 4, hi: word * 4 + 4 }, address, &[value]);
}

fn load(b: &mut Builder, mem: Mem, word: u32) -> Value {
    let address = b.u32(word * 4);
    b.mem_load(Access { mem, lo: word * 4, hi: word * 4 + 4 }, address, &[gpucc_ir::ssa::Type::B32])
        [0]
}

/// Straight code over a few variables.
fn straight(size: u32) -> Func {
    let (mut func, input, sink) = setup();
    let mem = variable(&mut func, 16);
    let mut b = Builder::at_body(&mut func);
    let x = b.input(input, 0);
    for word in 0..16 {
        store(&mut b, mem, word, x);
    }
    for step in 0..size / 6 {
        let a = load(&mut b, mem, step % 16);
        let c = load(&mut b, mem, step * 7 % 16);
        let op = [Op::IAdd, Op::Xor, Op::IMul, Op::And][step as usize % 4];
        let sum = b.op2(op, a, c);
        store(&mut b, mem, (step * 5 + 3) % 16, sum);
    }
    finish(&mut b, mem, 16, sink);
    func
}

fn finish(b: &mut Builder, mem: Mem, words: u32, sink: Resource) {
    for word in 0..words {
        let value = load(b, mem, word);
        let address = b.u32(word * 4);
        b.buffer_store(sink, None, address, &[value]);
    }
    b.end(Op::Yield, &[]);
}

/// One branch after the other, each over one of many variables.
fn many_variables(size: u32) -> Func {
    let (mut func, input, sink) = setup();
    let count = size / 16;
    let mem = variable(&mut func, count);
    let mut b = Builder::at_body(&mut func);
    let x = b.input(input, 0);
    for word in 0..count {
        store(&mut b, mem, word, x);
    }
    for word in 0..count {
        let limit = b.u32(word);
        let cond = b.op2(Op::ULt, x, limit);
        b.if_else(
            cond,
            &[],
            |b| {
                let old = load(b, mem, word);
                let new = b.op2(Op::IAdd, old, limit);
                store(b, mem, word, new);
                Vec::new()
            },
            |_| Vec::new(),
        );
    }
    finish(&mut b, mem, count, sink);
    func
}

/// Nests of 60 loops and branches, one after the other, that count in variables of their own.
fn deep(size: u32) -> Func {
    fn nest(b: &mut Builder, mem: Mem, depth: u32, x: Value) {
        let old = load(b, mem, depth % 8);
        let limit = b.u32(depth);
        let new = b.op2(Op::IAdd, old, limit);
        store(b, mem, depth % 8, new);
        if depth == 0 {
            return;
        }
        let cond = b.op2(Op::ULt, new, x);
        if depth.is_multiple_of(4) {
            b.loop_(
                &[],
                &[],
                &[],
                |b, _| {
                    nest(b, mem, depth - 1, x);
                    b.end(Op::Continue, &[]);
                },
                |b, _| {
                    let now = load(b, mem, depth % 8);
                    let done = b.op2(Op::ULt, x, now);
                    b.end(Op::BreakIf, &[done]);
                },
            );
        } else {
            b.if_else(
                cond,
                &[],
                |b| {
                    nest(b, mem, depth - 1, x);
                    Vec::new()
                },
                |_| Vec::new(),
            );
        }
    }
    let (mut func, input, sink) = setup();
    let mem = variable(&mut func, 8);
    let mut b = Builder::at_body(&mut func);
    let x = b.input(input, 0);
    for word in 0..8 {
        store(&mut b, mem, word, x);
    }
    for _ in 0..(size / 600).max(1) {
        nest(&mut b, mem, 60, x);
    }
    finish(&mut b, mem, 8, sink);
    func
}

struct Clock(Instant);

impl Observer for Clock {
    fn now(&mut self) -> Option<Duration> {
        Some(self.0.elapsed())
    }
}

type Shape = (&'static str, fn(u32) -> Func);
const SHAPES: [Shape; 3] =
    [("straight", straight), ("many variables", many_variables), ("deep", deep)];

#[test]
fn twice_the_program_is_at_most_2_3_times_the_visits() {
    for (name, make) in SHAPES {
        let visits: Vec<(u64, usize)> = [4_000, 8_000, 16_000]
            .iter()
            .map(|&size| {
                let mut func = make(size);
                let insts = func.live_insts();
                let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
                let plan = Plan::for_options(&ctx.options);
                let mut runner = Runner::default();
                runner.run(&plan, &mut func, &mut ctx, &mut gpucc_passes::Quiet).expect("sound");
                (ctx.steps, insts)
            })
            .collect();
        for pair in visits.windows(2) {
            let grown = pair[1].1 as f64 / pair[0].1 as f64;
            let ratio = pair[1].0 as f64 / pair[0].0 as f64;
            assert!(ratio <= 1.15 * grown, "{name}: {ratio} for {grown} times the program");
        }
    }
}

#[test]
#[ignore = "prints times, for people"]
#[allow(clippy::print_stdout)]
fn times_of_each_pass() {
    for (name, make) in SHAPES {
        for size in [12_500, 25_000, 50_000, 100_000] {
            let mut func = make(size);
            let insts = func.live_insts();
            let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
            let plan = Plan::for_options(&ctx.options);
            let mut runner = Runner::default();
            let report =
                runner.run(&plan, &mut func, &mut ctx, &mut Clock(Instant::now())).expect("sound");
            let total: Duration = report.timings.iter().map(|timing| timing.time).sum();
            let mut slow: Vec<_> = report.timings.iter().collect();
            slow.sort_by_key(|timing| std::cmp::Reverse(timing.time));
            println!(
                "{name} {insts}: {:.2} us per instruction; slowest {}",
                total.as_secs_f64() * 1e6 / insts as f64,
                slow.iter()
                    .take(4)
                    .map(|timing| format!("{} {:?}", timing.name, timing.time))
                    .collect::<Vec<_>>()
                    .join(", "),
            );
        }
    }
}

#[test]
fn the_deepest_nest_that_the_verifier_allows_passes_on_a_small_stack() {
    let (mut func, input, sink) = setup();
    let mem = variable(&mut func, 1);
    let mut b = Builder::at_body(&mut func);
    let x = b.input(input, 0);
    store(&mut b, mem, 0, x);
    let outer = b.region;
    for depth in 0..gpucc_ir::ssa::verify::MAX_NESTING - 2 {
        let old = load(&mut b, mem, 0);
        let limit = b.u32(depth);
        let new = b.op2(Op::IMul, old, limit);
        store(&mut b, mem, 0, new);
        let cond = b.op2(Op::ULt, new, x);
        let (yes, no) = (b.func.new_region(), b.func.new_region());
        b.inst(Op::If, gpucc_ir::ssa::Imm::None, &[cond], &[yes, no], &[]);
        b.end(Op::Yield, &[]);
        b.region = no;
        b.end(Op::Yield, &[]);
        b.region = yes;
    }
    b.end(Op::Yield, &[]);
    // The end of the body stands after the outermost `if`.
    func.regions[outer].insts.pop();
    let mut b = Builder::at(&mut func, outer);
    finish(&mut b, mem, 1, sink);
    let run = move || {
        let mut func = func;
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        let plan = Plan::for_options(&ctx.options);
        let mut runner = Runner::default();
        runner.run(&plan, &mut func, &mut ctx, &mut gpucc_passes::Quiet).expect("sound");
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(run).expect("a thread").join().expect("no overflow");
}
