//! Types and insertions of SPIR-V, in the words that naga is about to read.

use super::{MOST_BYTES, MOST_COPIES, Size, bound};
use crate::stop::Stop;
use gpucc_ir::Map;

const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_STRUCT: u32 = 30;
const OP_CONSTANT: u32 = 43;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_COMPOSITE_INSERT: u32 = 82;

/// A type that has parts.
enum Type {
    /// Elements of one type.
    Elements { of: u32, count: u64 },
    /// Members.
    Members(Vec<u32>),
}

#[derive(Default)]
struct Scan {
    types: Map<u32, Type>,
    /// Sizes; leaves are words here.
    sizes: Map<u32, Size>,
    constants: Map<u32, u64>,
}

/// Bounds sizes of types, and the components that insertions name; refuses vectors that Vulkan does not have.
pub fn check(bytes: &[u8]) -> Result<(), Stop> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut scan = Scan::default();
    let mut inserted = 0u64;
    let mut at = 5;
    while at < words.len() {
        let length = ((words[at] >> 16) as usize).max(1);
        let inst = &words[at..words.len().min(at + length)];
        let byte = 4 * at as u32;
        at += length;
        let (needed, members) = scan.inst(inst);
        let hint = "declare a shorter array";
        bound("bytes of one type", needed, MOST_BYTES, hint, byte)?;
        super::members(members, byte)?;
        if inst[0] & 0xffff == OP_COMPOSITE_INSERT {
            inserted = inserted.saturating_add(scan.components(inst));
            let what = "components of values that elements are inserted into";
            let hint = "store to elements of a variable instead";
            bound(what, inserted, MOST_COPIES, hint, byte)?;
        }
    }
    Ok(())
}

impl Scan {
    /// Notes what an instruction declares; gives the bytes and members of a type.
    fn inst(&mut self, inst: &[u32]) -> (u64, u64) {
        let operand = |index: usize| inst.get(index).copied().unwrap_or(0);
        let id = operand(1);
        let words = |bits: u32| Size { leaves: u64::from(bits.div_ceil(32).max(1)), ..Size::ONE };
        let (size, ty) = match inst[0] & 0xffff {
            OP_CONSTANT | OP_SPEC_CONSTANT => {
                let high = u64::from(operand(4)) << 32;
                self.constants.insert(operand(2), high | u64::from(operand(3)));
                return (0, 0);
            }
            OP_TYPE_INT | OP_TYPE_FLOAT => (words(operand(2)), None),
            OP_TYPE_VECTOR | OP_TYPE_MATRIX => {
                let count = u64::from(operand(3));
                let of = operand(2);
                (self.size(of).times(Some(count)), Some(Type::Elements { of, count }))
            }
            OP_TYPE_ARRAY => {
                let count = self.constants.get(&operand(3)).copied().unwrap_or(1);
                let of = operand(2);
                (self.size(of).times(Some(count)), Some(Type::Elements { of, count }))
            }
            OP_TYPE_RUNTIME_ARRAY => {
                let of = operand(2);
                (self.size(of), Some(Type::Elements { of, count: 1 }))
            }
            OP_TYPE_STRUCT => {
                let members: Vec<u32> = inst[2.min(inst.len())..].to_vec();
                let size = members.iter().fold(Size::NONE, |size, &of| size.and(self.size(of)));
                (size, Some(Type::Members(members)))
            }
            _ => return (0, 0),
        };
        self.sizes.insert(id, size);
        if let Some(ty) = ty {
            self.types.insert(id, ty);
        }
        (size.leaves.saturating_mul(4), size.members)
    }

    fn size(&self, id: u32) -> Size {
        self.sizes.get(&id).copied().unwrap_or(Size::ONE)
    }

    /// Components of every composite on the way to what an insertion replaces.
    fn components(&self, inst: &[u32]) -> u64 {
        let mut total = 0u64;
        let mut ty = inst.get(1).copied().unwrap_or(0);
        for &index in inst.get(5..).unwrap_or_default() {
            let (count, next) = match self.types.get(&ty) {
                Some(Type::Elements { of, count }) => (*count, Some(*of)),
                Some(Type::Members(members)) => {
                    (members.len() as u64, members.get(index as usize).copied())
                }
                None => break,
            };
            total = total.saturating_add(count);
            let Some(next) = next else { break };
            ty = next;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &[&[u32]]) -> u8 {
        let mut words = vec![0x0723_0203, 0x0001_0000, 0, 100, 0];
        for inst in body {
            words.push((inst.len() as u32) << 16 | inst[0]);
            words.extend_from_slice(&inst[1..]);
        }
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let stopped = check(&bytes).err();
        stopped.map_or(0, |stop| stop.exit_code())
    }

    const UINT: &[u32] = &[OP_TYPE_INT, 1, 32, 0];

    #[test]
    fn insertions_count_the_components_beside_the_one() {
        let module = |length: u32, times: usize| {
            let length = [OP_CONSTANT, 1, 2, length];
            let insert: &[u32] = &[OP_COMPOSITE_INSERT, 3, 9, 8, 7, 1];
            let mut all: Vec<&[u32]> = vec![UINT, &length, &[OP_TYPE_ARRAY, 3, 1, 2]];
            all.extend(std::iter::repeat_n(insert, times));
            code(&all)
        };
        assert_eq!(module(1000, 10), 0);
        assert_eq!(module(1000, 10_000), 4);
        assert_eq!(module(1_000_000, 1), 4);
        assert_eq!(module(u32::MAX, 0), 4);
    }

    #[test]
    fn structures_that_double_are_refused() {
        let chain = |n: u32| {
            let insts: Vec<[u32; 4]> =
                (0..n).map(|k| [OP_TYPE_STRUCT, k + 2, k + 1, k + 1]).collect();
            let mut all: Vec<&[u32]> = vec![UINT];
            all.extend(insts.iter().map(|inst| &inst[..]));
            code(&all)
        };
        assert_eq!(chain(10), 0);
        assert_eq!(chain(30), 4);
    }

    #[test]
    fn cut_off_instructions_are_no_panic() {
        for inst in [OP_TYPE_ARRAY, OP_TYPE_STRUCT, OP_COMPOSITE_INSERT, OP_CONSTANT, OP_TYPE_INT] {
            assert_eq!(code(&[&[inst]]), 0);
            assert_eq!(code(&[&[inst, 1]]), 0);
        }
    }
}
