//! Faults that are planted behind real passes over machine IR: the runner names the pass.

use super::*;
use crate::inst::Inst;
use gpucc_ir::mach::Inst as _;
use gpucc_passes::mach::Control;
use runner::{Pass, Runner};

const SHADER: &str = include_str!("planted/loop.ir");

/// The pass that the runner blames when one of [`PASSES`] is another; none when the program comes out whole.
fn blamed(planted: Option<Pass<Program>>) -> Option<(&'static str, String)> {
    let options = Options::default();
    let mut module = gpucc_ir::ssa::parse(SHADER).expect("a module");
    let func = module.funcs.remove(0);
    let abi = abi::Abi::of(&func, &options).expect("bindings fit");
    let lowered = lower::lower(&func, &abi).expect("it lowers");
    let mut program = Program::new(lowered.func, lowered.scratch, func.stage, &options);
    let control = Control { verify_each: true, ..Control::default() };
    let mut runner = Runner::new(&control);
    let name = planted.as_ref().map(|pass| pass.name);
    let passes = PASSES.iter().map(|pass| match &planted {
        Some(planted) if name == Some(pass.name) => planted,
        _ => pass,
    });
    match runner.run(passes, &mut program) {
        Ok(()) => None,
        Err(Failure::Internal { pass, message }) => Some((pass, message)),
        Err(other) => panic!("{other}"),
    }
}

/// The real pass of this name.
fn real(name: &str, program: &mut Program) -> Result<(), Failure> {
    let pass = PASSES.iter().find(|pass| pass.name == name);
    (pass.expect("a pass of this name").run)(program)
}

/// Removes the first ALU instruction that writes a register.
fn lose(program: &mut Program) {
    let func = &mut program.func;
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        let alu =
            nodes.iter().position(|node| matches!(&node.inst, Inst::Alu(alu) if alu.dst.is_some()));
        if let Some(at) = alu {
            nodes.remove(at);
            return;
        }
    }
    panic!("there is ALU work");
}

/// Puts the first instruction that reads what the one before it writes in front of that one.
fn reverse(program: &mut Program) {
    let func = &mut program.func;
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        for at in 1..nodes.len() {
            let mut written = Vec::new();
            nodes[at - 1].inst.operands(&mut |operand| {
                if operand.role.is_def() {
                    written.push(operand.reg);
                }
            });
            let mut reads = false;
            nodes[at].inst.operands(&mut |operand| {
                reads |= !operand.role.is_def() && written.contains(&operand.reg);
            });
            if reads && !nodes[at].inst.ends_block() {
                nodes.swap(at - 1, at);
                return;
            }
        }
    }
    panic!("something is read at once");
}

macro_rules! planted {
    ($name:literal, $fault:expr) => {
        required($name, "", |program| {
            real($name, program)?;
            $fault(program);
            Ok(())
        })
    };
}

#[test]
fn a_fault_behind_a_pass_is_named_by_that_pass() {
    assert_eq!(blamed(None), None);
    let cases: [(Pass<Program>, &str); 9] = [
        (planted!("number", reverse), "nothing was written to it"),
        (planted!("sweep", lose), "is never defined"),
        (planted!("gather", reverse), "nothing was written to it"),
        (planted!("late", reverse), "nothing was written to it"),
        (planted!("schedule", reverse), "nothing was written to it"),
        (
            planted!("clauses", |program: &mut Program| draft_of(program).lose_operation()),
            "holds another value behind it",
        ),
        (
            planted!("retarget", |program: &mut Program| draft_of(program).lose_operation()),
            "holds another value behind it",
        ),
        (
            planted!("group", |program: &mut Program| draft_of(program).swap_groups()),
            "holds another value behind it",
        ),
        (
            planted!("temporaries", |program: &mut Program| draft_of(program).swap_groups()),
            "holds another value behind it",
        ),
    ];
    for (planted, expected) in cases {
        let name = planted.name;
        let (pass, message) = blamed(Some(planted)).expect("a fault");
        assert_eq!(pass, name, "{message}");
        assert!(message.contains(expected), "{name}: {message}");
    }
}

fn draft_of(program: &mut Program) -> &mut emit::Draft {
    program.draft.as_mut().expect("registers are given")
}
