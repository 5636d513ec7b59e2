//! Computes nothing twice: an instruction equal to one whose result is in scope becomes that result.
//!
//! Scope is lexical, so the table is a stack: what a region adds leaves with it. Constants move to
//! the top of the body, one each. Loads are equal when nothing that could have written in between
//! was met; memory is told apart by kind (storage buffers, images, private and workgroup
//! variables), read-only bindings never change. Quad ops are only equal within one region, for
//! elsewhere other lanes are running.
//!
//! An arm of a switch knows its selector. The pass puts the constant in place of an address, and of operands that are all
//! known.

use crate::range::{Mark, Ranges};
use crate::robust::{address_operand, leaves};
use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Bounds, Flags, Func, Imm, Inst, MemSpace, Op, Region, Resource, ResourceKind, Span, Type,
    Value, ValueDef,
};

/// Replaces repeated computations.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut gvn = Gvn {
        ctx,
        table: Table::new(func.insts.len()),
        renames: Renames::new(),
        writes: writes(func),
        epochs: [0; KINDS],
        last_epoch: 0,
        constants: Vec::new(),
        ranges: None,
        fixed: Vec::new(),
        changed: false,
    };
    gvn.region(func, func.body);
    let constants = std::mem::take(&mut gvn.constants);
    let changed = gvn.changed;
    func.regions[func.body].insts.splice(0..0, constants);
    changed
}

/// Kinds of memory that are told apart.
const KINDS: usize = 5;
const STORAGE: u8 = 1;
const IMAGE: u8 = 2;
const PRIVATE: u8 = 4;
const WORKGROUP: u8 = 8;
const HELPER: u8 = 16;

/// What one instruction writes, as a set of kinds.
pub(crate) fn written_by(func: &Func, inst: Inst) -> u8 {
    let data = &func.insts[inst];
    if !data.op.flags().has(Flags::EFFECT) {
        return 0;
    }
    match data.op {
        Op::BufferStore | Op::BufferAtomic => STORAGE,
        Op::MemStore | Op::MemAtomic => match data.imm {
            Imm::Mem(access) | Imm::MemAtomic(access, _) => kind_of_mem(func, access.mem),
            _ => PRIVATE | WORKGROUP,
        },
        Op::ImageStore | Op::ImageAtomic => IMAGE,
        Op::Barrier | Op::SubgroupBarrier => STORAGE | IMAGE | WORKGROUP,
        Op::Demote => HELPER,
        _ => 0,
    }
}

fn kind_of_mem(func: &Func, mem: gpucc_ir::ssa::Mem) -> u8 {
    match func.mems[mem].space {
        MemSpace::Private => PRIVATE,
        MemSpace::Workgroup => WORKGROUP,
        MemSpace::Constant => 0,
    }
}

fn read_only(func: &Func, resource: Resource) -> bool {
    match func.resources[resource].kind {
        ResourceKind::Uniform { .. }
        | ResourceKind::Immediate { .. }
        | ResourceKind::Texture { .. }
        | ResourceKind::Sampler { .. } => true,
        ResourceKind::Storage { access, .. } | ResourceKind::StorageTexture { access, .. } => {
            !access.store && !access.atomic
        }
    }
}

/// What a load depends on; `None` for what must not be merged at all.
pub(crate) fn read_by(func: &Func, inst: Inst) -> Option<u8> {
    let data = &func.insts[inst];
    if data.op.is_pure() {
        return Some(0);
    }
    let flags = data.flags();
    if flags.has(Flags::EFFECT) || flags.has(Flags::REGIONS) || flags.has(Flags::TERMINATOR) {
        return None;
    }
    if !flags.has(Flags::READS) {
        return Some(0);
    }
    match (data.op, data.imm) {
        (Op::BufferLoad, Imm::Resource(buffer)) if read_only(func, buffer) => Some(0),
        (Op::BufferLoad, _) => Some(STORAGE),
        (Op::MemLoad, Imm::Mem(access)) => Some(kind_of_mem(func, access.mem)),
        (Op::Tex, Imm::Tex(tex)) if read_only(func, tex.texture) => Some(0),
        (Op::Tex, _) => Some(IMAGE),
        (Op::IsHelper, _) => Some(HELPER),
        _ => None,
    }
}

