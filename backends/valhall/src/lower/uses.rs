//! Which values need a register, and which are folded into their users: signs, widened halves and bytes
//! into source modifiers, comparisons into selects and branches, shifts into logic, clamps into what
//! they clamp. Being wrong here costs instructions, never a result: what a user does not fold it
//! computes on the spot.

use super::operand::Lane;
use crate::expand::{Extras, extras};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Type, Value, ValueDef};

/// A byte or half of a register, widened to 32 bits.
#[derive(Copy, Clone, Debug)]
pub(super) struct Part {
    /// Whose: 32 bits, or 16.
    pub of: Value,
    /// Which; none for all of a 16-bit value, wherever that is.
    pub lane: Option<Lane>,
    /// With the sign.
    pub signed: bool,
}

/// The value as a widened part of another.
pub(super) fn part(func: &Func, value: Value) -> Option<Part> {
    let data = func.def(value)?;
    let constant = |index: usize| func.as_const(*data.args.get(index)?);
    match data.op {
        Op::UConvert | Op::SConvert
            if func.ty(data.args[0]) == Type::B16 && func.ty(value) == Type::B32 =>
        {
            Some(Part { of: data.args[0], lane: None, signed: data.op == Op::SConvert })
        }
        _ if func.ty(value) != Type::B32 => None,
        Op::And => {
            let mask = constant(1)?;
            let (of, shift) = shifted(func, data.args[0]);
            part_of(of, shift, mask)
        }
        Op::LShr => match constant(1)? {
            24 => part_of(data.args[0], 24, 0xff),
            16 => part_of(data.args[0], 16, 0xffff),
            _ => None,
        },
        Op::AShr => {
            let by = constant(1)?;
            let (of, up) = match func.def(data.args[0]) {
                Some(inner) if inner.op == Op::Shl => match func.as_const(inner.args[1]) {
                    Some(up) => (inner.args[0], up),
                    None => (data.args[0], 0),
                },
                _ => (data.args[0], 0),
            };
            let lane = match (by, up) {
                (24, 0 | 8 | 16 | 24) => Lane::Byte((3 - up / 8) as u8),
                (16, 0 | 16) => Lane::Half((1 - up / 16) as u8),
                _ => return None,
            };
            Some(Part { of, lane: Some(lane), signed: true })
        }
        _ => None,
    }
}

/// The value that is shifted right by a constant, and by how much.
fn shifted(func: &Func, value: Value) -> (Value, u64) {
    match func.def(value) {
        Some(inner) if inner.op == Op::LShr => match func.as_const(inner.args[1]) {
            Some(by) => (inner.args[0], by),
            None => (value, 0),
        },
        _ => (value, 0),
    }
}

fn part_of(of: Value, shift: u64, mask: u64) -> Option<Part> {
    let lane = match (mask, shift) {
        (0xff, 0 | 8 | 16 | 24) => Lane::Byte((shift / 8) as u8),
        (0xffff, 0 | 16) => Lane::Half((shift / 16) as u8),
        _ => return None,
    };
    Some(Part { of, lane: Some(lane), signed: false })
}

/// The factor beside 1.0: the same number, though a NaN keeps its bits, which arithmetic does not see.
pub(super) fn unscaled(func: &Func, data: &InstData) -> Option<Value> {
    if data.op != Op::FMul {
        return None;
    }
    let one = |value: Value| match func.ty(value) {
        Type::B32 => func.as_const(value) == Some(0x3f80_0000),
        Type::B16 => func.as_const(value) == Some(0x3c00),
        _ => false,
    };
    let (x, y) = (data.args[0], data.args[1]);
    match (one(x), one(y)) {
        (_, true) => Some(x),
        (true, _) => Some(y),
        _ => None,
    }
}

/// Facts about the uses of each value.
#[derive(Default)]
pub(super) struct Uses {
    count: SecondaryMap<Value, u32>,
    user: SecondaryMap<Value, Option<Inst>>,
    /// Folded into all its users.
    lazy: SecondaryMap<Value, bool>,
    /// The clamp field that the value's instruction makes for its user.
    clamp: SecondaryMap<Value, u8>,
    /// The value whose instruction makes this one by its clamp.
    clamped: SecondaryMap<Value, Option<Value>>,
}

