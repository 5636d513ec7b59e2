use super::*;
use crate::straight::Program;
use gpucc_passes::mach::remove_dead;

impl Program {
    /// What the last instruction reads, and how many instructions there are, after both passes.
    fn tidied(mut self) -> (Vec<VReg>, usize) {
        self.add(Inst::End);
        number(&mut self.func);
        remove_dead(&mut self.func);
        let nodes = &self.func.blocks[self.block].nodes;
        let mut reads = Vec::new();
        if let Some(node) = nodes.iter().rev().nth(1) {
            each_use(&node.inst, |v| reads.push(v));
        }
        (reads, nodes.len() - 1)
    }
    fn kill_if(&mut self, a: VReg, b: VReg) {
        let alu = Alu::new(AluOp::KILLGT, None, &[Source::reg(a), Source::reg(b)]);
        self.add(Inst::Alu(alu));
    }
}

#[test]
fn what_is_computed_twice_is_computed_once() {
    let mut p = Program::new();
    let x = p.alu(AluOp::MOV, &[Source::bits(7)]);
    let a = p.alu(AluOp::LSHR_INT, &[Source::reg(x), Source::bits(2)]);
    let b = p.alu(AluOp::LSHR_INT, &[Source::reg(x), Source::bits(2)]);
    p.kill_if(a, b);
    assert_eq!(p.tidied(), (vec![a, a], 3));
}

#[test]
fn other_constants_make_other_values_and_moves_stay_apart() {
    let mut p = Program::new();
    let x = p.alu(AluOp::MOV, &[Source::bits(7)]);
    let y = p.alu(AluOp::MOV, &[Source::bits(7)]);
    let a = p.alu(AluOp::LSHR_INT, &[Source::reg(x), Source::bits(2)]);
    let b = p.alu(AluOp::LSHR_INT, &[Source::reg(y), Source::bits(2)]);
    p.kill_if(a, b);
    assert_eq!(p.tidied(), (vec![a, b], 5));
}

#[test]
fn what_nobody_reads_goes_with_what_only_it_reads() {
    let mut p = Program::new();
    let x = p.alu(AluOp::MOV, &[Source::bits(7)]);
    let unread = p.alu(AluOp::LSHR_INT, &[Source::reg(x), Source::bits(2)]);
    p.alu(AluOp::NOT_INT, &[Source::reg(unread)]);
    assert_eq!(p.tidied(), (vec![], 0));
}
