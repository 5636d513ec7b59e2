//! How few words small programs of 16 pixels have, by their text: extended math in one message, results in every register of a
//! message that wants them, predicates in place of branches.

use crate::code::lines_of;
use gpucc_gen4::isa::Machine;
use gpucc_gen4::{G45, GEN4};
use gpucc_ir::ssa::parse;
use gpucc_machine::{Machine as _, Request};

/// The text of a program's words on one of both machines. The flat input has four numbers, the other one is the position.
fn words(machine: Machine, body: &str) -> Vec<String> {
    let text = format!(
        "func \"one\" fragment {{
          in0 = \"v\" f32 x 4 location 0 flat center
          in1 = \"p\" f32 x 4 builtin position
          out0 = \"\" f32 x 4 location 0 perspective
        }} body {{
          %0: b32 = input in0.0
          %1: b32 = input in0.1
          {body}
          yield
        }}"
    );
    of_text(machine, &text)
}

fn of_text(machine: Machine, text: &str) -> Vec<String> {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (member, chip) = match machine {
        Machine::G45 => (&G45, "g45"),
        Machine::Gen4 => (&GEN4, "i965"),
    };
    let request = Request { chip, ..Request::default() };
    let compiled = member.finish(module.funcs[0].clone(), &request).expect("it compiles");
    lines_of(machine, &compiled)
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

/// A choice by a bit of a value; where the bit is not set, this is chosen.
fn chosen_by_a_bit(otherwise: &str) -> Vec<String> {
    let body = format!(
        "%2: b32 = const 16
         %3: b32 = and %0, %2
         %4: b32 = const 0
         %5: b1 = ine %3, %4
         %6: b32 = select %5, %1, {otherwise}
         output out0.0, %6"
    );
    words(Machine::G45, &body)
}

/// G45 vol. 4, 14.2.3: AND sets the flag by itself.
#[test]
fn bits_decide_without_a_comparison() {
    let lines = chosen_by_a_bit("%0");
    assert_eq!(count(&lines, "and.nz.f0.0(16) null"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "cmp") + count(&lines, "and(16)"), 0, "{lines:#?}");
}

/// Bits that somebody else reads are made once.
#[test]
fn bits_that_are_read_are_compared() {
    let lines = chosen_by_a_bit("%3");
    assert_eq!(count(&lines, "and(16)"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "cmp"), 1, "{lines:#?}");
}

/// ERRATA E21: G45 sends both halves by one instruction, the 965 takes two.
#[test]
fn extended_math_of_sixteen_lanes_is_one_instruction() {
    let body = "%2: b32 = fadd %0, %1
                %3: b32 = frsq %2
                output out0.0, %3";
    let lines = words(Machine::G45, body);
    assert_eq!(count(&lines, "math MsgDesc: rsq"), 1, "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("send(16) 14") && line.contains("compr")));
    let lines = words(Machine::Gen4, body);
    assert_eq!(count(&lines, "math MsgDesc: rsq"), 2, "{lines:#?}");
}

/// isa/gen4.md 1.8: the message's own move takes them.
#[test]
fn extended_math_takes_signs_and_magnitudes() {
    let lines = words(
        Machine::G45,
        "%2: b32 = fadd %0, %1
         %3: b32 = fabs %2
         %4: b32 = fneg %3
         %5: b32 = fexp2 %4
         output out0.0, %5",
    );
    assert_eq!(count(&lines, "-(abs)g"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "and(16)") + count(&lines, "xor(16)"), 0, "{lines:#?}");
}

/// Making a result again is no longer than moving it.
#[test]
fn results_are_made_in_each_register_of_a_message() {
    let lines = words(
        Machine::G45,
        "%2: b32 = fadd %0, %1
         %3: b32 = fmul %0, %1
         output out0.0, %2
         output out0.1, %3
         output out0.2, %3
         output out0.3, %2",
    );
    assert_eq!(count(&lines, "add(16) m") + count(&lines, "mul(16) m"), 4, "{lines:#?}");
    // The second register of the header, and the message.
    assert_eq!(lines.len(), 6, "{lines:#?}");
}

/// Words of 16 lanes fill one register: the registers behind them are those of the distances, which nobody reads here.
#[test]
fn a_pixels_place_takes_no_distance() {
    let lines = words(
        Machine::G45,
        "%2: b32 = input in1.0
         %3: b32 = input in1.1
         output out0.0, %2
         output out0.1, %3",
    );
    assert_eq!(count(&lines, "add(8)"), 0, "{lines:#?}");
}

/// A place is below 2^16.
#[test]
fn what_cannot_leave_the_integers_is_not_clamped() {
    let convert = |body: &str| {
        let lines = words(Machine::G45, &format!("{body}\noutput out0.0, %3"));
        count(&lines, "sel(16)")
    };
    assert_eq!(convert("%2: b32 = input in1.0\n%3: b32 = f2s %2"), 0);
    assert_eq!(convert("%2: b32 = fadd %0, %1\n%3: b32 = f2s %2"), 1);
}

/// A loop whose lanes leave by a predicate, in its middle and at its end.
#[test]
fn lanes_leave_loops_by_a_predicate() {
    let lines = words(
        Machine::G45,
        "%2: b32 = const 0
         %3: b32 = const 1
         %4: b32 = loop %2 body (%5: b32) {
           %6: b1 = slt %0, %5
           if %6 {
             break %5
           } else {
             yield
           }
           %7: b32 = iadd %5, %3
           continue %7
         } continuing (%8: b32) {
           %9: b1 = slt %1, %8
           break_if %9, %8, %8
         }
         output out0.0, %4",
    );
    assert_eq!(count(&lines, "endif(16)"), 0, "{lines:#?}");
    assert_eq!(count(&lines, ") break(16)"), 1, "{lines:#?}");
    assert_eq!(count(&lines, ") while(16)"), 1, "{lines:#?}");
}

/// Short arms have a predicate.
#[test]
fn short_arms_are_predicated() {
    let arms = |words: usize| {
        let mut arm = String::new();
        let mut last = 0;
        for at in 10..10 + words {
            arm += &format!("%{at}: b32 = fadd %{last}, %1\n");
            last = at;
        }
        let lines = self::words(
            Machine::G45,
            &format!(
                "%2: b1 = flt %0, %1
                 %3: b32 = if %2 {{
                   {arm}
                   yield %{last}
                 }} else {{
                   yield %0
                 }}
                 output out0.0, %3"
            ),
        );
        count(&lines, ") if(16)")
    };
    assert_eq!((arms(4), arms(20)), (0, 1));
}

/// The comparison itself says which pixels live no longer.
#[test]
fn pixels_are_discarded_by_the_comparison() {
    let discard = |body: &str| {
        words(
            Machine::G45,
            &format!("{body}\nif %9 {{\ndemote\nyield\n}} else {{\nyield\n}}\noutput out0.0, %0"),
        )
    };
    let lines = discard("%9: b1 = flt %0, %1");
    assert_eq!(count(&lines, "(-f0.1) cmp.l.f0.1(16)"), 1, "{lines:#?}");
    let lines = discard("%8: b1 = ieq %0, %1\n%9: b1 = not %8");
    assert_eq!(count(&lines, "(-f0.1) cmp.nz.f0.1(16)"), 1, "{lines:#?}");
    // An order of floats has no opposite: the flag is turned over.
    let lines = discard("%8: b1 = flt %0, %1\n%9: b1 = not %8");
    assert_eq!(count(&lines, "not(1) f0<1>"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "or(1) f0.1"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "endif(16)"), 0, "{lines:#?}");
}

/// The word itself is predicated, where the other value is read no more.
#[test]
fn a_choice_of_what_one_word_makes_is_that_word() {
    let choose = |after: &str| {
        words(
            Machine::G45,
            &format!(
                "%2: b32 = fmul %0, %1
                 %3: b32 = fadd %2, %1
                 %4: b1 = flt %0, %1
                 %5: b32 = select %4, %3, %2
                 %6: b32 = fmul %5, %5
                 output out0.0, %6
                 {after}"
            ),
        )
    };
    let lines = choose("");
    assert_eq!(count(&lines, "(+f0.0) add(16)"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "sel(16)"), 0, "{lines:#?}");
    // What is read further on is chosen.
    assert_eq!(count(&choose("output out0.1, %2"), "sel(16)"), 1);
}

/// A vertex with an output of two components has four slots, the one with a position alone three; nothing is written of a slot
/// or component that nobody reads.
#[test]
fn what_a_vertex_does_not_have_is_not_written() {
    let vertex = |declared: &str, body: &str| {
        of_text(
            Machine::G45,
            &format!(
                "func \"one\" vertex {{
                  in0 = \"a\" f32 x 4 location 0 perspective center
                  out0 = \"\" f32 x 4 builtin position
                  {declared}
                }} body {{
                  %0: b32 = input in0.0
                  %1: b32 = input in0.1
                  %2: b32 = input in0.2
                  %3: b32 = input in0.3
                  output out0.0, %0
                  output out0.1, %1
                  output out0.2, %2
                  output out0.3, %3
                  {body}
                  yield
                }}"
            ),
        )
    };
    // Header, the inverse and three products and the inverse itself, position, message.
    assert_eq!(vertex("", "").len(), 6);
    let pair = "out1 = \"\" f32 x 2 location 0 perspective";
    let moved = vertex(pair, "output out1.0, %0\noutput out1.1, %1");
    assert_eq!(moved.len(), 7, "{moved:#?}");
    let made = vertex(
        pair,
        "%4: b32 = fmul %0, %0\n%5: b32 = fmul %1, %1\noutput out1.0, %4\noutput out1.1, %5",
    );
    assert_eq!(made.len(), 7, "{made:#?}");
    assert_eq!(count(&made, "mul(8) m7<1>F g"), 1, "{made:#?}");
}

