//! What a pass may know beside the function: options, the target's numbers, the numeric model, fuel.

use crate::fold::settled::Settled;
use crate::spare::Spare;
use gpucc_ir::budget::Budget;
use gpucc_ir::driver::State;
use gpucc_ir::ssa::{
    Flags, Numerics, Op, ResourceData, Stage, Type,
    numerics::{NanRule, ZeroRule},
};

/// How much work the pipeline may spend.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Only what later stages need.
    O0,
    /// Cheap cleaning.
    O1,
    /// Everything that pays for itself.
    O2,
    /// Larger limits.
    Omax,
}

/// What happens to an index that is out of range.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Robustness {
    /// The index is clamped to the last element.
    Restrict,
    /// Reads give 0, writes are dropped.
    Zero,
    /// Nothing is checked: the shader promises to stay in range.
    Off,
}

/// What the user asked of the passes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How much work.
    pub level: Level,
    /// Out-of-range indices.
    pub robustness: Robustness,
    /// Workgroup variables start as zeros.
    pub zero_workgroup: bool,
    /// Loops end after at most 2^64 - 1 trips.
    pub bound_loops: bool,
    /// `a * b + c` may become one `fma` (WGSL allows it).
    pub contract: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: Level::O2,
            robustness: Robustness::Restrict,
            zero_workgroup: true,
            bound_loops: false,
            contract: true,
        }
    }
}

/// What the shared passes ask of a machine. Every answer has a machine-neutral default.
pub trait TargetInfo {
    /// The machine has one instruction for this op at this width (of its first operand).
    fn native(&self, op: Op, ty: Type) -> bool {
        let _ = (op, ty);
        true
    }
    /// One `fma` is cheaper than `fmul` and `fadd`, so contraction pays.
    fn has_fma(&self, ty: Type) -> bool {
        let _ = ty;
        false
    }
    /// Values of 64 bits live in registers as they are. Machines that say no get pairs of words (pass `words`), and
    /// 64 bits only at operations that `native` names at that width or that have no form in words: floats, atomics.
    fn holds_64_bits(&self) -> bool {
        true
    }
    /// Values of 16 bits live in registers as they are. Machines that say no get words with zeros above (pass `words`),
    /// and 16 bits only at operations that have no form in words: floats, and stores to memory that neighbours write.
    /// They hold no 64 bits either.
    fn holds_16_bits(&self) -> bool {
        true
    }
    /// Keeps `exit` as a branch. Mask-stack machines say no and get guards (see `exits_to_guards`).
    fn has_branches(&self) -> bool {
        true
    }
    /// Runs code in `continuing`, so a `continue` in the middle of a body is fine. Machines that say
    /// no get bodies that fall into `continuing`, and `break_if` as a nested `break`.
    fn has_continue(&self) -> bool {
        true
    }
    /// Cost of an instruction in the machine's own unit; 1 is a simple ALU operation.
    fn cost(&self, op: Op, ty: Type) -> u32 {
        default_cost(op, ty)
    }
    /// Cost of reading a uniform at a constant address.
    fn uniform_cost(&self) -> u32 {
        16
    }
    /// Total cost of both arms up to which an `if` becomes selects. 0 turns if-conversion off.
    fn flatten_limit(&self) -> u32 {
        8
    }
    /// Bytes of a private variable up to which it is registers: a word at a constant address is an operand.
    fn private_in_registers(&self) -> u32 {
        0
    }
    /// Private words indexed at run time up to which select chains replace memory.
    fn select_chain_limit(&self) -> u32 {
        4
    }
    /// Selects that two accesses of private memory are worth: arrays whose chains take fewer for the accesses
    /// that they save need no memory either.
    fn access_worth(&self) -> u32 {
        0
    }
    /// Registers of a program of this stage that private variables may have and that an index names, a word each, and instructions
    /// that such an access takes. Selects that take no more replace it.
    fn indexed_registers(&self, stage: Stage) -> (u32, u32) {
        let _ = stage;
        (0, 0)
    }
    /// A bit of a word decides a choice by one instruction, whichever choices follow it: trees of selects ask for
    /// bits of the index rather than for its range.
    fn chooses_by_bits(&self) -> bool {
        false
    }
    /// Words of a private array that only holds constants, from the first to the second number, for
    /// which a table in memory pays; `None` where programs come without tables.
    fn table_words(&self) -> Option<(u32, u32)> {
        None
    }
    /// Buffers may be read where the program would not have (loads out of range do not fault).
    fn speculates_loads(&self) -> bool {
        false
    }
    /// Instructions that an unrolled loop may have.
    fn unroll_limit(&self) -> u32 {
        256
    }
    /// A load of this buffer that lies beyond the bound bytes as a whole gives 0 and touches nothing else.
    fn bounds_loads(&self, buffer: &ResourceData) -> bool {
        let _ = buffer;
        false
    }
}

/// No machine in particular: everything is native.
#[derive(Copy, Clone, Debug, Default)]
pub struct Neutral;

impl TargetInfo for Neutral {}

