//! What the silicon cannot do, with the manual's section: the one source of exit code 3. Everything else that we do not
//! compile is our own gap.

use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{
    AtomicOp, Builtin, Corners, Dim, Func, Imm, InputKind, Number, Op, OutputKind, ResourceKind,
    SampleType, Span, TexKind, Type,
};
use gpucc_passes::expand::image::dwords;

/// Features and the manual's sections.
pub type Table = &'static [(&'static str, &'static str)];

/// What no member has.
macro_rules! both {
    ($($more:expr),*) => {
        &[
            (
                "atomic operations on buffers and textures",
                "G45 vol. 4, 5.10.1: a data port message reads or writes, and none does both",
            ),
            ("16-bit floats", "G45 vol. 4, 13.2.3: no type of 16-bit floats"),
            ("double precision", "G45 vol. 4, 13.2.3: no type of 64 bits"),
            (
                "multisampled textures",
                "G45 vol. 4, 4.7.2: SURFACE_STATE counts no samples",
            ),
            (
                "storing 16 bits to a buffer",
                "G45 vol. 4, 5.10.5.2: writes are of whole doublewords, and none is atomic",
            ),
            (
                "cube array textures",
                "G45 vol. 4, 4.7.2: the Depth of a SURFTYPE_CUBE must be zero",
            ),
            (
                "writing texels of less than a doubleword",
                "G45 vol. 4, 5.10.5.2: writes are of whole doublewords, and none is atomic",
            ),
            (
                "the level that a sampler would take",
                "G45 vol. 4, 4.8.1: no message of the sampler tells a level",
            ),
            (
                "sampling integers from cubes",
                "G45 vol. 4, 4.8.1.4: no sample message takes UINT or SINT formats, and ld takes no SURFTYPE_CUBE",
            ),
            (
                "clocks",
                "G45 vol. 4, 7.1.1: no sub-function of the gateway reads the time",
            ),
            (
                "stencil outputs",
                "G45 vol. 4, 5.10.6.4: a target write has the stored stencil, and none that a program computes",
            ),
            (
                "numbers of primitives",
                "G45 vol. 4, 5.10.6.1: the header of a pixel's thread has no number of its primitive",
            ),
            (
                "task and mesh shaders",
                "G45 vol. 4, 2.4: threads are of VS, GS, CLIP, SF, WM and TS",
            ),
            (
                "tessellation shaders",
                "G45 vol. 4, 2.4: threads are of VS, GS, CLIP, SF, WM and TS, the thread spawner",
            ),
            ("ray tracing", "G45 vol. 4, 2.5: no shared function meets rays"),
            ("cooperative matrices", "G45 vol. 4, 14.2: no instruction multiplies matrices"),
            ("sparse residency", "G45 vol. 4, 4.8.2: a reply holds texels alone"),
            (
                "fragment shader interlock",
                "G45 vol. 4, 14.2: no instruction orders the threads of a pixel",
            ),
            ("shading rates", "G45 vol. 4, 5.10.6: a target write is for one pixel a channel"),
            (SAMPLES, "G45 vol. 4, 4.7.2: SURFACE_STATE counts no samples"),
            (
                "storing texels of several samples",
                "G45 vol. 4, 4.7.2: SURFACE_STATE counts no samples",
            ),
            (
                EQUATIONS,
                "G45 vol. 4, 4.7.2: SURFACE_STATE enables blending, and one COLOR_CALC_STATE has the equation",
            ),
            (
                BLENDED_FORMAT,
                "G45 vol. 4, 4.7.2: the surface format is none of those that are blended",
            ),
            $($more),*
        ]
    };
}

/// Blending by two sources, as the 965's table calls it.
const DUAL_SOURCE: &str = "two colours for one target";

/// What geometry shaders take that the 965 does not assemble.
const ADJACENCY: &str = "primitives with adjacency";

/// What pipelines ask of targets.
pub const SAMPLES: &str = "pixels of several samples";
pub const EQUATIONS: &str = "blend equations that differ between targets";
pub const BLENDED_FORMAT: &str = "blending in the format of this target";

/// The 965's table: feature and the manual's section.
pub const GEN4: Table = both![
    (DUAL_SOURCE, "G45 vol. 4, 5.7.2: dual source is of CL-B and CTG on"),
    (
        ADJACENCY,
        "3DPRIMITIVE as public drivers have it: topologies 9 to 12, with adjacency, are of G45 on"
    )
];

