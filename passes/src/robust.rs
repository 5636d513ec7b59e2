//! Out-of-range indices become harmless, and the checks that are proved needless cost nothing.
//!
//! The front end marks each place where an index meets a length with `index`. Afterwards there is no
//! `index` left:
//! - `restrict`: the smaller of the index and the last element. Where the length may be 0 there may be no last
//!   element, so an access whose address is made of the index happens only if there is one; a load gives 0
//!   otherwise. A load that the machine itself keeps within its buffer has no branch: with length 0 its index
//!   becomes one that lies beyond every buffer;
//! - `zero`: accesses whose address is made of such indices happen only if all are in range; a load
//!   gives 0 otherwise. An index that is also used for anything but addresses is clamped there;
//! - `off`: the index itself.
//!
//! An index below its length stays as it is: constants, masks, minima, loop counters with a bound,
//! and what an `if` around has already asked.

use crate::{
    ctx::{Ctx, Robustness},
    range::{RangeWalk, Ranges},
    rename::Renames,
    shape::Shape,
};
use cranelift_entity::{EntitySet, SecondaryMap, packed_option::PackedOption};
use gpucc_ir::ssa::verify::bounds::Facts;
use gpucc_ir::ssa::{Bounds, Func, Imm, Inst, InstData, Op, Region, Resource, Span, Type, Value};
use smallvec::SmallVec;

/// Control leaves the arm for another place. An arm that merely never ends does not count: passes may take out
/// loops that run for ever, and then it would come out after all.
pub(crate) fn leaves(func: &Func, arm: Region) -> bool {
    let insts = &func.regions[arm].insts[..];
    let Some((&end, before)) = insts.split_last() else {
        return false;
    };
    match func.insts[end].op {
        Op::Yield => false,
        Op::Unreachable => before.last().is_some_and(|&last| {
            let data = &func.insts[last];
            data.op == Op::If && data.regions.iter().all(|&arm| leaves(func, arm))
        }),
        _ => true,
    }
}

/// Replaces every `index`.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    ctx.bounded = ctx.options.robustness != Robustness::Off;
    let was = std::mem::replace(&mut func.bounds, Bounds::Trusted);
    if !func.any_inst(|data| data.op == Op::Index) {
        // No address is changed. `gvn` may now take a value for the constant that a branch around it says it is.
        return was == Bounds::Marked && func.any_inst(|data| data.op == Op::If);
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let escapes = match ctx.options.robustness {
        Robustness::Zero | Robustness::Restrict => escapes(func),
        Robustness::Off => EntitySet::new(),
    };
    let bounded = |buffer: Resource| ctx.target.bounds_loads(&func.resources[buffer]);
    // What addresses are made of is known of marked functions alone.
    let facts = (ctx.options.robustness == Robustness::Restrict && was == Bounds::Marked)
        .then(|| Facts::new(func));
    let loaded = match facts {
        Some(_) => loaded(func, &bounded),
        None => EntitySet::new(),
    };
    let mut kept: EntitySet<Resource> = EntitySet::new();
    for buffer in func.resources.keys().filter(|&buffer| bounded(buffer)) {
        kept.insert(buffer);
    }
    let mut robust = Robust {
        mode: ctx.options.robustness,
        bounded: kept,
        facts,
        loaded,
        ranges: Ranges::new(func),
        renames: Renames::new(),
        guards: SecondaryMap::new(),
        distant: EntitySet::new(),
        shape,
        escapes,
    };
    robust.region(func, func.body);
    let mut renames = robust.renames;
    renames.apply(func);
    true
}

/// The position of the address among the operands of a memory access.
pub(crate) fn address_operand(func: &Func, inst: Inst) -> Option<usize> {
    let data = &func.insts[inst];
    match (data.op, data.imm) {
        (
            Op::BufferLoad | Op::BufferStore | Op::BufferAtomic,
            Imm::Resource(buffer) | Imm::BufferAtomic(buffer, _),
        ) => Some(usize::from(func.resources[buffer].count.is_some())),
        (Op::MemLoad | Op::MemStore | Op::MemAtomic, _) => Some(0),
        _ => None,
    }
}

/// Values that are used for something else than the address of an access.
fn escapes(func: &Func) -> EntitySet<Value> {
    let mut escapes: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    for &(region, ..) in func.regions_in_order().iter().rev() {
        for &inst in func.regions[region].insts.iter().rev() {
            let data = &func.insts[inst];
            let address = address_operand(func, inst);
            let harmless = data.op.makes_address() && !escapes.contains(data.results[0]);
            for (index, &arg) in data.args.iter().enumerate() {
                // The element of a binding array and the length of an index are not addresses.
                let is_length = data.op == Op::Index && index == 1;
                if is_length || !(harmless || address == Some(index)) {
                    escapes.insert(arg);
                }
            }
        }
    }
    escapes
}

