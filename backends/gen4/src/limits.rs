//! What a program can have too much of, and how much there is. Every limit is a row of `gpucc targets`.

use crate::isa::Machine;
use gpucc_ir::driver::Limit;
use gpucc_machine::about;

/// isa/gen4-pipeline.md 1.2.
pub const COLOR_TARGETS: Limit = Limit::new("color targets", 8, "write fewer targets");
/// Inputs by location that a setup entry of 12 units holds beside the position. isa/gen4-pipeline.md 1.3.
pub const INPUTS: Limit = Limit::new("inputs by location", 16, "pass fewer");
/// Entries of a binding table that messages can name; 255 is memory without a surface. G45 vol. 4, 5.10.1.
pub const BINDINGS: Limit = Limit::new("bindings", 255, "bind fewer buffers and textures");
/// States of samplers that a message can name. G45 vol. 4, 4.8.1.
pub const SAMPLERS: Limit = Limit::new("samplers", 16, "bind fewer samplers");
/// Rows of constants that an interface descriptor can name. isa/gen4-pipeline.md 6.
pub const CONSTANTS: Limit = Limit::new("rows of constants", 63, "ask for fewer sizes");
/// Distances between elements of a vertex buffer. isa/gen4-pipeline.md 1.4.
pub const STRIDE: Limit =
    Limit::new("bytes from one vertex to the next", 2047, "use smaller vertices");
/// Offsets within an element. isa/gen4-pipeline.md 1.4.
pub const OFFSET: Limit =
    Limit::new("bytes of offset of an attribute", 2047, "use smaller vertices");
/// Buffers that an element can name.
pub const VERTEX_BUFFERS: Limit = Limit::new("vertex buffers", 17, "use fewer buffers");
/// Slots of an entry of 5 units. isa/gen4-pipeline.md 1.3.
pub const SLOTS: Limit = Limit::new("slots of a vertex", 20, "pass fewer outputs");
/// Registers of what a thread is given; what it computes has the others.
pub const PAYLOAD: Limit = Limit::new(
    "registers of inputs",
    96,
    "pass fewer values, or take primitives of fewer vertices",
);
/// Registers that have their use before values get theirs: inputs, variables, and the stacks of masks of deep control flow.
pub const HELD: Limit = Limit::new(
    "registers of inputs and of the masks of deep control flow",
    96,
    "nest fewer conditions and loops",
);
/// Scratch of a thread. isa/gen4-pipeline.md 1.1.
pub const MEMORY: Limit = Limit::new(
    "bytes of memory of a thread",
    2 << 20,
    "use smaller arrays, or keep less alive across barriers",
);
/// What numbers them counts on it.
pub const INVOCATIONS: Limit =
    Limit::new(about::INVOCATIONS, 1024, "use smaller workgroups, and more of them");
/// How far JUMP_COUNT goes.
pub const JUMP: Limit =
    Limit::new("instructions of a loop or condition", 32767, "make the loop shorter");

/// User planes that have a flag: the 965's flag 6 is the negative 1 / w. isa/gen4-pipeline.md 1.3.
pub const fn distances(machine: Machine) -> Limit {
    let planes = match machine {
        Machine::Gen4 => 6,
        Machine::G45 => 8,
    };
    Limit::new("clip and cull distances", planes, "use fewer planes")
}

/// All of them.
pub fn of(machine: Machine) -> Vec<(&'static str, u64)> {
    let limits = [
        COLOR_TARGETS,
        INPUTS,
        BINDINGS,
        SAMPLERS,
        CONSTANTS,
        STRIDE,
        OFFSET,
        VERTEX_BUFFERS,
        SLOTS,
        distances(machine),
        PAYLOAD,
        HELD,
        MEMORY,
        INVOCATIONS,
        JUMP,
    ];
    [("registers", 128)].into_iter().chain(limits.map(Limit::row)).collect()
}
