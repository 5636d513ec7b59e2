//! The calling convention: where bindings, sizes, the group's numbers and setup data are. docs/abi-gen4.md.

use crate::fetch;
use crate::legal::Chip;
use crate::limits;
use crate::strips::Strips;
use crate::vue::{self, Vue};
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::driver::{Failure, Limit, State, Uniforms};
use gpucc_ir::ssa::{
    Builtin, Dim, Emits, Func, Geometry, Imm, Input, InputKind, InstData, Mem, MemSpace, Op,
    OutputKind, Part, Resource, ResourceKind, Scalar, Span, Stage, TexQuery, Type, Value,
};
use gpucc_machine::described::{Attribute, ImageWord};
use gpucc_passes::expand::image;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Words of uniform buffers among the constants: 12 rows, and twice that where no other program's constants stand behind more
/// than 64 rows together (isa/gen4-pipeline.md 1.4).
pub const PUSHED: usize = 96;
/// Words of tables among the constants, whole registers of them: 32 rows. Those of a vertex program are as many as words of uniform
/// buffers, so that both programs of a pair have 64 rows at most.
pub const TABLED: usize = 256;
/// Words of a register.
const ROW: usize = 8;

/// The constants, what the stage is given and the lanes' numbers are in registers in this order behind the header.
#[derive(Clone, Debug)]
pub struct Abi {
    stage: Stage,
    /// Colour targets: the first entries of the binding table.
    pub targets: u8,
    /// Bindings with their first entries of the binding table, behind the targets.
    pub surfaces: Vec<(Resource, u8)>,
    /// Entries of the binding table.
    pub entries: u8,
    /// Samplers with the numbers of their first states.
    pub samplers: Vec<(Resource, u8)>,
    /// Samplers of cubes with the numbers of their first states, whose wrap modes are those of cubes (4.7.1).
    pub cube_samplers: Vec<(Resource, u8)>,
    /// Samplers of lines and of others with the numbers of their first states for lines, whose border leaks through v.
    pub line_samplers: Vec<(Resource, u8)>,
    /// Samplers of gathers with the numbers of their first states for single texels, of planes and of cubes.
    pub gather_samplers: [Vec<(Resource, u8)>; 2],
    /// What the constants hold of bindings, a doubleword each: binding, element, which number. In order.
    pub told: Vec<(Resource, u32, Told)>,
    /// Words of uniform buffers and immediates that stand in the constants behind these: bindings and byte offsets.
    pub pushed: Vec<(Resource, u32)>,
    /// Tables of constants, which stand behind all that, each from a register on: variables with their registers, counted from the
    /// first of any table, and their words.
    pub tables: Vec<(Mem, u8, Vec<u32>)>,
    /// Storage textures that the program writes: surfaces of memory.
    pub stored: SecondaryMap<Resource, bool>,
    /// Inputs by location: of fragment programs each a slot of the setup entry behind the position's, of vertex programs a
    /// vertex element.
    pub varyings: Vec<Input>,
    /// Vertex: where those come from.
    pub attributes: Vec<(Input, Attribute)>,
    /// Vertex: an element behind these has the numbers of the vertex and of the instance.
    pub numbers: bool,
    /// What the driver tells of the draw, a doubleword of the constants each, in order.
    pub drawn: Vec<Drawn>,
    /// Fragment: a slot behind the others has the place in the point.
    pub point: bool,
    /// Vertex and geometry: the entry that the program writes.
    pub vue: Option<Vue>,
    /// Geometry: what the program takes and emits.
    pub taken: Option<Taken>,
    /// Fragment: some invocations become helpers.
    pub kills: bool,
    /// Fragment: the program computes depth.
    pub depth: bool,
    /// The program looks at its subgroup: it has 16 lanes, and registers that all of them read.
    pub subgroups: bool,
    pub chip: Chip,
    /// Channels of a step: pixels or invocations that one instruction serves, 8 or 16; 8 for two vertices.
    pub lanes: u32,
    /// Replies to messages of 16 channels have nothing that nobody reads.
    pub hides: bool,
}

