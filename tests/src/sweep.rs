//! How compile time and memory grow: the same kind of program at doubling sizes.

mod shapes;

use gpucc::{Budget, Choice, Compiler, Options, Source};
use gpucc_ir::ssa::{
    Bounds, Builder, Builtin, Func, ImageAccess, InputData, InputKind, Op, ResourceData,
    ResourceKind, Scalar, Stage, Type, Value,
};
use serde::{Deserialize, Serialize};
pub use shapes::{SHAPES, Shape};
use std::time::{Duration, Instant};

/// One size.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// SSA instructions.
    pub instructions: usize,
    /// SSA values.
    pub values: usize,
    /// From the end of the front end to the bytes, the best of the runs.
    pub time: Duration,
    /// What the front end took.
    pub frontend: Duration,
    /// What our part of it took: bounds and lowering, naga apart.
    pub lowering: Duration,
    /// Bytes that the process held at most, without what it held before; only where it had one program.
    pub memory: Option<u64>,
    /// The passes and stages of the back end that took longest, the longest first.
    pub slowest: Vec<(String, Duration)>,
    /// What was said, where that was all.
    pub refused: Option<String>,
    /// It was refused for what the machine bounds, whatever the budget.
    #[serde(default)]
    pub limited: bool,
}

/// Compiles programs of one shape at each size, `runs` times, in this process.
pub fn shape(compiler: &Compiler, shape: &Shape, sizes: &[usize], runs: usize) -> Vec<Point> {
    sizes.iter().map(|&size| point(compiler, Source::Wgsl(&(shape.text)(size)), runs)).collect()
}

/// Compiles programs of one shape at each size, each in a process of its own, so that the memory of
/// each is known.
///
/// # Errors
/// A process that could not be started, or that broke.
pub fn measure(
    target: &str,
    shape: &Shape,
    sizes: &[usize],
    runs: usize,
) -> Result<Vec<Point>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let one = |&size: &usize| {
        let output = std::process::Command::new(&program)
            .args(["--target", target, "sweep", "--shape", shape.name])
            .args(["--runs", &runs.to_string(), "--point", &size.to_string()])
            .output()
            .map_err(|error| error.to_string())?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("{} at {size}: {} {said}", shape.name, output.status)
        })
    };
    sizes.iter().map(one).collect()
}

/// One size of the shape of this name as a line of JSON.
///
/// # Errors
/// No such shape.
pub fn line(compiler: &Compiler, name: &str, size: usize, runs: usize) -> Result<String, String> {
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    let shape = shape.ok_or_else(|| format!("no shape '{name}'"))?;
    let text = (shape.text)(size);
    let before = peak_memory();
    let mut point = point(compiler, Source::Wgsl(&text), runs);
    point.memory = peak_memory().zip(before).map(|(peak, before)| peak - before);
    let json = serde_json::to_string(&point).map_err(|error| error.to_string())?;
    Ok(json + "\n")
}

/// What a doubling of the program multiplies.
#[derive(Copy, Clone, Debug)]
pub struct Growth {
    /// Time of our lowering and of everything behind it.
    pub time: f64,
    /// Memory; 1 where it is not known.
    pub memory: f64,
}

impl Growth {
    /// Neither is more than that.
    pub fn within(self, most: f64) -> bool {
        self.time <= most && self.memory <= most
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "x {:.2} time, x {:.2} memory", self.time, self.memory)
    }
}

/// Growth between the first and the last of the sizes that compiled, took more than 2 ms, and held more
/// than 2 MiB: below that the clock and the allocator say nothing. `None` with less than a factor of four
/// between them.
pub fn growth(points: &[Point]) -> Option<Growth> {
    let counts = |point: &&Point| {
        let memory = point.memory.is_none_or(|bytes| bytes > 2 << 20);
        point.refused.is_none() && point.cost() > Duration::from_millis(2) && memory
    };
    let first = points.iter().find(counts)?;
    let last = points.iter().rfind(counts)?;
    let doublings = (last.instructions as f64 / first.instructions as f64).log2();
    if doublings < 2.0 {
        return None;
    }
    let each = |factor: f64| factor.powf(1.0 / doublings);
    let memory = last.memory.zip(first.memory);
    Some(Growth {
        time: each(last.cost().as_secs_f64() / first.cost().as_secs_f64()),
        memory: memory.map_or(1.0, |(last, first)| each(last as f64 / first as f64)),
    })
}

impl Point {
    /// What is ours of the time.
    fn cost(&self) -> Duration {
        self.time + self.lowering
    }
}

