//! Random structured programs through a whole compiler: the bytes must do what the interpreter does.

use gpucc::verify::verify;
use gpucc::{Compiler, FailureKind, Options, SourceText, Target};
use gpucc_ir::ssa::random::{Config, program};
use gpucc_ir::ssa::{Func, Op};

/// What a run over many programs found.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Programs made.
    pub programs: u64,
    /// Programs whose bytes were executed and compared.
    pub compared: u64,
    /// Programs that a limit of the machine stopped (exit 4).
    pub limits: u64,
    /// Programs that ask what the silicon lacks (exit 3).
    pub refused: u64,
    /// Programs with a mismatch: seed and first difference.
    pub mismatches: Vec<(u64, String)>,
    /// Programs that failed otherwise: seed and message.
    pub failures: Vec<(u64, String)>,
    /// Instructions of each program, before optimisation.
    pub sizes: Vec<usize>,
    /// Occurrences of each op, in [`Op::ALL`]'s order.
    pub ops: Vec<u64>,
    /// Conditional constructs, and those on a condition that depends on the invocation.
    pub branches: (u64, u64),
    /// Deepest nesting met.
    pub nesting: u32,
    /// Words compared, words left out, inputs out of steps.
    pub words: (u64, u64, u64),
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            programs: 0,
            compared: 0,
            limits: 0,
            refused: 0,
            mismatches: Vec::new(),
            failures: Vec::new(),
            sizes: Vec::new(),
            ops: vec![0; Op::ALL.len()],
            branches: (0, 0),
            nesting: 0,
            words: (0, 0, 0),
        }
    }
}

/// Ops that a target's programs may hold: all but those that its silicon refuses or that we lack.
pub fn allowed(target: Target) -> fn(Op) -> bool {
    match target {
        // No atomics and nothing across lanes, which the silicon refuses.
        Target::R700 => |op| {
            !matches!(
                op,
                Op::BufferAtomic
                    | Op::MemAtomic
                    | Op::ImageAtomic
                    | Op::Ballot
                    | Op::Shuffle
                    | Op::Reduce
            )
        },
        // R6xx writes no memory besides.
        Target::R600 => |op| {
            !matches!(
                op,
                Op::BufferAtomic
                    | Op::MemAtomic
                    | Op::ImageStore
                    | Op::ImageAtomic
                    | Op::Ballot
                    | Op::Shuffle
                    | Op::Reduce
                    | Op::IsHelper
            )
        },
        Target::Valhall | Target::Gen4 | Target::G45 | Target::Rogue | Target::Interp => |_| true,
    }
}

/// The program of a seed: every fourth is a fragment program, every fifth works together in
/// workgroups; the even ones and every second fragment program sample textures. R6xx's are all fragment programs.
pub fn program_of(target: Target, seed: u64) -> Func {
    // R6xx writes no memory, and a compute program leaves nothing else.
    let exports_only = target == Target::R600;
    let base = match seed % 4 {
        _ if exports_only => Config::FRAGMENT,
        3 => Config::FRAGMENT,
        _ => Config::COMPUTE,
    };
    let config = Config {
        allow: allowed(target),
        workgroup: seed.is_multiple_of(5) && !exports_only,
        textures: seed.is_multiple_of(2) || seed % 8 == 3,
        halves: matches!(target, Target::Interp | Target::Valhall),
        doubles: target == Target::Interp,
        workgroup_size: 32,
        ..base
    };
    program(seed, &config)
}

/// Makes, compiles, runs and compares the programs of `seeds`.
///
/// # Panics
/// Never on account of a program: what goes wrong is tallied.
pub fn run(compiler: &Compiler, seeds: std::ops::Range<u64>, inputs: u32) -> Tally {
    let mut tally = Tally::default();
    let source = SourceText::new("random", None);
    for seed in seeds {
        let func = program_of(compiler.target(), seed);
        count(&mut tally, &func);
        let options = Options::default();
        let compiled = match compiler.compile(&func, &options) {
            Ok(compiled) => compiled,
            Err(failure) if matches!(failure.kind, FailureKind::Limit { .. }) => {
                tally.limits += 1;
                continue;
            }
            Err(failure) if matches!(failure.kind, FailureKind::Refused { .. }) => {
                tally.refused += 1;
                continue;
            }
            Err(failure) => {
                tally.failures.push((seed, failure.summary().to_owned()));
                continue;
            }
        };
        match verify(compiler, &compiled, &source, &options, inputs, seed) {
            Ok(summary) => {
                tally.compared += 1;
                tally.words.0 += summary.words;
                tally.words.1 += summary.racy_words;
                tally.words.2 += u64::from(summary.out_of_steps);
                if let Some(first) = summary.first {
                    tally.mismatches.push((seed, first.to_string()));
                }
            }
            Err(failure) => tally.failures.push((seed, failure.summary().to_owned())),
        }
    }
    tally
}

fn count(tally: &mut Tally, func: &Func) {
    tally.programs += 1;
    tally.sizes.push(func.live_insts());
    let uniformity = gpucc_passes::uniformity::Uniformity::of(func);
    for (region, _, depth) in func.regions_in_order() {
        tally.nesting = tally.nesting.max(depth);
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            tally.ops[data.op as usize] += 1;
            if matches!(data.op, Op::If | Op::BreakIf) {
                tally.branches.0 += 1;
                tally.branches.1 += u64::from(!uniformity.is_uniform(data.args[0]));
            }
        }
    }
}

impl Tally {
    /// The table that the runner prints.
    pub fn table(&self, target: &str) -> String {
        use std::fmt::Write;
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
        let mut out = String::new();
        let mut rows: Vec<(&str, u64)> = Op::ALL
            .iter()
            .map(|op| (op.name(), self.ops[*op as usize]))
            .collect();
        rows.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        for row in rows.chunks(5) {
            for (name, count) in row {
                let _ = write!(out, "{name:>16} {count:>8}");
            }
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "programs on {target}: {}, compared {}, limits {}, refused {}, mismatches {}, failures {}",
            self.programs,
            self.compared,
            self.limits,
            self.refused,
            self.mismatches.len(),
            self.failures.len()
        );
        let _ = writeln!(
            out,
            "median {median} instructions, nesting up to {}, branches {} of which divergent {} ({:.0} %)",
            self.nesting,
            self.branches.0,
            self.branches.1,
            100.0 * self.branches.1 as f64 / self.branches.0.max(1) as f64
        );
        let _ = writeln!(
            out,
            "words compared {}, left out {}, inputs out of steps {}",
            self.words.0, self.words.1, self.words.2
        );
        out
    }
}
