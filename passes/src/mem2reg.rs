//! Private variables become values: no load, no store, no address is left of what is only reached
//! at constant addresses.
//!
//! Words of one variable are independent: those that some access may reach at run time
//! ([`gpucc_ir::ssa::Access`] `lo..hi`) stay in memory, the others are promoted. A word that is only
//! accessed as two halves becomes two 16-bit values.
//!
//! The construction follows the tree. A word has a *home*: the innermost region that holds all of
//! its accesses, if its first access there is a store, else the body, where it starts as 0. Within
//! its home, a construct that stores to the word carries it: an `if` or `block` as a result, a
//! `loop` as body parameter, `continuing` parameter and result, unless nobody loads it afterwards.
//! The cost is the number of accesses plus the number of carried words, never words times regions.

mod slots;

use crate::{ctx::Ctx, rename::Renames, walk::Event};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gpucc_ir::ssa::{Access, Flags, Func, Imm, Inst, InstData, MemSpace, Op, Region, Type, Value};
use slots::{Part, Slots, moved, private_access, truth_behind};
use smallvec::SmallVec;

/// Promotes what can be promoted.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if !func.mems.values().any(|mem| mem.space == MemSpace::Private) {
        return false;
    }
    let Some(slots) = Slots::find(func, ctx) else {
        return false;
    };
    let scopes = Scopes::find(func, &slots);
    let carried = Carried::find(func, &slots, &scopes);
    let mut promote = Promote {
        slots: &slots,
        carried: &carried,
        live: scopes.slots.iter().map(|slot| slot.last_load > 0).collect(),
        cur: vec![PackedOption::default(); slots.types.len()],
        log: Vec::new(),
        renames: Renames::new(),
        owners: Vec::new(),
        loops: Vec::new(),
        next_part: 0,
        zeros: [None; 4],
        prologue: Vec::new(),
    };
    promote.region(func, func.body);
    let prologue = promote.prologue;
    func.regions[func.body].insts.splice(0..0, prologue);
    true
}

#[derive(Clone, Default)]
struct SlotScope {
    home: PackedOption<Region>,
    /// The first access is a store of the whole slot, in this region.
    first_store: PackedOption<Region>,
    /// Position of the last load, 0 for none.
    last_load: u32,
}

#[derive(Copy, Clone, Default)]
struct RegionScope {
    depth: u32,
    /// Loops around it.
    loops: u32,
    parent: PackedOption<Region>,
}

/// Where each slot lives, and where each construct begins and ends.
struct Scopes {
    slots: Vec<SlotScope>,
    regions: SecondaryMap<Region, RegionScope>,
    /// First and last position of constructs.
    spans: SecondaryMap<Inst, (u32, u32)>,
}

impl Scopes {
    fn find(func: &Func, slots: &Slots) -> Scopes {
        let mut scopes = Scopes {
            slots: vec![SlotScope::default(); slots.types.len()],
            regions: SecondaryMap::with_capacity(func.regions.len()),
            spans: func.by_inst(),
        };
        let mut path: Vec<Region> = Vec::new();
        let mut loops = 0;
        let mut position = 0u32;
        let mut next = 0;
        for &event in &slots.events {
            position += 1;
            match event {
                Event::Enter(region) => {
                    scopes.regions[region] = RegionScope {
                        depth: path.len() as u32,
                        loops,
                        parent: path.last().copied().into(),
                    };
                    path.push(region);
                }
                Event::Leave(_) => {
                    path.pop();
                }
                Event::After(inst) => {
                    loops -= u32::from(func.insts[inst].op == Op::Loop);
                    scopes.spans[inst].1 = position;
                }
                Event::Inst(inst) => {
                    if !func.insts[inst].regions.is_empty() {
                        loops += u32::from(func.insts[inst].op == Op::Loop);
                        scopes.spans[inst].0 = position;
                    }
                    if func.insts[inst].op.flags().has(Flags::REGIONS) {
                        continue;
                    }
                    let load = func.insts[inst].op == Op::MemLoad;
                    for _ in moved(func, inst) {
                        let part = slots.parts[next];
                        next += 1;
                        let (reads, touched): (bool, SmallVec<[u32; 2]>) = match part {
                            Part::Memory => (false, SmallVec::new()),
                            Part::Slot(slot) => (load, SmallVec::from_slice(&[slot])),
                            // Storing half of a word reads the other half.
                            Part::Low(slot) | Part::High(slot) => {
                                (true, SmallVec::from_slice(&[slot]))
                            }
                            Part::Pair(low, high) => (load, SmallVec::from_slice(&[low, high])),
                        };
                        for slot in touched {
                            scopes.touch(slot, &path, reads, position);
                        }
                    }
                }
            }
        }
        for slot in &mut scopes.slots {
            if slot.first_store != slot.home {
                slot.home = func.body.into();
            }
        }
        scopes
    }

