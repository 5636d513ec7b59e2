use super::*;

/// One function with everything that text can say.
pub(crate) const EVERYTHING: &str = r#"func "all \"of\" it" compute workgroup 4 2 1 {
  res0 = "u" group 0 binding 0 uniform 64 as f32
  res1 = "s" group 0 binding 1 storage 16 stride 4 load store atomic as u32
  res2 = "i" group 0 binding 2 immediate 8 as i32
  res3 = "t" group 1 binding 0 texture d2 arrayed float as f32
  res4 = "m" group 1 binding 1 texture d2 depth multisampled as f32
  res5 = "w" group 1 binding 2 storage_texture d3 uint rgba8uint store as u32
  res6 = "c" group 1 binding 3 sampler comparison count 4 as f32
  res7 = "l" group 1 binding 4 sampler as f32
  in0 = "gid" u32 x 3 builtin global_invocation_id
  in1 = "uv" f32 x 2 location 3 linear centroid
  out0 = "color" f32 x 4 location 0 perspective blend_src 1
  out1 = "clip" f32 x 1 builtin clip_distance 4
  mem0 = "array" private 64
  mem1 = "shared" workgroup 128
} body {
  %0: b32 = input in0.1 !10:20 #7.3
  %1: b32 = const 0x3f800000 ; 1.0
  %2: b32 = const 0xfffffffe ; -2
  %3: b16 = const 0x3c00 ; 1.0
  %4: b1 = const 0x1
  %5: b64 = const 0x4000000000000000 ; 2.0
  %6: b32, %7: b32 = buffer_load res1, %0
  buffer_store res1, %0, %6, %7
  %8: b32 = buffer_size res1
  %9: b32 = buffer_atomic compare_exchange res1, %0, %6, %7
  buffer_atomic store res1, %0, %6
  mem_store mem0[0..16], %0, %1
  %10: b32 = mem_load mem0[4..8], %0
  %11: b32 = mem_atomic add mem1[0..128], %0, %10
  %12: b32 = index %0, %2
  barrier storage workgroup
  demote
  %13: b1 = is_helper
  %14: b32, %15: b32, %16: b32, %17: b32 = tex level res3 res7 offset 1 -1 0, %1, %1, %0, %1
  %18: b32 = tex level res3 res6 compare, %0, %1, %1, %0, %1, %1
  %19: b32, %20: b32, %21: b32, %22: b32 = tex gather res3 res7 component 2, %1, %1, %0
  %23: b32, %24: b32 = tex_query size res3, %0
  image_store res5, %0, %0, %0, %6, %6, %6, %6
  output out0.3, %1
  %25: b32 = if %4 !1:2 {
    %26: b32 = fadd %1, %1
    yield %26
  } else {
    yield %1
  }
  %27: b32 = block ^0 #1.0 {
    if %13 {
      exit ^0, %1
    } else {
      yield
    }
    block ^1 {
      exit ^1
    }
    yield %2
  }
  %28: b32 = loop %0, %1 body (%29: b32, %30: b32) {
    if %4 {
      break %29
    } else {
      yield
    }
    continue %30
  } continuing (%31: b32) {
    break_if %4, %31, %31, %1
  }
  loop body {
    continue
  } continuing {
    next
  }
  unreachable
}
"#;

/// Two invocations for each triangle.
const GEOMETRY: &str = "func \"main\" geometry triangles to 4 triangle_strip invocations 2 {
  in0 = \"p\" f32 x 4 corner 2 builtin position
  in1 = \"c\" f32 x 3 corner 0 location 5
  in2 = \"id\" u32 x 1 builtin invocation_index
  out0 = \"position\" f32 x 4 builtin position
} body {
  %0: b32 = input in0.1
  output out0.0, %0
  emit_vertex
  end_primitive
  yield
}
";

#[test]
fn what_a_geometry_program_takes_and_emits_goes_through_text_unchanged() {
    let module = parse(GEOMETRY).unwrap();
    assert_eq!(module.to_string(), GEOMETRY);
    let geometry = module.funcs[0].geometry.expect("it is a geometry program");
    assert_eq!((geometry.most, geometry.invocations), (4, 2));
    let one = GEOMETRY.replace(" invocations 2", "");
    assert_eq!(parse(&one).unwrap().to_string(), one);
    refuses("func \"x\" geometry {", 1, 19, "expected what it takes, found '{'");
}

