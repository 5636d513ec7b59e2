//! What a driver and every back end say to each other, whatever the machine: how hard to try, the state around a shader, and
//! why there is no program.

mod fragment;

pub use fragment::{Blend, BlendComponent, BlendOp, ColorTarget, Factor, FragmentState};

use crate::ssa::{Builtin, Func, InputKind, Output, OutputKind, Scalar, Span};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The time since any one moment. Back ends read no clock but the one that a caller lends them.
pub type Clock = fn() -> Duration;

/// How long each stage of a back end took, where a clock was lent.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    clock: Option<Clock>,
    last: Duration,
    /// Stages in the order in which they ended.
    pub times: Vec<(&'static str, Duration)>,
}

impl Stages {
    /// The first stage begins now.
    pub fn new(clock: Option<Clock>) -> Stages {
        Stages { clock, last: clock.map_or(Duration::ZERO, |now| now()), times: Vec::new() }
    }

    /// The stage of this name is over, the next one begins.
    pub fn end(&mut self, stage: &'static str) {
        if let Some(now) = self.clock {
            let now = now();
            self.times.push((stage, now.saturating_sub(self.last)));
            self.last = now;
        }
    }
}

/// How hard to try.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// `-O0`: straight from the lowering.
    None,
    /// `-O1`: what is cheap.
    Some,
    /// `-O2`: what pays.
    #[default]
    Full,
    /// `-Omax`: searches schedules.
    Max,
}

/// What a back end is told of the pipeline around a shader. What is absent it infers, and hands back filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Vertex stage. An attribute that the shader reads and that is not named here gets a buffer of its own with its
    /// natural 32-bit format.
    pub vertex: VertexState,
    /// Fragment stage; the driver knows when absent.
    pub fragment: Option<FragmentState>,
    /// Slots of bindings where the driver wants its own.
    pub bindings: Vec<BindingSlot>,
    /// Where uniform words are read from, on machines that have a choice.
    pub uniforms: Uniforms,
    /// Workgroup variables may live in the local data share, on machines whose launch of it is not public (errata 84).
    pub local_data_share: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Where uniform words at constant offsets are read from.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uniforms {
    /// Their buffer.
    #[default]
    Loaded,
    /// The machine's constant words, which the driver fills by the report's map.
    Pushed,
}

/// Vertex stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VertexState {
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Buffers.
    pub buffers: Vec<VertexBuffer>,
    /// Who fetches.
    pub fetch: Fetch,
    /// Transform feedback.
    #[serde(skip_serializing_if = "is_default")]
    pub stream: Stream,
    /// How the program is cut, on machines that have a choice.
    #[serde(skip_serializing_if = "is_default")]
    pub form: VertexForm,
    /// Locations that the fragment stage reads; all that the program writes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<u32>>,
    /// No points are drawn: machines whose vertex packets would grow by a point size leave it out.
    #[serde(skip_serializing_if = "is_default")]
    pub without_points: bool,
}

impl VertexState {
    /// Gives every location input that has no attribute one: a buffer of its own, its natural format. Inputs that the
    /// code does not read count too, so that no optimisation moves a buffer. Says what was inferred, a line each.
    pub fn infer(&mut self, func: &Func) -> Vec<String> {
        let mut inputs: Vec<_> = func
            .inputs
            .values()
            .filter_map(|data| match data.kind {
                InputKind::Location { location, .. } => {
                    Some((location, data.components, data.scalar))
                }
                InputKind::Builtin(_) | InputKind::Corner { .. } => None,
            })
            .collect();
        inputs.sort_by_key(|&(location, ..)| location);
        let mut notes = Vec::new();
        for (location, components, scalar) in inputs {
            if self.attribute(location).is_none() {
                notes.push(self.infer_attribute(location, components, scalar));
            }
        }
        notes
    }

    fn infer_attribute(&mut self, location: u32, components: u8, scalar: Scalar) -> String {
        let (kind, bytes) = match scalar {
            Scalar::F32 => ("float32", 4),
            Scalar::F16 => ("float16", 2),
            Scalar::I32 => ("sint32", 4),
            Scalar::U32 | Scalar::Bool => ("uint32", 4),
        };
        // There is no three-component format of 16 bits.
        let count = match (scalar, components) {
            (Scalar::F16, 3) => 4,
            (_, n) => u32::from(n),
        };
        let format = match count {
            1 => kind.to_owned(),
            n => format!("{kind}x{n}"),
        };
        let buffer = self.buffers.len() as u32;
        // Elements begin at words, which some fetchers ask.
        let stride = u32::next_multiple_of(bytes * count, 4);
        let note = format!(
            "vertex attribute {location} is taken as {format} from buffer {buffer} with a stride of {stride} bytes"
        );
        self.buffers.push(VertexBuffer { stride, step: Step::Vertex });
        self.attributes.push(Attribute { location, format, buffer, offset: 0 });
        note
    }

    /// The attribute of a location.
    pub fn attribute(&self, location: u32) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.location == location)
    }

    /// The buffer that an attribute names; one element for all vertices where it names none.
    pub fn buffer(&self, attribute: &Attribute) -> VertexBuffer {
        let buffer = self.buffers.get(attribute.buffer as usize);
        buffer.copied().unwrap_or_default()
    }
}

/// How a vertex program is cut.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VertexForm {
    /// A program for the position and one for the rest.
    #[default]
    Idvs,
    /// One program.
    Plain,
}

/// Vertex outputs that are written to stream-out buffers too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// Bytes of a vertex in each of up to four buffers.
    pub strides: Vec<u32>,
    /// Which outputs go where.
    pub outputs: Vec<StreamOutput>,
}

