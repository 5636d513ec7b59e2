//! Workgroup variables start as zeros, as WGSL promises: the invocations share the stores, then meet.
//!
//! Where invocations never meet, none may read what another writes: each then has its own copy, a private variable
//! of zeros, and nobody needs to meet for the zeros either. A variable that all of them write as a whole before they
//! meet needs no zeros.

use crate::ctx::Ctx;
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{
    Access, Builder, Builtin, Func, Imm, Input, InputData, InputKind, Inst, Mem, MemSpace,
    Numerics, Op, Scalar, Span, Stage, Type, Value, eval,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Stores that one invocation makes in a row before a loop makes them.
const IN_A_ROW: u32 = 16;
/// The same for a variable of its own, which may become values when its stores are plain.
const PRIVATE_IN_A_ROW: u32 = 64;
/// Numbers that are computed to find which words the invocations write.
const MOST_NUMBERS: usize = 1 << 15;
/// Operations behind one another in the address of such a store.
const DEEPEST: u32 = 24;

/// Puts the stores and a barrier at the top of the body.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if !ctx.options.zero_workgroup || func.stage != Stage::Compute {
        return false;
    }
    let meeting = meeting(func);
    let alone = meeting.is_none() && make_private(func, ctx);
    let lanes = func.workgroup_size.iter().fold(1u32, |all, &size| all.saturating_mul(size)).max(1);
    let written = written_first(func, lanes, &ctx.numerics);
    let mems: Vec<(Mem, u32)> = func
        .mems
        .iter()
        .filter(|(_, data)| data.space == MemSpace::Workgroup && data.size >= 4)
        .filter(|(mem, _)| !written.contains(*mem))
        .map(|(mem, data)| (mem, data.size / 4))
        .collect();
    if mems.is_empty() {
        return alone;
    }
    let input = local_index(func);
    let region = func.new_region();
    let mut b = Builder::at(func, region);
    let lane = b.input(input, 0);
    let zero = b.u32(0);
    for (mem, words) in mems {
        let (full, rest) = (words / lanes, words % lanes);
        if full == 0 {
            // The rest is all there is.
        } else if full <= IN_A_ROW {
            own_words(&mut b, mem, words, lane, full, zero);
        } else {
            rows(&mut b, mem, words, lane, full * lanes, lanes, zero);
        }
        if rest > 0 {
            let rest = b.u32(rest);
            let inside = b.op2(Op::ULt, lane, rest);
            b.if_else(
                inside,
                &[],
                |b| {
                    let lane = b.op2(Op::Index, lane, rest);
                    store(b, mem, words, lane, full * lanes, zero);
                    Vec::new()
                },
                |_| Vec::new(),
            );
        }
    }
    if lanes > 1 {
        let barrier = Imm::Barrier { storage: false, workgroup: true, texture: false };
        // A machine that cannot have it says so where the source meets first.
        b.span = meeting.unwrap_or(Span::NONE);
        b.inst(Op::Barrier, barrier, &[], &[], &[]);
    }
    let insts = std::mem::take(&mut func.regions[region].insts);
    ctx.steps += insts.len() as u64;
    func.regions[func.body].insts.splice(0..0, insts);
    true
}

/// Where invocations of a workgroup first meet, in the order of the text: a barrier, or an atomic of its memory.
fn meeting(func: &Func) -> Option<Span> {
    let regions = func.regions_in_order();
    let mut insts = regions.iter().flat_map(|&(region, ..)| &func.regions[region].insts);
    let meets = |inst: &&Inst| matches!(func.insts[**inst].op, Op::Barrier | Op::MemAtomic);
    insts.find(meets).map(|&inst| func.insts[inst].span)
}

