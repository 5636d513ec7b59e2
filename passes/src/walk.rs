//! Walking a function in program order without recursion.

use gpucc_ir::ssa::{Func, Inst, Region};
use smallvec::SmallVec;

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
    let mut stack: SmallVec<[Frame; 16]> = SmallVec::new();
    stack.push(Frame::Region(func.body, 0));
    while let Some(frame) = stack.pop() {
        match frame {
            Frame::After(inst) => see(Event::After(inst)),
            Frame::Region(region, index) => {
                if index == 0 && region != func.body {
                    see(Event::Enter(region));
                }
                let insts = &func.regions[region].insts;
                let mut at = index;
                loop {
                    let Some(&inst) = insts.get(at) else {
                        see(Event::Leave(region));
                        break;
                    };
                    see(Event::Inst(inst));
                    at += 1;
                    let inner = &func.insts[inst].regions;
                    if !inner.is_empty() {
                        stack.push(Frame::Region(region, at));
                        stack.push(Frame::After(inst));
                        for &inner in inner.iter().rev() {
                            stack.push(Frame::Region(inner, 0));
                        }
                        break;
                    }
                }
            }
        }
    }
}
