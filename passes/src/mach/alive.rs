//! Virtual registers over a function: who touches them, in one flat list, and how many are alive at a point that moves
//! backwards: the pressure that the scheduler watches.

use gpucc_ir::mach::live::{Live, Scan};
use gpucc_ir::mach::{Edges, Func, Inst, Reg};

/// One register of an instruction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Touch(u32);

impl Touch {
    const fn new(index: u32, def: bool) -> Touch {
        Touch(index << 1 | def as u32)
    }
    /// The index of the register.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
    /// Written, not read.
    #[inline]
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
    across: Live,
}

impl Lives {
    /// Each register once for reading and once for writing an instruction, over logical edges; a write that `counts` says
    /// no of (what an instruction may merely overwrite) is left out. Linear in operands and in the answer.
    pub fn of<I: Inst>(func: &Func<I>, counts: impl Fn(&I, Reg) -> bool) -> Lives {
        let mut first = Vec::with_capacity(func.layout.len() + 1);
        let mut start = vec![0];
        let mut touches: Vec<Touch> = Vec::new();
        let mut scan = Scan::new(func.vregs.len());
        for (at, &block) in func.layout.iter().enumerate() {
            first.push(start.len() as u32 - 1);
            for node in &func.blocks[block].nodes {
                let from = touches.len();
                node.inst.operands(&mut |operand| {
                    let Some(v) = operand.reg.as_virt() else {
                        return;
                    };
                    let def = operand.role.is_def();
                    if def && !counts(&node.inst, operand.reg) {
                        return;
                    }
                    let touch = Touch::new(v.as_u32(), def);
                    if !touches[from..].contains(&touch) {
                        touches.push(touch);
                    }
                });
                start.push(touches.len() as u32);
                let own = &touches[from..];
                for touch in own.iter().filter(|touch| !touch.is_def()) {
                    scan.read(at, touch.index());
                }
                for touch in own.iter().filter(|touch| touch.is_def()) {
                    scan.write(at, touch.index());
                }
            }
        }
        first.push(start.len() as u32 - 1);
        Lives { first, start, touches, across: Live::of(func, Edges::Logical, scan) }
    }

    /// The instructions of a block.
    #[inline]
    pub fn nodes(&self, block: usize) -> std::ops::Range<u32> {
        self.first[block]..self.first[block + 1]
    }

    /// All instructions.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The registers of an instruction.
    #[inline]
    pub fn touches(&self, node: u32) -> &[Touch] {
        &self.touches[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    /// True for a function without instructions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Indices of the registers that are alive behind a block, some of them several times.
    fn behind(&self, block: usize) -> impl Iterator<Item = usize> {
        self.across.behind(block).map(|v| v as usize)
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
        Alive { flag: vec![false; registers], now: 0, log: Vec::new(), block: None }
    }

    /// Whether a register is alive.
    #[inline]
    pub fn is(&self, register: usize) -> bool {
        self.flag[register]
    }

    /// Goes to the end of a block.
    pub fn enter(&mut self, lives: &Lives, block: usize) {
        if let Some(old) = self.block.replace(block) {
            for v in lives.behind(old) {
                self.flag[v] = false;
            }
        }
        for v in self.log.drain(..) {
            self.flag[v as usize] = false;
        }
        self.now = 0;
        for v in lives.behind(block) {
            self.now += u32::from(!std::mem::replace(&mut self.flag[v], true));
        }
    }

    #[inline]
    fn flip(&mut self, register: u32) {
        let flag = &mut self.flag[register as usize];
        *flag = !*flag;
        if *flag {
            self.now += 1;
        } else {
            self.now -= 1;
        }
    }

    #[inline]
    fn change(&mut self, touch: Touch) {
        self.flip(touch.0 >> 1);
        self.log.push(touch.0 >> 1);
    }

    /// Moves before an instruction. Returns the most registers that were alive at once there, results that nobody
    /// reads included. `born` is told who is read there for the last time.
    #[inline]
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
    use gpucc_ir::mach::parse;
    use gpucc_ir::mach::plain::{FILES, Plain};

    const LOOP: &str = "mach \"loop\"
v0: R
v1: R
v2: R
v3: R
b0: -> b1
    v0 = a
    v1 = a
b1: -> b1 b2
    v1 = b v0 v1
    v3 = c v1
b2:
    v2 = d v1 v1
";

    #[test]
    fn results_that_nobody_reads_count_where_they_are_written() {
        let func: gpucc_ir::mach::Func<Plain> = parse(LOOP, FILES).unwrap();
        let lives = Lives::of(&func, |_, _| true);
        assert_eq!(lives.touches(4).len(), 2);
        let mut alive = Alive::new(4);
        alive.enter(&lives, 1);
        assert_eq!(alive.now, 2, "v0 and v1 live round the loop");
        let mark = alive.mark();
        assert_eq!(alive.before(lives.touches(3), |_| ()), 3);
        let mut born = Vec::new();
        assert_eq!(alive.before(lives.touches(2), |v| born.push(v)), 2);
        assert_eq!(born, [1]);
        alive.back_to(mark);
        assert_eq!((alive.now, alive.is(1)), (2, true));
        alive.enter(&lives, 2);
        assert_eq!((alive.now, alive.is(0)), (0, false));
        let unwritten = Lives::of(&func, |inst, _| inst.name != "b");
        let mut alive = Alive::new(4);
        alive.enter(&unwritten, 0);
        assert_eq!(alive.now, 2);
    }
}