/// What a geometry program takes and emits. Of each vertex of the primitive the rows of its entry arrive from the second one on,
/// or all of them.
#[derive(Clone, Debug)]
pub struct Taken {
    pub geometry: Geometry,
    /// The locations that the program reads, ascending: a slot each behind the position's, as a vertex program writes them that
    /// was made for these.
    pub locations: Vec<u32>,
    /// It reads widths of points, which stand in the first row.
    pub widths: bool,
    /// Entries may stay open: a row behind the others is written again to complete them.
    pub deferred: bool,
}

impl Taken {
    /// Row of an entry that is read first: the header and normalised device coordinates are row 0.
    pub fn first_row(&self) -> u8 {
        if self.widths { 0 } else { 1 }
    }

    fn of(func: &Func, geometry: Geometry) -> Result<Taken, Failure> {
        let (mut locations, mut widths) = (BTreeSet::new(), false);
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let Imm::Input(input, _) = func.insts[inst].imm else { continue };
                match func.inputs[input].kind {
                    InputKind::Corner { part: Part::Location(location), .. } => {
                        locations.insert(location);
                    }
                    InputKind::Corner { part: Part::Builtin(Builtin::Position), .. }
                    | InputKind::Builtin(_)
                    | InputKind::Location { .. } => {}
                    InputKind::Corner { part: Part::Builtin(Builtin::PointSize), .. } => {
                        widths = true;
                    }
                    InputKind::Corner { part: Part::Builtin(which), .. } => {
                        let what = format!("the input `{}` of vertices", which.word());
                        return Err(not_yet(&what));
                    }
                }
            }
        }
        let locations = locations.into_iter().collect();
        Ok(Taken { geometry, locations, widths, deferred: Strips::of(func).deferred })
    }

    /// Rows of each vertex that are read.
    pub fn rows(&self) -> u8 {
        (vue::FIRST + self.locations.len()).div_ceil(2) as u8 - self.first_row()
    }

    /// The slot of a vertex's entry that a part of it has.
    pub fn slot(&self, part: Part) -> Option<u8> {
        match part {
            Part::Builtin(Builtin::Position) => Some(vue::POSITION as u8),
            Part::Builtin(Builtin::PointSize) if self.widths => Some(vue::HEADER as u8),
            Part::Builtin(_) => None,
            Part::Location(location) => {
                let at = self.locations.binary_search(&location).ok()?;
                Some((vue::FIRST + at) as u8)
            }
        }
    }

    /// Slots of the row that completes entries.
    fn completing(&self) -> usize {
        if self.deferred { 2 } else { 0 }
    }

    /// The code of the primitives that leave: isa/gen4-pipeline.md 1.4.
    pub fn topology(&self) -> u32 {
        match self.geometry.emits {
            Emits::Points => 1,
            Emits::LineStrip => 3,
            Emits::TriangleStrip => 5,
        }
    }
}

/// A number of a draw that the driver tells.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Drawn {
    FirstVertex,
    FirstInstance,
    /// The draw's number among those of one command.
    Draw,
    /// The view that it is for: the machine knows none, so a driver draws once for each.
    View,
}

impl Drawn {
    /// What a built-in input asks for.
    pub fn of(which: Builtin) -> &'static [Drawn] {
        match which {
            // The machine counts from 0.
            Builtin::VertexIndex | Builtin::InstanceIndex => {
                &[Drawn::FirstVertex, Drawn::FirstInstance]
            }
            Builtin::BaseVertex => &[Drawn::FirstVertex],
            Builtin::BaseInstance => &[Drawn::FirstInstance],
            Builtin::DrawIndex => &[Drawn::Draw],
            Builtin::ViewIndex => &[Drawn::View],
            _ => &[],
        }
    }
}

/// A number of a binding that the driver tells.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Told {
    /// Bytes bound to a buffer.
    Bytes,
    /// Of a storage texture that is written.
    Image(ImageWord),
    /// Texels from one of its rows to the next.
    Pitch,
    /// Rows from one of its slices to the next.
    Rows,
    /// A word of a sampler (`TexQuery::Sampler`).
    Sampler(u8),
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

