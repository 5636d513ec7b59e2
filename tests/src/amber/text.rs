//! The text of an Amber script.

use crate::script::values::{Tolerance, Type};
use crate::script::{
    Attached, Attachment, Attribute, Binding, Buffer, Check, Code, Pipeline, Primitives, Relation,
    Script, Shader, Shape, Step, Texels, USUAL_SIZE, Values, compare, formats, line, pass_through,
    stage, unknown,
};
use gpucc::{Failure, Robust};
use gpucc_emu::draw::{Bias, DepthState, Polygon};
use gpucc_emu::image::Extent;
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use std::collections::BTreeMap;

/// Reads a script.
///
/// # Errors
/// What of it is not understood, or not built.
pub fn parse(text: &str) -> Result<Script, Failure> {
    // Some scripts go beyond a vector that lies in a buffer, as devices without robustness let them.
    let mut script = Script { robust: Robust::Off, ..Script::default() };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let fail = || unknown(line);
        let words = words(line);
        match words[..] {
            [] => {}
            ["DEVICE_EXTENSION", "VK_EXT_depth_range_unrestricted"] => {
                script.unrestricted_depth = true;
            }
            [
                "DEVICE_FEATURE" | "DEVICE_EXTENSION" | "DEVICE_PROPERTY" | "INSTANCE_EXTENSION"
                | "SET",
                ..,
            ] => {}
            ["SHADER", "vertex", name, "PASSTHROUGH"] => {
                script.shaders.insert(name.to_owned(), pass_through());
            }
            ["SHADER", stage_name, name, ref rest @ ..] => {
                let stage = match stage(stage_name)? {
                    Ok(stage) => stage,
                    Err(other) => {
                        script.other_stage = Some(other);
                        return Ok(script);
                    }
                };
                let body: Vec<&str> = until_end(&mut lines).collect();
                let body = body.join("\n");
                let code = match *rest {
                    ["GLSL", ..] => Code::Glsl(body.trim_start().to_owned()),
                    ["SPIRV-ASM"] => Code::SpirV { text: body, environment: None },
                    ["SPIRV-ASM", "TARGET_ENV", environment] => {
                        Code::SpirV { text: body, environment: Some(environment.to_owned()) }
                    }
                    _ => return Err(fail()),
                };
                script.shaders.insert(name.to_owned(), Shader { stage, code });
            }
            ["BUFFER", name, ref rest @ ..] => {
                let buffer = buffer(rest, &mut lines).ok_or_else(fail)?;
                script.buffers.insert(name.to_owned(), buffer);
            }
            ["IMAGE", name, ref rest @ ..] => {
                let image = image(rest, &mut lines).ok_or_else(fail)?;
                script.buffers.insert(name.to_owned(), image);
            }
            ["SAMPLER", name, ref rest @ ..] => {
                let sampler = sampler(rest).ok_or_else(fail)?;
                script.samplers.insert(name.to_owned(), sampler);
            }
            ["PIPELINE", "compute" | "graphics", name] => {
                let pipeline = pipeline(&script, &mut lines)?;
                script.pipelines.insert(name.to_owned(), pipeline);
            }
            ["CLEAR_COLOR", pipeline, ref color @ ..] => {
                let color = numbers(color).ok_or_else(fail)?;
                let color: [f64; 4] = color.try_into().map_err(|_| fail())?;
                let color = color.map(|value| value / 255.0);
                let pipeline = pipeline.to_owned();
                script.steps.push(Step::ClearColor { pipeline, color });
            }
            ["CLEAR_DEPTH", pipeline, depth] => {
                let depth = depth.parse().map_err(|_| fail())?;
                script.steps.push(Step::ClearDepth { pipeline: pipeline.to_owned(), depth });
            }
            ["CLEAR", pipeline] => script.steps.push(Step::Clear(pipeline.to_owned())),
            ["RUN", pipeline, ref rest @ ..] => {
                let step = execution(&script, pipeline, rest)?;
                script.steps.push(step.ok_or_else(fail)?);
            }
            ["EXPECT", ref rest @ ..] => {
                let check = check(&script, rest).ok_or_else(fail)?;
                script.steps.push(Step::Expect(check));
            }
            _ => return Err(fail()),
        }
    }
    Ok(script)
}

/// The words of a line in front of a comment.
fn words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or_default().split_whitespace().collect()
}

/// Lines up to one that says `END`.
fn until_end<'l>(lines: &mut impl Iterator<Item = &'l str>) -> impl Iterator<Item = &'l str> {
    lines.by_ref().take_while(|line| line.trim() != "END")
}

