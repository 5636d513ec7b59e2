//! Quotients on emulated machines whose reciprocals err as far as the machine is let.

use gpucc::{Choice, Compiler, Options, Source, SourceText, Target};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::numerics::{Perturbation, Rounding};
use gpucc_ir::ssa::random::Rng;

const WGSL: &str = "@group(0) @binding(0) var<storage> pairs: array<vec2f>;
    @group(0) @binding(1) var<storage, read_write> found: array<vec2f>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) at: vec3u) {
        let pair = pairs[at.x];
        let quotient = pair.x / pair.y;
        found[at.x] = vec2f(quotient, floor(quotient));
    }";

/// How far 1 / y is from a float, in units of it: 0 to 1/2.
fn distance(y: f32) -> f64 {
    let exact = 1.0 / f64::from(y);
    let unit = 2f64.powi(exact.log2().floor() as i32 - 23);
    let part = (exact / unit).fract();
    part.min(1.0 - part)
}

/// Divisors whose reciprocals are floats, nearly floats, or nearly between two, and any. All are positive.
fn divisors() -> Vec<f32> {
    let mut dice = Rng::new(27);
    let mut found: Vec<f32> = (1..40u16).map(f32::from).collect();
    for power in [-100, -60, -23, -5, -1, 0, 1, 2, 7, 23, 24, 60, 100] {
        let whole = 2f32.powi(power);
        let above = whole.next_up();
        found.extend([whole, above, above.next_up(), whole.next_down(), whole * 1.5]);
    }
    let mut any: Vec<f32> =
        (0..60_000).map(|_| f32::from_bits(0x3f80_0000 | dice.bits() as u32 >> 9)).collect();
    found.extend(&any[..200]);
    any.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    found.extend(&any[..150]);
    found.extend(&any[any.len() - 150..]);
    found
}

/// Numbers over each divisor: products with integers, those beside them, what divides into nearly the middle of two floats, and any.
fn pairs() -> Vec<[f32; 2]> {
    let mut dice = Rng::new(72);
    let mut pairs = Vec::new();
    for y in divisors() {
        for _ in 0..3 {
            let whole = (dice.bits() as u32 >> (8 + dice.below(22) as u32)) as f32 + 1.0;
            let product = whole * y;
            let quotient = f32::from_bits(0x3f80_0000 | dice.bits() as u32 >> 9);
            let middle = f64::from(quotient) + f64::from(f32::EPSILON) / 2.0;
            let tie = (middle * f64::from(y)) as f32;
            let any = f32::from_bits(0x3f80_0000 | dice.bits() as u32 >> 9);
            pairs.extend(
                [product, product.next_up(), product.next_down(), tie, -tie, any].map(|x| [x, y]),
            );
        }
    }
    // Whole workgroups.
    let whole = pairs.len() / 64 * 64;
    pairs.truncate(whole);
    pairs
}

#[test]
fn quotients_are_within_the_bound_of_the_language_whatever_the_reciprocal() {
    let pairs = pairs();
    let bytes: Vec<u8> = pairs.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    for target in Target::machines() {
        for &chip in target.chips() {
            let compiler = Compiler::new(target, Some(chip)).expect("built");
            let options = Options::default();
            let parsed = compiler.parse(Source::Wgsl(WGSL), Choice::default(), &options);
            let func = parsed.expect("valid").entries.remove(0).func.expect("lowered");
            let compiled = match compiler.compile(&func, &options) {
                Ok(compiled) => compiled,
                // R6xx stores nothing.
                Err(failure) if failure.exit_code() == 3 => continue,
                Err(failure) => panic!("{} {chip}: {}", target.name(), failure.summary()),
            };
            let errors = compiled.program.as_ref().and_then(|program| program.errors());
            let bounds = errors.expect("the machine approximates").bounds;
            let source = SourceText::new("quotients.wgsl", Some(WGSL.to_owned()));
            let resource = |binding: u32| {
                let mut all = compiled.ssa.resources.iter();
                all.find(|(_, data)| data.binding == binding).expect("is used").0
            };
            let name = || format!("{} {chip}", target.name());
            let cuts = compiler.numerics().rounding != Rounding::NearestEven;
            // The documents of Valhall let FRCP be off by two units of what its table gives: no product with it is within the bound.
            if bounds.rcp_ulps > 1 {
                continue;
            }
            let mut erred = 0;
            let mut exact = Vec::new();
            for seed in 0..8 {
                let mut executor = compiler.executor(&compiled, &options, &source);
                executor.set_errors((seed > 0).then_some(Perturbation { seed, ..bounds }));
                let mut bindings = Bindings::new(&compiled.ssa);
                bindings.set(resource(0), Bound::Buffer(bytes.clone()));
                bindings.set(resource(1), Bound::Buffer(vec![0; bytes.len()]));
                let groups = [pairs.len() as u32 / 64, 1, 1];
                executor.dispatch(&mut bindings, groups).expect("runs");
                let found = bindings.get(resource(1), 0).bytes().to_vec();
                for (pair, found) in pairs.iter().zip(found.chunks_exact(8)) {
                    let word = |at: usize| {
                        f32::from_le_bytes(found[at..at + 4].try_into().expect("four bytes"))
                    };
                    let [x, y] = pair.map(f64::from);
                    let (quotient, floor) = (word(0), word(4));
                    let right = x / y;
                    let unit = 2f64.powi(right.abs().log2().floor() as i32 - 23);
                    let off = (f64::from(quotient) - right).abs() / unit;
                    assert!(off <= 2.5, "{}: {x:e} / {y:e} is off by {off}, {seed}", name());
                    // What rounds toward zero is not too small.
                    let whole = right.fract() == 0.0 && f64::from(right as f32) == right;
                    if cuts && whole && right * y == x {
                        let (floor, small) = (f64::from(floor), right < f64::from(1 << 21));
                        let holds = floor == right || floor > right && !small;
                        assert!(holds, "{}: {x:e} / {y:e}: {floor}, {seed}", name());
                    }
                }
                erred += u32::from(seed > 0 && found != exact);
                if seed == 0 {
                    exact = found;
                }
            }
            // Corrections may hide every error.
            assert!(cuts || erred > 0, "{}: no reciprocal errs", name());
        }
    }
}
