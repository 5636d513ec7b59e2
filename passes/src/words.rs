//! Type legalisation.
//!
//! Values that are no words become words on machines whose registers hold nothing else
//! ([`crate::TargetInfo::holds_64_bits`], [`crate::TargetInfo::holds_16_bits`]): 64 bits two of them, the low one
//! first, 16 bits one with zeros above.
//!
//! What carries values (loads, stores, choices, results of control flow, parameters of loops) carries words; integer
//! operations are worked out on them (`wide`, `short`), those of 64 bits that are no sums, bit operations, shifts
//! and comparisons after an expansion into such ([`crate::expand`]). All exact.
//!
//! Operations that stay whole, because the machine has them at 64 bits (`native`) or nothing is known about them in
//! words (floats, atomics, stores of half a word to memory that neighbours write), take `join64` of two words or
//! `uconvert` of one, and give `lo64` and `hi64` or `uconvert`: nothing else sees the width afterwards. The lowering
//! of a machine with pairs of registers, or its refusal, meets them alone.

mod memory;
mod short;
mod wide;

use crate::ctx::{Ctx, TargetInfo};
use crate::expand::build::Expander;
use crate::expand::{self, Native};
use crate::rename::Renames;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Builder, Func, Imm, Inst, InstData, Numerics, Op, Region, Type, Value, ValueData, ValueDef,
};
use smallvec::SmallVec;

/// The words of a value, low and high; twice the one of what is a word or less.
type Pair = [Value; 2];

/// Splits every value of a width that the machine does not hold and that has a form in words.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let target = ctx.target;
    let any = func.values.values().any(|value| !held(target, value.ty));
    if !any || !wanted(func, target) {
        return false;
    }
    if !target.holds_64_bits() {
        expand::expand(func, &Wide(target), &ctx.numerics);
    }
    let numerics = ctx.numerics;
    let mut pass =
        Pass { target, numerics: &numerics, words: SecondaryMap::new(), renames: Renames::new() };
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        for inst in insts {
            ctx.steps += 1;
            pass.inst(func, region, inst);
        }
    }
    true
}

/// Values of this width live in registers.
fn held(target: &dyn TargetInfo, ty: Type) -> bool {
    match ty {
        Type::B64 => target.holds_64_bits(),
        Type::B16 => target.holds_16_bits(),
        Type::B1 | Type::B32 => true,
    }
}

/// Expands only what is 64 bits wide.
struct Wide<'a>(&'a dyn TargetInfo);

impl Native for Wide<'_> {
    fn native(&self, op: Op, ty: Type) -> bool {
        ty != Type::B64 || self.0.native(op, ty)
    }
}

/// Operands or results are of a width that the machine does not hold.
fn touches(func: &Func, data: &InstData, target: &dyn TargetInfo) -> bool {
    let mut values = data.args.iter().chain(&data.results);
    values.any(|&value| !held(target, func.ty(value)))
}

/// Some instruction or parameter that the body reaches is more than the seam of an operation that stays whole.
fn wanted(func: &Func, target: &dyn TargetInfo) -> bool {
    func.regions_in_order().iter().any(|&(region, ..)| {
        let region = &func.regions[region];
        let split = |&value: &Value| !held(target, func.ty(value));
        region.params.iter().any(split)
            || region.insts.iter().any(|&inst| {
                let data = &func.insts[inst];
                let seam = matches!(data.op, Op::Join64 | Op::Lo64 | Op::Hi64);
                touches(func, data, target) && !seam && !stays_whole(func, inst, target)
            })
    })
}

/// The operation has no form in words.
fn stays_whole(func: &Func, inst: Inst, target: &dyn TargetInfo) -> bool {
    let data = &func.insts[inst];
    let half = |&value: &Value| func.ty(value) == Type::B16;
    match data.op {
        // Half a word cannot be written without its neighbour.
        Op::BufferStore => data.args.iter().any(half),
        Op::BufferLoad | Op::MemLoad | Op::MemStore | Op::Select => false,
        Op::Const | Op::Join64 | Op::Lo64 | Op::Hi64 | Op::Shuffle => false,
        op if op.is_terminator() || !data.regions.is_empty() => false,
        Op::Reduce => !matches!(data.imm, Imm::Reduce(_, Op::And | Op::Or | Op::Xor)),
        _ if data.args.iter().chain(&data.results).any(half) => form(func, data).is_none(),
        op => target.native(op, Type::B64) || form(func, data).is_none() && !expands(func, data),
    }
}

fn expands(func: &Func, data: &InstData) -> bool {
    let (Some(&arg), Some(&result)) = (data.args.first(), data.results.first()) else {
        return false;
    };
    expand::is_wide(data.op, func.ty(arg), func.ty(result))
}

struct Pass<'a> {
    target: &'a dyn TargetInfo,
    numerics: &'a Numerics,
    /// The words of each value met so far that falls into words.
    words: SecondaryMap<Value, Option<Pair>>,
    /// Words that stand for the results of what went.
    renames: Renames,
}

