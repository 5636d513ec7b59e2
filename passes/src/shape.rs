//! Who owns which instruction, and which terminators end or repeat which construct.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region, Value, ValueDef};

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
    /// Every construct in the order in which they end: inner ones before those around them.
    pub(crate) constructs: Vec<Inst>,
    /// Instructions met.
    pub(crate) count: u64,
}

impl Shape {
    pub(crate) fn find(func: &Func) -> Shape {
        /// A region from an instruction on, with the construct and the loop around it; or the end of a construct.
        enum Frame {
            Region(Region, usize, PackedOption<Inst>, PackedOption<Inst>),
            After(Inst),
        }
        let mut shape = Shape {
            owner: SecondaryMap::new(),
            target: SecondaryMap::new(),
            region_owner: SecondaryMap::new(),
            first: SecondaryMap::new(),
            next: SecondaryMap::new(),
            regions: Vec::with_capacity(func.regions.len()),
            constructs: Vec::with_capacity(func.regions.len() / 2),
            count: 0,
        };
        // Functions without constructs need no stack.
        let mut stack: Vec<Frame> = Vec::with_capacity(if func.regions.len() > 1 { 16 } else { 0 });
        let mut next = Some(Frame::Region(func.body, 0, None.into(), None.into()));
        while let Some(frame) = next.take().or_else(|| stack.pop()) {
            let (region, from, owner, around) = match frame {
                Frame::Region(region, from, owner, around) => (region, from, owner, around),
                Frame::After(inst) => {
                    shape.constructs.push(inst);
                    continue;
                }
            };
            if from == 0 {
                if owner.is_some() {
                    shape.region_owner[region] = owner;
                }
                shape.regions.push(region);
            }
            let insts = &func.regions[region].insts;
            let mut met = insts.len() - from;
            for (at, &inst) in insts.iter().enumerate().skip(from) {
                if owner.is_some() {
                    shape.owner[inst] = owner;
                }
                let data = &func.insts[inst];
                let target = match data.op {
                    Op::Yield => owner,
                    Op::Break | Op::Continue | Op::Next | Op::BreakIf => around,
                    Op::Exit => match data.imm {
                        Imm::Label(block) => block.into(),
                        _ => continue,
                    },
                    Op::If | Op::Loop | Op::Block => {
                        shape.size(func);
                        met = at + 1 - from;
                        stack.push(Frame::Region(region, at + 1, owner, around));
                        stack.push(Frame::After(inst));
                        let inside = if data.op == Op::Loop { inst.into() } else { around };
                        let frame = |&inner| Frame::Region(inner, 0, inst.into(), inside);
                        stack.extend(data.regions.iter().rev().map(frame));
                        break;
                    }
                    _ => continue,
                };
                if let Some(target) = target.expand() {
                    shape.target[inst] = target.into();
                    shape.next[inst] = shape.first[target];
                    shape.first[target] = inst.into();
                }
            }
            shape.count += met as u64;
        }
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

/// Which constructs stand within which others, as ranges of places in [`Shape::regions`].
pub(crate) struct Nests {
    /// By the first region of a construct: its place, and one past the last region within the construct.
    spans: SecondaryMap<Region, (u32, u32)>,
}

impl Nests {
    pub(crate) fn of(func: &Func, shape: &Shape) -> Nests {
        let mut nests = Nests { spans: SecondaryMap::with_capacity(func.regions.len()) };
        nests.spans.resize(func.regions.len());
        // Backwards, all that is within a region is done before the region.
        for (at, &region) in shape.regions.iter().enumerate().rev() {
            let at = at as u32;
            let Some(owner) = shape.region_owner[region].expand() else { continue };
            let span = &mut nests.spans[func.insts[owner].regions[0]];
            *span = (at, span.1.max(at + 1));
            let end = span.1;
            if let Some(around) = shape.owner[owner].expand() {
                let span = &mut nests.spans[func.insts[around].regions[0]];
                span.1 = span.1.max(end);
            }
        }
        nests
    }

    /// Whether a value is made within a construct: its results are not, its parameters are.
    pub(crate) fn within(&self, func: &Func, shape: &Shape, value: Value, construct: Inst) -> bool {
        let owner = match func.values[value].def {
            ValueDef::Result(inst, _) => shape.owner[inst],
            ValueDef::Param(region, _) => shape.region_owner[region],
        };
        let Some(owner) = owner.expand() else { return false };
        let at = self.spans[func.insts[owner].regions[0]].0;
        let (first, end) = self.spans[func.insts[construct].regions[0]];
        (first..end).contains(&at)
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

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::parse;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_within_a_construct_is_told_from_what_stands_before_and_behind_it() {
        let text = "func \"main\" fragment { in0 = \"x\" f32 x 1 location 0 perspective center } body {\n\
             %0: b32 = input in0.0 %1: b1 = flt %0, %0\n\
             %2: b32 = if %1 { %3: b32 = fadd %0, %0\n\
             %4: b32 = if %1 { %5: b32 = fmul %3, %3 yield %5 } else { yield %0 } yield %4 }\n\
             else { yield %0 }\n\
             %6: b32 = if %1 { %7: b32 = fsub %2, %2 yield %7 } else { yield %2 } yield }";
        let module = parse(text).expect("it parses");
        let func = &module.funcs[0];
        let shape = Shape::find(func);
        let nests = Nests::of(func, &shape);
        let [inner, outer, second] = shape.constructs[..] else {
            panic!("three constructs: {:?}", shape.constructs);
        };
        let within = |construct: Inst| -> BTreeSet<&str> {
            let inside = |&value: &Value| nests.within(func, &shape, value, construct);
            func.values.keys().filter(inside).filter_map(|v| Some(func.def(v)?.op.name())).collect()
        };
        assert_eq!(within(outer), BTreeSet::from(["fadd", "fmul", "if"]));
        assert_eq!(within(inner), BTreeSet::from(["fmul"]));
        assert_eq!(within(second), BTreeSet::from(["fsub"]));
    }
}
