//! State that a driver knows and a shader does not say: `--pipeline`, by serde.

mod shape;

use gpucc_emu::blend::bound;
use gpucc_emu::format::{Format, Kind, VertexFormat};
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Blend, BlendComponent, BlendOp, ColorTarget, Factor, Fetch,
    FragmentState, State, Step, Stream, StreamOutput, Uniforms, VertexBuffer, VertexForm,
    VertexState,
};
use gpucc_ir::ssa::{Func, OutputKind, Scalar, Stage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The pipeline around a shader. What is absent is inferred.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Pipeline {
    /// Vertex stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex: Option<VertexState>,
    /// Fragment stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<FragmentState>,
    /// Slots of bindings where the driver wants its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<BindingSlot>,
    /// Where uniform words are read from, on machines that have a choice.
    #[serde(skip_serializing_if = "is_default")]
    pub uniforms: Uniforms,
    /// Workgroup variables may live in the local data share, where no public driver vouches for its launch.
    #[serde(skip_serializing_if = "is_default")]
    pub local_data_share: bool,
    /// `restrict`, `zero` or `off`; the command line wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robust: Option<Robust>,
    /// Values of overrides by name or id; the command line wins.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, f64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What an access out of bounds does.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Robust {
    /// The index is clamped.
    #[default]
    Restrict,
    /// Reads give 0, writes are dropped.
    Zero,
    /// Nothing is checked.
    Off,
}

/// Bytes from one element of a vertex buffer to the next, at most (WebGPU, maxVertexBufferArrayStride).
const MOST_STRIDE: u32 = 2048;

/// The field that is wrong, and how.
fn check_attribute(
    attribute: &Attribute,
    buffers: &[VertexBuffer],
) -> Result<(), (&'static str, String)> {
    let format = VertexFormat::from_name(&attribute.format).ok_or_else(|| {
        let known = VertexFormat::ALL.iter().map(|format| format.name());
        ("format", unknown("vertex format", &attribute.format, known))
    })?;
    let number = attribute.buffer;
    let buffer = buffers
        .get(number as usize)
        .ok_or_else(|| ("buffer", format!("there is no vertex buffer {number}")))?;
    if attribute.offset.saturating_add(format.bytes()) > MOST_STRIDE {
        let problem = format!("the attribute ends beyond byte {MOST_STRIDE}");
        return Err(("offset", problem));
    }
    let align = format.bytes().min(4);
    for (field, what, bytes) in
        [("offset", "", attribute.offset), ("buffer", "its stride of ", buffer.stride)]
    {
        if !bytes.is_multiple_of(align) {
            return Err((field, format!("{what}{bytes} is no multiple of {align}")));
        }
    }
    Ok(())
}

/// Formats of depth and stencil. WebGPU 6.3.1, GPUTextureFormat.
const DEPTH_STENCIL: [&str; 6] = [
    "stencil8",
    "depth16unorm",
    "depth24plus",
    "depth24plus-stencil8",
    "depth32float",
    "depth32float-stencil8",
];

fn check_fragment(fragment: &FragmentState) -> Result<(), String> {
    let bound = fragment.targets.iter().enumerate();
    for (index, target) in bound.filter_map(|(index, target)| Some((index, target.as_ref()?))) {
        let place = format!("fragment.targets[{index}]");
        check_target(target, fragment.samples)
            .map_err(|(field, problem)| format!("{place}.{field}: {problem}"))?;
    }
    if let Some(format) = &fragment.depth_stencil
        && !DEPTH_STENCIL.contains(&format.as_str())
    {
        let problem = unknown("depth or stencil format", format, DEPTH_STENCIL);
        return Err(format!("fragment.depth_stencil: {problem}"));
    }
    match fragment.samples {
        Some(samples) if !samples.is_power_of_two() || samples > MOST_SAMPLES => {
            Err(format!("fragment.samples: {samples} is none of 1, 2, 4, 8, {MOST_SAMPLES}"))
        }
        // WebGPU 10.3.6: alpha covers samples only where there are several.
        Some(1) if fragment.alpha_to_coverage => {
            Err("fragment.alpha_to_coverage: a pixel of one sample has nothing to cover".into())
        }
        _ => Ok(()),
    }
}

/// The field of a target that is wrong, and how. WebGPU 10.3.6, GPUColorTargetState.
fn check_target(target: &ColorTarget, samples: Option<u32>) -> Result<(), (&'static str, String)> {
    let name = &target.format;
    let known = || Format::ALL.iter().filter(|format| format.renders()).map(|format| format.name());
    let format = Format::from_name(name)
        .ok_or_else(|| ("format", unknown("texture format", name, known())))?;
    if !format.renders() {
        let names: Vec<&str> = known().collect();
        let problem =
            format!("`{name}` is no format of a colour target; these are {}", names.join(", "));
        return Err(("format", problem));
    }
    if target.write_mask > ColorTarget::ALL {
        let mask = target.write_mask;
        let problem = format!("{mask} has bits beyond the four components, 15");
        return Err(("write_mask", problem));
    }
    let integer = format.kind().is_integer();
    if let Some(blend) = &target.blend {
        if integer {
            return Err(("blend", format!("`{name}` holds integers, which are not blended")));
        }
        for (field, part) in [("blend.color", blend.color), ("blend.alpha", blend.alpha)] {
            let ones = part.src == Factor::One && part.dst == Factor::One;
            if matches!(part.op, BlendOp::Min | BlendOp::Max) && !ones {
                return Err((field, "min and max take the factors `one` and `one`".into()));
            }
        }
    }
    if samples.is_some_and(|samples| samples > 1) && !format.multisamples() {
        return Err(("format", format!("`{name}` has one sample a pixel")));
    }
    Ok(())
}

/// The most samples of a pixel on any machine.
pub(crate) const MOST_SAMPLES: u32 = 16;

/// That there is no such name, and which names there are.
fn unknown<'n>(what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    format!("`{name}` is not a WebGPU {what}; known are {}", known.join(", "))
}

