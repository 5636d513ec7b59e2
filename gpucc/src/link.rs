//! Two entry points as the stages of one pipeline: what the fragment stage reads, and whether the vertex stage writes it.

use crate::failure::Failure;
use gpucc_ir::ssa::{Func, Imm, Input, InputKind, Op, Output, OutputKind, Scalar, Span, Stage};
use std::collections::BTreeSet;

/// A location that goes from a vertex output to a fragment input.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The vertex stage's output.
    pub output: Output,
    /// The fragment stage's input.
    pub input: Input,
}

/// Pairs the locations that a fragment entry point declares with the outputs of a vertex entry point, in the order of the
/// inputs.
///
/// # Errors
/// [`Failure`] of exit code 1 for an input that no output feeds, or that is of another type there, with both places.
pub fn links(vertex: &Func, fragment: &Func) -> Result<Vec<Link>, Failure> {
    let fed = feeds(vertex, fragment, |_| true)?.into_iter();
    Ok(fed.filter_map(|(input, output)| Some(Link { output: output?, input })).collect())
}

/// The output that feeds each location that a fragment program declares, in the order of the inputs. A program that was
/// compiled for the other one does not write what that one does not read: such an input has none.
///
/// # Errors
/// As [`links`], for the inputs that are read.
pub fn fed(vertex: &Func, fragment: &Func) -> Result<Vec<(Input, Option<Output>)>, Failure> {
    let read = read_locations(fragment);
    feeds(vertex, fragment, |location| read.binary_search(&location).is_ok())
}

fn feeds(
    vertex: &Func,
    fragment: &Func,
    is_needed: impl Fn(u32) -> bool,
) -> Result<Vec<(Input, Option<Output>)>, Failure> {
    let mut fed = Vec::new();
    for (input, data) in &fragment.inputs {
        let InputKind::Location { location, .. } = data.kind else {
            continue;
        };
        let found = vertex.outputs.iter().find(
            |(_, output)| matches!(output.kind, OutputKind::Location { location: l, .. } if l == location),
        );
        let (reader, writer) = (&fragment.name, &vertex.name);
        let read = place(fragment, |imm| matches!(*imm, Imm::Input(i, _) if i == input));
        if found.is_none() && !is_needed(location) {
            fed.push((input, None));
            continue;
        }
        let Some((output, written)) = found else {
            let writes = place(vertex, |imm| matches!(imm, Imm::Output(..)));
            return Err(Failure::invalid(format!(
                "fragment entry point '{reader}' reads location {location} ({}), which vertex entry point '{writer}' \
                 does not write",
                data.name
            ))
            .at(read)
            .also(writes, format!("the outputs of '{writer}'"))
            .note(outputs_of(vertex)));
        };
        if kind(written.scalar) != kind(data.scalar) || written.components < data.components {
            let writes = place(vertex, |imm| matches!(*imm, Imm::Output(o, _) if o == output));
            let [there, here] =
                [(written.scalar, written.components), (data.scalar, data.components)]
                    .map(|(scalar, components)| type_name(scalar, components));
            return Err(Failure::invalid(format!(
                "location {location} is {there} in vertex entry point '{writer}' and {here} in fragment entry point \
                 '{reader}'"
            ))
            .at(read)
            .also(writes, format!("written as {there}")));
        }
        fed.push((input, Some(output)));
    }
    Ok(fed)
}

/// The locations that a fragment function reads, ascending. Behind the passes they are those that matter.
pub fn read_locations(fragment: &Func) -> Vec<u32> {
    debug_assert_eq!(fragment.stage, Stage::Fragment);
    let mut read = BTreeSet::new();
    for data in fragment.regions.values().flat_map(|region| &region.insts) {
        let data = &fragment.insts[*data];
        if data.op == Op::Input
            && let Imm::Input(input, _) = data.imm
            && let InputKind::Location { location, .. } = fragment.inputs[input].kind
        {
            read.insert(location);
        }
    }
    read.into_iter().collect()
}

/// The place of the first instruction that matches and has one.
fn place(func: &Func, matches: impl Fn(&Imm) -> bool) -> Span {
    let insts = func.regions.values().flat_map(|region| &region.insts);
    insts
        .map(|&inst| &func.insts[inst])
        .find(|data| matches(&data.imm) && !data.span.is_none())
        .map_or(Span::NONE, |data| data.span)
}

/// What a vertex function writes, for a message.
fn outputs_of(vertex: &Func) -> String {
    let mut locations: Vec<u32> = vertex
        .outputs
        .values()
        .filter_map(|data| match data.kind {
            OutputKind::Location { location, .. } => Some(location),
            OutputKind::Builtin(_) => None,
        })
        .collect();
    locations.sort_unstable();
    let list: Vec<String> = locations.iter().map(u32::to_string).collect();
    match &list[..] {
        [] => format!("'{}' writes no location", vertex.name),
        [one] => format!("'{}' writes location {one}", vertex.name),
        [some @ .., last] => {
            format!("'{}' writes locations {} and {last}", vertex.name, some.join(", "))
        }
    }
}

fn type_name(scalar: Scalar, components: u8) -> String {
    match components {
        1 => scalar.word().to_owned(),
        n => format!("vec{n}<{}>", scalar.word()),
    }
}

fn kind(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::F32 | Scalar::F16 => 0,
        Scalar::I32 => 1,
        Scalar::U32 | Scalar::Bool => 2,
    }
}
