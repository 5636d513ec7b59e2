//! How deep the stacks of masks are. What nests deeper than a stack begins it anew: a register keeps what was on it until then, and
//! it is put back behind. G45 vol. 4, 11.3.4.8, 11.3.4.9.
//!
//! A counter counts how often its channel was off when a mask was pushed, and what is popped again is right whatever the counters
//! were. So a stack that begins with zeros serves all that nests from there on.
//!
//! One thing crosses: lanes that leave a loop out of conditions behind the place where their stack began anew. No count of
//! masks to pop says how to come back to the mask in front of the loop. Such a loop stands in a condition that always holds.
//! A register has the stack within it. Behind the loop that is put back, and the end of the condition takes the mask from it.

use super::Lower;
use crate::inst::{Condition, Inst, Masks, Source, Src, Stack, Test};
use crate::isa::operand::Type as Ty;
use crate::limits;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Edges};
use gpucc_ir::ssa::{Func, Op, Region};

/// A stack of masks while code is made.
#[derive(Default)]
struct Level {
    /// Masks on it since it was begun anew.
    masks: u32,
    /// What was on it each time that it was begun anew: masks, and for conditions how many of them were open in the loop.
    kept: Vec<(u32, u8)>,
    /// Registers that hold it.
    registers: u8,
}

/// A loop that is open.
struct Body {
    /// Conditions that are open in the loop around it.
    outside: u8,
    /// How often the stack of conditions was begun anew around it.
    kept: usize,
    /// The block in front of the condition that it stands in, if it does.
    condition: Option<Block>,
}

/// Both stacks, and the loops around the code.
#[derive(Default)]
pub(super) struct Depth {
    levels: [Level; 2],
    /// Conditions that are open since the loop began, or the stack.
    open: u8,
    bodies: Vec<Body>,
    /// Registers that stacks take at most.
    pub(super) registers: u8,
}

/// Conditions around what leaves a loop, at most, which has these regions.
pub(super) fn around_exits(ssa: &Func, regions: &[Region]) -> u32 {
    let mut most = 0;
    let mut todo: Vec<(Region, u32)> = regions.iter().map(|&region| (region, 0)).collect();
    while let Some((region, depth)) = todo.pop() {
        for &inst in &ssa.regions[region].insts {
            let data = &ssa.insts[inst];
            let within = depth + u32::from(data.op == Op::If);
            match data.op {
                Op::Break => most = most.max(depth),
                Op::BreakIf => most = most.max(depth + 1),
                // What leaves an inner loop leaves that alone.
                Op::Loop => {}
                _ => todo.extend(data.regions.iter().map(|&region| (region, within))),
            }
        }
    }
    most
}

