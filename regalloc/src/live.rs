//! Liveness: segments of every register, and who lives into each block.
//!
//! Across blocks it is [`gpucc_ir::mach::live`], over logical or physical edges as each register's file says. The answer can be
//! larger than the program (registers that live through many blocks), so it is charged to the budget. Who lives out of a
//! block follows from who lives into those behind it, and is not kept. Registers that are named in parts are followed piece by
//! piece; their cells are theirs while any piece lives.

use crate::segment::{Segment, Segments, after, cover, read, write};
use crate::work::{NONE, Work, edge_kind, edge_kinds, virt};
use cranelift_entity::EntityRef;
use gpucc_ir::budget::{Budget, Exceeded, LIVE};
use gpucc_ir::mach::live::{AtStart, Pieces, Scan, waiting};
use gpucc_ir::mach::{Inst, Operand, Role, VReg};
use std::ops::Range;

/// The answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// Segments by register.
    pub segments: Vec<Segments>,
    /// What spilling would cost, by register: the sum over operands of 8 to the loop depth, except
    /// that a register written outside loops pays once for each outermost loop that reads it.
    pub weight: Vec<u64>,
    /// By register: some write of it ignores the mask.
    pub whole: Vec<bool>,
    /// By register: where lanes that wait hold its value while no running lane does. Empty in files in which nothing
    /// ignores the mask.
    pub dormant: Vec<Segments>,
    at_start: AtStart,
    pieces: Pieces,
    pub steps: u64,
}

impl Live {
    /// Registers alive at the start of a block, by layout position, each with those of its cells that hold something
    /// (in pieces). `count` knows how many it has.
    pub fn at_start_of(
        &self,
        position: usize,
        count: impl Fn(VReg) -> u16,
    ) -> impl Iterator<Item = (VReg, Range<u16>)> {
        self.at_start.of(position).iter().map(move |&number| {
            let number = number as usize;
            let v = VReg::new(self.pieces.register(number));
            (v, self.pieces.cells(number, count(v)))
        })
    }
}

/// How much more an instruction at this loop depth counts.
pub(crate) fn frequency(depth: u32) -> u64 {
    1 << (3 * depth.min(7))
}

/// Scan of one register in the block under scan (from its end backwards).
#[derive(Copy, Clone)]
struct Open {
    /// End of the segment that is open now; 0 when the register is dead here.
    end: u32,
}

/// What there are too many of where many registers live through many blocks.
const ALIVE: &str = "registers alive at the starts of blocks, summed over blocks";

