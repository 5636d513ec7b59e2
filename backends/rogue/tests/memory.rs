//! Programs whose values lie in memory or leave by it: scratch, turns under a mutex, tile buffers; halves and attributes.

use crate::code::{CHIPS, PLAIN, compile, dispatch, func, random, shade, shade_as};
use gpucc_emu::device::{VertexOut, VertexRun, bytes_of, words_of};
use gpucc_emu::draw::{QuadBatch, VertexId};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::driver::{Attribute, Failure, Step, VertexBuffer};
use gpucc_ir::ssa::random::Config;
use gpucc_ir::ssa::{Func, Resource, Stage};
use gpucc_machine::{Machine as _, Request};
use gpucc_rogue::ROGUE;
use gpucc_rogue::isa::Group;
use gpucc_rogue::isa::program::decode_program;
use gpucc_rogue::isa::register::Register;
use std::fmt::Write;

#[test]
fn halves_of_chance_give_what_the_reference_gives() {
    for stage in [Stage::Compute, Stage::Fragment] {
        let (holds, others) = random(&Config { stage, halves: true, ..PLAIN }, 150);
        assert!(holds >= 145, "{holds} hold; {others:?}");
    }
}

/// A varying of halves is iterated as floats of 32 bits, and a colour has the half in its low bits.
#[test]
fn halves_come_in_and_leave() {
    let text = "func \"main\" fragment trusted {
  in0 = \"value\" f16 x 2 location 0 linear center
  out0 = \"color\" f16 x 2 location 0 flat
} body {
  %0: b16 = input in0.0
  %1: b16 = input in0.1
  %2: b16 = fadd %0, %1
  %3: b16 = fneg %2
  output out0.0, %2
  output out0.1, %3
  yield
}";
    for chip in CHIPS {
        for seed in 0..4 {
            shade(&func(text), chip, seed).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        }
    }
}

/// Invocations count by comparing exchanges: none is lost, in no order.
#[test]
fn exchanges_that_compare_lose_nothing() {
    let text = "func \"main\" compute workgroup 40 1 1 trusted {
  res0 = \"count\" group 0 binding 0 storage 8 load store as u32
} body {
  %0: b32 = const 4
  %1: b32 = const 1
  loop body {
    %2: b32 = buffer_atomic load res0, %0
    %3: b32 = iadd %2, %1
    %4: b32 = buffer_atomic compare_exchange res0, %0, %2, %3
    %5: b1 = ieq %4, %2
    if %5 {
      break
    } else {
      yield
    }
    continue
  } continuing {
    next
  }
  %6: b32 = const 0
  %7: b32 = buffer_atomic add res0, %6, %1
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        let compiled = compile(&func, chip).expect("it compiles");
        for order in 0..3 {
            let mut bindings = Bindings::new(&func);
            bindings.set(Resource::from_u32(0), Bound::Buffer(bytes_of(&[5, 7])));
            let mut device = ROGUE.device(&compiled, chip);
            device.set_order(order);
            device.dispatch(&mut bindings, [3, 1, 1]).expect("it runs");
            let found: Vec<u32> =
                words_of(bindings.get(Resource::from_u32(0), 0).bytes()).collect();
            assert_eq!(found, [125, 127], "{chip}, order {order}");
        }
    }
}

/// An array of more words than registers lies in scratch memory, zeros at first, each invocation's own.
fn large_array(stage: &str) -> String {
    let (head, id) = match stage {
        "compute" => ("compute workgroup 40 1 1", "%0: b32 = input in0.0"),
        _ => ("fragment", "%30: b32 = input in0.0\n  %0: b32 = f2u %30"),
    };
    let input = match stage {
        "compute" => "in0 = \"id\" u32 x 1 builtin local_invocation_index",
        _ => "in0 = \"place\" f32 x 4 builtin position",
    };
    format!(
        "func \"main\" {head} trusted {{
  res0 = \"data\" group 0 binding 0 storage 320 stride 0 load store as u32
  {input}
  mem0 = \"large\" private 1320
  mem1 = \"small\" private 16
}} body {{
  {id}
  %1: b32 = const 2
  %2: b32 = shl %0, %1
  %3: b32 = const 63
  %4: b32 = and %0, %3
  %5: b32 = const 20
  %6: b32 = imul %4, %5
  mem_store mem0[0..1320], %6, %0
  %7: b32 = const 3
  %8: b32 = and %0, %7
  %9: b32 = shl %8, %1
  mem_store mem1[0..16], %9, %6
  %10: b32 = mem_load mem0[0..1320], %6
  %11: b32 = const 1300
  %12: b32 = isub %11, %6
  %13: b32 = mem_load mem0[0..1320], %12
  %14: b32 = mem_load mem1[0..16], %9
  %15: b32 = iadd %10, %13
  %16: b32 = iadd %15, %14
  %17: b32 = const 79
  %18: b32 = umin %0, %17
  %19: b32 = shl %18, %1
  buffer_store res0, %19, %16
  yield
}}"
    )
}

