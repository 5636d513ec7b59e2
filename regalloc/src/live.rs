//! Liveness: segments of every register, and who lives into each block.
//!
//! Across blocks it is [`gpucc_ir::mach::live`], over logical or physical edges as each register's file says. The answer can be
//! larger than the program (registers that live through many blocks), so it is charged to the budget. Who lives out of a
//! block follows from who lives into those behind it, and is not kept.

use crate::segment::{Segment, Segments, after, cover, read, write};
use crate::work::{NONE, Work, edge_kind, virt};
use cranelift_entity::EntityRef;
use gpucc_ir::budget::{Budget, Exceeded, LIVE};
use gpucc_ir::mach::live::{AtStart, Scan, waiting};
use gpucc_ir::mach::{Inst, Role, VReg};

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
    pub steps: u64,
}

impl Live {
    /// Registers alive at the start of a block, by layout position.
    pub fn at_start_of(&self, position: usize) -> impl Iterator<Item = VReg> {
        self.at_start
            .of(position)
            .iter()
            .map(|&v| VReg::from_u32(v))
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
    let mut scan = Scan::new(count);
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
                scan.read(position, v.index());
            }
            let ignores = work.nodes[node as usize].inst.ignores_mask();
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let v = virt(operand);
                whole[v.index()] |= ignores;
                weight[v.index()] += frequency;
                outside[v.index()].0 += 1;
                written_in_loop[v.index()] |= block.depth > 0;
                scan.write(position, v.index());
            }
        }
    }

    for index in 0..count {
        if !written_in_loop[index] && work.regs[index].backed.is_none() {
            weight[index] = outside[index].0;
        }
    }

    let preds = |v: usize| &work.preds[edge_kind(&work.regs[v].data)];
    let at_start = scan.solve(blocks, preds, |alive| budget.hold(ALIVE, alive, LIVE))?;
    steps += at_start.steps;

    let dormant = dormant(work, &whole, &at_start);

    // Segments, from the last node to the first; each list grows backwards and is turned at the end.
    let mut segments: Vec<Segments> = Vec::new();
    segments.resize_with(count, Segments::new);
    let mut open = vec![Open { end: 0 }; count];
    let close = |segments: &mut Vec<Segments>, v: VReg, start: u32, end: u32| {
        let list = &mut segments[v.index()];
        match list.last_mut() {
            Some(later) if later.start <= end => later.start = start,
            _ => list.push(Segment { start, end }),
        }
    };
    for (position, block) in work.blocks.iter().enumerate().rev() {
        let (start, end) = (4 * block.first, 4 * block.end);
        for (kind, nexts) in work.succs.iter().enumerate() {
            for &next in nexts.of(position) {
                for &v in at_start.of(next as usize) {
                    steps += 1;
                    if edge_kind(&work.regs[v as usize].data) == kind {
                        open[v as usize].end = end;
                    }
                }
            }
        }
        for node in (block.first..block.end).rev() {
            let operands = work.operands.of(node);
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let v = virt(operand);
                let begin = if operand.role == Role::EarlyDef {
                    read(node)
                } else {
                    write(node)
                };
                let last = open[v.index()].end;
                if last == 0
                    && segments[v.index()]
                        .last()
                        .is_some_and(|later| later.start == begin)
                {
                    // Written twice by one instruction: the segment is there already.
                    continue;
                }
                // A definition that nobody reads still occupies its cell while it is written.
                let last = if last == 0 { after(node) - 1 } else { last };
                close(&mut segments, v, begin, last);
                open[v.index()].end = 0;
            }
            for operand in operands.iter().filter(|operand| operand.role == Role::Use) {
                let v = virt(operand);
                if open[v.index()].end == 0 {
                    open[v.index()].end = write(node);
                }
            }
        }
        for &v in at_start.of(position) {
            let last = open[v as usize].end;
            // An empty block has live registers but no points.
            if last > start {
                close(&mut segments, VReg::from_u32(v), start, last);
            }
            open[v as usize].end = 0;
        }
    }
    for list in &mut segments {
        list.reverse();
    }
    steps += work.nodes.len() as u64;
    Ok(Live {
        segments,
        weight,
        whole,
        dormant,
        at_start,
        steps,
    })
}

/// Where lanes that wait hold values per lane, in files in which something ignores the mask.
fn dormant<I>(work: &Work<I>, whole: &[bool], at_start: &AtStart) -> Vec<Segments> {
    let mut dormant: Vec<Segments> = vec![Segments::new(); work.regs.len()];
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
        let spans: Segments = spans
            .map(|block| Segment {
                start: 4 * block.first,
                end: 4 * block.end,
            })
            .collect();
        for &v in at_start.of(block as usize) {
            let data = &work.regs[v as usize].data;
            if data.per_lane && kinds[data.demand.file.0 as usize] == [true; 2] {
                cover(&mut dormant[v as usize], &spans);
            }
        }
    }
    dormant
}
