//! Who owns which instruction, and which terminators end or repeat which construct.

use crate::walk::{Event, walk};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region, Value};

/// Owners and targets of a function, found in one walk.
pub(crate) struct Shape {
    /// The construct around each instruction; none in the body.
    pub(crate) owner: SecondaryMap<Inst, PackedOption<Inst>>,
    /// The construct that a terminator goes to: `yield` its own, the loop for `break`, `continue`,
    /// `next` and `break_if`, the block for `exit`; none for the body's own and `unreachable`.
    pub(crate) target: SecondaryMap<Inst, PackedOption<Inst>>,
    /// The construct that owns each region; none for the body.
    pub(crate) region_owner: SecondaryMap<Region, PackedOption<Inst>>,
    first: SecondaryMap<Inst, PackedOption<Inst>>,
    next: SecondaryMap<Inst, PackedOption<Inst>>,
    /// Every region in program order, outermost first.
    pub(crate) regions: Vec<Region>,
    /// Instructions met.
    pub(crate) count: u64,
}

impl Shape {
    pub(crate) fn find(func: &Func) -> Shape {
        let mut shape = Shape {
            owner: SecondaryMap::new(),
            target: SecondaryMap::new(),
            region_owner: SecondaryMap::new(),
            first: SecondaryMap::new(),
            next: SecondaryMap::new(),
            regions: Vec::with_capacity(func.regions.len()),
            count: 0,
        };
        let mut owners: Vec<Inst> = Vec::new();
        let mut loops: Vec<Inst> = Vec::new();
        walk(func, |event| match event {
            Event::Enter(region) => {
                if let Some(&owner) = owners.last() {
                    shape.region_owner[region] = owner.into();
                }
                shape.regions.push(region);
            }
            Event::Leave(_) => {}
            Event::After(inst) => {
                owners.pop();
                if func.insts[inst].op == Op::Loop {
                    loops.pop();
                }
            }
            Event::Inst(inst) => {
                shape.count += 1;
                if let Some(&owner) = owners.last() {
                    shape.owner[inst] = owner.into();
                }
                let data = &func.insts[inst];
                let target = match data.op {
                    Op::Yield => owners.last().copied(),
                    Op::Break | Op::Continue | Op::Next | Op::BreakIf => loops.last().copied(),
                    Op::Exit => match data.imm {
                        Imm::Label(block) => Some(block),
                        _ => None,
                    },
                    Op::If | Op::Loop | Op::Block => {
                        shape.size(func);
                        owners.push(inst);
                        if data.op == Op::Loop {
                            loops.push(inst);
                        }
                        None
                    }
                    _ => None,
                };
                if let Some(target) = target {
                    shape.target[inst] = target.into();
                    shape.next[inst] = shape.first[target];
                    shape.first[target] = inst.into();
                }
            }
        });
        shape
    }

    /// Makes room in every map at once; a function without constructs needs none.
    fn size(&mut self, func: &Func) {
        if self.regions.len() > 1 {
            return;
        }
        for map in [&mut self.owner, &mut self.target, &mut self.first, &mut self.next] {
            map.resize(func.insts.len());
        }
        self.region_owner.resize(func.regions.len());
    }

    /// The terminators that go to a construct, last one first.
    pub(crate) fn terminators(&self, construct: Inst) -> impl Iterator<Item = Inst> + '_ {
        let mut at = self.first[construct].expand();
        std::iter::from_fn(move || {
            let now = at?;
            at = self.next[now].expand();
            Some(now)
        })
    }
}

/// What one terminator contributes to one list of its target.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// The results of its target.
    Results,
    /// The parameters of the loop's body.
    Params,
    /// The parameters of the loop's `continuing`.
    Continuing,
}

/// The operands by which a terminator gives its target these values, as a range of its operands.
/// Empty when it gives none.
pub(crate) fn carried(
    func: &Func,
    terminator: Inst,
    target: Inst,
    which: Carries,
) -> std::ops::Range<usize> {
    let data = &func.insts[terminator];
    let results = func.insts[target].results.len();
    let len = data.args.len();
    match (data.op, which) {
        (Op::Yield | Op::Break | Op::Exit, Carries::Results) => 0..len,
        (Op::BreakIf, Carries::Results) => 1..1 + results,
        (Op::BreakIf, Carries::Params) => 1 + results..len,
        (Op::Next, Carries::Params) => 0..len,
        (Op::Continue, Carries::Continuing) => 0..len,
        _ => 0..0,
    }
}

/// The operand that a terminator gives for one result or parameter of its target, if it does.
pub(crate) fn carried_at(
    func: &Func,
    terminator: Inst,
    target: Inst,
    which: Carries,
    index: usize,
) -> Option<Value> {
    let range = carried(func, terminator, target, which);
    (index < range.len()).then(|| func.insts[terminator].args[range.start + index])
}
