//! Scripts of VkRunner: sections of shaders, vertices and tests, whose lines change the state and draw with it.

use crate::script::values::{Component, Tolerance, Type};
use crate::script::{
    Attached, Attachment, Attribute, Binding, Buffer, Check, Code, Pipeline, Primitives, Relation,
    Script, Shader, Shape, Step, Texels, USUAL_SIZE as SIZE, Values, compare, formats,
    pass_through, stage, unknown,
};
use gpucc::{Failure, Robust, Stage};
use gpucc_emu::draw::{Cull, DepthState, LogicOp};
use gpucc_emu::format::Format;
use gpucc_emu::image::Extent;
use gpucc_emu::sampler::Compare;
use std::collections::BTreeMap;

/// Names of what a script draws to.
const COLOR: &str = "framebuffer";
const DEPTH: &str = "depth buffer";
/// Name of the push constants.
const PUSHED: &str = "push constants";

/// True for a script of this form: its first word stands in brackets.
pub fn is(text: &str) -> bool {
    lines(text).next().is_some_and(|line| line.starts_with('['))
}

/// Lines without comments, joined where one ends in `\`; empty ones are left out.
fn lines(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.lines();
    std::iter::from_fn(move || {
        let mut all = String::new();
        for line in rest.by_ref() {
            let line = line.split('#').next().unwrap_or_default().trim();
            match line.strip_suffix('\\') {
                Some(part) => all = all + part + " ",
                None => {
                    all += line;
                    if !all.is_empty() {
                        return Some(all);
                    }
                }
            }
        }
        (!all.is_empty()).then_some(all)
    })
}

/// A script as far as it was read.
struct Reader {
    script: Script,
    /// The state that the next draw has.
    pipeline: Pipeline,
    /// Entry points that the test names.
    entries: BTreeMap<String, String>,
    tolerances: [Tolerance; 4],
    layouts: [Layout; 3],
    tests_depth: bool,
    depth: DepthState,
    does_logic: bool,
    logic: LogicOp,
    /// What clearing fills with.
    clear: ([f64; 4], f32),
}

/// How values lie in a kind of buffers.
#[derive(Copy, Clone)]
struct Layout {
    std140: bool,
    row_major: bool,
}

/// Kinds of buffers, by their numbers in [`Reader::layouts`].
const KINDS: [&str; 3] = ["push", "ubo", "ssbo"];

/// Reads a script. Uniform buffers are laid out by std140 where nothing else is said; Amber, which reads such scripts too,
/// has it otherwise.
///
/// # Errors
/// What of it is not understood, or not built.
pub fn parse(text: &str, std140: bool) -> Result<Script, Failure> {
    let layout = |std140| Layout { std140, row_major: false };
    let mut reader = Reader {
        // Some scripts write beyond the ends of buffers, as if nothing were there.
        script: Script { robust: Robust::Zero, ..Script::default() },
        pipeline: Pipeline::default(),
        entries: BTreeMap::new(),
        tolerances: [Tolerance::Absolute(0.01); 4],
        layouts: [layout(false), layout(std140), layout(false)],
        tests_depth: false,
        depth: DepthState { compare: Compare::Less, write: false },
        does_logic: false,
        logic: LogicOp::COPY,
        clear: ([0.0; 4], 1.0),
    };
    let mut color = Format::Bgra8Unorm;
    let mut depth = None;
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        let line = line.trim();
        let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) else {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            return Err(unknown(line));
        };
        let body: Vec<&str> =
            std::iter::from_fn(|| rest.next_if(|line| !line.starts_with('['))).collect();
        let body = body.join("\n");
        match name {
            "require" => {
                for line in lines(&body) {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    let format = |name: &str| formats::texels(name).ok_or_else(|| unknown(&line));
                    match words[..] {
                        ["framebuffer", name] => color = format(name)?,
                        ["depthstencil", name] => depth = Some(format(name)?),
                        // Every machine is asked, and says itself what it has not.
                        _ => {}
                    }
                }
            }
            "vertex data" => reader.vertices(&body)?,
            "indices" => {
                let ty = Type::vector(Component::Unsigned(4), 1);
                let all: Vec<String> = lines(&body).collect();
                let words = all.iter().flat_map(|line| line.split_whitespace());
                let bytes = ty.encode(words).ok_or_else(|| unknown(name))?;
                let buffer = Buffer::Values { ty, format: None, bytes };
                reader.script.buffers.insert(name.to_owned(), buffer);
                reader.pipeline.indices = Some(name.to_owned());
            }
            "test" => {
                reader.framebuffers(color, depth);
                for line in lines(&body) {
                    reader.line(&line)?;
                }
            }
            _ => {
                let (stage_name, form) = name.split_once(" shader").ok_or_else(|| unknown(line))?;
                reader.shader(stage_name, form.trim(), body)?;
                if reader.script.other_stage.is_some() {
                    break;
                }
            }
        }
    }
    Ok(reader.script)
}