#[test]
fn everything_goes_through_text_unchanged() {
    let module = parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(module.to_string(), EVERYTHING);
}

#[test]
fn values_are_numbered_anew_in_program_order() {
    let text = "func \"f\" vertex { } body { %900: b32 = const 5 %3: b32 = iadd %900, %900 yield }";
    let module = parse(text).unwrap();
    let printed = module.to_string();
    assert!(printed.contains("%1: b32 = iadd %0, %0"), "{printed}");
    assert_eq!(parse(&printed).unwrap().to_string(), printed);
}

#[track_caller]
fn refuses(text: &str, line: u32, column: u32, message: &str) {
    let error = parse(text).expect_err("a broken text");
    assert_eq!((error.line, error.column), (line, column), "{error}");
    assert!(error.message.contains(message), "{error}");
}

#[test]
fn errors_say_where_and_what() {
    refuses("func", 1, 5, "expected a string");
    refuses("func \"a", 1, 6, "no closing quote");
    refuses("func \"a\" mesh", 1, 10, "vertex, geometry, fragment or compute");
    let begin = "func \"a\" compute {\n} body {\n";
    refuses(&format!("{begin}  %0: b32 = fad"), 3, 13, "an operation");
    refuses(&format!("{begin}  %0: b7"), 3, 7, "b1, b16, b32 or b64");
    refuses(&format!("{begin}  yield %1"), 3, 9, "%1 is not defined before");
    refuses(&format!("{begin}  exit ^1"), 3, 8, "no block ^1");
    refuses(&format!("{begin}  ä"), 3, 3, "no token begins with 'ä'");
    refuses(begin, 3, 1, "the end of the text");
    refuses(&format!("{begin}  %0: b1 = const 1\n  %0: b1 = const 1"), 4, 3, "%0 is defined twice");
    refuses("func \"a\" compute { res1 = ", 1, 20, "expected res0 next");
    refuses(&format!("{begin}  %0: b32 = const 99999999999999999999"), 3, 19, "below 2^64");
}

#[test]
fn nesting_has_a_limit_and_just_below_it_is_read() {
    let nested = |depth: usize| {
        let mut text = "func \"a\" compute { } body { %0: b1 = const 1 ".to_string();
        text.push_str(&"if %0 { ".repeat(depth));
        text.push_str(&"yield } else { yield } ".repeat(depth));
        text.push_str("yield }");
        text
    };
    let limit = MAX_NESTING as usize - 1;
    let module = parse(&nested(limit)).unwrap();
    assert_eq!(parse(&module.to_string()).unwrap().to_string(), module.to_string());
    let error = parse(&nested(limit + 1)).unwrap_err();
    assert!(error.message.contains("nested"), "{error}");
    assert!(parse(&"if %0 {".repeat(100_000)).is_err());
    let error = parse(&nested(100_000)).unwrap_err();
    assert!(error.message.contains("nested"), "{error}");
}

#[test]
fn cut_and_mutated_texts_never_panic() {
    let bytes = EVERYTHING.as_bytes();
    for end in 0..bytes.len() {
        if let Ok(text) = std::str::from_utf8(&bytes[..end]) {
            let _ = parse(text);
        }
    }
    let mut state = 1u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let words: Vec<&str> = EVERYTHING.split_whitespace().collect();
    for _ in 0..5_000 {
        let mut mutated = bytes.to_vec();
        for _ in 0..=next(4) {
            let at = next(mutated.len());
            match next(4) {
                0 => mutated[at] = next(256) as u8,
                1 => {
                    mutated.remove(at);
                }
                2 => {
                    let word = words[next(words.len())].as_bytes().to_vec();
                    mutated.splice(at..at, word);
                }
                _ => {
                    let end = (at + next(30)).min(mutated.len());
                    mutated.drain(at..end);
                }
            }
        }
        let text = String::from_utf8_lossy(&mutated);
        if let Ok(module) = parse(&text) {
            let printed = module.to_string();
            let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert_eq!(again.to_string(), printed);
            for func in &module.funcs {
                let _ = crate::ssa::verify(func);
            }
        }
    }
}
