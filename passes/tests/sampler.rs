//! What a sampler does, by arithmetic and as samples of texels, against the sampler itself: all filters, wrap modes, comparisons
//! and ranges of levels.

use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::interp::{self, Lanes};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{
    Builder, Dim, Func, Imm, InputData, InputKind, Interpolation, Numerics, Op, OutputData,
    OutputKind, Resource, ResourceData, ResourceKind, SampleType, Sampling, Scalar, Stage, TexKind,
    TexOp, Type, verify,
};
use gpucc_passes::expand::texture::{Form, expand};

/// Lanes of two quads.
const LANES: usize = 8;

/// One lookup of a quad: coordinates and layer, then the reference, a level or bias, a slope.
fn lookup(kind: TexKind, dim: Dim, compare: bool, offset: [i8; 3]) -> Func {
    let mut func = Func::new("lookup", Stage::Fragment);
    let sample = if compare { SampleType::Depth } else { SampleType::Uint };
    let kinds = [
        ResourceKind::Texture { dim, arrayed: true, sample, multisampled: false },
        ResourceKind::Sampler { comparison: compare },
    ];
    for (binding, kind) in (0..).zip(kinds) {
        let name = format!("b{binding}");
        func.resources.push(ResourceData {
            kind,
            group: 0,
            binding,
            count: None,
            name,
            scalar: Scalar::F32,
            mixed: false,
        });
    }
    let inputs: Vec<_> = [(0, Scalar::F32), (1, Scalar::F32), (2, Scalar::I32)]
        .into_iter()
        .map(|(location, scalar)| {
            let (interpolation, sampling) = (Interpolation::Flat, Sampling::Center);
            func.inputs.push(InputData {
                kind: InputKind::Location { location, interpolation, sampling },
                components: 4,
                scalar,
                name: format!("i{location}"),
            })
        })
        .collect();
    let output = func.outputs.push(OutputData {
        kind: OutputKind::Location {
            location: 0,
            blend_src: 0,
            interpolation: Interpolation::Perspective,
        },
        components: 4,
        scalar: Scalar::F32,
        name: "o".into(),
    });
    let mut b = Builder::at_body(&mut func);
    let at: Vec<_> = (0..4).map(|component| b.input(inputs[0], component)).collect();
    let more: Vec<_> = (0..4).map(|component| b.input(inputs[1], component)).collect();
    let mut args = at[..dim.coords()].to_vec();
    args.push(b.input(inputs[2], 0));
    args.extend(compare.then_some(more[0]));
    match kind {
        TexKind::SampleBias | TexKind::SampleLevel => args.push(more[1]),
        TexKind::SampleGrad => args.extend([more[2], more[3]].repeat(dim.coords())),
        _ => {}
    }
    let tex = TexOp {
        kind,
        texture: Resource::from_u32(0),
        sampler: Some(Resource::from_u32(1)).into(),
        compare,
        component: 1,
        offset,
        projected: false,
        texel: false,
    };
    let gathers = kind == TexKind::Gather;
    let results = &[Type::B32; 4][..if gathers { 4 } else { 1 }];
    let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], results);
    let values = b.func.insts[inst].results.clone();
    for (component, value) in (0..).zip(values) {
        b.output(output, component, value);
    }
    b.end(Op::Yield, &[]);
    verify(&func).expect("a lookup");
    func
}

fn image(rng: &mut Rng, dim: Dim, format: Format) -> Image {
    let (width, height) = (11, if dim == Dim::D1 { 1 } else { 6 });
    let extent = Extent { dim, width, height, depth: 1, layers: 3, levels: 3, samples: 1 };
    let mut image = Image::new(format, extent).expect("a small image");
    for level in 0..3 {
        let [width, height, _] = image.size(level);
        for at in 0..width * height * 3 {
            let (x, y, layer) = (at % width, at / width % height, at / width / height);
            let value = match format {
                Format::Depth32Float => (rng.below(5) as f32 / 4.0).to_bits(),
                _ => rng.below(1000) as u32,
            };
            image.store(Texel { x, y, layer, level, ..Texel::default() }, [value; 4]);
        }
    }
    image
}

