//! Liveness across blocks: which registers are alive where blocks begin and where they end.
//!
//! A register is a number: a virtual register's, or a cell's once registers are assigned. One that never crosses a block
//! costs its reads and writes. The others are walked backwards from the blocks that read them first, over logical or physical
//! edges; the work is the size of the answer, which may be larger than the program.
//!
//! A register that is read or written in parts is several: its [`Pieces`], which live on their own.

use super::flow::Adjacency;
use super::func::{Edges, Func};
use super::regs::Part;
use std::ops::Range;

const NEVER: u32 = u32::MAX;

/// Reads and writes, in the order of the program. Blocks go by their places in the layout.
#[derive(Clone, Debug)]
pub struct Scan {
    /// By register: the last block that wrote it, and the last that read it before it wrote it.
    written: Vec<u32>,
    exposed: Vec<u32>,
    /// By register: the blocks in which it is read before it is written there, and those in which it is written.
    reads: Lists,
    writes: Lists,
}

/// A list of blocks for each register.
#[derive(Clone, Debug)]
struct Lists {
    first: Vec<u32>,
    /// The item behind it, and the block.
    items: Vec<(u32, u32)>,
}

impl Lists {
    fn new(registers: usize) -> Lists {
        Lists { first: vec![NEVER; registers], items: Vec::new() }
    }

    fn add(&mut self, register: usize, block: u32) {
        let behind = std::mem::replace(&mut self.first[register], self.items.len() as u32);
        self.items.push((behind, block));
    }

    fn of(&self, register: usize) -> impl Iterator<Item = u32> {
        let item = |at: u32| self.items.get(at as usize);
        std::iter::successors(item(self.first[register]), move |&&(behind, _)| item(behind))
            .map(|&(_, block)| block)
    }
}

impl Scan {
    /// Nothing read or written yet, of so many registers.
    pub fn new(registers: usize) -> Scan {
        Scan {
            written: vec![NEVER; registers],
            exposed: vec![NEVER; registers],
            reads: Lists::new(registers),
            writes: Lists::new(registers),
        }
    }

    /// An instruction reads a register.
    #[inline]
    pub fn read(&mut self, block: usize, register: usize) {
        let block = block as u32;
        if self.written[register] != block && self.exposed[register] != block {
            self.exposed[register] = block;
            self.reads.add(register, block);
        }
    }

    /// An instruction writes a register, whole: what it kept of it, it would also read. An instruction reads before it writes.
    #[inline]
    pub fn write(&mut self, block: usize, register: usize) {
        let block = block as u32;
        if self.written[register] != block {
            self.written[register] = block;
            self.writes.add(register, block);
        }
    }

    /// Walks backwards from reads to writes. `preds` are the edges, turned round, over which a register lives; `hold` is told
    /// how large the answer has become and may refuse more.
    ///
    /// # Errors
    /// What `hold` says.
    pub fn solve<'g, E>(
        self,
        blocks: usize,
        preds: impl Fn(usize) -> &'g Adjacency<u32>,
        mut hold: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<AtStart, E> {
        // Blocks into which a register lives; those of each register in a row that ends where `rows` says.
        let mut ins: Vec<u32> = Vec::new();
        let mut rows: Vec<(u32, u32)> = Vec::new();
        let mut is_in = vec![NEVER; blocks];
        let mut has_write = vec![NEVER; blocks];
        let mut stack: Vec<u32> = Vec::new();
        let mut steps = 0;
        for register in 0..self.written.len() as u32 {
            for block in self.reads.of(register as usize) {
                is_in[block as usize] = register;
                ins.push(block);
                stack.push(block);
            }
            if stack.is_empty() {
                continue;
            }
            for block in self.writes.of(register as usize) {
                has_write[block as usize] = register;
            }
            let preds = preds(register as usize);
            while let Some(block) = stack.pop() {
                for &from in preds.of(block as usize) {
                    steps += 1;
                    if has_write[from as usize] != register && is_in[from as usize] != register {
                        is_in[from as usize] = register;
                        ins.push(from);
                        stack.push(from);
                    }
                }
            }
            hold(ins.len() as u64)?;
            rows.push((register, ins.len() as u32));
        }
        let mut start = vec![0u32; blocks + 1];
        for &block in &ins {
            start[block as usize + 1] += 1;
        }
        for k in 1..=blocks {
            start[k] += start[k - 1];
        }
        let mut list = vec![0; ins.len()];
        let mut next = start.clone();
        let mut from = 0;
        for (register, end) in rows {
            for &block in &ins[from..end as usize] {
                list[next[block as usize] as usize] = register;
                next[block as usize] += 1;
            }
            from = end as usize;
        }
        Ok(AtStart { start, list, steps })
    }
}