    fn touch(&mut self, slot: u32, path: &[Region], reads: bool, position: u32) {
        let slot = &mut self.slots[slot as usize];
        let here = *path.last().expect("an instruction stands in a region");
        match slot.home.expand() {
            None => {
                slot.home = here.into();
                if !reads {
                    slot.first_store = here.into();
                }
            }
            Some(mut home) => {
                // Up to the innermost region that also holds this access.
                while path.get(self.regions[home].depth as usize) != Some(&home) {
                    home = self.regions[home].parent.expand().expect("the body is on every path");
                }
                slot.home = home.into();
            }
        }
        if reads {
            slot.last_load = position;
        }
    }
}

/// The slots that each construct carries.
struct Carried {
    of: SecondaryMap<Inst, Vec<u32>>,
}

impl Carried {
    fn find(func: &Func, slots: &Slots, scopes: &Scopes) -> Carried {
        let mut carried = Carried { of: SecondaryMap::new() };
        let mut open: Vec<(Inst, Region)> = Vec::new();
        let mut last_store = vec![0u32; slots.types.len()];
        let mut here: Vec<Region> = Vec::new();
        let mut position = 0u32;
        let mut next = 0;
        for &event in &slots.events {
            position += 1;
            match event {
                Event::Enter(region) => here.push(region),
                Event::Leave(_) => {
                    here.pop();
                }
                Event::After(_) => {
                    open.pop();
                }
                Event::Inst(inst) => {
                    if !func.insts[inst].regions.is_empty() {
                        let region = *here.last().expect("an instruction stands in a region");
                        open.push((inst, region));
                    }
                    if func.insts[inst].op.flags().has(Flags::REGIONS) {
                        continue;
                    }
                    let store = func.insts[inst].op == Op::MemStore;
                    for _ in moved(func, inst) {
                        let part = slots.parts[next];
                        next += 1;
                        if !store {
                            continue;
                        }
                        let touched: SmallVec<[u32; 2]> = match part {
                            Part::Memory => SmallVec::new(),
                            Part::Slot(slot) | Part::Low(slot) | Part::High(slot) => {
                                SmallVec::from_slice(&[slot])
                            }
                            Part::Pair(low, high) => SmallVec::from_slice(&[low, high]),
                        };
                        for slot in touched {
                            let before =
                                std::mem::replace(&mut last_store[slot as usize], position);
                            carried.stored(func, scopes, &open, slot, before);
                        }
                    }
                }
            }
        }
        carried
    }

    /// Records a store in every open construct inside the slot's home that has not seen one.
    fn stored(
        &mut self,
        func: &Func,
        scopes: &Scopes,
        open: &[(Inst, Region)],
        slot: u32,
        last_store: u32,
    ) {
        let scope = &scopes.slots[slot as usize];
        let home = scopes.regions[scope.home.expand().expect("a stored slot has a home")];
        for &(construct, region) in open.iter().rev() {
            let around = scopes.regions[region];
            let (start, end) = scopes.spans[construct];
            if around.depth < home.depth || last_store >= start {
                break;
            }
            let behind = if func.insts[construct].op == Op::Loop { start } else { end };
            // A loop inside the home may come round to a load that stands earlier.
            let comes_round = around.loops > home.loops && scope.last_load > 0;
            if scope.last_load > behind || comes_round {
                self.of[construct].push(slot);
            }
        }
    }
}

struct Promote<'a> {
    slots: &'a Slots,
    carried: &'a Carried,
    /// Slots that someone loads.
    live: Vec<bool>,
    /// The value of each slot here; none before the first store.
    cur: Vec<PackedOption<Value>>,
    /// What `cur` held before each change, to undo at the end of a region.
    log: Vec<(u32, PackedOption<Value>)>,
    renames: Renames,
    owners: Vec<Inst>,
    loops: Vec<Inst>,
    next_part: usize,
    zeros: [Option<Value>; 4],
    prologue: Vec<Inst>,
}