/// Bindings with the numbers of their first elements in a table, from `first` on, and one past the last number.
fn numbered(
    func: &Func,
    first: u64,
    limit: Limit,
    wanted: impl Fn(Resource, &ResourceKind) -> bool,
) -> Result<(Vec<(Resource, u8)>, u8), Failure> {
    let (mut places, mut next) = (Vec::new(), first);
    for (resource, data) in &func.resources {
        if wanted(resource, &data.kind) {
            let place = next;
            next += u64::from(data.count.unwrap_or(1));
            limit.admit(next)?;
            places.push((resource, place as u8));
        }
    }
    limit.admit(next)?;
    Ok((places, next as u8))
}

/// The samplers of cubes, of lines, of other textures, and of single texels of planes and of cubes.
fn sampled(func: &Func) -> [EntitySet<Resource>; 5] {
    let mut sets = std::array::from_fn(|_| EntitySet::new());
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if let Imm::Tex(tex) = func.insts[inst].imm
                && let Some(sampler) = tex.sampler.expand()
            {
                let set = match (dim(func, tex.texture), tex.texel) {
                    (Some(Dim::Cube), true) => 4,
                    (_, true) => 3,
                    (Some(Dim::Cube), _) => 0,
                    (Some(Dim::D1), _) => 1,
                    _ => 2,
                };
                sets[set].insert(sampler);
            }
        }
    }
    sets
}

/// The dimension of a texture that is sampled.
pub fn dim(func: &Func, texture: Resource) -> Option<Dim> {
    match func.resources[texture].kind {
        ResourceKind::Texture { dim, .. } => Some(dim),
        _ => None,
    }
}

/// The program looks at its subgroup, and has 16 lanes.
fn looks_at_subgroup(func: &Func) -> bool {
    let told = |kind: &InputKind| {
        matches!(
            kind,
            InputKind::Builtin(
                Builtin::SubgroupSize
                    | Builtin::SubgroupInvocationId
                    | Builtin::SubgroupId
                    | Builtin::NumSubgroups
            )
        )
    };
    let asks = |op: Op| matches!(op, Op::Ballot | Op::Shuffle | Op::Reduce);
    let regions = func.regions_in_order();
    let mut insts = regions.into_iter().flat_map(|(region, ..)| &func.regions[region].insts);
    func.inputs.values().any(|input| told(&input.kind)) || insts.any(|&i| asks(func.insts[i].op))
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
                | Builtin::SubgroupSize
                | Builtin::SubgroupInvocationId
                | Builtin::SubgroupId
                | Builtin::NumSubgroups
        ),
        Stage::Fragment => matches!(
            which,
            Builtin::Position
                | Builtin::FrontFacing
                | Builtin::SampleIndex
                | Builtin::SampleMask
                | Builtin::SamplePosition
                | Builtin::PointCoord
                | Builtin::Layer
                | Builtin::ViewIndex
                | Builtin::SubgroupSize
                | Builtin::SubgroupInvocationId
        ),
        Stage::Vertex => !Drawn::of(which).is_empty(),
        Stage::Geometry => which == Builtin::InvocationIndex,
    }
}

