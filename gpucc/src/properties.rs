//! What a shader does that costs on any machine, by the names of Arm's offline compiler.

use gpucc_ir::ssa::{Builtin, Flags, Func, Op, OutputKind, Stage, Type};
use gpucc_passes::uniformity::Uniformity;
use serde::{Deserialize, Serialize};

/// Properties of a shader after the shared passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    /// It writes memory that outlives it: buffers, images, atomics.
    pub has_side_effects: bool,
    /// It computes something that is the same in all invocations: a driver could do so once.
    pub has_uniform_computation: bool,
    /// Fragment: it discards, or writes a mask of samples.
    pub modifies_coverage: bool,
    /// Fragment: depth and stencil tests must wait for it, because it writes their values, or memory without early tests.
    pub uses_late_zs_test: bool,
    /// Fragment: depth and stencil can only be written behind it.
    pub uses_late_zs_update: bool,
    /// Arithmetic on 16 bits, in percent of all arithmetic.
    pub fp16_arithmetic: f64,
}

impl Properties {
    /// The properties of a shader.
    pub fn of(func: &Func) -> Properties {
        let uniformity = Uniformity::of(func);
        let mut found = Properties::default();
        let (mut short, mut all) = (0u32, 0u32);
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                found.has_side_effects |= matches!(
                    data.op,
                    Op::BufferStore | Op::BufferAtomic | Op::ImageStore | Op::ImageAtomic
                );
                found.modifies_coverage |= data.op == Op::Demote;
                if !data.op.flags().has(Flags::ARITHMETIC) {
                    continue;
                }
                let Some(&result) = data.results.first() else { continue };
                all += 1;
                let types = data.args.iter().chain([&result]);
                short +=
                    u32::from(types.into_iter().any(|&value| func.values[value].ty == Type::B16));
                found.has_uniform_computation |= uniformity.is_uniform(result);
            }
        }
        if all > 0 {
            found.fp16_arithmetic = 100.0 * f64::from(short) / f64::from(all);
        }
        if func.stage == Stage::Fragment {
            let writes = |which: &[Builtin]| {
                let mut kinds = func.outputs.values().map(|output| output.kind);
                kinds.any(|kind| matches!(kind, OutputKind::Builtin(one) if which.contains(&one)))
            };
            found.modifies_coverage |= writes(&[Builtin::SampleMask]);
            let early = func.early_fragment_tests;
            let depth = writes(&[Builtin::FragDepth, Builtin::StencilRef]);
            found.uses_late_zs_test = !early && (depth || found.has_side_effects);
            found.uses_late_zs_update =
                !early && (found.uses_late_zs_test || found.modifies_coverage);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Properties;
    use crate::{Choice, Compiler, Options, Source, Target};

    fn of(source: &str) -> Properties {
        let compiler = Compiler::new(Target::Interp, None).expect("the interpreter");
        let options = Options::default();
        let parsed = compiler.parse(Source::Wgsl(source), Choice::default(), &options);
        let entry = parsed.expect("it is right").entries.remove(0);
        let compiled = compiler.compile(&entry.func.expect("it is right"), &options);
        Properties::of(&compiled.expect("it compiles").ssa)
    }

    #[test]
    fn a_plain_fragment_has_none_of_them() {
        let plain =
            "@fragment fn f(@location(0) a: vec4f) -> @location(0) vec4f { return a * 2.0; }";
        assert_eq!(of(plain), Properties::default());
    }

    #[test]
    fn each_is_found_where_it_is() {
        let late = of("@group(0) @binding(0) var<storage, read_write> b: array<f32>;
             @group(0) @binding(1) var<uniform> k: vec2f;
             @fragment fn f(@location(0) a: f32) -> @builtin(frag_depth) f32 {
                 if a < 0.0 { discard; }
                 b[0] = a * (k.x + k.y);
                 return a;
             }");
        let expected = Properties {
            has_side_effects: true,
            has_uniform_computation: true,
            modifies_coverage: true,
            uses_late_zs_test: true,
            uses_late_zs_update: true,
            fp16_arithmetic: 0.0,
        };
        assert_eq!(late, expected);
        let cut = of("@fragment fn f(@location(0) a: f32) -> @location(0) vec4f {
                 if a < 0.0 { discard; }
                 return vec4f(a);
             }");
        let expected =
            Properties { modifies_coverage: true, uses_late_zs_update: true, ..Default::default() };
        assert_eq!(cut, expected);
        let halves = of("enable f16;
             @fragment fn f(@location(0) a: f32) -> @location(0) vec4f {
                 return vec4f(f32(f16(a) * 3.0h) + a);
             }");
        assert!(halves.fp16_arithmetic > 20.0 && halves.fp16_arithmetic < 100.0, "{halves:?}");
    }
}