/// A plausible cost for machines that do not say otherwise.
pub fn default_cost(op: Op, ty: Type) -> u32 {
    let _ = ty;
    match op {
        Op::Const => 0,
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => 20,
        Op::FDiv | Op::FRem => 4,
        Op::IMul | Op::UMulHi | Op::SMulHi => 2,
        Op::FSqrt | Op::FRsq | Op::FRcp | Op::FExp2 | Op::FLog2 => 2,
        Op::FSinTurns | Op::FCosTurns => 2,
        Op::FExp | Op::FLog | Op::FSin | Op::FCos => 4,
        Op::FPow | Op::FTan => 8,
        Op::FAsin | Op::FAcos | Op::FAtan | Op::FAtan2 => 16,
        Op::FSinh | Op::FCosh | Op::FTanh | Op::FAsinh | Op::FAcosh | Op::FAtanh => 16,
        Op::PackHalf | Op::UnpackHalfLo | Op::UnpackHalfHi | Op::FQuantize => 4,
        Op::PopCount | Op::BitReverse | Op::Clz | Op::Ctz | Op::UMsb | Op::SMsb | Op::Lsb => 4,
        Op::UBfe | Op::SBfe | Op::Bfi | Op::FLdexp | Op::FrexpFract | Op::FrexpExp => 4,
        Op::Tex | Op::TexQuery | Op::BufferLoad | Op::MemLoad => 16,
        _ => 1,
    }
}

/// All that a pass may use beside the function.
pub struct Ctx<'a> {
    /// What the user asked.
    pub options: Options,
    /// How floats behave on the target; folding computes exactly this.
    pub numerics: Numerics,
    /// The target.
    pub target: &'a dyn TargetInfo,
    /// Rewrites left before optional passes stop changing things; `None` is no limit.
    pub fuel: Option<u64>,
    /// Memory and work that the function may take.
    pub budget: Budget,
    /// Instruction visits so far: a deterministic measure of work, for budgets and scaling tests.
    pub steps: u64,
    /// Rewrites so far.
    pub rewrites: u64,
    /// State of the pipeline around the shader, for a machine's own passes; the default state when `None`.
    pub pipeline: Option<&'a State>,
    /// Folding may take NaNs and infinities as absent, the sign of zero as nothing, and sums and products of constants
    /// as associative (WGSL, reassociation and fusion): true within `relaxed_fold` alone.
    pub(crate) relaxed: bool,
    /// `exits_to_guards` has run for a mask-stack machine: nobody makes blocks any more.
    pub(crate) guarded: bool,
    /// `robust` has left out bounds that a branch shows to be kept: no pass may take a branch for one way any more
    /// because the other never ends, or whoever comes there would read anywhere.
    pub(crate) bounded: bool,
    /// Loops of this function have been looked at by `unroll`.
    pub(crate) unrolled: bool,
    /// What folding need not look at again.
    pub(crate) settled: Settled,
    /// Passes that found nothing to do in the function as it is now, a bit each by number: they would find nothing again.
    pub(crate) idle: u64,
    /// Lists for regions that are written anew.
    pub(crate) spare: Spare,
}

impl<'a> Ctx<'a> {
    /// The function is another copy of itself: what is known by number of instruction is known no more.
    pub fn renumbered(&mut self) {
        self.settled = Settled::default();
    }

    /// A context without a fuel limit.
    pub fn new(options: Options, numerics: Numerics, target: &'a dyn TargetInfo) -> Self {
        Ctx {
            options,
            numerics,
            target,
            fuel: None,
            budget: Budget::default(),
            steps: 0,
            rewrites: 0,
            pipeline: None,
            relaxed: false,
            guarded: false,
            bounded: false,
            unrolled: false,
            settled: Settled::default(),
            idle: 0,
            spare: Spare::default(),
        }
    }

    /// Does something as if the target were another.
    pub fn on<T>(&mut self, target: &'a dyn TargetInfo, run: impl FnOnce(&mut Self) -> T) -> T {
        let own = std::mem::replace(&mut self.target, target);
        let result = run(self);
        self.target = own;
        result
    }

    /// From here on blocks may be made again: `exits_to_guards` runs once more.
    pub fn unguard(&mut self) {
        self.guarded = false;
    }

    /// True when the first two operands of `op` may be swapped to the bit under the model: `fmin` and
    /// `fmax` only where neither zeros nor NaNs depend on the order.
    pub fn commutes(&self, op: Op) -> bool {
        let ordered = self.numerics.min_max_zero == ZeroRule::Ordered
            && self.numerics.min_max_nan != NanRule::Second;
        op.flags().has(Flags::COMMUTES) && (ordered || !matches!(op, Op::FMin | Op::FMax))
    }

    /// Draws the fuel of one rewrite; false when the tank is empty and the rewrite must not happen.
    pub fn draw(&mut self) -> bool {
        match &mut self.fuel {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        self.rewrites += 1;
        true
    }

    /// True when optional passes may not change anything any more.
    pub fn out_of_fuel(&self) -> bool {
        self.fuel == Some(0)
    }
}
