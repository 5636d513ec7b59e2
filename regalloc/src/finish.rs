//! Rewriting of the function with its registers.
//!
//! Writes the cells into the instructions and puts the copies in their places.

use crate::api::{Allocation, Error, Shape, Target};
use crate::classes::{Classes, Override, Transfer};
use crate::color::{Colors, cells_of};
use crate::moves::{Move, Step, sequence};
use crate::segment::{after, before};
use crate::work::{NONE, Operands, Origin, Work, WorkNode, virt};
use gpucc_ir::mach::{Cell, Inst, Operand, Reg};
use gpucc_ir::ssa::Span;

/// Replaces the nodes of the flat function by the allocated ones.
pub(crate) fn finish<I: Inst, T: Target<I>>(
    work: &mut Work<I>,
    classes: &mut Classes,
    colors: &Colors,
    target: &mut T,
    result: &mut Allocation,
) -> Result<(), Error> {
    let nodes = std::mem::take(&mut work.nodes);
    let given = std::mem::replace(&mut work.operands, Operands::with_capacity(0));
    let mut writer = Writer {
        classes,
        colors,
        target,
        result,
        files: work.files.0,
        out: Vec::with_capacity(nodes.len() + nodes.len() / 8),
        operands: Vec::new(),
        moves: Vec::new(),
        steps: Vec::new(),
    };
    let (mut transfer, mut over) = (0, 0);
    let mut input = nodes.into_iter();
    for block in &mut work.blocks {
        let first = writer.out.len() as u32;
        for index in block.first..block.end {
            let node = input.next().expect("blocks cover the nodes");
            let transfers =
                run_of(&writer.classes.transfers, &mut transfer, |item| item.node == index);
            let overrides = run_of(&writer.classes.overrides, &mut over, |item| item.node == index);
            writer.node(index, node, given.of(index), transfers, overrides)?;
        }
        block.first = first;
        block.end = writer.out.len() as u32;
    }
    work.nodes = writer.out;
    Ok(())
}

/// The next items of a sorted list that match; moves the list's position.
fn run_of<X>(
    list: &[X],
    position: &mut usize,
    matches: impl Fn(&X) -> bool,
) -> std::ops::Range<usize> {
    let first = *position;
    while list.get(*position).is_some_and(&matches) {
        *position += 1;
    }
    first..*position
}

struct Writer<'a, I, T> {
    classes: &'a mut Classes,
    colors: &'a Colors,
    target: &'a mut T,
    result: &'a mut Allocation,
    files: &'static [gpucc_ir::mach::File],
    out: Vec<WorkNode<I>>,
    operands: Vec<Operand>,
    moves: Vec<Move>,
    steps: Vec<Step>,
}

/// Where moves are placed.
#[derive(Copy, Clone)]
struct Place {
    node: u32,
    happened: u32,
    span: Span,
}