impl Stream {
    /// Bytes of a vertex in a buffer.
    pub fn stride(&self, buffer: u32) -> u32 {
        self.strides.get(buffer as usize).copied().unwrap_or(0)
    }

    /// Checks that every output lies within a vertex of a buffer, at whole words.
    ///
    /// # Errors
    /// [`Failure::Limit`] for the first that does not.
    pub fn check(&self, func: &Func) -> Result<(), Failure> {
        for output in &self.outputs {
            let bytes = output.of(func).map_or(0, |output| {
                let data = &func.outputs[output];
                u32::from(data.components) * if data.scalar == Scalar::F16 { 2 } else { 4 }
            });
            let end = output.offset.saturating_add(bytes);
            let places = [
                ("stream-out buffers", output.buffer.saturating_add(1), 4),
                ("bytes of a vertex in its stream-out buffer", end, self.stride(output.buffer)),
                ("bytes of a stream-out offset beyond a dword", output.offset % 4, 0),
            ];
            for (what, needed, available) in places {
                let hint = "see `stream` in the pipeline's vertex state";
                Limit::new(what, available.into(), hint).admit(needed)?;
            }
        }
        Ok(())
    }
}

impl StreamOutput {
    /// The output that it captures, if the program has it.
    pub fn of(&self, func: &Func) -> Option<Output> {
        let wanted = |kind: OutputKind| match (kind, self.location) {
            (OutputKind::Location { location, .. }, Some(wanted)) => location == wanted,
            (OutputKind::Builtin(builtin), None) => builtin == Builtin::Position,
            _ => false,
        };
        let mut outputs = func.outputs.iter();
        outputs.find(|(_, data)| wanted(data.kind)).map(|(output, _)| output)
    }
}

/// One output of [`Stream`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamOutput {
    /// Location; without one it is the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    /// Buffer, 0 to 3.
    pub buffer: u32,
    /// Byte within a vertex of the buffer.
    pub offset: u32,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Shader location.
    pub location: u32,
    /// WebGPU vertex format.
    pub format: String,
    /// Index into the buffers.
    pub buffer: u32,
    /// Bytes from the start of an element.
    #[serde(default)]
    pub offset: u32,
}

/// One vertex buffer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexBuffer {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// What advances it.
    #[serde(default)]
    pub step: Step,
}

/// What advances a vertex buffer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Each vertex.
    #[default]
    Vertex,
    /// Each instance.
    Instance,
}

/// Who brings attributes into registers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fetch {
    /// The program itself.
    #[default]
    Inline,
    /// A program of the driver's.
    Separate,
}

/// Where a binding goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingSlot {
    /// Bind group.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// The machine's slot of its kind.
    pub slot: u32,
}

/// How many of something there can be.
#[derive(Copy, Clone, Debug)]
pub struct Limit {
    what: &'static str,
    available: u64,
    hint: &'static str,
}

impl Limit {
    /// A limit of `what` (in the plural), with a hint how a shader gets by with fewer.
    pub const fn new(what: &'static str, available: u64, hint: &'static str) -> Limit {
        Limit { what, available, hint }
    }

    /// What there is, in the plural, and how many: a row of a machine's published limits.
    pub const fn row(self) -> (&'static str, u64) {
        (self.what, self.available)
    }

    /// # Errors
    /// [`Failure::Limit`] when more are needed than there are.
    pub fn admit(self, needed: impl Into<u64>) -> Result<(), Failure> {
        let (needed, Limit { what, available, hint }) = (needed.into(), self);
        if needed <= available {
            return Ok(());
        }
        Err(Failure::Limit { what, needed, available, hint, span: Span::NONE })
    }
}

impl From<crate::budget::Exceeded> for Failure {
    fn from(exceeded: crate::budget::Exceeded) -> Self {
        Failure::Limit {
            what: exceeded.what,
            needed: exceeded.needed,
            available: exceeded.available,
            hint: exceeded.hint,
            span: Span::NONE,
        }
    }
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The machine cannot (exit 3).
    #[error("{machine} cannot do this: {feature} ({manual})")]
    Refused {
        /// Which machine.
        machine: &'static str,
        /// What the shader asks for.
        feature: &'static str,
        /// The manual's section that shows it.
        manual: &'static str,
        /// Where.
        span: Span,
    },
    /// A limit (exit 4).
    #[error("too many {what}: {needed} needed, {available} available; {hint}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many the shader needs.
        needed: u64,
        /// How many there are.
        available: u64,
        /// How to avoid it.
        hint: &'static str,
        /// Where.
        span: Span,
    },
    /// Two bindings would have one entry of a table: the pipeline places them so (exit 2).
    #[error("bindings {}.{} and {}.{} would both have entry {entry} of the {table}", .bindings[0].0, .bindings[0].1, .bindings[1].0, .bindings[1].1)]
    Shared {
        /// Group and binding of both.
        bindings: [(u32, u32); 2],
        /// The entry.
        entry: u32,
        /// What the table holds, in the plural.
        table: &'static str,
    },
    /// Not written yet (exit 6).
    #[error("{feature} is not supported by gpucc yet ({stage})")]
    NotYet {
        /// What the shader asks for.
        feature: String,
        /// The stage of ours that lacks it.
        stage: &'static str,
        /// Where.
        span: Span,
    },
    /// Our bug (exit 101).
    #[error("internal error in {pass}: {message}")]
    Internal {
        /// The pass that noticed.
        pass: &'static str,
        /// What it noticed.
        message: String,
    },
}
