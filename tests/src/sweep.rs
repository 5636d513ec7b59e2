//! How compile time and memory grow: the same kind of program at doubling sizes.

mod shapes;

use gpucc::{Choice, Compiler, Options, Source};
use gpucc_ir::ssa::{
    Builder, Builtin, Func, ImageAccess, InputData, InputKind, Op, ResourceData, ResourceKind,
    Scalar, Stage, Type, Value,
};
pub use shapes::{SHAPES, Shape};
use std::time::{Duration, Instant};

/// One size.
#[derive(Clone, Debug)]
pub struct Point {
    /// SSA instructions.
    pub instructions: usize,
    /// SSA values.
    pub values: usize,
    /// From the end of the front end to the bytes, the best of the runs.
    pub time: Duration,
    /// What the front end took.
    pub frontend: Duration,
    /// The passes and stages of the back end that took longest, the longest first.
    pub slowest: Vec<(&'static str, Duration)>,
    /// What was said, where that was all.
    pub refused: Option<String>,
}

/// Compiles programs of one shape at each size, `runs` times.
pub fn shape(compiler: &Compiler, shape: &Shape, sizes: &[usize], runs: usize) -> Vec<Point> {
    sizes
        .iter()
        .map(|&size| point(compiler, Source::Wgsl(&(shape.text)(size)), runs))
        .collect()
}

/// Compiles one program, `runs` times.
fn point(compiler: &Compiler, source: Source<'_>, runs: usize) -> Point {
    let options = Options::default();
    let start = Instant::now();
    let mut point = Point {
        instructions: 0,
        values: 0,
        time: Duration::ZERO,
        frontend: Duration::ZERO,
        slowest: Vec::new(),
        refused: None,
    };
    let parsed = compiler.parse(source, Choice::default(), &options);
    point.frontend = start.elapsed();
    let entry = parsed.and_then(|parsed| match parsed.entries.into_iter().next() {
        Some(entry) => entry.func,
        None => Err(gpucc::Failure::usage("no entry point")),
    });
    let func = match entry {
        Ok(func) => func,
        Err(failure) => {
            point.refused = Some(failure.summary().to_owned());
            return point;
        }
    };
    (point.instructions, point.values) = (func.live_insts(), func.values.len());
    for run in 0..runs.max(1) {
        let start = Instant::now();
        match compiler.compile(&func, &options) {
            Ok(compiled) => {
                if run > 0 && compiled.compile_time >= point.time {
                    continue;
                }
                point.time = compiled.compile_time;
                let mut sums: std::collections::BTreeMap<&'static str, Duration> =
                    std::collections::BTreeMap::new();
                for pass in &compiled.times {
                    *sums.entry(pass.name).or_default() += pass.time;
                }
                point.slowest = sums.into_iter().collect();
                point
                    .slowest
                    .sort_by_key(|&(_, time)| std::cmp::Reverse(time));
                point.slowest.truncate(3);
            }
            Err(failure) => {
                point.time = start.elapsed();
                point.refused = Some(failure.summary().to_owned());
                break;
            }
        }
    }
    point
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
    let points: Vec<Point> = sizes
        .iter()
        .map(|&size| point(compiler, Source::Ir(&text(size)), runs))
        .collect();
    match points.iter().find_map(|point| point.refused.clone()) {
        Some(refused) => Err(refused),
        None => Ok(points),
    }
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
            micros / point.instructions.max(1) as f64
        );
        if let Some(before) = before.filter(|before| before.instructions < point.instructions) {
            let growth = point.time.as_secs_f64() / before.time.as_secs_f64();
            let doublings = (point.instructions as f64 / before.instructions as f64).log2();
            let _ = write!(out, "  x {:.2} a doubling", growth.powf(1.0 / doublings));
        }
        let _ = write!(
            out,
            "  front end {:.0} us",
            point.frontend.as_secs_f64() * 1e6
        );
        for (name, time) in &point.slowest {
            let _ = write!(out, "  {name} {} us", time.as_micros());
        }
        if let Some(refused) = &point.refused {
            let _ = write!(out, "  refused: {refused}");
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

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc::Target;

    #[test]
    fn every_shape_compiles_for_both_kinds_of_machine_and_grows_with_its_size() {
        for target in [Target::R700, Target::Valhall] {
            let compiler = Compiler::new(target, None).expect("the target is built");
            for kind in SHAPES {
                // Fifteen buffers are all that R700 has.
                let sizes = match kind.name {
                    "bindings" => [50, 100],
                    _ => [300, 600],
                };
                let points = shape(&compiler, kind, &sizes, 1);
                for point in &points {
                    assert_eq!(point.refused, None, "{} on {}", kind.name, target.name());
                }
                assert!(
                    points[0].instructions < points[1].instructions,
                    "{}",
                    kind.name
                );
            }
        }
    }
}