impl Pipeline {
    /// Parses JSON.
    ///
    /// # Errors
    /// What is wrong, at which value by its names (`fragment.targets[0].format`) and in which line and column, or
    /// what contradicts itself.
    pub fn parse(text: &str) -> Result<Pipeline, String> {
        let pipeline: Pipeline = shape::parse(text)?;
        pipeline.check()?;
        Ok(pipeline)
    }

    /// Whether what is said can be: formats that exist, attributes within their buffers' reach and aligned as WebGPU
    /// has it (21.3.7, GPUVertexState), nothing said twice.
    ///
    /// # Errors
    /// What cannot be, in words.
    pub fn check(&self) -> Result<(), String> {
        for (state, vertex) in self.vertex.iter().map(|vertex| ("vertex", vertex)) {
            for (number, buffer) in vertex.buffers.iter().enumerate() {
                if buffer.stride > MOST_STRIDE {
                    return Err(format!(
                        "{state}.buffers[{number}].stride: a stride of {} is more than {MOST_STRIDE}",
                        buffer.stride
                    ));
                }
            }
            let mut locations = BTreeSet::new();
            for (index, attribute) in vertex.attributes.iter().enumerate() {
                let place = format!("{state}.attributes[{index}]");
                check_attribute(attribute, &vertex.buffers)
                    .map_err(|(field, problem)| format!("{place}.{field}: {problem}"))?;
                if !locations.insert(attribute.location) {
                    return Err(format!("{place}.location: {} is given twice", attribute.location));
                }
            }
        }
        if let Some(fragment) = &self.fragment {
            check_fragment(fragment)?;
        }
        let mut bindings = BTreeSet::new();
        for (index, slot) in self.bindings.iter().enumerate() {
            if !bindings.insert((slot.group, slot.binding)) {
                return Err(format!(
                    "bindings[{index}]: binding {}.{} is given twice",
                    slot.group, slot.binding
                ));
            }
        }
        Ok(())
    }

