//! Entry points as the stages of one pipeline: what a stage reads, and whether the one before it writes it.

use crate::failure::Failure;
use gpucc_ir::ssa::{Func, Imm, Input, InputKind, Op, Output, OutputKind, Part, Scalar, Span};
use std::collections::BTreeSet;

/// A location that goes from an output of a stage to an input of the next one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The output of the stage before.
    pub output: Output,
    /// The input of the stage behind it.
    pub input: Input,
}

/// Pairs the locations that an entry point declares with the outputs of the entry point before it, in the order of the
/// inputs: of a vertex and a fragment, or with a geometry entry point between them.
///
/// # Errors
/// [`Failure`] of exit code 1 for an input that no output feeds, or that is of another type there, with both places.
pub fn links(before: &Func, behind: &Func) -> Result<Vec<Link>, Failure> {
    let fed = feeds(before, behind, |_| true)?.into_iter();
    Ok(fed.filter_map(|(input, output)| Some(Link { output: output?, input })).collect())
}

/// The output that feeds each location that a program declares, in the order of the inputs. A program that was compiled for the
/// other one does not write what that one does not read: such an input has none.
///
/// # Errors
/// As [`links`], for the inputs that are read.
pub fn fed(before: &Func, behind: &Func) -> Result<Vec<(Input, Option<Output>)>, Failure> {
    let read = read_locations(behind);
    feeds(before, behind, |location| read.binary_search(&location).is_ok())
}

fn feeds(
    before: &Func,
    behind: &Func,
    is_needed: impl Fn(u32) -> bool,
) -> Result<Vec<(Input, Option<Output>)>, Failure> {
    let mut fed = Vec::new();
    for (input, data) in &behind.inputs {
        let Some(location) = location(data.kind) else {
            continue;
        };
        let found = before.outputs.iter().find(
            |(_, output)| matches!(output.kind, OutputKind::Location { location: l, .. } if l == location),
        );
        let (reader, writer) = (&behind.name, &before.name);
        let (reads, written_by) = (behind.stage.name(), before.stage.name());
        let read = place(behind, |imm| matches!(*imm, Imm::Input(i, _) if i == input));
        if found.is_none() && !is_needed(location) {
            fed.push((input, None));
            continue;
        }
        let Some((output, written)) = found else {
            let writes = place(before, |imm| matches!(imm, Imm::Output(..)));
            return Err(Failure::invalid(format!(
                "{reads} entry point '{reader}' reads location {location} ({}), which {written_by} entry point \
                 '{writer}' does not write",
                data.name
            ))
            .at(read)
            .also(writes, format!("the outputs of '{writer}'"))
            .note(outputs_of(before)));
        };
        if kind(written.scalar) != kind(data.scalar) || written.components < data.components {
            let writes = place(before, |imm| matches!(*imm, Imm::Output(o, _) if o == output));
            let [there, here] =
                [(written.scalar, written.components), (data.scalar, data.components)]
                    .map(|(scalar, components)| type_name(scalar, components));
            return Err(Failure::invalid(format!(
                "location {location} is {there} in {written_by} entry point '{writer}' and {here} in {reads} entry \
                 point '{reader}'"
            ))
            .at(read)
            .also(writes, format!("written as {there}")));
        }
        fed.push((input, Some(output)));
    }
    Ok(fed)
}

/// The location of an input that has one.
fn location(kind: InputKind) -> Option<u32> {
    match kind {
        InputKind::Location { location, .. }
        | InputKind::Corner { part: Part::Location(location), .. } => Some(location),
        InputKind::Builtin(_) | InputKind::Corner { .. } => None,
    }
}

/// The locations that a function reads, ascending. Behind the passes they are those that matter.
pub fn read_locations(func: &Func) -> Vec<u32> {
    let mut read = BTreeSet::new();
    for data in func.regions.values().flat_map(|region| &region.insts) {
        let data = &func.insts[*data];
        if data.op == Op::Input
            && let Imm::Input(input, _) = data.imm
            && let Some(location) = location(func.inputs[input].kind)
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

/// What a function writes, for a message.
fn outputs_of(before: &Func) -> String {
    let mut locations: Vec<u32> = before
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
        [] => format!("'{}' writes no location", before.name),
        [one] => format!("'{}' writes location {one}", before.name),
        [some @ .., last] => {
            format!("'{}' writes locations {} and {last}", before.name, some.join(", "))
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
