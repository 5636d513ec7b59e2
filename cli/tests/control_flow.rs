//! Control flow that is rare: loops without an end, loops within `continuing`, and lanes that part and wait.

use crate::common::verified;
use gpucc::{Choice, Compiler, Options, Source, Target};

const MACHINES: [Target; 4] = [Target::Interp, Target::R700, Target::R600, Target::VALHALL];

/// Verifies a fragment program with this body of `main`, which has `n`, `u` and `sum`, on every machine.
#[track_caller]
fn fragment(name: &str, body: &str) {
    let text = format!(
        "@group(0) @binding(0) var<uniform> u: vec4u;
         @fragment fn main(@location(0) @interpolate(flat) n: u32) -> @location(0) vec4u {{
             var sum = n;
             {body}
             return vec4u(sum, n, u.x, 1u);
         }}"
    );
    for target in MACHINES {
        verified(target, Options::default(), name, Source::Wgsl(&text));
    }
}

#[test]
fn a_continuing_may_hold_a_loop_that_never_ends() {
    // The first trip leaves; nobody but the input knows.
    fragment(
        "endless",
        "loop {
             if ((n & u.y) <= n) { break; }
             continuing { loop { sum += u.y; } }
         }",
    );
    fragment(
        "endless_arm",
        "loop {
             sum += 1u;
             if ((sum & u.y) <= sum) { break; }
             continuing { if (u.y == 77u) { loop { sum += 1u; } } }
         }",
    );
    fragment(
        "endless_with_results",
        "var k = 0u;
         loop {
             k += u.x;
             if (k > 3u) { sum += k; }
             if ((k & u.y) <= k) { sum += 5u; break; }
             continuing { k += 1u; loop { k += 1u; loop { sum ^= k; } } }
         }",
    );
}

#[test]
fn nobody_runs_into_the_end_behind_a_loop_that_does_nothing() {
    fragment(
        "nothing",
        "var k = n;
         loop {
             k += 1u;
             if ((k & u.x) <= k) { break; }
             continuing { loop {} }
         }
         sum += k;",
    );
    fragment("arm", "if (u.x == n && (u.x ^ n) != 0u) { loop {} } else { sum += 3u; }");
    let ir = "func \"main\" compute workgroup 32 1 1 {
  res0 = \"out\" group 0 binding 0 storage 4096 load store as u32
  in0 = \"id\" u32 x 3 builtin global_invocation_id
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0x400
  %2: b32 = index %0, %1
  %3: b32 = const 0x4
  %4: b32 = loop %1 body (%5: b32) {
    %6: b1 = ine %2, %5
    if %6 {
      break %0
    } else {
      yield
    }
    continue %1
  } continuing (%7: b32) {
    loop %1 body (%8: b32) {
      continue %8
    } continuing (%9: b32) {
      next %9
    }
    unreachable
  }
  %10: b32 = imul %2, %3
  buffer_store res0, %10, %4
  yield
}
";
    for target in [Target::Interp, Target::R700, Target::VALHALL] {
        verified(target, Options::default(), "nothing.ir", Source::Ir(ir));
    }
}

#[test]
fn a_continuing_holds_loops_switches_and_ifs() {
    fragment(
        "nested",
        "var k = 0u;
         loop {
             if (k > n % 5u) { sum += 100u; if (u.x > 9u) { continue; } break; }
             if (k == 2u) { continue; }
             sum = sum * 3u + k;
             continuing {
                 k += 1u;
                 for (var i = 0u; i < (n & 3u); i++) {
                     if (i == 2u) { break; }
                     sum += i;
                     var j = 0u; loop { sum ^= j; j++; continuing { break if j > (sum & 1u); } }
                 }
                 switch (k % 3u) { case 0u: { sum += 7u; } case 1u: { if (u.y > 3u) { break; } sum += 8u; } default: {} }
                 break if k > 6u;
             }
         }",
    );
}

/// Programs in which lanes part, and some of them go where others wait already.
#[test]
fn lanes_that_part_meet_where_every_way_in_reconverges() {
    // An empty `else` ends where an outer one does.
    fragment(
        "empty_ends",
        "for (var k = 0u; k < 6u; k++) {
             if (u.x > k) {
                 if ((n & 1u) == 1u) { sum += k; }
             } else {
                 sum ^= 5u;
             }
             if ((n >> k & 3u) == 3u) { break; }
         }",
    );
    // A loop that one arm never leaves.
    fragment(
        "one_arm_stays",
        "var k = 0u;
         loop {
             if (k != 0xffffffffu) {
                 if (k == n % 7u) { sum += k; break; }
                 if (u.x == n) { if (u.y != 2u) { sum += 1u; } }
                 k += 1u;
             }
         }
         if (k < u.z) { sum += 3u; }",
    );
    // Lanes find what they look for on different trips, and what is behind the search begins in nothing.
    fragment(
        "search",
        "var k = 0u;
         loop {
             if (k < 20u) {
                 var p = n & 31u;
                 loop {
                     if (p != (u.w | 64u)) {
                         if (p == (u.x & 3u) + k) { sum += p; break; }
                         p = (p + 1u) & 31u;
                     }
                 }
                 if (sum == k) { sum += 1u; }
             } else {
                 break;
             }
             continuing { k += 1u; if (sum == 20u) { sum = 0u; } }
         }",
    );
}

#[test]
fn what_is_pointed_to_alone_is_a_binding() {
    let spirv: &[u8] = include_bytes!("languages/pointers.spv");
    for target in [Target::Interp, Target::R700, Target::VALHALL] {
        let source = Source::SpirV(spirv);
        verified(target, Options::default(), "pointers.spv", source);
        let compiler = Compiler::new(target, None).expect("the target is built");
        let options = Options::default();
        let parsed = compiler.parse(Source::SpirV(spirv), Choice::default(), &options);
        let entry = parsed.expect("valid").entries.remove(0);
        let func = entry.func.expect("nothing of it is missing");
        let names: Vec<(u32, u32)> =
            func.resources.values().map(|data| (data.group, data.binding)).collect();
        assert_eq!(names, [(0, 0), (0, 1)]);
    }
    let wgsl = "@group(0) @binding(0) var<storage, read_write> b: array<vec2u>;
         @group(0) @binding(1) var<uniform> c: array<vec4u, 4>;
         var<private> d: array<u32, 4>;
         fn f(p: ptr<private, array<u32, 4>>) {}
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) g: vec3u) {
             let p = &b[g.x]; let q = &c[g.x]; let r = &d[g.x]; f(&d); 
         }";
    for target in [Target::Interp, Target::R700, Target::VALHALL] {
        let compiler = Compiler::new(target, None).expect("the target is built");
        let parsed = compiler.parse(Source::Wgsl(wgsl), Choice::default(), &Options::default());
        let entry = parsed.expect("valid").entries.remove(0);
        let func = entry.func.expect("nothing of it is missing");
        compiler.compile(&func, &Options::default()).expect("compiles");
    }
}
