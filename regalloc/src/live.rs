//! Liveness: segments of every register, and who lives into each block.
//!
//! Registers that never cross a block cost one scan. The others are walked backwards from the
//! blocks that read them first, over logical or physical edges as their file says; the work is the
//! size of the answer.

use crate::segment::{Segment, Segments, after, read, write};
use crate::work::{NONE, Work, edge_kind, virt};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Inst, Role, VReg};
use smallvec::SmallVec;

/// The answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// Segments by register.
    pub segments: Vec<Segments>,
    /// What spilling would cost, by register: the sum over operands of 8 to the loop depth, except
    /// that a register written outside loops pays once for each outermost loop that reads it.
    pub weight: Vec<u64>,
    in_start: Vec<u32>,
    in_list: Vec<VReg>,
    pub steps: u64,
}

impl Live {
    /// Registers alive at the start of a block, by layout position.
    pub fn at_start_of(&self, position: usize) -> &[VReg] {
        &self.in_list[self.in_start[position] as usize..self.in_start[position + 1] as usize]
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

/// Computes liveness of the flat function.
pub(crate) fn liveness<I: Inst>(work: &Work<I>) -> Live {
    let count = work.regs.len();
    let blocks = work.blocks.len();
    let mut steps = 0u64;

    // Who is read before written in each block, and who is written: forward scan.
    let mut weight = vec![0u64; count];
    let mut defined_in = vec![NONE; count];
    let mut exposed_in = vec![NONE; count];
    let mut exposed: Vec<(VReg, u32)> = Vec::new();
    let mut defs: Vec<(VReg, u32)> = Vec::new();
    // For registers that loops only read: the same, counted once per outermost loop.
    let mut outside = vec![(0u64, NONE); count];
    let mut written_in_loop = vec![false; count];
    let mut region = 0u32;
    for (position, block) in work.blocks.iter().enumerate() {
        let position = position as u32;
        let frequency = frequency(block.depth);
        if block.depth == 0 || position == 0 || work.blocks[position as usize - 1].depth == 0 {
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
                if defined_in[v.index()] != position && exposed_in[v.index()] != position {
                    exposed_in[v.index()] = position;
                    exposed.push((v, position));
                }
            }
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let v = virt(operand);
                weight[v.index()] += frequency;
                outside[v.index()].0 += 1;
                written_in_loop[v.index()] |= block.depth > 0;
                if defined_in[v.index()] != position {
                    defined_in[v.index()] = position;
                    defs.push((v, position));
                }
            }
        }
    }

    for index in 0..count {
        if !written_in_loop[index] && work.regs[index].backed.is_none() {
            weight[index] = outside[index].0;
        }
    }

    // Definitions of the registers that cross blocks, sorted by register.
    let mut crosses = vec![false; count];
    for &(v, _) in &exposed {
        crosses[v.index()] = true;
    }
    defs.retain(|(v, _)| crosses[v.index()]);
    defs.sort_unstable();
    exposed.sort_unstable();

    // Backward walks. `ins` and `outs` collect (block, register).
    let mut ins: Vec<(u32, VReg)> = Vec::new();
    let mut outs: Vec<(u32, VReg)> = Vec::new();
    let mut is_in = vec![NONE; blocks];
    let mut is_out = vec![NONE; blocks];
    let mut has_def = vec![NONE; blocks];
    let mut stack: SmallVec<[u32; 32]> = SmallVec::new();
    let mut next_def = 0;
    let mut next = 0;
    while next < exposed.len() {
        let v = exposed[next].0;
        let stamp = v.as_u32();
        while next_def < defs.len() && defs[next_def].0 < v {
            next_def += 1;
        }
        while next_def < defs.len() && defs[next_def].0 == v {
            has_def[defs[next_def].1 as usize] = stamp;
            next_def += 1;
        }
        while next < exposed.len() && exposed[next].0 == v {
            let block = exposed[next].1;
            is_in[block as usize] = stamp;
            ins.push((block, v));
            stack.push(block);
            next += 1;
        }
        let preds = &work.preds[edge_kind(work.files, &work.regs[v.index()].data)];
        while let Some(block) = stack.pop() {
            for &from in preds.of(block as usize) {
                steps += 1;
                if is_out[from as usize] == stamp {
                    continue;
                }
                is_out[from as usize] = stamp;
                outs.push((from, v));
                if has_def[from as usize] != stamp && is_in[from as usize] != stamp {
                    is_in[from as usize] = stamp;
                    ins.push((from, v));
                    stack.push(from);
                }
            }
        }
    }
    let (in_start, in_list) = bucket(&ins, blocks);
    let (out_start, out_list) = bucket(&outs, blocks);

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
        for &v in &out_list[out_start[position] as usize..out_start[position + 1] as usize] {
            open[v.index()].end = end;
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
        for &v in &in_list[in_start[position] as usize..in_start[position + 1] as usize] {
            let last = open[v.index()].end;
            // An empty block has live registers but no points.
            if last > start {
                close(&mut segments, v, start, last);
            }
            open[v.index()].end = 0;
        }
    }
    for list in &mut segments {
        list.reverse();
    }
    steps += work.nodes.len() as u64;
    Live {
        segments,
        weight,
        in_start,
        in_list,
        steps,
    }
}

/// Sorts (block, register) pairs by block: starts per block, and registers.
fn bucket(pairs: &[(u32, VReg)], blocks: usize) -> (Vec<u32>, Vec<VReg>) {
    let mut start = vec![0u32; blocks + 1];
    for &(block, _) in pairs {
        start[block as usize + 1] += 1;
    }
    for k in 1..=blocks {
        start[k] += start[k - 1];
    }
    let mut list = vec![VReg::from_u32(0); pairs.len()];
    let mut next = start.clone();
    for &(block, v) in pairs {
        list[next[block as usize] as usize] = v;
        next[block as usize] += 1;
    }
    (start, list)
}