/// What each construct writes anywhere inside.
fn writes(func: &Func) -> SecondaryMap<Inst, u8> {
    let mut writes = SecondaryMap::with_capacity(func.insts.len());
    // Regions come outermost first, so backwards the inner ones are finished before they are asked.
    for &(region, owner, _) in func.regions_in_order().iter().rev() {
        let Some(owner) = owner else { continue };
        let mut kinds = 0;
        for &inst in &func.regions[region].insts {
            kinds |= match func.insts[inst].regions.is_empty() {
                true => written_by(func, inst),
                false => writes[inst],
            };
        }
        writes[owner] |= kinds;
    }
    writes
}

struct Gvn<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    table: Table,
    renames: Renames,
    writes: SecondaryMap<Inst, u8>,
    /// One number per kind of memory; a new one after every write.
    epochs: [u32; KINDS],
    last_epoch: u32,
    constants: Vec<Inst>,
    /// What the conditions around say; made when the first of them says something.
    ranges: Option<Ranges>,
    /// The values that they leave one constant, innermost last.
    fixed: Vec<(Value, u64)>,
    changed: bool,
}

/// How many values known to be constant are remembered.
const FIXED: usize = 16;

impl Gvn<'_, '_> {
    fn bump(&mut self, kinds: u8) {
        if kinds == 0 {
            return;
        }
        self.last_epoch += 1;
        for (kind, epoch) in self.epochs.iter_mut().enumerate() {
            if kinds >> kind & 1 != 0 {
                *epoch = self.last_epoch;
            }
        }
    }

