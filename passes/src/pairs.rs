//! Values of 64 bits become pairs of words, low and high, on machines whose registers hold no more than 32
//! ([`crate::TargetInfo::holds_64_bits`]).
//!
//! What carries values (loads, stores, choices, results of control flow, parameters of loops) carries two words;
//! sums, bit operations, shifts and comparisons are worked out on them (`words`); other integer operations are
//! expanded into those first ([`crate::expand`]). All exact.
//!
//! Operations that stay whole, because the machine has them at 64 bits (`native`) or nothing is known about them in
//! words (floats of 64 bits, atomics), take `join64` of a pair and give `lo64` and `hi64`: nothing else sees 64
//! bits afterwards. The lowering of a machine with pairs of registers, or its refusal, meets them alone.

mod memory;
mod words;

use crate::ctx::{Ctx, TargetInfo};
use crate::expand::build::Expander;
use crate::expand::{self, Native};
use crate::rename::Renames;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, Numerics, Op, Region, Type, Value, ValueDef};
use smallvec::SmallVec;

/// The words of a value, low and high.
type Pair = [Value; 2];

/// Splits every value of 64 bits that has a form in words.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let any = |func: &Func| func.values.values().any(|value| value.ty == Type::B64);
    if ctx.target.holds_64_bits() || !any(func) || !wanted(func, ctx.target) {
        return false;
    }
    expand::expand(func, &Wide(ctx.target), &ctx.numerics);
    let numerics = ctx.numerics;
    let mut pass = Pass {
        target: ctx.target,
        numerics: &numerics,
        pairs: SecondaryMap::new(),
        renames: Renames::new(),
    };
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        for inst in insts {
            ctx.steps += 1;
            pass.inst(func, region, inst);
        }
    }
    true
}

/// Expands only what is 64 bits wide.
struct Wide<'a>(&'a dyn TargetInfo);

impl Native for Wide<'_> {
    fn native(&self, op: Op, ty: Type) -> bool {
        ty != Type::B64 || self.0.native(op, ty)
    }
}

/// Some instruction or parameter that the body reaches is more than the seam of an operation that stays whole.
fn wanted(func: &Func, target: &dyn TargetInfo) -> bool {
    func.regions_in_order().iter().any(|&(region, ..)| {
        let region = &func.regions[region];
        let wide = |&value: &Value| func.ty(value) == Type::B64;
        region.params.iter().any(wide)
            || region.insts.iter().any(|&inst| {
                let data = &func.insts[inst];
                let touches = data.args.iter().chain(&data.results).any(wide);
                let seam = matches!(data.op, Op::Join64 | Op::Lo64 | Op::Hi64);
                touches && !seam && !stays_whole(func, inst, target)
            })
    })
}

/// The operation has no form in words.
fn stays_whole(func: &Func, inst: Inst, target: &dyn TargetInfo) -> bool {
    let data = &func.insts[inst];
    match data.op {
        Op::BufferLoad | Op::BufferStore | Op::MemLoad | Op::MemStore | Op::Select => false,
        Op::Const | Op::Join64 | Op::Lo64 | Op::Hi64 | Op::Shuffle => false,
        op if op.is_terminator() || !data.regions.is_empty() => false,
        Op::Reduce => !matches!(data.imm, Imm::Reduce(_, Op::And | Op::Or | Op::Xor)),
        op => target.native(op, Type::B64) || !(words::has(op) || expands(func, inst)),
    }
}

fn expands(func: &Func, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let (Some(&arg), Some(&result)) = (data.args.first(), data.results.first()) else {
        return false;
    };
    expand::is_wide(data.op, func.ty(arg), func.ty(result))
}

struct Pass<'a> {
    target: &'a dyn TargetInfo,
    numerics: &'a Numerics,
    /// The words of each value of 64 bits met so far.
    pairs: SecondaryMap<Value, Option<Pair>>,
    /// Words that stand for the results of what went.
    renames: Renames,
}

