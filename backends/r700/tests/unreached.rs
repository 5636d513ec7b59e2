//! Values that no path defines, because a loop has no end or a part of it is never reached, do not
//! stop the back end.

use gpucc_ir::ssa::parse;
use gpucc_r700 as r700;

fn compiles(body: &str) {
    let text = format!(
        "func \"main\" compute trusted {{
  res0 = \"data\" group 0 binding 0 storage 16 load store as i32
}} body {{
  %0: b32 = const 0x0
  %1: b32 = const 0x4
  %2: b32 = buffer_load res0, %0
  %3: b1 = slt %0, %2
{body}
  buffer_store res0, %0, %4
  yield
}}
"
    );
    for effort in [r700::Effort::None, r700::Effort::Full] {
        let module = parse(&text).expect("the text is right");
        let options = r700::Options { effort, ..r700::Options::default() };
        if let Err(failure) = r700::compile(module.funcs[0].clone(), &options) {
            panic!("{failure}");
        }
    }
}

#[test]
fn the_results_of_an_endless_loop_have_a_register() {
    compiles(
        "  %4: b32 = if %3 {
    %5: b32 = loop body {
      buffer_store res0, %1, %2
      continue
    } continuing {
      next
    }
    yield %5
  } else {
    yield %2
  }",
    );
}

#[test]
fn the_parameters_of_a_continuing_part_that_nothing_reaches_have_a_register() {
    compiles(
        "  %4: b32 = loop %2 body (%5: b32) {
    buffer_store res0, %1, %5
    break %5
  } continuing (%6: b32) {
    next %6
  }",
    );
}

#[test]
fn the_results_of_an_if_that_never_ends_have_a_register() {
    compiles(
        "  %4: b32 = loop %2 body (%5: b32) {
    %6: b32 = if %3 {
      break %2
    } else {
      break %0
    }
    continue %6
  } continuing (%7: b32) {
    next %7
  }",
    );
}