/// Variables whose words the invocations write, all of them, in the body itself before they meet there. What is read before
/// that may be of somebody who has not written yet, so none of it is.
fn written_first(func: &Func, lanes: u32, numerics: &Numerics) -> EntitySet<Mem> {
    let mut read: EntitySet<Mem> = EntitySet::new();
    let mut words: SecondaryMap<Mem, Vec<bool>> = SecondaryMap::new();
    let mut numbers = Numbers { func, lanes, numerics, known: BTreeMap::new(), count: 0 };
    let mut meet = false;
    for &inst in &func.regions[func.body].insts {
        let data = &func.insts[inst];
        match (data.op, data.imm) {
            (Op::Barrier, Imm::Barrier { workgroup: true, .. }) => {
                meet = true;
                break;
            }
            (Op::MemStore, Imm::Mem(access))
                if func.mems[access.mem].space == MemSpace::Workgroup =>
            {
                let words_of = func.mems[access.mem].size as usize / 4;
                numbers.count += lanes as usize;
                if numbers.count > MOST_NUMBERS || words_of > 4 * MOST_NUMBERS {
                    continue;
                }
                let Some(addresses) = numbers.of(data.args[0], DEEPEST) else { continue };
                if data.args[1..].iter().any(|&value| func.ty(value) != Type::B32) {
                    continue;
                }
                let all = &mut words[access.mem];
                all.resize(words_of, false);
                for first in addresses.iter().filter(|at| **at % 4 == 0).map(|at| at / 4) {
                    let stored = all.iter_mut().skip(first as usize).take(data.args.len() - 1);
                    stored.for_each(|word| *word = true);
                }
            }
            _ => read_by(func, inst, &mut read),
        }
    }
    let mut written = EntitySet::new();
    for mem in func.mems.keys().filter(|mem| meet && !read.contains(*mem)) {
        let words = &words[mem];
        if !words.is_empty() && words.iter().all(|word| *word) {
            written.insert(mem);
        }
    }
    written
}

/// Notes the variables that an instruction reads, or one within it.
fn read_by(func: &Func, inst: Inst, read: &mut EntitySet<Mem>) {
    let mut todo = vec![inst];
    while let Some(inst) = todo.pop() {
        let data = &func.insts[inst];
        if let Imm::Mem(access) | Imm::MemAtomic(access, _) = data.imm
            && data.op != Op::MemStore
        {
            read.insert(access.mem);
        }
        todo.extend(data.regions.iter().flat_map(|&region| &func.regions[region].insts));
    }
}

/// Values of the invocations of a workgroup, where these follow from their places in it.
struct Numbers<'a> {
    func: &'a Func,
    lanes: u32,
    numerics: &'a Numerics,
    known: BTreeMap<Value, Option<Rc<[u32]>>>,
    count: usize,
}

impl Numbers<'_> {
    fn of(&mut self, value: Value, depth: u32) -> Option<Rc<[u32]>> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let found = self.computed(value, depth);
        self.known.insert(value, found.clone());
        found
    }

    fn computed(&mut self, value: Value, depth: u32) -> Option<Rc<[u32]>> {
        let func = self.func;
        let depth = depth.checked_sub(1)?;
        self.count += self.lanes as usize;
        if self.count > MOST_NUMBERS || func.ty(value) != Type::B32 {
            return None;
        }
        if let Some(bits) = func.as_const(value) {
            return Some((0..self.lanes).map(|_| bits as u32).collect());
        }
        let data = func.def(value)?;
        if let (Op::Input, Imm::Input(input, component)) = (data.op, data.imm) {
            let [across, down, _] = func.workgroup_size.map(|size| size.max(1));
            let place = |lane: u32| match (func.inputs[input].kind, component) {
                (InputKind::Builtin(Builtin::LocalInvocationIndex), _) => Some(lane),
                (InputKind::Builtin(Builtin::LocalInvocationId), 0) => Some(lane % across),
                (InputKind::Builtin(Builtin::LocalInvocationId), 1) => Some(lane / across % down),
                (InputKind::Builtin(Builtin::LocalInvocationId), 2) => Some(lane / across / down),
                _ => None,
            };
            return (0..self.lanes).map(place).collect();
        }
        let computes = matches!(
            data.op,
            Op::IAdd
                | Op::ISub
                | Op::IMul
                | Op::Shl
                | Op::LShr
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::UDiv
                | Op::URem
                | Op::BitReverse
                | Op::Index
        );
        if !computes {
            return None;
        }
        let args: Option<Vec<_>> = data.args.iter().map(|&arg| self.of(arg, depth)).collect();
        let args = args?;
        let one = |lane: usize| {
            let of_lane: SmallVec<[u64; 2]> = args.iter().map(|arg| arg[lane].into()).collect();
            match (data.op, &of_lane[..]) {
                // What is beyond is somewhere else.
                (Op::Index, &[at, length]) => (at < length).then_some(at as u32),
                (Op::Index, _) => None,
                (op, args) => {
                    let bits = eval(op, Type::B32, Type::B32, args, self.numerics);
                    bits.map(|bits| bits as u32)
                }
            }
        };
        (0..self.lanes as usize).map(one).collect()
    }
}