fn numbers(words: &[&str]) -> Option<Vec<f64>> {
    words.iter().map(|word| word.parse().ok()).collect()
}

/// What stands behind the name of a buffer.
fn buffer<'l>(rest: &[&str], lines: &mut impl Iterator<Item = &'l str>) -> Option<Buffer> {
    match *rest {
        ["FORMAT", format, ref rest @ ..] => {
            let levels = match *rest {
                [] => 1,
                ["MIP_LEVELS", levels] => levels.parse().ok()?,
                _ => return None,
            };
            let ty = formats::values(format)?;
            let format = formats::texels(format)?;
            Some(Buffer::Image { ty, format, size: None, levels, samples: 1, bytes: None })
        }
        ["DATA_TYPE", name, ref rest @ ..] => {
            let (rest, std140) = match *rest {
                ["STD140", ref rest @ ..] => (rest, true),
                ["STD430", ref rest @ ..] => (rest, false),
                _ => (rest, false),
            };
            let (ty, format) = match Type::parse(name) {
                Some(ty) => (ty, None),
                None => (formats::values(name)?, Some(name.to_owned())),
            };
            let ty = Type { std140, ..ty };
            let bytes = contents(ty, rest, lines)?;
            Some(Buffer::Values { ty, format, bytes })
        }
        _ => None,
    }
}

/// The values of a buffer or an image.
fn contents<'l>(
    ty: Type,
    words_behind: &[&str],
    lines: &mut impl Iterator<Item = &'l str>,
) -> Option<Vec<u8>> {
    match *words_behind {
        ["DATA"] => {
            let lines: Vec<&str> = until_end(lines).collect();
            ty.encode(lines.iter().flat_map(|line| words(line)))
        }
        ["DATA", ref values @ .., "END"] => ty.encode(values.iter().copied()),
        ["SIZE", size, "FILL", value] => {
            let count = size.parse::<usize>().ok()?.checked_mul(ty.values())?;
            ty.encode(std::iter::repeat_n(value, count))
        }
        ["SIZE", size, "SERIES_FROM", first, "INC_BY", step] => {
            let count = size.parse::<usize>().ok()?.checked_mul(ty.values())?;
            let (first, step): (f64, f64) = (first.parse().ok()?, step.parse().ok()?);
            let series: Vec<String> =
                (0..count).map(|number| (first + step * number as f64).to_string()).collect();
            ty.encode(series.iter().map(String::as_str))
        }
        _ => None,
    }
}

/// What stands behind the name of an image.
fn image<'l>(rest: &[&str], lines: &mut impl Iterator<Item = &'l str>) -> Option<Buffer> {
    let (ty, format, rest) = match *rest {
        ["DATA_TYPE", name, ref rest @ ..] => {
            let ty = Type::parse(name)?;
            (ty, formats::texels_of(ty)?, rest)
        }
        ["FORMAT", name, ref rest @ ..] => (formats::values(name)?, formats::texels(name)?, rest),
        _ => return None,
    };
    let (extent, rest) = match *rest {
        ["DIM_2D", "WIDTH", width, "HEIGHT", height, ref rest @ ..] => {
            (Extent::plane(width.parse().ok()?, height.parse().ok()?), rest)
        }
        ["DIM_1D", "WIDTH", width, ref rest @ ..] => (line(width.parse().ok()?), rest),
        _ => return None,
    };
    let (samples, rest) = match *rest {
        ["SAMPLES", samples, ref rest @ ..] => (samples.parse().ok()?, rest),
        _ => (1, rest),
    };
    if ![1, 2, 4, 8, 16, 32, 64].contains(&samples) {
        return None;
    }
    let Extent { width, height, .. } = extent;
    let bytes = match *rest {
        [] => None,
        ["FILL", value] => {
            let count = (width as usize).checked_mul(height as usize)?.checked_mul(ty.values())?;
            Some(ty.encode(std::iter::repeat_n(value, count))?)
        }
        _ => Some(contents(ty, rest, lines)?),
    };
    Some(Buffer::Image { ty, format, size: Some(extent), levels: 1, samples, bytes })
}

