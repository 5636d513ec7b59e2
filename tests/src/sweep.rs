//! How compile time and memory grow: the same kind of program at doubling sizes.

use gpucc::{Choice, Compiler, Options, Source};
use gpucc_ir::ssa::{
    Builder, Builtin, Func, ImageAccess, InputData, InputKind, Op, ResourceData, ResourceKind,
    Scalar, Stage, Type, Value,
};
use std::time::Duration;

/// One size.
#[derive(Clone, Debug)]
pub struct Point {
    /// SSA instructions.
    pub instructions: usize,
    /// SSA values.
    pub values: usize,
    /// From the end of the front end to the bytes, the best of the runs.
    pub time: Duration,
}

/// The text of a compute program of about `size` instructions: arithmetic that cannot be folded,
/// in `if`s and loops of a few dozen instructions each.
pub fn text(size: usize) -> String {
    let mut func = Func::new("main", Stage::Compute);
    func.workgroup_size = [64, 1, 1];
    let id = func.inputs.push(InputData {
        kind: InputKind::Builtin(Builtin::GlobalInvocationId),
        components: 3,
        scalar: Scalar::U32,
        name: "id".into(),
    });
    let buffer = func.resources.push(ResourceData {
        group: 0,
        binding: 0,
        name: "data".into(),
        kind: ResourceKind::Storage {
            size: 0,
            stride: 4,
            access: ImageAccess {
                load: true,
                store: true,
                atomic: false,
            },
        },
        count: None,
        scalar: Scalar::F32,
    });
    let mut b = Builder::at_body(&mut func);
    let (id, four) = (b.input(id, 0), b.u32(4));
    let address = b.op2(Op::IMul, id, four);
    let mut x = b.buffer_load(buffer, None, address, &[Type::B32])[0];
    let mut y = b.f32(0.75);
    let mut round = 0u32;
    while b.func.insts.len() + 40 < size {
        round += 1;
        for step in 0..6 {
            let k = b.f32(0.5 + (round * 7 + step) as f32 / 1024.0);
            let product = b.op2(Op::FMul, x, k);
            let sum = b.op2(Op::FAdd, product, y);
            y = b.op2(Op::FMax, x, sum);
            x = sum;
        }
        let low = b.op2(Op::FLt, x, y);
        let merged = b.if_else(
            low,
            &[Type::B32],
            |b| vec![b.op2(Op::FAdd, x, y)],
            |b| vec![b.op2(Op::FSub, x, y)],
        );
        x = merged[0];
        if round.is_multiple_of(8) {
            x = counted(&mut b, x, y);
        }
    }
    b.buffer_store(buffer, None, address, &[x]);
    b.end(Op::Yield, &[]);
    gpucc::print_ir(&func)
}

/// A loop of a trip count that nothing knows.
fn counted(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let zero = b.u32(0);
    b.loop_(
        &[x, zero],
        &[Type::B32, Type::B32],
        &[Type::B32],
        |b, params| {
            let next = b.op2(Op::FMul, params[0], y);
            b.end(Op::Continue, &[next, params[1]]);
        },
        |b, params| {
            let (one, nine) = (b.u32(1), b.f32(9.0));
            let next = b.op2(Op::IAdd, params[1], one);
            let done = b.op2(Op::FLt, nine, params[0]);
            b.end(Op::BreakIf, &[done, params[0], params[0], next]);
        },
    )[0]
}

/// Compiles the program at each size, `runs` times.
///
/// # Errors
/// What the compiler said.
pub fn run(compiler: &Compiler, sizes: &[usize], runs: usize) -> Result<Vec<Point>, String> {
    let mut points = Vec::new();
    for &size in sizes {
        let text = text(size);
        let options = Options::default();
        let parsed = compiler
            .parse(Source::Ir(&text), Choice::default(), &options)
            .map_err(|failure| failure.summary().to_owned())?;
        let func = parsed
            .entries
            .into_iter()
            .next()
            .ok_or("no entry point")?
            .func
            .map_err(|failure| failure.summary().to_owned())?;
        let mut best = Duration::MAX;
        for _ in 0..runs.max(1) {
            let compiled = compiler
                .compile(&func, &options)
                .map_err(|failure| failure.summary().to_owned())?;
            best = best.min(compiled.compile_time);
        }
        points.push(Point {
            instructions: func.live_insts(),
            values: func.values.len(),
            time: best,
        });
    }
    Ok(points)
}

/// Most memory that this process has held, in bytes; `None` where the system does not say.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The table that the runner prints: each size, its time, and its ratio to the size before.
pub fn table(points: &[Point]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut before: Option<&Point> = None;
    for point in points {
        let micros = point.time.as_secs_f64() * 1e6;
        let _ = write!(
            out,
            "{:>7} instructions {:>10.0} us {:>6.2} us each",
            point.instructions,
            micros,
            micros / point.instructions as f64
        );
        if let Some(before) = before {
            let growth = point.time.as_secs_f64() / before.time.as_secs_f64();
            let doublings = (point.instructions as f64 / before.instructions as f64).log2();
            let _ = write!(out, "  x {:.2} a doubling", growth.powf(1.0 / doublings));
        }
        out.push('\n');
        before = Some(point);
    }
    if let (Some(last), Some(peak)) = (points.last(), peak_memory()) {
        let budget = (64 << 20) + 2048 * last.values as u64;
        let _ = writeln!(
            out,
            "peak memory {} MiB of {} MiB (64 MiB + 2 KiB for each of {} values)",
            peak >> 20,
            budget >> 20,
            last.values
        );
    }
    out
}
