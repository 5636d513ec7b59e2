//! Floats of 16 bits are computed as floats of 32. Packs and unpacks of halves are the machine's (isa/rogue-pipeline.md 2.3); what
//! else it has for halves is public by its name alone (2.2).
//!
//! The result of every operation is rounded to a half, so that sums, differences and products are those of halves: they are exact as
//! floats of 32 bits, or far enough from the middle of two halves where the machine rounds to nearest. Functions and fused products are
//! rounded twice, far inside of what languages let halves be off.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Inst, InstData, Number, Op, Region, Type, Value};

/// Words with the bits of a half below.
#[derive(Copy, Clone, Default)]
struct Word {
    value: Option<Value>,
    /// Zeros are above.
    clean: bool,
}

struct Halves {
    words: SecondaryMap<Value, Word>,
    renames: SecondaryMap<Value, Option<Value>>,
    changed: bool,
}

/// Rewrites every operation that takes or makes floats of 16 bits.
pub fn run(func: &mut Func) -> bool {
    if !func.values.values().any(|value| value.ty == Type::B16) {
        return false;
    }
    let mut pass =
        Halves { words: SecondaryMap::new(), renames: SecondaryMap::new(), changed: false };
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            pass.inst(func, region, inst);
        }
    }
    pass.changed
}

impl Halves {
    fn inst(&mut self, func: &mut Func, region: Region, inst: Inst) {
        for at in 0..func.insts[inst].args.len() {
            let arg = func.insts[inst].args[at];
            if let Some(to) = self.renames[arg] {
                func.insts[inst].args[at] = to;
            }
        }
        let data = func.insts[inst].clone();
        let half = |&value: &Value| func.ty(value) == Type::B16;
        if !data.args.iter().chain(&data.results).any(half) {
            func.regions[region].insts.push(inst);
            return;
        }
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        let Some(made) = self.word(&mut b, &data) else {
            b.func.regions[region].insts.push(inst);
            return;
        };
        self.changed = true;
        let result = data.results[0];
        match b.func.ty(result) {
            Type::B16 => {
                // Whoever stores it takes it as it is.
                let whole = b.convert(Op::UConvert, Type::B16, made);
                self.words[whole] = Word { value: Some(made), clean: true };
                self.renames[result] = Some(whole);
            }
            _ => self.renames[result] = Some(made),
        }
    }

    /// What stands for the result: a half as a word with zeros above. None where the operation stays as it is.
    fn word(&mut self, b: &mut Builder, data: &InstData) -> Option<Value> {
        let result = *data.results.first()?;
        let from = data.args.first().map_or(Type::B16, |&arg| b.func.ty(arg));
        let to = b.func.ty(result);
        Some(match data.op {
            Op::UConvert if (from, to) == (Type::B32, Type::B16) => {
                self.words[result] = Word { value: Some(data.args[0]), clean: false };
                return None;
            }
            Op::UConvert if to == Type::B32 => self.clean(b, data.args[0]),
            Op::SConvert if to == Type::B32 => self.signed(b, data.args[0]),
            Op::Const if to == Type::B16 => {
                let bits = b.func.as_const(result).unwrap_or(0) as u32;
                b.u32(bits & 0xffff)
            }
            Op::Shuffle if to == Type::B16 => {
                let mut args = data.args.clone();
                args[0] = self.clean(b, args[0]);
                let inst = b.inst(data.op, data.imm, &args, &[], &[Type::B32]);
                b.result(inst)
            }
            Op::FNeg => {
                let (word, sign) = (self.clean(b, data.args[0]), b.u32(0x8000));
                b.op2(Op::Xor, word, sign)
            }
            Op::FAbs => {
                let (word, rest) = (self.any(b, data.args[0]), b.u32(0x7fff));
                b.op2(Op::And, word, rest)
            }
            Op::FConvert if from == Type::B32 => packed(b, data.args[0]),
            Op::FConvert if to == Type::B32 => self.float(b, data.args[0]),
            op if op.reads() == Number::Float || op.makes() == Number::Float => {
                return self.computed(b, data, to);
            }
            _ => return None,
        })
    }

    /// The operation on floats of 32 bits.
    fn computed(&mut self, b: &mut Builder, data: &InstData, to: Type) -> Option<Value> {
        let float = data.op.reads() == Number::Float;
        let mut args = data.args.clone();
        for (at, arg) in args.iter_mut().enumerate() {
            if b.func.ty(*arg) != Type::B16 {
                continue;
            }
            *arg = match data.op {
                // The exponent is a number with a sign.
                Op::FLdexp if at == 1 => self.signed(b, *arg),
                Op::SToF => self.signed(b, *arg),
                _ if float => self.float(b, *arg),
                _ => self.clean(b, *arg),
            };
        }
        let width = match to {
            Type::B16 => Type::B32,
            to => to,
        };
        let inst = b.inst(data.op, data.imm, &args, &[], &[width]);
        let made = b.result(inst);
        if to != Type::B16 {
            return Some(made);
        }
        Some(match data.op {
            Op::FToU => {
                let most = b.u32(0xffff);
                b.op2(Op::UMin, made, most)
            }
            Op::FToS => {
                let (least, most) = (b.u32(-0x8000i32 as u32), b.u32(0x7fff));
                let made = b.op2(Op::SMin, made, most);
                let made = b.op2(Op::SMax, made, least);
                low(b, made)
            }
            op if op.makes() == Number::Float => packed(b, made),
            _ => low(b, made),
        })
    }

    /// A word with the half below.
    fn any(&mut self, b: &mut Builder, value: Value) -> Value {
        match self.words[value].value {
            Some(word) => word,
            None => {
                let word = b.convert(Op::UConvert, Type::B32, value);
                self.words[value] = Word { value: Some(word), clean: true };
                word
            }
        }
    }

    /// A word with the half below and zeros above.
    fn clean(&mut self, b: &mut Builder, value: Value) -> Value {
        let word = self.any(b, value);
        if self.words[value].clean { word } else { low(b, word) }
    }

    /// A word with the sign above.
    fn signed(&mut self, b: &mut Builder, value: Value) -> Value {
        let (word, by) = (self.any(b, value), b.u32(16));
        let high = b.op2(Op::Shl, word, by);
        b.op2(Op::AShr, high, by)
    }

    /// The float of 32 bits.
    fn float(&mut self, b: &mut Builder, value: Value) -> Value {
        let word = self.any(b, value);
        b.op1(Op::UnpackHalfLo, word)
    }
}

fn low(b: &mut Builder, word: Value) -> Value {
    let mask = b.u32(0xffff);
    b.op2(Op::And, word, mask)
}

/// The nearest half, with zeros above.
fn packed(b: &mut Builder, float: Value) -> Value {
    let zero = b.u32(0);
    b.op2(Op::PackHalf, float, zero)
}
