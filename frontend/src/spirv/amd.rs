//! Functions of AMD's extended sets (`SPV_AMD_shader_trinary_minmax`, `SPV_AMD_gcn_shader`, `SPV_AMD_shader_ballot`,
//! `SPV_AMD_shader_explicit_vertex_parameter`).

use super::module::Inst;
use super::program::READING;
use super::{Frame, OfSpirv};
use crate::Needs;
use crate::lower::amd::OfThree;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type};
use naga::ScalarKind;

/// A set of functions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Amd {
    OfThree,
    Gcn,
    Ballot,
    Corners,
}

impl Amd {
    /// The set of a name.
    pub fn of(name: &str) -> Option<Amd> {
        Some(match name {
            "SPV_AMD_shader_trinary_minmax" => Amd::OfThree,
            "SPV_AMD_gcn_shader" => Amd::Gcn,
            "SPV_AMD_shader_ballot" => Amd::Ballot,
            "SPV_AMD_shader_explicit_vertex_parameter" => Amd::Corners,
            _ => return None,
        })
    }
}

fn mismatch() -> Stop {
    Stop::invalid(
        "operands and result of this function of AMD's do not have the types that it takes",
    )
}

impl<'p> OfSpirv<'p> {
    /// A call of a function of one of AMD's sets.
    pub(super) fn function_of_amd(
        &mut self,
        frame: &mut Frame<'p>,
        set: Amd,
        inst: &Inst,
    ) -> Result<Values> {
        let (number, given) = (inst.operand(3), inst.rest(4));
        match (set, number) {
            (Amd::Corners, _) => {
                return Err(Stop::unsupported("per-vertex inputs", READING).needing(Needs::Corners));
            }
            (Amd::Gcn, 3) => {
                return self.clock(inst, Op::Clock);
            }
            _ => {}
        }
        let mut args = Vec::with_capacity(given.len());
        for &id in given {
            args.push(self.values(frame, id)?);
        }
        let one = |value| Values::from_elem(value, 1);
        let lengths: Vec<usize> = args.iter().map(|values| values.len()).collect();
        let are_words = |lower: &Self, range: std::ops::Range<usize>| -> Result<()> {
            let words = args[range].iter().flatten();
            let fits = words.copied().all(|value| lower.ty(value) == Type::B32);
            if fits { Ok(()) } else { Err(mismatch()) }
        };
        match (set, number, &args[..], &lengths[..]) {
            (Amd::OfThree, 1..=9, [a, b, c], _) => {
                let program = self.source.program;
                let kind = [ScalarKind::Float, ScalarKind::Uint, ScalarKind::Sint]
                    [(number as usize - 1) % 3];
                let which =
                    [OfThree::Least, OfThree::Greatest, OfThree::Middle][(number as usize - 1) / 3];
                let (scalar, lanes) = program.shape(inst.operand(0))?;
                let floats = kind == ScalarKind::Float;
                let mut all = [a.clone(), b.clone(), c.clone()];
                for (values, &id) in all.iter_mut().zip(given) {
                    let (own, own_lanes) = program.shape(program.type_of(id)?)?;
                    let fits = own_lanes == lanes
                        && own.width == scalar.width
                        && own.kind != ScalarKind::Bool
                        && (own.kind == ScalarKind::Float) == floats;
                    if !fits || (scalar.kind == ScalarKind::Float) != floats {
                        return Err(mismatch());
                    }
                    if kind == ScalarKind::Sint {
                        *values = self.extended_by_sign(scalar, std::mem::take(values));
                    }
                }
                let found = self.of_three(which, kind, [&all[0], &all[1], &all[2]])?;
                Ok(self.cut(scalar, found))
            }
            (Amd::Gcn, 1, [direction], [3]) => {
                are_words(self, 0..1)?;
                Ok(one(self.face_index(direction)))
            }
            (Amd::Gcn, 2, [direction], [3]) => {
                are_words(self, 0..1)?;
                Ok(self.face_coordinates(direction))
            }
            (Amd::Ballot, 1, [values, lanes], [_, 4]) => {
                are_words(self, 0..2)?;
                self.swizzled_lanes(values, lanes)
            }
            (Amd::Ballot, 2, [values, masks], [_, 3]) => {
                are_words(self, 0..2)?;
                Ok(self.masked_lanes(values, masks))
            }
            (Amd::Ballot, 3, [values, written, lane], [a, b, 1]) if a == b => {
                are_words(self, 0..3)?;
                self.written_lane(values, written, lane[0])
            }
            (Amd::Ballot, 4, [mask], [1]) if self.ty(mask[0]) == Type::B64 => {
                Ok(one(self.bits_below(mask[0])?))
            }
            (_, _, _, _) => Err(mismatch()),
        }
    }
}
