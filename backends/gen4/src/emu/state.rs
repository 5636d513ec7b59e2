//! What commands have set. isa/gen4-pipeline.md 1.4.

use super::message::Register;

/// Base addresses: STATE_BASE_ADDRESS.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Bases {
    /// Of programs, unit states, scratch.
    pub general: u32,
    /// Of binding tables and surface states.
    pub surface: u32,
    /// Of indirect data.
    pub indirect: u32,
}

/// VFE_STATE, as it was when a pointer to it was sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Vfe {
    /// Scratch: base relative to General State Base, and bytes a thread.
    pub scratch: (u32, u32),
    /// URB entries and rows of each.
    pub entries: u32,
    pub rows: u32,
    pub threads: u32,
    /// Interface descriptors, relative to General State Base.
    pub descriptors: u32,
}

/// Pointers to the states of units: 3DSTATE_PIPELINED_POINTERS.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    pub vertex: u32,
    pub geometry: Option<u32>,
    pub clip: Option<u32>,
    pub setup: u32,
    pub pixel: u32,
    pub color: u32,
}

/// The pipelines.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pipeline {
    Media,
    Draw,
}

/// Sections of the URB by their order: VS, GS, CLIP, SF, VFE, CS.
pub const SECTIONS: usize = 6;

/// What commands have set so far.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub pipeline: Option<Pipeline>,
    /// MI_FLUSH was the command before.
    pub flushed: bool,
    pub bases: Option<Bases>,
    pub vfe: Option<Vfe>,
    /// Ends of the sections, in units of 64 bytes.
    pub fences: Option<[u32; SECTIONS]>,
    /// Entries and rows of constants: CS_URB_STATE.
    pub constant_entries: Option<(u32, u32)>,
    /// What CONSTANT_BUFFER uploaded.
    pub constants: Option<Vec<Register>>,
    /// No GLOBAL_DEPTH_OFFSET_CLAMP was sent since then.
    pub clamp_due: bool,
    pub units: Option<Units>,
    /// Binding tables of VS, GS, CLIP, SF and PS.
    pub tables: Option<[u32; 5]>,
    /// Xmin, ymin, xmax, ymax, inclusive.
    pub rectangle: Option<[u32; 4]>,
    /// 3DSTATE_DEPTH_BUFFER, its words from the first after the header.
    pub depth: Option<[u32; 5]>,
    pub blend_constant: [f32; 4],
}