impl Abi {
    /// Places everything that a program names.
    ///
    /// # Errors
    /// [`Failure::NotYet`] for what has no place yet, [`Failure::Limit`] for more than there is room for.
    pub fn of(func: &Func, chip: Chip, state: &State) -> Result<Abi, Failure> {
        let (vertex, uniforms) = (&state.vertex, state.uniforms);
        let (mut varyings, mut numbers) = (Vec::new(), false);
        let (mut drawn, mut point) = (Vec::new(), false);
        for (input, data) in &func.inputs {
            match data.kind {
                InputKind::Location { .. } => varyings.push(input),
                InputKind::Corner { .. } => {}
                InputKind::Builtin(which) if is_placed(func.stage, which) => {
                    numbers |= matches!(which, Builtin::VertexIndex | Builtin::InstanceIndex);
                    point |= which == Builtin::PointCoord;
                    drawn.extend(Drawn::of(which));
                }
                InputKind::Builtin(which) => {
                    // A module may have no name for it.
                    return Err(not_yet(&format!("the input `{}`", which.word())));
                }
            }
        }
        let (mut targets, mut depth, mut masks_samples) = (0u64, false, false);
        let taken = func.geometry.map(|geometry| Taken::of(func, geometry)).transpose()?;
        let vue = match func.stage {
            Stage::Vertex | Stage::Geometry => Some(Vue::of(func, chip.machine())?),
            _ => None,
        };
        if let (Some(vue), Some(taken)) = (&vue, &taken) {
            limits::SLOTS.admit((vue.slots() + taken.completing()) as u64)?;
        }
        for data in func.outputs.values().filter(|_| vue.is_none()) {
            match data.kind {
                OutputKind::Location { location, blend_src: 0, .. }
                    if data.scalar != Scalar::F16 =>
                {
                    targets = targets.max(u64::from(location) + 1);
                }
                OutputKind::Location { blend_src, .. } if blend_src != 0 => {
                    return Err(not_yet("two colours for one target"));
                }
                OutputKind::Builtin(Builtin::FragDepth) => depth = true,
                OutputKind::Builtin(Builtin::SampleMask) => masks_samples = true,
                _ => return Err(not_yet(&format!("the output `{}`", data.name))),
            }
        }
        // A thread ends with a write of some target.
        if func.stage == Stage::Fragment {
            targets = targets.max(1);
        }
        limits::COLOR_TARGETS.admit(targets)?;
        drawn.sort_unstable();
        drawn.dedup();
        let inputs = varyings.len() as u64 + u64::from(numbers || point);
        limits::INPUTS.admit(inputs)?;
        let is_sampler = |kind: &ResourceKind| matches!(kind, ResourceKind::Sampler { .. });
        let (surfaces, entries) =
            numbered(func, targets, limits::BINDINGS, |_, kind| !is_sampler(kind))?;
        let [cubes, lines, others, texels, cube_texels] = sampled(func);
        let plain = |sampler, kind: &ResourceKind| {
            let alone = [&cubes, &texels, &cube_texels].iter().any(|set| set.contains(sampler));
            let plain = others.contains(sampler) || lines.contains(sampler) || !alone;
            is_sampler(kind) && plain
        };
        let (samplers, next) = numbered(func, 0, limits::SAMPLERS, plain)?;
        let (cube_samplers, next) =
            numbered(func, next.into(), limits::SAMPLERS, |sampler, _| cubes.contains(sampler))?;
        let both = |sampler, _: &ResourceKind| lines.contains(sampler) && others.contains(sampler);
        let (line_samplers, next) = numbered(func, next.into(), limits::SAMPLERS, both)?;
        let single = |set: &EntitySet<Resource>, next: u8| {
            numbered(func, next.into(), limits::SAMPLERS, |sampler, _| set.contains(sampler))
        };
        let (planes, next) = single(&texels, next)?;
        let gather_samplers = [planes, single(&cube_texels, next)?.0];
        let (mut told, mut kills) = (Vec::new(), masks_samples);
        let stored = image::stored(func);
        let mut words = BTreeMap::new();
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                count_words(func, data, &mut words);
                let resource = match data.imm {
                    Imm::Resource(resource) | Imm::Query(resource, _) => resource,
                    Imm::Tex(tex) => tex.texture,
                    _ => {
                        kills |= data.op == Op::Demote;
                        continue;
                    }
                };
                let words: SmallVec<[Told; 8]> = match data.op {
                    Op::BufferSize => SmallVec::from_slice(&[Told::Bytes]),
                    _ if matches!(data.imm, Imm::Query(_, TexQuery::Sampler)) => {
                        SmallVec::from_slice(&[Told::Sampler(sampler_word(func, &data.args))])
                    }
                    _ if !stored[resource] => continue,
                    Op::TexQuery => image_words(func, resource, false),
                    _ => image_words(func, resource, true),
                };
                let element = element(func, resource, &data.args);
                told.extend(words.into_iter().map(|word| (resource, element, word)));
            }
        }
        let tables = tables(func);
        let tabled = tables.iter().map(|(.., words)| words.len().next_multiple_of(ROW)).sum();
        let pushed = chosen(func, words, uniforms, tabled);
        told.sort_unstable();
        told.dedup();
        let targets = targets as u8;
        let stage = func.stage;
        let attributes = match stage {
            Stage::Vertex => fetch::attributes(func, vertex)?,
            _ => Vec::new(),
        };
        let abi = Abi {
            stage,
            chip,
            lanes: 8,
            hides: false,
            targets,
            surfaces,
            entries,
            samplers,
            cube_samplers,
            line_samplers,
            gather_samplers,
            told,
            pushed,
            tables,
            stored,
            varyings,
            attributes,
            numbers,
            drawn,
            point,
            vue,
            taken,
            kills,
            depth,
            subgroups: looks_at_subgroup(func),
        };
        limits::CONSTANTS.admit(u64::from(abi.constant_rows()))?;
        // What is computed has no less room than the payload has.
        limits::PAYLOAD.admit(u64::from(abi.inline()) + u64::from(abi.given()))?;
        Ok(abi)
    }

    /// The same program in steps of so many channels.
    #[must_use]
    pub fn of_lanes(&self, lanes: u32) -> Abi {
        Abi { lanes, ..self.clone() }
    }

    /// As it is, without what nobody reads of replies.
    pub fn hiding(&self) -> Abi {
        Abi { hides: true, ..self.clone() }
    }

    /// Registers of a doubleword of each channel.
    pub fn rows(&self) -> u8 {
        (self.lanes / 8) as u8
    }

    /// Bytes of a doubleword of each channel.
    pub fn lane_bytes(&self) -> u32 {
        4 * self.lanes
    }

    /// It is a fragment program.
    pub fn is_fragment(&self) -> bool {
        self.stage == Stage::Fragment
    }

    /// A header that asks for level 0 leaves anisotropic filters too. isa/gen4-pipeline.md 7.
    pub fn forces_levels(&self) -> bool {
        self.chip == Chip::G45
    }

    /// Its lanes are those of vertices: of two, or of the one that a geometry program emits.
    pub fn is_vertex(&self) -> bool {
        of_vertices(self.stage)
    }

    /// It is a geometry program.
    pub fn is_geometry(&self) -> bool {
        self.stage == Stage::Geometry
    }

    /// Doublewords of constants: numbers of bindings and pushed words, then those of the draw.
    pub fn constant_words(&self) -> usize {
        self.told.len() + self.pushed.len() + self.drawn.len()
    }

    /// Numbers of the first pushed word and of the first that is told: rows of four words are whole in a vertex program, where pushed
    /// words stand first.
    fn first_words(&self) -> [usize; 2] {
        if self.is_vertex() { [0, self.pushed.len()] } else { [self.told.len(), 0] }
    }

    /// Registers of constants. A vertex program reads one at least: the machine hangs otherwise (isa/gen4-pipeline.md 7.3).
    pub fn constant_rows(&self) -> u8 {
        let tables = self
            .tables
            .last()
            .map_or(0, |(_, first, words)| first.saturating_add(words.len().div_ceil(ROW) as u8));
        let rows = (self.constant_words().div_ceil(ROW) as u8).saturating_add(tables);
        if self.stage == Stage::Vertex { rows.max(1) } else { rows }
    }

    /// The first register of a table.
    pub fn table(&self, table: Mem) -> Option<u8> {
        let (_, first, _) = self.tables.iter().find(|(other, ..)| *other == table)?;
        Some(self.constants() + self.constant_words().div_ceil(ROW) as u8 + first)
    }

    /// Register and doubleword of a number of the draw, where the program asks for it.
    pub fn drawn(&self, which: Drawn) -> Option<(u8, u8)> {
        let at = self.drawn.binary_search(&which).ok()?;
        Some(self.constant(self.told.len() + self.pushed.len() + at))
    }

    /// Vertex: elements, each a register of two vertices.
    pub fn elements(&self) -> u8 {
        self.varyings.len() as u8 + u8::from(self.numbers)
    }

    /// Vertex: rows of the entry that are read, of two elements each; one at least (isa/gen4-pipeline.md 7.3).
    pub fn element_rows(&self) -> u8 {
        self.elements().max(1).div_ceil(2)
    }

    /// Vertex: the register of an element.
    pub fn element(&self, number: u8) -> u8 {
        self.inline() + number
    }

    /// Vertex: the number of an input's element.
    pub fn element_of(&self, input: Input) -> Option<u8> {
        let at = self.varyings.iter().position(|&other| other == input)?;
        Some(at as u8)
    }

    /// Vertex: an element's numbers are read as integers, and are fractions.
    pub fn is_packed(&self, number: u8) -> bool {
        let told = self.attributes.get(usize::from(number));
        told.is_some_and(|(_, told)| fetch::is_packed(&told.format))
    }

    /// Vertex: units of 64 bytes of an entry, which holds what is read and then what is written.
    pub fn entry_units(&self) -> u32 {
        let written = self.vue.as_ref().map_or(0, Vue::slots) as u32;
        match &self.taken {
            Some(taken) => (written + taken.completing() as u32).div_ceil(4),
            None => (2 * u32::from(self.element_rows())).max(written).div_ceil(4),
        }
    }

    /// The first register of constants: a header of pixels has two registers, and two of stored depths follow where depth is
    /// computed (isa/gen4.md 2.2, key 14).
    pub fn constants(&self) -> u8 {
        match (self.is_fragment(), self.depth) {
            (true, true) => Abi::STORED_DEPTH + 2,
            (true, false) => 2,
            (false, _) => 1,
        }
    }

    /// Fragment: the register of the depths that the buffer holds, where the program computes depth.
    pub const STORED_DEPTH: u8 = 2;

    /// The register of the inline data, or the first of the setup data.
    pub fn inline(&self) -> u8 {
        self.constants() + self.constant_rows()
    }

    /// Registers of what the stage is given.
    fn given(&self) -> u8 {
        match self.stage {
            Stage::Fragment => 2 * self.slots(),
            Stage::Vertex => 2 * self.element_rows(),
            Stage::Geometry => {
                self.taken.as_ref().map_or(0, |taken| taken.rows() * taken.geometry.takes.count())
            }
            Stage::Compute => 1,
        }
    }

    /// Slots of the setup entry.
    pub fn slots(&self) -> u8 {
        1 + self.varyings.len() as u8 + u8::from(self.point)
    }

    /// Register and first doubleword of a component of a slot: its slopes, 0, and its value at the first vertex.
    pub fn plane(&self, slot: u8, component: u8) -> (u8, u8) {
        (self.inline() + 2 * slot + component / 2, 4 * (component % 2))
    }

    /// Fragment: the slot of an input.
    pub fn slot(&self, input: Input) -> Option<u8> {
        let at = self.varyings.iter().position(|&other| other == input)?;
        Some(1 + at as u8)
    }

    /// The first register of the lanes' numbers within the workgroup. What has all lanes begins at an even register where it has
    /// two of them.
    pub fn lane(&self) -> u8 {
        (self.inline() + self.given()).next_multiple_of(self.rows())
    }

    /// The first register of four times the lanes' numbers.
    pub fn lane_offsets(&self) -> u8 {
        self.lane() + self.rows()
    }

    /// The header of memory's messages: r0, whose offset for all lanes is 0 but in media threads, which have a copy
    /// (isa/gen4-pipeline.md 3.1). In a geometry thread r0 has the type of the primitive there.
    pub fn header(&self) -> u8 {
        match self.stage {
            Stage::Compute | Stage::Geometry => self.lane() + 2 * self.rows(),
            Stage::Vertex | Stage::Fragment => 0,
        }
    }

    /// Geometry: the header of the entry that is open, and behind it the reply that names the next one.
    pub fn open_entry(&self) -> u8 {
        self.header() + 1
    }

    /// Geometry: register and first doubleword of a part of a vertex of the primitive.
    pub fn corner(&self, vertex: u8, part: Part) -> Option<(u8, u8)> {
        let taken = self.taken.as_ref()?;
        let slot = taken.slot(part)?;
        let row = vertex * taken.rows() + slot / 2 - taken.first_row();
        Some((self.inline() + row, 4 * (slot % 2)))
    }

    /// Geometry: the row that completes entries, where some stay open.
    pub fn completing_row(&self) -> u8 {
        self.vue.as_ref().map_or(0, |vue| vue.slots() as u8 / 2)
    }

    /// Fragment: the registers of the pixels' coordinates, columns and rows, a word each.
    pub fn pixels(&self) -> [u8; 2] {
        let first = self.lane_offsets() + self.rows();
        [first, first + 1]
    }

    /// Fragment: the registers of what the pixels are from the first vertex, from an even one on. G45 has columns and rows of
    /// eight pixels after one another (PLN, 14.2.34), the 965 all columns, then all rows.
    pub fn deltas(&self) -> [u8; 2] {
        let first = (self.pixels()[1] + 1).next_multiple_of(2);
        let apart = if self.chip == Chip::G45 { 1 } else { self.rows() };
        [first, first + apart]
    }

    /// Registers that are no one else's.
    pub fn payload(&self) -> u8 {
        match self.subgroups {
            true => self.spread() + self.rows(),
            false => self.alone(),
        }
    }

    /// The registers of a doubleword of each lane that all lanes read, where the program looks at its subgroup.
    pub fn spread(&self) -> u8 {
        self.alone().next_multiple_of(2)
    }

    /// The payload beside those.
    fn alone(&self) -> u8 {
        match self.stage {
            Stage::Fragment => self.deltas()[0] + 2 * self.rows(),
            Stage::Compute => self.header() + 1,
            Stage::Vertex => self.lane_offsets() + 1,
            Stage::Geometry => self.open_entry() + 2,
        }
    }

    /// The entry of a binding, the first one of an array.
    pub fn surface(&self, resource: Resource) -> Option<u8> {
        place(&self.surfaces, resource)
    }

    /// The number of a sampler's state for textures of a dimension, or for single texels of them, the first one of an array.
    pub fn sampler(&self, resource: Resource, dim: Option<Dim>, texels: bool) -> Option<u8> {
        let plain = || place(&self.samplers, resource);
        match dim {
            _ if texels => {
                place(&self.gather_samplers[usize::from(dim == Some(Dim::Cube))], resource)
            }
            Some(Dim::Cube) => place(&self.cube_samplers, resource),
            Some(Dim::D1) => place(&self.line_samplers, resource).or_else(plain),
            _ => plain(),
        }
    }

    /// Register and doubleword of a word of a uniform buffer or of the immediates.
    pub fn pushed(&self, resource: Resource, offset: u32) -> Option<(u8, u8)> {
        let at = self.pushed.binary_search(&(resource, offset)).ok()?;
        Some(self.constant(self.first_words()[0] + at))
    }

    /// Register and doubleword of a number of a binding.
    pub fn told(&self, resource: Resource, element: u32, which: Told) -> Option<(u8, u8)> {
        let at = self.told.binary_search(&(resource, element, which)).ok()?;
        Some(self.constant(self.first_words()[1] + at))
    }

    /// Register and doubleword of a word of the constants, of which there are more than 256.
    fn constant(&self, at: usize) -> (u8, u8) {
        (self.constants() + (at / 8) as u8, (at % 8) as u8)
    }
}