/// One message computes a function of several components, which stand beside each other in one register before and behind it.
#[test]
fn extended_math_of_components_is_one_message() {
    let lines = of_text(
        Machine::G45,
        "func \"one\" vertex {
          in0 = \"a\" f32 x 4 location 0 perspective center
          in1 = \"b\" f32 x 4 location 1 perspective center
          out0 = \"\" f32 x 4 builtin position
          out1 = \"\" f32 x 2 location 0 perspective
        } body {
          %0: b32 = input in0.0
          %1: b32 = input in0.1
          %2: b32 = input in0.2
          %3: b32 = input in0.3
          %4: b32 = input in1.0
          %5: b32 = input in1.2
          %6: b32 = frcp %4
          %7: b32 = frcp %5
          %8: b32 = fmul %0, %6
          %9: b32 = fmul %1, %7
          output out0.0, %0
          output out0.1, %1
          output out0.2, %2
          output out0.3, %3
          output out1.0, %8
          output out1.1, %9
          yield
        }",
    );
    // One for w, one for both.
    assert_eq!(count(&lines, "math MsgDesc: inv"), 2, "{lines:#?}");
    // Both inverses, products of the output and of the position, three moves, the message.
    assert_eq!(lines.len(), 8, "{lines:#?}");
    let both = lines.iter().find(|line| line.contains("math") && line.contains("align16"));
    assert!(both.is_some_and(|line| line.contains(">.xyF g3<4>.xz")), "{lines:#?}");
}

