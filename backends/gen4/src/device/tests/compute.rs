//! Workgroups as threads: steps of eight invocations, groups that are no multiple of eight, barriers, loops, and buffers.

use super::MEMBERS;
use crate::machine::Member;
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Resource, parse};
use gpucc_machine::{Machine, Request};

/// What nobody has written.
const OLD: u32 = 0xdead_0000;

/// Runs the body with invocations of this workgroup, and gives the words of the buffer `res0` behind it. `%0` is four times
/// the invocation's number in the group, `%1` that number, `%2` is 2.
fn run(member: &Member, size: [u32; 3], groups: [u32; 3], words: usize, body: &str) -> Vec<u32> {
    let [x, y, z] = size;
    let text = format!(
        "func \"main\" compute workgroup {x} {y} {z} {{
          res0 = \"words\" group 0 binding 0 storage 0 stride 4 load store as u32
          in0 = \"own\" u32 x 1 builtin local_invocation_index
          in1 = \"id\" u32 x 3 builtin global_invocation_id
          in2 = \"place\" u32 x 3 builtin local_invocation_id
          in3 = \"group\" u32 x 3 builtin workgroup_id
          in4 = \"count\" u32 x 3 builtin num_workgroups
          mem0 = \"shared\" workgroup 256
          mem1 = \"kept\" private 16
        }} body {{
          %1: b32 = input in0.0
          %2: b32 = const 2
          %0: b32 = shl %1, %2
          {body}
        }}"
    );
    let func = parse(&text).expect("text of the IR").funcs.remove(0);
    let request = Request { chip: member.about().chips[0], ..Request::default() };
    let mut bindings = Bindings::new(&func);
    let buffer = Resource::from_u32(0);
    let bytes = vec![OLD; words].into_iter().flat_map(u32::to_le_bytes).collect();
    bindings.set(buffer, Bound::Buffer(bytes));
    let compiled = member.finish(func, &request).expect("it compiles");
    let mut device = member.device(&compiled, request.chip);
    device.dispatch(&mut bindings, groups).expect("it runs");
    let words = bindings.get(buffer, 0).bytes().chunks_exact(4);
    words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// 20 invocations are two steps and a half: the four lanes beyond write nothing.
