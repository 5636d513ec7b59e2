//! Absolute values that something needs in a register: the greater of a number and its opposite, which the
//! converter makes, in place of a conjunction of bits, which the special-function unit makes at a quarter of
//! the rate. Where every user takes them as a modifier they cost nothing and stay.

use super::{Extras, extras};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, InstData, Op, Type, Value};
use smallvec::SmallVec;

/// Rewrites them. Must be last: folding knows `fabs`.
pub(super) fn run(func: &mut Func) -> bool {
    let regions = func.regions_in_order();
    let absolute = |func: &Func, value: Value| {
        func.ty(value) == Type::B32 && func.def(value).is_some_and(|data| data.op == Op::FAbs)
    };
    // What selects choose by: they compare without modifiers.
    let mut chooses: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut needed: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut any = false;
    for &(region, ..) in regions.iter().rev() {
        for &inst in func.regions[region].insts.iter().rev() {
            let data = &func.insts[inst];
            if data.op == Op::Select {
                chooses[data.args[0]] = true;
            }
            let takes = match data.op {
                Op::FNeg | Op::FAbs => true,
                op if op.is_comparison() => !chooses[data.results[0]],
                op => extras(op).has(Extras::SIGNS),
            };
            if takes {
                continue;
            }
            for &arg in &data.args {
                if absolute(func, arg) {
                    needed[arg] = true;
                    any = true;
                }
            }
        }
    }
    if !any {
        return false;
    }
    for &(region, ..) in &regions {
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len() + 1);
        for inst in list {
            let data = &func.insts[inst];
            if data.op == Op::FAbs && needed[data.results[0]] {
                let number = data.args[0];
                let opposite = InstData {
                    bundle: data.bundle,
                    ..InstData::new(Op::FNeg, Imm::None, &[number], data.span)
                };
                let opposite = func.new_inst(opposite, &[Type::B32]);
                out.push(opposite);
                let opposite = func.insts[opposite].results[0];
                let data = &mut func.insts[inst];
                data.op = Op::FMax;
                data.args = SmallVec::from_slice(&[number, opposite]);
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, Stage, verify};

    #[test]
    fn an_absolute_value_that_is_chosen_is_a_maximum_and_one_that_is_added_stays() {
        let mut func = Func::new("absolute", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let y = b.op2(Op::IMul, word, word);
        let [chosen, added, compared] = [x, y, x].map(|number| b.op1(Op::FAbs, number));
        let cond = b.op2(Op::FLt, compared, y);
        let choice = b.select(cond, chosen, y);
        b.op2(Op::FAdd, choice, added);
        b.end(Op::Yield, &[]);
        run(&mut func);
        verify(&func).expect("sound");
        let op = |value: Value| func.def(value).expect("an instruction").op;
        assert_eq!([chosen, added, compared].map(op), [Op::FMax, Op::FAbs, Op::FMax]);
    }
}
