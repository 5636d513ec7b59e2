//! Instructions that guards are made of.

use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Span, Type, Value};

pub(super) fn ends(func: &Func, out: &[Inst]) -> bool {
    out.last().is_some_and(|&inst| func.insts[inst].op.is_terminator())
}

pub(super) fn push_op(func: &mut Func, op: Op, args: &[Value], out: &mut Vec<Inst>) -> Value {
    let inst = func.new_inst(plain(op, Imm::None, args), &[Type::B1]);
    out.push(inst);
    func.insts[inst].results[0]
}

pub(super) fn push_if(
    func: &mut Func,
    cond: Value,
    yes: Vec<Inst>,
    no: Vec<Inst>,
    out: &mut Vec<Inst>,
) {
    let mut data = plain(Op::If, Imm::None, &[cond]);
    data.regions = [yes, no]
        .map(|insts| {
            let region = func.new_region();
            func.regions[region].insts = insts;
            region
        })
        .into();
    let inst = func.new_inst(data, &[]);
    out.push(inst);
}

pub(super) fn plain(op: Op, imm: Imm, args: &[Value]) -> InstData {
    InstData::new(op, imm, args, Span::NONE)
}

pub(super) fn terminator(func: &mut Func, op: Op, imm: Imm, args: &[Value]) -> Inst {
    func.new_inst(plain(op, imm, args), &[])
}