#[test]
fn lanes_beyond_the_group_do_nothing() {
    for member in MEMBERS {
        let body = "%3: b32 = input in1.0
          %4: b32 = shl %3, %2
          buffer_store res0, %4, %3
          yield";
        let found = run(member, [20, 1, 1], [2, 1, 1], 48, body);
        let expected: Vec<u32> = (0..48).map(|at| if at < 40 { at } else { OLD }).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

#[test]
fn numbers_of_invocations_and_groups_are_by_axis() {
    for member in MEMBERS {
        let body = "%3: b32 = input in2.0
          %4: b32 = input in2.1
          %5: b32 = input in2.2
          %6: b32 = input in3.1
          %7: b32 = input in4.1
          %8: b32 = const 8
          %9: b32 = shl %3, %8
          %10: b32 = or %9, %4
          %11: b32 = shl %10, %8
          %12: b32 = or %11, %5
          %13: b32 = const 120
          %14: b32 = imul %6, %13
          %15: b32 = iadd %14, %0
          %16: b32 = const 28
          %17: b32 = shl %7, %16
          %18: b32 = or %17, %12
          buffer_store res0, %15, %18
          yield";
        let found = run(member, [3, 5, 2], [1, 2, 1], 60, body);
        let expected: Vec<u32> = (0..60u32)
            .map(|at| {
                let own = at % 30;
                2 << 28 | (own % 3) << 16 | (own / 3 % 5) << 8 | (own / 15)
            })
            .collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// What is alive across the barrier, `%3`, is of each invocation, and what the others wrote is there behind it.
#[test]
fn invocations_of_all_steps_meet_at_a_barrier() {
    for member in MEMBERS {
        let body = "%3: b32 = imul %1, %1
          mem_store mem0[0..256], %0, %3
          barrier workgroup
          %4: b32 = const 76
          %5: b32 = isub %4, %0
          %6: b32 = mem_load mem0[0..256], %5
          %7: b32 = const 16
          %8: b32 = shl %6, %7
          %9: b32 = or %8, %3
          buffer_store res0, %0, %9
          yield";
        let found = run(member, [20, 1, 1], [1, 1, 1], 20, body);
        let expected: Vec<u32> =
            (0..20u32).map(|own| (19 - own).pow(2) << 16 | own.pow(2)).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// `%5` is the last byte of `%4`, and `%6` has what a shift left of `%1`. Neither `%4` nor `%1` is read behind the barrier, so
/// that nothing may be read out of them there.
#[test]
fn what_a_shift_made_before_a_barrier_is_read_behind_it() {
    for member in MEMBERS {
        let body = "%3: b32 = const 0x01030507
          %4: b32 = imul %1, %3
          %7: b32 = const 24
          %5: b32 = lshr %4, %7
          %8: b32 = const 28
          %6: b32 = shl %1, %8
          barrier workgroup
          %9: b32 = s2f %5
          %10: b32 = f2u %9
          %11: b32 = lshr %6, %8
          %12: b32 = shl %11, %8
          %13: b32 = or %10, %12
          buffer_store res0, %0, %13
          yield";
        let found = run(member, [20, 1, 1], [1, 1, 1], 20, body);
        let expected: Vec<u32> =
            (0..20u32).map(|own| (own * 0x0103_0507) >> 24 | own << 28).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// The barrier is reached by no invocation, and the condition around it differs: each takes its own way. `%7` is not known to
/// be the same for the group, and the first invocation is no judge of it.
#[test]
fn a_barrier_that_nobody_reaches_is_no_meeting() {
    for member in MEMBERS {
        let body = "%3: b32 = const 1
          %4: b32 = and %1, %3
          %5: b32 = const 0
          %6: b1 = ieq %4, %5
          %20: b32 = const 100
          %21: b32 = if %6 {
            %8: b32 = iadd %1, %20
            yield %8
          } else {
            %7: b1 = ult %1, %3
            %9: b32 = if %7 {
              mem_store mem0[0..256], %0, %1
              barrier workgroup
              %10: b32 = mem_load mem0[0..256], %5
              yield %10
            } else {
              %11: b32 = isub %1, %3
              yield %11
            }
            %12: b32 = iadd %9, %3
            yield %12
          }
          buffer_store res0, %0, %21
          yield";
        let found = run(member, [20, 1, 1], [1, 1, 1], 20, body);
        let expected: Vec<u32> =
            (0..20u32).map(|own| if own % 2 == 0 { own + 100 } else { own }).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// Invocations leave a loop with a barrier one after the other, the first one at once; the barrier is reached on the
/// trip in which all are there alone. What they carry stays theirs.
#[test]
fn invocations_leave_a_loop_around_a_barrier_alone() {
    for member in MEMBERS {
        let body = "%3: b32 = const 0
          %4: b32 = const 1
          %5: b32 = const 3
          %6: b32 = urem %1, %5
          %7: b32, %8: b32 = loop %3, %1 body (%9: b32, %10: b32) {
            %11: b1 = ieq %9, %3
            if %11 {
              mem_store mem0[0..256], %0, %1
              barrier workgroup
              yield
            } else { yield }
            %12: b32 = const 76
            %13: b32 = isub %12, %0
            %14: b32 = mem_load mem0[0..256], %13
            %15: b32 = iadd %10, %14
            %16: b1 = ieq %9, %6
            if %16 { break %9, %15 } else { yield }
            %17: b32 = iadd %9, %4
            continue %17, %15
          } continuing (%18: b32, %19: b32) {
            next %18, %19
          }
          %22: b32 = const 16
          %23: b32 = shl %7, %22
          %24: b32 = or %23, %8
          buffer_store res0, %0, %24
          yield";
        let found = run(member, [20, 1, 1], [1, 1, 1], 20, body);
        let expected: Vec<u32> =
            (0..20u32).map(|own| (own % 3) << 16 | (own + (own % 3 + 1) * (19 - own))).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// A subgroup is a step of 16 lanes. Lanes that are in another arm have no bit in a ballot, and are read as 0; the number of a lane
/// may be any.
#[test]
fn lanes_of_a_step_exchange_what_they_have() {
    for member in MEMBERS {
        let body = "%3: b32 = const 0
          %4: b32 = const 3
          %5: b32 = const 7
          %6: b32 = and %1, %4
          %7: b1 = ine %6, %3
          %20: b32 = if %7 {
            %8: b32, %9: b32, %10: b32, %11: b32 = ballot %7
            %12: b32 = imul %1, %5
            %13: b32 = shuffle or_zero, %12, %12
            %14: b32 = const 16
            %15: b32 = shl %13, %14
            %16: b32 = xor %15, %8
            yield %16
          } else {
            %17: b32 = shuffle or_zero, %1, %4
            %18: b32 = shuffle first, %1
            %19: b32 = xor %17, %18
            yield %19
          }
          %21: b32 = const 1
          %22: b32 = shuffle xor, %20, %21
          buffer_store res0, %0, %22
          yield";
        let found = run(member, [36, 1, 1], [1, 1, 1], 36, body);
        let own = |lane: u32| {
            let first = lane / 16 * 16;
            let present = |other: u32| !other.is_multiple_of(4) && first + other < 36;
            if lane.is_multiple_of(4) {
                return first;
            }
            let bits = (0..16).filter(|&lane| present(lane)).fold(0, |bits, lane| bits | 1 << lane);
            let from = lane * 7 % 16;
            let read = if present(from) { (first + from) * 7 } else { 0 };
            read << 16 ^ bits
        };
        let expected: Vec<u32> = (0..36u32).map(|lane| own(lane ^ 1)).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// Lanes leave a loop one after the other; a private array is of one invocation.
#[test]
fn lanes_of_a_step_leave_a_loop_alone() {
    for member in MEMBERS {
        let body = "%3: b32 = const 0
          %4: b32 = const 1
          %5: b32 = const 8
          mem_store mem1[0..16], %5, %1
          %6: b32 = loop %3, %3 body (%7: b32, %8: b32) {
            %9: b1 = ieq %7, %1
            if %9 { break %8 } else { yield }
            %10: b32 = iadd %8, %7
            %11: b32 = iadd %7, %4
            continue %11, %10
          } continuing (%12: b32, %17: b32) {
            next %12, %17
          }
          %13: b32 = mem_load mem1[0..16], %5
          %14: b32 = const 16
          %15: b32 = shl %13, %14
          %16: b32 = or %15, %6
          buffer_store res0, %0, %16
          yield";
        let found = run(member, [12, 1, 1], [1, 1, 1], 12, body);
        let expected: Vec<u32> =
            (0..12u32).map(|own| own << 16 | (own * own.saturating_sub(1) / 2)).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// A read behind a write of one buffer finds what was written.
#[test]
fn a_read_follows_the_write_before_it() {
    for member in MEMBERS {
        let body = "%3: b32 = const 5
          buffer_store res0, %0, %3
          %4: b32 = buffer_load res0, %0
          %5: b32 = iadd %4, %1
          buffer_store res0, %0, %5
          yield";
        let found = run(member, [16, 1, 1], [1, 1, 1], 17, body);
        let expected: Vec<u32> = (5..21).chain([OLD]).collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// MUL of doublewords takes 16 bits of one factor (G45 vol. 4, 14.2.32): all 32 count, and so do the upper halves.
#[test]
fn products_have_all_their_bits() {
    let factors = [0u32, 1, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678];
    for member in MEMBERS {
        let mut body = String::from("%3: b32 = const 0\n");
        let mut last = 3;
        // Each lane picks its factor.
        for (lane, factor) in factors.iter().enumerate() {
            let (number, own, is, chosen) =
                (4 + 4 * lane, 5 + 4 * lane, 6 + 4 * lane, 7 + 4 * lane);
            body += &format!(
                "%{number}: b32 = const {factor:#x}
                 %{own}: b32 = const {lane}
                 %{is}: b1 = ieq %1, %{own}
                 %{chosen}: b32 = select %{is}, %{number}, %{last}\n"
            );
            last = chosen;
        }
        let other = 0xfedc_ba98u32;
        body += &format!(
            "%100: b32 = const {other:#x}
             %101: b32 = imul %{last}, %100
             %102: b32 = umulhi %{last}, %100
             %103: b32 = smulhi %{last}, %100
             %104: b32 = const 12
             %105: b32 = imul %1, %104
             buffer_store res0, %105, %101, %102, %103
             yield"
        );
        let found = run(member, [8, 1, 1], [1, 1, 1], 24, &body);
        let expected: Vec<u32> = factors
            .iter()
            .flat_map(|&factor| {
                let wide = u64::from(factor) * u64::from(other);
                let signed = i64::from(factor as i32) * i64::from(other as i32);
                [wide as u32, (wide >> 32) as u32, (signed >> 32) as u32]
            })
            .collect();
        assert_eq!(found, expected, "{}", member.about().name);
    }
}

/// Where lanes take both arms of a condition, the second one writes the register to which a reply of the first is under way.
/// The stores keep the condition from becoming a selection.
#[test]
fn a_reply_of_one_arm_arrives_before_one_of_the_other() {
    for member in MEMBERS {
        let body = "%3: b32 = const 3
          %4: b32 = const 1
          %5: b32 = iadd %1, %4
          %6: b32 = u2f %5
          %7: b1 = ult %1, %3
          %8: b32 = if %7 {
            buffer_store res0, %0, %5
            %9: b32 = frcp %6
            yield %9
          } else {
            %10: b32 = fsqrt %6
            buffer_store res0, %0, %10
            yield %10
          }
          buffer_store res0, %0, %8
          yield";
        let found = run(member, [16, 1, 1], [1, 1, 1], 16, body);
        for (lane, bits) in (0u32..).zip(found) {
            let (of, found) = (lane as f32 + 1.0, f32::from_bits(bits));
            let expected = if lane < 3 { 1.0 / of } else { of.sqrt() };
            assert!((found - expected).abs() < 1e-5, "{}: {lane}", member.about().name);
        }
    }
}

/// In each step no lane takes the word that is chosen over a reply, nor the store of it: the reply is still under way when the next
/// step asks again. (Stores keep the condition a branch.)
#[test]
fn a_reply_that_no_lane_reads_arrives_before_the_next_step() {
    for member in MEMBERS {
        let body = "%3: b32 = const 100
          %4: b32 = const 4
          %5: b32 = buffer_load res0, %4
          %6: b1 = ult %3, %1
          %7: b32 = lshr %1, %2
          %8: b32 = select %6, %7, %5
          if %6 {
            buffer_store res0, %0, %8
            buffer_store res0, %4, %8
            yield
          } else { yield }
          yield";
        let found = run(member, [48, 1, 1], [1, 1, 1], 48, body);
        assert_eq!(found, [OLD; 48], "{}", member.about().name);
    }
}

/// The last half of a buffer whose bytes are no whole doublewords is read, and what lies behind it does not count.
#[test]
fn the_last_half_of_a_buffer_is_read_alone() {
    let text = "func \"main\" compute workgroup 1 1 1 {
          res0 = \"words\" group 0 binding 0 storage 0 stride 4 load store as u32
          res1 = \"halves\" group 0 binding 1 storage 0 stride 4 load as u32
        } body {
          %0: b32 = const 0
          %1: b32 = const 4
          %2: b32 = buffer_load res1, %1
          %4: b32 = const 0xffff
          %3: b32 = and %2, %4
          buffer_store res0, %0, %3
          yield
        }";
    for member in MEMBERS {
        let func = parse(text).expect("text of the IR").funcs.remove(0);
        let request = Request { chip: member.about().chips[0], ..Request::default() };
        let mut bindings = Bindings::new(&func);
        let buffer = Resource::from_u32(0);
        bindings.set(buffer, Bound::Buffer(vec![0; 4]));
        bindings.set(Resource::from_u32(1), Bound::Buffer(vec![1, 2, 3, 4, 5, 6]));
        let compiled = member.finish(func, &request).expect("it compiles");
        let mut device = member.device(&compiled, request.chip);
        device.dispatch(&mut bindings, [1, 1, 1]).expect("it runs");
        assert_eq!(bindings.get(buffer, 0).bytes(), [5, 6, 0, 0], "{}", member.about().name);
    }
}

/// Layers of a texture without further levels lie as far apart as if it had one: the sampler finds the last.
#[test]
fn layers_of_one_level_are_where_the_sampler_looks() {
    let text = "func \"main\" compute workgroup 1 1 1 {
          res0 = \"words\" group 0 binding 0 storage 0 stride 4 load store as u32
          res1 = \"layers\" group 0 binding 1 texture d2 arrayed uint as u32
        } body {
          %0: b32 = const 0
          %1: b32 = const 2
          %2: b32 = const 3
          %3: b32, %4: b32, %5: b32, %6: b32 = tex load res1, %1, %2, %1, %0
          buffer_store res0, %0, %3
          yield
        }";
    for member in MEMBERS {
        let func = parse(text).expect("text of the IR").funcs.remove(0);
        let request = Request { chip: member.about().chips[0], ..Request::default() };
        let mut bindings = Bindings::new(&func);
        bindings.set(Resource::from_u32(0), Bound::Buffer(vec![0; 4]));
        let extent = Extent { layers: 3, ..Extent::plane(5, 4) };
        let mut image = Image::new(Format::R32Uint, extent).expect("it fits");
        let bytes = image.bytes_mut();
        for (number, word) in (0u32..).zip(bytes.chunks_exact_mut(4)) {
            word.copy_from_slice(&number.to_le_bytes());
        }
        bindings.set(Resource::from_u32(1), Bound::Image(image));
        let compiled = member.finish(func, &request).expect("it compiles");
        let mut device = member.device(&compiled, request.chip);
        device.dispatch(&mut bindings, [1, 1, 1]).expect("it runs");
        let found = bindings.get(Resource::from_u32(0), 0).bytes();
        assert_eq!(found, (2 * 20 + 3 * 5 + 2u32).to_le_bytes(), "{}", member.about().name);
    }
}