/// Amber's usual sampler takes the nearest texel and repeats.
fn sampler(rest: &[&str]) -> Option<Sampler> {
    let mut sampler = Sampler { lod_max: 1.0, ..Sampler::nearest(Wrap::Repeat) };
    for pair in rest.chunks(2) {
        let &[name, value] = pair else {
            return None;
        };
        let filter = || match value {
            "nearest" => Some(Filter::Nearest),
            "linear" => Some(Filter::Linear),
            _ => None,
        };
        let wrap = || match value {
            "repeat" => Some(Wrap::Repeat),
            "mirrored_repeat" => Some(Wrap::Mirror),
            "clamp_to_edge" => Some(Wrap::Clamp),
            "clamp_to_border" => Some(Wrap::Border),
            _ => None,
        };
        match name {
            "MAG_FILTER" => sampler.mag = filter()?,
            "MIN_FILTER" => sampler.min = filter()?,
            "MIPMAP_MODE" => {
                sampler.mip = match filter()? {
                    Filter::Nearest => MipFilter::Nearest,
                    Filter::Linear => MipFilter::Linear,
                }
            }
            "ADDRESS_MODE_U" => sampler.wrap[0] = wrap()?,
            "ADDRESS_MODE_V" => sampler.wrap[1] = wrap()?,
            "ADDRESS_MODE_W" => sampler.wrap[2] = wrap()?,
            "MIN_LOD" => sampler.lod_min = value.parse().ok()?,
            "MAX_LOD" => sampler.lod_max = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(sampler)
}

fn attached(shader: &str, mut rest: &[&str]) -> Option<Attached> {
    let mut attached =
        Attached { shader: shader.to_owned(), entry: None, constants: BTreeMap::new() };
    loop {
        rest = match *rest {
            [] => return Some(attached),
            ["TYPE", _, ref more @ ..] => more,
            ["ENTRY_POINT", name, ref more @ ..] => {
                attached.entry = Some(name.to_owned());
                more
            }
            ["SPECIALIZE", id, "AS", _, value, ref more @ ..] => {
                attached.constants.insert(id.to_owned(), value.parse().ok()?);
                more
            }
            _ => return None,
        };
    }
}

fn pipeline<'l>(
    script: &Script,
    lines: &mut impl Iterator<Item = &'l str>,
) -> Result<Pipeline, Failure> {
    let mut pipeline = Pipeline::default();
    while let Some(line) = lines.next() {
        let fail = || unknown(line);
        let number = |word: &str| word.parse::<u32>().map_err(|_| fail());
        match words(line)[..] {
            [] => {}
            ["END"] => return Ok(pipeline),
            ["ATTACH", shader, ref rest @ ..] => {
                pipeline.shaders.push(attached(shader, rest).ok_or_else(fail)?);
            }
            // How lanes are grouped is the machine's.
            ["SUBGROUP", _] => until_end(lines).for_each(drop),
            ["FRAMEBUFFER_SIZE", width, height] => {
                pipeline.size = Some([number(width)?, number(height)?]);
            }
            ["VIEWPORT", x, y, "SIZE", width, height, ref rest @ ..] => {
                let area = numbers(&[x, y, width, height]).ok_or_else(fail)?;
                let depths = match *rest {
                    [] => vec![0.0, 1.0],
                    ["MIN_DEPTH", near, "MAX_DEPTH", far] => {
                        numbers(&[near, far]).ok_or_else(fail)?
                    }
                    _ => return Err(fail()),
                };
                let area = [area[0], area[1], area[2], area[3]].map(|value| value as f32);
                pipeline.viewport = Some((area, [depths[0] as f32, depths[1] as f32]));
            }
            ["DEPTH"] => depth(&mut pipeline, lines)?,
            ["POLYGON_MODE", "fill"] => pipeline.polygon = Polygon::Fill,
            ["POLYGON_MODE", "line"] => pipeline.polygon = Polygon::Line,
            ["POLYGON_MODE", "point"] => pipeline.polygon = Polygon::Point,
            ["VERTEX_DATA", name, "LOCATION", location] => {
                let attribute = attribute(script, name, number(location)?);
                pipeline.attributes.push(attribute.ok_or_else(fail)?);
            }
            ["INDEX_DATA", name] => pipeline.indices = Some(name.to_owned()),
            ["BIND", "BUFFER", image, "AS", "color", "LOCATION", location, ref rest @ ..] => {
                let level = match *rest {
                    [] => 0,
                    ["BASE_MIP_LEVEL", level] => number(level)?,
                    _ => return Err(fail()),
                };
                let location = number(location)? as usize;
                let image = image.to_owned();
                pipeline.colors.push(Attachment { image, location, level });
            }
            ["BIND", "BUFFER", image, "AS", "resolve"] => {
                pipeline.resolves.push(image.to_owned());
            }
            ["BIND", "BUFFER", image, "AS", "depth_stencil"] => {
                pipeline.depth_stencil = Some(image.to_owned());
            }
            ["BIND", "BUFFER", buffer, "AS", "push_constant"] => {
                let buffers = vec![buffer.to_owned()];
                pipeline.bindings.push(Binding { place: None, buffers, offset: 0, sampler: None });
            }
            ["BIND", what @ ("BUFFER" | "BUFFER_ARRAY"), ref rest @ ..] => {
                let binding = binding(rest, what == "BUFFER_ARRAY").ok_or_else(fail)?;
                pipeline.bindings.push(binding);
            }
            _ => return Err(fail()),
        }
    }
    Err(Failure::usage("a pipeline has no END"))
}

/// Buffers, images and samplers at a descriptor set and number.
fn binding(rest: &[&str], is_array: bool) -> Option<Binding> {
    const KINDS: [&str; 8] = [
        "storage",
        "uniform",
        "storage_dynamic",
        "uniform_dynamic",
        "sampled_image",
        "storage_image",
        "uniform_texel_buffer",
        "storage_texel_buffer",
    ];
    let place = rest.iter().position(|word| *word == "AS")?;
    let (names, rest) = rest.split_at(place);
    if names.len() != 1 && !is_array {
        return None;
    }
    let (sampler, rest) = match *rest {
        ["AS", "combined_image_sampler", "SAMPLER", sampler, ref rest @ ..] => {
            (Some(sampler.to_owned()), rest)
        }
        ["AS", kind, ref rest @ ..] if KINDS.contains(&kind) => (None, rest),
        _ => return None,
    };
    let (set, number, offset) = match *rest {
        ["DESCRIPTOR_SET", set, "BINDING", number] => (set, number, "0"),
        ["DESCRIPTOR_SET", set, "BINDING", number, "OFFSET", offset] => (set, number, offset),
        _ => return None,
    };
    Some(Binding {
        place: Some((set.parse().ok()?, number.parse().ok()?)),
        buffers: names.iter().map(|name| (*name).to_owned()).collect(),
        offset: offset.parse().ok()?,
        sampler,
    })
}

/// The state of the depth test.
fn depth<'l>(
    pipeline: &mut Pipeline,
    lines: &mut impl Iterator<Item = &'l str>,
) -> Result<(), Failure> {
    let mut state = DepthState { compare: Compare::Less, write: false };
    let mut tests = false;
    for line in until_end(lines) {
        match words(line)[..] {
            [] => {}
            ["TEST", on] => tests = on == "on",
            ["WRITE", on] => state.write = on == "on",
            ["COMPARE_OP", name] => {
                state.compare = compare(name).ok_or_else(|| unknown(line))?;
            }
            ["CLAMP", on] => pipeline.clamp_depth = on == "on",
            ["BOUNDS", "min", min, "max", max] if numbers(&[min, max]) == Some(vec![0.0, 1.0]) => {}
            ["BOUNDS", ..] => return Err(Failure::not_yet("bounds of depths", "scripts")),
            ["BIAS", "constant", constant, "clamp", clamp, "slope", slope] => {
                let all = numbers(&[constant, clamp, slope]).ok_or_else(|| unknown(line))?;
                let [constant, clamp, slope] = [all[0], all[1], all[2]].map(|value| value as f32);
                pipeline.bias = Bias { constant, clamp, slope };
            }
            _ => return Err(unknown(line)),
        }
    }
    pipeline.depth = tests.then_some(state);
    Ok(())
}

