//! Loads and stores of 64 bits: two words, the low one first. An access carries at most four values.

use super::Pass;
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Values that one access carries.
const MOST: usize = 4;

/// The parts of an access whose values have these widths: first value, number of values, first byte.
fn parts(types: &[Type]) -> Vec<(usize, usize, u32)> {
    let mut parts: Vec<(usize, usize, u32)> = Vec::new();
    let mut byte = 0;
    for (index, ty) in types.iter().enumerate() {
        match parts.last_mut() {
            Some((_, count, _)) if *count < MOST => *count += 1,
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
            let address = address as u32 + byte;
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

impl Pass<'_> {
    pub(super) fn load(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let types: Vec<Type> = data.results.iter().map(|&v| func.ty(v)).collect();
        let flat: Vec<Type> = types
            .iter()
            .flat_map(|&ty| match ty {
                Type::B64 => vec![Type::B32; 2],
                Type::B1 | Type::B16 | Type::B32 => vec![ty],
            })
            .collect();
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        let mut words: Vec<Value> = Vec::with_capacity(flat.len());
        for (first, count, byte) in parts(&flat) {
            let types = &flat[first..first + count];
            let (imm, args) = part(&mut b, &data, byte, bytes(types));
            let load = b.inst(data.op, imm, &args, &[], types);
            words.extend(&b.func.insts[load].results);
        }
        let mut words = words.into_iter();
        let mut next = || words.next().expect("as many as were loaded");
        for (&value, ty) in data.results.iter().zip(types) {
            match ty {
                Type::B64 => self.pairs[value] = Some([next(), next()]),
                Type::B1 | Type::B16 | Type::B32 => self.renames.set(value, next()),
            }
        }
    }

    pub(super) fn store(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = func.insts[inst].clone();
        let values = &data.args[skipped(func, &data) + 1..];
        let values = self.flat(func, values);
        let types: Vec<Type> = values.iter().map(|&value| func.ty(value)).collect();
        let mut b = Builder::at(func, region);
        (b.span, b.bundle) = (data.span, data.bundle);
        for (first, count, byte) in parts(&types) {
            let (imm, mut args) = part(&mut b, &data, byte, bytes(&types[first..first + count]));
            args.extend_from_slice(&values[first..first + count]);
            b.inst(data.op, imm, &args, &[], &[]);
        }
    }
}
