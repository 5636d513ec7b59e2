//! Vectors of vertex programs: as many words as they should have, and the same bits as without them.

use super::MEMBERS;
use gpucc_emu::device::{VertexOut, VertexRun};
use gpucc_emu::draw::VertexId;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::driver::{Attribute, State, Step, Uniforms, VertexBuffer};
use gpucc_ir::ssa::{Func, parse};
use gpucc_machine::{Machine, Request};

const HEAD: &str = "in0 = \"a\" f32 x 4 location 0 flat center
     in1 = \"vertex\" u32 x 1 builtin vertex_index
     res0 = \"u\" group 0 binding 0 uniform 256 as f32
     out0 = \"place\" f32 x 4 builtin position
     out1 = \"seen\" f32 x";

/// A program that has the components of an attribute as %0 to %3, the vertex's number as %4 and 2.5 as %5. Its position is divided by 1,
/// and its other output has `width` components.
fn program(body: &str, width: usize) -> Func {
    let inputs: String = (0..4).map(|n| format!("%{n}: b32 = input in0.{n}\n")).collect();
    let text = format!(
        "func \"main\" vertex {{ {HEAD} {width} location 0 flat }} body {{
           {inputs} %4: b32 = input in1.0
           %5: b32 = const 0x40200000
           %9: b32 = const 0x3f800000
           output out0.3, %9
           {body} yield }}"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).funcs.remove(0)
}

/// A body's part for each component, with `@` for its number, and for values `$` before a number that each has of its own.
fn each(part: &str) -> String {
    let of = |n: usize| {
        let text = part.replace('@', &n.to_string());
        text.replace('$', &format!("%{}0", n + 1))
    };
    (0..4).map(of).collect()
}

/// Words that vectors save on each chip at least, where both programs leave the same bits, which are no zeros alone.
fn saved(body: &str) -> i64 {
    run(body, 4).0
}

/// These words, and what five vertices leave. The components of their attribute are [`attribute`], the numbers in memory [`uniform`].
fn run(body: &str, width: usize) -> (i64, Vec<VertexOut>) {
    run_without("pack_vectors", body, width)
}

/// As [`run`], with the words that a step saves.
fn run_without(step: &str, body: &str, width: usize) -> (i64, Vec<VertexOut>) {
    let ids: Vec<VertexId> = (0..5).map(|vertex| VertexId { vertex, instance: 0 }).collect();
    let mut pipeline = State { uniforms: Uniforms::Pushed, ..State::default() };
    let (location, buffer, offset) = (0, 0, 0);
    let format = "float32x4".into();
    pipeline.vertex.attributes.push(Attribute { location, format, buffer, offset });
    pipeline.vertex.buffers.push(VertexBuffer { stride: 16, step: Step::Vertex });
    let floats = |count: u32, of: fn(u32) -> f32| -> Vec<u8> {
        (0..count).flat_map(|n| of(n).to_le_bytes()).collect()
    };
    let buffers = [floats(20, attribute)];
    let (mut saved, mut left) = (i64::MAX, Vec::new());
    for member in MEMBERS {
        let both = [&[][..], &[step]].map(|skip| {
            let chip = member.about().chips[0];
            let mut request = Request { chip, pipeline: pipeline.clone(), ..Request::default() };
            request.passes.gate.skip = skip.iter().map(|name| String::from(*name)).collect();
            let func = program(body, width);
            let mut bindings = Bindings::new(&func);
            if let Some(resource) = func.resources.keys().next() {
                bindings.set(resource, Bound::Buffer(floats(64, uniform)));
            }
            let compiled = member.finish(func, &request).expect("it compiles");
            let draw =
                VertexRun { ids: &ids, first_vertex: 0, first_instance: 0, buffers: &buffers };
            let mut device = member.device(&compiled, chip);
            let out = device.vertices(&mut bindings, &draw).expect("it runs");
            (out, compiled.described.stats.instructions as i64)
        });
        let [(vectors, few), (scalars, many)] = both;
        assert_eq!(vectors, scalars);
        assert!(vectors.iter().any(|out| out[1] != [0; 4]));
        saved = saved.min(many - few);
        left = vectors;
    }
    (saved, left)
}

/// Component n % 4 of vertex n / 4.
fn attribute(n: u32) -> f32 {
    n as f32 * 0.75 - 3.0
}

/// Number n in memory.
fn uniform(n: u32) -> f32 {
    n as f32 * 1.25 - 3.0
}

