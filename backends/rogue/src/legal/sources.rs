//! Which register may stand at which source. Pipeline page 1.2, 3.1.

use super::{Asked, Rule};
use crate::isa::disasm::{name_and_args, port_of};
use crate::isa::fields::f;
use crate::isa::group::{Ops, Place};
use crate::isa::ops::{Arg, Backend};
use crate::isa::register::{File, Register, Special, special};
use gpucc_isa::Inst;

/// The source that says where the result of a message lands. 2.8, 2.9.
pub(super) fn landing(inst: &Inst) -> Option<usize> {
    use Backend as B;
    match B::of(inst.op()) {
        B::Fitr | B::Fitrp | B::Ld | B::LdReg => Some(3),
        B::Smp => Some(4),
        B::Atomic => Some(inst.get(f::DST_SRC) as usize),
        _ => None,
    }
}

/// A count whose 0 is the one beyond its greatest.
pub(super) fn full(value: u32, most: u16) -> u16 {
    if value == 0 { most } else { value as u16 }
}

/// How many registers from its source on a backend instruction takes or fills. 2.8, 2.9.
pub(super) fn length(inst: &Inst, port: u8) -> u16 {
    use Backend as B;
    let row = B::of(inst.op());
    let at = |id| inst.get(id) == u32::from(port);
    match row {
        B::Fitr | B::Fitrp if port == 3 => full(inst.get(f::COUNT), 16),
        B::Ld if port == 3 => full(inst.get(f::BURST), 16),
        B::Ld | B::LdReg if at(f::ADD_SRC) => 2,
        B::St | B::StTiled if at(f::DATA_SRC) => full(inst.get(f::BURST), 16),
        B::St | B::StTiled | B::StReg | B::StTiledReg if at(f::ADD_SRC) => 2,
        B::Idf if at(f::ADD_SRC) => 2,
        B::Atomic if at(f::SRC) => 3,
        B::Smp | B::SmpWrite if matches!(port, 0 | 2) => 4,
        B::Smp | B::SmpWrite if port == 1 => data_words(inst),
        // A filter has four texels.
        B::Smp if port == 4 && inst.get(f::SBMODE) == 1 => 4 * (inst.get(f::CHANNELS) as u16 + 1),
        B::Smp if port == 4 => inst.get(f::CHANNELS) as u16 + 1,
        _ => 1,
    }
}

/// Words that say where a texture operation looks, and what it writes. 2.9.
fn data_words(inst: &Inst) -> u16 {
    let dimensions = inst.get(f::DIM) as u16;
    let flags = [f::PROJ, f::ARRAY].into_iter().filter(|&id| inst.flag(id)).count() as u16;
    let level = match inst.get(f::LOD) {
        0 => 0,
        3 => 2 * dimensions,
        _ => 1,
    };
    let address = if inst.flag(f::TAO) { 2 } else { 0 };
    let lookup = u16::from(inst.flag(f::SNO) || inst.flag(f::SOO));
    let written = match Backend::of(inst.op()) {
        Backend::SmpWrite => inst.get(f::CHANNELS) as u16 + 1,
        _ => 0,
    };
    dimensions + flags + level + address + lookup + written
}

/// Files that share a port with one another. 1.2.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Class {
    /// Every port.
    Any,
    /// S0, S2, S3.
    Common,
    /// S1, S2, S4.
    Special,
}

fn class(register: Register) -> Class {
    match register {
        Register::Temp(_) | Register::Vtxin(_) => Class::Any,
        Register::Special(number) => match special(number) {
            Special::Constant(_) | Special::Internal(_) | Special::Unknown => Class::Any,
            Special::Pixout(_) => Class::Common,
            Special::Named(_) => Class::Special,
        },
        _ => Class::Common,
    }
}

impl Asked<'_> {
    /// The rules of S0 to S5.
    pub(super) fn sources(&mut self) {
        let group = self.group;
        for (register, port) in group.sources.into_iter().zip(0u8..) {
            match class(register) {
                Class::Any => {}
                Class::Common => self.when(!matches!(port, 0 | 2 | 3), Rule::PortCommon),
                Class::Special => self.when(!matches!(port, 1 | 2 | 4), Rule::PortSpecial),
            }
            let alternative = matches!(
                register,
                Register::CoeffAlt(_) | Register::Relative { file: File::CoeffAlt, .. }
            );
            self.when(alternative, Rule::CoeffAlt);
            if let Register::Special(number) = register {
                self.when(special(number) == Special::Unknown, Rule::UnknownSpecial);
            }
            let backend = match &group.ops {
                Ops::Main(ops) => ops.backend.as_ref(),
                _ => None,
            };
            let count = backend.map_or(1, |inst| length(inst, port));
            self.limit(register, count.max(group.repeat.into()));
        }
    }
}

/// The sources that the operations of a group read or fill, by their numbers. The external feedthrough's is another matter.
pub(crate) fn named(group: &crate::isa::Group) -> Vec<(Place, u8)> {
    let mut ports = Vec::new();
    for (place, inst) in group.operations() {
        let (_, args) = name_and_args(group, place, &inst);
        let of = |arg: &Arg| Some((place, port_of(place, &inst, arg)?));
        ports.extend(args.iter().filter_map(of));
    }
    if let Ops::Bitwise([Some(first), logical, shift]) = &group.ops {
        bitwise(group, first, logical.as_ref(), shift.as_ref(), &mut ports);
    }
    ports
}

/// What phase 0 reads for the phases and ports behind it, which its text leaves out. 1.5, 2.6.
fn bitwise(
    group: &crate::isa::Group,
    first: &Inst,
    logical: Option<&Inst>,
    shift: Option<&Inst>,
    ports: &mut Vec<(Place, u8)>,
) {
    let mut reads = |port| ports.push((Place::Bitwise0, port));
    let masked = match logical {
        Some(logical) => logical.flag(f::MASK_A) || logical.flag(f::MASK_B),
        None => shift.is_some() || group.writes[0].is_some(),
    };
    if masked && first.get(f::BIT_IMM) == 0 {
        reads(1);
        if first.get(f::BITMASK) == 1 {
            reads(0);
        }
    }
    let tested = |shift: &Inst| shift.flag(f::PWEN) && shift.get(f::TEST_SRC) == 1;
    let counted = group.writes[1].is_some() || shift.is_some_and(tested);
    if logical.is_some() || counted {
        reads(2);
        // Two of the four shifts have S1 beside it.
        if matches!(first.get(f::SHIFT1), 1 | 3) {
            reads(1);
        }
    }
    // The width of what `asr_mtb` extends is FT0.
    if shift.is_some_and(|shift| shift.get(f::SHIFT2) == 6) {
        reads(0);
    }
}
