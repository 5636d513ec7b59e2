//! Small blocks whose best orders are known.

use super::*;
use crate::fau::Read;
use crate::inst::{FILES, GPR, Op, Src};
use crate::isa::f;
use gpucc_ir::mach::{Block, Demand, VReg};
use gpucc_ir::ssa::Span;

struct Builder {
    func: Func<Inst>,
    block: Block,
}

impl Builder {
    fn new() -> Builder {
        let mut func = Func::new("order", FILES);
        let block = func.push_block();
        Builder { func, block }
    }
    fn push(&mut self, op: Op) {
        self.func.push(self.block, Inst::Op(Box::new(op)), Span::NONE);
    }
    fn fresh(&mut self) -> VReg {
        self.func.make_vreg(Demand::scalar(GPR), Span::NONE)
    }
    fn constant(&mut self) -> VReg {
        let v = self.fresh();
        self.push(Op::new(Opcode::MovI32).from(&[Src::Fast(Read::ZERO)]).to(v));
        v
    }
    fn add(&mut self, a: VReg, b: VReg) -> VReg {
        let v = self.fresh();
        self.push(Op::new(Opcode::IaddU32).from(&[a.into(), b.into()]).to(v));
        v
    }
    fn load(&mut self, words: usize) -> Vec<VReg> {
        let list: Vec<VReg> = (0..words).map(|_| self.fresh()).collect();
        let row = if words == 4 { Opcode::LdBufferI128 } else { Opcode::LdBufferI32 };
        let regs: Vec<_> = list.iter().map(|&v| v.into()).collect();
        let zero = Src::Fast(Read::ZERO);
        let mut op = Op::new(row).from(&[zero, zero]).writing(&regs);
        op.effects = Some(Effects::default());
        self.push(op);
        list
    }
    fn store(&mut self, v: VReg) {
        let zero = Src::Fast(Read::ZERO);
        self.push(Op::new(Opcode::StoreI32).from(&[zero]).reading(&[v.into()]));
    }
    fn rows(&self) -> Vec<Opcode> {
        let nodes = self.func.blocks[self.block].nodes.iter();
        nodes.map(|node| node.inst.op().unwrap().opcode).collect()
    }
}

#[test]
fn what_is_computed_early_and_read_late_goes_to_its_readers() {
    let mut builder = Builder::new();
    let list: Vec<VReg> = (0..6).map(|_| builder.constant()).collect();
    let sum = list[1..].iter().fold(list[0], |sum, &v| builder.add(sum, v));
    builder.store(sum);
    assert_eq!(run(&mut builder.func), 2);
    assert_eq!(builder.rows()[..3], [Opcode::MovI32, Opcode::MovI32, Opcode::IaddU32]);
    // It is an order of the same instructions that no other beats.
    assert_eq!(builder.rows().len(), 12);
    assert_eq!(run(&mut builder.func), 2);
}

#[test]
fn loads_of_several_words_are_used_up_one_by_one() {
    // Three dot products, term by term: all columns alive at once, or one after the other.
    let mut builder = Builder::new();
    let columns: Vec<Vec<VReg>> = (0..3).map(|_| builder.load(4)).collect();
    let mut sums: Vec<VReg> = columns.iter().map(|column| column[0]).collect();
    for k in 1..4 {
        for (sum, column) in sums.iter_mut().zip(&columns) {
            *sum = builder.add(*sum, column[k]);
        }
    }
    for sum in sums {
        builder.store(sum);
    }
    assert!(run(&mut builder.func) <= 6);
}

#[test]
fn a_message_is_early_where_registers_are_free() {
    let mut builder = Builder::new();
    // Something else needs six registers, so that one may wait for a load.
    let list: Vec<VReg> = (0..7).map(|_| builder.constant()).collect();
    let group: Vec<_> = list[..4].iter().map(|&v| v.into()).collect();
    let sum = builder.add(list[4], list[4]);
    let place = Src::Pair([list[5].into(), list[6].into()]);
    builder.push(Op::new(Opcode::StoreI128).from(&[place]).reading(&group));
    let other = (0..8).fold(sum, |v, _| builder.add(v, v));
    let loaded = builder.load(1)[0];
    let end = builder.add(other, loaded);
    builder.store(end);
    let needed = run(&mut builder.func);
    assert_eq!(needed, 6);
    let rows = builder.rows();
    let at = |row| rows.iter().position(|&other| other == row).unwrap();
    let last = rows.iter().rposition(|&row| row == Opcode::IaddU32).unwrap();
    assert!(last - at(Opcode::LdBufferI32) > 4, "{rows:?}");
}

#[test]
fn nothing_that_is_taken_from_lanes_passes_an_alpha_test_that_may_end_them() {
    let effects = |mut op: Op| {
        op.effects = Some(Effects::default());
        Machine.effects(&Inst::Op(Box::new(op)))
    };
    let ended = effects(Op::new(Opcode::Atest)).writes;
    let mut texels = Op::new(Opcode::TexSingle);
    for (mode, takes) in [(0, false), (1, true), (5, true)] {
        texels.word = texels.word.with(f::LOD_MODE, mode);
        assert_eq!(effects(texels.clone()).reads & ended != 0, takes, "{mode}");
    }
    for (row, takes) in [(Opcode::ClperI32, true), (Opcode::Wmask, true), (Opcode::IaddU32, false)]
    {
        assert_eq!(effects(Op::new(row)).reads & ended != 0, takes, "{row:?}");
    }
}