#[test]
fn large_arrays_lie_in_scratch_memory() {
    for chip in CHIPS {
        let kernel = func(&large_array("compute"));
        let compiled = compile(&kernel, chip).expect("it compiles");
        assert_eq!(compiled.described.stats.scratch_bytes, 1320);
        let run = dispatch(&kernel, chip, [2, 1, 1], 7);
        run.unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        let pixels = func(&large_array("fragment"));
        shade(&pixels, chip, 3).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Pixels that are not covered store nothing, so that what asks them cannot have its values in memory.
#[test]
fn fragments_that_ask_neighbours_have_no_scratch_memory() {
    let text = large_array("fragment").replace("f2u %30", "f2u %31");
    let text = text.replace("%0: b32 = f2u", "%31: b32 = ddx %30\n  %0: b32 = f2u");
    let refused = compile(&func(&text), "gx6250");
    assert!(matches!(refused, Err(Failure::NotYet { .. })), "{:?}", refused.err());
}

/// More values live than there are registers: all are loaded before the first is used.
#[test]
fn values_go_to_memory_where_registers_end() {
    let count = 300;
    let mut text = String::from(
        "func \"main\" compute workgroup 33 1 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 4096 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
} body {
  %0: b32 = input in0.0
  %1: b32 = const 2
  %2: b32 = shl %0, %1
",
    );
    let mut next = 3;
    let mut value = |line: &str| {
        next += 1;
        let _ = writeln!(text, "  %{}: b32 = {line}", next - 1);
        next - 1
    };
    let mut loaded = Vec::new();
    for number in 0..count {
        let offset = value(&format!("const {}", 4 * number));
        let place = value(&format!("iadd %2, %{offset}"));
        loaded.push(value(&format!("buffer_load res0, %{place}")));
    }
    let mut sum = loaded[0];
    for (at, other) in loaded.iter().rev().enumerate() {
        let product = value(&format!("imul %{sum}, %{other}"));
        sum = value(&format!("iadd %{product}, %{}", loaded[at]));
    }
    let _ = write!(text, "  buffer_store res0, %2, %{sum}\n  yield\n}}");
    // Others must not write what is still to be read.
    let text = text.replace("buffer_store res0, %2", "buffer_store res1, %2").replace(
        "  in0 =",
        "  res1 = \"sums\" group 0 binding 1 storage 256 stride 0 load store as u32\n  in0 =",
    );
    for chip in CHIPS {
        let compiled = compile(&func(&text), chip).expect("it compiles");
        let stats = compiled.described.stats;
        assert!(stats.spills > 0 && stats.fills > 0, "{stats:?}");
        let run = dispatch(&func(&text), chip, [1, 1, 1], 7);
        run.unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Eight words of colours are registers, or four; the others lie in tile buffers of eight words a pixel.
#[test]
fn colours_behind_the_registers_lie_in_tile_buffers() {
    let mut text = String::from("func \"main\" fragment trusted {\n");
    for location in 0..6 {
        let _ = writeln!(text, "  in{location} = \"v\" f32 x 4 location {location} linear center");
    }
    for location in 0..6 {
        let _ = writeln!(text, "  out{location} = \"c\" f32 x 4 location {location} flat");
    }
    text.push_str("} body {\n");
    for word in 0..24 {
        let _ = writeln!(text, "  %{word}: b32 = input in{}.{}", word / 4, word % 4);
    }
    for word in 0..24 {
        let _ = writeln!(text, "  output out{}.{}, %{}", word / 4, word % 4, 23 - word);
    }
    text.push_str("  yield\n}");
    for chip in ["gx6250", "axe1_16m", "bxs_4_64"] {
        shade(&func(&text), chip, 5).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// A pixel whose mask lacks the one sample is gone.
#[test]
fn masks_without_the_sample_discard() {
    let text = "func \"main\" fragment trusted {
  in0 = \"position\" f32 x 4 builtin position
  out0 = \"mask\" u32 x 1 builtin sample_mask
  out1 = \"color\" f32 x 1 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = f2u %0
  output out0.0, %1
  output out1.0, %0
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        let compiled = compile(&func, chip).expect("it compiles");
        let batch = crate::code::quads(&func, &mut gpucc_ir::ssa::random::Rng::new(1));
        let mut device = ROGUE.device(&compiled, chip);
        let pixels = device.quads(&mut Bindings::new(&func), &batch).expect("it runs");
        for (at, pixel) in pixels.iter().enumerate() {
            let quad = &batch.quads[at / 4];
            if quad.covered >> (at % 4) & 1 == 1 {
                // Columns with odd numbers have the sample.
                assert_eq!(pixel.discarded, at % 2 == 0, "{chip}, pixel {at}");
            }
        }
    }
}

/// What a program makes of so many vertices. Each location has a format, a stride, an offset and a buffer.
fn fetched(
    chip: &'static str,
    func: &Func,
    lines: &[(&str, u32, u32)],
    buffers: &[Vec<u8>],
    count: u32,
) -> Vec<VertexOut> {
    let mut request = Request { chip, ..Request::default() };
    for (location, &(format, stride, offset)) in (0..).zip(lines) {
        let attribute = Attribute { location, format: format.into(), buffer: location, offset };
        request.pipeline.vertex.attributes.push(attribute);
        let buffer = VertexBuffer { stride, step: Step::Vertex };
        request.pipeline.vertex.buffers.push(buffer);
    }
    let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
    let ids: Vec<VertexId> = (0..count).map(|vertex| VertexId { vertex, instance: 0 }).collect();
    let run = VertexRun { ids: &ids, first_vertex: 0, first_instance: 0, buffers };
    let mut device = ROGUE.device(&compiled, chip);
    device.vertices(&mut Bindings::new(func), &run).expect("it runs")
}

/// The sequencer brings words, and the program takes them apart.
#[test]
fn attributes_are_taken_out_of_their_words() {
    let text = "func \"main\" vertex trusted {
  in0 = \"a\" f32 x 4 location 0 perspective center
  in1 = \"b\" u32 x 2 location 1 flat center
  in2 = \"c\" i32 x 2 location 2 flat center
  in3 = \"d\" f32 x 4 location 3 flat center
  in4 = \"e\" f16 x 2 location 4 flat center
  in5 = \"draw\" u32 x 1 builtin draw_index
  out0 = \"position\" f32 x 4 builtin position
  out1 = \"b\" u32 x 4 location 0 flat
  out2 = \"d\" f32 x 4 location 1 flat
  out3 = \"e\" f16 x 2 location 2 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.2
  %2: b32 = input in0.3
  %3: b32 = input in1.1
  %4: b32 = input in2.0
  %5: b32 = input in2.1
  %6: b32 = input in3.0
  %7: b32 = input in3.1
  %8: b32 = input in3.3
  %9: b16 = input in4.0
  %10: b16 = input in4.1
  %11: b32 = input in5.0
  output out0.0, %0
  output out0.1, %1
  output out0.2, %2
  output out1.0, %3
  output out1.1, %4
  output out1.2, %5
  output out1.3, %11
  output out2.0, %6
  output out2.1, %7
  output out2.2, %8
  output out3.0, %9
  output out3.1, %10
  yield
}";
    let func = func(text);
    // The integers of 8 bits begin in the middle of a word.
    let formats = ["unorm8x4-bgra", "uint16x2", "sint8x2", "float16x2", "float16x2"];
    let lines = formats.map(|format| (format, 4, if format == "sint8x2" { 2 } else { 0 }));
    for chip in CHIPS {
        let words = [0x00ff_3300u32, 0x1234_5678, 0x80ff_0000, 0xc000_3c00, 0xc000_3c00];
        let found = fetched(chip, &func, &lines, &words.map(|word| bytes_of(&[word])), 1);
        let float = |value: f32| value.to_bits();
        assert_eq!(found[0][0], [float(1.0), 0, 0, 0], "{chip}");
        assert_eq!(found[0][1], [0x1234, u32::MAX, 0xffff_ff80, 0], "{chip}");
        assert_eq!(found[0][2], [float(1.0), float(-2.0), float(1.0), 0], "{chip}");
        assert_eq!(found[0][3], [0x3c00, 0xc000, 0, 0], "{chip}");
    }
}

/// Elements of two, three and six bytes follow each other without gaps.
#[test]
fn attributes_are_fetched_where_their_elements_begin_at_no_words() {
    let text = "func \"main\" vertex trusted {
  in0 = \"pair\" u32 x 2 location 0 flat center
  in1 = \"bytes\" i32 x 3 location 1 flat center
  in2 = \"halves\" f32 x 2 location 2 flat center
  out0 = \"position\" f32 x 4 builtin position
  out1 = \"pair\" u32 x 2 location 0 flat
  out2 = \"bytes\" i32 x 3 location 1 flat
  out3 = \"halves\" f32 x 2 location 2 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in1.0
  %3: b32 = input in1.1
  %4: b32 = input in1.2
  %5: b32 = input in2.0
  %6: b32 = input in2.1
  output out1.0, %0
  output out1.1, %1
  output out2.0, %2
  output out2.1, %3
  output out2.2, %4
  output out3.0, %5
  output out3.1, %6
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        let bytes: Vec<u8> = (1..64).map(|n: u8| n.wrapping_mul(37)).collect();
        let lines = [("uint8x2", 2, 0), ("sint8x4", 7, 3), ("float16x2", 6, 2)];
        let found = fetched(chip, &func, &lines, &vec![bytes.clone(); 3], 5);
        for (vertex, found) in found.iter().enumerate() {
            let byte = |at: usize| u32::from(bytes[at]);
            let signed = |at: usize| bytes[at] as i8 as i32 as u32;
            let half = |at: usize| {
                let bits = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
                (gpucc_ir::ssa::numerics::f16_to_f64(bits) as f32).to_bits()
            };
            assert_eq!(found[1], [byte(2 * vertex), byte(2 * vertex + 1), 0, 0], "{chip}");
            let at = 7 * vertex + 3;
            assert_eq!(found[2], [signed(at), signed(at + 1), signed(at + 2), 0], "{chip}");
            let at = 6 * vertex + 2;
            assert_eq!(found[3], [half(at), half(at + 2), 0, 0], "{chip}");
        }
    }
}

/// A word and halves in one store lie behind each other.
#[test]
fn a_store_of_words_and_halves_has_each_at_its_place() {
    let text = "func \"main\" compute workgroup 1 1 1 trusted {
  res0 = \"to\" group 0 binding 0 storage 16 load store as u32
} body {
  %0: b32 = const 0
  %1: b32 = buffer_load res0, %0
  %2: b16 = uconvert %1
  %3: b16 = const 0x1234
  %4: b32 = const 4
  buffer_store res0, %4, %1, %2, %3
  yield
}";
    for chip in CHIPS {
        dispatch(&func(text), chip, [1, 1, 1], 3)
            .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Pairs of words are added, compared and exchanged by turns, in memory and in a workgroup.
#[test]
fn pairs_of_words_change_by_turns() {
    let text = "func \"main\" compute workgroup 40 1 1 trusted {
  in0 = \"lane\" u32 x 1 builtin local_invocation_index
  res0 = \"to\" group 0 binding 0 storage 64 load store as u32
  mem0 = \"shared\" workgroup 8
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0
  %2: b32 = const 0xfff00001
  %3: b32 = imul %0, %2
  %4: b64 = join64 %3, %0
  %5: b32 = const 8
  %6: b32 = const 16
  %7: b32 = const 24
  %8: b32 = const 32
  %9: b64 = buffer_atomic add res0, %1, %4
  %10: b64 = buffer_atomic xor res0, %5, %4
  %11: b64 = buffer_atomic smin res0, %6, %4
  %12: b64 = buffer_atomic umax res0, %7, %4
  %13: b64 = mem_atomic add mem0[0..8], %1, %4
  barrier workgroup
  %14: b64 = mem_atomic load mem0[0..8], %1
  buffer_atomic store res0, %8, %14
  yield
}";
    for chip in CHIPS {
        for seed in 0..3 {
            dispatch(&func(text), chip, [1, 1, 1], seed)
                .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        }
    }
}

/// The descriptor of an element that only the program knows is led to.
#[test]
fn an_element_of_bindings_is_found_by_its_number() {
    let text = "func \"main\" compute workgroup 8 1 1 trusted {
  in0 = \"lane\" u32 x 1 builtin local_invocation_index
  res0 = \"to\" group 0 binding 0 storage 64 load store as u32
  res1 = \"counts\" group 0 binding 1 storage 32 load store count 3 as u32
} body {
  %0: b32 = input in0.0
  %1: b32 = const 3
  %2: b32 = and %0, %1
  %3: b32 = const 2
  %4: b32 = umin %2, %3
  %5: b32 = shl %0, %3
  %6: b32 = buffer_atomic umax res1, %4, %5, %0
  buffer_store res0, %5, %6
  yield
}";
    for chip in CHIPS {
        dispatch(&func(text), chip, [1, 1, 1], 4)
            .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Numbers of primitives are constants of a set, places in points are iterated, and a second colour follows the first.
#[test]
fn pixels_know_their_primitive_and_their_place_in_a_point() {
    let text = "func \"main\" fragment trusted {
  in0 = \"value\" f32 x 2 location 0 linear center
  in1 = \"number\" u32 x 1 builtin primitive_index
  in2 = \"place\" f32 x 2 builtin point_coord
  out0 = \"color\" f32 x 2 location 0 flat
  out1 = \"second\" u32 x 1 location 0 flat blend_src 1
} body {
  %0: b32 = input in0.1
  %1: b32 = input in1.0
  %2: b32 = input in2.0
  %3: b32 = input in2.1
  %4: b32 = fadd %0, %2
  output out0.0, %4
  output out0.1, %3
  output out1.0, %1
  yield
}";
    for chip in CHIPS {
        let numbered = |batch: &mut QuadBatch| {
            for (number, quad) in batch.quads.iter_mut().enumerate() {
                quad.primitive = number as u32 / 2;
                quad.point = [[0.25, 0.5], [0.75, 0.5], [0.25, 1.0], [0.75, 1.0]];
            }
        };
        shade_as(&func(text), chip, 5, numbered)
            .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// An index register that holds an index is not led to it again.
#[test]
fn an_index_is_led_once_for_accesses_in_a_row() {
    let text = "func \"main\" compute workgroup 32 1 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 256 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
  mem0 = \"w\" workgroup 256
} body {
  %0: b32 = input in0.0
  %1: b32 = const 2
  %2: b32 = shl %0, %1
  mem_store mem0[0..256], %2, %0
  %3: b32 = mem_atomic add mem0[0..256], %2, %1
  %4: b32 = iadd %3, %0
  %5: b32 = mem_atomic add mem0[0..256], %2, %4
  %6: b32 = const 4
  %7: b32 = iadd %2, %6
  %8: b32 = mem_atomic add mem0[0..256], %7, %4
  %9: b32 = mem_load mem0[0..256], %2
  %10: b32 = iadd %9, %5
  buffer_store res0, %2, %10
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        let compiled = compile(&func, chip).expect("it compiles");
        let groups = decode_program(&compiled.code).expect("its own code");
        let leads = |group: &&(usize, Group)| group.1.writes.contains(&Some(Register::Index(0)));
        // Two for zeros, one for a store and two sums in a row, and another index before the last one.
        assert_eq!(groups.iter().filter(leads).count(), 5, "{chip}");
    }
}
