//! What the code of small programs is, by its text: conditions as flags, operands as they are read, message registers written
//! straight, constants of uniform buffers.

use gpucc_gen4::G45;
use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::isa::{Machine, disasm::text_of};
use gpucc_ir::driver::Uniforms;
use gpucc_ir::ssa::parse;
use gpucc_machine::described::{Driven, DriverWord, Setting};
use gpucc_machine::{Compiled, Machine as _, Request};

/// A program of eight pixels a thread: declarations behind a flat input of four numbers and a colour, and the body.
fn compiled(uniforms: Uniforms, declared: &str, body: &str) -> Compiled {
    let text = format!(
        "func \"one\" fragment {{
          {declared}
          in0 = \"v\" f32 x 4 location 0 flat center
          out0 = \"\" f32 x 4 location 0 perspective
        }} body {{
          %0: b32 = input in0.0
          %1: b32 = input in0.1
          {body}
          yield
        }}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut request = Request { chip: "g45", ..Request::default() };
    request.passes.gate.skip = vec!["sixteen_lanes".into()];
    request.pipeline.uniforms = uniforms;
    G45.finish(module.funcs[0].clone(), &request).expect("it compiles")
}

fn lines(compiled: &Compiled) -> Vec<String> {
    lines_of(Machine::G45, compiled)
}

/// The text of a program's words.
pub fn lines_of(machine: Machine, compiled: &Compiled) -> Vec<String> {
    let program = decode_program(machine, &compiled.code).expect("a program");
    program.iter().map(|(_, word)| text_of(machine, word)).collect()
}

/// The text of a body's words, without the message that ends each program.
fn code(body: &str) -> Vec<String> {
    let mut lines = lines(&compiled(Uniforms::Loaded, "", body));
    lines.truncate(lines.len() - 1);
    lines
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

/// The flag of a comparison decides at once, and each further one goes on where the flag still holds.
#[test]
fn conditions_are_chains_of_comparisons() {
    let lines = code(
        "%2: b1 = flt %0, %1
         %3: b32 = const 0x40000000
         %4: b1 = flt %3, %1
         %5: b1 = and %2, %4
         %6: b32 = select %5, %0, %1
         output out0.0, %6",
    );
    let wanted = ["cmp.l.f0.0(8) null", "(+f0.0) cmp.g.f0.0(8) null", "(+f0.0) sel(8) m3"];
    for (line, wanted) in lines.iter().zip(wanted) {
        assert!(line.starts_with(wanted), "{lines:#?}");
    }
}

/// Of an opposite of an order of floats, which a NaN has neither way, the whole chain is the opposite.
#[test]
fn opposites_of_orders_are_opposite_flags() {
    let lines = code(
        "%2: b1 = flt %0, %1
         %3: b1 = not %2
         %4: b32 = const 0
         %5: b1 = ieq %0, %4
         %6: b1 = and %3, %5
         %7: b32 = select %6, %0, %1
         output out0.0, %7",
    );
    let wanted = ["cmp.l.f0.0(8) null", "(-f0.0) cmp.nz.f0.0(8) null", "(-f0.0) sel(8) m3"];
    for (line, wanted) in lines.iter().zip(wanted) {
        assert!(line.starts_with(wanted), "{lines:#?}");
    }
}

/// A number is the second operand, and a sign or magnitude is taken where it is read.
#[test]
fn numbers_signs_and_magnitudes_cost_no_instruction() {
    let lines = code(
        "%2: b32 = const 0x3f800000
         %3: b32 = fabs %0
         %4: b32 = fsub %2, %3
         output out0.0, %4",
    );
    assert!(lines[0].starts_with("add(8) m3<1>F -(abs)g"), "{lines:#?}");
    assert_eq!(count(&lines, "mov(8) m"), 4, "r1 and three zeros: {lines:#?}");
}

/// The words of a uniform buffer stand among the constants where the pipeline pushes them, and in their buffer otherwise.
#[test]
fn uniforms_are_pushed_where_the_pipeline_says_so() {
    let declared = "res0 = \"u\" group 0 binding 3 uniform 32 as f32";
    let body = "%2: b32 = const 20
                %3: b32 = buffer_load res0, %2
                %4: b32 = fmul %0, %3
                output out0.0, %4";
    let loaded = compiled(Uniforms::Loaded, declared, body);
    assert_eq!(loaded.described.driver_constants, []);
    assert_eq!(count(&lines(&loaded), "send(8)"), 2);

    let pushed = compiled(Uniforms::Pushed, declared, body);
    assert_eq!(count(&lines(&pushed), "send(8)"), 1);
    // Constants begin behind the two registers of the header.
    assert_eq!(count(&lines(&pushed), "g2<0,1,0>F"), 1, "{:#?}", lines(&pushed));
    let [told] = pushed.described.driver_constants[..] else { panic!("one word is pushed") };
    let DriverWord::Other(Driven::Uniform { binding, offset }) = told.word else {
        panic!("{told:?}");
    };
    assert_eq!((binding.group, binding.binding, offset), (0, 3, 20));
    let Some(Setting::Descriptor { words, .. }) = pushed.described.state.get("WM_STATE") else {
        panic!("it is told to the windower");
    };
    assert_eq!(words[3] >> 25 & 63, 1);
}

/// isa/gen4.md 0.8: the denominator comes first.
#[test]
fn integers_are_divided_by_extended_math() {
    let lines = code(
        "%2: b32 = udiv %0, %1
         output out0.0, %2",
    );
    assert_eq!(count(&lines, "0x0121000c"), 1, "{lines:#?}");
}

/// Constants are up to 63 registers: the number of a word among them has more than eight bits.
#[test]
fn words_behind_the_first_256_constants_are_read_where_they_stand() {
    let declared = "res0 = \"u\" group 0 binding 3 uniform 512 as f32
          res1 = \"b\" group 0 binding 4 storage 0 stride 4 load count 250 as u32";
    let mut body = String::new();
    for element in 0..250 {
        let (at, size) = (2 + 2 * element, 3 + 2 * element);
        body += &format!("%{at}: b32 = const {element}\n%{size}: b32 = buffer_size res1, %{at}\n");
    }
    body += "%502: b32 = const 80
             %503: b32 = buffer_load res0, %502
             %504: b32 = fmul %0, %503
             output out0.0, %504
             %505: b32 = bitcast %501
             output out0.1, %505";
    let body = body.replace("%505: b32 = bitcast %501\n", "").replace("%505", "%501");
    let pushed = compiled(Uniforms::Pushed, declared, &body);
    let lines = lines(&pushed);
    // Word 249 is of register 2 + 31, and word 250 of the same.
    assert_eq!(count(&lines, "g33.1<0,1,0>"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "g33.2<0,1,0>"), 1, "{lines:#?}");
}
