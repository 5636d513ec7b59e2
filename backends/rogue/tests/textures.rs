//! Textures: programs of SSA for every kind of lookup and texture, whose texels lie in the emulated machine's memory, against the
//! reference interpreter bit for bit.

use super::code::{CHIPS, Found, dispatch, func, shade};
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_emu::world::Bound;
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Dim, ResourceKind, SampleType};

/// What is bound to a texture or a sampler.
pub(super) fn bound(kind: ResourceKind, rng: &mut Rng) -> Bound {
    match kind {
        ResourceKind::Texture { dim, arrayed, sample, multisampled } => {
            let format = match sample {
                SampleType::Float if rng.one_in(2) => Format::Rgba8Unorm,
                SampleType::Float => Format::Rgba32Float,
                SampleType::Sint => Format::Rgba32Sint,
                SampleType::Uint => Format::Rgba32Uint,
                SampleType::Depth => Format::Depth32Float,
            };
            image(format, dim, (arrayed, multisampled), !multisampled && dim != Dim::D1, rng)
        }
        ResourceKind::StorageTexture { dim, arrayed, format, .. } => {
            let format = Format::from_name(format.0).expect("a format that is known");
            image(format, dim, (arrayed, false), false, rng)
        }
        ResourceKind::Sampler { comparison } => Bound::Sampler(sampler(comparison, rng)),
        _ => Bound::Nothing,
    }
}

fn image(
    format: Format,
    dim: Dim,
    (arrayed, multisampled): (bool, bool),
    levels: bool,
    rng: &mut Rng,
) -> Bound {
    let layers = if arrayed { 3 } else { 1 };
    let width = [4, 5, 8][rng.below(3)];
    let mut extent = Extent {
        dim,
        width,
        height: match dim {
            Dim::D1 => 1,
            Dim::Cube => width,
            _ => [4, 6, 7][rng.below(3)],
        },
        depth: if dim == Dim::D3 { 3 } else { 1 },
        layers: if dim == Dim::Cube { 6 * layers } else { layers },
        levels: 1,
        samples: if multisampled { 4 } else { 1 },
    };
    if levels {
        extent.levels = extent.full_chain();
    }
    let mut image = Image::new(format, extent).expect("it fits");
    let floats = format.kind() == Kind::Float && format.bytes().is_multiple_of(4);
    for word in image.bytes_mut().chunks_mut(4) {
        let bits =
            if floats { (rng.below(256) as f32 / 256.0).to_bits() } else { rng.bits() as u32 };
        let len = word.len();
        word.copy_from_slice(&bits.to_le_bytes()[..len]);
    }
    Bound::Image(image)
}

fn sampler(comparison: bool, rng: &mut Rng) -> Sampler {
    let wraps = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp, Wrap::MirrorOnce, Wrap::Border];
    let filters = [Filter::Nearest, Filter::Linear];
    let mips = [MipFilter::None, MipFilter::Nearest, MipFilter::Linear];
    let lod_min = [0.0, 0.0, 0.5, 1.25][rng.below(4)];
    let mut sampler = Sampler {
        wrap: [0; 3].map(|_| wraps[rng.below(5)]),
        mag: filters[rng.below(2)],
        min: filters[rng.below(2)],
        mip: mips[rng.below(3)],
        lod_min,
        lod_max: lod_min + [0.5, 1.5, 16.0][rng.below(3)],
        lod_bias: [0.0, -0.75, 1.5][rng.below(3)],
        compare: None,
        border: [0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits),
    };
    if comparison {
        let all = [
            Compare::Never,
            Compare::Less,
            Compare::Equal,
            Compare::LessEqual,
            Compare::Greater,
            Compare::NotEqual,
            Compare::GreaterEqual,
            Compare::Always,
        ];
        sampler.compare = Some(all[rng.below(8)]);
        (sampler.mag, sampler.min) = (Filter::Nearest, Filter::Nearest);
        sampler.mip = MipFilter::Nearest;
    }
    sampler
}

