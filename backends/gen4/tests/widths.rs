//! Both widths of a program: what one of 16 lanes costs beside one of eight.

use gpucc_gen4::{G45, GEN4};
use gpucc_ir::ssa::{Func, parse};
use gpucc_machine::{Compiled, Machine as _, Request};

/// Compiles for a member, in steps of eight lanes or of 16.
fn compiled(func: &Func, chip: &'static str, lanes: u32) -> Compiled {
    let mut request = Request { chip, ..Request::default() };
    if lanes == 8 {
        request.passes.gate.skip = vec!["sixteen_lanes".into()];
    }
    let member = if chip == "g45" { &G45 } else { &GEN4 };
    member.finish(func.clone(), &request).expect("it compiles")
}

fn lanes(compiled: &Compiled) -> Option<f64> {
    compiled.described.machine.get("lanes").map(|figure| figure.0)
}

fn read(text: &str) -> Func {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.funcs.into_iter().next().expect("one function")
}

/// A fragment program of arithmetic, extended math, a lookup, a branch and a derivative.
fn mixed() -> Func {
    read(
        "func \"mixed\" fragment {
          res0 = \"t\" group 0 binding 0 texture d2 float as f32
          res1 = \"s\" group 0 binding 1 sampler as u32
          in0 = \"at\" f32 x 4 location 0 perspective center
          out0 = \"\" f32 x 4 location 0 perspective
        } body {
          %0: b32 = input in0.0
          %1: b32 = input in0.1
          %2: b32, %3: b32, %4: b32, %5: b32 = tex sample res0 res1, %0, %1
          %6: b32 = fmul %2, %3
          %7: b32 = frsq %6
          %8: b32 = ddx_coarse %7
          %9: b1 = flt %8, %0
          %10: b32 = if %9 {
            %11: b32 = fadd %8, %4
            yield %11
          } else {
            %12: b32 = fmul %8, %5
            yield %12
          }
          output out0.0, %10
          output out0.1, %7
          yield
        }",
    )
}

/// docs/perf-gen4.md: two programs of eight lanes are never faster than one of 16, so registers alone decide.
#[test]
fn sixteen_lanes_take_no_longer_than_eight_twice() {
    for chip in ["g45", "i965"] {
        let [narrow, wide] = [8, 16].map(|lanes| compiled(&mixed(), chip, lanes));
        assert_eq!((lanes(&narrow), lanes(&wide)), (Some(8.0), Some(16.0)), "{chip}");
        let [narrow, wide] = [narrow, wide].map(|compiled| compiled.described.stats);
        assert!(wide.cycles <= 2.0 * narrow.cycles, "{chip}: {} {}", wide.cycles, narrow.cycles);
        assert!(wide.instructions < 2 * narrow.instructions, "{chip}");
        assert!(wide.registers > narrow.registers, "{chip}");
    }
}

/// A fragment program that keeps so many values until it has the last of them.
fn crowded(values: usize) -> Func {
    let loads: String = (0..values)
        .map(|n| {
            format!(
                "%{}: b32 = const {}\n%{n}: b32 = buffer_load res0, %{}\n",
                2000 + n,
                4 * n,
                2000 + n
            )
        })
        .collect();
    let sums: String = (1..values)
        .map(|n| {
            let before = if n == 1 { values - 1 } else { 1000 + n - 1 };
            format!("%{}: b32 = fmul %{before}, %{}\n", 1000 + n, n - 1)
        })
        .collect();
    read(&format!(
        "func \"crowded\" fragment {{
          res0 = \"b\" group 0 binding 0 storage 4096 load as u32
          out0 = \"\" f32 x 4 location 0 perspective
        }} body {{
          {loads}{sums}output out0.0, %{}
          yield
        }}",
        1000 + values - 1
    ))
}

#[test]
fn what_does_not_fit_the_registers_twice_has_eight_lanes() {
    for (values, expected) in [(40, 16.0), (90, 8.0)] {
        let compiled = compiled(&crowded(values), "g45", 16);
        assert_eq!(lanes(&compiled), Some(expected), "{values} values");
        assert_eq!(compiled.described.stats.spills, 0, "{values} values");
    }
}

/// Steps of 16 are half as many as those of eight, or there are none of 16.
#[test]
fn no_step_of_a_workgroup_is_half_empty() {
    for (size, expected) in [(1, 8.0), (8, 8.0), (9, 16.0), (16, 16.0), (24, 8.0), (64, 16.0)] {
        let func = read(&format!(
            "func \"one\" compute workgroup {size} 1 1 {{
              res0 = \"b\" group 0 binding 0 storage 4096 load store as u32
              in0 = \"i\" u32 x 1 builtin local_invocation_index
            }} body {{
              %0: b32 = input in0.0
              buffer_store res0, %0, %0
              yield
            }}"
        ));
        assert_eq!(lanes(&compiled(&func, "g45", 16)), Some(expected), "{size} invocations");
    }
}
