//! What each lookup becomes: the words of messages that public compilers send for the same lookups, by program or by the manual's
//! table (isa/gen4.md 1.8 and 8), and what is not built.

use gpucc_gen4::isa::fields::f;
use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::{G45, GEN4};
use gpucc_ir::ssa::{Func, parse};
use gpucc_machine::{Compiled, Machine as _, Request};

/// A fragment program that does one lookup with constants and hands its first results over.
fn program(texture: &str, sampler: &str, lookup: &str, results: usize) -> Func {
    let list =
        |each: &dyn Fn(usize) -> String| (0..results).map(each).collect::<Vec<_>>().join(", ");
    let outputs: String = (0..results).map(|n| format!("output out0.{n}, %{}\n", 20 + n)).collect();
    let text = format!(
        "func \"one\" fragment {{
          res0 = \"t\" group 0 binding 0 {texture} as f32
          res1 = \"s\" group 0 binding 1 sampler{sampler} as u32
          in0 = \"at\" f32 x 4 location 0 flat center
          out0 = \"\" f32 x 4 location 0 perspective
        }} body {{
          %0: b32 = input in0.0
          %1: b32 = input in0.1
          %2: b32 = input in0.2
          %3: b32 = input in0.3
          %4: b32 = const 0
          {} = {lookup}
          {outputs} yield
        }}",
        list(&|n| format!("%{}: b32", 20 + n)),
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.funcs.into_iter().next().expect("one function")
}

/// Compiles for both machines, G45, then the 965, in steps of eight lanes or of 16.
fn compiled(func: &Func, lanes: u32) -> [Compiled; 2] {
    [(&G45, "g45"), (&GEN4, "i965")].map(|(member, chip)| {
        let mut request = Request { chip, ..Request::default() };
        if lanes == 8 {
            request.passes.gate.skip = vec!["sixteen_lanes".into()];
        }
        member.finish(func.clone(), &request).expect("it compiles")
    })
}

/// Descriptors of the messages to the sampler.
fn sent(compiled: &Compiled, machine: gpucc_gen4::isa::Machine) -> Vec<u32> {
    let program = decode_program(machine, &compiled.code).expect("a program of the machine");
    let sends = program.iter().filter(|(_, decoded)| decoded.inst.op().name == "send");
    sends.map(|(_, send)| send.inst.get(f::SRC1)).filter(|word| word >> 24 == 2).collect()
}

/// Texture, its sampler's kind, the lookup, its results, and the descriptors of G45 and of the 965. Entry 0 is the target.
#[rustfmt::skip]
const LOOKUPS: &[(&str, &str, &str, usize, u32, u32)] = &[
    // Eight channels: u, v, r.
    ("texture d2 float", "", "tex sample res0 res1, %0, %1", 4, 0x0244_0001, 0x0244_0001),
    ("texture d3 float", "", "tex sample res0 res1, %0, %1, %2", 4, 0x0244_0001, 0x0244_0001),
    ("texture d1 float", "", "tex sample res0 res1, %0", 4, 0x0244_0001, 0x0244_0001),
    // Golden words of public compilers for these: 16 channels alone.
    ("texture d2 float", "", "tex bias res0 res1, %0, %1, %2", 4, 0x0298_0001, 0x0298_0001),
    ("texture d2 float", "", "tex level res0 res1, %0, %1, %2", 4, 0x0298_1001, 0x0298_4001),
    ("texture d2 uint", "", "tex load res0, %0, %1, %2", 4, 0x0298_3001, 0x0298_e001),
    ("texture d2 float", "", "tex load res0, %0, %1, %2", 4, 0x0298_3001, 0x0298_c001),
    // What is not read is left out of a reply to 16 channels.
    ("texture d2 sint", "", "tex load res0, %0, %1, %2", 1, 0x0298_3001, 0x0298_f001),
    // Eight channels alone.
    ("texture d2 depth", " comparison", "tex bias res0 res1 compare, %0, %1, %2, %3", 1, 0x0264_0001, 0x0264_0001),
    ("texture d2 depth", " comparison", "tex sample res0 res1 compare, %0, %1, %2", 1, 0x0264_0001, 0x0264_0001),
    ("texture d2 depth", " comparison", "tex level res0 res1 compare, %0, %1, %2, %3", 1, 0x0264_1001, 0x0264_4001),
    ("texture d2 float", "", "tex grad res0 res1, %0, %1, %0, %1, %2, %3", 4, 0x0274_2001, 0x0274_8001),
    ("texture d3 float", "", "tex grad res0 res1, %0, %1, %2, %0, %1, %2, %0, %1, %3", 4, 0x02a4_2001, 0x02a4_8001),
    ("texture d2 arrayed float", "", "tex grad res0 res1, %0, %1, %2, %0, %1, %2, %3", 4, 0x02a4_2001, 0x02a4_8001),
    // Level 0: of a load by no level, of a lookup by the header on G45, and on the 965 by a level.
    ("texture d2 float", "", "tex load res0, %0, %1, %4", 4, 0x0244_3001, 0x0244_c001),
    ("texture d2 float", "", "tex level res0 res1, %0, %1, %4", 4, 0x0244_0001, 0x0298_4001),
];

