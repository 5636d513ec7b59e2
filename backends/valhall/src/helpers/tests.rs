//! Where helpers end, and which texels they go without, in small programs.

use super::*;
use crate::inst::{FILES, Src, cell};
use gpucc_ir::ssa::Span;

fn r(register: u8) -> Reg {
    Reg::phys(cell(register))
}

fn push(func: &mut Func<Inst>, block: Block, op: Op) {
    func.push(block, Inst::Op(Box::new(op)), Span::NONE);
}

/// A value of the neighbour.
fn across(to: Reg, from: Reg) -> Op {
    let lane = Src::Fast(crate::fau::Read::ZERO);
    Op::new(Opcode::ClperI32).from(&[Src::Reg(from), lane]).to(to)
}

fn mov(to: Reg, from: Reg) -> Op {
    Op::new(Opcode::MovI32).from(&[Src::Reg(from)]).to(to)
}

fn sample(to: Reg, from: Reg, mode: u32) -> Op {
    let handle = Src::Bits(0);
    Op::new(Opcode::TexSingle)
        .with(f::LOD_MODE, mode)
        .from(&[handle])
        .reading(&[from])
        .writing(&[to])
}

fn flows(func: &Func<Inst>, block: Block) -> Vec<u32> {
    let nodes = &func.blocks[block].nodes;
    let ops = nodes.iter().filter_map(|node| node.inst.op());
    ops.map(|op| op.word.get(f::FLOW)).collect()
}

#[test]
fn helpers_end_behind_the_last_value_that_crosses_lanes() {
    let mut func = Func::new("case", FILES);
    let block = func.push_block();
    push(&mut func, block, mov(r(0), r(1)));
    push(&mut func, block, across(r(2), r(0)).with(f::FLOW, 1));
    push(&mut func, block, mov(r(3), r(2)));
    push(&mut func, block, mov(r(3), r(2)));
    end(&mut func);
    assert_eq!(flows(&func, block), [0, 1, DISCARD, 0]);
}

#[test]
fn helpers_end_on_the_way_that_does_not_need_them() {
    let mut func = Func::new("case", FILES);
    let [head, arm, rest] = [func.push_block(), func.push_block(), func.push_block()];
    let mut branch = Op::new(Opcode::Branchz).from(&[Src::Reg(r(0))]);
    branch.target = Some(rest);
    push(&mut func, head, branch);
    func.add_both_edges(head, rest);
    func.add_both_edges(head, arm);
    push(&mut func, arm, across(r(2), r(0)));
    push(&mut func, arm, mov(r(3), r(2)));
    func.add_both_edges(arm, rest);
    push(&mut func, rest, mov(r(3), r(2)));
    end(&mut func);
    assert_eq!(flows(&func, head), [0]);
    assert_eq!(flows(&func, arm), [DISCARD, 0]);
    assert_eq!(flows(&func, rest), [DISCARD]);
}

#[test]
fn a_loop_keeps_its_helpers_to_the_end() {
    let mut func = Func::new("case", FILES);
    let [body, rest] = [func.push_block(), func.push_block()];
    push(&mut func, body, across(r(2), r(0)));
    let mut branch = Op::new(Opcode::Branchz).from(&[Src::Reg(r(0))]);
    branch.target = Some(body);
    push(&mut func, body, branch);
    func.add_both_edges(body, body);
    func.add_both_edges(body, rest);
    push(&mut func, rest, mov(r(3), r(2)));
    end(&mut func);
    assert_eq!(flows(&func, body), [0, 0]);
    assert_eq!(flows(&func, rest), [DISCARD]);
}

#[test]
fn texels_are_skipped_where_nothing_across_lanes_hangs_on_them() {
    let mut func = Func::new("case", FILES);
    let block = func.push_block();
    let [a, b, c, d, e] = std::array::from_fn(|_| {
        let demand = gpucc_ir::mach::Demand::scalar(crate::inst::GPR);
        Reg::virt(func.make_vreg(demand, Span::NONE))
    });
    // The second one's level hangs on the first one's texels.
    push(&mut func, block, sample(b, a, 0));
    push(&mut func, block, mov(c, b));
    push(&mut func, block, sample(d, c, COMPUTED));
    push(&mut func, block, mov(e, d));
    skip(&mut func);
    let nodes = &func.blocks[block].nodes;
    let skips = |at: usize| nodes[at].inst.op().is_some_and(|op| op.word.flag(f::SKIP));
    assert!(!skips(0));
    assert!(skips(2));
}
