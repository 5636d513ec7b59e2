//! Random structured programs through a whole compiler: the bytes must do what the interpreter does.

use gpucc::verify::{Plan, verify_plan};
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

/// The silicon lacks a feature, by the name in its table of refusals.
pub fn lacks(target: Target, feature: &str) -> bool {
    target.refusals().iter().any(|row| row.0 == feature)
}

/// Atomic operations that more than one workgroup meets at.
pub const SHARED_ATOMICS: &str = "atomic operations on buffers and textures";

/// The silicon has programs that write memory.
pub fn writes_memory(target: Target) -> bool {
    !lacks(target, "writes to storage buffers and storage textures")
}

/// Ops that a target's programs may hold: all but those that its silicon refuses or that we lack.
pub fn allowed(target: Target) -> fn(Op) -> bool {
    const fn atomic(op: Op) -> bool {
        matches!(op, Op::BufferAtomic | Op::MemAtomic | Op::ImageAtomic)
    }
    const fn across_lanes(op: Op) -> bool {
        matches!(op, Op::Ballot | Op::Shuffle | Op::Reduce)
    }
    // A demoted invocation's stores are what helpers are asked for.
    const fn stores(op: Op) -> bool {
        matches!(op, Op::ImageStore | Op::IsHelper)
    }
    let lacks = |feature| lacks(target, feature);
    if lacks(SHARED_ATOMICS) {
        return |op| !matches!(op, Op::BufferAtomic | Op::ImageAtomic);
    }
    match (lacks("atomic operations"), lacks("subgroup operations")) {
        _ if !writes_memory(target) => |op| !atomic(op) && !across_lanes(op) && !stores(op),
        (true, true) => |op| !atomic(op) && !across_lanes(op),
        (true, false) => |op| !atomic(op),
        (false, true) => |op| !across_lanes(op),
        (false, false) => |_| true,
    }
}

/// The program of a seed: every fourth is a fragment program, every eighth one of geometry where there are such, every fifth
/// works together in workgroups; the even ones and every second fragment program sample textures. Where no program writes memory, all are
/// fragment programs.
pub fn program_of(target: Target, seed: u64) -> Func {
    // A compute program leaves nothing but memory.
    let exports_only = !writes_memory(target);
    let base = match seed % 4 {
        _ if exports_only => Config::FRAGMENT,
        3 => Config::FRAGMENT,
        2 if seed % 8 == 6 && target.about().stages.contains(&"geometry") => Config::GEOMETRY,
        _ => Config::COMPUTE,
    };
    let machine = target.built();
    let config = Config {
        allow: allowed(target),
        workgroup: seed.is_multiple_of(5) && base.workgroup,
        textures: seed.is_multiple_of(2) || seed % 8 == 3,
        halves: machine.is_none_or(|machine| machine.info().holds_16_bits()),
        doubles: machine.is_none(),
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
        let mut options = Options::default();
        options.keep_steps = true;
        judge(&mut tally, compiler, &source, &func, &options, (seed, inputs));
    }
    tally
}

/// Compiles one program, runs and compares it on so many inputs, and tallies it under its seed.
pub(crate) fn judge(
    tally: &mut Tally,
    compiler: &Compiler,
    source: &SourceText,
    func: &Func,
    options: &Options,
    (seed, inputs): (u64, u32),
) {
    count(tally, func);
    let compiled = match compiler.compile(func, options) {
        Ok(compiled) => compiled,
        Err(failure) if matches!(failure.kind, FailureKind::Limit { .. }) => {
            tally.limits += 1;
            return;
        }
        Err(failure) if matches!(failure.kind, FailureKind::Refused { .. }) => {
            tally.refused += 1;
            return;
        }
        Err(failure) => {
            tally.failures.push((seed, failure.summary().to_owned()));
            return;
        }
    };
    // One input of each kind for eight programs. Each runs once more in another order, and once where functions err. Of the
    // passes the first and the last are compared.
    let plan = Plan {
        first: (seed % (1 << 20)) as u32 * inputs,
        pass_inputs: 0,
        orders: 1,
        errors: 1,
        ..Plan::new(inputs, seed)
    };
    match verify_plan(compiler, &compiled, source, options, &plan) {
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
        let mut rows: Vec<(&str, u64)> =
            Op::ALL.iter().map(|op| (op.name(), self.ops[*op as usize])).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A feature of another name would be one that no machine lacks, and its programs would all be refused.
    #[test]
    fn the_features_that_programs_are_made_by_are_those_of_the_tables() {
        let features = [
            "writes to storage buffers and storage textures",
            "atomic operations",
            SHARED_ATOMICS,
            "subgroup operations",
        ];
        for feature in features {
            let mut machines = Target::machines();
            assert!(machines.any(|target| lacks(target, feature)), "{feature}");
        }
        assert!(!lacks(Target::Interp, features[0]));
    }
}