/// Lanes of a stage are those of vertices.
pub const fn of_vertices(stage: Stage) -> bool {
    matches!(stage, Stage::Vertex | Stage::Geometry)
}

/// The most words of tables that a program has.
pub const fn tabled(stage: Stage) -> usize {
    if of_vertices(stage) { PUSHED } else { TABLED }
}

/// The tables that a program has; [`tabled`] words at most, behind `tables` of the plan.
fn tables(func: &Func) -> Vec<(Mem, u8, Vec<u32>)> {
    let (mut tables, mut next) = (Vec::new(), 0u8);
    for (mem, data) in &func.mems {
        if data.space == MemSpace::Constant {
            tables.push((mem, next, data.words.clone()));
            next = next.saturating_add(data.words.len().div_ceil(ROW) as u8);
        }
    }
    tables
}

/// Counts the words that a load at a constant place of a uniform buffer or of the immediates reads.
fn count_words(func: &Func, data: &InstData, words: &mut BTreeMap<(Resource, u32), u32>) {
    let (Op::BufferLoad, Imm::Resource(resource)) = (data.op, &data.imm) else { return };
    let told = &func.resources[*resource];
    let constant =
        matches!(told.kind, ResourceKind::Uniform { .. } | ResourceKind::Immediate { .. });
    if !constant || told.count.is_some() {
        return;
    }
    let address = data.args.first().and_then(|&value| func.as_const(value));
    let words_alone = data.results.iter().all(|&value| func.ty(value) == Type::B32);
    let (Some(address), true) = (address, words_alone) else { return };
    for number in 0..data.results.len() as u64 {
        // What nobody bounds may wrap; no word there is worth a place.
        let Ok(offset) = u32::try_from(address + 4 * number) else { return };
        if offset % 4 == 0 {
            *words.entry((*resource, offset)).or_default() += 1;
        }
    }
}

