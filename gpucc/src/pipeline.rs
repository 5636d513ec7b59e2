//! State that a driver knows and a shader does not say: `--pipeline`, by serde.

use gpucc_emu::format::{Format, VertexFormat};
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Fetch, State, Step, Stream, StreamOutput, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};
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

/// Fragment stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FragmentState {
    /// Colour targets by location.
    pub targets: Vec<ColorTarget>,
    /// Depth and stencil format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_stencil: Option<String>,
    /// Samples of a pixel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
}

/// One colour target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColorTarget {
    /// WebGPU texture format.
    pub format: String,
    /// Components that are written: bit 0 red.
    #[serde(default = "all_components")]
    pub write_mask: u8,
}

/// Bytes from one element of a vertex buffer to the next, at most (WebGPU, maxVertexBufferArrayStride).
const MOST_STRIDE: u32 = 2048;

fn check_attribute(attribute: &Attribute, buffers: &[VertexBuffer]) -> Result<(), String> {
    let name = &attribute.format;
    let format = VertexFormat::from_name(name)
        .ok_or_else(|| format!("`{name}` is not a WebGPU vertex format"))?;
    let number = attribute.buffer;
    let buffer = buffers
        .get(number as usize)
        .ok_or_else(|| format!("there is no vertex buffer {number}"))?;
    if attribute.offset.saturating_add(format.bytes()) > MOST_STRIDE {
        return Err(format!("it ends beyond byte {MOST_STRIDE}"));
    }
    let align = format.bytes().min(4);
    for (what, bytes) in [
        ("its offset", attribute.offset),
        ("its buffer's stride", buffer.stride),
    ] {
        if !bytes.is_multiple_of(align) {
            return Err(format!("{what}, {bytes}, is no multiple of {align}"));
        }
    }
    Ok(())
}

const fn all_components() -> u8 {
    15
}

impl Pipeline {
    /// Parses JSON.
    ///
    /// # Errors
    /// What is wrong and in which line and column, or what contradicts itself.
    pub fn parse(text: &str) -> Result<Pipeline, String> {
        let pipeline: Pipeline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        pipeline.check()?;
        Ok(pipeline)
    }

    /// Whether what is said can be: formats that exist, attributes within their buffers' reach and aligned as WebGPU
    /// has it (21.3.7, GPUVertexState), nothing said twice.
    ///
    /// # Errors
    /// What cannot be, in words.
    pub fn check(&self) -> Result<(), String> {
        let vertex = self.vertex.iter();
        for (number, buffer) in vertex
            .clone()
            .flat_map(|vertex| vertex.buffers.iter().enumerate())
        {
            if buffer.stride > MOST_STRIDE {
                return Err(format!(
                    "vertex buffer {number}: a stride of {} is more than {MOST_STRIDE}",
                    buffer.stride
                ));
            }
        }
        let mut locations = BTreeSet::new();
        for vertex in vertex {
            for attribute in &vertex.attributes {
                check_attribute(attribute, &vertex.buffers)
                    .map_err(|problem| format!("attribute {}: {problem}", attribute.location))?;
                if !locations.insert(attribute.location) {
                    return Err(format!("attribute {} is given twice", attribute.location));
                }
            }
        }
        for target in self.fragment.iter().flat_map(|fragment| &fragment.targets) {
            if Format::from_name(&target.format).is_none() {
                return Err(format!(
                    "`{}` is not a WebGPU texture format",
                    target.format
                ));
            }
        }
        let mut bindings = BTreeSet::new();
        for slot in &self.bindings {
            if !bindings.insert((slot.group, slot.binding)) {
                return Err(format!(
                    "binding {}.{} is given twice",
                    slot.group, slot.binding
                ));
            }
        }
        Ok(())
    }

    /// What back ends are told.
    pub fn state(&self) -> State {
        State {
            vertex: self.vertex.clone().unwrap_or_default(),
            bindings: self.bindings.clone(),
            uniforms: self.uniforms,
        }
    }

    /// A pipeline that says what a back end was told and inferred.
    pub fn of(state: State) -> Pipeline {
        Pipeline {
            vertex: Some(state.vertex).filter(|vertex| !is_default(vertex)),
            bindings: state.bindings,
            uniforms: state.uniforms,
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
        assert!(
            error.contains("vertx") && error.contains("line 2"),
            "{error}"
        );
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
                "attribute 3: `float99` is not",
            ),
            (
                vertex(&at("float32", 1, 0), 4),
                "attribute 3: there is no vertex buffer 1",
            ),
            (
                vertex(&at("float32x2", 0, 2044), 4),
                "attribute 3: it ends beyond byte 2048",
            ),
            (
                vertex(&at("float32", 0, u32::MAX), 4),
                "attribute 3: it ends beyond byte 2048",
            ),
            (
                vertex(&at("float32", 0, 2), 4),
                "attribute 3: its offset, 2, is no multiple of 4",
            ),
            (
                vertex(&at("unorm8x2", 0, 2), 3),
                "its buffer's stride, 3, is no multiple of 2",
            ),
            (
                vertex(&at("float32", 0, 0), 2052),
                "vertex buffer 0: a stride of 2052",
            ),
            (vertex(&twice, 8), "attribute 3 is given twice"),
            (
                format!(r#"{{"bindings":[{slot},{slot}]}}"#),
                "binding 0.1 is given twice",
            ),
            (
                r#"{"fragment":{"targets":[{"format":"rgba9"}]}}"#.to_owned(),
                "`rgba9` is not a WebGPU texture format",
            ),
        ];
        for (text, words) in cases {
            let problem = Pipeline::parse(&text).expect_err(&text);
            assert!(problem.contains(words), "{text}: {problem}");
        }
        assert!(Pipeline::parse(&vertex(&at("unorm8x2", 0, 2), 0)).is_ok());
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = r#"{"vertex":{"attributes":[{"location":0,"format":"float32x3","buffer":0,"offset":4}],
            "buffers":[{"stride":16,"step":"instance"}],"fetch":"separate","form":"plain"},
            "uniforms":"pushed","bindings":[{"group":0,"binding":1,"slot":3}],"robust":"zero","overrides":{"n":4}}"#;
        let pipeline = Pipeline::parse(text).expect("valid");
        assert_eq!(Pipeline::parse(&pipeline.to_json()), Ok(pipeline));
    }
}
