//! Invariant 15: which addresses are proved in range, and which are not.

use super::bounds::Facts;
use super::verify;
use crate::ssa::random::{Config, program};
use crate::ssa::{Bounds, Func, Inst, Op, ValueDef, parse};

const HEAD: &str = r#"func "main" compute workgroup 8 1 1 {
  res0 = "words" group 0 binding 0 storage 0 stride 4 load store atomic as u32
  res1 = "tail" group 0 binding 1 storage 20 stride 16 load store as u32
  res2 = "fixed" group 0 binding 2 storage 64 load store as u32
  res3 = "uniforms" group 0 binding 3 uniform 32 as u32
  res4 = "several" group 0 binding 4 storage 0 stride 4 load count 3 as u32
  res5 = "textures" group 0 binding 5 texture d2 float count 2 as f32
  in0 = "i" u32 x 3 builtin global_invocation_id
  in1 = "l" u32 x 1 builtin local_invocation_index
  mem0 = "m" private 64
} body {
  %0: b32 = input in0.0
  %1: b32 = input in1.0
  %2: b32 = const 2
  %3: b32 = const 16
  %4: b32 = const 0
  %5: b32 = const 4
"#;

/// The invariant that a body breaks.
fn breaks(body: &str) -> Option<u8> {
    let text = format!("{HEAD}{body}\n  yield\n}}\n");
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let func = &mut module.funcs[0];
    let broken = verify(func).err().map(|broken| broken.invariant);
    func.bounds = Bounds::Trusted;
    assert_eq!(verify(func), Ok(()), "nothing else is wrong with\n{text}");
    broken
}

#[track_caller]
fn good(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(breaks(body), None, "{body}");
    }
}

#[track_caller]
fn bad(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(breaks(body), Some(15), "{body}");
    }
}

/// The number of words that `res0` holds is `%9`.
const LENGTH: &str = "%8: b32 = buffer_size res0  %9: b32 = lshr %8, %2 ";

#[test]
fn a_runtime_array_is_reached_through_its_length_alone() {
    let with = |rest: &str| format!("{LENGTH}{rest}");
    good(&[
        &with("%10: b32 = index %0, %9 %11: b32 = shl %10, %2 buffer_store res0, %11, %0"),
        &with("%10: b32 = index %3, %9 %11: b32 = imul %10, %5 buffer_atomic add res0, %11, %0"),
        // A smaller scale stays below the same end.
        &with("%10: b32 = index %0, %9 %11: b32 = imul %10, %2 buffer_store res0, %11, %0"),
    ]);
    bad(&[
        // Constants, and anything without a length.
        "buffer_store res0, %4, %0",
        "buffer_store res0, %0, %0",
        "%10: b32 = index %0, %3 %11: b32 = shl %10, %2 buffer_store res0, %11, %0",
        // A step too far, a word too many, too large a scale, another buffer.
        &with(
            "%10: b32 = index %0, %9 %11: b32 = shl %10, %2 %12: b32 = iadd %11, %5 buffer_store res0, %12, %0",
        ),
        &with("%10: b32 = index %0, %9 %11: b32 = shl %10, %2 buffer_store res0, %11, %0, %0"),
        &with("%10: b32 = index %0, %9 %11: b32 = imul %10, %3 buffer_store res0, %11, %0"),
        &with("%10: b32 = index %0, %9 %11: b32 = shl %10, %2 buffer_store res1, %11, %0"),
        // A length that is no length, and an index that two lengths bound at once.
        &with(
            "%10: b32 = iadd %9, %5 %11: b32 = index %0, %10 %12: b32 = shl %11, %2 buffer_store res0, %12, %0",
        ),
        &with("%10: b32 = index %0, %9 %11: b32 = iadd %10, %10 buffer_store res0, %11, %0"),
    ]);
}

#[test]
fn the_bytes_before_a_runtime_array_are_there_and_elements_begin_behind_them() {
    let tail = "%8: b32 = buffer_size res1 %9: b32 = const 20 %10: b32 = umax %8, %9 %11: b32 = isub %10, %9 \
                %12: b32 = udiv %11, %3 %13: b32 = index %0, %12 %14: b32 = imul %13, %3 ";
    good(&[
        "buffer_store res1, %4, %0, %0, %0, %0",
        "%8: b32 = buffer_load res1, %3",
        &format!("{tail} %15: b32 = iadd %14, %9 buffer_store res1, %15, %0, %0, %0, %0"),
        &format!("{tail} %15: b32 = const 32 %16: b32 = iadd %14, %15 buffer_store res1, %16, %0"),
    ]);
    bad(&[
        "buffer_store res1, %3, %0, %0",
        &format!("{tail} %15: b32 = const 36 %16: b32 = iadd %14, %15 buffer_store res1, %16, %0"),
        // An array that begins where no buffer reaches.
        "%8: b32 = buffer_size res1 %9: b32 = const 0xffffffff %10: b32 = umax %8, %9 %11: b32 = isub %10, %9 \
         %12: b32 = index %0, %11 %13: b32 = iadd %12, %9 %14: b32 = buffer_load res1, %13",
        // The size may be below the offset, and the difference wrap.
        "%8: b32 = buffer_size res1 %9: b32 = const 20 %11: b32 = isub %8, %9 %12: b32 = udiv %11, %3 \
         %13: b32 = index %0, %12 %14: b32 = imul %13, %3 %15: b32 = iadd %14, %9 buffer_store res1, %15, %0",
    ]);
}

