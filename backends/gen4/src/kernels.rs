//! Programs of fixed function: setup, which makes planes of what varies over a primitive, and the clipper, which makes fans of
//! triangles that leave the view. Both are made for a pair of a vertex and a fragment program. isa/gen4-pipeline.md 4.2, 4.3;
//! docs/abi-gen4.md, Setup, Clipping.

mod clip;
mod setup;
mod text;

use crate::isa::Machine;
use crate::vue::{self, Vue};
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Func, Imm, InputKind, Interpolation, Stage};
use gpucc_machine::compiled::{Placed, Program};
use gpucc_machine::described::{Described, Setting, Stats};
use gpucc_machine::{Compiled, Named, Request};

/// The states' names.
pub const SETUP: &str = "SF_STATE";
pub const CLIP: &str = "CLIP_STATE";

/// The kinds of primitives that setup is made for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Points,
    Lines,
    Triangles,
}

impl Class {
    /// The name of its setup program.
    pub const fn setup(self) -> &'static str {
        match self {
            Class::Points => "setup of points",
            Class::Lines => "setup of lines",
            Class::Triangles => "setup of triangles",
        }
    }
}

/// The name of the clipper's program.
pub const CLIPPER: &str = "clipping of triangles";

/// What a pair's two entries have: the interface that both programs are made from.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Slots of the vertex entry, an even number.
    pub slots: usize,
    /// Those of them that the vertex program writes.
    pub written: usize,
    /// Of each setup slot behind the position's: the slot of the vertex entry, and how it varies.
    pub varyings: Vec<(usize, Interpolation)>,
    /// A setup slot behind those has the place in the point.
    pub point: bool,
    /// Of each distance to a user plane: the slot and component.
    pub distances: Vec<(usize, usize)>,
    /// Flags of a vertex's header: of those, and of distances that reject what is outside as a whole.
    pub flags: usize,
}

impl Pair {
    /// The interface of two programs.
    ///
    /// # Errors
    /// [`Failure::Internal`] where the fragment program reads what nobody writes: the linker has refused that.
    pub fn of(machine: Machine, vertex: &Func, fragment: &Func) -> Result<Pair, Failure> {
        let vue = Vue::of(vertex, machine)?;
        let mut varyings = Vec::new();
        let is_read = |input| {
            let insts = fragment.regions.values().flat_map(|region| &region.insts);
            let mut insts = insts.map(|&inst| &fragment.insts[inst]);
            insts.any(|data| matches!(data.imm, Imm::Input(other, _) if other == input))
        };
        for (input, data) in &fragment.inputs {
            let InputKind::Location { location, interpolation, .. } = data.kind else { continue };
            let found = vue.varyings.iter().position(|&(other, _)| other == location);
            match found {
                Some(at) => varyings.push((vue::FIRST + at, interpolation)),
                // A vertex program that was made for this one leaves it out: any slot will do.
                None if !is_read(input) => varyings.push((vue::FIRST - 1, Interpolation::Flat)),
                None => {
                    let message =
                        format!("location {location} has no output of the vertex program");
                    return Err(Failure::Internal { pass: "kernels", message });
                }
            }
        }
        let first = vue.distance_slot();
        let flags = vue.distances.len();
        let distances = (0..vue.clips).map(|n| (first + n / 4, n % 4)).collect();
        let asked = InputKind::Builtin(Builtin::PointCoord);
        let point = fragment.inputs.values().any(|data| data.kind == asked);
        let written = vue.written();
        Ok(Pair { slots: vue.slots(), written, varyings, point, distances, flags })
    }

    /// Rows of a vertex entry.
    pub fn rows(&self) -> usize {
        self.slots / 2
    }

    /// Pairs of slots of the setup entry, the position's among them: two units of 64 bytes each.
    pub fn setup_pairs(&self) -> usize {
        (1 + self.varyings.len() + usize::from(self.point)).div_ceil(2)
    }

    /// How a slot of the vertex entry varies; flat where nobody reads it.
    fn varies(&self, slot: usize) -> Interpolation {
        let read = self.varyings.iter().find(|(other, _)| *other == slot);
        read.map_or(Interpolation::Flat, |&(_, interpolation)| interpolation)
    }
}

/// The programs of a pair: setup of each class, and the clipper.
///
/// # Errors
/// As [`Pair::of`].
pub fn kernels(
    machine: Machine,
    vertex: &Func,
    fragment: &Func,
    request: &Request,
) -> Result<Vec<Compiled>, Failure> {
    let pair = Pair::of(machine, vertex, fragment)?;
    let mut made = Vec::new();
    for class in [Class::Triangles, Class::Lines, Class::Points] {
        let text = setup::program(machine, &pair, class);
        let state = setup_state(&pair, &text);
        made.push(finished(machine, class.setup(), text, (SETUP, state), request)?);
    }
    let text = clip::program(machine, &pair);
    let state = clip_state(machine, &pair, &text);
    made.push(finished(machine, CLIPPER, text, (CLIP, state), request)?);
    Ok(made)
}

