//! Which changes of a group's bytes mean something.

mod alike;
mod arithmetic;
mod bits;
mod bitwise;
mod formats;
mod known;
mod live;
mod refused;
#[cfg(test)]
mod tests;
mod waiting;
mod written;

use crate::emu::Core;
use crate::isa::Group;
use crate::isa::decode::decode;
use crate::isa::encode::{ended, form_of};
use crate::isa::fields::cuts;
use crate::isa::group::Ops;
use crate::isa::ops::control_has_sources;
use crate::isa::program::decode_program;
use crate::isa::word;
use gpucc_ir::ssa::Stage;
use gpucc_isa::{Field, Inst, Op};
use gpucc_machine::described::{Driven, DriverWord};
use gpucc_machine::{Compiled, Site};
use live::Around;
use refused::Limits;
use std::rc::Rc;

/// The parts of a program's groups, which a core runs: header, operations, sources, selectors, destinations.
pub(crate) fn sites(compiled: &Compiled, core: Core) -> Vec<Site> {
    let code = &compiled.code;
    let groups = decode_program(code).unwrap_or_default();
    let constants = compiled.described.driver_constants.iter();
    let numbers = constants.filter_map(|told| match told.word {
        DriverWord::Other(Driven::Constant { bits }) => Some((told.constant?, bits)),
        _ => None,
    });
    let numbers: Vec<(u32, u32)> = numbers.collect();
    let compute = compiled.expanded.stage == Stage::Compute;
    let instances = compiled.expanded.workgroup_size.iter().product();
    let around = live::around(&groups, &numbers, compute.then_some(instances), !core.rounds_even);
    let ends = groups.iter().skip(1).map(|(offset, _)| *offset).chain([code.len()]);
    let mut sites = Vec::new();
    let limits = Limits::of(compiled, core);
    for (((offset, group), end), around) in groups.iter().zip(ends).zip(around) {
        let known = Rc::new(Known {
            bytes: code[*offset..end].into(),
            group: group.clone(),
            around,
            limits,
        });
        for (at, row) in parts(group, &known.bytes) {
            let bytes = usize::from(row.format.bits) / 8;
            let Some(there) = known.bytes.get(at..at + bytes) else { continue };
            let mut sixteen = [0; 16];
            sixteen[..bytes].copy_from_slice(there);
            let Ok(inst) = Inst::decode(row, u128::from_le_bytes(sixteen)) else { continue };
            let known = Rc::clone(&known);
            sites.push(Site {
                offset: offset + at,
                inst,
                meaning: Box::new(move |field, value| known.has_meaning(at, inst, field, value)),
            });
        }
    }
    sites
}

/// A group where it stands.
struct Known {
    bytes: Box<[u8]>,
    group: Group,
    around: Around,
    limits: Limits,
}

impl Known {
    /// False for what says where bytes lie, and for groups that are alike.
    fn has_meaning(&self, at: usize, inst: Inst, field: &Field, value: u32) -> bool {
        const PLACES: &[&str] =
            &["ASSIST", "LENGTH", "LONG", "FORM", "EXT", "EXT_A", "EXT_B", "EXT_C"];
        if PLACES.contains(&field.name) {
            return false;
        }
        let bits = field.put(inst.bits(), value).to_le_bytes();
        let mut bytes = self.bytes.to_vec();
        let count = usize::from(inst.op().format.bits) / 8;
        bytes[at..at + count].copy_from_slice(&bits[..count]);
        match decode(&bytes) {
            Ok((group, _)) => {
                !alike::alike(&self.group, &group, &self.around)
                    || self.limits.refuse(&bytes)
                    || self.limits.may_refuse(&self.group, &group, &self.around)
            }
            // What is no group is refused.
            Err(_) => true,
        }
    }
}

/// The parts of a group: the byte where each begins, and the row that describes it.
fn parts(group: &Group, bytes: &[u8]) -> Vec<(usize, &'static Op)> {
    let mut parts = Vec::new();
    let full = bytes.get(1).is_some_and(|second| second >> 7 == 1);
    let mut at = if full { 3 } else { 2 };
    let mut op = |at: &mut usize, inst: &Inst, ends: bool, spare: u8| {
        let mut bytes = ended(inst, ends);
        form_of(&mut bytes, inst, spare);
        let format = inst.op().format;
        let row = formats::short(format, bytes.len());
        // The longest form is the format of the operation itself.
        let row = row.or((bytes.len() == usize::from(format.bits / 8)).then_some(inst.op()));
        parts.extend(row.map(|row| (*at, row)));
        *at += bytes.len();
    };
    let spare = group.layout.spare;
    match &group.ops {
        Ops::Main(ops) => {
            let chain = [
                (&ops.backend, false, 5),
                (&ops.mov, ops.test.is_none() && ops.pack.is_none(), 4),
                (&ops.test, ops.pack.is_none(), 3),
                (&ops.pack, false, 2),
                (&ops.p1, false, 1),
                (&ops.p0, false, 0),
            ];
            for (inst, ends, place) in chain {
                if let Some(inst) = inst {
                    op(&mut at, inst, ends, spare[place]);
                }
            }
            parts.push((0, if full { &formats::HEADER_FULL } else { &formats::HEADER_BRIEF }));
        }
        Ops::Bitwise(phases) => {
            for inst in phases.iter().rev().flatten() {
                op(&mut at, inst, false, 0);
            }
            parts.push((0, &formats::HEADER_FULL));
        }
        Ops::Control(inst) => {
            parts.push((0, &formats::HEADER_CONTROL));
            parts.extend(formats::control(inst.op().format).map(|row| (3, row)));
            let format = inst.op().format;
            at += usize::from(format.bits / 8) - 1 - cuts(format).len()
                + usize::from(group.layout.spare[0]);
        }
    }
    words(group, at, &mut parts);
    parts
}

/// Sources, selectors and destinations of a group, which begin at a byte.
fn words(group: &Group, mut at: usize, parts: &mut Vec<(usize, &'static Op)>) {
    let mut put = |at: &mut usize, row: &'static Op| {
        parts.push((*at, row));
        *at += usize::from(row.format.bits / 8);
    };
    let layout = &group.layout;
    let sourced = match &group.ops {
        Ops::Control(inst) => control_has_sources(inst.op()),
        _ => true,
    };
    if sourced {
        let [s0, s1, s2, s3, s4, s5] = group.sources;
        let mux = crate::isa::group::MUX.iter().position(|&source| source == group.selectors.is0);
        let lower = word::shortest(&word::LOWER, [s0, s1, s2], mux.unwrap_or(0) as u8);
        let upper = word::shortest(&word::UPPER, [s3, s4, s5], 0);
        for (row, said, found) in
            [(&formats::LOWER, layout.lower, lower), (&formats::UPPER, layout.upper, upper)]
        {
            let Some(form) = said.or(found) else { return };
            put(&mut at, row[usize::from(form)]);
        }
    }
    if let Ops::Main(_) = group.ops {
        put(&mut at, &formats::SELECTOR);
    }
    let zero = crate::isa::register::Register::ZERO;
    let row = match group.writes {
        [None, None] => None,
        [Some(first), Some(second)] => {
            let form = word::shortest(&word::DESTINATIONS, [first, second, zero], 0);
            layout.destination.or(form).map(|form| formats::DESTINATIONS[usize::from(form)])
        }
        [Some(one), None] | [None, Some(one)] => {
            let form = word::shortest(&word::DESTINATION, [one, zero, zero], 0);
            layout.destination.or(form).map(|form| formats::DESTINATION[usize::from(form)])
        }
    };
    if let Some(row) = row {
        put(&mut at, row);
    }
}