impl Pass<'_> {
    /// Appends what an instruction becomes.
    fn inst(&mut self, func: &mut Func, region: Region, inst: Inst) {
        self.renames.args(func, inst);
        let data = &func.insts[inst];
        let loops = data.op == Op::Loop;
        if !loops && !touches(func, data, self.target) {
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
                self.words[data.results[0]] = Some([data.args[0], data.args[1]]);
                // Whoever stays whole may need it as it is.
                func.regions[region].insts.push(inst);
            }
            Op::Lo64 | Op::Hi64 => {
                let half = usize::from(data.op == Op::Hi64);
                match self.words[data.args[0]] {
                    Some(pair) => self.renames.set(data.results[0], pair[half]),
                    None => func.regions[region].insts.push(inst),
                }
            }
            _ if stays_whole(func, inst, self.target) => self.whole(func, region, inst),
            Op::BufferLoad | Op::MemLoad => self.load(func, region, inst),
            Op::BufferStore | Op::MemStore => self.store(func, region, inst),
            _ => self.split(func, region, inst),
        }
    }

    fn held(&self, ty: Type) -> bool {
        held(self.target, ty)
    }

    /// Values that one of this type becomes.
    fn count(&self, ty: Type) -> usize {
        1 + usize::from(ty == Type::B64 && !self.held(ty))
    }

    /// The words of a value of any width.
    fn pair(&self, func: &Func, value: Value) -> Pair {
        match self.held(func.ty(value)) {
            true => [value; 2],
            false => self.words[value].expect("definitions are met before their uses"),
        }
    }

    /// Values with words in the place of those that fall into them.
    fn flat(&self, func: &Func, values: &[Value]) -> SmallVec<[Value; 4]> {
        let mut flat = SmallVec::new();
        for &value in values {
            let count = self.count(func.ty(value));
            flat.extend_from_slice(&self.pair(func, value)[..count]);
        }
        flat
    }

    fn arguments(&self, func: &mut Func, inst: Inst) {
        let args = self.flat(func, &func.insts[inst].args);
        func.insts[inst].args = args;
    }

    /// New words for each of `values` that falls into them, and all in their new places.
    fn replaced(
        &mut self,
        func: &mut Func,
        values: &[Value],
        def: impl Fn(u16) -> ValueDef,
    ) -> SmallVec<[Value; 4]> {
        let mut flat: SmallVec<[Value; 4]> = SmallVec::new();
        for &value in values {
            if self.held(func.ty(value)) {
                func.values[value].def = def(flat.len() as u16);
                flat.push(value);
                continue;
            }
            let at = flat.len();
            for _ in 0..self.count(func.ty(value)) {
                flat.push(
                    func.values.push(ValueData { ty: Type::B32, def: def(flat.len() as u16) }),
                );
            }
            self.words[value] = Some([flat[at], flat[flat.len() - 1]]);
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
            let there = match b.func.values[arg].def {
                ValueDef::Result(def, _) => {
                    b.func.insts[def].op == Op::Join64 || stays_whole(b.func, def, self.target)
                }
                ValueDef::Param(..) => false,
            };
            let ty = b.func.ty(arg);
            if there || self.held(ty) {
                continue;
            }
            let [low, high] = self.pair(b.func, arg);
            b.func.insts[inst].args[index] = match ty {
                Type::B64 => b.op2(Op::Join64, low, high),
                _ => b.convert(Op::UConvert, ty, low),
            };
        }
        b.func.regions[region].insts.push(inst);
        for value in data.results {
            let ty = b.func.ty(value);
            if !self.held(ty) {
                self.words[value] = Some(match ty {
                    Type::B64 => [Op::Lo64, Op::Hi64].map(|op| b.op1(op, value)),
                    _ => [b.convert(Op::UConvert, Type::B32, value); 2],
                });
            }
        }
    }

    /// An operation with a form in words.
    fn split(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let operands: SmallVec<[Operand; 4]> = data
            .args
            .iter()
            .map(|&arg| Operand { ty: func.ty(arg), words: self.pair(func, arg) })
            .collect();
        let to = func.ty(data.results[0]);
        let form = form(func, &data).expect("what has none stays whole");
        let mut e = Expander::new(func, self.numerics, &data);
        let pair = match form {
            Form::Word(make) => {
                let words: SmallVec<[Value; 4]> = operands.iter().map(|x| x.words[0]).collect();
                [make(&mut e, &data, &words); 2]
            }
            Form::Pair(make) => make(&mut e, &data, &operands, to),
        };
        let insts = e.finish();
        func.regions[region].insts.extend(insts);
        match self.held(to) {
            true => self.renames.set(data.results[0], pair[0]),
            false => self.words[data.results[0]] = Some(pair),
        }
    }
}

/// How an operation becomes one of words.
enum Form {
    /// By one word, made of the first words of its operands.
    Word(fn(&mut Expander, &InstData, &[Value]) -> Value),
    /// By its words, made of its operands; the result is of a type.
    Pair(fn(&mut Expander, &InstData, &[Operand], Type) -> Pair),
}

/// The form of an operation that has operands or a result of 64 bits, or of 16.
fn form(func: &Func, data: &InstData) -> Option<Form> {
    let half = |&value: &Value| func.ty(value) == Type::B16;
    match data.args.iter().chain(&data.results).any(half) {
        true => {
            let ty = |values: &[Value]| values.first().map_or(Type::B16, |&value| func.ty(value));
            short::form(data.op, ty(&data.args), ty(&data.results))
        }
        false => wide::form(data.op),
    }
}

/// An operand: its width, and its words.
struct Operand {
    ty: Type,
    words: Pair,
}

#[cfg(test)]
mod tests;