/// `1, 2` and `(1 2)` alike.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let words = text.split([' ', ',', '(', ')', '\t']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

fn four(text: &str) -> Option<[f64; 4]> {
    numbers(text)?.try_into().ok()
}

impl Reader {
    fn shader(&mut self, name: &str, form: &str, body: String) -> Result<(), Failure> {
        let stage = match stage(name)? {
            Ok(stage) => stage,
            Err(other) => {
                self.script.other_stage = Some(other);
                return Ok(());
            }
        };
        let shader = match form {
            "passthrough" => pass_through(),
            "" => Shader { stage, code: Code::Glsl(body.trim_start().to_owned()) },
            // What a script requires may be of a later version than it says.
            "spirv" => {
                let environment = Some("spv1.4".to_owned());
                Shader { stage, code: Code::SpirV { text: body, environment } }
            }
            _ => return Err(unknown(&format!("[{name} shader {form}]"))),
        };
        self.script.shaders.insert(name.to_owned(), shader);
        Ok(())
    }

    /// A head of attributes, and a row for each vertex. Every attribute has a buffer of its own.
    fn vertices(&mut self, body: &str) -> Result<(), Failure> {
        let mut rows = lines(body);
        let head = rows.next().unwrap_or_default();
        let mut columns: Vec<(Type, Vec<String>)> = Vec::new();
        for word in head.split_whitespace() {
            let parts = word.split_once('/').and_then(|(location, format)| {
                let location: u32 = location.parse().ok()?;
                Some((location, formats::vertices(format)?, formats::values(format)?))
            });
            let (location, format, ty) = parts.ok_or_else(|| unknown(word))?;
            let (buffer, stride) = (format!("location {location}"), ty.stride() as u32);
            self.pipeline.attributes.push(Attribute { location, buffer, format, stride });
            columns.push((ty, Vec::new()));
        }
        for row in rows {
            let mut words = row.split_whitespace();
            for (ty, column) in &mut columns {
                column.extend(words.by_ref().take(ty.values()).map(str::to_owned));
            }
        }
        for (attribute, (ty, words)) in self.pipeline.attributes.iter().zip(columns) {
            let bytes = ty.encode(words.iter().map(String::as_str));
            let bytes = bytes.ok_or_else(|| unknown(&head))?;
            let buffer = Buffer::Values { ty, format: None, bytes };
            self.script.buffers.insert(attribute.buffer.clone(), buffer);
        }
        Ok(())
    }

    fn framebuffers(&mut self, color: Format, depth: Option<Format>) {
        let image = |format| {
            // Nothing asks for its values.
            let ty = Type::vector(Component::Unsigned(4), 1);
            let size = Some(Extent::plane(SIZE[0], SIZE[1]));
            Buffer::Image { ty, format, size, levels: 1, samples: 1, bytes: None }
        };
        self.script.buffers.insert(COLOR.to_owned(), image(color));
        let attachment = Attachment { image: COLOR.to_owned(), location: 0, level: 0 };
        self.pipeline.colors.push(attachment);
        self.pipeline.size = Some(SIZE);
        if let Some(depth) = depth {
            self.script.buffers.insert(DEPTH.to_owned(), image(depth));
            self.pipeline.depth_stencil = Some(DEPTH.to_owned());
        }
        if !self.script.shaders.contains_key("vertex") {
            self.script.shaders.insert("vertex".to_owned(), pass_through());
        }
    }

