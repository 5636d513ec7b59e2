//! Faults of the silicon's ledger (docs/errata.md), planted in the state of programs that the compiler made: the emulator
//! refuses each by the rule that stands beside it.

use super::*;
use crate::emu::Rule;

const PROGRAM: &str = r#"func "main" compute workgroup 1 1 1 trusted {
  res0 = "w" group 0 binding 0 storage 0 stride 4 load store as u32
} body {
  %0: b32 = const 0x0
  buffer_store res0, %0, %0
  yield
}"#;

/// Runs the program, whose number of this name in the state is another one; what the emulator says of it.
fn broken(name: &'static str, number: Option<u32>) -> Option<String> {
    let module = gpucc_ir::ssa::parse(PROGRAM).expect("a module");
    let func = module.funcs.into_iter().next().expect("there is one");
    let mut compiled = crate::compile(func, &crate::Options::default()).expect("it compiles");
    if let Some(number) = number {
        compiled.described.state.set(name, Setting::Number(number));
    }
    let mut machine = Machine::new(&compiled);
    let mut bindings = Bindings::new(&compiled.expanded);
    for (resource, _) in compiled.expanded.resources.iter() {
        bindings.set(resource, Bound::Buffer(vec![0; 16]));
    }
    match machine.dispatch(&mut bindings, [1; 3]) {
        Ok(()) => None,
        Err(Stop::Illegal { message, .. }) => Some(message),
        Err(other) => Some(format!("{other:?}")),
    }
}

#[test]
fn a_driver_that_pads_code_by_less_than_the_state_says_is_refused() {
    assert_eq!(broken(PADDING, None), None);
    for bytes in [0, 16, 127] {
        let said = broken(PADDING, Some(bytes)).expect("a fault");
        assert!(said.contains(Rule::Prefetch.name()), "{said}");
    }
}