impl<I: Inst, T: Target<I>> Writer<'_, I, T> {
    fn node(
        &mut self,
        index: u32,
        mut node: WorkNode<I>,
        given: &[Operand],
        transfers: std::ops::Range<usize>,
        overrides: std::ops::Range<usize>,
    ) -> Result<(), Error> {
        let place = Place { node: index, happened: node.happened, span: node.span };
        let is_program = matches!(node.origin, Origin::Program(_));
        let behind = Place { happened: node.happened + u32::from(is_program), ..place };
        self.transfers(transfers.clone(), false, place)?;
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        operands.extend_from_slice(given);
        // Physical registers, in the order of visiting.
        for (k, operand) in operands.iter_mut().enumerate() {
            let over = self.classes.overrides[overrides.clone()]
                .iter()
                .find(|over: &&Override| over.operand == k as u32)
                .copied();
            let class = over.map_or(virt(operand).as_u32(), |over| over.class);
            let mut cell = self.cell(class);
            if over.is_none() {
                cell.index += self.distance(operand);
            }
            operand.reg = Reg::phys(cell);
        }
        if node.inst.is_copy() {
            self.copy(node, given, &operands, behind)?;
        } else {
            let mut next = operands.iter();
            node.inst
                .rewrite(&mut |_, _| next.next().expect("rewrite visits what operands visits").reg);
            self.out.push(node);
        }
        self.operands = operands;
        self.transfers(transfers, true, behind)
    }

    /// Cells from where the register of an operand begins to where the operand does.
    fn distance(&mut self, operand: &Operand) -> u16 {
        if operand.part.is_whole() {
            return 0;
        }
        let root = self.classes.find(virt(operand).as_u32());
        let shape = self.classes.class[root as usize].shape;
        operand.part.cells(shape.count).start * u16::from(shape.stride)
    }

    fn cell(&mut self, class: u32) -> Cell {
        let root = self.classes.find(class) as usize;
        let index = self.colors.cell[root];
        debug_assert_ne!(index, NONE, "every class with a life has a cell");
        let shape = self.classes.class[root].shape;
        let row = u16::from(self.files[shape.file.0 as usize].row);
        let index = index as u16;
        let last = cells_of(index, shape).last().unwrap_or(index);
        let used = &mut self.result.rows_used[shape.file.0 as usize];
        *used = (*used).max(last / row + 1);
        Cell { file: shape.file, index }
    }

    /// A copy of the program: what remains of it.
    fn copy(
        &mut self,
        mut node: WorkNode<I>,
        given: &[Operand],
        operands: &[Operand],
        place: Place,
    ) -> Result<(), Error> {
        let uses = operands.iter().enumerate().filter(|(_, operand)| !operand.role.is_def());
        let defs = operands.iter().filter(|operand| operand.role.is_def());
        let pairs: smallvec::SmallVec<[(usize, Reg, Reg); 4]> =
            uses.zip(defs).map(|((k, from), to)| (k, from.reg, to.reg)).collect();
        self.moves.clear();
        for &(k, from, to) in &pairs {
            if from == to {
                self.result.copies_removed += 1;
                continue;
            }
            let root = self.classes.find(virt(&given[k]).as_u32());
            let shape = self.classes.class[root as usize].shape.part(given[k].part);
            self.moves.push(Move { from: from.cell().index, to: to.cell().index, shape });
        }
        if let [only] = self.moves[..]
            && pairs.len() == 1
        {
            let mut next = operands.iter();
            node.inst
                .rewrite(&mut |_, _| next.next().expect("rewrite visits what operands visits").reg);
            node.origin = Origin::Move { count: only.shape.count, stride: only.shape.stride };
            node.happened = place.happened;
            self.out.push(node);
            return Ok(());
        }
        self.emit(place)
    }

    /// The copies that clashing constraints need, before or behind a node.
    fn transfers(
        &mut self,
        range: std::ops::Range<usize>,
        behind: bool,
        place: Place,
    ) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        self.moves.clear();
        for at in range {
            let transfer: Transfer = self.classes.transfers[at];
            if transfer.behind != behind {
                continue;
            }
            let (mut from, mut to) = (self.cell(transfer.from), self.cell(transfer.to));
            let register = if behind { &mut to } else { &mut from };
            register.index += transfer.distance;
            let root = self.classes.find(transfer.temporary()) as usize;
            let step =
                Move { from: from.index, to: to.index, shape: self.classes.class[root].shape };
            if from != to && !self.moves.contains(&step) {
                self.moves.push(step);
                self.result.copies_inserted += 1;
            }
        }
        self.emit(place)
    }

    /// Emits `self.moves`, which happen at the same time.
    fn emit(&mut self, place: Place) -> Result<(), Error> {
        if self.moves.is_empty() {
            return Ok(());
        }
        let mut moves = std::mem::take(&mut self.moves);
        split_partial_overlaps(&mut moves);
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        let colors = self.colors;
        let (start, end) = (before(place.node), after(place.node));
        sequence(&moves, |shape| colors.spare(shape, start, end), &mut steps);
        for step in &steps {
            let (Step::Copy(step_move) | Step::Swap(step_move)) = *step;
            let shape = step_move.shape;
            let cell = |index| Cell { file: shape.file, index };
            let (from, to) = (cell(step_move.from), cell(step_move.to));
            let inst = match step {
                Step::Copy(_) => self.target.copy(Reg::phys(to), Reg::phys(from), shape),
                Step::Swap(_) => {
                    let file = &self.files[shape.file.0 as usize];
                    self.target.swap(to, from, shape).ok_or(Error::OutOfRegisters {
                        file: file.name,
                        rows: file.cells / u16::from(file.row),
                        instruction: place.happened,
                    })?
                }
            };
            let row = u16::from(self.files[shape.file.0 as usize].row);
            let used = &mut self.result.rows_used[shape.file.0 as usize];
            *used = (*used).max(cells_of(to.index, shape).last().unwrap_or(to.index) / row + 1);
            let origin = Origin::Move { count: shape.count, stride: shape.stride };
            self.out.push(WorkNode { inst, span: place.span, origin, happened: place.happened });
        }
        self.moves = moves;
        self.steps = steps;
        Ok(())
    }
}

/// Places of a parallel copy must be equal or disjoint: where large registers overlap in part, all
/// moves become moves of single cells.
fn split_partial_overlaps(moves: &mut Vec<Move>) {
    if moves.iter().all(|step| step.shape.count == 1) {
        return;
    }
    let mut owner: Vec<((u8, u16), (u16, Shape))> = Vec::new();
    for step in moves.iter() {
        for place in [step.from, step.to] {
            owner.extend(
                cells_of(place, step.shape)
                    .map(|cell| ((step.shape.file.0, cell), (place, step.shape))),
            );
        }
    }
    owner.sort_unstable_by_key(|&(cell, (place, shape))| (cell, place, shape.count, shape.stride));
    let clash = owner.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
    if !clash {
        return;
    }
    let whole = std::mem::take(moves);
    for step in whole {
        let shape = Shape { count: 1, stride: 1, ..step.shape };
        let cells = cells_of(step.from, step.shape).zip(cells_of(step.to, step.shape));
        moves.extend(cells.map(|(from, to)| Move { from, to, shape }));
    }
}