/// Four products and four sums are one each, the slot has its value from the sum itself, and small floats are one operand.
#[test]
fn what_is_alike_in_components_is_one_word() {
    let sums = each("$1: b32 = fmul %@, %5\n$2: b32 = fadd $1, %0\noutput out1.@, $2\n");
    assert!(saved(&sums) >= 6);
    let numbers = "%101: b32 = const 0x3f800000 %201: b32 = const 0x40000000
         %301: b32 = const 0x40400000 %401: b32 = const 0";
    let body = each("$2: b32 = fmul %@, $1\noutput out1.@, $2\n");
    assert!(saved(&format!("{numbers}\n{body}")) >= 3);
    // One is no float of 8 bits.
    let body = format!("{}\n{body}", numbers.replace("0x40400000", "0x3dcccccd"));
    assert!(saved(&body) >= 2);
}

/// A row of uniforms is one operand.
#[test]
fn rows_of_uniforms_are_operands() {
    let row = "%6: b32 = const 16
         %100: b32, %200: b32, %300: b32, %400: b32 = buffer_load res0, %6\n";
    let products = each("$1: b32 = fmul $0, %0\noutput out1.@, $1\n");
    assert!(saved(&format!("{row}{products}")) >= 3);
}

/// Comparisons with their choices are vectors, and one that is alone keeps the flag of others.
#[test]
fn choices_are_vectors() {
    let body = each("$1: b1 = flt %@, %5\n$2: b32 = select $1, %@, %0\noutput out1.@, $2\n");
    assert!(saved(&body) >= 6);
    let body = each("$1: b32 = fmin %@, %5\n$2: b32 = fmax $1, %0\noutput out1.@, $2\n");
    assert!(saved(&body) >= 9);
}

/// A function of extended math is one message for all components, and for some of them.
#[test]
fn functions_of_components_are_one_message() {
    let body = each("$1: b32 = frcp %@\noutput out1.@, $1\n");
    assert!(saved(&body) >= 3);
    let body = "%6: b32 = fabs %1\n%7: b32 = fabs %3\n%8: b32 = fsqrt %6\n%10: b32 = fsqrt %7
         output out1.0, %8\noutput out1.2, %10\noutput out1.1, %0\noutput out1.3, %0\n";
    assert!(saved(body) >= 2);
}

/// Sums wait for nothing that waits for them: lanes of different depth do not join into a circle.
#[test]
fn vectors_do_not_wait_for_themselves() {
    let body = "%10: b32 = fmul %0, %1
         %11: b32 = fmul %10, %1
         %12: b32 = fmul %11, %1
         %20: b32 = fadd %12, %10
         %21: b32 = fadd %20, %11
         %22: b32 = fmul %21, %1
         output out1.0, %12 output out1.1, %22 output out1.2, %20 output out1.3, %21";
    assert!(saved(body) >= 0);
}

/// Four words of memory at an address of each vertex come by one message.
#[test]
fn four_words_are_read_at_once() {
    let row = "%6: b32 = const 4
         %7: b32 = shl %4, %6
         %100: b32, %200: b32, %300: b32, %400: b32 = buffer_load res0, %7\n";
    assert!(saved(&format!("{row}{}", each("output out1.@, $0\n"))) >= 2);
}

/// A row that begins at a multiple of 16 bytes is read by one address for each vertex, where others are read lane by lane.
#[test]
fn whole_rows_need_no_places_of_lanes() {
    let row = |shift: u32| {
        let row = format!(
            "%6: b32 = const {shift}
             %7: b32 = shl %4, %6
             %100: b32, %200: b32, %300: b32, %400: b32 = buffer_load res0, %7\n"
        );
        saved(&format!("{row}{}", each("output out1.@, $0\n")))
    };
    assert!(row(4) >= row(3) + 3);
}

/// Three words of a row behind its first, which nobody reads, are its other components.
#[test]
fn parts_of_rows_are_components() {
    let body = "%6: b32 = const 5
         %7: b32 = shl %4, %6
         %99: b32, %100: b32, %200: b32, %300: b32 = buffer_load res0, %7
         %400: b32 = fmul %100, %5\n";
    assert!(saved(&format!("{body}{}", each("output out1.@, $0\n"))) >= 2);
}

