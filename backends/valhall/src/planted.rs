//! Faults that are planted behind real passes over machine IR: the runner names the pass.

use super::*;
use crate::isa::f;
use crate::{abi, lower};
use gpucc_ir::mach::Inst as _;
use gpucc_passes::mach::Control;
use runner::Pass;

const SHADER: &str = include_str!("planted/loop.ir");

/// The pass that the runner blames when one of [`PASSES`] is another; none when the program comes out whole.
fn blamed(planted: Option<Pass<Binary>>) -> Option<(&'static str, String)> {
    let options = Options::default();
    let mut module = gpucc_ir::ssa::parse(SHADER).expect("a module");
    let func = module.funcs.remove(0);
    let abi = abi::Abi::of(&func, &options).expect("bindings fit");
    let lowered = lower::lower(&func, &abi, lower::Part::Whole).expect("it lowers");
    let part = Part {
        func: lowered.func,
        fau: lowered.fau.into_iter().collect(),
        private_bytes: lowered.tls_bytes,
    };
    let mut binary = Binary::new(vec![part], func.stage, options.budget);
    let control = Control { verify_each: true, ..Control::default() };
    let mut runner = Runner::new(&control);
    let name = planted.as_ref().map(|pass| pass.name);
    let passes = PASSES.iter().map(|pass| match &planted {
        Some(planted) if name == Some(pass.name) => planted,
        _ => pass,
    });
    match runner.run(passes, &mut binary) {
        Ok(()) => None,
        Err(Failure::Internal { pass, message }) => Some((pass, message)),
        Err(other) => panic!("{other}"),
    }
}

/// The real pass of this name.
fn real(name: &str, binary: &mut Binary) -> Result<(), Failure> {
    let pass = PASSES.iter().find(|pass| pass.name == name);
    (pass.expect("a pass of this name").run)(binary)
}

/// Removes the first instruction that writes a register.
fn lose(binary: &mut Binary) {
    let func = &mut binary.funcs[0];
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        let writes = |inst: &Inst| inst.op().is_some_and(|op| !op.dst.is_empty());
        if let Some(at) = nodes.iter().position(|node| writes(&node.inst)) {
            nodes.remove(at);
            return;
        }
    }
    panic!("something is computed");
}

/// Puts the first instruction that reads what the one before it writes in front of that one.
fn reverse(binary: &mut Binary) {
    let func = &mut binary.funcs[0];
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

/// Takes the flow out of every instruction: nothing waits any more.
fn hurry(binary: &mut Binary) {
    let func = &mut binary.funcs[0];
    for block in func.layout.clone() {
        for node in &mut func.blocks[block].nodes {
            if let Inst::Op(op) = &mut node.inst {
                op.word = op.word.with(f::FLOW, 0);
            }
        }
    }
}

macro_rules! planted {
    ($name:literal, $fault:expr) => {
        required($name, "", |binary| {
            real($name, binary)?;
            $fault(binary);
            Ok(())
        })
    };
}

#[test]
fn a_fault_behind_a_pass_is_named_by_that_pass() {
    assert_eq!(blamed(None), None);
    let cases: [(Pass<Binary>, &str); 5] = [
        (planted!("dead", lose), "is never defined"),
        (planted!("skip_helpers", reverse), "nothing was written to it"),
        (planted!("constants", lose), "is never defined"),
        (planted!("schedule", reverse), "nothing was written to it"),
        (planted!("flow", hurry), "instruction"),
    ];
    for (planted, expected) in cases {
        let name = planted.name;
        let (pass, message) = blamed(Some(planted)).expect("a fault");
        assert_eq!(pass, name, "{message}");
        assert!(message.contains(expected), "{name}: {message}");
    }
}
