//! Walking a function in program order without recursion.

use gpucc_ir::ssa::{Flags, Func, Inst, Region};

/// What the walk meets, in program order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A region begins.
    Enter(Region),
    /// An instruction, before its regions.
    Inst(Inst),
    /// An instruction that owns regions, after them.
    After(Inst),
    /// A region has ended.
    Leave(Region),
}

/// Visits every region and instruction that the body reaches.
pub(crate) fn walk(func: &Func, mut see: impl FnMut(Event)) {
    enum Frame {
        Region(Region, usize),
        After(Inst),
    }
    see(Event::Enter(func.body));
    // Functions without constructs need no stack.
    let mut stack: Vec<Frame> = Vec::new();
    let mut next = Some(Frame::Region(func.body, 0));
    while let Some(frame) = next.take().or_else(|| stack.pop()) {
        match frame {
            Frame::After(inst) => see(Event::After(inst)),
            Frame::Region(region, index) => {
                if index == 0 && region != func.body {
                    see(Event::Enter(region));
                }
                let owner = func.regions[region].insts[index..].iter().position(|&inst| {
                    see(Event::Inst(inst));
                    func.insts[inst].op.flags().has(Flags::REGIONS)
                });
                let Some(at) = owner.map(|at| index + at) else {
                    see(Event::Leave(region));
                    continue;
                };
                let inst = func.regions[region].insts[at];
                stack.push(Frame::Region(region, at + 1));
                stack.push(Frame::After(inst));
                for &inner in func.insts[inst].regions.iter().rev() {
                    stack.push(Frame::Region(inner, 0));
                }
            }
        }
    }
}