/// Compiles one program, `runs` times.
fn point(compiler: &Compiler, source: Source<'_>, runs: usize) -> Point {
    let options = Options::default();
    let start = Instant::now();
    let mut point = Point::default();
    if let Source::Wgsl(text) = source {
        let asked = gpucc_frontend::Options::default();
        let parsed = gpucc_frontend::parse(gpucc_frontend::Source::Wgsl(text), "", &asked);
        let micros = parsed.map_or(0, |parsed| parsed.microseconds.lowering);
        point.lowering = Duration::from_micros(micros);
    }
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
                point.slowest =
                    sums.into_iter().map(|(name, time)| (name.to_owned(), time)).collect();
                point.slowest.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
                point.slowest.truncate(3);
            }
            Err(failure) => {
                point.time = start.elapsed();
                point.refused = Some(failure.summary().to_owned());
                point.limited = is_machines(compiler, &func, &options);
                break;
            }
        }
    }
    point
}

/// Whether a program is beyond a limit of the machine, and not of the budget alone.
fn is_machines(compiler: &Compiler, func: &Func, options: &Options) -> bool {
    let mut boundless = options.clone();
    boundless.budget = Budget { memory: u64::MAX, steps: u64::MAX };
    let compiled = compiler.compile(func, &boundless);
    matches!(compiled, Err(failure) if matches!(failure.kind, gpucc::FailureKind::Limit { .. }))
}

/// The text of a compute program of about `size` instructions: arithmetic that cannot be folded,
/// in `if`s and loops of a few dozen instructions each.
pub fn text(size: usize) -> String {
    let mut func = Func::new("main", Stage::Compute);
    func.workgroup_size = [64, 1, 1];
    // What is measured has no bounds.
    func.bounds = Bounds::Trusted;
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
            access: ImageAccess { load: true, store: true, atomic: false },
        },
        count: None,
        scalar: Scalar::F32,
        mixed: false,
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

/// Compiles the program at each size, `runs` times. A machine may bound the size of a program, as the width of its
/// jumps does: the last point is then the first that it refuses.
///
/// # Errors
/// What the compiler said, where that is no limit, or the smallest program is beyond it.
pub fn run(compiler: &Compiler, sizes: &[usize], runs: usize) -> Result<Vec<Point>, String> {
    let mut points: Vec<Point> = Vec::new();
    for &size in sizes {
        let point = point(compiler, Source::Ir(&text(size)), runs);
        match &point.refused {
            Some(refused) if !point.limited || points.is_empty() => return Err(refused.clone()),
            Some(_) => {
                points.push(point);
                break;
            }
            None => points.push(point),
        }
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
            micros / point.instructions.max(1) as f64
        );
        let smaller = |before: &&Point| before.instructions < point.instructions;
        if let Some(before) = before.filter(smaller).filter(|_| point.refused.is_none()) {
            let growth = point.time.as_secs_f64() / before.time.as_secs_f64();
            let doublings = (point.instructions as f64 / before.instructions as f64).log2();
            let _ = write!(out, "  x {:.2} a doubling", growth.powf(1.0 / doublings));
        }
        let _ = write!(
            out,
            "  front end {} us, {} of it ours",
            point.frontend.as_micros(),
            point.lowering.as_micros()
        );
        if let Some(memory) = point.memory {
            let each = memory as f64 / point.instructions.max(1) as f64;
            let _ = write!(out, "  {} KiB, {each:.0} bytes each", memory >> 10);
        }
        for (name, time) in &point.slowest {
            let _ = write!(out, "  {name} {} us", time.as_micros());
        }
        if let Some(refused) = &point.refused {
            let _ = write!(out, "  refused: {refused}");
        }
        out.push('\n');
        before = Some(point);
    }
    // Processes of their own say what each point held.
    let together = points.iter().all(|point| point.memory.is_none());
    if let (true, Some(last), Some(peak)) = (together, points.last(), peak_memory()) {
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
    use crate::programs::writes_memory;
    use gpucc::Target;

    #[test]
    fn every_shape_compiles_for_every_kind_of_machine_and_grows_with_its_size() {
        for target in Target::machines().filter(|&target| writes_memory(target)) {
            let compiler = Compiler::new(target, None).expect("the target is built");
            for kind in SHAPES {
                // Fifteen buffers are all that some machines have.
                let sizes = match kind.name {
                    "bindings" => [50, 100],
                    _ => [300, 600],
                };
                let points = shape(&compiler, kind, &sizes, 1);
                for point in &points {
                    assert_eq!(point.refused, None, "{} on {}", kind.name, target.name());
                }
                assert!(points[0].instructions < points[1].instructions, "{}", kind.name);
            }
        }
    }
}
