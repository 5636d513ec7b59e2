//! What is told of pixel programs, by words.

use gpucc_gen4::G45;
use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::isa::{Machine, disasm::text_of};
use gpucc_ir::ssa::parse;
use gpucc_machine::described::Setting;
use gpucc_machine::{Compiled, Machine as _, Request};

/// In steps of eight lanes or of 16.
fn compiled(lanes: u32, depth: &str, output: &str) -> Compiled {
    let text = format!(
        "func \"one\" fragment {{
          out0 = \"\" f32 x 4 location 0 perspective
          {depth}
        }} body {{
          %0: b32 = const 0x3f000000
          output out0.0, %0
          {output}
          yield
        }}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut request = Request { chip: "g45", ..Request::default() };
    if lanes == 8 {
        request.passes.gate.skip = vec!["sixteen_lanes".into()];
    }
    G45.finish(module.funcs[0].clone(), &request).expect("it compiles")
}

fn word(compiled: &Compiled, state: &str, at: usize) -> Option<u32> {
    match compiled.described.state.get(state)? {
        Setting::Descriptor { words, .. } => words.get(at).copied(),
        _ => None,
    }
}

/// The last instruction in words.
fn last(compiled: &Compiled) -> String {
    let program = decode_program(Machine::G45, &compiled.code).expect("a program");
    program.last().map_or(String::new(), |(_, word)| text_of(Machine::G45, word))
}

/// G45 vol. 4, 5.10.6: the depth and the stored one follow the colours; isa/gen4.md 2.2, key 14.
#[test]
fn depth_goes_with_the_colours_and_is_told_to_the_windower() {
    // One width of dispatch alone (isa/gen4-pipeline.md 7.22), and lengths and types of 5.10.6.
    for (lanes, plain_word, deep_word) in
        [(8, "0x85604c00", "0x85804c00"), (16, "0x85a04800", "0x85e04800")]
    {
        let plain = compiled(lanes, "", "");
        assert_eq!(word(&plain, "WM_STATE", 3).map(|word| word & 15), Some(2));
        let told = word(&plain, "WM_STATE", 5);
        assert_eq!(told.map(|word| word & 0x1f), Some(lanes / 8));
        assert_eq!(told.map(|word| word >> 21 & 1), Some(0));
        assert_eq!(word(&plain, "COLOR_CALC_STATE", 2), None);
        assert!(last(&plain).contains(plain_word), "{}", last(&plain));

        let declared = "out1 = \"d\" f32 x 1 builtin frag_depth";
        let deep = compiled(lanes, declared, "output out1.0, %0");
        assert_eq!(word(&deep, "WM_STATE", 3).map(|word| word & 15), Some(4));
        assert_eq!(word(&deep, "WM_STATE", 5).map(|word| word >> 21 & 1), Some(1));
        assert_eq!(word(&deep, "COLOR_CALC_STATE", 2), Some(0x8800));
        assert!(last(&deep).contains(deep_word), "{}", last(&deep));
    }
}
