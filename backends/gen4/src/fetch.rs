//! Vertex elements: the formats that the fetcher reads attributes as, and where they come from. isa/gen4-pipeline.md 1.4, 1.5.

use crate::abi::Abi;
use crate::limits;
use gpucc_emu::format::{Kind, VertexFormat};
use gpucc_ir::driver::{Failure, VertexState};
use gpucc_ir::ssa::{Func, Input, InputKind};
use gpucc_machine::described::{Attribute, AttributePlace};

/// An element counts: bit of its first doubleword.
const VALID: u32 = 1 << 26;
/// What is stored for a component: what was read, 0, 1.0, 1, the vertex's number, the instance's.
const READ: u32 = 1;
const ZERO: u32 = 2;
const ONE_FLOAT: u32 = 3;
const ONE: u32 = 4;
const VERTEX: u32 = 5;
const INSTANCE: u32 = 6;
/// Numbers of 10, 10, 10 and 2 bits, read as integers: the program makes fractions of them (isa/gen4-pipeline.md 1.5).
const TEN_BITS: u32 = 0x0c4;

/// The code of a format.
fn code(format: VertexFormat) -> u32 {
    let by_count: [u32; 4] = match (format.kind(), format.bits()) {
        (_, 10) => return TEN_BITS,
        _ if format.name() == "unorm8x4-bgra" => return 0x0c0,
        (Kind::Float, 32) => [0x0d8, 0x085, 0x040, 0x000],
        (Kind::Sint, 32) => [0x0d6, 0x086, 0x041, 0x001],
        (_, 32) => [0x0d7, 0x087, 0x042, 0x002],
        // Of 8 and 16 bits there are one, two or four.
        (Kind::Float, _) => [0x10e, 0x0d0, 0x084, 0x084],
        (Kind::Unorm, 16) => [0x10a, 0x0cc, 0x080, 0x080],
        (Kind::Snorm, 16) => [0x10b, 0x0cd, 0x081, 0x081],
        (Kind::Sint, 16) => [0x10c, 0x0ce, 0x082, 0x082],
        (_, 16) => [0x10d, 0x0cf, 0x083, 0x083],
        (Kind::Unorm, _) => [0x140, 0x106, 0x0c7, 0x0c7],
        (Kind::Snorm, _) => [0x141, 0x107, 0x0c9, 0x0c9],
        (Kind::Sint, _) => [0x142, 0x108, 0x0ca, 0x0ca],
        _ => [0x143, 0x109, 0x0cb, 0x0cb],
    };
    by_count[format.components().clamp(1, 4) as usize - 1]
}

/// Whether the program makes fractions of what is read.
pub fn is_packed(format: &str) -> bool {
    VertexFormat::from_name(format).is_some_and(|format| format.bits() == 10)
}

/// Attributes of the inputs by location, in the order of the elements.
///
/// # Errors
/// [`Failure::Limit`] for distances and buffers that have no number.
pub fn attributes(func: &Func, state: &VertexState) -> Result<Vec<(Input, Attribute)>, Failure> {
    let mut attributes = Vec::new();
    for (input, data) in &func.inputs {
        let InputKind::Location { location, .. } = data.kind else { continue };
        let Some(told) = state.attribute(location) else { continue };
        let buffer = state.buffer(told);
        limits::STRIDE.admit(buffer.stride)?;
        limits::OFFSET.admit(told.offset)?;
        limits::VERTEX_BUFFERS.admit(u64::from(told.buffer) + 1)?;
        let index = attributes.len() as u32;
        attributes.push((
            input,
            Attribute {
                place: AttributePlace::Descriptors { index, buffer: told.buffer },
                offset: told.offset,
                format: told.format.clone(),
                stride: buffer.stride,
                step: buffer.step,
            },
        ));
    }
    Ok(attributes)
}

/// The doublewords of 3DSTATE_VERTEX_ELEMENTS behind its header: two an element.
pub fn elements(abi: &Abi) -> Vec<u32> {
    let place = |number: u32, controls: [u32; 4]| {
        let [x, y, z, w] = controls;
        x << 28 | y << 24 | z << 20 | w << 16 | number << 2
    };
    let mut words = Vec::new();
    for (number, (_, told)) in (0..).zip(&abi.attributes) {
        let Some(format) = VertexFormat::from_name(&told.format) else { continue };
        let AttributePlace::Descriptors { buffer, .. } = told.place else { continue };
        let count = format.components() as usize;
        let one = if format.kind().is_integer() { ONE } else { ONE_FLOAT };
        let missing = [ZERO, ZERO, ZERO, one];
        let controls = std::array::from_fn(|at| if at < count { READ } else { missing[at] });
        words.extend([
            buffer << 27 | VALID | code(format) << 16 | told.offset,
            place(number, controls),
        ]);
    }
    // One element at least, though nobody reads it.
    if abi.numbers || words.is_empty() {
        let number = abi.attributes.len() as u32;
        words.extend([VALID, place(number, [VERTEX, INSTANCE, ZERO, ZERO])]);
    }
    words
}