/// A program of a stage that reads one texture: `results` results of `instruction`, which has floats from %0 to %7 (texture
/// coordinates and more) and integers from %8 to %11, small but now and then beyond a texture.
fn program(stage: &str, resources: &str, instruction: &str, results: usize) -> String {
    let names: Vec<String> = (0..results).map(|at| format!("%{}: b32", 40 + at)).collect();
    let call = match results {
        0 => instruction.to_owned(),
        _ => format!("{} = {instruction}", names.join(", ")),
    };
    let outputs: String = (0..results)
        .map(|at| match stage {
            "fragment" => format!("  output out0.{at}, %{}\n", 40 + at),
            _ => format!(
                "  %{}: b32 = const {}\n  %{}: b32 = iadd %30, %{}\n  buffer_store res9, %{}, %{}\n",
                50 + at, 4 * at, 60 + at, 50 + at, 60 + at, 40 + at
            ),
        })
        .collect();
    let small = "  %20: b32 = const 7
  %8: b32 = and %12, %20
  %9: b32 = and %13, %20
  %10: b32 = and %14, %20
  %21: b32 = const 1
  %22: b32 = isub %8, %21
  %11: b32 = and %22, %15\n";
    match stage {
        "fragment" => format!(
            "func \"main\" fragment trusted {{
{resources}  in0 = \"at\" f32 x 4 location 0 linear center
  in1 = \"more\" f32 x 4 location 1 linear center
  in2 = \"numbers\" u32 x 4 location 2 flat center
  out0 = \"color\" f32 x 4 location 0 flat
}} body {{
{}{small}  {call}
{outputs}  yield
}}",
            (0..16)
                .filter(|at| !(8..12).contains(at))
                .map(|at| {
                    let input = if at < 8 { at / 4 } else { 2 };
                    format!("  %{at}: b32 = input in{input}.{}\n", at % 4)
                })
                .collect::<String>()
        ),
        _ => format!(
            "func \"main\" compute workgroup 32 1 1 trusted {{
{resources}  res9 = \"found\" group 0 binding 9 storage 1024 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
}} body {{
  %12: b32 = input in0.0
  %16: b32 = const 3
  %13: b32 = lshr %12, %16
  %17: b32 = const 1
  %14: b32 = lshr %12, %17
  %15: b32 = const 0xffffffff
  %18: b32 = const 4
  %30: b32 = shl %12, %18
  %19: b32 = u2f %12
  %23: b32 = const 0x3da00000
  %24: b32 = const 0xbf200000
  %0: b32 = fma %19, %23, %24
  %1: b32 = fmul %19, %24
  %2: b32 = fadd %0, %1
  %3: b32 = fmul %2, %23
  %4: b32 = fadd %3, %1
  %5: b32 = fadd %4, %0
  %6: b32 = fmul %5, %5
  %7: b32 = fmul %5, %23
{small}  {call}
{outputs}  yield
}}"
        ),
    }
}

fn prove(stage: &str, resources: &str, instruction: &str, results: usize) {
    // Resources have their numbers from their order in the text.
    let count = resources.lines().count();
    let text = program(stage, resources, instruction, results);
    let text = text.replace("res9", &format!("res{count}"));
    let func = func(&text);
    for seed in 0..6 {
        let chip = CHIPS[seed as usize % 2];
        let found = match stage {
            "fragment" => shade(&func, chip, seed),
            _ => dispatch(&func, chip, [1, 1, 1], seed),
        };
        match found {
            Ok(()) => {}
            Err(Found::Skipped) => panic!("nothing to compare\n{text}"),
            Err(found) => panic!("seed {seed} on {chip}: {found:?}\n{text}"),
        }
    }
}

/// Shapes with how many coordinates and gradients they have.
const SHAPES: [(&str, usize); 4] = [("d1", 1), ("d2", 2), ("d3", 3), ("cube", 3)];

fn floats(from: usize, count: usize) -> String {
    (from..from + count).map(|at| format!(", %{at}")).collect()
}

#[test]
fn lookups_of_every_shape_and_level_give_what_the_reference_gives() {
    for (shape, axes) in SHAPES {
        for arrayed in [false, true] {
            if arrayed && shape == "d3" {
                continue;
            }
            let (word, layer) = if arrayed { (" arrayed", ", %11") } else { ("", "") };
            let resources = format!(
                "  res0 = \"t\" group 0 binding 0 texture {shape}{word} float as f32
  res1 = \"s\" group 0 binding 1 sampler as f32\n"
            );
            let at = floats(0, axes);
            let ask = |stage: &str, kind: &str, offset: &str, rest: &str| {
                prove(
                    stage,
                    &resources,
                    &format!("tex {kind} res0 res1{offset}{at}{layer}{rest}"),
                    4,
                );
            };
            ask("fragment", "sample", "", "");
            ask("fragment", "bias", "", ", %4");
            ask("fragment", "level", "", ", %4");
            ask("compute", "level", "", ", %4");
            ask("fragment", "grad", "", &floats(8 - 2 * axes, 2 * axes));
            if shape != "cube" {
                let offset = ["", " offset 3 0 0", " offset -8 7 0", " offset 1 -2 -8"][axes];
                ask("fragment", "sample", offset, "");
                ask("compute", "level", offset, ", %4");
            }
        }
    }
}

