//! The calling convention: where bindings, sizes, the group's numbers and setup data are. docs/abi-gen4.md.

use crate::legal::Chip;
use gpucc_ir::driver::{Failure, Limit};
use gpucc_ir::ssa::{
    Builtin, Func, Imm, Input, InputKind, Op, OutputKind, Resource, ResourceKind, Scalar, Span,
    Stage,
};

/// Entries of a binding table that messages can name; 255 is memory without a surface. G45 vol. 4, 5.10.1.
const SURFACES: u64 = 255;
/// Rows of constants that an interface descriptor can name. isa/gen4-pipeline.md 6.
const CONSTANT_ROWS: u64 = 63;
/// Colour targets. isa/gen4-pipeline.md 1.2.
const TARGETS: u64 = 8;
/// Inputs by location that a setup entry of 12 units holds beside the position. isa/gen4-pipeline.md 1.3.
const VARYINGS: u64 = 16;

/// The constants, what the stage is given and the lanes' numbers are in registers in this order behind the header.
#[derive(Clone, Debug)]
pub struct Abi {
    stage: Stage,
    /// Colour targets: the first entries of the binding table.
    pub targets: u8,
    /// Bindings by their entry of the binding table, behind the targets.
    pub surfaces: Vec<Resource>,
    /// Bindings whose size in bytes stands in the constants, a doubleword each.
    pub sizes: Vec<Resource>,
    /// Fragment: inputs by location, each a slot of the setup entry behind the position's.
    pub varyings: Vec<Input>,
    /// Fragment: some invocations become helpers.
    pub kills: bool,
    /// Masks that the chip's stacks of conditions and of loops hold each.
    pub masks: u32,
}

/// Doublewords of the inline data. docs/abi-gen4.md, Compute.
pub mod group {
    /// The workgroup's number by axis: three of them.
    pub const ID: u8 = 0;
    /// How many workgroups there are by axis: three of them.
    pub const COUNT: u8 = 4;
}

fn not_yet(feature: &str) -> Failure {
    Failure::NotYet {
        feature: feature.to_owned(),
        stage: "the calling convention",
        span: Span::NONE,
    }
}

/// The bindings that have a place.
fn surfaces(func: &Func) -> Result<Vec<Resource>, Failure> {
    let mut surfaces = Vec::new();
    for (resource, data) in &func.resources {
        if data.count.is_some() {
            return Err(not_yet("an array of bindings"));
        }
        match data.kind {
            ResourceKind::Uniform { .. }
            | ResourceKind::Storage { .. }
            | ResourceKind::Immediate { .. } => surfaces.push(resource),
            ResourceKind::Texture { .. } => return Err(not_yet("a texture")),
            ResourceKind::StorageTexture { .. } => return Err(not_yet("a storage texture")),
            ResourceKind::Sampler { .. } => return Err(not_yet("a sampler")),
        }
    }
    Ok(surfaces)
}

/// Whether a built-in value has a place.
fn is_placed(stage: Stage, which: Builtin) -> bool {
    match stage {
        Stage::Compute => matches!(
            which,
            Builtin::GlobalInvocationId
                | Builtin::LocalInvocationId
                | Builtin::LocalInvocationIndex
                | Builtin::WorkgroupId
                | Builtin::NumWorkgroups
        ),
        Stage::Fragment => matches!(which, Builtin::Position | Builtin::FrontFacing),
        Stage::Vertex => false,
    }
}

