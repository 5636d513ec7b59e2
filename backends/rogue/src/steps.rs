//! What each group of a program does with temporaries, what it costs, and where an instance goes from it: read from the
//! bytes, for [`gpucc_machine::flow`]. Which clocks a group takes is not public beyond one a group, and one each time it
//! repeats (isa/valhall_rogue.md 6.10).

use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops};
use crate::isa::ops::Control;
use crate::isa::program::{ProgramError, decode_program};
use crate::isa::register::{File, Register};
use crate::legal::{branch_of, reads_of, target_of, writes_of};
use gpucc_machine::flow::{Step, Steps, UNITS};

/// Temporaries of an instance. Pipeline page 3.1.
const TEMPS: u16 = 248;

/// The steps of a program, a group each.
///
/// # Errors
/// The first bytes that are no group.
pub fn steps(code: &[u8]) -> Result<Steps, ProgramError> {
    let program = decode_program(code)?;
    let find = |offset: i64| {
        let offset = usize::try_from(offset).ok()?;
        program.binary_search_by_key(&offset, |(at, _)| *at).ok()
    };
    // The highest temporary that the program names: an index reaches no further.
    let named = program.iter().flat_map(|(_, group)| {
        reads_of(group).into_iter().chain(writes_of(group)).collect::<Vec<_>>()
    });
    let numbers = named.map(|register| match register {
        Register::Temp(number) if number < TEMPS => number + 1,
        _ => 0,
    });
    let reach = numbers.max().unwrap_or(0);
    let mut list = Vec::with_capacity(program.len());
    for (at, (offset, group)) in program.iter().enumerate() {
        let mut clocks = [0.0; UNITS];
        clocks[0] = f64::from(group.repeat);
        let mut step = Step { offset: *offset as u32, clocks, ..Step::default() };
        for register in reads_of(group) {
            match register {
                Register::Temp(number) if number < TEMPS => step.reads.push(number),
                // Which one is not known.
                Register::Relative { file: File::Temp, .. } => step.reads.extend(0..reach),
                _ => {}
            }
        }
        for register in writes_of(group) {
            if let Register::Temp(number) = register
                && number < TEMPS
            {
                step.writes.push(number);
            }
        }
        let jump = branch_of(group).and_then(|inst| find(target_of(*offset, inst)));
        let falls = !group.end && !leaves(group) && at + 1 < program.len();
        step.next.extend(falls.then_some(at as u32 + 1));
        step.next.extend(jump.map(|to| to as u32));
        list.push(step);
    }
    Ok(Steps { list, cells: 1, prefix: "r" })
}

/// Whether no instance goes on behind a group: a branch without any condition, or a return.
fn leaves(group: &Group) -> bool {
    let Ops::Control(inst) = &group.ops else { return false };
    let always = group.condition == Condition::Runs && inst.get(f::BPRED) == 0;
    match Control::of(inst.op()) {
        Control::Br => always && !inst.flag(f::LINK),
        Control::Lapc => always,
        _ => false,
    }
}