fn finished(
    machine: Machine,
    name: &'static str,
    text: text::Text,
    (state, setting): (&'static str, Setting),
    request: &Request,
) -> Result<Compiled, Failure> {
    let code = text.assembled(machine)?;
    let registers = text.registers();
    let stats = Stats {
        instructions: code.len() as u64 / 16,
        code_bytes: code.len() as u64,
        registers: registers.into(),
        ..Stats::default()
    };
    let described = Described {
        stats,
        state: [(state, setting)].into_iter().collect::<Named<Setting>>(),
        ..Described::default()
    };
    Ok(Compiled {
        programs: vec![Program {
            name: name.into(),
            code: Placed::Within(0..code.len()),
            registers,
        }],
        code,
        described,
        expanded: Func::new(name, Stage::Vertex),
        lines: Vec::new(),
        notes: Vec::new(),
        pipeline: request.pipeline.clone(),
        dumps: Vec::new(),
        times: Vec::new(),
    })
}

/// SF_STATE, d0 to d7. isa/gen4-pipeline.md 1.1, 1.2.
fn setup_state(pair: &Pair, text: &text::Text) -> Setting {
    let blocks = text.registers().div_ceil(16) - 1;
    let read = pair.rows() as u32 - 1;
    let size = 2 * pair.setup_pairs() as u32;
    const START: u32 = 3;
    Setting::Descriptor {
        words: vec![
            blocks << 1,
            1 << 16,
            0,
            START | 1 << 4 | read << 11,
            (size - 1) << 19,
            2,
            8 << 9 | 8 << 13,
            1 << 25,
        ],
        mask: vec![0xe, 0x83fd_2880, 0xf, 0x7e01_fbff, 0x00f8_0000, 2, 0x1_fe00, 0x7e00_0000],
        fields: [
            ("GRF blocks", blocks),
            ("alternative floats", 1),
            ("dispatch GRF start", START),
            ("vertex URB read offset", 1),
            ("vertex URB read length", read),
            ("URB entry size", size - 1),
            ("viewport transform", 1),
            ("vertical origin bias", 8),
            ("horizontal origin bias", 8),
            ("fan provoking vertex", 1),
        ]
        .into_iter()
        .collect(),
    }
}

/// CLIP_STATE, d0 to d10. isa/gen4-pipeline.md 1.1, 1.2.
fn clip_state(machine: Machine, pair: &Pair, text: &text::Text) -> Setting {
    let blocks = text.registers().div_ceil(16) - 1;
    let read = pair.rows() as u32;
    let size = pair.slots.div_ceil(4) as u32;
    // A flag for each user plane, and on the 965 flag 6 for a negative 1 / w.
    let planes = (1u32 << pair.flags) - 1;
    let (flags, negative) = match machine {
        Machine::Gen4 => (planes | 1 << 6, 0),
        Machine::G45 => (planes, 1),
    };
    let [one, minus] = [1f32, -1f32].map(f32::to_bits);
    const START: u32 = 1;
    let tests = flags << 16 | 1 << 24 | negative << 25 | 1 << 26 | 1 << 27 | 1 << 28 | 1 << 30;
    Setting::Descriptor {
        words: vec![
            blocks << 1,
            1 << 16 | 1 << 31,
            0,
            START | read << 11,
            (size - 1) << 19,
            tests,
            0,
            minus,
            one,
            minus,
            one,
        ],
        mask: vec![
            0xe,
            0x83fd_2880,
            0xf,
            0x7e01_fbff,
            0x00f8_0000,
            0x7fff_e000,
            0,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
        ],
        fields: [
            ("GRF blocks", blocks),
            ("alternative floats", 1),
            ("single program flow", 1),
            ("dispatch GRF start", START),
            ("vertex URB read length", read),
            ("URB entry size", size - 1),
            ("user clip flags", flags),
            ("flags must clip", 1),
            ("negative W test", negative),
            ("guardband test", 1),
            ("Z test", 1),
            ("XY test", 1),
            ("depth of 0 to 1", 1),
        ]
        .into_iter()
        .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::Interpolation::{Flat, Linear, Perspective};

    fn pair(varyings: &[(usize, Interpolation)], clips: usize) -> Pair {
        let written = vue::FIRST + varyings.len() + clips.div_ceil(4);
        let distances = (0..clips).map(|n| (vue::FIRST + varyings.len() + n / 4, n % 4)).collect();
        Pair {
            slots: written.next_multiple_of(2),
            written,
            varyings: varyings.to_vec(),
            point: false,
            distances,
            flags: clips,
        }
    }

    /// Instructions of public drivers' programs on G45: setup for the same interfaces, and the shortest clipper of triangles that
    /// was seen, without user planes and with some.
    #[test]
    fn programs_are_no_longer_than_those_of_public_drivers() {
        let length = |text: text::Text| {
            text.assembled(Machine::G45).map(|code| code.len() / 16).expect("it is text")
        };
        let setup =
            |varyings: &[_], class| length(setup::program(Machine::G45, &pair(varyings, 0), class));
        let one = [(3, Perspective)];
        let mixed = [(3, Perspective), (4, Linear), (5, Flat)];
        for (varyings, class, most) in [
            (&one[..], Class::Triangles, 18),
            (&one, Class::Points, 7),
            (&mixed, Class::Triangles, 39),
            (&mixed, Class::Points, 11),
        ] {
            let own = setup(varyings, class);
            assert!(own <= most, "{class:?} {varyings:?}: {own} of {most}");
        }
        for (clips, most) in [(0, 187), (4, 257)] {
            let own = length(clip::program(Machine::G45, &pair(&mixed, clips)));
            assert!(own <= most, "{clips} user planes: {own} of {most}");
        }
    }
}