impl Abi {
    /// Places everything that a program names.
    ///
    /// # Errors
    /// [`Failure::NotYet`] for what has no place yet, [`Failure::Limit`] for more than there is room for.
    pub fn of(func: &Func, chip: Chip) -> Result<Abi, Failure> {
        let surfaces = surfaces(func)?;
        let mut varyings = Vec::new();
        for (input, data) in &func.inputs {
            match data.kind {
                InputKind::Location { .. } => varyings.push(input),
                InputKind::Builtin(which) if is_placed(func.stage, which) => {}
                InputKind::Builtin(_) => {
                    return Err(not_yet(&format!("the input `{}`", data.name)));
                }
            }
        }
        let mut targets = 0u64;
        for data in func.outputs.values() {
            match data.kind {
                OutputKind::Location { location, blend_src: 0, .. }
                    if data.scalar != Scalar::F16 =>
                {
                    targets = targets.max(u64::from(location) + 1);
                }
                OutputKind::Location { blend_src, .. } if blend_src != 0 => {
                    return Err(not_yet("two colours for one target"));
                }
                _ => return Err(not_yet(&format!("the output `{}`", data.name))),
            }
        }
        // A thread ends with a write of some target.
        if func.stage == Stage::Fragment {
            targets = targets.max(1);
        }
        Limit::new("colour targets", TARGETS, "write fewer targets").admit(targets)?;
        Limit::new("inputs by location", VARYINGS, "pass fewer").admit(varyings.len() as u64)?;
        let entries = targets + surfaces.len() as u64;
        Limit::new("bindings", SURFACES, "bind fewer buffers").admit(entries)?;
        let (mut sizes, mut kills) = (Vec::new(), false);
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                if let (Op::BufferSize, Imm::Resource(resource)) = (data.op, &data.imm) {
                    sizes.push(*resource);
                }
                kills |= data.op == Op::Demote;
            }
        }
        sizes.sort_unstable();
        sizes.dedup();
        let targets = targets as u8;
        // G45 vol. 4, 11.3.4.9: what is beyond raises an exception on G45, and is lost on others; isa/gen4.md 1.3.
        let masks = match chip {
            Chip::I965 => 15,
            Chip::Gm965 => 7,
            Chip::G45 => 12,
        };
        let abi = Abi { stage: func.stage, targets, surfaces, sizes, varyings, kills, masks };
        let limit = Limit::new("rows of constants", CONSTANT_ROWS, "ask for fewer sizes");
        limit.admit(u64::from(abi.constant_rows()))?;
        Ok(abi)
    }

    /// It is a fragment program.
    pub fn is_fragment(&self) -> bool {
        self.stage == Stage::Fragment
    }

    /// Registers of constants.
    pub fn constant_rows(&self) -> u8 {
        self.sizes.len().div_ceil(8) as u8
    }

    /// The first register of constants: a header of pixels has two registers.
    fn constants(&self) -> u8 {
        if self.is_fragment() { 2 } else { 1 }
    }

    /// The register of the inline data, or the first of the setup data.
    pub fn inline(&self) -> u8 {
        self.constants() + self.constant_rows()
    }

    /// Registers of what the stage is given.
    fn given(&self) -> u8 {
        if self.is_fragment() { 2 * self.slots() } else { 1 }
    }

    /// Slots of the setup entry.
    pub fn slots(&self) -> u8 {
        1 + self.varyings.len() as u8
    }

    /// Register and first doubleword of a component of a slot: its slopes, 0, and its value at the first vertex.
    pub fn plane(&self, slot: u8, component: u8) -> (u8, u8) {
        (self.inline() + 2 * slot + component / 2, 4 * (component % 2))
    }

    /// The slot of an input.
    pub fn slot(&self, input: Input) -> Option<u8> {
        let at = self.varyings.iter().position(|&other| other == input)?;
        Some(1 + at as u8)
    }

    /// The register of the lanes' numbers within the workgroup.
    pub fn lane(&self) -> u8 {
        self.inline() + self.given()
    }

    /// The register of four times 0 to 7.
    pub fn lane_bytes(&self) -> u8 {
        self.lane() + 1
    }

    /// The header of memory's messages: r0 with 0 as the offset that all lanes share.
    pub fn header(&self) -> u8 {
        self.lane() + 2
    }

    /// Fragment: the registers of the pixels' coordinates, columns and rows.
    pub fn pixels(&self) -> [u8; 2] {
        [self.lane() + 3, self.lane() + 4]
    }

    /// Fragment: the registers of what the pixels are from the first vertex, columns in an even register, then rows.
    pub fn deltas(&self) -> [u8; 2] {
        let first = (self.lane() + 5).next_multiple_of(2);
        [first, first + 1]
    }

    /// Registers that are no one else's.
    pub fn payload(&self) -> u8 {
        if self.is_fragment() { self.deltas()[1] + 1 } else { self.lane() + 3 }
    }

    /// The entry of a binding.
    pub fn surface(&self, resource: Resource) -> Option<u8> {
        let entry = self.surfaces.iter().position(|&other| other == resource)?;
        u8::try_from(usize::from(self.targets) + entry).ok()
    }

    /// Register and doubleword of a binding's size.
    pub fn size(&self, resource: Resource) -> Option<(u8, u8)> {
        let at = self.sizes.binary_search(&resource).ok()? as u8;
        Some((self.constants() + at / 8, at % 8))
    }
}