fn attribute(script: &Script, name: &str, location: u32) -> Option<Attribute> {
    let Buffer::Values { ty, format, .. } = script.buffers.get(name)? else {
        return None;
    };
    let webgpu = match format {
        Some(format) => formats::vertices(format)?,
        None => formats::vertices_of(*ty)?,
    };
    let stride = ty.stride() as u32;
    Some(Attribute { location, buffer: name.to_owned(), format: webgpu, stride })
}

/// The size of what a pipeline draws to.
fn size(script: &Script, pipeline: &Pipeline) -> Option<[u32; 2]> {
    let own = pipeline.colors.iter().find_map(|color| match script.buffers.get(&color.image)? {
        Buffer::Image { size, .. } => size.map(|extent| [extent.width, extent.height]),
        Buffer::Values { .. } => None,
    });
    own.or(pipeline.size)
}

/// What is run with a pipeline.
fn execution(script: &Script, name: &str, rest: &[&str]) -> Result<Option<Step>, Failure> {
    let pipeline = name.to_owned();
    Ok(match *rest {
        ["DRAW_RECT", "POS", x, y, "SIZE", width, height] => {
            let size = script.pipelines.get(name).and_then(|pipeline| size(script, pipeline));
            let size = size.unwrap_or(USUAL_SIZE).map(f64::from);
            numbers(&[x, y, width, height]).map(|all| {
                let area = [
                    all[0] / size[0] * 2.0 - 1.0,
                    all[1] / size[1] * 2.0 - 1.0,
                    all[2] / size[0] * 2.0,
                    all[3] / size[1] * 2.0,
                ];
                Step::Draw { pipeline, shape: Shape::Rectangle(area.map(|value| value as f32)) }
            })
        }
        ["DRAW_ARRAY", "AS", topology, ref rest @ ..] => {
            let topology = Primitives::from_name(topology)?;
            let (indexed, rest) = match *rest {
                ["INDEXED", ref rest @ ..] => (true, rest),
                _ => (false, rest),
            };
            let (first, count) = match *rest {
                ["START_IDX", first] => (first.parse().ok(), Some(None)),
                ["START_IDX", first, "COUNT", count] => {
                    (first.parse().ok(), count.parse().ok().map(Some))
                }
                _ => (None, None),
            };
            first.zip(count).map(|(first, count)| {
                let shape = Shape::Elements { topology, first, count, indexed };
                Step::Draw { pipeline, shape }
            })
        }
        [x, y, z] => {
            let groups = [x, y, z].map(|word| word.parse::<u32>().ok());
            match groups {
                [Some(x), Some(y), Some(z)] => Some(Step::Dispatch { pipeline, groups: [x, y, z] }),
                _ => None,
            }
        }
        _ => None,
    })
}

