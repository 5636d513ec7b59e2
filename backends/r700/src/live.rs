//! Which cells still matter behind an instruction, after registers are given: what a clause leaves
//! that nobody reads later may live in clause temporaries.
//!
//! Backwards over logical edges: a cell matters to the lanes that will read it.

use crate::inst::{Indexed, Inst};
use crate::slot::Slot;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::live::{self, Scan};
use gpucc_ir::mach::{Adjacency, Block, Edges, Func, Inst as _, Role};

/// A set of cells, four a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cells([u64; 8]);

impl Cells {
    /// Nothing.
    pub const NONE: Cells = Cells([0; 8]);
    /// Everything.
    pub const ALL: Cells = Cells([u64::MAX; 8]);
    /// How many there may be.
    const COUNT: usize = 512;

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
}

/// For each instruction that is no ALU work, what matters before it; and behind each block.
pub struct Live {
    /// Where the instructions of each block begin in `at`, and what matters behind it.
    blocks: SecondaryMap<Block, Option<(u32, Cells)>>,
    /// By instruction: its place in `cells`, one further, or 0.
    at: Vec<u32>,
    cells: Vec<Cells>,
}

impl Live {
    /// Looks at a whole function.
    pub fn of(func: &Func<Inst>) -> Live {
        let across = across(func);
        let blocks = SecondaryMap::with_capacity(func.blocks.len());
        let mut all = Live { blocks, at: vec![0; func.len()], cells: Vec::new() };
        let mut first = 0;
        for (place, &block) in func.layout.iter().enumerate() {
            let mut live = Cells::NONE;
            for cell in across.behind(place) {
                live.insert(cell as u16);
            }
            all.blocks[block] = Some((first as u32, live));
            let nodes = &func.blocks[block].nodes;
            let at = &mut all.at[first..first + nodes.len()];
            for (node, at) in nodes.iter().zip(at).rev() {
                // Its test is the last of the work that it ends.
                let tests = matches!(node.inst, Inst::If(_));
                if tests {
                    all.cells.push(live);
                }
                step(&node.inst, &mut live);
                if !tests && !is_alu(&node.inst) {
                    all.cells.push(live);
                }
                if !is_alu(&node.inst) {
                    *at = all.cells.len() as u32;
                }
            }
            first += nodes.len();
        }
        all
    }

    /// What matters to the lanes that come to the end of a block.
    pub fn behind(&self, block: Block) -> Cells {
        self.blocks[block].map_or(Cells::ALL, |(_, behind)| behind)
    }

    /// What matters where the instruction ends the ALU work before it; everything for ALU work.
    pub fn at(&self, block: Block, number: usize) -> Cells {
        let first = self.blocks[block].map(|(first, _)| first as usize);
        let place = first.and_then(|first| self.at.get(first + number));
        place
            .and_then(|&place| self.cells.get((place as usize).wrapping_sub(1)).copied())
            .unwrap_or(Cells::ALL)
    }
}

/// Which cells matter where blocks begin. Blocks go by their places in the layout.
pub fn across(func: &Func<Inst>) -> live::Live {
    // Nothing lives across the edges of a function that has none.
    if func.layout.len() == 1 && Adjacency::successors(func, Edges::Logical).of(0).is_empty() {
        return live::Live::of(func, Edges::Logical, Scan::new(0));
    }
    let mut scan = Scan::new(Cells::COUNT);
    for (place, &block) in func.layout.iter().enumerate() {
        for node in &func.blocks[block].nodes {
            each_read(&node.inst, |cell| scan.read(place, usize::from(cell)));
            each_write(&node.inst, |cell| scan.write(place, usize::from(cell)));
        }
    }
    live::Live::of(func, Edges::Logical, scan)
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
    each_write(inst, |cell| live.remove(cell));
    each_read(inst, |cell| live.insert(cell));
}

/// The array that an index reaches into.
const fn array(inst: &Inst) -> Option<&Indexed> {
    match inst {
        Inst::ArrayRead { from, .. } => Some(from),
        Inst::ArrayWrite { to, .. } => Some(to),
        _ => None,
    }
}

/// Cells that are written for certain: of an array none.
fn each_write(inst: &Inst, mut visit: impl FnMut(u16)) {
    let array = array(inst);
    inst.operands(&mut |operand| {
        if operand.role != Role::Use && array.is_none_or(|of| of.array != operand.reg) {
            visit(operand.reg.cell().index);
        }
    });
}

/// Cells that may be read: of an array all.
fn each_read(inst: &Inst, mut visit: impl FnMut(u16)) {
    inst.operands(&mut |operand| {
        if operand.role == Role::Use {
            visit(operand.reg.cell().index);
        }
    });
    if let Some(indexed) = array(inst) {
        let first = indexed.array.cell().index;
        for row in 0..indexed.count {
            visit(first + 4 * row);
        }
    }
}