/// Values that addresses of loads are made of which the machine keeps within their buffers.
fn loaded(func: &Func, bounded: &dyn Fn(Resource) -> bool) -> EntitySet<Value> {
    let mut loaded: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    for &(region, ..) in func.regions_in_order().iter().rev() {
        for &inst in func.regions[region].insts.iter().rev() {
            let data = &func.insts[inst];
            if let (Op::BufferLoad, Imm::Resource(buffer)) = (data.op, data.imm) {
                if let Some(operand) = address_operand(func, inst)
                    && bounded(buffer)
                {
                    loaded.insert(data.args[operand]);
                }
            } else if data.op.makes_address() && loaded.contains(data.results[0]) {
                let parts = data.args.len() - usize::from(data.op == Op::Index);
                for &arg in &data.args[..parts] {
                    loaded.insert(arg);
                }
            }
        }
    }
    loaded
}

struct Robust {
    mode: Robustness,
    /// Buffers whose loads the machine keeps within them.
    bounded: EntitySet<Resource>,
    /// Under `restrict`, of a marked function: what addresses are made of.
    facts: Option<Facts>,
    /// Values that addresses of such loads are made of.
    loaded: EntitySet<Value>,
    ranges: Ranges,
    renames: Renames,
    /// What must hold for an address made of a value to be in range, beyond what clamping does.
    guards: SecondaryMap<Value, PackedOption<Value>>,
    /// Values made of an index that is far away where there is no element.
    distant: EntitySet<Value>,
    shape: Shape,
    escapes: EntitySet<Value>,
}

impl RangeWalk for Robust {
    fn known(&mut self) -> (&mut Ranges, &Shape) {
        (&mut self.ranges, &self.shape)
    }

    fn region(&mut self, func: &mut Func, region: Region) {
        let mark = self.ranges.mark();
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.renames.args(func, inst);
            match func.insts[inst].op {
                Op::Index => self.index(func, inst, &mut out),
                Op::If | Op::Loop | Op::Block => {
                    self.construct(func, region, inst);
                    out.push(inst);
                }
                Op::Continue => {
                    self.continues(inst);
                    out.push(inst);
                }
                _ => self.guarded(func, inst, &mut out),
            }
        }
        func.regions[region].insts = out;
        self.ranges.undo(&mark);
    }
}

impl Robust {
    fn index(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        let result = func.insts[inst].results[0];
        let (index, length) = (func.insts[inst].args[0], func.insts[inst].args[1]);
        let constant = func.as_const(length);
        let span = func.insts[inst].span;
        let guard = self.guards[index];
        if self.mode == Robustness::Off || self.ranges.less(func, index, length) {
            self.renames.set(result, index);
            return;
        }
        if self.mode == Robustness::Zero && !self.escapes.contains(result) {
            let inside = push(func, Op::ULt, Imm::None, &[index, length], Type::B1, span, out);
            let inside = match guard.expand() {
                Some(other) => {
                    push(func, Op::And, Imm::None, &[other, inside], Type::B1, span, out)
                }
                None => inside,
            };
            // The index keeps a name of its own, for the guard holds for addresses made of this one.
            let zero = push(func, Op::Const, Imm::Bits(0), &[], Type::B32, span, out);
            let own = push(func, Op::Or, Imm::None, &[index, zero], Type::B32, span, out);
            self.guards[own] = inside.into();
            self.renames.set(result, own);
            return;
        }
        let far = match constant {
            Some(_) => None,
            None => self.far(result, length),
        };
        let mut emit =
            |op: Op, imm: Imm, args: &[Value], ty: Type| push(func, op, imm, args, ty, span, out);
        let word = Type::B32;
        let last = match constant {
            Some(bits) => emit(Op::Const, Imm::Bits(bits.saturating_sub(1)), &[], word),
            None => {
                let one = emit(Op::Const, Imm::Bits(1), &[], word);
                let least = emit(Op::UMax, Imm::None, &[length, one], word);
                emit(Op::ISub, Imm::None, &[least, one], word)
            }
        };
        let clamped = emit(Op::UMin, Imm::None, &[index, last], word);
        if constant.is_some_and(|bits| bits > 0) {
            if let Some(&inst) = out.last() {
                self.ranges.define(func, inst);
            }
            self.guards[clamped] = guard;
            self.renames.set(result, clamped);
            return;
        }
        // Of no elements none is the last.
        let zero = emit(Op::Const, Imm::Bits(0), &[], word);
        let some = emit(Op::INe, Imm::None, &[length, zero], Type::B1);
        let own = match far {
            None => clamped,
            Some(far) => {
                let far = emit(Op::Const, Imm::Bits(far.into()), &[], word);
                let least = emit(Op::Select, Imm::None, &[some, zero, far], word);
                emit(Op::UMax, Imm::None, &[clamped, least], word)
            }
        };
        let guard = match guard.expand() {
            Some(other) => emit(Op::And, Imm::None, &[other, some], Type::B1),
            None => some,
        };
        self.guards[own] = guard.into();
        if far.is_some() {
            self.distant.insert(own);
        }
        self.renames.set(result, own);
    }