    /// Whether the colours that an entry point writes are of the kinds that the targets hold. WebGPU 10.3.6.
    ///
    /// # Errors
    /// The first target of another kind.
    pub fn check_outputs(&self, func: &Func) -> Result<(), String> {
        let Some(fragment) = self.fragment.as_ref().filter(|_| func.stage == Stage::Fragment)
        else {
            return Ok(());
        };
        let takes = |wanted| {
            let mut written = bound(fragment).filter(|(_, target, _)| target.write_mask != 0);
            written.find(|&(location, ..)| location == wanted)
        };
        for data in func.outputs.values() {
            let OutputKind::Location { location, .. } = data.kind else {
                continue;
            };
            let Some((_, target, format)) = takes(location) else {
                continue;
            };
            let (holds, fits) = match format.kind() {
                Kind::Uint => ("u32", matches!(data.scalar, Scalar::U32 | Scalar::Bool)),
                Kind::Sint => ("i32", data.scalar == Scalar::I32),
                _ => ("f32", matches!(data.scalar, Scalar::F32 | Scalar::F16)),
            };
            if !fits {
                return Err(format!(
                    "fragment.targets[{location}].format: `{}` takes {holds}, but entry point '{}' writes {} to \
                     location {location}",
                    target.format,
                    func.name,
                    data.scalar.word(),
                ));
            }
        }
        Ok(())
    }

    /// What back ends are told.
    pub fn state(&self) -> State {
        State {
            vertex: self.vertex.clone().unwrap_or_default(),
            fragment: self.fragment.clone(),
            bindings: self.bindings.clone(),
            uniforms: self.uniforms,
            local_data_share: self.local_data_share,
        }
    }

    /// A pipeline that says what a back end was told and inferred.
    pub fn of(state: State) -> Pipeline {
        Pipeline {
            vertex: Some(state.vertex).filter(|vertex| !is_default(vertex)),
            fragment: state.fragment,
            bindings: state.bindings,
            uniforms: state.uniforms,
            local_data_share: state.local_data_share,
            ..Pipeline::default()
        }
    }

