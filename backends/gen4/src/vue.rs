//! The vertex URB entry as a vertex program writes it: header, normalised device coordinates, position, what varies, distances
//! to user planes. isa/gen4-pipeline.md 2.

use crate::isa::Machine;
use crate::limits;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Func, Output, OutputKind, Scalar, Span};

/// The slot of the header.
pub const HEADER: usize = 0;
/// The doubleword of the header with the width of points, and the bits of it that are eighths of a pixel.
pub const WIDTH_WORD: usize = 3;
pub const WIDTH_BITS: u32 = 0x7_ff00;
/// Its lowest bit is so much of a pixel.
pub const WIDTH_STEP: f32 = 1.0 / 2048.0;
/// The slot of the position.
pub const POSITION: usize = 2;
/// The first slot of what varies.
pub const FIRST: usize = 3;

/// Where outputs stand.
#[derive(Clone, Debug, Default)]
pub struct Vue {
    pub position: Option<Output>,
    pub point_size: Option<Output>,
    /// Outputs by location, in the order of locations: slot [`FIRST`] and on.
    pub varyings: Vec<(u32, Output)>,
    /// Distances to user planes in their order: output and component, four a slot behind these. Those that clip stand first.
    pub distances: Vec<(Output, u8)>,
    /// Geometry: the number of the primitive, in the first component of a slot behind those. No unit reads it.
    pub primitive: Option<Output>,
    /// How many of them clip. The others reject what is outside of one of them as a whole, by their flags alone.
    pub clips: usize,
}

impl Vue {
    /// Places the outputs of a vertex or geometry program.
    ///
    /// # Errors
    /// [`Failure::NotYet`] for outputs without a place, [`Failure::Limit`] for more than an entry holds.
    pub fn of(func: &Func, machine: Machine) -> Result<Vue, Failure> {
        let mut vue = Vue::default();
        // Those that clip, then those that reject.
        let mut distances: Vec<((bool, u8), _)> = Vec::new();
        for (output, data) in &func.outputs {
            match data.kind {
                OutputKind::Location { location, .. } if data.scalar != Scalar::F16 => {
                    vue.varyings.push((location, output));
                }
                OutputKind::Builtin(Builtin::Position) => vue.position = Some(output),
                OutputKind::Builtin(Builtin::PointSize) => vue.point_size = Some(output),
                OutputKind::Builtin(Builtin::PrimitiveIndex) => vue.primitive = Some(output),
                OutputKind::Builtin(
                    which @ (Builtin::ClipDistance(first) | Builtin::CullDistance(first)),
                ) => {
                    let rejects = matches!(which, Builtin::CullDistance(_));
                    vue.clips += if rejects { 0 } else { usize::from(data.components) };
                    let numbers = (0..data.components).map(|n| ((rejects, first + n), (output, n)));
                    distances.extend(numbers);
                }
                _ => {
                    return Err(Failure::NotYet {
                        feature: format!("the output `{}`", data.name),
                        stage: "the calling convention",
                        span: Span::NONE,
                    });
                }
            }
        }
        vue.varyings.sort_unstable_by_key(|&(location, _)| location);
        distances.sort_unstable_by_key(|&(number, _)| number);
        vue.distances = distances.into_iter().map(|(_, place)| place).collect();
        let planes = vue.distances.len() as u64;
        limits::distances(machine).admit(planes)?;
        limits::SLOTS.admit(vue.slots() as u64)?;
        Ok(vue)
    }

    /// Slots of the entry, an even number: rows are whole. The last is not written where the others are an odd number.
    pub fn slots(&self) -> usize {
        self.written().next_multiple_of(2)
    }

    /// Slots that the program writes.
    pub fn written(&self) -> usize {
        self.primitive_slot() + usize::from(self.primitive.is_some())
    }

    /// The slot of the primitive's number.
    pub fn primitive_slot(&self) -> usize {
        self.distance_slot() + self.distances.len().div_ceil(4)
    }

    /// The slot of the first four distances.
    pub fn distance_slot(&self) -> usize {
        FIRST + self.varyings.len()
    }
}