    /// For an index that bounded loads use: one whose element lies beyond every buffer that holds no element, and
    /// whose address does not wrap.
    fn far(&self, result: Value, length: Value) -> Option<u32> {
        let facts = self.facts.as_ref().filter(|_| self.loaded.contains(result))?;
        facts.elements(length)?.beyond()
    }

    /// The machine keeps this load within its buffer, and with no elements in it the address lies beyond them.
    fn keeps_itself(&self, func: &Func, inst: Inst) -> bool {
        let data = &func.insts[inst];
        let (Some(facts), Op::BufferLoad, Imm::Resource(buffer)) = (&self.facts, data.op, data.imm)
        else {
            return false;
        };
        let address = address_operand(func, inst).map(|operand| data.args[operand]);
        let leaves = |address: Value| self.distant.contains(address) && facts.leaves(address);
        self.bounded.contains(buffer) && address.is_some_and(leaves)
    }

    /// Collects what an address depends on, and guards accesses with it.
    fn guarded(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        self.ranges.define(func, inst);
        let op = func.insts[inst].op;
        if op.makes_address() {
            let args = func.insts[inst].args.clone();
            let mut guard: Option<Value> = None;
            for arg in args {
                guard = match (guard, self.guards[arg].expand()) {
                    (None, one) | (one, None) => one,
                    (Some(a), Some(b)) if a == b => Some(a),
                    (Some(a), Some(b)) => {
                        let span = func.insts[inst].span;
                        Some(push(func, Op::And, Imm::None, &[a, b], Type::B1, span, out))
                    }
                };
            }
            let data = &func.insts[inst];
            self.guards[data.results[0]] = guard.into();
            if data.args.iter().any(|&arg| self.distant.contains(arg)) {
                self.distant.insert(data.results[0]);
            }
            out.push(inst);
            return;
        }
        let guard = address_operand(func, inst)
            .and_then(|operand| self.guards[func.insts[inst].args[operand]].expand());
        match guard {
            Some(guard) if !self.keeps_itself(func, inst) => wrap(func, inst, guard, out),
            _ => out.push(inst),
        }
    }
}

/// Puts an access under a guard; its results are 0 when the guard does not hold.
fn wrap(func: &mut Func, inst: Inst, guard: Value, out: &mut Vec<Inst>) {
    let span = func.insts[inst].span;
    let (yes, no) = (func.new_region(), func.new_region());
    // The outer results take the names that users know; the access gets new ones.
    let outer = std::mem::take(&mut func.insts[inst].results);
    let types: SmallVec<[Type; 4]> = outer.iter().map(|&value| func.ty(value)).collect();
    let inner: SmallVec<[Value; 4]> = types.iter().map(|&ty| func.add_result(inst, ty)).collect();
    func.regions[yes].insts.push(inst);
    let end = func.new_inst(InstData::new(Op::Yield, Imm::None, &inner, span), &[]);
    func.regions[yes].insts.push(end);
    let mut zeros = Vec::new();
    let values: SmallVec<[Value; 4]> = types
        .iter()
        .map(|&ty| push(func, Op::Const, Imm::Bits(0), &[], ty, span, &mut zeros))
        .collect();
    let end = func.new_inst(InstData::new(Op::Yield, Imm::None, &values, span), &[]);
    zeros.push(end);
    func.regions[no].insts = zeros;
    let mut branch = InstData::new(Op::If, Imm::None, &[guard], span);
    branch.regions = [yes, no].into();
    let branch = func.new_inst(branch, &[]);
    for (index, &value) in outer.iter().enumerate() {
        func.values[value].def = gpucc_ir::ssa::ValueDef::Result(branch, index as u16);
    }
    func.insts[branch].results = outer;
    out.push(branch);
}

fn push(
    func: &mut Func,
    op: Op,
    imm: Imm,
    args: &[Value],
    ty: Type,
    span: Span,
    out: &mut Vec<Inst>,
) -> Value {
    let inst = func.new_inst(InstData::new(op, imm, args, span), &[ty]);
    out.push(inst);
    func.insts[inst].results[0]
}