impl Uses {
    /// Looks at the whole function once forwards and once backwards.
    pub fn of(func: &Func) -> Uses {
        let mut uses = Uses {
            count: func.by_value(),
            user: func.by_value(),
            lazy: func.by_value(),
            ..Uses::default()
        };
        let mut all: Vec<Inst> = Vec::new();
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                all.push(inst);
                for &arg in &func.insts[inst].args {
                    uses.count[arg] += 1;
                    uses.user[arg] = Some(inst);
                }
            }
        }
        let mut kept: SecondaryMap<Value, bool> = func.by_value();
        for &inst in all.iter().rev() {
            let data = &func.insts[inst];
            for &result in &data.results {
                uses.lazy[result] =
                    !kept[result] && uses.count[result] > 0 && uses.may_wait(func, result, data);
            }
            for (index, &arg) in data.args.iter().enumerate() {
                if !uses.folds(func, data, index, arg) {
                    kept[arg] = true;
                }
            }
        }
        for &inst in &all {
            uses.find_clamp(func, inst);
        }
        uses
    }

    /// What can be folded at all.
    fn may_wait(&self, func: &Func, value: Value, data: &InstData) -> bool {
        match data.op {
            Op::FNeg | Op::FAbs => func.ty(value) != Type::B64,
            Op::FMul => unscaled(func, data).is_some(),
            Op::FConvert => func.ty(value) == Type::B32,
            Op::UnpackHalfLo | Op::UnpackHalfHi => true,
            Op::Not => func.ty(value) != Type::B64,
            // One conjunction folds a shift; two would do it twice, at no cost.
            Op::Shl | Op::LShr | Op::AShr => func.ty(value) == Type::B32,
            Op::And | Op::UConvert | Op::SConvert => part(func, value).is_some(),
            // Computed once for each branch, but free in selects.
            op if op.is_comparison() => {
                self.count[value] == 1
                    || self.user[value].is_some_and(|user| func.insts[user].op == Op::Select)
            }
            _ => false,
        }
    }

    /// Whether `user` takes this operand as more than a register.
    fn folds(&self, func: &Func, user: &InstData, index: usize, arg: Value) -> bool {
        let Some(def) = func.def(arg) else {
            return false;
        };
        let lazy_user = user.results.first().is_some_and(|&r| self.lazy[r]);
        match def.op {
            Op::FNeg | Op::FAbs | Op::FMul => match user.op {
                Op::FNeg | Op::FAbs => lazy_user,
                Op::FConvert => true,
                op => extras(op).has(Extras::SIGNS) && !(lazy_user && selects(self, func, user)),
            },
            Op::FConvert | Op::UnpackHalfLo | Op::UnpackHalfHi => match user.op {
                Op::FNeg | Op::FAbs => lazy_user,
                op => extras(op).has(Extras::HALVES) && !(lazy_user && selects(self, func, user)),
            },
            Op::Not if func.ty(arg) == Type::B1 => {
                matches!(user.op, Op::If | Op::BreakIf | Op::Select) && index == 0
            }
            Op::Not => matches!(user.op, Op::And | Op::Or | Op::Xor),
            op if op.is_comparison() => match user.op {
                Op::If | Op::BreakIf => index == 0,
                Op::Select => {
                    index == 0
                        && func.ty(user.results[0]) != Type::B64
                        && func.ty(def.args[0]) != Type::B64
                        || self.count[arg] == 1 && index == 0
                }
                Op::And | Op::Or => func.ty(arg) == Type::B1 && func.ty(def.args[0]) != Type::B64,
                Op::UConvert => true,
                _ => false,
            },
            _ if part(func, arg).is_some() => {
                let signed = part(func, arg).is_some_and(|part| part.signed);
                let extension = match signed {
                    true => Extras::SIGNED_PARTS,
                    false => Extras::PARTS,
                };
                extras(user.op).has(extension) || shift_folds(func, def, user, index)
            }
            Op::Shl | Op::LShr | Op::AShr => {
                shift_folds(func, def, user, index) || is_inner_of_part(func, user, index)
            }
            _ => false,
        }
    }

    /// A clamp whose operand is made by an instruction that can clamp, for nobody else.
    fn find_clamp(&mut self, func: &Func, inst: Inst) {
        let data = &func.insts[inst];
        let Some(&result) = data.results.first() else {
            return;
        };
        let is = |value: Value, f32_bits: u32, f16_bits: u64| match func.ty(value) {
            Type::B32 => func.as_const(value) == Some(f32_bits.into()),
            Type::B16 => func.as_const(value) == Some(f16_bits),
            _ => false,
        };
        let (one, zero, minus) = (1f32.to_bits(), 0, (-1f32).to_bits());
        let code = match data.op {
            Op::FSat => 3,
            Op::FMax if is(data.args[1], zero, 0) => 1,
            // max(x, 0) folded already, now min(.., 1): 0..=1; likewise from -1.
            Op::FMin if is(data.args[1], one, 0x3c00) => {
                match self.clamped[data.args[0]] {
                    Some(root) if self.clamp[root] == 1 && self.count[data.args[0]] == 1 => {
                        self.clamp[root] = 3;
                        self.clamped[result] = Some(root);
                        return;
                    }
                    _ => {}
                }
                let lower = func.def(data.args[0]).filter(|lower| {
                    lower.op == Op::FMax
                        && is(lower.args[1], minus, 0xbc00)
                        && self.count[data.args[0]] == 1
                });
                let Some(lower) = lower else { return };
                let root = lower.args[0];
                if self.may_clamp(func, root) {
                    self.clamp[root] = 2;
                    self.clamped[data.args[0]] = Some(root);
                    self.clamped[result] = Some(root);
                }
                return;
            }
            _ => return,
        };
        let root = data.args[0];
        if self.may_clamp(func, root) {
            self.clamp[root] = code;
            self.clamped[result] = Some(root);
        }
    }

    fn may_clamp(&self, func: &Func, value: Value) -> bool {
        self.count[value] == 1
            && self.clamp[value] == 0
            && self.clamped[value].is_none()
            && !self.lazy[value]
            && matches!(func.values[value].def, ValueDef::Result(..))
            && func.def(value).is_some_and(|data| extras(data.op).has(Extras::CLAMPS))
    }

    /// How often the value is used.
    pub fn count(&self, value: Value) -> u32 {
        self.count[value]
    }
    /// The value has no instruction of its own.
    pub fn is_lazy(&self, value: Value) -> bool {
        self.lazy[value]
    }
    /// The clamp field of the value's instruction.
    pub fn clamp(&self, value: Value) -> u32 {
        self.clamp[value].into()
    }
    /// The value that already is this one, clamped.
    pub fn clamped(&self, value: Value) -> Option<Value> {
        self.clamped[value]
    }
}