fn check(script: &Script, words: &[&str]) -> Option<Check> {
    match *words {
        [first, "EQ_BUFFER", second] => Some(Check::Same(first.to_owned(), second.to_owned())),
        [first, "EQ_HISTOGRAM_EMD_BUFFER", second, "TOLERANCE", most] => Some(Check::Spread {
            images: [first.to_owned(), second.to_owned()],
            most: most.parse().ok()?,
        }),
        [image, "IDX", x, y, "SIZE", width, height, relation, ref rest @ ..] => {
            let components = match relation {
                "EQ_RGB" => 3,
                "EQ_RGBA" => 4,
                _ => return None,
            };
            let (color, rest) = rest.split_at_checked(components)?;
            let scaled = |value: f64| value / 255.0;
            let mut all = [0.0; 4];
            for (place, value) in all.iter_mut().zip(numbers(color)?) {
                *place = scaled(value);
            }
            // Half a step of eight bits, where a script says nothing.
            let mut tolerances = [Tolerance::Absolute(scaled(0.5)); 4];
            if let ["TOLERANCE", ref list @ ..] = *rest {
                let list: Vec<Tolerance> =
                    list.iter().map(|word| Tolerance::parse(word)).collect::<Option<_>>()?;
                for (place, found) in tolerances.iter_mut().zip(list.iter().cycle()) {
                    *place = match *found {
                        Tolerance::Absolute(most) => Tolerance::Absolute(scaled(most + 0.5)),
                        percent => percent,
                    };
                }
            } else if !rest.is_empty() {
                return None;
            }
            let area = numbers(&[x, y, width, height])?;
            let area = [area[0], area[1], area[2], area[3]].map(|value| value as u32);
            let image = image.to_owned();
            Some(Check::Texels(Texels { image, area, components, color: all, tolerances }))
        }
        [name, "IDX", at, ref rest @ ..] => {
            let place = rest.iter().position(|word| *word == "EQ")?;
            let (tolerances, values) = rest.split_at(place);
            let relation = match *tolerances {
                [] => Relation::Equal,
                ["TOLERANCE", ref list @ ..] => {
                    let all = list.iter().map(|word| Tolerance::parse(word));
                    Relation::Near(all.collect::<Option<_>>()?)
                }
                _ => return None,
            };
            let (Buffer::Values { ty, .. } | Buffer::Image { ty, .. }) =
                script.buffers.get(name)?;
            Some(Check::Values(Values {
                buffer: name.to_owned(),
                ty: *ty,
                at: at.parse().ok()?,
                relation,
                values: values[1..].iter().map(|word| (*word).to_owned()).collect(),
            }))
        }
        _ => None,
    }
}