/// What both arms of a branch make alike is a vector, in each arm and behind it.
#[test]
fn results_of_branches_are_vectors() {
    let arm = |op: &str, from: u32| {
        let value = |n: u32| format!("%{}: b32 = {op} %{n}, %5\n", from + n);
        let values: String = (0..4).map(value).collect();
        format!("{values} yield %{}, %{}, %{}, %{}", from, from + 1, from + 2, from + 3)
    };
    let body = format!(
        "%6: b1 = flt %0, %5
         %100: b32, %200: b32, %300: b32, %400: b32 = if %6 {{
           {}
         }} else {{
           {}
         }}\n",
        arm("fmul", 10),
        arm("fadd", 20)
    );
    assert!(saved(&format!("{body}{}", each("$1: b32 = fmul $0, %5\noutput out1.@, $1\n"))) >= 6);
}

/// Values that travel around a loop are vectors too.
#[test]
fn values_of_loops_are_vectors() {
    let body = "%6: b32 = const 0
         %7: b32 = const 1
         %8: b32 = const 3
         %100: b32, %200: b32, %300: b32, %400: b32 = loop %6, %0, %1, %2, %3 body (%20: b32, %21: b32, %22: b32, %23: b32, %24: b32) {
           %31: b32 = fmul %21, %5
           %32: b32 = fmul %22, %5
           %33: b32 = fmul %23, %5
           %34: b32 = fmul %24, %5
           %30: b32 = iadd %20, %7
           %35: b1 = ieq %30, %8
           if %35 {
             break %31, %32, %33, %34
           } else {
             yield
           }
           continue %30, %31, %32, %33, %34
         } continuing (%40: b32, %41: b32, %42: b32, %43: b32, %44: b32) {
           next %40, %41, %42, %43, %44
         }\n";
    assert!(saved(&format!("{body}{}", each("output out1.@, $0\n"))) >= 3);
}

/// What a comparison chooses is made where it holds alone: the word has the predicate, on components and on lanes.
#[test]
fn words_have_the_predicates_of_choices() {
    let part = "$1: b1 = flt %@, %5\n$2: b32 = fmul %@, %@\n$3: b32 = fadd %@, %5\n
         $4: b32 = select $1, $2, $3\n$5: b32 = fadd $4, %5\noutput out1.@, $5\n";
    assert!(run_without("when", &each(part), 4).0 >= 1);
}

/// Words of one row share a message wherever they are asked for: three at an address of each vertex, and the next three.
#[test]
fn words_of_a_row_share_a_message() {
    let body = "%6: b32 = const 5
         %7: b32 = shl %4, %6
         %8: b32 = const 16
         %10: b32 = iadd %7, %8
         %20: b32, %21: b32, %22: b32 = buffer_load res0, %7
         %14: b32 = fmul %0, %5
         %23: b32, %24: b32, %25: b32 = buffer_load res0, %10
         %100: b32 = fadd %20, %23
         %200: b32 = fadd %21, %24
         %300: b32 = fadd %22, %25
         %400: b32 = fadd %14, %25\n";
    assert!(saved(&format!("{body}{}", each("output out1.@, $0\n"))) >= 4);
}

/// Polynomials of values that several steps make are steps of one vector.
#[test]
fn chains_of_what_is_unlike_are_vectors() {
    let numbers = "%6: b32 = const 0x3e800000
         %7: b32 = const 0xc1800000
         %8: b32 = fneg %1
         %100: b32 = fadd %0, %6
         %200: b32 = fmul %8, %1
         %300: b32 = fmin %2, %5
         %400: b32 = fmul %3, %7\n";
    let chain = "$1: b32 = fmul $0, %6
         $2: b32 = fadd $1, %7
         $3: b32 = fmul $2, $0
         $4: b32 = fadd $3, %6
         $5: b32 = fmul $4, $0
         output out1.@, $5\n";
    // Three of four words of each of five steps.
    assert!(saved(&format!("{numbers}{}", each(chain))) >= 14);
}

/// A register has four components, however many chains would begin in it.
#[test]
fn chains_beyond_four_have_registers_of_their_own() {
    let numbers = "%6: b32 = const 0x3e800000
         %7: b32 = const 0xc1800000\n";
    let values: String = (0..7)
        .map(|n| {
            let op = ["fadd", "fmul", "fmin"][n % 3];
            let from = 10 + n;
            format!("%{from}: b32 = {op} %{}, %{}\n", n % 4, [6, 7, 5][n / 3])
        })
        .collect();
    let chains: String = (0..7)
        .map(|n| {
            let (x, v) = (10 + n, 10 * (n + 10));
            format!(
                "%{v}: b32 = fmul %{x}, %6\n%{}: b32 = fadd %{v}, %7\n%{}: b32 = fmul %{}, %{x}
                 %{}: b32 = fadd %{}, %6\n",
                v + 1,
                v + 2,
                v + 1,
                v + 3,
                v + 2
            )
        })
        .collect();
    let sum =
        "%500: b32 = fadd %103, %113\n%501: b32 = fadd %500, %123\n%502: b32 = fmax %501, %133
         output out1.0, %143\noutput out1.1, %153\noutput out1.2, %163\noutput out1.3, %502\n";
    assert!(saved(&format!("{numbers}{values}{chains}{sum}")) >= 8);
}