/// Each block for which lanes may be waiting while the thread is elsewhere (lanes go there where the thread does not, or the
/// thread comes from where no lanes do), and the blocks that the thread may run meanwhile. Blocks go by their places in the
/// layout.
///
/// A lane that waits for a block left one of its logical predecessors; the thread went on from there, and comes to the block
/// in the end. What is between is what both ways reach without the block itself.
pub fn waiting(logical: &Adjacency<u32>, physical: &Adjacency<u32>) -> Vec<(u32, Vec<u32>)> {
    let differ = |a: &Adjacency<u32>, b: &Adjacency<u32>, list: &mut Vec<u32>| {
        for from in 0..a.len() {
            let nexts = a.of(from).iter();
            list.extend(nexts.filter(|to| !b.of(from).contains(to)));
        }
    };
    let mut targets: Vec<u32> = Vec::new();
    differ(physical, logical, &mut targets);
    differ(logical, physical, &mut targets);
    targets.sort_unstable();
    targets.dedup();
    if targets.is_empty() {
        return Vec::new();
    }
    let (came, follows) = (logical.reversed(), physical.reversed());
    let reach = |seeds: &mut dyn Iterator<Item = u32>, edges: &Adjacency<u32>, wall: u32| {
        let mut seen = vec![false; edges.len()];
        let mut stack: Vec<u32> = Vec::new();
        let visit = |to: u32, seen: &mut Vec<bool>, stack: &mut Vec<u32>| {
            if to != wall && !std::mem::replace(&mut seen[to as usize], true) {
                stack.push(to);
            }
        };
        seeds.for_each(|to| visit(to, &mut seen, &mut stack));
        while let Some(at) = stack.pop() {
            for &to in edges.of(at as usize) {
                visit(to, &mut seen, &mut stack);
            }
        }
        seen
    };
    targets
        .into_iter()
        .map(|block| {
            let parents = came.of(block as usize).iter();
            let mut nexts = parents.flat_map(|&from| physical.of(from as usize)).copied();
            let behind = reach(&mut nexts, physical, block);
            let mut befores = follows.of(block as usize).iter().copied();
            let before = reach(&mut befores, &follows, block);
            let between =
                (0..physical.len() as u32).filter(|&at| behind[at as usize] && before[at as usize]);
            (block, between.collect())
        })
        .collect()
}

/// Numbers for a [`Scan`] that follows parts: a register has one for each run of its cells that all operands name together.
/// A register that is only named whole has its own and costs nothing more.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    registers: usize,
    /// `(register, cell)`: the pieces behind the first of their registers, by the cells with which they begin.
    cuts: Vec<(u32, u16)>,
    /// By register: its first cut. Empty where there is none.
    start: Vec<u32>,
}

