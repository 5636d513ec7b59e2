//! Which values need a register, and which are folded into their users: negations and absolute
//! values into modifiers, comparisons into tests, products into sums, results into clamps.

use super::ops;
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::ssa::{Func, Inst, Op, Region, Type, Value, ValueDef};

/// Facts about the uses of each value.
#[derive(Default)]
pub struct Uses {
    count: SecondaryMap<Value, u32>,
    register: SecondaryMap<Value, bool>,
    /// The sum that takes a product, or the clamp that takes a result.
    into: SecondaryMap<Value, Option<Inst>>,
}

impl Uses {
    /// Looks at the whole function, from its end to its start.
    pub fn of(func: &Func) -> Uses {
        let mut uses =
            Uses { count: func.by_value(), register: func.by_value(), into: SecondaryMap::new() };
        let mut region_of: SecondaryMap<Inst, Option<Region>> = func.by_inst();
        let mut user: SecondaryMap<Value, Option<Inst>> = func.by_value();
        let order = func.regions_in_order();
        for &(region, ..) in &order {
            for &inst in &func.regions[region].insts {
                region_of[inst] = Some(region);
                for &arg in &func.insts[inst].args {
                    uses.count[arg] += 1;
                    user[arg] = Some(inst);
                }
            }
        }
        // Facts only go from folded to kept, so sweeps settle; chains of signs are short, and where
        // they are not, every sign is kept.
        let mut all: Vec<Inst> = order
            .iter()
            .flat_map(|&(region, ..)| func.regions[region].insts.iter().copied())
            .collect();
        all.reverse();
        for sweep in 0.. {
            let mut changed = false;
            for &inst in &all {
                let data = &func.insts[inst];
                let kept = sweep > 3 || data.results.first().is_some_and(|&r| uses.register[r]);
                for (index, &arg) in data.args.iter().enumerate() {
                    let folds = func.def(arg).is_some_and(|def| match def.op {
                        Op::FNeg => match data.op {
                            Op::FNeg | Op::FAbs => !kept,
                            // Operations of three sources have no ABS for what the sign is taken of.
                            Op::FMa | Op::FDot => !is_absolute(func, arg),
                            op => ops::takes_floats(op),
                        },
                        // Twice a magnitude: the machine's operation leaves the sign to its user.
                        Op::CubeMajor => match data.op {
                            Op::FNeg | Op::FAbs | Op::FMa | Op::FDot => false,
                            op => ops::takes_floats(op),
                        },
                        Op::FAbs => match data.op {
                            Op::FNeg | Op::FAbs => !kept,
                            Op::FMa | Op::FDot => false,
                            op => ops::takes_floats(op),
                        },
                        // The opposite of a truth value is tested against 0 itself.
                        Op::Not if func.ty(arg) == Type::B1 => {
                            matches!(data.op, Op::If | Op::BreakIf) && index == 0
                        }
                        _ if ops::comparison(func, def).is_some() => {
                            data.op == Op::If
                                || index == 0
                                    && (data.op == Op::BreakIf || ops::choice(func, data).is_some())
                        }
                        _ => false,
                    });
                    if !folds && !uses.register[arg] {
                        uses.register[arg] = true;
                        changed = true;
                    }
                }
            }
            if !changed || sweep > 4 {
                break;
            }
        }
        for &inst in &all {
            let data = &func.insts[inst];
            if data.results.iter().any(|&result| func.ty(result) == Type::B64) {
                continue;
            }
            match data.op {
                Op::FSat => {
                    let arg = data.args[0];
                    if uses.count[arg] == 1
                        && let ValueDef::Result(def, _) = func.values[arg].def
                        && region_of[def] == region_of[inst]
                        && ops::may_clamp(func.insts[def].op)
                        && uses.into[arg].is_none()
                    {
                        uses.into[arg] = Some(inst);
                    }
                }
                // A product with 2, 4 or a half of a result is the result scaled.
                Op::FMul if ops::scale(func, data).is_some() => {
                    let arg = data.args[0];
                    let free = data.results.iter().all(|&result| {
                        uses.into[result].is_none_or(|user| func.insts[user].op == Op::FSat)
                    });
                    if free
                        && uses.count[arg] == 1
                        && let ValueDef::Result(def, _) = func.values[arg].def
                        && region_of[def] == region_of[inst]
                        && ops::may_scale(func.insts[def].op)
                        && uses.into[arg].is_none()
                    {
                        uses.into[arg] = Some(inst);
                    }
                }
                Op::FAdd | Op::FSub => {
                    // A sum with a product in it is a MULADD, which has no scale.
                    let scaled = |user: Inst| func.insts[user].op == Op::FMul;
                    if data.results.iter().any(|&sum| uses.into[sum].is_some_and(scaled)) {
                        continue;
                    }
                    // The later operand first: it is likelier to be the one just computed.
                    for &arg in data.args.iter().rev() {
                        let plain = |v: Value| !is_absolute(func, v);
                        if uses.count[arg] == 1
                            && let ValueDef::Result(def, _) = func.values[arg].def
                            && func.insts[def].op == Op::FMul
                            && region_of[def] == region_of[inst]
                            && func.insts[def].args.iter().all(|&v| plain(v))
                            && data.args.iter().all(|&v| plain(v))
                        {
                            uses.into[arg] = Some(inst);
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        uses
    }

    /// How often the value is used.
    pub fn count(&self, value: Value) -> u32 {
        self.count[value]
    }

    /// Some user wants the value in a register (or there is nothing to fold).
    pub fn in_register(&self, value: Value) -> bool {
        self.register[value]
    }

    /// The instruction that makes this value's instruction part of itself.
    pub fn folded_into(&self, value: Value) -> Option<Inst> {
        if value.index() < self.into.keys().len() { self.into[value] } else { None }
    }
}

/// True for an absolute value, also behind signs (chains too long to follow count as one).
pub(super) fn is_absolute(func: &Func, mut value: Value) -> bool {
    for _ in 0..4 {
        match func.def(value).map(|data| (data.op, &data.args)) {
            Some((Op::FAbs | Op::CubeMajor, _)) => return true,
            Some((Op::FNeg, args)) => value = args[0],
            _ => return false,
        }
    }
    true
}
