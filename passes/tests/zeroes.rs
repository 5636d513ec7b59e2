//! Workgroup variables start as zeros: what `zero_workgroup` stores, for variables and workgroups of many sizes.

use crate::common;
use gpucc_ir::ssa::{
    Access, Builder, Func, ImageAccess, Imm, MemData, MemSpace, Numerics, Op, Resource,
    ResourceData, ResourceKind, Scalar, Stage, verify,
};
use gpucc_passes::{Ctx, Neutral, Options};
use std::collections::BTreeSet;

/// A program with one variable of so many words, which invocations share where they meet.
fn program(words: u32, size: [u32; 3], meets: bool) -> (Func, Resource) {
    let mut func = Func::new("zeroes", Stage::Compute);
    func.workgroup_size = size;
    let sink = func.resources.push(ResourceData {
        group: 0,
        binding: 0,
        name: "sink".into(),
        kind: ResourceKind::Storage {
            size: 4096,
            stride: 0,
            access: ImageAccess { load: true, store: true, atomic: false },
        },
        count: None,
        scalar: Scalar::U32,
        mixed: false,
    });
    let mem = func.mems.push(MemData {
        name: "variable".into(),
        size: words * 4,
        space: MemSpace::Workgroup,
        words: Vec::new(),
    });
    let mut b = Builder::at_body(&mut func);
    if meets {
        let barrier = Imm::Barrier { storage: false, workgroup: true, texture: false };
        b.inst(Op::Barrier, barrier, &[], &[], &[]);
    }
    let zero = b.u32(0);
    let whole = Access { mem, lo: 0, hi: words * 4 };
    b.mem_load(whole, zero, &[gpucc_ir::ssa::Type::B32]);
    b.end(Op::Yield, &[]);
    (func, sink)
}

/// Makes every store to a variable one to a buffer, whose words can be looked at; the ranges that they may touch.
fn stores_to_buffer(func: &mut Func, sink: Resource) -> Vec<(u32, u32)> {
    let mut ranges = Vec::new();
    for (region, ..) in func.regions_in_order() {
        for inst in func.regions[region].insts.clone() {
            let data = &mut func.insts[inst];
            if let (Op::MemStore, Imm::Mem(access)) = (data.op, data.imm) {
                ranges.push((access.lo, access.hi));
                data.op = Op::BufferStore;
                data.imm = Imm::Resource(sink);
            }
        }
    }
    ranges
}

#[test]
fn every_word_of_a_workgroup_variable_is_zeroed_and_none_beyond() {
    let mut sizes: Vec<u32> = (1..40).collect();
    sizes.extend([63, 64, 65, 66, 100, 127, 128, 200, 255, 257, 1024]);
    for words in sizes {
        for (size, lanes) in [([1, 1, 1], 1), ([4, 1, 1], 4), ([2, 3, 1], 6), ([4, 4, 2], 32)] {
            for meets in [true, false] {
                let what = format!("{words} words, {lanes} invocations, {meets}");
                let (mut func, sink) = program(words, size, meets);
                let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
                assert!(gpucc_passes::zero_workgroup::run(&mut func, &mut ctx));
                verify(&func).unwrap_or_else(|broken| panic!("{what}: {broken}\n{func}"));
                let barriers = format!("{func}").matches("barrier").count();
                // Who never meets has a copy of his own, and nobody waits for a single invocation.
                assert_eq!(barriers, usize::from(meets) + usize::from(meets && lanes > 1));
                assert_eq!(func.mems.values().next().map(|data| data.space), {
                    let space = [MemSpace::Private, MemSpace::Workgroup];
                    Some(space[usize::from(meets)])
                });
                let ranges = stores_to_buffer(&mut func, sink);
                // A store that names its word for itself can become a value; the others may touch the whole.
                for &(low, high) in &ranges {
                    let own = !meets && words <= 64;
                    let right = if own { high == low + 4 } else { (low, high) == (0, words * 4) };
                    assert!(right, "{what}: {low}..{high}");
                }
                let seed = 7;
                let ran = common::run(&func, seed, &Numerics::REFERENCE)
                    .unwrap_or_else(|stop| panic!("{what}: {stop:?}"));
                let written: BTreeSet<u32> = ran.world.written.keys().map(|&(.., at)| at).collect();
                let all: BTreeSet<u32> = (0..words).map(|word| 4 * word).collect();
                assert_eq!(written, all, "{what}");
                assert!(ran.world.written.values().all(|&word| word == 0), "{what}");
            }
        }
    }
}
