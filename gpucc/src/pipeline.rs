//! State that a driver knows and a shader does not say: `--pipeline`, by serde.

pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Fetch, State, Step, Stream, StreamOutput, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

const fn all_components() -> u8 {
    15
}

impl Pipeline {
    /// Parses JSON.
    ///
    /// # Errors
    /// What is wrong and in which line and column.
    pub fn parse(text: &str) -> Result<Pipeline, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
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
    fn what_is_written_reads_back() {
        let text = r#"{"vertex":{"attributes":[{"location":0,"format":"float32x3","buffer":0,"offset":4}],
            "buffers":[{"stride":16,"step":"instance"}],"fetch":"separate","form":"plain"},
            "uniforms":"pushed","bindings":[{"group":0,"binding":1,"slot":3}],"robust":"zero","overrides":{"n":4}}"#;
        let pipeline = Pipeline::parse(text).expect("valid");
        assert_eq!(Pipeline::parse(&pipeline.to_json()), Ok(pipeline));
    }
}