#[test]
fn lookups_are_the_messages_that_public_compilers_send() {
    for &(texture, sampler, lookup, results, g45, gen4) in LOOKUPS {
        let [first, second] = compiled(&program(texture, sampler, lookup, results), 8);
        // Replies to 16 channels have two registers a component.
        let shorter = |word: u32| match (word >> 20 & 15, results) {
            (9, 1) => word & !0xf_0000 | 2 << 16,
            _ => word,
        };
        assert_eq!(sent(&first, gpucc_gen4::isa::Machine::G45), [shorter(g45)], "{lookup}");
        assert_eq!(sent(&second, gpucc_gen4::isa::Machine::Gen4), [shorter(gen4)], "{lookup}");
    }
}

/// The same for steps of 16 lanes: as many coordinates as the texture has, or all three before what follows them.
#[rustfmt::skip]
const OF_SIXTEEN: &[(&str, &str, &str, usize, u32, u32)] = &[
    ("texture d1 float", "", "tex sample res0 res1, %0", 4, 0x0238_0001, 0x0238_0001),
    ("texture d2 float", "", "tex sample res0 res1, %0, %1", 4, 0x0258_0001, 0x0258_0001),
    // A header that leaves two components out takes two words, which G45 does not spend.
    ("texture d2 float", "", "tex sample res0 res1, %0, %1", 2, 0x0258_0001, 0x0254_0001),
    ("texture d2 arrayed float", "", "tex sample res0 res1, %0, %1, %2", 4, 0x0278_0001, 0x0278_0001),
    ("texture d3 float", "", "tex sample res0 res1, %0, %1, %2", 4, 0x0278_0001, 0x0278_0001),
    ("texture d2 float", "", "tex bias res0 res1, %0, %1, %2", 4, 0x0298_0001, 0x0298_0001),
    ("texture d2 float", "", "tex level res0 res1, %0, %1, %2", 4, 0x0298_1001, 0x0298_4001),
    ("texture d2 float", "", "tex level res0 res1, %0, %1, %4", 4, 0x0258_0001, 0x0298_4001),
    ("texture d2 depth", " comparison", "tex sample res0 res1 compare, %0, %1, %2", 1, 0x0292_2001, 0x0292_8001),
    ("texture d2 uint", "", "tex load res0, %0, %1, %2", 4, 0x0298_3001, 0x0298_e001),
    ("texture d2 float", "", "tex load res0, %0, %1, %4", 4, 0x0258_3001, 0x0258_c001),
    // Eight channels alone, and so eight lanes; on G45 the header asks for level 0.
    ("texture d2 depth", " comparison", "tex bias res0 res1 compare, %0, %1, %2, %3", 1, 0x0264_0001, 0x0264_0001),
    ("texture d2 depth", " comparison", "tex level res0 res1 compare, %0, %1, %2, %3", 1, 0x0264_1001, 0x0264_4001),
    ("texture d2 depth", " comparison", "tex level res0 res1 compare, %0, %1, %2, %4", 1, 0x0292_2001, 0x0264_4001),
    ("texture d2 float", "", "tex grad res0 res1, %0, %1, %0, %1, %2, %3", 4, 0x0274_2001, 0x0274_8001),
];

#[test]
fn lookups_of_16_lanes_are_messages_of_16_channels() {
    for &(texture, sampler, lookup, results, g45, gen4) in OF_SIXTEEN {
        let [first, second] = compiled(&program(texture, sampler, lookup, results), 16);
        assert_eq!(sent(&first, gpucc_gen4::isa::Machine::G45), [g45], "{lookup}");
        assert_eq!(sent(&second, gpucc_gen4::isa::Machine::Gen4), [gen4], "{lookup}");
    }
}

#[test]
fn sizes_are_messages_of_16_channels_with_a_level() {
    let texture = "texture d2 arrayed float";
    for (query, results, response) in [("size", 2, 4), ("levels", 1, 2), ("layers", 1, 2)] {
        let level = if query == "size" { ", %2" } else { "" };
        let lookup = format!("tex_query {query} res0{level}");
        let [first, second] = compiled(&program(texture, "", &lookup, results), 8);
        let of = |word: u32| word | response << 16;
        assert_eq!(sent(&first, gpucc_gen4::isa::Machine::G45), [of(0x0230_2001)], "{query}");
        assert_eq!(sent(&second, gpucc_gen4::isa::Machine::Gen4), [of(0x0230_a001)], "{query}");
    }
}

/// A sampler that cubes and planes are looked up with has two states, since wrap modes of cubes are none of planes.
#[test]
fn a_sampler_of_cubes_has_a_state_of_its_own() {
    let text = "func \"both\" fragment {
      res0 = \"t\" group 0 binding 0 texture d2 float as f32
      res1 = \"s\" group 0 binding 1 sampler as u32
      res2 = \"q\" group 0 binding 2 texture cube float as f32
      out0 = \"\" f32 x 4 location 0 perspective
    } body {
      %0: b32 = const 0
      %1: b32, %2: b32, %3: b32, %4: b32 = tex sample res0 res1, %0, %0
      %5: b32, %6: b32, %7: b32, %8: b32 = tex sample res2 res1, %0, %0, %0
      output out0.0, %1
      output out0.1, %5
      yield
    }";
    let module = parse(text).expect("text of the IR");
    let [g45, _] = compiled(&module.funcs[0], 8);
    let told = g45.described.resources.iter().find(|told| told.name == "s").expect("it is told");
    assert_eq!((told.place("sampler"), told.place("cube_sampler")), (Some(0), Some(1)));
    assert_eq!(sent(&g45, gpucc_gen4::isa::Machine::G45), [0x0244_0001, 0x0244_0102]);
}
