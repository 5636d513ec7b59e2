//! Inputs and outputs at locations: scalars and vectors that share one are declared together.

use super::types::{reading, width};
use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::Map;
use gpucc_ir::ssa::Stage;
use gpucc_ir::ssa::{
    Builtin, Input, InputData, InputKind, Interpolation, MOST_DISTANCES, Op, OutputKind, Part,
    Sampling, Scalar, Type, Value,
};
use naga::ScalarKind;
use smallvec::SmallVec;

/// A scalar or vector at a location.
#[derive(Clone, Debug)]
pub struct Located {
    pub location: u32,
    pub component: u32,
    pub scalar: naga::Scalar,
    /// Words.
    pub count: usize,
    /// Two words make one scalar.
    pub is_wide: bool,
    pub interpolation: Interpolation,
    pub sampling: Sampling,
    pub index: u32,
    pub name: String,
    /// The variable, and the first of its scalars.
    pub variable: usize,
    pub first: usize,
    /// Inputs of geometry shaders: the vertex of the primitive.
    pub vertex: Option<u8>,
}

impl Located {
    /// The same of a vertex of the primitive; a vertex has so many scalars in the variable.
    #[must_use]
    pub fn of_vertex(&self, vertex: u8, scalars: usize) -> Located {
        let first = self.first + usize::from(vertex) * scalars;
        Located { first, vertex: Some(vertex), ..self.clone() }
    }
}

/// Locations at which fragments meet the clip distances and the cull distances of the vertices, four of them at each.
/// No machine's rasteriser hands them on: a vertex program writes them a second time.
pub const DISTANCES: [u32; 2] = [28, 30];

/// The parts of an array of distances at [`DISTANCES`]; `like` says all but where they are.
///
/// # Errors
/// More distances than there may be.
pub fn distances_at(first: u32, count: usize, like: &Located) -> Result<Vec<Located>> {
    if count > usize::from(MOST_DISTANCES) {
        let (needed, most) = (count as u64, MOST_DISTANCES.into());
        return Err(Stop::limit("clip or cull distances", needed, most, "declare shorter arrays"));
    }
    let runs = (0..count).step_by(4).zip(first..);
    let run = |(from, location): (usize, u32)| Located {
        location,
        count: (count - from).min(4),
        first: like.first + from,
        ..like.clone()
    };
    Ok(runs.map(run).collect())
}