impl Promote<'_> {
    fn set(&mut self, slot: u32, value: Value) {
        let old = std::mem::replace(&mut self.cur[slot as usize], value.into());
        self.log.push((slot, old));
    }

    fn get(&mut self, func: &mut Func, slot: u32) -> Value {
        match self.cur[slot as usize].expand() {
            Some(value) => value,
            None => self.zero(func, self.slots.types[slot as usize]),
        }
    }

    /// The 0 that uninitialised bytes read as; one per type, at the top of the body.
    fn zero(&mut self, func: &mut Func, ty: Type) -> Value {
        let prologue = &mut self.prologue;
        *self.zeros[ty as usize].get_or_insert_with(|| {
            let inst = func.new_inst(simple(Op::Const, Imm::Bits(0), &[]), &[ty]);
            prologue.push(inst);
            func.insts[inst].results[0]
        })
    }

    fn carried(&self, construct: Inst) -> &[u32] {
        self.carried.of.get(construct).map_or(&[], Vec::as_slice)
    }

    /// The current values of what a construct carries.
    fn outgoing(&mut self, func: &mut Func, construct: Inst) -> SmallVec<[Value; 8]> {
        let carried = self.carried;
        let slots = carried.of.get(construct).map_or(&[][..], Vec::as_slice);
        slots.iter().map(|&slot| self.get(func, slot)).collect()
    }

    fn region(&mut self, func: &mut Func, region: Region) {
        let mark = self.log.len();
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.renames.args(func, inst);
            self.inst(func, inst, &mut out);
        }
        func.regions[region].insts = out;
        while self.log.len() > mark {
            let (slot, old) = self.log.pop().expect("longer than the mark");
            self.cur[slot as usize] = old;
        }
    }

    fn inst(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        match func.insts[inst].op {
            Op::MemLoad | Op::MemStore if private_access(func, inst).is_some() => {
                self.access(func, inst, out);
                return;
            }
            Op::If | Op::Loop | Op::Block => self.construct(func, inst),
            Op::Yield => {
                if let Some(&owner) = self.owners.last() {
                    let values = self.outgoing(func, owner);
                    func.insts[inst].args.extend(values);
                }
            }
            Op::Break | Op::Continue | Op::Next => {
                let owner = *self.loops.last().expect("inside a loop");
                let values = self.outgoing(func, owner);
                func.insts[inst].args.extend(values);
            }
            Op::BreakIf => {
                let owner = *self.loops.last().expect("inside a loop");
                let values = self.outgoing(func, owner);
                // Condition, results, parameters; the loop's own results are added afterwards.
                let results = func.insts[owner].results.len();
                let args = &mut func.insts[inst].args;
                args.insert_from_slice(1 + results, &values);
                args.extend(values);
            }
            Op::Exit => {
                if let Imm::Label(block) = func.insts[inst].imm {
                    let values = self.outgoing(func, block);
                    func.insts[inst].args.extend(values);
                }
            }
            _ => {}
        }
        out.push(inst);
    }

    fn construct(&mut self, func: &mut Func, inst: Inst) {
        let carried = self.carried(inst).to_vec();
        let is_loop = func.insts[inst].op == Op::Loop;
        if is_loop {
            let values = self.outgoing(func, inst);
            func.insts[inst].args.extend(values);
            self.loops.push(inst);
        }
        self.owners.push(inst);
        for region in func.insts[inst].regions.clone() {
            let mark = self.log.len();
            if is_loop {
                for &slot in &carried {
                    let param = func.add_param(region, self.slots.types[slot as usize]);
                    self.set(slot, param);
                }
            }
            self.region(func, region);
            while self.log.len() > mark {
                let (slot, old) = self.log.pop().expect("longer than the mark");
                self.cur[slot as usize] = old;
            }
        }
        self.owners.pop();
        if is_loop {
            self.loops.pop();
        }
        for slot in carried {
            let result = func.add_result(inst, self.slots.types[slot as usize]);
            self.set(slot, result);
        }
    }

    fn access(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        let values: SmallVec<[Value; 4]> = SmallVec::from_slice(moved(func, inst));
        let first = self.next_part;
        self.next_part += values.len();
        let slots = self.slots;
        let parts = &slots.parts[first..self.next_part];
        if parts.iter().all(|&part| part == Part::Memory) {
            out.push(inst);
            return;
        }
        let store = func.insts[inst].op == Op::MemStore;
        let Imm::Mem(access) = func.insts[inst].imm else {
            unreachable!("a private access has its variable");
        };
        let mut at =
            func.as_const(func.insts[inst].args[0]).expect("some part was promoted") as u32;
        let mut emit = |func: &mut Func, op: Op, imm: Imm, args: &[Value], ty: Type| {
            let mut data = simple(op, imm, args);
            data.span = func.insts[inst].span;
            data.bundle = func.insts[inst].bundle;
            let new = func.new_inst(data, &[ty]);
            out.push(new);
            func.insts[new].results[0]
        };
        let mut left: SmallVec<[(u32, Value); 4]> = SmallVec::new();
        for (&part, &value) in parts.iter().zip(&values) {
            let ty = func.ty(value);
            match (store, part) {
                (_, Part::Memory) => left.push((at, value)),
                (true, Part::Slot(slot) | Part::Low(slot) | Part::High(slot))
                    if !self.live[slot as usize] => {}
                (false, Part::Slot(slot)) if slots.types[slot as usize] == Type::B1 => {
                    let truth = self.get(func, slot);
                    let word = emit(func, Op::UConvert, Imm::None, &[truth], Type::B32);
                    self.renames.set(value, word);
                }
                (true, Part::Slot(slot)) if slots.types[slot as usize] == Type::B1 => {
                    let truth = match (truth_behind(func, value), func.as_const(value)) {
                        (Some(truth), _) => truth,
                        (None, bits) => {
                            let bits = Imm::Bits(bits.expect("all stores were seen"));
                            emit(func, Op::Const, bits, &[], Type::B1)
                        }
                    };
                    self.set(slot, truth);
                }
                (false, Part::Slot(slot)) => {
                    let now = self.get(func, slot);
                    self.renames.set(value, now);
                }
                (true, Part::Slot(slot)) => self.set(slot, value),
                (false, Part::Low(slot) | Part::High(slot)) => {
                    let word = self.get(func, slot);
                    let op = match part {
                        Part::Low(_) => Op::Lo16,
                        _ => Op::Hi16,
                    };
                    let half = emit(func, op, Imm::None, &[word], Type::B16);
                    self.renames.set(value, half);
                }
                (true, Part::Low(slot)) => {
                    let word = self.get(func, slot);
                    let other = emit(func, Op::Hi16, Imm::None, &[word], Type::B16);
                    let word = emit(func, Op::Join16, Imm::None, &[value, other], Type::B32);
                    self.set(slot, word);
                }
                (true, Part::High(slot)) => {
                    let word = self.get(func, slot);
                    let other = emit(func, Op::Lo16, Imm::None, &[word], Type::B16);
                    let word = emit(func, Op::Join16, Imm::None, &[other, value], Type::B32);
                    self.set(slot, word);
                }
                (false, Part::Pair(low, high)) => {
                    let (low, high) = (self.get(func, low), self.get(func, high));
                    let both = emit(func, Op::Join64, Imm::None, &[low, high], Type::B64);
                    self.renames.set(value, both);
                }
                (true, Part::Pair(low, high)) => {
                    let low_value = emit(func, Op::Lo64, Imm::None, &[value], Type::B32);
                    let high_value = emit(func, Op::Hi64, Imm::None, &[value], Type::B32);
                    self.set(low, low_value);
                    self.set(high, high_value);
                }
            }
            at += ty.bytes();
        }
        // What stays in memory is moved value by value.
        for (at, value) in left {
            let ty = func.ty(value);
            let address = emit_const(func, out, at);
            let piece = Imm::Mem(Access { mem: access.mem, lo: at, hi: at + ty.bytes() });
            let (args, results): (SmallVec<[Value; 2]>, &[Type]) = match store {
                true => (SmallVec::from_slice(&[address, value]), &[]),
                false => (SmallVec::from_slice(&[address]), &[ty]),
            };
            let mut data = simple(func.insts[inst].op, piece, &args);
            data.span = func.insts[inst].span;
            let new = func.new_inst(data, results);
            out.push(new);
            if !store {
                let loaded = func.insts[new].results[0];
                self.renames.set(value, loaded);
            }
        }
    }
}

fn emit_const(func: &mut Func, out: &mut Vec<Inst>, bits: u32) -> Value {
    let inst = func.new_inst(simple(Op::Const, Imm::Bits(bits.into()), &[]), &[Type::B32]);
    out.push(inst);
    func.insts[inst].results[0]
}

fn simple(op: Op, imm: Imm, args: &[Value]) -> InstData {
    InstData::new(op, imm, args, gpucc_ir::ssa::Span::NONE)
}