#[test]
fn what_has_a_fixed_size_takes_constants_and_indices_below_constants() {
    good(&[
        "%8: b32 = const 60 buffer_store res2, %8, %0",
        "%8: b32 = index %0, %3 %9: b32 = shl %8, %2 buffer_store res2, %9, %0",
        "%8: b32 = const 28 %9: b32 = buffer_load res3, %8",
        "%8: b32 = imul %1, %5 mem_store mem0[0..64], %8, %0",
        "%8: b32 = const 60 %9: b32 = and %0, %8 mem_store mem0[0..64], %9, %0",
        "%8: b32 = index %0, %5 %9: b32 = shl %8, %5 mem_store mem0[0..64], %9, %0, %0, %0, %0",
        // The word around a byte.
        "%8: b32 = const 64 %9: b32 = index %0, %8 %10: b32 = const 0xfffffffc %11: b32 = and %9, %10 \
         buffer_store res2, %11, %0",
    ]);
    bad(&[
        "%8: b32 = const 64 buffer_store res2, %8, %0",
        "%8: b32 = const 60 buffer_store res2, %8, %0, %0",
        "buffer_store res2, %0, %0",
        "%8: b32 = const 17 %9: b32 = index %0, %8 %10: b32 = shl %9, %2 buffer_store res2, %10, %0",
        "%8: b32 = const 32 %9: b32 = buffer_load res3, %8",
        "mem_store mem0[0..64], %0, %0",
        "mem_store mem0[0..2], %4, %0",
        "%8: b32 = index %0, %3 %9: b32 = shl %8, %2 mem_store mem0[4..64], %9, %0",
        // Rounded down to words, and two bits too low.
        "%8: b32 = const 65 %9: b32 = index %0, %8 %10: b32 = const 0xfffffffc %11: b32 = and %9, %10 \
         buffer_store res2, %11, %0",
        "%8: b32 = const 64 %9: b32 = index %0, %8 %10: b32 = const 0xffffffff %11: b32 = and %9, %10 \
         buffer_store res2, %11, %0",
        // A product that wraps proves nothing.
        "%8: b32 = const 0x40000001 %9: b32 = index %0, %3 %10: b32 = imul %9, %8 buffer_store res2, %10, %0",
    ]);
}

#[test]
fn the_element_of_an_array_of_bindings_is_below_its_length() {
    let load = |element: &str| {
        format!(
            "%7: b32 = const 3 %8: b32 = index %0, %7 %9: b32 = buffer_size res4, {element} %10: b32 = lshr %9, %2 \
             %11: b32 = index %0, %10 %12: b32 = shl %11, %2 %13: b32 = buffer_load res4, {element}, %12"
        )
    };
    let texel = |element: &str| {
        format!(
            "%8: b32 = index %0, %2 %10: b32, %11: b32, %12: b32, %13: b32 = tex load res5, {element}, %4, %4, %4"
        )
    };
    good(&[&load("%8"), &load("%2"), &texel("%8"), &texel("%4")]);
    bad(&[&load("%0"), &load("%7"), &texel("%0"), &texel("%2")]);
    // The size of one element says nothing of another.
    bad(&["%7: b32 = const 1 %9: b32 = buffer_size res4, %2 %10: b32 = lshr %9, %2 \
         %11: b32 = index %0, %10 %12: b32 = shl %11, %2 %13: b32 = buffer_load res4, %7, %12"]);
}

/// The accesses whose address is an index times a constant, by that index.
fn indexed(func: &Func) -> Vec<Inst> {
    let insts = func.regions_in_order().into_iter();
    let insts = insts.flat_map(|(region, ..)| func.regions[region].insts.clone());
    let index_of = |inst: Inst| {
        let data = &func.insts[inst];
        let address = match data.op {
            Op::BufferLoad | Op::BufferStore | Op::MemLoad | Op::MemStore => data.args[0],
            _ => return None,
        };
        let scaled = func.def(address).filter(|data| data.op == Op::IMul)?;
        match func.values[scaled.args[0]].def {
            ValueDef::Result(index, _) if func.insts[index].op == Op::Index => Some(index),
            _ => None,
        }
    };
    insts.filter_map(index_of).collect()
}

#[test]
fn an_index_times_zero_reaches_byte_0_and_no_further() {
    let zero = format!("{LENGTH}%10: b32 = index %0, %9 %11: b32 = imul %10, %4");
    bad(&[&format!("{zero} buffer_store res0, %11, %0")]);
    good(&[&format!("{zero} buffer_store res2, %11, %0")]);
}

#[test]
fn an_index_times_minus_one_is_no_address() {
    let last = "%6: b32 = const 0xffffffff %8: b32 = buffer_size res0 %9: b32 = udiv %8, %6 %10: b32 = index %0, %9";
    bad(&[&format!("{last} %11: b32 = imul %10, %6 buffer_store res0, %11, %0")]);
}

#[test]
fn an_address_that_loses_its_index_is_broken() {
    let mut lost = 0;
    for seed in 0..200 {
        let func = program(seed, &Config::COMPUTE);
        let facts = Facts::new(&func);
        for index in indexed(&func) {
            let data = &func.insts[index];
            let (result, bare) = (data.results[0], data.args[0]);
            if facts.most(bare).is_some() {
                continue;
            }
            let mut without = func.clone();
            for data in without.insts.values_mut() {
                for arg in data.args.iter_mut().filter(|arg| **arg == result) {
                    *arg = bare;
                }
            }
            let broken = verify(&without).err().map(|broken| broken.invariant);
            assert_eq!(broken, Some(15), "seed {seed}");
            lost += 1;
        }
    }
    assert!(lost > 500, "{lost} indices");
}