impl<S> Lower<'_, S> {
    /// Declares and reads inputs; their scalars go into the values of their variables.
    pub fn read_located(
        &mut self,
        located: &[Located],
        variables: &mut [Values],
        reader: &'static str,
    ) -> Result<()> {
        let prologue = self.prologue;
        for group in by_location(located, self.stage, reader)? {
            let first = &located[group[0]];
            let is_bool = first.scalar.kind == ScalarKind::Bool;
            let data = InputData {
                kind: match first.vertex {
                    Some(vertex) => {
                        InputKind::Corner { vertex, part: Part::Location(first.location) }
                    }
                    None => InputKind::Location {
                        location: first.location,
                        interpolation: first.interpolation,
                        sampling: first.sampling,
                    },
                },
                components: components(located, &group) as u8,
                scalar: if is_bool { Scalar::U32 } else { reading(first.scalar) },
                name: first.name.clone(),
            };
            // A variable may be read once more at the same place.
            let known = self.func.inputs.iter().find(|(_, own)| **own == data);
            let input = match known.map(|(input, _)| input) {
                Some(input) => input,
                None => self.func.inputs.push(data),
            };
            for at in group {
                let part = &located[at];
                let found = self.within(prologue, |lower| {
                    let words = lower.lanes(part.count, |lower, lane| {
                        let value = lower.b().input(input, part.component as u8 + lane as u8);
                        Ok(match width(part.scalar) {
                            _ if is_bool => lower.truth(value),
                            // Integers of 16 bits arrive as words.
                            Type::B16 if part.scalar.kind != ScalarKind::Float => {
                                lower.op1(Op::Lo16, value)
                            }
                            _ => value,
                        })
                    })?;
                    Ok(if part.is_wide { lower.joined(&words) } else { words })
                })?;
                let values = &mut variables[part.variable];
                values[part.first..part.first + found.len()].copy_from_slice(&found);
            }
        }
        Ok(())
    }

    /// The input of a kind: each is declared once.
    pub fn input_once(
        &mut self,
        kind: InputKind,
        components: u8,
        scalar: Scalar,
        name: &str,
    ) -> Input {
        let known = self.func.inputs.iter().find(|(_, data)| data.kind == kind);
        match known {
            Some((input, _)) => input,
            None => {
                let name = name.to_owned();
                self.func.inputs.push(InputData { kind, components, scalar, name })
            }
        }
    }

    /// Declares and reads a built-in value of a vertex of the primitive.
    pub fn of_vertex(&mut self, vertex: u8, builtin: Builtin, name: &str) -> Result<Values> {
        let prologue = self.prologue;
        let kind = InputKind::Corner { vertex, part: Part::Builtin(builtin) };
        let input = self.input_once(kind, builtin.components(), Scalar::F32, name);
        self.within(prologue, |lower| {
            lower.lanes(builtin.components().into(), |lower, lane| {
                Ok(lower.b().input(input, lane as u8))
            })
        })
    }

    /// Declares and writes outputs of the values of their variables.
    pub fn write_located(
        &mut self,
        located: &[Located],
        variables: &[Values],
        reader: &'static str,
    ) -> Result<()> {
        for group in by_location(located, self.stage, reader)? {
            let first = &located[group[0]];
            let narrow = width(first.scalar) == Type::B16 && first.scalar.kind != ScalarKind::Float;
            let ty = if narrow { Type::B32 } else { width(first.scalar) };
            let zero = self.constant(ty, 0);
            let mut values = Values::from_elem(zero, components(located, &group));
            for &at in &group {
                let part = &located[at];
                let scalars = if part.is_wide { part.count / 2 } else { part.count };
                let own = &variables[part.variable][part.first..part.first + scalars];
                let own = match part.is_wide {
                    true => self.halves(own),
                    // Integers of 16 bits leave as words.
                    false if narrow => {
                        let signed = first.scalar.kind == ScalarKind::Sint;
                        let op = if signed { Op::SConvert } else { Op::UConvert };
                        own.iter().map(|&value| self.convert(op, Type::B32, value)).collect()
                    }
                    false => Values::from_slice(own),
                };
                let from = part.component as usize;
                values[from..from + part.count].copy_from_slice(&own);
            }
            let kind = OutputKind::Location {
                location: first.location,
                blend_src: first.index as u8,
                interpolation: first.interpolation,
            };
            let (scalar, name) = (reading(first.scalar), first.name.clone());
            self.output(kind, scalar, &name, &values);
        }
        Ok(())
    }

    /// Scalars of 64 bits of pairs of words.
    pub fn joined(&mut self, words: &[Value]) -> Values {
        words.chunks_exact(2).map(|pair| self.op2(Op::Join64, pair[0], pair[1])).collect()
    }

    /// The words of scalars of 64 bits.
    pub fn halves(&mut self, wide: &[Value]) -> Values {
        let mut words = Values::new();
        for &value in wide {
            words.extend([Op::Lo64, Op::Hi64].map(|half| self.op1(half, value)));
        }
        words
    }
}

/// Components that parts of one location reach.
fn components(located: &[Located], group: &[usize]) -> usize {
    let ends = group.iter().map(|&at| located[at].component as usize + located[at].count);
    ends.max().unwrap_or(1)
}

/// Parts that share a location, a colour source and a vertex, together.
fn by_location(
    located: &[Located],
    stage: Stage,
    reader: &'static str,
) -> Result<Vec<SmallVec<[usize; 2]>>> {
    let mut groups: Map<(u32, u32, Option<u8>), SmallVec<[usize; 2]>> = Map::default();
    for (at, part) in located.iter().enumerate() {
        let group = groups.entry((part.location, part.index, part.vertex)).or_default();
        if let Some(&first) = group.first() {
            let first = &located[first];
            let mixes = first.scalar != part.scalar
                || stage == Stage::Fragment
                    && (first.interpolation, first.sampling) != (part.interpolation, part.sampling);
            if mixes {
                let what = "components of one location of different types or interpolations";
                return Err(Stop::unsupported(what, reader));
            }
        }
        let own = part.component..part.component + part.count as u32;
        let overlaps = group.iter().any(|&other| {
            let other = &located[other];
            other.component < own.end && own.start < other.component + other.count as u32
        });
        if overlaps {
            let location = part.location;
            return Err(Stop::invalid(format!("two variables have location {location}")));
        }
        group.push(at);
    }
    Ok(groups.into_values().collect())
}