/// Computes liveness of the flat function.
///
/// # Errors
/// More registers live into blocks than the budget has room for.
pub(crate) fn liveness<I: Inst>(work: &Work<I>, budget: Budget) -> Result<Live, Exceeded> {
    let count = work.regs.len();
    let blocks = work.blocks.len();
    let mut steps = 0u64;

    // Who is read before written in each block, and who is written: forward scan.
    let mut weight = vec![0u64; count];
    let pieces = pieces(work);
    let mut scan = Scan::new(pieces.count());
    // For registers that loops only read: the same, counted once per outermost loop.
    let mut outside = vec![(0u64, NONE); count];
    let mut written_in_loop = vec![false; count];
    let mut whole: Vec<bool> = work.regs.iter().map(|reg| !reg.data.per_lane).collect();
    let mut region = 0u32;
    for (position, block) in work.blocks.iter().enumerate() {
        let frequency = frequency(block.depth);
        if block.depth == 0 || position == 0 || work.blocks[position - 1].depth == 0 {
            region += 1;
        }
        for node in block.first..block.end {
            let operands = work.operands.of(node);
            steps += operands.len() as u64;
            for operand in operands.iter().filter(|operand| operand.role == Role::Use) {
                let v = virt(operand);
                weight[v.index()] += frequency;
                let (sum, last) = &mut outside[v.index()];
                if block.depth == 0 || *last != region {
                    *sum += 1;
                    *last = region;
                }
                pieces.each(v.index(), operand.part, |piece| scan.read(position, piece));
            }
            let ignores = work.nodes[node as usize].inst.ignores_mask();
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let v = virt(operand);
                whole[v.index()] |= ignores;
                weight[v.index()] += frequency;
                outside[v.index()].0 += 1;
                written_in_loop[v.index()] |= block.depth > 0;
                pieces.each(v.index(), operand.part, |piece| {
                    scan.write(position, piece);
                });
            }
        }
    }

    for index in 0..count {
        if !written_in_loop[index] && work.regs[index].backed.is_none() {
            weight[index] = outside[index].0;
        }
    }

    let kind_of = |piece: usize| edge_kind(&work.regs[pieces.register(piece)].data);
    let preds = |piece: usize| &work.preds[kind_of(piece)];
    let at_start = scan.solve(blocks, preds, |alive| budget.hold(ALIVE, alive, LIVE))?;
    steps += at_start.steps;

    let dormant = dormant(work, &whole, &at_start, &pieces);

    // Segments, from the last node to the first; each list grows backwards and is turned at the end.
    let mut segments = no_segments(pieces.count());
    let mut open = vec![Open { end: 0 }; pieces.count()];
    let close = |segments: &mut Vec<Segments>, piece: usize, start: u32, end: u32| {
        let list = &mut segments[piece];
        match list.last_mut() {
            Some(later) if later.start <= end => later.start = start,
            _ => list.push(Segment { start, end }),
        }
    };
    let kinds = edge_kinds(&work.regs);
    let one_kind = kinds != [true; 2];
    for (position, block) in work.blocks.iter().enumerate().rev() {
        let (start, end) = (4 * block.first, 4 * block.end);
        for (kind, nexts) in work.succs.iter().enumerate().filter(|&(kind, _)| kinds[kind]) {
            for &next in nexts.of(position) {
                for &v in at_start.of(next as usize) {
                    steps += 1;
                    if one_kind || kind_of(v as usize) == kind {
                        open[v as usize].end = end;
                    }
                }
            }
        }
        for node in (block.first..block.end).rev() {
            let operands = work.operands.of(node);
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let begin = if operand.role == Role::EarlyDef { read(node) } else { write(node) };
                pieces.each(virt(operand).index(), operand.part, |piece| {
                    let last = open[piece].end;
                    if last == 0 && segments[piece].last().is_some_and(|later| later.start == begin)
                    {
                        // Written twice by one instruction: the segment is there already.
                        return;
                    }
                    // A definition that nobody reads still occupies its cell while it is written.
                    let last = if last == 0 { after(node) - 1 } else { last };
                    close(&mut segments, piece, begin, last);
                    open[piece].end = 0;
                });
            }
            for operand in operands.iter().filter(|operand| operand.role == Role::Use) {
                pieces.each(virt(operand).index(), operand.part, |piece| {
                    if open[piece].end == 0 {
                        open[piece].end = write(node);
                    }
                });
            }
        }
        for &v in at_start.of(position) {
            let last = open[v as usize].end;
            // An empty block has live registers but no points.
            if last > start {
                close(&mut segments, v as usize, start, last);
            }
            open[v as usize].end = 0;
        }
    }
    for list in &mut segments {
        list.reverse();
    }
    for (at, own) in segments.split_off(count).iter().enumerate() {
        cover(&mut segments[pieces.register(count + at)], own);
    }
    steps += work.nodes.len() as u64;
    Ok(Live { segments, weight, whole, dormant, at_start, pieces, steps })
}

/// No segments of so many registers. A clone of an empty list costs more than a new one.
fn no_segments(count: usize) -> Vec<Segments> {
    std::iter::repeat_with(Segments::new).take(count).collect()
}

/// The pieces of registers that are named in parts.
fn pieces<I>(work: &Work<I>) -> Pieces {
    let nodes = match work.parts {
        true => 0..work.nodes.len() as u32,
        false => 0..0,
    };
    let operands = nodes.flat_map(|node| work.operands.of(node));
    let part = |operand: &Operand| {
        let v = virt(operand).index();
        (v, work.regs[v].data.demand.count, operand.part)
    };
    Pieces::of(work.regs.len(), operands.map(part))
}

/// Where lanes that wait hold values per lane, in files in which something ignores the mask.
fn dormant<I>(
    work: &Work<I>,
    whole: &[bool],
    at_start: &AtStart,
    pieces: &Pieces,
) -> Vec<Segments> {
    let mut dormant: Vec<Segments> = no_segments(work.regs.len());
    let mut kinds = vec![[false; 2]; work.files.0.len()];
    for (reg, &whole) in work.regs.iter().zip(whole) {
        let kinds = &mut kinds[reg.data.demand.file.0 as usize];
        kinds[0] |= reg.data.per_lane;
        kinds[1] |= whole;
    }
    if !kinds.contains(&[true; 2]) {
        return dormant;
    }
    for (block, meanwhile) in waiting(&work.succs[0], &work.succs[1]) {
        let spans = meanwhile.iter().map(|&at| &work.blocks[at as usize]);
        let spans: Segments =
            spans.map(|block| Segment { start: 4 * block.first, end: 4 * block.end }).collect();
        for &piece in at_start.of(block as usize) {
            let v = pieces.register(piece as usize);
            let data = &work.regs[v].data;
            if data.per_lane && kinds[data.demand.file.0 as usize] == [true; 2] {
                cover(&mut dormant[v], &spans);
            }
        }
    }
    dormant
}