/// The words that stand among the constants: immediates always, those of uniform buffers where they are asked for there; what
/// is read most often goes first where there are too many. `tabled`: words that tables take.
fn chosen(
    func: &Func,
    words: BTreeMap<(Resource, u32), u32>,
    uniforms: Uniforms,
    tabled: usize,
) -> Vec<(Resource, u32)> {
    let mut words: Vec<_> = words
        .into_iter()
        .filter(|((resource, _), _)| {
            let immediate =
                matches!(func.resources[*resource].kind, ResourceKind::Immediate { .. });
            immediate || uniforms == Uniforms::Pushed
        })
        .collect();
    words.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
    let vertex = of_vertices(func.stage);
    let most = if vertex { 2 * PUSHED - tabled } else { PUSHED.min(TABLED - tabled) };
    if vertex {
        // Four words beside each other are the operand of one instruction: whole rows where there is room for them.
        let rows: BTreeSet<_> =
            words.iter().map(|&((resource, offset), _)| (resource, offset / 16)).collect();
        if 4 * rows.len() <= most {
            let row = |(resource, row)| (0..4).map(move |word| (resource, 16 * row + 4 * word));
            return rows.into_iter().flat_map(row).collect();
        }
    }
    words.truncate(most);
    let mut words: Vec<_> = words.into_iter().map(|(word, _)| word).collect();
    words.sort_unstable();
    words
}