/// Workgroup variables of a function without barriers and atomics become private ones; true when there were any.
///
/// A word that two invocations touch, one of them writing, is a race without a barrier between them, so every
/// invocation reads the word's zero or what it wrote itself.
fn make_private(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut own = Vec::new();
    for (mem, data) in func.mems.iter_mut() {
        if data.space == MemSpace::Workgroup {
            data.space = MemSpace::Private;
            own.push((mem, data.size / 4));
        }
    }
    let region = func.new_region();
    let mut b = Builder::at(func, region);
    for &(mem, words) in own.iter().filter(|&&(_, words)| words > 0) {
        let zero = b.u32(0);
        if words <= PRIVATE_IN_A_ROW {
            for lo in (0..words * 4).step_by(4) {
                let address = b.u32(lo);
                let hi = lo + 4;
                b.mem_store(Access { mem, lo, hi }, address, &[zero]);
            }
        } else {
            let first = b.u32(0);
            rows(&mut b, mem, words, first, words, 1, zero);
        }
    }
    let insts = std::mem::take(&mut func.regions[region].insts);
    ctx.steps += insts.len() as u64;
    func.regions[func.body].insts.splice(0..0, insts);
    !own.is_empty()
}

fn local_index(func: &mut Func) -> Input {
    let kind = InputKind::Builtin(Builtin::LocalInvocationIndex);
    let found = func.inputs.iter().find(|(_, data)| data.kind == kind).map(|(input, _)| input);
    found.unwrap_or_else(|| {
        func.inputs.push(InputData {
            kind,
            components: 1,
            scalar: Scalar::U32,
            name: "local_invocation_index".into(),
        })
    })
}

/// Stores zeros at words `lane * count` to `lane * count + count - 1`: the part of an array that the invocation writes
/// in most shaders, in pieces as large as stores are.
fn own_words(b: &mut Builder, mem: Mem, words: u32, lane: Value, count: u32, zero: Value) {
    let piece = [4, 2, 1].into_iter().find(|piece| count.is_multiple_of(*piece));
    let piece = piece.unwrap_or(1);
    let access = Access { mem, lo: 0, hi: words * 4 };
    let stride = b.u32(count * 4);
    let start = b.op2(Op::IMul, lane, stride);
    for first in (0..count).step_by(piece as usize) {
        let offset = b.u32(first * 4);
        let address = b.op2(Op::IAdd, start, offset);
        b.mem_store(access, address, &vec![zero; piece as usize]);
    }
}

/// Stores a zero at word `lane + first`.
fn store(b: &mut Builder, mem: Mem, words: u32, lane: Value, first: u32, zero: Value) {
    let first = b.u32(first);
    let word = b.op2(Op::IAdd, lane, first);
    store_at(b, mem, words, word, zero);
}

fn store_at(b: &mut Builder, mem: Mem, words: u32, word: Value, zero: Value) {
    let two = b.u32(2);
    let address = b.op2(Op::Shl, word, two);
    b.mem_store(Access { mem, lo: 0, hi: words * 4 }, address, &[zero]);
}

/// A loop over rows of `lanes` words, up to word `end`.
fn rows(b: &mut Builder, mem: Mem, words: u32, lane: Value, end: u32, lanes: u32, zero: Value) {
    b.loop_(
        &[lane],
        &[Type::B32],
        &[],
        |b, params| {
            let length = b.u32(end);
            let word = b.op2(Op::Index, params[0], length);
            store_at(b, mem, words, word, zero);
            let lanes = b.u32(lanes);
            let next = b.op2(Op::IAdd, params[0], lanes);
            b.end(Op::Continue, &[next]);
        },
        |b, params| {
            let end = b.u32(end);
            let done = b.op2(Op::ULe, end, params[0]);
            b.end(Op::BreakIf, &[done, params[0]]);
        },
    );
}
