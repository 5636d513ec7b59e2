//! The function while it is being allocated: nodes in one flat array, every register virtual.

use crate::api::Error;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{
    Adjacency, Block, Cell, Demand, Edges, Files, Func, Inst, Operand, Part, Reg, Relation, Role,
    VReg, VRegData,
};
use gpucc_ir::ssa::Span;

pub(crate) const NONE: u32 = u32::MAX;

/// Where a node of the flat function comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The n-th instruction of the function as it was given.
    Program(u32),
    /// Recomputes the n-th instruction.
    Again(u32),
    /// A copy or spill instruction that moves registers of this shape.
    Move {
        /// Cells of each register.
        count: u16,
        /// Distance between cells.
        stride: u8,
    },
}

/// One instruction in the flat function.
#[derive(Clone, Debug)]
pub(crate) struct WorkNode<I> {
    pub inst: I,
    pub span: Span,
    pub origin: Origin,
    /// Instructions of the program that happened before this one: its place for the checker.
    pub happened: u32,
}

/// A run of nodes; index = position in the layout.
#[derive(Clone, Debug)]
pub(crate) struct WorkBlock {
    pub block: Block,
    pub first: u32,
    pub end: u32,
    pub depth: u32,
    /// Instructions of the program that happened when the block ends.
    pub happened: u32,
    /// Instructions of the program that happened before it.
    pub begins: u32,
}

/// What the allocator knows of one virtual register.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WorkReg {
    pub data: VRegData,
    /// The cell it must occupy: a physical register of the program in disguise.
    pub pin: Option<Cell>,
    /// The register of the program whose value it holds.
    pub root: VReg,
    /// It is as short as can be (or pinned): spilling it would not help.
    pub tiny: bool,
    /// The slot that holds its value all along, when it is a copy for a loop.
    pub backed: Option<u32>,
}

/// The flat function.
#[derive(Clone, Debug)]
pub(crate) struct Work<I> {
    pub nodes: Vec<WorkNode<I>>,
    /// Operands of the nodes, until cells are written into these.
    pub operands: Operands,
    pub blocks: Vec<WorkBlock>,
    pub regs: Vec<WorkReg>,
    pub files: Files,
    /// Predecessor positions of each layout position, logical and physical.
    pub preds: [Adjacency<u32>; 2],
    /// Successor positions.
    pub succs: [Adjacency<u32>; 2],
    /// Some operand names a part of its register.
    pub parts: bool,
    /// Number of registers of the program itself, disguised cells included.
    pub program_regs: usize,
}

/// Register operands of a list of nodes, all virtual: asking an instruction is dear, and every step asks.
#[derive(Clone, Debug)]
pub(crate) struct Operands {
    start: Vec<u32>,
    list: Vec<Operand>,
}

impl Operands {
    pub fn with_capacity(nodes: usize) -> Operands {
        let mut start = Vec::with_capacity(nodes + 1);
        start.push(0);
        Operands { start, list: Vec::with_capacity(3 * nodes) }
    }