impl Pieces {
    /// Those of so many registers, from the parts that operands name: the register, its cells, the part.
    pub fn of(registers: usize, parts: impl Iterator<Item = (usize, u16, Part)>) -> Pieces {
        let mut cuts = Vec::new();
        for (register, count, part) in parts.filter(|(.., part)| !part.is_whole()) {
            let Range { start, end } = part.cells(count);
            let inside = [start, end].into_iter();
            let inside = inside.filter(|cell| (1..count).contains(cell));
            cuts.extend(inside.map(|cell| (register as u32, cell)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut start = Vec::new();
        for (at, &(register, _)) in cuts.iter().enumerate() {
            start.resize(start.len().max(register as usize + 1), at as u32);
        }
        if !cuts.is_empty() {
            start.resize(registers + 1, cuts.len() as u32);
        }
        Pieces { registers, cuts, start }
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        self.registers + self.cuts.len()
    }

    /// The register of a number.
    #[inline]
    pub fn register(&self, number: usize) -> usize {
        match number.checked_sub(self.registers) {
            None => number,
            Some(at) => self.cuts[at].0 as usize,
        }
    }

    /// Visits the numbers of what an operand names.
    #[inline]
    pub fn each(&self, register: usize, part: Part, mut visit: impl FnMut(usize)) {
        let cells = part.cells(u16::MAX);
        if cells.start == 0 {
            visit(register);
        }
        for at in self.own(register) {
            if cells.contains(&self.cuts[at].1) {
                visit(self.registers + at);
            }
        }
    }

    /// The cuts of a register.
    fn own(&self, register: usize) -> Range<usize> {
        match self.start.get(register..register + 2) {
            Some(&[first, end]) => first as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The cells of a number's register, which has `count`, that it stands for.
    pub fn cells(&self, number: usize, count: u16) -> Range<u16> {
        let register = self.register(number);
        let (first, behind) = match number.checked_sub(self.registers) {
            None => (0, self.own(register).start),
            Some(at) => (self.cuts[at].1, at + 1),
        };
        let next = self.cuts.get(behind);
        let next = next.filter(|cut| cut.0 as usize == register);
        first..next.map_or(count, |cut| cut.1)
    }
}

/// Who is alive where each block begins.
#[derive(Clone, Debug, Default)]
pub struct AtStart {
    start: Vec<u32>,
    list: Vec<u32>,
    /// Edges walked: a measure of time that is the same on every machine.
    pub steps: u64,
}

impl AtStart {
    /// Registers alive where a block begins, ascending.
    #[inline]
    pub fn of(&self, block: usize) -> &[u32] {
        &self.list[self.start[block] as usize..self.start[block + 1] as usize]
    }
}

/// Who is alive where blocks begin and end, over edges of one kind.
#[derive(Clone, Debug)]
pub struct Live {
    at_start: AtStart,
    nexts: Adjacency<u32>,
}

impl Live {
    /// The answer for what was scanned of a function.
    pub fn of<I>(func: &Func<I>, edges: Edges, scan: Scan) -> Live {
        let nexts = Adjacency::successors(func, edges);
        let preds = nexts.reversed();
        let hold = |_| Ok::<(), std::convert::Infallible>(());
        let Ok(at_start) = scan.solve(nexts.len(), |_| &preds, hold);
        Live { at_start, nexts }
    }

    /// Registers alive where a block begins, ascending.
    pub fn before(&self, block: usize) -> &[u32] {
        self.at_start.of(block)
    }

    /// Registers alive behind a block; those that several blocks behind it want come several times.
    pub fn behind(&self, block: usize) -> impl Iterator<Item = u32> {
        let nexts = self.nexts.of(block).iter();
        nexts.flat_map(|&next| self.before(next as usize).iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::plain::{self, Plain};
    use crate::mach::{Inst as _, parse};
    use cranelift_entity::EntityRef;

    fn of(func: &Func<Plain>, edges: Edges) -> Live {
        let mut scan = Scan::new(func.vregs.len());
        for (at, &block) in func.layout.iter().enumerate() {
            for node in &func.blocks[block].nodes {
                for defs in [false, true] {
                    node.inst.operands(&mut |operand| {
                        let v = operand.reg.as_virt().expect("virtual").index();
                        match operand.role.is_def() {
                            true if defs => scan.write(at, v),
                            false if !defs => scan.read(at, v),
                            _ => {}
                        }
                    });
                }
            }
        }
        Live::of(func, edges, scan)
    }

    const DIAMOND_IN_A_LOOP: &str = "mach \"m\"
v0: R
v1: R
v2: R
b0: -> b1
    v0 = a
    v1 = b
b1: logical b2 b3, physical b2
    branch v1
b2: logical b4, physical b3
    v2 = c v0
b3: -> b4
    v2 = d v1
b4: -> b1 b5
    v0 = e v2
    branch v0
b5:
    end v0
";

    #[test]
    fn what_an_arm_writes_lives_through_the_other_arm_over_physical_edges_alone() {
        let func: Func<Plain> = parse(DIAMOND_IN_A_LOOP, plain::FILES).unwrap();
        let logical = of(&func, Edges::Logical);
        let before: Vec<&[u32]> = (0..6).map(|k| logical.before(k)).collect();
        assert_eq!(
            before,
            [&[][..], &[0, 1], &[0, 1], &[1], &[1, 2], &[0]],
            "v1 is read in every trip"
        );
        let physical = of(&func, Edges::Physical);
        // v2 is written in both arms, so the value of the first dies where the second begins.
        assert_eq!(physical.before(3), [1]);
        assert_eq!(physical.behind(1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(logical.behind(1).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(logical.behind(5).count(), 0);
    }

    #[test]
    fn lanes_of_the_other_arm_wait_while_the_thread_runs_the_first() {
        let func: Func<Plain> = parse(DIAMOND_IN_A_LOOP, plain::FILES).unwrap();
        let edges = [Edges::Logical, Edges::Physical].map(|e| Adjacency::successors(&func, e));
        // Those of the second arm wait for it, those of the first for the end of both.
        assert_eq!(waiting(&edges[0], &edges[1]), [(3, vec![2]), (4, vec![3])]);
    }

    #[test]
    fn lanes_that_left_a_loop_wait_through_all_its_further_trips() {
        let text = "mach \"m\"\nb0: -> b1\nb1: logical b2 b3, physical b2\nb2: logical b1, physical b1 b3\nb3:\n";
        let func: Func<Plain> = parse(text, plain::FILES).unwrap();
        let edges = [Edges::Logical, Edges::Physical].map(|e| Adjacency::successors(&func, e));
        assert_eq!(waiting(&edges[0], &edges[1]), [(3, vec![1, 2])]);
    }
}
