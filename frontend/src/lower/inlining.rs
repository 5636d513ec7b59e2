//! How large an entry point becomes with every call inlined, before anything is inlined.

use super::Result;
use super::flow::INLINED;
use crate::stop::Stop;
use gpucc_ir::budget::{self, Budget};
use naga::{Block, Function, Module, Statement};

/// Refuses an entry point whose statements, those of every function it calls as often as it calls them,
/// are more than the budget has room for: each becomes an instruction or more.
pub fn check(module: &Module, entry: &Function, budget: Budget) -> Result<()> {
    // Functions stand behind those that they call.
    let mut sizes: Vec<u64> = Vec::with_capacity(module.functions.len());
    for (_, function) in module.functions.iter() {
        let size = size(&function.body, &sizes);
        sizes.push(size);
    }
    let needed = size(&entry.body, &sizes);
    budget.hold(INLINED, needed, budget::LOWERED).map_err(Stop::budget)
}

/// Statements of a block, everything inlined; one for the function itself. Code behind a jump is not
/// lowered.
fn size(body: &Block, sizes: &[u64]) -> u64 {
    let mut total = 1u64;
    let mut blocks = vec![body];
    while let Some(block) = blocks.pop() {
        for statement in block.iter() {
            total = total.saturating_add(1);
            match statement {
                Statement::Call { function, .. } => {
                    let callee = sizes.get(function.index()).copied().unwrap_or(0);
                    total = total.saturating_add(callee);
                }
                Statement::Block(inner) => blocks.push(inner),
                Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
                Statement::Switch { cases, .. } => {
                    blocks.extend(cases.iter().map(|case| &case.body));
                }
                Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
                Statement::Break
                | Statement::Continue
                | Statement::Return { .. }
                | Statement::Kill => break,
                _ => {}
            }
        }
    }
    total
}