    /// As JSON with a final newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_errors_that_name_the_place() {
        let error = Pipeline::parse("{\n \"vertx\": {}\n}").expect_err("misspelt");
        assert!(error.contains("vertx") && error.contains("line 2"), "{error}");
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        let vertex = |attribute: &str, stride: u32| {
            format!(
                r#"{{"vertex":{{"attributes":[{attribute}],"buffers":[{{"stride":{stride},"step":"vertex"}}]}}}}"#
            )
        };
        let at = |format: &str, buffer: u32, offset: u32| {
            format!(r#"{{"location":3,"format":"{format}","buffer":{buffer},"offset":{offset}}}"#)
        };
        let twice = at("float32", 0, 0) + "," + &at("float32", 0, 4);
        let slot = r#"{"group":0,"binding":1,"slot":3}"#;
        let cases = [
            (
                vertex(&at("float99", 0, 0), 4),
                "vertex.attributes[0].format: `float99` is not a WebGPU vertex format; known are uint8, ",
            ),
            (
                vertex(&at("float32", 1, 0), 4),
                "vertex.attributes[0].buffer: there is no vertex buffer 1",
            ),
            (
                vertex(&at("float32x2", 0, 2044), 4),
                "vertex.attributes[0].offset: the attribute ends beyond byte 2048",
            ),
            (
                vertex(&at("float32", 0, u32::MAX), 4),
                "vertex.attributes[0].offset: the attribute ends beyond byte 2048",
            ),
            (vertex(&at("float32", 0, 2), 4), "vertex.attributes[0].offset: 2 is no multiple of 4"),
            (
                vertex(&at("unorm8x2", 0, 2), 3),
                "vertex.attributes[0].buffer: its stride of 3 is no multiple of 2",
            ),
            (
                vertex(&at("float32", 0, 0), 2052),
                "vertex.buffers[0].stride: a stride of 2052 is more than 2048",
            ),
            (vertex(&twice, 8), "vertex.attributes[1].location: 3 is given twice"),
            (
                format!(r#"{{"bindings":[{slot},{slot}]}}"#),
                "bindings[1]: binding 0.1 is given twice",
            ),
            (
                r#"{"fragment":{"targets":[{"format":"rgba9"}]}}"#.to_owned(),
                "fragment.targets[0].format: `rgba9` is not a WebGPU texture format; known are r8unorm, ",
            ),
        ];
        for (text, words) in cases {
            let problem = Pipeline::parse(&text).expect_err(&text);
            assert!(problem.contains(words), "{text}: {problem}");
        }
        assert!(Pipeline::parse(&vertex(&at("unorm8x2", 0, 2), 0)).is_ok());
    }

    #[test]
    fn a_wrong_shape_is_told_with_the_names_that_lead_to_it() {
        let cases = [
            ("[]", "the whole: invalid type: sequence, expected an object"),
            ("3", "the whole: invalid type: integer `3`, expected an object"),
            (r#"{"vertex":[[],[]]}"#, "vertex: invalid type: sequence, expected an object"),
            (
                r#"{"vertex":{"attributes":{}}}"#,
                "vertex.attributes: invalid type: map, expected a sequence",
            ),
            (
                r#"{"vertex":{"attributes":[{"location":0,"format":3,"buffer":0}]}}"#,
                "vertex.attributes[0].format: invalid type: integer `3`, expected a string",
            ),
            (
                r#"{"vertex":{"attributes":[{"location":-1,"format":"float32","buffer":0}]}}"#,
                "vertex.attributes[0].location: invalid value: integer `-1`, expected u32",
            ),
            (
                r#"{"vertex":{"attributes":[{"location":4294967296,"format":"float32","buffer":0}]}}"#,
                "vertex.attributes[0].location: invalid value: integer `4294967296`, expected u32",
            ),
            (
                r#"{"vertex":{"buffers":[{"stride":1e3}]}}"#,
                "vertex.buffers[0].stride: invalid type: floating point `1000.0`, expected u32",
            ),
            (
                r#"{"vertex":{"buffers":[{"stride":16,"step":{"instance":null}}]}}"#,
                "vertex.buffers[0].step: invalid type: map, expected one of vertex, instance",
            ),
            (
                r#"{"vertex":{"buffers":[{"stride":16,"step":"primitive"}]}}"#,
                "vertex.buffers[0].step: unknown variant `primitive`, expected `vertex` or `instance`",
            ),
            (
                r#"{"fragment":{"targets":[{"write_mask":1}]}}"#,
                "fragment.targets[0]: missing field `format`",
            ),
            (
                r#"{"fragment":{"targets":[{"format":"r8unorm","format":"r8unorm"}]}}"#,
                "fragment.targets[0]: `format` is given twice",
            ),
            (
                r#"{"fragment":{"targets":[{"format":"r8unorm","write_mask":16}]}}"#,
                "fragment.targets[0].write_mask: 16 has bits",
            ),
            (
                r#"{"fragment":{"depth_stencil":"depth32"}}"#,
                "fragment.depth_stencil: `depth32` is not a WebGPU depth or stencil format; known are stencil8",
            ),
            (r#"{"fragment":{"samples":3}}"#, "fragment.samples: 3 is none of"),
            (
                r#"{"fragment":{"target":[]}}"#,
                "fragment.target: unknown field `target`, expected one of `targets`",
            ),
            (r#"{"overrides":{"n":1,"n":2}}"#, "overrides: `n` is given twice"),
            (r#"{"overrides":{"n":"1"}}"#, "overrides.n: invalid type: string \"1\", expected f64"),
            (r#"{"overrides":{"n":1e999}}"#, "number out of range"),
            (
                r#"{"robust":null,"uniforms":null}"#,
                "uniforms: invalid type: null, expected one of loaded, pushed",
            ),
            (
                r#"{"bindings":[[0,1,2]]}"#,
                "bindings[0]: invalid type: sequence, expected an object",
            ),
            (
                "{\n\"bindings\":\n  [7]}",
                "bindings[0]: invalid type: integer `7`, expected an object, at line 3 column 4",
            ),
            ("{\"robust\": \"restrict\"", "EOF while parsing an object at line 1"),
            ("", "EOF while parsing a value at line 1"),
        ];
        for (text, words) in cases {
            let problem = Pipeline::parse(text).expect_err(text);
            assert!(problem.contains(words), "{text}: {problem}");
        }
        let deep = "[".repeat(100_000);
        let inside = format!(r#"{{"vertex":{deep}{}}}"#, "]".repeat(100_000));
        for text in [deep, inside] {
            assert!(Pipeline::parse(&text).is_err());
        }
    }

    /// A value of some shape, from the words of a pipeline and others.
    fn any_json(rng: &mut gpucc_ir::ssa::random::Rng, depth: u32) -> String {
        const WORDS: [&str; 16] = [
            "vertex",
            "fragment",
            "bindings",
            "uniforms",
            "robust",
            "overrides",
            "attributes",
            "buffers",
            "format",
            "float32",
            "stride",
            "targets",
            "group",
            "stream",
            "off",
            "\\u0000",
        ];
        const NUMBERS: [&str; 8] =
            ["0", "1", "-1", "4294967295", "4294967296", "1e400", "0.5", "1e-400"];
        match rng.below(if depth > 4 { 4 } else { 8 }) {
            0 => rng.pick(&["null", "true", "false"]).to_owned(),
            1 => rng.pick(&NUMBERS).to_owned(),
            2 | 3 => format!("\"{}\"", rng.pick(&WORDS)),
            4 | 5 => {
                let list: Vec<String> =
                    (0..rng.below(4)).map(|_| any_json(rng, depth + 1)).collect();
                format!("[{}]", list.join(","))
            }
            _ => {
                let list: Vec<String> = (0..rng.below(5))
                    .map(|_| format!("\"{}\":{}", rng.pick(&WORDS), any_json(rng, depth + 1)))
                    .collect();
                format!("{{{}}}", list.join(","))
            }
        }
    }

    #[test]
    fn whatever_is_read_is_a_pipeline_or_an_error() {
        let right = r#"{"vertex":{"attributes":[{"location":0,"format":"float32x3","buffer":0,"offset":4}],
            "buffers":[{"stride":16,"step":"instance"}],"fetch":"separate","stream":{"strides":[4],"outputs":[
            {"location":0,"buffer":0,"offset":0}]}},"uniforms":"pushed","overrides":{"n":4}}"#;
        assert!(Pipeline::parse(right).is_ok());
        for seed in 0..4000 {
            let mut rng = gpucc_ir::ssa::random::Rng::new(seed);
            let mut text = any_json(&mut rng, 0);
            if seed % 2 == 0 {
                // A value of the right one in another's place.
                let values: Vec<usize> =
                    right.match_indices([':', '[', ',']).map(|m| m.0 + 1).collect();
                let at = rng.pick(&values);
                let length = right[at..].find([',', '}', ']']).unwrap_or(0);
                text = format!("{}{text}{}", &right[..at], &right[at + length..]);
            }
            match Pipeline::parse(&text) {
                Ok(pipeline) => assert_eq!(Pipeline::parse(&pipeline.to_json()), Ok(pipeline)),
                Err(problem) => assert!(!problem.is_empty(), "{text}"),
            }
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = r#"{"vertex":{"attributes":[{"location":0,"format":"float32x3","buffer":0,"offset":4}],
            "buffers":[{"stride":16,"step":"instance"}],"fetch":"separate","form":"plain"},
            "uniforms":"pushed","local_data_share":true,"bindings":[{"group":0,"binding":1,"slot":3}],"robust":"zero","overrides":{"n":4}}"#;
        let pipeline = Pipeline::parse(text).expect("valid");
        assert_eq!(Pipeline::parse(&pipeline.to_json()), Ok(pipeline));
    }
}