/// Sizes of a written storage texture along its axes; a line's layers count as rows do.
pub fn axes(func: &Func, resource: Resource) -> SmallVec<[ImageWord; 3]> {
    let ResourceKind::StorageTexture { dim, arrayed, .. } = func.resources[resource].kind else {
        return SmallVec::new();
    };
    let sizes = [ImageWord::Width, ImageWord::Height, ImageWord::Depth];
    let axes = sizes[..dim.coords().min(3)].iter().copied();
    axes.chain(arrayed.then_some(ImageWord::Layers)).collect()
}

/// What is told of a written storage texture whose size is asked for or, with `places`, whose texels are named.
fn image_words(func: &Func, resource: Resource, places: bool) -> SmallVec<[Told; 8]> {
    let axes = axes(func, resource);
    let steps = [Told::Pitch, Told::Rows];
    let steps = &steps[..if places { axes.len().saturating_sub(1) } else { 0 }];
    axes.iter().map(|&word| Told::Image(word)).chain(steps.iter().copied()).collect()
}

/// The number of a sampler's word that a query asks for, its last operand.
pub fn sampler_word(func: &Func, args: &[Value]) -> u8 {
    let number = args.last().and_then(|&value| func.as_const(value));
    number.unwrap_or(0).min(7) as u8
}

/// The element of a binding that an instruction names by its first operand, within its count; 0 of a binding that is no array.
/// Elements are constants behind `binding_arrays`.
pub fn element(func: &Func, resource: Resource, args: &[Value]) -> u32 {
    let Some(count) = func.resources[resource].count else {
        return 0;
    };
    let element = args.first().and_then(|&value| func.as_const(value)).unwrap_or(0);
    element.min(u64::from(count.saturating_sub(1))) as u32
}

fn place(places: &[(Resource, u8)], resource: Resource) -> Option<u8> {
    places.iter().find(|(other, _)| *other == resource).map(|&(_, place)| place)
}