impl Lower<'_> {
    /// A register for a stack.
    fn masks_register(&mut self, stack: Stack) -> Result<u8, Failure> {
        let first = self.abi.payload() + self.elements;
        let used = &mut self.depth.levels[stack as usize].registers;
        let register = u32::from(first) + u32::from(*used);
        limits::HELD.admit(u64::from(register) + 1)?;
        *used += 1;
        self.depth.registers = self.depth.registers.max(*used);
        Ok(register as u8)
    }

    /// The register that a stack took last, which it gives back.
    fn last_masks_register(&mut self, stack: Stack) -> u8 {
        let level = &mut self.depth.levels[stack as usize];
        level.registers = level.registers.saturating_sub(1);
        self.abi.payload() + self.elements + level.registers
    }

    /// Makes room for some masks.
    fn enter(&mut self, stack: Stack, count: u32) -> Result<(), Failure> {
        let most = self.abi.chip.mask_depth();
        if self.depth.levels[stack as usize].masks + count > most {
            let register = self.masks_register(stack)?;
            self.push(Inst::Masks { stack, register, step: Masks::Begin });
            let open = match stack {
                Stack::Conditions => std::mem::take(&mut self.depth.open),
                Stack::Loops => 0,
            };
            let level = &mut self.depth.levels[stack as usize];
            level.kept.push((std::mem::take(&mut level.masks), open));
        }
        self.depth.levels[stack as usize].masks += count;
        Ok(())
    }

    /// Behind the step that pops these masks.
    fn left(&mut self, stack: Stack, count: u32) {
        let level = &mut self.depth.levels[stack as usize];
        level.masks -= count;
        if level.masks == 0
            && let Some((masks, open)) = level.kept.pop()
        {
            level.masks = masks;
            if stack == Stack::Conditions {
                self.depth.open = open;
            }
            let register = self.last_masks_register(stack);
            let step = Masks::Restore { depth: masks as u8 };
            self.push(Inst::Masks { stack, register, step });
        }
    }

    /// Opens a condition: the block that follows runs for lanes whose flag is set, or its opposite.
    pub(super) fn begin_if(&mut self, inverse: bool, otherwise: bool) -> Result<Block, Failure> {
        self.enter(Stack::Conditions, 1)?;
        self.depth.open += 1;
        self.push(Inst::If { inverse, otherwise });
        let head = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        Ok(head)
    }

    /// Closes a condition at the beginning of the block behind it.
    pub(super) fn close(&mut self) {
        self.push(Inst::EndIf);
        self.depth.open -= 1;
        self.left(Stack::Conditions, 1);
    }

    /// Closes a condition without another arm that [`Self::begin_if`] opened at the end of `head`.
    pub(super) fn end_if(&mut self, head: Block) {
        let end = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        self.m.add_both_edges(end, self.block);
        self.close();
    }

    /// Opens a loop that lanes leave out of so many conditions at most; its first block.
    pub(super) fn begin_loop(&mut self, leaves: u32) -> Result<Block, Failure> {
        let masks = self.depth.levels[Stack::Conditions as usize].masks;
        let condition = match masks + leaves > self.abi.chip.mask_depth() {
            true => Some(self.begin_always()?),
            false => None,
        };
        self.enter(Stack::Loops, 2)?;
        self.depth.bodies.push(Body {
            outside: std::mem::take(&mut self.depth.open),
            kept: self.depth.levels[Stack::Conditions as usize].kept.len(),
            condition,
        });
        self.push(Inst::Do);
        let before = self.block;
        self.start_block();
        self.m.add_both_edges(before, self.block);
        Ok(self.block)
    }

    /// A condition that holds for every lane, with the stack in a register.
    fn begin_always(&mut self) -> Result<Block, Failure> {
        let any = Source::from(Src::Scalar { register: 0, dword: 0 });
        let condition = Condition::Equal;
        self.push(Inst::Compare(Test {
            condition,
            ty: Ty::D,
            first: any,
            second: any,
            join: None,
        }));
        let head = self.begin_if(false, false)?;
        let (stack, step) = (Stack::Conditions, Masks::Keep);
        let register = self.masks_register(stack)?;
        self.push(Inst::Masks { stack, register, step });
        Ok(head)
    }

    /// Behind a loop, in a block of its own.
    fn close_loop(&mut self) {
        self.left(Stack::Loops, 2);
        let Some(body) = self.depth.bodies.pop() else { return };
        if let Some(head) = body.condition {
            let stack = Stack::Conditions;
            let step = Masks::Restore { depth: self.depth.levels[stack as usize].masks as u8 };
            let register = self.last_masks_register(stack);
            self.push(Inst::Masks { stack, register, step });
            // The condition always holds: no lane goes past the loop.
            let end = self.block;
            self.start_block();
            self.m.add_edge(Edges::Physical, head, self.block);
            self.m.add_both_edges(end, self.block);
            self.depth.open = body.outside;
            self.close();
        } else {
            self.depth.open = body.outside;
        }
    }

    /// Ends the block with `Break`; what follows is reached by the thread alone.
    ///
    /// # Errors
    /// The loop stands in no condition and should.
    pub(super) fn leave(&mut self, exit: Block) -> Result<(), Failure> {
        let kept = self.depth.levels[Stack::Conditions as usize].kept.len();
        let comes_back = |body: &Body| body.kept == kept || body.condition.is_some();
        if !self.depth.bodies.last().is_some_and(comes_back) {
            let message = "lanes leave a loop that knows no way back".into();
            return Err(Failure::Internal { pass: "lower", message });
        }
        self.push(Inst::Break(self.depth.open));
        let from = self.block;
        self.m.add_both_edges(from, exit);
        self.start_block();
        self.m.add_edge(Edges::Physical, from, self.block);
        Ok(())
    }

    /// Closes a loop that is left at its end alone: lanes of the test go back.
    pub(super) fn repeat(&mut self, header: Block, test: Test) {
        self.push(Inst::Compare(test));
        self.push(Inst::While { flag: Some(false) });
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        self.start_block();
        self.m.add_both_edges(latch, self.block);
        self.close_loop();
    }

    /// Closes a loop: the way back to its header, and the block behind it.
    pub(super) fn end_loop(&mut self, header: Block, exit: Block) {
        self.push(Inst::While { flag: None });
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        self.m.add_edge(Edges::Physical, latch, exit);
        self.m.place(exit);
        self.block = exit;
        self.forget();
        self.close_loop();
    }
}