/// G45's table.
pub const G45: Table = both![];

/// The rows of the tables that SSA can ask for, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Refusal {
    Atomics,
    Halves,
    Doubles,
    Multisampled,
    ShortStore,
    CubeArrays,
    ShortTexel,
    QueryLevel,
    IntegerCubes,
    Clocks,
    StencilOutput,
    PrimitiveIndex,
}

/// The refusal of what a pipeline asks, by the name of its row.
pub fn pipeline(feature: &'static str, machine: &'static str, table: Table) -> Failure {
    let row = table.iter().find(|row| row.0 == feature);
    let manual = row.map_or("", |row| row.1);
    Failure::Refused { machine, feature, manual, span: Span::NONE }
}

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names.
pub fn check(func: &Func, machine: &'static str, table: Table) -> Result<(), Failure> {
    let refuse = |what: Refusal, span: Span| {
        let (feature, manual) = table[what as usize];
        Failure::Refused { machine, feature, manual, span }
    };
    for data in func.resources.values() {
        match data.kind {
            ResourceKind::Texture { multisampled: true, .. } => {
                return Err(refuse(Refusal::Multisampled, Span::NONE));
            }
            ResourceKind::Texture { dim: Dim::Cube, arrayed: true, .. } => {
                return Err(refuse(Refusal::CubeArrays, Span::NONE));
            }
            _ => {}
        }
    }
    let stencil = OutputKind::Builtin(Builtin::StencilRef);
    if func.outputs.values().any(|data| data.kind == stencil) {
        return Err(refuse(Refusal::StencilOutput, Span::NONE));
    }
    let adjacent = func.geometry.is_some_and(|geometry| {
        matches!(geometry.takes, Corners::LinesAdjacency | Corners::TrianglesAdjacency)
    });
    if adjacent && let Some(&(feature, manual)) = table.iter().find(|row| row.0 == ADJACENCY) {
        return Err(Failure::Refused { machine, feature, manual, span: func.place });
    }
    let primitive = InputKind::Builtin(Builtin::PrimitiveIndex);
    if func.geometry.is_none() && func.inputs.values().any(|data| data.kind == primitive) {
        return Err(refuse(Refusal::PrimitiveIndex, Span::NONE));
    }
    let second = |kind| matches!(kind, OutputKind::Location { blend_src: 1.., .. });
    if func.outputs.values().any(|data| second(data.kind))
        && let Some(&(feature, manual)) = table.iter().find(|row| row.0 == DUAL_SOURCE)
    {
        return Err(Failure::Refused { machine, feature, manual, span: Span::NONE });
    }
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            // Workgroup memory belongs to one thread, whose lanes take turns.
            let other = |op| !matches!(op, AtomicOp::Load | AtomicOp::Store);
            if matches!(data.imm, Imm::BufferAtomic(_, op) | Imm::ImageAtomic(_, op) if other(op)) {
                return Err(refuse(Refusal::Atomics, data.span));
            }
            if matches!(data.imm, Imm::Tex(tex) if tex.kind == TexKind::QueryLevel) {
                return Err(refuse(Refusal::QueryLevel, data.span));
            }
            if let Imm::Tex(tex) = data.imm
                && tex.kind != TexKind::Load
                && let ResourceKind::Texture {
                    dim: Dim::Cube,
                    sample: SampleType::Sint | SampleType::Uint,
                    ..
                } = func.resources[tex.texture].kind
            {
                return Err(refuse(Refusal::IntegerCubes, data.span));
            }
            if matches!(data.op, Op::Clock | Op::DeviceClock) {
                return Err(refuse(Refusal::Clocks, data.span));
            }
            if let (Op::ImageStore, &Imm::Resource(image)) = (data.op, &data.imm)
                && let ResourceKind::StorageTexture { format, .. } = func.resources[image].kind
                && dwords(format).is_none()
            {
                return Err(refuse(Refusal::ShortTexel, data.span));
            }
            let operand = data.args.first().map(|&value| func.ty(value));
            let result = data.results.first().map(|&value| func.ty(value));
            let op = match data.imm {
                Imm::Reduce(_, op) => op,
                _ => data.op,
            };
            let float = |ty: Type| {
                op.reads() == Number::Float && operand == Some(ty)
                    || op.makes() == Number::Float && result == Some(ty)
            };
            if float(Type::B64) {
                return Err(refuse(Refusal::Doubles, data.span));
            }
            // What is left of 16 bits behind the shared passes is floats, but for integers that go to memory.
            let half = |value: &gpucc_ir::ssa::Value| func.ty(*value) == Type::B16;
            let stored = matches!(data.op, Op::BufferStore | Op::MemStore | Op::UConvert);
            // Halves in pairs are doublewords, which are for the lowering.
            let count = data.args.iter().filter(|value| half(value)).count();
            if data.op == Op::BufferStore && !count.is_multiple_of(2) {
                return Err(refuse(Refusal::ShortStore, data.span));
            }
            let halves = !stored && data.args.iter().chain(&data.results).any(half);
            if float(Type::B16) || halves {
                return Err(refuse(Refusal::Halves, data.span));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, Stage};

    #[test]
    fn sums_of_doubles_and_halves_are_refused_and_sums_of_wide_integers_are_not() {
        let asked = |op, ty| {
            let mut func = Func::new("wide", Stage::Compute);
            let mut b = Builder::at_body(&mut func);
            let value = b.constant(ty, 1);
            b.op2(op, value, value);
            match check(&func, "the machine", G45) {
                Err(Failure::Refused { feature, .. }) => Some(feature),
                _ => None,
            }
        };
        assert_eq!(asked(Op::FAdd, Type::B64), Some("double precision"));
        assert_eq!(asked(Op::FAdd, Type::B16), Some("16-bit floats"));
        assert_eq!(asked(Op::IAdd, Type::B64), None);
        assert_eq!(G45[Refusal::Atomics as usize].0, "atomic operations on buffers and textures");
        assert_eq!(G45[Refusal::Multisampled as usize].0, "multisampled textures");
        assert_eq!(G45[Refusal::IntegerCubes as usize].0, "sampling integers from cubes");
        assert_eq!(G45[Refusal::Clocks as usize].0, "clocks");
        let level = G45[Refusal::QueryLevel as usize].0;
        assert_eq!(level, "the level that a sampler would take");
    }

    #[test]
    fn the_965_blends_one_source_alone() {
        let mut func = Func::new("glass", Stage::Fragment);
        func.outputs.push(gpucc_ir::ssa::OutputData {
            kind: OutputKind::Location {
                location: 0,
                blend_src: 1,
                interpolation: gpucc_ir::ssa::Interpolation::Perspective,
            },
            components: 4,
            scalar: gpucc_ir::ssa::Scalar::F32,
            name: "kept".to_owned(),
        });
        let refused = |table| matches!(check(&func, "the machine", table), Err(Failure::Refused { feature, .. }) if feature == DUAL_SOURCE);
        assert!(refused(GEN4));
        assert!(!refused(G45));
    }

    /// Another group may write the other half of the doubleword at once: reading and writing all of it would lose that.
    #[test]
    fn half_a_doubleword_is_not_stored_and_a_whole_one_is() {
        // The shared passes leave a word that becomes half of one at the store.
        let asked = |values: &str| {
            let text = format!(
                "func \"store\" compute workgroup 1 1 1 {{
                  res0 = \"out\" group 0 binding 0 storage 0 stride 4 store as u32
                }} body {{
                  %0: b32 = const 0
                  %1: b16 = uconvert %0
                  buffer_store res0, %0, {values}
                  yield
                }}"
            );
            let module = gpucc_ir::ssa::parse(&text).expect("text of the IR");
            match check(&module.funcs[0], "the machine", GEN4) {
                Err(Failure::Refused { feature, .. }) => Some(feature),
                _ => None,
            }
        };
        assert_eq!(asked("%1"), Some("storing 16 bits to a buffer"));
        assert_eq!(asked("%1, %1, %1"), Some("storing 16 bits to a buffer"));
        assert_eq!(asked("%1, %1"), None);
        assert_eq!(asked("%0"), None);
    }

    #[test]
    fn no_feature_stands_twice_and_each_has_a_section() {
        for table in [super::GEN4, super::G45] {
            for (i, (feature, manual)) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|(other, _)| other != feature), "{feature}");
                // Volume 2, which has the topologies, is not at hand.
                let section = manual.starts_with("G45 vol. 4, ") || *feature == ADJACENCY;
                assert!(section, "{feature}: {manual}");
            }
        }
    }
}
