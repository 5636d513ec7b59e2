//! Machine IR that is given as text, for [`Machine::run_passes`](crate::Machine::run_passes).

use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Func, Inst, ParseError};
use gpucc_ir::ssa::Stage;

/// A program as machine IR, and what its text does not say.
#[derive(Copy, Clone, Debug)]
pub struct Excerpt<'a> {
    /// The function, as the machine prints it.
    pub text: &'a str,
    /// The stage of its shader.
    pub stage: Stage,
}

/// Why passes have made nothing of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// It is no machine IR.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// It is machine IR that breaks an invariant, or that these passes do not take.
    #[error("{0}")]
    Broken(String),
    /// The names of the passes are none, or in another order.
    #[error("{0}")]
    Passes(String),
    /// What a pass says.
    #[error(transparent)]
    Failure(#[from] Failure),
}

/// Asks of a function that all its registers are cells, or that none is.
///
/// # Errors
/// [`TextError::Broken`] for another register.
pub fn holds_registers<I: Inst>(func: &Func<I>, allocated: bool) -> Result<(), TextError> {
    let nodes = func.layout.iter().flat_map(|&block| &func.blocks[block].nodes);
    let mut wrong = None;
    for node in nodes {
        node.inst.operands(&mut |operand| {
            if operand.reg.as_phys().is_some() != allocated {
                wrong.get_or_insert(operand.reg);
            }
        });
    }
    match (wrong, allocated) {
        (None, _) => Ok(()),
        (Some(reg), true) => {
            Err(TextError::Broken(format!("these passes take cells, and {reg:?} is none")))
        }
        (Some(reg), false) => Err(TextError::Broken(format!(
            "these passes take virtual registers, and {reg:?} is a cell"
        ))),
    }
}