#[test]
fn gathers_and_comparisons_give_what_the_reference_gives() {
    for shape in ["d2", "d2 arrayed", "cube", "cube arrayed"] {
        let axes = if shape.starts_with("cube") { 3 } else { 2 };
        let (at, layer) = (floats(0, axes), if shape.ends_with("arrayed") { ", %11" } else { "" });
        let offset = if axes == 2 { " offset -3 2 0" } else { "" };
        for (sample, component) in [("float as f32", 0), ("float as f32", 3), ("uint as u32", 1)] {
            let resources = format!(
                "  res0 = \"t\" group 0 binding 0 texture {shape} {sample}
  res1 = \"s\" group 0 binding 1 sampler as f32\n"
            );
            let gather = format!("tex gather res0 res1 component {component}{offset}{at}{layer}");
            prove("compute", &resources, &gather, 4);
        }
        let resources = format!(
            "  res0 = \"t\" group 0 binding 0 texture {shape} depth as f32
  res1 = \"s\" group 0 binding 1 sampler comparison as f32\n"
        );
        let gather = format!("tex gather res0 res1 compare component 0{at}{layer}, %7");
        prove("compute", &resources, &gather, 4);
        let level = format!("tex level res0 res1 compare{offset}{at}{layer}, %7, %6");
        prove("compute", &resources, &level, 1);
        let sample = format!("tex sample res0 res1 compare{at}{layer}, %7");
        prove("fragment", &resources, &sample, 1);
    }
}

#[test]
fn texels_by_number_and_sizes_give_what_the_reference_gives() {
    for (shape, axes) in [("d1", 1), ("d2", 2), ("d3", 3), ("d1 arrayed", 1), ("d2 arrayed", 2)] {
        let numbers: String = (8..8 + axes).map(|at| format!(", %{at}")).collect();
        let layer = if shape.ends_with("arrayed") { ", %11" } else { "" };
        for sample in ["float as f32", "sint as i32", "uint as u32"] {
            let resources = format!("  res0 = \"t\" group 0 binding 0 texture {shape} {sample}\n");
            prove("compute", &resources, &format!("tex load res0{numbers}{layer}, %20"), 4);
            prove(
                "compute",
                &resources,
                &format!("tex load res0 offset 2 0 0{numbers}{layer}, %9"),
                4,
            );
            prove("fragment", &resources, &format!("tex load res0{numbers}{layer}, %11"), 4);
        }
        let resources = format!("  res0 = \"t\" group 0 binding 0 texture {shape} float as f32\n");
        prove("compute", &resources, "tex_query size res0, %9", axes);
        prove("compute", &resources, "tex_query levels res0", 1);
        if !layer.is_empty() {
            prove("compute", &resources, "tex_query layers res0", 1);
        }
    }
    for (shape, layer) in [("d2", ""), ("d2 arrayed", ", %11")] {
        let resources =
            format!("  res0 = \"t\" group 0 binding 0 texture {shape} float multisampled as f32\n");
        prove("compute", &resources, &format!("tex load res0, %8, %9{layer}, %10"), 4);
        prove(
            "compute",
            &resources,
            &format!("tex load res0 offset 1 -1 0, %8, %9{layer}, %11"),
            4,
        );
        prove("compute", &resources, "tex_query samples res0", 1);
        prove("compute", &resources, "tex_query size res0", 2);
    }
}

#[test]
fn texels_that_are_written_are_what_the_reference_writes() {
    let formats = [
        (
            "float",
            "f32",
            "rgba8unorm rgba8snorm bgra8unorm rgba16float r32float rg32float rgba32float r8unorm rg8snorm rg16unorm rgba16snorm r16float rgb10a2unorm rg11b10ufloat",
        ),
        (
            "uint",
            "u32",
            "rgba8uint rgba16uint r32uint rg32uint rgba32uint r8uint rg16uint rgb10a2uint",
        ),
        ("sint", "i32", "rgba8sint rgba16sint r32sint rgba32sint rg8sint"),
    ];
    for (sample, scalar, names) in formats {
        for (number, format) in names.split(' ').enumerate() {
            let (shape, at) = [
                ("d2", "%8, %9"),
                ("d1", "%12"),
                ("d2 arrayed", "%8, %9, %11"),
                ("d3", "%8, %9, %11"),
            ][number % 4];
            let resources = format!(
                "  res0 = \"t\" group 0 binding 0 storage_texture {shape} {sample} {format} store as {scalar}\n"
            );
            let texel = if sample == "float" { "%0, %3, %6, %7" } else { "%12, %11, %15, %9" };
            prove("compute", &resources, &format!("image_store res0, {at}, {texel}"), 0);
        }
    }
    for op in ["add", "sub", "umin", "smax", "or"] {
        for (shape, at) in [("d2", "%8, %9"), ("d1", "%12"), ("d2 arrayed", "%8, %9, %11")] {
            let resources = format!(
                "  res0 = \"t\" group 0 binding 0 storage_texture {shape} uint r32uint load store atomic as u32\n"
            );
            prove("compute", &resources, &format!("image_atomic {op} res0, {at}, %12"), 0);
        }
    }
}