/// An arm that holds nothing costs no word.
#[test]
fn empty_arms_are_none() {
    let lines = words(
        Machine::G45,
        "%2: b1 = flt %0, %1
         if %2 {
           yield
         } else {
           %3: b32 = fsqrt %1
           %4: b1 = flt %3, %0
           if %4 {
             demote
             yield
           } else {
             yield
           }
           yield
         }
         output out0.0, %0",
    );
    assert_eq!(count(&lines, "else(16)"), 0, "{lines:#?}");
    assert_eq!(count(&lines, "(-f0.0) iff(16)"), 1, "{lines:#?}");
}

/// RNDE says where the nearest number is one more: four words with the sign.
#[test]
fn rounding_takes_four_words() {
    let lines = words(
        Machine::G45,
        "%2: b32 = fadd %0, %1
         %3: b32 = fround %2
         output out0.0, %3",
    );
    assert_eq!(count(&lines, "rnde.r.f0.0(16)"), 1, "{lines:#?}");
    // One sum, r1, three zeros, and the message.
    assert_eq!(lines.len(), 1 + 4 + 1 + 3 + 1, "{lines:#?}");
}

/// Two operands whose components stand side by side are one word, to the component that wants it. What stands apart is moved before.
#[test]
fn a_dot_product_of_a_vertex_is_one_word() {
    let vertex = |body: &str| {
        of_text(
            Machine::G45,
            &format!(
                "func \"one\" vertex {{
                  in0 = \"a\" f32 x 4 location 0 perspective center
                  in1 = \"b\" f32 x 4 location 1 perspective center
                  out0 = \"\" f32 x 4 builtin position
                }} body {{
                  %0: b32 = input in0.0
                  %1: b32 = input in0.1
                  %2: b32 = input in0.2
                  %3: b32 = input in0.3
                  %4: b32 = input in1.0
                  %5: b32 = input in1.1
                  %6: b32 = input in1.2
                  %7: b32 = input in1.3
                  %8: b32 = const 0x3f800000
                  {body}
                  output out0.0, %9
                  output out0.1, %0
                  output out0.2, %0
                  output out0.3, %8
                  yield
                }}"
            ),
        )
    };
    let whole = vertex("%9: b32 = fdot %0, %1, %2, %3, %7, %6, %5, %4");
    assert_eq!(count(&whole, "dp4(8)"), 1, "{whole:#?}");
    assert!(whole.iter().any(|line| line.contains("g3<4>.wzyxF")), "{whole:#?}");
    assert_eq!(count(&whole, "mul(8)") + count(&whole, "add(8)"), 0, "{whole:#?}");
    let plane = vertex("%9: b32 = fdot %0, %1, %2, %8, %4, %5, %6, %7");
    assert_eq!(count(&plane, "dph(8)"), 1, "{plane:#?}");
    let apart = vertex("%9: b32 = fdot %0, %5, %4, %1");
    assert_eq!(count(&apart, "dp2(8)"), 1, "{apart:#?}");
    assert_eq!(apart.len(), vertex("%9: b32 = fdot %0, %1, %4, %5").len() + 4, "{apart:#?}");
}

