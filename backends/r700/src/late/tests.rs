use super::*;
use crate::inst::{Indexed, Source};
use crate::isa::AluOp;
use crate::straight::Program;
use gpucc_ir::mach::{Reg, VReg};

impl Program {
    /// dst = src + 1
    fn next(&mut self, dst: VReg, src: VReg) {
        let sources = [Source::reg(src), Source::bits(1)];
        self.add(Inst::Alu(Alu::new(AluOp::ADD_INT, Some(dst.into()), &sources)));
    }
    /// array[index] = 0
    fn store(&mut self, array: VReg, index: VReg) {
        self.add(Inst::ArrayWrite {
            to: Indexed { array: array.into(), index: Source::reg(index), offset: 0, count: 4 },
            result: array.into(),
            value: Source::bits(0),
        });
    }
    fn copy(&mut self, dst: VReg, src: VReg) {
        self.add(Inst::Copy {
            dst: [Reg::from(dst)].into_iter().collect(),
            src: [Reg::from(src)].into_iter().collect(),
        });
    }
    /// The instructions of the block after the pass, by what they write first.
    fn order(mut self) -> Vec<Option<VReg>> {
        let variables = Variables::of(&self.func);
        run(&mut self.func, &variables);
        let nodes = &self.func.blocks[self.block].nodes;
        let written = |node: &Node<Inst>| {
            let mut first = None;
            node.inst.operands(&mut |operand| {
                if operand.role.is_def() {
                    first = first.or(operand.reg.as_virt());
                }
            });
            first
        };
        nodes.iter().map(written).collect()
    }
}

#[test]
fn the_next_value_of_a_variable_comes_behind_the_last_read_of_its_value_now() {
    let mut p = Program::new();
    let (array, i, next) = (p.reg(), p.reg(), p.reg());
    p.next(next, i);
    p.store(array, i);
    p.copy(i, next);
    assert_eq!(p.order(), [Some(array), Some(next), Some(i)]);
}

#[test]
fn what_is_read_on_the_way_stays() {
    let mut p = Program::new();
    let (array, i, next) = (p.reg(), p.reg(), p.reg());
    p.next(next, i);
    p.store(array, next);
    p.store(array, i);
    p.copy(i, next);
    assert_eq!(p.order(), [Some(next), Some(array), Some(array), Some(i)]);
}

#[test]
fn registers_that_no_copy_joins_are_no_variable() {
    let mut p = Program::new();
    let (array, i, other) = (p.reg(), p.reg(), p.reg());
    p.next(other, i);
    p.store(array, i);
    assert_eq!(p.order(), [Some(other), Some(array)]);
}

#[test]
fn nothing_moves_behind_the_branch_that_ends_its_block() {
    let mut p = Program::new();
    let (array, i, next) = (p.reg(), p.reg(), p.reg());
    p.next(next, i);
    p.store(array, i);
    let test = Alu::new(AluOp::PRED_SETE_INT, None, &[Source::reg(i), Source::bits(0)]);
    p.add(Inst::If(test));
    p.copy(i, next);
    assert_eq!(p.order(), [Some(next), Some(array), None, Some(i)]);
}
