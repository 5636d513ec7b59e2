//! Which bits of the state the emulated machine looks at. The rest of a descriptor is for units that are not emulated: what it
//! says of the program the device takes from the numbers beside it.

use crate::state::targets;
use gpucc_ir::ssa::Stage;

/// The bits of a word of a descriptor that [`crate::device`] looks at.
pub(crate) fn looked_at(stage: Stage, setting: &str, word: usize) -> u32 {
    match (setting, word) {
        // Position programs may run in warps of half the width; a vertex program alone has the same bit.
        ("Shader Program (position)" | "Shader Program (varying)" | "Shader Program", 0) => {
            match stage {
                Stage::Vertex => 1 << 8,
                // Helper threads.
                Stage::Fragment => 1 << 28,
                Stage::Compute | Stage::Geometry => 0,
            }
        }
        // Workgroups may share a warp.
        ("Compute Payload", 0) => 1 << 31,
        // When depth is tested and written, and whether the program modifies coverage.
        ("Draw", 0) => 3 << 2 | 3 << 4 | 1 << 20,
        // Stencil from the program; the source of depth.
        ("Depth/stencil", 0) => 1 << 30,
        ("Depth/stencil", 4) => 3 << 25,
        // What the program reads of a target's descriptor.
        (name, 2 | 3) if targets::NAMES.contains(&name) => u32::MAX,
        _ => 0,
    }
}