/// G45 vol. 4, 11.3.9: an index, the second vertex's half, and a move; a move for each vertex where one is written. What may be out
/// of range is cut first.
#[test]
fn a_word_of_a_variable_in_registers_takes_a_few_words() {
    let vertex = |bound: &str, by: u32| {
        of_text(
            Machine::G45,
            &format!(
                "func \"one\" vertex {{
                  mem0 = \"m\" private 40
                  in0 = \"a\" u32 x 4 location 0 flat center
                  out0 = \"\" u32 x 1 location 0 flat
                }} body {{
                  %0: b32 = input in0.0
                  %1: b32 = input in0.1
                  %2: b32 = const {by}
                  %3: b32 = const 9
                  %4: b32 = {bound}
                  %5: b32 = shl %4, %2
                  mem_store mem0[0..40], %5, %1
                  %6: b32 = const 8
                  %7: b32 = mem_load mem0[0..40], %6
                  output out0.0, %7
                  yield
                }}"
            ),
        )
    };
    let within = vertex("umin %0, %3", 2);
    assert_eq!(count(&within, "shl(8)"), 1, "{within:#?}");
    assert_eq!(count(&within, "add(2) a0"), 1, "{within:#?}");
    assert_eq!(count(&within, "mov(4) g[a0"), 1, "{within:#?}");
    assert_eq!(count(&within, "(+f0.1) mov(8) g[a0"), 1, "{within:#?}");
    assert_eq!(count(&within, "send(8)"), 2, "extended math and the end: {within:#?}");
    assert_eq!(count(&within, "and(8)"), 0, "{within:#?}");
    let open = vertex("iadd %0, %3", 2);
    assert_eq!(count(&open, "and(8)"), 1, "{open:#?}");
    // A shift by 32 would be none: the address is made first.
    let shifted = vertex("iadd %0, %3", 29);
    assert_eq!(count(&shifted, "shl(8)"), 2, "{shifted:#?}");
}
