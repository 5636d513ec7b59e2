//! Virtual registers over a function: who touches them, in one flat list, and which are alive where blocks end.

use crate::inst::Inst;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Edges, Func, Inst as _};

/// One register of an instruction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Touch(u32);

impl Touch {
    const fn new(index: u32, def: bool) -> Touch {
        Touch(index << 1 | def as u32)
    }
    /// The index of the register.
    pub const fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
    /// Written, not read.
    pub const fn is_def(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The registers of all instructions and what is alive behind each block. Blocks go by their place in the layout,
/// instructions are numbered through the whole function.
pub struct Lives {
    /// The first instruction of each block, and one past the last of all.
    first: Vec<u32>,
    /// The first touch of each instruction.
    start: Vec<u32>,
    touches: Vec<Touch>,
    out_start: Vec<u32>,
    out: Vec<u32>,
}

const NEVER: u32 = u32::MAX;

impl Lives {
    /// Each register once for reading and once for writing an instruction; what may merely be overwritten is left out.
    /// Linear in operands and in the answer.
    pub fn of(func: &Func<Inst>) -> Lives {
        let mut lives = Lives {
            first: Vec::with_capacity(func.layout.len() + 1),
            start: vec![0],
            touches: Vec::new(),
            out_start: Vec::new(),
            out: Vec::new(),
        };
        for &block in &func.layout {
            lives.first.push(lives.start.len() as u32 - 1);
            for node in &func.blocks[block].nodes {
                lives.add(&node.inst);
            }
        }
        lives.first.push(lives.start.len() as u32 - 1);
        lives.walk(func);
        lives
    }

    fn add(&mut self, inst: &Inst) {
        let from = self.touches.len();
        let touches = &mut self.touches;
        let clobbers = inst.op().map_or(&[][..], |op| &op.clobbers[..]);
        inst.operands(&mut |operand| {
            let Some(v) = operand.reg.as_virt() else {
                return;
            };
            let def = operand.role.is_def();
            if def && clobbers.iter().any(|&(reg, _)| reg == operand.reg) {
                return;
            }
            let touch = Touch::new(v.as_u32(), def);
            if !touches[from..].contains(&touch) {
                touches.push(touch);
            }
        });
        self.start.push(self.touches.len() as u32);
    }

    /// Blocks that read a register before they write it, and backwards from there to those that write it.
    fn walk(&mut self, func: &Func<Inst>) {
        let (blocks, count) = (func.layout.len(), func.vregs.len());
        let mut position = vec![NEVER; func.blocks.len()];
        for (k, &block) in func.layout.iter().enumerate() {
            position[block.index()] = k as u32;
        }
        let mut written = vec![NEVER; count];
        let mut read = vec![NEVER; count];
        let mut exposed: Vec<(u32, u32)> = Vec::new();
        let mut defs: Vec<(u32, u32)> = Vec::new();
        for block in 0..blocks as u32 {
            for node in self.nodes(block as usize) {
                for pass in [false, true] {
                    for touch in self.touches(node).iter().filter(|t| t.is_def() == pass) {
                        let v = touch.index();
                        if pass {
                            if written[v] != block {
                                written[v] = block;
                                defs.push((v as u32, block));
                            }
                        } else if written[v] != block && read[v] != block {
                            read[v] = block;
                            exposed.push((v as u32, block));
                        }
                    }
                }
            }
        }
        exposed.sort_unstable();
        defs.sort_unstable();
        let preds = func.predecessors(Edges::Logical);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut into = vec![NEVER; blocks];
        let mut out = vec![NEVER; blocks];
        let mut has_def = vec![NEVER; blocks];
        let mut stack: Vec<u32> = Vec::new();
        let mut next_def = defs.iter().peekable();
        for list in exposed.chunk_by(|a, b| a.0 == b.0) {
            let v = list[0].0;
            while let Some(&&(of, block)) = next_def.peek()
                && of <= v
            {
                if of == v {
                    has_def[block as usize] = v;
                }
                next_def.next();
            }
            for &(_, block) in list {
                into[block as usize] = v;
                stack.push(block);
            }
            while let Some(block) = stack.pop() {
                for from in preds.of(func.layout[block as usize]) {
                    let from = position[from.index()] as usize;
                    if std::mem::replace(&mut out[from], v) == v {
                        continue;
                    }
                    pairs.push((from as u32, v));
                    if has_def[from] != v && std::mem::replace(&mut into[from], v) != v {
                        stack.push(from as u32);
                    }
                }
            }
        }
        self.out_start = vec![0; blocks + 1];
        for &(block, _) in &pairs {
            self.out_start[block as usize + 1] += 1;
        }
        for k in 0..blocks {
            self.out_start[k + 1] += self.out_start[k];
        }
        self.out = vec![0; pairs.len()];
        let mut next = self.out_start.clone();
        for &(block, v) in &pairs {
            self.out[next[block as usize] as usize] = v;
            next[block as usize] += 1;
        }
    }

    /// The instructions of a block.
    pub fn nodes(&self, block: usize) -> std::ops::Range<u32> {
        self.first[block]..self.first[block + 1]
    }

    /// All instructions.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The registers of an instruction.
    pub fn touches(&self, node: u32) -> &[Touch] {
        &self.touches[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    /// Indices of the registers that are alive behind a block.
    pub fn behind(&self, block: usize) -> &[u32] {
        &self.out[self.out_start[block] as usize..self.out_start[block + 1] as usize]
    }
}

/// What is alive at a point that moves backwards through a block, and the way back.
pub struct Alive {
    flag: Vec<bool>,
    /// How many.
    pub now: u32,
    /// Who was born or died, in the order of the way.
    log: Vec<u32>,
    block: Option<usize>,
}

impl Alive {
    /// Nothing, of so many registers.
    pub fn new(registers: usize) -> Alive {
        Alive {
            flag: vec![false; registers],
            now: 0,
            log: Vec::new(),
            block: None,
        }
    }

    /// Whether a register is alive.
    pub fn is(&self, register: usize) -> bool {
        self.flag[register]
    }

    /// Goes to the end of a block.
    pub fn enter(&mut self, lives: &Lives, block: usize) {
        let old = self.block.replace(block);
        for &v in old.iter().flat_map(|&old| lives.behind(old)) {
            self.flag[v as usize] = false;
        }
        for v in self.log.drain(..) {
            self.flag[v as usize] = false;
        }
        let behind = lives.behind(block);
        for &v in behind {
            self.flag[v as usize] = true;
        }
        self.now = behind.len() as u32;
    }

    fn flip(&mut self, register: u32) {
        let flag = &mut self.flag[register as usize];
        *flag = !*flag;
        if *flag {
            self.now += 1;
        } else {
            self.now -= 1;
        }
    }

    fn change(&mut self, touch: Touch) {
        self.flip(touch.0 >> 1);
        self.log.push(touch.0 >> 1);
    }

    /// Moves before an instruction. Returns the most registers that were alive at once there, results that nobody
    /// reads included. `born` is told who is read there for the last time.
    pub fn before(&mut self, touches: &[Touch], mut born: impl FnMut(usize)) -> u32 {
        let mut peak = self.now;
        for &touch in touches.iter().filter(|touch| touch.is_def()) {
            if self.flag[touch.index()] {
                self.change(touch);
            } else {
                peak += 1;
            }
        }
        for &touch in touches.iter().filter(|touch| !touch.is_def()) {
            if !self.flag[touch.index()] {
                self.change(touch);
                born(touch.index());
            }
        }
        peak.max(self.now)
    }

    /// A point to come back to.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Goes back to a point.
    pub fn back_to(&mut self, mark: usize) {
        while self.log.len() > mark
            && let Some(v) = self.log.pop()
        {
            self.flip(v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::{FILES, GPR, Op, Src};
    use crate::isa::Opcode;
    use gpucc_ir::mach::{Demand, Reg, VReg};
    use gpucc_ir::ssa::Span;

    #[test]
    fn what_a_loop_reads_is_alive_to_its_end_and_results_that_nobody_reads_count_where_they_are_written()
     {
        let mut func = Func::new("loop", FILES);
        let blocks: Vec<_> = (0..3).map(|_| func.push_block()).collect();
        func.add_both_edges(blocks[0], blocks[1]);
        func.add_both_edges(blocks[1], blocks[1]);
        func.add_both_edges(blocks[1], blocks[2]);
        let v: Vec<VReg> = (0..4)
            .map(|_| func.make_vreg(Demand::scalar(GPR), Span::NONE))
            .collect();
        let mut add = |block: usize, to: usize, from: &[usize]| {
            let sources: Vec<Src> = from.iter().map(|&k| Src::Reg(Reg::from(v[k]))).collect();
            let op = Op::new(Opcode::IaddU32).from(&sources).to(v[to]);
            func.push(blocks[block], Inst::Op(Box::new(op)), Span::NONE);
        };
        add(0, 0, &[]);
        add(0, 1, &[]);
        add(1, 1, &[0, 1]);
        add(1, 3, &[1]);
        add(2, 2, &[1, 1]);
        let lives = Lives::of(&func);
        assert_eq!(lives.behind(0), [0, 1]);
        assert_eq!(lives.behind(1), [0, 1]);
        assert_eq!(lives.behind(2), [0u32; 0]);
        assert_eq!(lives.touches(4).len(), 2);
        let mut alive = Alive::new(4);
        alive.enter(&lives, 1);
        let mark = alive.mark();
        assert_eq!(alive.before(lives.touches(3), |_| ()), 3);
        let mut born = Vec::new();
        assert_eq!(alive.before(lives.touches(2), |v| born.push(v)), 2);
        assert_eq!(born, [1]);
        alive.back_to(mark);
        assert_eq!((alive.now, alive.is(1)), (2, true));
    }
}
