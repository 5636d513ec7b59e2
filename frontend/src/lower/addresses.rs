//! Physical storage: memory at addresses of 64 bits (SPV_KHR_physical_storage_buffer, GL_EXT_buffer_reference).
//!
//! The memory that pointers lead to is one storage buffer, [`NAME`], of up to 4 GiB, whose address is a multiple of 4 GiB. So the
//! lower word of a pointer is the byte within it. What a pointer leads to is brought into its bounds whole where the pointer is
//! followed, as an index is where an array is indexed.

use super::Lower;
use super::frame::Place;
use crate::Diagnostic;
use gpucc_ir::ssa::{ImageAccess, Op, Resource, ResourceData, ResourceKind, Scalar, Value};

/// What the buffer is called in reports.
pub const NAME: &str = "gpucc_Memory";
/// Group of the buffer; its binding is 0.
pub const GROUP: u32 = u32::MAX - 1;
/// Bytes that its size is a multiple of.
const STRIDE: u32 = 64;

impl<S> Lower<'_, S> {
    /// The buffer that pointers to physical storage lead into.
    pub fn physical_storage(&mut self) -> Resource {
        if let Some(known) = self.physical {
            return known;
        }
        let text = format!(
            "pointers to physical storage lead into the buffer `{NAME}` at group {GROUP}, binding 0: their lower words are \
             bytes within it"
        );
        self.notes.push(Diagnostic::note("addresses", text));
        let access = ImageAccess { load: true, store: true, atomic: false };
        let memory = self.func.resources.push(ResourceData {
            group: GROUP,
            binding: 0,
            name: NAME.to_owned(),
            kind: ResourceKind::Storage { size: 0, stride: STRIDE, access },
            count: None,
            scalar: Scalar::U32,
            mixed: true,
        });
        *self.physical.insert(memory)
    }

    /// The place of `bytes` bytes that the lower word of a pointer says. `align` is a power of two that such places are multiples of.
    pub fn followed(&mut self, lower: Value, bytes: u64, align: u64) -> Place {
        let memory = self.physical_storage();
        self.brought_within(memory, None, lower, bytes, align)
    }

    /// The place of `bytes` bytes at a byte of a buffer that may lie beyond its end.
    pub fn brought_within(
        &mut self,
        buffer: Resource,
        element: Option<Value>,
        byte: Value,
        bytes: u64,
        align: u64,
    ) -> Place {
        let bytes = bytes.clamp(1, i32::MAX as u64) as u32;
        let unit = align.clamp(1, 8) as u32;
        let by = self.u32(unit.trailing_zeros());
        let index = self.op2(Op::LShr, byte, by);
        // Places where all of the bytes are within.
        let count = self.length_code(buffer, element, bytes.saturating_sub(unit), unit);
        let index = self.op2(Op::Index, index, count);
        let mut place = Place::buffer(buffer, element);
        place.dynamic = Some(self.op2(Op::Shl, index, by));
        place
    }
}
