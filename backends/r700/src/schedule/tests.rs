use super::*;
use crate::isa::AluOp;
use crate::isa::R700;
use crate::straight::Program;

impl Program {
    /// The sum of x * x and nothing else.
    fn dot(&mut self, x: [VReg; 3]) -> VReg {
        let dst = self.reg();
        let zero = Source::bits(0);
        let [a, b, c] = x.map(Source::reg);
        self.add(Inst::Dot {
            dst: dst.into(),
            src: [[a, a], [b, b], [c, c], [zero, zero]],
            clamp: false,
        });
        dst
    }
    /// The instructions of the block after the pass, and the channels wished for.
    fn scheduled(&mut self) -> Vec<Inst> {
        let variables = Variables::of(&self.func);
        run(&mut self.func, &R700, &variables);
        let nodes = &self.func.blocks[self.block].nodes;
        nodes.iter().map(|node| node.inst.clone()).collect()
    }
    fn chan(&self, v: VReg) -> Option<u8> {
        self.func.vregs[v].prefer
    }
}

fn constant(index: u16, chan: u8) -> Source {
    Source::plain(Src::Const { buffer: 0, index, chan })
}

fn result(inst: &Inst) -> Option<VReg> {
    match inst {
        Inst::Alu(alu) => alu.dst?.as_virt(),
        Inst::Dot { dst, .. } => dst.as_virt(),
        _ => None,
    }
}

#[test]
fn what_the_longest_chain_hangs_on_comes_first() {
    let mut p = Program::new();
    let one = Source::bits(0x3f80_0000);
    let idle: Vec<VReg> =
        (0..5).map(|k| p.alu(AluOp::MUL, &[constant(0, 0), Source::bits(k)])).collect();
    let first = p.alu(AluOp::MUL, &[constant(0, 1), one]);
    p.alu(AluOp::ADD, &[Source::reg(first), one]);
    let order: Vec<VReg> = p.scheduled().iter().filter_map(result).collect();
    assert_eq!(order[0], first);
    assert!(order.contains(&idle[4]));
}

#[test]
fn results_of_one_group_are_wished_into_different_channels() {
    let mut p = Program::new();
    let values: Vec<VReg> =
        (0..4).map(|chan| p.alu(AluOp::MUL, &[constant(0, chan), constant(0, chan)])).collect();
    p.scheduled();
    let mut chans: Vec<Option<u8>> = values.iter().map(|&v| p.chan(v)).collect();
    chans.sort_unstable();
    assert_eq!(chans, [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn constants_of_one_vector_are_read_together() {
    // Interleaved as the source has them: four rows, two users of each pair.
    let mut p = Program::new();
    let one = Source::bits(0x3f80_0000);
    for chan in 0..4 {
        for row in 0..4 {
            p.alu(AluOp::MUL, &[constant(row, chan), one]);
        }
    }
    let insts = p.scheduled();
    let row = |inst: &Inst| match inst {
        Inst::Alu(alu) => match alu.src[0].src {
            Src::Const { index, .. } => index,
            _ => panic!("the first source is a constant"),
        },
        _ => panic!("all are ALU work"),
    };
    // Two pairs a group: each group is a row, or two halves of rows.
    for four in insts.chunks(4) {
        let mut rows: Vec<u16> = four.iter().map(row).collect();
        rows.sort_unstable();
        rows.dedup();
        assert!(rows.len() <= 2, "{rows:?}");
    }
}

#[test]
fn many_sums_of_products_become_chains_where_that_takes_fewer_groups() {
    let mut p = Program::new();
    let inputs: Vec<[VReg; 3]> = (0..8).map(|_| [p.reg(), p.reg(), p.reg()]).collect();
    let dots: Vec<VReg> = inputs.into_iter().map(|x| p.dot(x)).collect();
    let insts = p.scheduled();
    assert!(insts.iter().all(|inst| matches!(inst, Inst::Alu(_))));
    assert_eq!(insts.len(), 3 * dots.len());
}

#[test]
fn one_sum_of_products_stays_one() {
    let mut p = Program::new();
    let inputs = [p.reg(), p.reg(), p.reg()];
    let sum = p.dot(inputs);
    p.alu(AluOp::RECIPSQRT_IEEE, &[Source::reg(sum)]);
    let insts = p.scheduled();
    assert!(matches!(insts[..], [Inst::Dot { .. }, Inst::Alu(_)]));
}

#[test]
fn a_chain_begins_with_plus_zero_where_the_sum_did() {
    let mut p = Program::new();
    let x = [p.reg(), p.reg(), p.reg()];
    p.dot(x);
    let dot = p.func.blocks[p.block].nodes[0].inst.clone();
    let links = chain(&dot).expect("it has no modifiers");
    let Inst::Alu(first) = &links[0] else {
        panic!("links are ALU work");
    };
    assert_eq!(first.op, AluOp::MULADD_IEEE);
    assert_eq!(first.src[..], [Source::reg(x[2]), Source::reg(x[2]), Source::bits(0)]);
}
