//! Which cells still matter behind an instruction, after registers are given: what a clause leaves
//! that nobody reads later may live in clause temporaries.
//!
//! Backwards over logical edges: a cell matters to the lanes that will read it.

use crate::inst::{Indexed, Inst};
use crate::slot::Slot;
use gpucc_ir::mach::{Block, Func, Inst as _, Role};
use std::collections::BTreeMap;

/// A set of cells, four a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cells([u64; 8]);

impl Cells {
    /// Nothing.
    pub const NONE: Cells = Cells([0; 8]);
    /// Everything.
    pub const ALL: Cells = Cells([u64::MAX; 8]);

    /// One more.
    pub fn insert(&mut self, cell: u16) {
        self.0[usize::from(cell / 64)] |= 1 << (cell % 64);
    }
    /// One less.
    pub fn remove(&mut self, cell: u16) {
        self.0[usize::from(cell / 64)] &= !(1 << (cell % 64));
    }
    /// Is it in?
    pub fn contains(&self, cell: u16) -> bool {
        self.0[usize::from(cell / 64)] >> (cell % 64) & 1 != 0
    }
    /// From what matters behind slots that act at once to what matters before them.
    pub fn pass<'s>(&mut self, slots: impl Iterator<Item = &'s Slot> + Clone) {
        for cell in slots.clone().filter_map(|slot| slot.dst?.cell()) {
            self.remove(cell);
        }
        let sources = slots.flat_map(Slot::sources);
        for cell in sources.filter_map(|source| source.read.cell()) {
            self.insert(cell);
        }
    }
    fn unite(&mut self, other: &Cells) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// For each instruction that is no ALU work, what matters before it; and behind each block.
pub struct Live {
    at: BTreeMap<(Block, u32), Cells>,
    behind: BTreeMap<Block, Cells>,
}

impl Live {
    /// Looks at a whole function; the work is its size times the rounds that loops take.
    pub fn of(func: &Func<Inst>) -> Live {
        let mut inside: BTreeMap<Block, Cells> = BTreeMap::new();
        let out_of = |inside: &BTreeMap<Block, Cells>, block: Block| {
            let mut out = Cells::NONE;
            for to in &func.blocks[block].logical {
                if let Some(cells) = inside.get(to) {
                    out.unite(cells);
                }
            }
            out
        };
        let loops = func.layout.iter().any(|&block| {
            let mut nodes = func.blocks[block].nodes.iter();
            nodes.any(|node| matches!(node.inst, Inst::LoopEnd))
        });
        loop {
            let mut changed = false;
            for &block in func.layout.iter().rev() {
                let mut live = out_of(&inside, block);
                for node in func.blocks[block].nodes.iter().rev() {
                    step(&node.inst, &mut live);
                }
                changed |= inside.insert(block, live) != Some(live);
            }
            if !changed || !loops {
                break;
            }
        }
        let (mut at, mut behind) = (BTreeMap::new(), BTreeMap::new());
        for &block in &func.layout {
            let mut live = out_of(&inside, block);
            behind.insert(block, live);
            for (number, node) in func.blocks[block].nodes.iter().enumerate().rev() {
                if matches!(node.inst, Inst::If(_)) {
                    // Its test is the last of the work that it ends.
                    at.insert((block, number as u32), live);
                }
                step(&node.inst, &mut live);
                if !is_alu(&node.inst) && !matches!(node.inst, Inst::If(_)) {
                    at.insert((block, number as u32), live);
                }
            }
        }
        Live { at, behind }
    }

    /// What matters to the lanes that come to the end of a block.
    pub fn behind(&self, block: Block) -> Cells {
        self.behind.get(&block).copied().unwrap_or(Cells::ALL)
    }

    /// What matters where the instruction ends the ALU work before it; everything for ALU work.
    pub fn at(&self, block: Block, number: usize) -> Cells {
        self.at
            .get(&(block, number as u32))
            .copied()
            .unwrap_or(Cells::ALL)
    }
}

const fn is_alu(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Alu(_)
            | Inst::Dot { .. }
            | Inst::Cube { .. }
            | Inst::Double(_)
            | Inst::Copy { .. }
            | Inst::ArrayRead { .. }
            | Inst::ArrayWrite { .. }
            | Inst::ArrayNew { .. }
    )
}

/// From behind an instruction to before it.
fn step(inst: &Inst, live: &mut Cells) {
    let array = match inst {
        Inst::ArrayRead { from, .. } => Some(from),
        Inst::ArrayWrite { to, .. } => Some(to),
        _ => None,
    };
    let of_array = |reg| array.is_some_and(|indexed: &Indexed| indexed.array == reg);
    inst.operands(&mut |operand| {
        if operand.role != Role::Use && !of_array(operand.reg) {
            live.remove(operand.reg.cell().index);
        }
    });
    inst.operands(&mut |operand| {
        if operand.role == Role::Use {
            live.insert(operand.reg.cell().index);
        }
    });
    if let Some(indexed) = array {
        let first = indexed.array.cell().index;
        for row in 0..indexed.count {
            live.insert(first + 4 * row);
        }
    }
}