    /// Those of a node, in the order of [`Inst::operands`].
    #[inline]
    pub fn of(&self, node: u32) -> &[Operand] {
        let node = node as usize;
        &self.list[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Those of one more node.
    pub fn push(&mut self, operands: &[Operand]) {
        self.list.extend_from_slice(operands);
        self.start.push(self.list.len() as u32);
    }

    /// Those of one more node, by its instruction.
    pub fn ask<I: Inst>(&mut self, inst: &I) {
        let list = &mut self.list;
        inst.operands(&mut |operand| list.push(operand));
        self.start.push(list.len() as u32);
    }

    /// The node pushed last reads or writes that part of its register.
    pub fn name(&mut self, role: Role, part: Part) {
        let mut operands = self.last_mut().iter_mut();
        if let Some(operand) = operands.find(|operand| operand.role == role) {
            operand.part = part;
        }
    }

    /// Those of the node pushed last.
    fn last_mut(&mut self) -> &mut [Operand] {
        let first = self.start[self.start.len() - 2] as usize;
        &mut self.list[first..]
    }
}

/// 0 for registers that live over logical edges, 1 for physical.
#[inline]
pub(crate) fn edge_kind(data: &VRegData) -> usize {
    usize::from(!data.per_lane)
}

/// Which kinds of edges some register lives over: most machines have registers of one kind.
pub(crate) fn edge_kinds(regs: &[WorkReg]) -> [bool; 2] {
    let mut kinds = [false; 2];
    for reg in regs {
        kinds[edge_kind(&reg.data)] = true;
    }
    kinds
}

/// The operands of the program's instructions, for the checker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    pub start: Vec<u32>,
    pub operands: Vec<(VReg, Part, Role)>,
    /// Bit per instruction: it is a copy.
    pub copies: Vec<bool>,
}

impl Recorded {
    #[inline]
    pub fn of(&self, instruction: u32) -> &[(VReg, Part, Role)] {
        let k = instruction as usize;
        &self.operands[self.start[k] as usize..self.start[k + 1] as usize]
    }
    pub fn len(&self) -> u32 {
        self.copies.len() as u32
    }
}

/// Flattens a function, disguises its physical registers as pinned virtual ones, and records its
/// operands. The function's blocks are left empty.
pub(crate) fn flatten<I: Inst>(func: &mut Func<I>) -> Result<(Work<I>, Recorded), Error> {
    let loops = gpucc_ir::mach::Loops::of(func);
    let succs = [Edges::Logical, Edges::Physical].map(|edges| Adjacency::successors(func, edges));
    let preds = [0, 1].map(|kind: usize| succs[kind].reversed());
    let total = func.len();
    if total > (u32::MAX / 8) as usize {
        return Err(Error::Invalid("more instructions than an allocation can number".into()));
    }
    let mut work = Work {
        nodes: Vec::with_capacity(total),
        operands: Operands::with_capacity(total),
        blocks: Vec::with_capacity(func.layout.len()),
        regs: func
            .vregs
            .iter()
            .map(|(v, &data)| WorkReg { data, pin: None, root: v, tiny: false, backed: None })
            .collect(),
        files: func.files,
        preds,
        succs,
        parts: false,
        program_regs: 0,
    };
    let mut recorded = Recorded::default();
    let mut disguises: Vec<(Cell, VReg)> = Vec::new();
    recorded.start.reserve(total + 1);
    recorded.start.push(0);
    for &block in &func.layout {
        let first = work.nodes.len() as u32;
        let begins = recorded.len();
        for node in func.blocks[block].nodes.drain(..) {
            let mut inst = node.inst;
            work.operands.ask(&inst);
            let operands = work.operands.last_mut();
            if operands.iter().any(|operand| operand.reg.as_phys().is_some()) {
                let (regs, files) = (&mut work.regs, work.files);
                let mut next = operands.iter_mut();
                inst.rewrite(&mut |reg, _| {
                    let operand = next.next().expect("rewrite visits what operands visits");
                    if let Some(cell) = reg.as_phys() {
                        operand.reg = Reg::virt(disguise(cell, &mut disguises, regs, files));
                    }
                    operand.reg
                });
            }
            for operand in operands.iter_mut().filter(|operand| !operand.part.is_whole()) {
                let v = virt(operand);
                let count = work.regs.get(v.index()).map_or(0, |reg| reg.data.demand.count);
                if operand.part.cells(count).end > count {
                    let part = operand.part;
                    return Err(Error::Invalid(format!("{v} has no cells {part}")));
                }
                operand.part = operand.part.of(count);
                work.parts |= !operand.part.is_whole();
            }
            let named = operands.iter();
            recorded
                .operands
                .extend(named.map(|operand| (virt(operand), operand.part, operand.role)));
            recorded.start.push(recorded.operands.len() as u32);
            recorded.copies.push(inst.is_copy());
            let number = recorded.len() - 1;
            work.nodes.push(WorkNode {
                inst,
                span: node.span,
                origin: Origin::Program(number),
                happened: number,
            });
        }
        let end = work.nodes.len() as u32;
        work.blocks.push(WorkBlock {
            block,
            first,
            end,
            depth: loops.depth(block),
            happened: recorded.len(),
            begins,
        });
    }
    if let Some(&(v, ..)) = recorded.operands.iter().find(|(v, ..)| v.index() >= work.regs.len()) {
        return Err(Error::Invalid(format!("{v} is not declared")));
    }
    work.program_regs = work.regs.len();
    Ok((work, recorded))
}

/// Programs name few cells, sorted search is enough.
fn disguise(
    cell: Cell,
    disguises: &mut Vec<(Cell, VReg)>,
    regs: &mut Vec<WorkReg>,
    files: Files,
) -> VReg {
    match disguises.binary_search_by_key(&cell, |&(cell, _)| cell) {
        Ok(found) => disguises[found].1,
        Err(at) => {
            let v = VReg::from_u32(regs.len() as u32);
            let data = VRegData {
                demand: Demand::scalar(cell.file),
                per_lane: files.get(cell.file).per_lane,
                prefer: None,
                span: Span::NONE,
            };
            regs.push(WorkReg { data, pin: Some(cell), root: v, tiny: true, backed: None });
            disguises.insert(at, (cell, v));
            v
        }
    }
}

impl<I: Inst> Work<I> {
    /// A new register that holds the value of another.
    pub fn make_reg(&mut self, like: VReg, tiny: bool) -> VReg {
        let v = VReg::from_u32(self.regs.len() as u32);
        let mut reg = self.regs[like.index()];
        reg.pin = None;
        reg.tiny = tiny;
        reg.backed = None;
        self.regs.push(reg);
        v
    }
}

/// The virtual register of an operand in the flat function, where all are virtual.
#[inline]
pub(crate) fn virt(operand: &Operand) -> VReg {
    operand.reg.as_virt().expect("flattening made all registers virtual")
}

impl<I> Work<I> {
    /// What an operand needs: its register, or the part as a register of its own.
    pub fn demand(&self, operand: &Operand) -> Demand {
        let demand = self.regs[virt(operand).index()].data.demand;
        demand.of_part(operand.part, self.files.get(demand.file).row)
    }

    /// Cells from where a register begins to where the operand does.
    pub fn distance(&self, operand: &Operand) -> u16 {
        if operand.part.is_whole() {
            return 0;
        }
        let demand = self.regs[virt(operand).index()].data.demand;
        demand.distance(operand.part) as u16
    }
}

/// True when the operand has a constraint beyond its register's demand.
#[inline]
pub(crate) fn constrained(operand: &Operand) -> bool {
    operand.relation != Relation::Any || operand.phases != gpucc_ir::mach::Phases::ANY
}
