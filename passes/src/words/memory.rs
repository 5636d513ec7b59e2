//! Loads and stores. 64 bits are two words, the low one first; an access carries at most four. 16 bits in a
//! buffer are a part of the word around them; in a variable they have a word of their own.

use super::Pass;
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Values that one access carries.
const MOST: usize = 4;

/// The parts of an access whose values have these widths: first value, number of values, first byte. Values that the
/// machine does not hold come alone.
fn parts(types: &[Type], held: impl Fn(Type) -> bool) -> Vec<(usize, usize, u32)> {
    let mut parts: Vec<(usize, usize, u32)> = Vec::new();
    let mut byte = 0;
    for (index, ty) in types.iter().enumerate() {
        match parts.last_mut() {
            Some((first, count, _)) if *count < MOST && held(*ty) && held(types[*first]) => {
                *count += 1;
            }
            _ => parts.push((index, 1, byte)),
        }
        byte += ty.bytes();
    }
    parts
}

/// Operands in front of the address.
fn skipped(func: &Func, data: &InstData) -> usize {
    match data.imm {
        Imm::Resource(resource) => usize::from(func.resources[resource].count.is_some()),
        _ => 0,
    }
}

/// The access of `bytes` bytes that begin `byte` bytes behind the address of another: immediate, and operands up
/// to the address.
fn part(b: &mut Builder, data: &InstData, byte: u32, bytes: u32) -> (Imm, SmallVec<[Value; 4]>) {
    let at = skipped(b.func, data);
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&data.args[..=at]);
    let mut imm = data.imm;
    match b.func.as_const(args[at]) {
        Some(address) => {
            // What nobody bounds may wrap; a variable's accesses stay within it.
            let address = (address as u32).wrapping_add(byte);
            args[at] = b.u32(address);
            if let Imm::Mem(access) = &mut imm {
                (access.lo, access.hi) = (address, address + bytes);
            }
        }
        None if byte > 0 => {
            let byte = b.u32(byte);
            args[at] = b.op2(Op::IAdd, args[at], byte);
        }
        None => {}
    }
    (imm, args)
}

fn bytes(types: &[Type]) -> u32 {
    types.iter().map(|ty| ty.bytes()).sum()
}

/// The access of 16 bits becomes that of their word; gives how far up in the word they stand, in bits.
fn around(b: &mut Builder, args: &mut [Value], imm: &mut Imm) -> Option<Value> {
    if let Imm::Mem(access) = imm {
        access.hi = access.hi.next_multiple_of(4);
        return None;
    }
    let address = args.last_mut().expect("an access has an address");
    if let Some(bytes) = b.func.as_const(*address) {
        *address = b.u32(bytes as u32 & !3);
        return Some(b.u32(8 * (bytes as u32 & 3)));
    }
    let (whole, rest, by) = (b.u32(!3), b.u32(3), b.u32(3));
    let bytes = b.op2(Op::And, *address, rest);
    *address = b.op2(Op::And, *address, whole);
    Some(b.op2(Op::Shl, bytes, by))
}

impl Pass<'_> {
    /// The words that values become, and how they lie.
    fn layout(&self, types: &[Type]) -> Vec<Type> {
        let mut flat = Vec::new();
        for &ty in types {
            match self.count(ty) {
                2 => flat.extend([Type::B32; 2]),
                _ => flat.push(ty),
            }
        }
        flat
    }

    pub(super) fn load(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let types: Vec<Type> = data.results.iter().map(|&v| func.ty(v)).collect();
        let flat = self.layout(&types);
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        let mut words: Vec<Value> = Vec::with_capacity(flat.len());
        for (first, count, byte) in parts(&flat, |ty| self.held(ty)) {
            let types = &flat[first..first + count];
            let (mut imm, mut args) = part(&mut b, &data, byte, bytes(types));
            if self.held(types[0]) {
                let load = b.inst(data.op, imm, &args, &[], types);
                words.extend(&b.func.insts[load].results);
                continue;
            }
            let up = around(&mut b, &mut args, &mut imm);
            let load = b.inst(data.op, imm, &args, &[], &[Type::B32]);
            let (mut word, mask) = (b.result(load), b.u32(0xffff));
            if let Some(up) = up {
                word = b.op2(Op::LShr, word, up);
            }
            words.push(b.op2(Op::And, word, mask));
        }
        let mut words = words.into_iter();
        let mut next = || words.next().expect("as many as were loaded");
        for (&value, ty) in data.results.iter().zip(types) {
            match (self.held(ty), self.count(ty)) {
                (true, _) => self.renames.set(value, next()),
                (false, 1) => self.words[value] = Some([next(); 2]),
                (false, _) => self.words[value] = Some([next(), next()]),
            }
        }
    }

    pub(super) fn store(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let values = &data.args[skipped(func, &data) + 1..];
        let types: Vec<Type> = values.iter().map(|&value| func.ty(value)).collect();
        let (types, values) = (self.layout(&types), self.flat(func, values));
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        for (first, count, byte) in parts(&types, |ty| self.held(ty)) {
            let types = &types[first..first + count];
            let (mut imm, mut args) = part(&mut b, &data, byte, bytes(types));
            if !self.held(types[0]) {
                around(&mut b, &mut args, &mut imm);
            }
            args.extend_from_slice(&values[first..first + count]);
            b.inst(data.op, imm, &args, &[], &[]);
        }
    }
}