/// The user is a comparison that selects fold: CSEL has no modifiers.
fn selects(uses: &Uses, func: &Func, user: &InstData) -> bool {
    user.op.is_comparison()
        && user
            .results
            .first()
            .and_then(|&r| uses.user[r])
            .is_some_and(|inst| func.insts[inst].op == Op::Select)
}

fn shift_folds(func: &Func, def: &InstData, user: &InstData, index: usize) -> bool {
    // One of two operands may be shifted, the first that is.
    matches!(def.op, Op::Shl | Op::LShr | Op::AShr)
        && matches!(user.op, Op::And | Op::Or | Op::Xor)
        && func.ty(user.args[0]) == Type::B32
        && (index == 0
            || !func
                .def(user.args[0])
                .is_some_and(|first| matches!(first.op, Op::Shl | Op::LShr | Op::AShr)))
}

/// The shift within `x >> 8 & 0xff` and its like.
fn is_inner_of_part(func: &Func, user: &InstData, index: usize) -> bool {
    index == 0
        && user
            .results
            .first()
            .is_some_and(|&result| part(func, result).is_some_and(|part| part.of != user.args[0]))
}

/// The constant of an instruction.
pub(super) fn bits(data: &InstData) -> Option<u64> {
    match (data.op, data.imm) {
        (Op::Const, Imm::Bits(bits)) => Some(bits),
        _ => None,
    }
}