    /// The state as a pipeline, under a name.
    fn pipeline(&mut self, compute: bool) -> String {
        let name = format!("pipeline {}", self.script.pipelines.len());
        let mut pipeline = self.pipeline.clone();
        pipeline.depth = self.tests_depth.then_some(self.depth);
        pipeline.logic = self.does_logic.then_some(self.logic);
        let of = |shader: &Shader| (shader.stage == Stage::Compute) == compute;
        for (name, _) in self.script.shaders.iter().filter(|(_, shader)| of(shader)) {
            let entry = self.entries.get(name.as_str()).cloned();
            let attached = Attached { shader: name.clone(), entry, constants: BTreeMap::new() };
            pipeline.shaders.push(attached);
        }
        self.script.pipelines.insert(name.clone(), pipeline);
        name
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        let fail = || unknown(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().map_err(|_| fail());
        let done = match words[..] {
            ["clear", "color", ref rest @ ..] => {
                four(&rest.join(" ")).map(|color| self.clear.0 = color)
            }
            ["clear", "depth", depth] => {
                self.clear.1 = depth.parse().map_err(|_| fail())?;
                Some(())
            }
            ["clear"] => {
                let pipeline = self.pipeline(false);
                let (color, depth) = self.clear;
                let steps = &mut self.script.steps;
                steps.push(Step::ClearColor { pipeline: pipeline.clone(), color });
                steps.push(Step::ClearDepth { pipeline: pipeline.clone(), depth });
                steps.push(Step::Clear(pipeline));
                Some(())
            }
            ["draw", "rect", ref rest @ ..] => {
                let area = four(&rest.join(" ")).ok_or_else(fail)?.map(|value| value as f32);
                let pipeline = self.pipeline(false);
                self.script.steps.push(Step::Draw { pipeline, shape: Shape::Rectangle(area) });
                Some(())
            }
            ["draw", "arrays", ref rest @ ..] => {
                let (indexed, rest) = match *rest {
                    ["indexed", ref rest @ ..] => (true, rest),
                    _ => (false, rest),
                };
                let &[topology, first, count] = rest else {
                    return Err(fail());
                };
                let topology = Primitives::from_name(topology)?;
                let (first, count) = (number(first)?, Some(number(count)?));
                let shape = Shape::Elements { topology, first, count, indexed };
                let pipeline = self.pipeline(false);
                self.script.steps.push(Step::Draw { pipeline, shape });
                Some(())
            }
            [stage @ ("vertex" | "geometry" | "fragment" | "compute"), "entrypoint", name] => {
                self.entries.insert(stage.to_owned(), name.to_owned());
                Some(())
            }
            ["compute", x, y, z] => {
                let groups = [number(x)?, number(y)?, number(z)?];
                let pipeline = self.pipeline(true);
                self.script.steps.push(Step::Dispatch { pipeline, groups });
                Some(())
            }
            ["tolerance", ref rest @ ..] => {
                let all: Option<Vec<_>> = rest.iter().map(|word| Tolerance::parse(word)).collect();
                let all = all.filter(|all| !all.is_empty()).ok_or_else(fail)?;
                for (place, found) in self.tolerances.iter_mut().zip(all.iter().cycle()) {
                    *place = *found;
                }
                Some(())
            }
            [kind, "layout", ref names @ ..] if KINDS.contains(&kind) => self.layout(kind, names),
            ["uniform", "ubo", place, ty, at, ref values @ ..]
            | ["ubo", place, "subdata", ty, at, ref values @ ..] => {
                self.at("ubo", place, (ty, at, values))
            }
            ["push", ty, at, ref values @ ..] | ["uniform", ty, at, ref values @ ..] => {
                self.bind(PUSHED, None);
                self.store("push", PUSHED, (ty, at, values))
            }
            ["ssbo", place, "subdata", ty, at, ref values @ ..] => {
                self.at("ssbo", place, (ty, at, values))
            }
            [kind @ ("ubo" | "ssbo"), place, size] => {
                let size = number(size)? as usize;
                self.named(kind, place).map(|name| self.grow(&name, size))
            }
            ["probe", "ssbo", ty, place, at, relation, ref values @ ..] => {
                let check = self.values(ty, place, at, relation, values);
                check.map(|check| self.script.steps.push(Step::Expect(check)))
            }
            ["probe", ref rest @ ..] => self.probe(&rest.join(" "), [1.0; 2]),
            ["relative", "probe", ref rest @ ..] => {
                self.probe(&rest.join(" "), SIZE.map(f64::from))
            }
            [name, ref rest @ ..] => self.property(name, &rest.join(" "))?,
            [] => Some(()),
        };
        done.ok_or_else(fail)
    }

    fn layout(&mut self, kind: &str, names: &[&str]) -> Option<()> {
        let layout = &mut self.layouts[KINDS.iter().position(|found| *found == kind)?];
        for name in names {
            match *name {
                "std140" => layout.std140 = true,
                "std430" => layout.std140 = false,
                "row_major" => layout.row_major = true,
                "column_major" => layout.row_major = false,
                _ => return None,
            }
        }
        Some(())
    }

    /// A type of a kind of buffers.
    fn type_of(&self, kind: &str, name: &str) -> Option<Type> {
        let layout = self.layouts[KINDS.iter().position(|found| *found == kind)?];
        let ty = Type::glsl(name)?;
        let row_major = layout.row_major && ty.columns > 1;
        Some(Type { std140: layout.std140, row_major, ..ty })
    }

    /// The name of the buffer at a place: `3`, or `1:3` with its descriptor set.
    fn named(&mut self, kind: &str, place: &str) -> Option<String> {
        let (set, number) = place.split_once(':').unwrap_or(("0", place));
        let place = (set.parse().ok()?, number.parse().ok()?);
        let name = format!("{kind} {}:{}", place.0, place.1);
        self.bind(&name, Some(place));
        Some(name)
    }

    /// Makes a buffer and its binding, where there is none.
    fn bind(&mut self, name: &str, place: Option<(u32, u32)>) {
        if self.script.buffers.contains_key(name) {
            return;
        }
        let ty = Type::vector(Component::Unsigned(4), 1);
        let buffer = Buffer::Values { ty, format: None, bytes: Vec::new() };
        self.script.buffers.insert(name.to_owned(), buffer);
        let binding = Binding { place, buffers: vec![name.to_owned()], offset: 0, sampler: None };
        self.pipeline.bindings.push(binding);
    }

    /// A buffer has at least so many bytes, from the beginning.
    fn grow(&mut self, name: &str, size: usize) {
        if let Some(Buffer::Values { bytes, .. }) = self.script.buffers.get_mut(name) {
            let size = size.next_multiple_of(4);
            bytes.resize(bytes.len().max(size), 0);
        }
    }

    fn at(&mut self, kind: &str, place: &str, what: (&str, &str, &[&str])) -> Option<()> {
        let name = self.named(kind, place)?;
        self.store(kind, &name, what)
    }

    /// Values go into a buffer.
    fn store(
        &mut self,
        kind: &str,
        name: &str,
        (ty, at, values): (&str, &str, &[&str]),
    ) -> Option<()> {
        let ty = self.type_of(kind, ty)?;
        let at: usize = at.parse().ok()?;
        // Only the values are replaced, not what lies between and behind them.
        for (word, place) in values.iter().zip(ty.places()) {
            let bytes = ty.component.encode(word)?;
            let at = at + place;
            self.grow(name, at + bytes.len());
            self.script.steps.push(Step::Store { buffer: name.to_owned(), at, bytes });
        }
        Some(())
    }

    fn values(
        &mut self,
        ty: &str,
        place: &str,
        at: &str,
        relation: &str,
        values: &[&str],
    ) -> Option<Check> {
        let relation = match relation {
            "==" => Relation::Equal,
            "~=" => Relation::Near(self.tolerances.to_vec()),
            "!=" => Relation::Unequal,
            "<" => Relation::Less,
            "<=" => Relation::LessEqual,
            ">" => Relation::Greater,
            ">=" => Relation::GreaterEqual,
            _ => return None,
        };
        Some(Check::Values(Values {
            buffer: self.named("ssbo", place)?,
            ty: self.type_of("ssbo", ty)?,
            at: at.parse().ok()?,
            relation,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }))
    }

    /// `all rgba R G B A`, `rect rgb (X, Y, W, H) (R, G, B)` and `rgb (X, Y) (R, G, B)`, with places in units of `scale`
    /// pixels.
    fn probe(&mut self, text: &str, scale: [f64; 2]) -> Option<()> {
        let (place, rest) = text.split_once(' ')?;
        let (count, form, rest) = match place {
            "all" => {
                let (form, rest) = rest.trim().split_once(' ')?;
                (0, form, rest)
            }
            "rect" => {
                let (form, rest) = rest.trim().split_once(' ')?;
                (4, form, rest)
            }
            form => (2, form, rest),
        };
        let components = match form {
            "rgb" => 3,
            "rgba" => 4,
            _ => return None,
        };
        let all = numbers(rest)?;
        let (place, color) = all.split_at_checked(count)?;
        if color.len() != components {
            return None;
        }
        let scaled = |n: usize| (place[n] * scale[n % 2]) as u32;
        let area = match count {
            0 => [0, 0, SIZE[0], SIZE[1]],
            2 => [scaled(0), scaled(1), 1, 1],
            _ => [scaled(0), scaled(1), scaled(2), scaled(3)],
        };
        let mut wanted = [0.0; 4];
        wanted[..components].copy_from_slice(color);
        let (image, tolerances) = (COLOR.to_owned(), self.tolerances);
        let texels = Texels { image, area, components, color: wanted, tolerances };
        self.script.steps.push(Step::Expect(Check::Texels(texels)));
        Some(())
    }

    /// State around the shaders.
    fn property(&mut self, name: &str, value: &str) -> Result<Option<()>, Failure> {
        let on = || match value {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let done = match name {
            "colorWriteMask" => {
                let mut kept = 0b1111u8;
                for part in value.split('|') {
                    let part = part.trim();
                    let letter = part.strip_prefix("VK_COLOR_COMPONENT_");
                    let letter = letter.and_then(|part| part.strip_suffix("_BIT"));
                    match letter.and_then(|letter| "RGBA".find(letter)) {
                        Some(component) => kept &= !(1 << component),
                        None => return Ok(None),
                    }
                }
                self.pipeline.masked = kept;
                Some(())
            }
            "cullMode" => match value {
                "VK_CULL_MODE_NONE" => Some(Cull::None),
                "VK_CULL_MODE_FRONT_BIT" => Some(Cull::Front),
                "VK_CULL_MODE_BACK_BIT" => Some(Cull::Back),
                _ => None,
            }
            .map(|cull| self.pipeline.cull = cull),
            "frontFace" => match value {
                "VK_FRONT_FACE_CLOCKWISE" => Some(true),
                "VK_FRONT_FACE_COUNTER_CLOCKWISE" => Some(false),
                _ => None,
            }
            .map(|clockwise| self.pipeline.clockwise = clockwise),
            "depthTestEnable" => on().map(|on| self.tests_depth = on),
            "depthWriteEnable" => on().map(|on| self.depth.write = on),
            "depthCompareOp" => {
                let name = value.strip_prefix("VK_COMPARE_OP_").unwrap_or_default();
                compare(name).map(|compare| self.depth.compare = compare)
            }
            "logicOpEnable" => on().map(|on| self.does_logic = on),
            "logicOp" => {
                let name = value.strip_prefix("VK_LOGIC_OP_").unwrap_or_default();
                LogicOp::from_name(&name.to_lowercase().replace('_', "-"))
                    .map(|logic| self.logic = logic)
            }
            "lineWidth" => match value.parse() {
                Ok(width) if width > 0.0 => {
                    self.pipeline.line_width = Some(width);
                    Some(())
                }
                _ => None,
            },
            _ => None,
        };
        Ok(done)
    }
}
