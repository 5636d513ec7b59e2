//! How often values are read.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Value};

/// Readers by value.
pub type Uses = SecondaryMap<Value, u32>;

/// How often each value is read.
pub fn uses(func: &Func) -> Uses {
    let mut uses = Uses::new();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                uses[arg] += 1;
            }
        }
    }
    uses
}