fn sampler(rng: &mut Rng, compare: bool) -> Sampler {
    use Compare::*;
    let wraps = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp, Wrap::MirrorOnce, Wrap::Border];
    let tests = [Never, Less, Equal, LessEqual, Greater, NotEqual, GreaterEqual, Always];
    let filters = [Filter::Nearest, Filter::Linear];
    let lod_min = rng.pick(&[0.0, 0.0, 0.25, 1.5]);
    Sampler {
        wrap: [0; 3].map(|_| rng.pick(&wraps)),
        mag: rng.pick(&filters),
        min: rng.pick(&filters),
        mip: rng.pick(&[MipFilter::None, MipFilter::Nearest, MipFilter::Linear]),
        lod_min,
        lod_max: lod_min + rng.pick(&[0.0, 0.3, 9.0]),
        lod_bias: rng.pick(&[0.0, 0.7]),
        compare: compare.then(|| rng.pick(&tests)),
        border: [rng.pick(&[0.0f32, 0.5, 1.0]).to_bits(); 4],
    }
}

fn run(func: &Func, lanes: &Lanes, bindings: &Bindings) -> Vec<[u32; 4]> {
    let (numerics, mut bindings) = (Numerics::REFERENCE, bindings.clone());
    let outcome = interp::run(func, lanes, &mut bindings, interp::Options::new(&numerics));
    outcome.expect("it ends").outputs[0].clone()
}

fn check(form: Form, kind: TexKind, dim: Dim, compare: bool, offset: [i8; 3]) -> usize {
    let mut rng = Rng::new(7);
    let before = lookup(kind, dim, compare, offset);
    let mut after = before.clone();
    assert!(expand(&mut after, |_, _, _| Some(form)));
    verify(&after).expect("what it becomes is sound");
    let mut between = 0;
    for trial in 0..400 {
        let format = if compare { Format::Depth32Float } else { Format::Rg32Uint };
        let mut bindings = Bindings::new(&before);
        let sampler = sampler(&mut rng, compare);
        bindings.set(Resource::from_u32(0), Bound::Image(image(&mut rng, dim, format)));
        bindings.set(Resource::from_u32(1), Bound::Sampler(sampler));
        let mut lanes = Lanes::new(&before, LANES);
        // Slopes keep levels away from where the nearest one or the filter changes.
        let slope = rng.pick(&[0.01f32, 0.13, 0.21, 0.4]);
        let corner = [0; 2].map(|_| rng.below(64) as f32 / 16.0 - 1.97);
        for lane in 0..LANES {
            let [x, y] = [lane % 2, lane / 2 % 2].map(|step| step as f32 * slope);
            let given = rng.pick(&[-0.6f32, 0.0, 0.2, 0.8, 1.3, 4.0]);
            let reference = rng.below(5) as f32 / 4.0;
            lanes.inputs[0][lane] = [corner[0] + x, corner[1] + y, 0.0, 0.0].map(f32::to_bits);
            lanes.inputs[1][lane] = [reference, given, slope, -0.3 * slope].map(f32::to_bits);
            lanes.inputs[2][lane] = [rng.below(6) as i32 - 2, 0, 0, 0].map(|layer| layer as u32);
        }
        let (expected, got) = (run(&before, &lanes, &bindings), run(&after, &lanes, &bindings));
        for (expected, got) in expected.iter().flatten().zip(got.iter().flatten()) {
            let [right, found] = [*expected, *got].map(f32::from_bits);
            between += usize::from(compare && right > 0.0 && right < 1.0);
            // The sampler's logarithm has eight bits.
            let near = compare && (right - found).abs() < 0.02;
            assert!(
                near || expected == got,
                "{kind:?} {dim:?} trial {trial}: {sampler:?} {expected:#x} {got:#x} ({right} {found})"
            );
        }
    }
    between
}

#[test]
fn comparisons_by_arithmetic_are_those_of_the_sampler() {
    for dim in [Dim::D1, Dim::D2] {
        for kind in
            [TexKind::Sample, TexKind::SampleBias, TexKind::SampleLevel, TexKind::SampleGrad]
        {
            // Filters mix.
            assert!(check(Form::Arithmetic, kind, dim, true, [0; 3]) > 100, "{kind:?} {dim:?}");
        }
    }
    assert!(check(Form::Arithmetic, TexKind::SampleLevel, Dim::D2, true, [3, -2, 0]) > 100);
}

#[test]
fn gathers_in_other_forms_are_those_of_the_sampler() {
    for form in [Form::Arithmetic, Form::Gather, Form::SteepGather] {
        for offset in [[0; 3], [-8, 7, 0]] {
            check(form, TexKind::Gather, Dim::D2, false, offset);
            check(form, TexKind::Gather, Dim::D2, true, offset);
        }
    }
}