impl Pass<'_> {
    /// Appends what an instruction becomes.
    fn inst(&mut self, func: &mut Func, region: Region, inst: Inst) {
        self.renames.args(func, inst);
        let data = &func.insts[inst];
        let loops = data.op == Op::Loop;
        let touches = data.args.iter().chain(&data.results);
        let touches = touches
            .into_iter()
            .any(|&value| func.ty(value) == Type::B64);
        if !touches && !loops {
            func.regions[region].insts.push(inst);
            return;
        }
        match data.op {
            op if op.is_terminator() || !data.regions.is_empty() => {
                self.arguments(func, inst);
                func.regions[region].insts.push(inst);
                self.results(func, inst);
                if loops {
                    for region in func.insts[inst].regions.clone() {
                        self.params(func, region);
                    }
                }
            }
            Op::Join64 => {
                self.pairs[data.results[0]] = Some([data.args[0], data.args[1]]);
                // Whoever stays whole may need it as it is.
                func.regions[region].insts.push(inst);
            }
            Op::Lo64 | Op::Hi64 => {
                let half = usize::from(data.op == Op::Hi64);
                match self.pairs[data.args[0]] {
                    Some(pair) => self.renames.set(data.results[0], pair[half]),
                    None => func.regions[region].insts.push(inst),
                }
            }
            Op::BufferLoad | Op::MemLoad => self.load(func, region, inst),
            Op::BufferStore | Op::MemStore => self.store(func, region, inst),
            _ if stays_whole(func, inst, self.target) => self.whole(func, region, inst),
            _ => self.split(func, region, inst),
        }
    }

    fn pair(&self, value: Value) -> Pair {
        self.pairs[value].expect("definitions are met before their uses")
    }

    /// Values with words in the place of those of 64 bits.
    fn flat(&self, func: &Func, values: &[Value]) -> SmallVec<[Value; 4]> {
        let mut flat = SmallVec::new();
        for &value in values {
            match func.ty(value) {
                Type::B64 => flat.extend(self.pair(value)),
                Type::B1 | Type::B16 | Type::B32 => flat.push(value),
            }
        }
        flat
    }

    fn arguments(&self, func: &mut Func, inst: Inst) {
        let args = self.flat(func, &func.insts[inst].args);
        func.insts[inst].args = args;
    }

    /// Two new words for each of `values` that has 64 bits, and all in their new places.
    fn replaced(
        &mut self,
        func: &mut Func,
        values: &[Value],
        def: impl Fn(u16) -> ValueDef,
    ) -> SmallVec<[Value; 4]> {
        let mut flat: SmallVec<[Value; 4]> = SmallVec::new();
        for &value in values {
            if func.ty(value) != Type::B64 {
                func.values[value].def = def(flat.len() as u16);
                flat.push(value);
                continue;
            }
            let pair = [0, 1].map(|half| {
                func.values.push(gpucc_ir::ssa::ValueData {
                    ty: Type::B32,
                    def: def((flat.len() + half) as u16),
                })
            });
            self.pairs[value] = Some(pair);
            flat.extend(pair);
        }
        flat
    }

    fn results(&mut self, func: &mut Func, inst: Inst) {
        let results = func.insts[inst].results.clone();
        let flat = self.replaced(func, &results, |index| ValueDef::Result(inst, index));
        func.insts[inst].results = SmallVec::from_slice(&flat);
    }

    fn params(&mut self, func: &mut Func, region: Region) {
        let params = func.regions[region].params.clone();
        let flat = self.replaced(func, &params, |index| ValueDef::Param(region, index));
        func.regions[region].params = flat;
    }

    /// Operands become whole, results fall apart.
    fn whole(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        for (index, &arg) in data.args.iter().enumerate() {
            // What stays whole itself, and what was joined, is there.
            let there = |b: &Builder| match b.func.values[arg].def {
                ValueDef::Result(def, _) => {
                    b.func.insts[def].op == Op::Join64 || stays_whole(b.func, def, self.target)
                }
                ValueDef::Param(..) => false,
            };
            if b.func.ty(arg) == Type::B64 && !there(&b) {
                let [low, high] = self.pair(arg);
                b.func.insts[inst].args[index] = b.op2(Op::Join64, low, high);
            }
        }
        b.func.regions[region].insts.push(inst);
        for value in data.results {
            if b.func.ty(value) == Type::B64 {
                self.pairs[value] = Some([Op::Lo64, Op::Hi64].map(|op| b.op1(op, value)));
            }
        }
    }

    /// An operation with a form in words.
    fn split(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let operands = words::Operands {
            from: data.args.first().map(|&arg| func.ty(arg)),
            to: func.ty(data.results[0]),
            words: data
                .args
                .iter()
                .map(|&arg| match func.ty(arg) {
                    Type::B64 => self.pair(arg),
                    Type::B1 | Type::B16 | Type::B32 => [arg; 2],
                })
                .collect(),
        };
        let mut e = Expander::new(func, self.numerics, &data);
        let made = words::form(&mut e, &data, &operands);
        let insts = e.finish();
        func.regions[region].insts.extend(insts);
        match made {
            words::Made::Pair(pair) => self.pairs[data.results[0]] = Some(pair),
            words::Made::One(value) => self.renames.set(data.results[0], value),
        }
    }
}

#[cfg(test)]
mod tests;