    fn region(&mut self, func: &mut Func, region: Region) {
        let mark = self.table.entries.len();
        let known = self.mark();
        let mut insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = self.ctx.spare.take(insts.len());
        self.ctx.steps += insts.len() as u64;
        for inst in insts.drain(..) {
            let op = func.insts[inst].op;
            if op == Op::Const {
                let at_body = region == func.body;
                let in_place = at_body && out.is_empty();
                if !self.constant(func, inst, at_body, in_place) {
                    out.push(inst);
                }
                continue;
            }
            self.renames.args(func, inst);
            if op.flags().has(Flags::REGIONS) {
                self.construct(func, region, inst);
                out.push(inst);
                continue;
            }
            let written = written_by(func, inst);
            if written != 0 {
                self.fixed_args(func, inst);
                self.bump(written);
            } else if self.known(func, inst, region) {
                self.changed = true;
                continue;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
        self.ctx.spare.give(insts);
        self.table.truncate(mark);
        self.undo(known);
    }

    fn mark(&self) -> (Mark, usize) {
        (self.ranges.as_ref().map(Ranges::mark).unwrap_or_default(), self.fixed.len())
    }

    /// Forgets what was learned since.
    fn undo(&mut self, (mark, fixed): (Mark, usize)) {
        self.fixed.truncate(fixed);
        if let Some(ranges) = &mut self.ranges {
            ranges.undo(&mark);
        }
    }

    /// Learns what a condition says that holds, or does not, from here to the end of a region.
    fn assume(&mut self, func: &Func, region: Region, cond: Value, holds: bool) {
        let says = |op: Op| {
            matches!(op, Op::IEq | Op::INe | Op::ULt | Op::ULe | Op::And | Op::Or | Op::Not)
        };
        if !func.def(cond).is_some_and(|data| says(data.op)) {
            return;
        }
        let ranges = self.ranges.get_or_insert_with(|| Ranges::new(func));
        let mark = ranges.mark();
        ranges.assume(func, region, cond, holds);
        for (value, bits) in ranges.fixed_since(&mark) {
            if self.fixed.len() < FIXED && self.fixed.iter().all(|(known, _)| *known != value) {
                self.fixed.push((value, bits));
            }
        }
    }

    /// Gives an instruction the constants that its operands are here, where it pays: an address, or all that a result is
    /// computed from. True when there are some.
    fn fixed_args(&mut self, func: &mut Func, inst: Inst) -> bool {
        if self.fixed.is_empty() {
            return false;
        }
        let data = &func.insts[inst];
        let flags = data.flags();
        let stays = [Flags::EFFECT, Flags::READS, Flags::TERMINATOR, Flags::REGIONS];
        let operands = match address_operand(func, inst) {
            // What is marked is proved by what its addresses are made of.
            _ if func.bounds == Bounds::Marked => match data.op {
                Op::Index => 0..1,
                _ => return false,
            },
            Some(address) => address..address + 1,
            None if data.op == Op::Index => 0..1,
            None if stays.iter().any(|&flag| flags.has(flag)) => return false,
            None => 0..data.args.len(),
        };
        let constant = |arg: &Value| func.as_const(*arg).is_some() || self.value_of(*arg).is_some();
        if !data.args[operands.clone()].iter().all(constant) {
            return false;
        }
        let mut changed = false;
        for index in operands {
            let arg = func.insts[inst].args[index];
            if let Some(bits) = self.value_of(arg)
                && self.ctx.draw()
            {
                func.insts[inst].args[index] = self.constant_of(func, func.ty(arg), bits);
                changed = true;
            }
        }
        self.changed |= changed;
        changed
    }

    /// The constant that a value is here.
    fn value_of(&self, value: Value) -> Option<u64> {
        self.fixed.iter().find(|(fixed, _)| *fixed == value).map(|(_, bits)| *bits)
    }

    /// The constant of a type.
    fn constant_of(&mut self, func: &mut Func, ty: Type, bits: u64) -> Value {
        let hash = constant_hash(ty, bits);
        let inst = match self.table.find_constant(hash, |other| is_constant(func, other, ty, bits))
        {
            Some(other) => other,
            None => {
                let inst = func.new_constant(ty, bits, Span::NONE);
                self.table.add_constant(hash, inst);
                self.constants.push(inst);
                inst
            }
        };
        func.insts[inst].results[0]
    }

    fn construct(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let written = self.writes[inst];
        let regions = func.insts[inst].regions.clone();
        if func.insts[inst].op == Op::Loop {
            // An earlier trip may have written.
            self.bump(written);
        }
        let before = self.epochs;
        // Equal arms stay equal, and become one.
        let parts = func.insts[inst].op == Op::If && !alike(func, regions[0], regions[1]);
        let cond = parts.then(|| func.insts[inst].args[0]);
        for (index, &inner) in regions.iter().enumerate() {
            match func.insts[inst].op {
                Op::Loop => self.bump(written),
                _ => self.epochs = before,
            }
            let known = self.mark();
            if let Some(cond) = cond {
                self.assume(func, inner, cond, index == 0);
            }
            self.region(func, inner);
            self.undo(known);
        }
        self.epochs = before;
        self.bump(written);
        if let (Some(cond), [yes, no]) = (cond, &regions[..]) {
            // What follows runs only behind the arm that does not leave.
            let (yes, no) = (leaves(func, *yes), leaves(func, *no));
            if yes != no {
                self.assume(func, region, cond, no);
            }
        }
    }

    /// Takes a constant to the top of the body; true when it is gone from here. With `in_place`, nothing but
    /// constants stands before it there.
    fn constant(&mut self, func: &mut Func, inst: Inst, at_body: bool, in_place: bool) -> bool {
        let Imm::Bits(bits) = func.insts[inst].imm else {
            return false;
        };
        let result = func.insts[inst].results[0];
        let ty = func.ty(result);
        let hash = constant_hash(ty, bits);
        let same = self.table.find_constant(hash, |other| is_constant(func, other, ty, bits));
        if let Some(other) = same {
            if !self.ctx.draw() {
                return false;
            }
            self.renames.set(result, func.insts[other].results[0]);
            self.changed = true;
            return true;
        }
        if !at_body && !self.ctx.draw() {
            return false;
        }
        self.changed |= !in_place;
        self.table.add_constant(hash, inst);
        self.constants.push(inst);
        true
    }

    /// True when an equal instruction is in scope and has taken this one's place.
    fn known(&mut self, func: &mut Func, inst: Inst, region: Region) -> bool {
        let Some(kinds) = read_by(func, inst) else {
            self.fixed_args(func, inst);
            return false;
        };
        let mut key = self.key(func, inst, region, kinds);
        let mut hash = key.hash(func);
        let mut found = self.table.find(hash, |other| key.same(func, other));
        // What was computed before its operands were known stays as it is.
        if found.is_none() && self.fixed_args(func, inst) {
            key = self.key(func, inst, region, kinds);
            hash = key.hash(func);
            found = self.table.find(hash, |other| key.same(func, other));
        }
        let Some(other) = found else {
            self.table.add(hash, key);
            return false;
        };
        if !self.ctx.draw() {
            return false;
        }
        for index in 0..func.insts[inst].results.len() {
            let (from, to) = (func.insts[inst].results[index], func.insts[other].results[index]);
            self.renames.set(from, to);
        }
        true
    }

    /// What an instruction is known by, with its operands in order.
    fn key(&mut self, func: &mut Func, inst: Inst, region: Region, kinds: u8) -> Key {
        let commutes = self.ctx.commutes(func.insts[inst].op);
        let data = &func.insts[inst];
        // Not constants: they stay on the right, where folding and lowering look for them.
        let ordered = data.args.len() < 2 || data.args[0] <= data.args[1];
        if commutes && !ordered && func.as_const(func.insts[inst].args[1]).is_none() {
            func.insts[inst].args.swap(0, 1);
            self.changed = true;
        }
        let data = &func.insts[inst];
        Key {
            inst,
            region: data.flags().has(Flags::QUAD).then_some(region),
            epoch: self.epoch(kinds),
        }
    }

    fn epoch(&self, kinds: u8) -> u32 {
        if kinds == 0 {
            return 0;
        }
        let met = self.epochs.iter().enumerate();
        met.filter(|(kind, _)| kinds >> kind & 1 != 0).map(|(_, &epoch)| epoch).max().unwrap_or(0)
    }
}

#[derive(Copy, Clone)]
struct Key {
    inst: Inst,
    region: Option<Region>,
    epoch: u32,
}

impl Key {
    fn hash(&self, func: &Func) -> u64 {
        let data = &func.insts[self.inst];
        let mut hash = mix(SEED, data.op as u64);
        hash = mix(hash, u64::from(self.epoch));
        for &arg in &data.args {
            hash = mix(hash, u64::from(arg.as_u32()));
        }
        for &result in &data.results {
            hash = mix(hash, func.ty(result) as u64);
        }
        // A few bits of the immediate tell most of them apart; equality decides.
        hash = mix(
            hash,
            match data.imm {
                Imm::Bits(bits) => bits,
                Imm::Resource(resource) | Imm::Query(resource, _) => resource.as_u32().into(),
                Imm::Mem(access) => access.mem.as_u32().into(),
                Imm::Input(input, component) => {
                    u64::from(input.as_u32()) << 8 | u64::from(component)
                }
                Imm::Tex(tex) => tex.texture.as_u32().into(),
                _ => 0,
            },
        );
        hash & !CONSTANT
    }

    fn same(&self, func: &Func, other: &Key) -> bool {
        let (a, b) = (&func.insts[self.inst], &func.insts[other.inst]);
        let mut results = a.results.iter().zip(&b.results);
        // Bytes that an access may reach are a promise of its address, which is an operand.
        let same_imm = match (a.imm, b.imm) {
            (Imm::Mem(a), Imm::Mem(b)) => a.mem == b.mem,
            (a, b) => a == b,
        };
        a.op == b.op
            && same_imm
            && self.epoch == other.epoch
            && self.region == other.region
            && a.args == b.args
            && a.results.len() == b.results.len()
            && results.all(|(&a, &b)| func.ty(a) == func.ty(b))
    }
}

/// Whether two arms do the same.
fn alike(func: &Func, a: Region, b: Region) -> bool {
    let (a, b) = (&func.regions[a].insts, &func.regions[b].insts);
    // The place of what each arm computes; what both know is itself.
    let place = |insts: &[Inst], value: Value| match func.values[value].def {
        ValueDef::Result(inst, index) => {
            insts.iter().position(|&own| own == inst).map(|at| (at, index))
        }
        ValueDef::Param(..) => None,
    };
    let same = |(&one, &other): (&Inst, &Inst)| {
        let (one, other) = (&func.insts[one], &func.insts[other]);
        let mut args = one.args.iter().zip(&other.args);
        one.op == other.op
            && one.imm == other.imm
            && one.regions.is_empty()
            && other.regions.is_empty()
            && one.args.len() == other.args.len()
            && args.all(|(&x, &y)| {
                x == y || place(a, x).is_some_and(|place_of| place(b, y) == Some(place_of))
            })
    };
    a.len() == b.len() && a.len() <= ALIKE && a.iter().zip(b).all(same)
}

/// Instructions of arms that are compared.
const ALIKE: usize = 16;

const SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;
/// Marks the hashes of constants, which never leave the table.
const CONSTANT: u64 = 1 << 63;

fn constant_hash(ty: Type, bits: u64) -> u64 {
    mix(mix(SEED, bits), ty as u64) | CONSTANT
}

fn is_constant(func: &Func, inst: Inst, ty: Type, bits: u64) -> bool {
    func.insts[inst].imm == Imm::Bits(bits) && func.ty(func.insts[inst].results[0]) == ty
}

fn mix(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

/// A chained hash table whose entries leave in the reverse order of their coming.
struct Table {
    heads: Vec<u32>,
    entries: Vec<(u64, u32, Key)>,
    constant_heads: Vec<u32>,
    constants: Vec<(u64, u32, Inst)>,
}

impl Table {
    fn new(insts: usize) -> Self {
        let buckets = insts.next_power_of_two().clamp(16, 1 << 20);
        Table {
            heads: vec![u32::MAX; buckets],
            entries: Vec::with_capacity(insts.min(128)),
            constant_heads: vec![u32::MAX; buckets],
            constants: Vec::with_capacity(insts.min(32)),
        }
    }

    fn bucket(&self, hash: u64) -> usize {
        (hash as usize >> 3) & (self.heads.len() - 1)
    }

    fn find(&self, hash: u64, same: impl Fn(&Key) -> bool) -> Option<Inst> {
        let mut at = self.heads[self.bucket(hash)];
        while at != u32::MAX {
            let (found, next, key) = &self.entries[at as usize];
            if *found == hash && same(key) {
                return Some(key.inst);
            }
            at = *next;
        }
        None
    }

    fn add(&mut self, hash: u64, key: Key) {
        let bucket = self.bucket(hash);
        let at = self.entries.len() as u32;
        self.entries.push((hash, self.heads[bucket], key));
        self.heads[bucket] = at;
    }

    fn truncate(&mut self, len: usize) {
        while self.entries.len() > len {
            let (hash, next, _) = self.entries.pop().expect("longer than the mark");
            let bucket = self.bucket(hash);
            self.heads[bucket] = next;
        }
    }

    fn find_constant(&self, hash: u64, same: impl Fn(Inst) -> bool) -> Option<Inst> {
        let mut at = self.constant_heads[self.bucket(hash)];
        while at != u32::MAX {
            let (found, next, inst) = self.constants[at as usize];
            if found == hash && same(inst) {
                return Some(inst);
            }
            at = next;
        }
        None
    }

    fn add_constant(&mut self, hash: u64, inst: Inst) {
        let bucket = self.bucket(hash);
        let at = self.constants.len() as u32;
        self.constants.push((hash, self.constant_heads[bucket], inst));
        self.constant_heads[bucket] = at;
    }
}