/// Values of [`value`] beside an attribute's components, by their numbers.
const VALUES: &str = "%6: b32 = const 16
     %40: b32, %41: b32, %42: b32, %43: b32 = buffer_load res0, %6
     %50: b32 = fneg %0 %51: b32 = fneg %1 %52: b32 = fneg %2 %53: b32 = fneg %3
     %60: b32 = fabs %0 %61: b32 = fabs %1 %62: b32 = fabs %2 %63: b32 = fabs %3
     %70: b32 = const 0x3f800000 %71: b32 = const 0xc0000000
     %72: b32 = const 0x42c80000 %73: b32 = const 0x3f000000
     %80: b32 = fadd %0, %5 %81: b32 = fmul %1, %5 %82: b32 = fadd %2, %5 %83: b32 = fmul %3, %5
     %90: b32 = fneg %60 %91: b32 = fneg %61 %92: b32 = fneg %62 %93: b32 = fneg %63";

/// What a value is for a vertex.
fn value(number: u32, vertex: u32) -> f32 {
    let component = number % 10;
    let own = attribute(4 * vertex + component);
    match number / 10 {
        0 => own,
        4 => uniform(4 + component),
        5 => -own,
        6 => own.abs(),
        7 => [1.0, -2.0, 100.0, 0.5][component as usize],
        8 if component.is_multiple_of(2) => own + 2.5,
        8 => own * 2.5,
        _ => -own.abs(),
    }
}

/// Dot products of all lengths, of what stands side by side and what does not, fill outputs of all widths. All sums are exact.
#[test]
fn dot_products_are_what_they_should_be() {
    let cases: &[[&[u32]; 2]] = &[
        [&[0, 1], &[2, 3]],
        [&[0, 1], &[41, 43]],
        [&[0, 1, 2], &[40, 41, 42]],
        [&[2, 1, 1], &[43, 40, 40]],
        [&[0, 1, 2, 3], &[40, 41, 42, 43]],
        // The last number of an operand is 1.
        [&[0, 1, 2, 70], &[40, 41, 42, 43]],
        [&[40, 41, 42, 43], &[2, 1, 0, 70]],
        [&[80, 81, 82, 70], &[40, 1, 42, 3]],
        // The negative, the absolute value, both, and some of them.
        [&[50, 51], &[40, 41]],
        [&[50, 51, 52, 53], &[60, 61, 62, 63]],
        [&[50, 1, 62], &[40, 41, 42]],
        [&[90, 91, 92], &[40, 41, 42]],
        [&[50, 51, 52, 70], &[90, 91, 92, 93]],
        // Numbers, of which 100 is no float of 8 bits.
        [&[70, 71, 73], &[0, 1, 2]],
        [&[0, 1, 2, 3], &[70, 71, 72, 73]],
        [&[72, 72], &[0, 1]],
        [&[70, 71, 73, 70], &[73, 73, 71, 70]],
        [&[0, 71, 42, 70], &[1, 40, 73, 3]],
        // Both lie apart.
        [&[80, 2, 41], &[1, 40, 83]],
        [&[80, 81, 82], &[80, 81, 82]],
        [&[83, 50, 61, 92], &[43, 72, 81, 0]],
    ];
    for &[left, right] in cases {
        let products = [[left, right], [right, right], [left, left], [right, left]];
        for width in 1..=4 {
            let mut body = String::from(VALUES);
            for (component, sides) in products[..width].iter().enumerate() {
                let names: Vec<String> = sides.concat().iter().map(|n| format!("%{n}")).collect();
                let names = names.join(", ");
                body += &format!("\n%10{component}: b32 = fdot {names}\n");
                body += &format!("output out1.{component}, %10{component}\n");
            }
            let (_, left) = run(&body, width);
            for (vertex, out) in (0..).zip(&left) {
                let got = out[1].map(f32::from_bits);
                let wanted = products.map(|[first, second]| {
                    let pairs = first.iter().zip(second);
                    pairs.map(|(&a, &b)| value(a, vertex) * value(b, vertex)).sum::<f32>()
                });
                assert_eq!(got[..width], wanted[..width], "vertex {vertex}\n{body}");
            }
        }
    }
}
