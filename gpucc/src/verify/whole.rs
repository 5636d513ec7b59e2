//! The second proof of colours of which a program leaves less than their words: the same entry point compiled without targets
//! leaves all of them. It runs other bytes than those of the first proof.

use super::{Plan, Summary, Whole, plan};
use crate::compiler::{Compiled, Compiler, Options};
use crate::{Failure, SourceText};
use gpucc_ir::ssa::OutputKind;
use gpucc_machine::Kept;

/// Proves the whole words of a program that packs its colours, where the machine has room for them. The runs take at most the
/// steps that the first proof left. Where that one is no proof, nothing is owed.
///
/// # Errors
/// As of [`super::verify`].
pub(super) fn prove(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    asked: &Plan,
    summary: &mut Summary,
) -> Result<(), Failure> {
    // Targets have nothing to do with what is left of other outputs.
    let color = |kept: &Kept| {
        let data = compiled.ssa.outputs.get(kept.output);
        data.is_some_and(|data| matches!(data.kind, OutputKind::Location { .. }))
    };
    let packs = compiled.program.as_ref().is_some_and(|program| program.kept().iter().any(color));
    if !packs || !summary.holds() {
        return Ok(());
    }
    let mut options = Options { keep_steps: false, dump_after: Vec::new(), ..options.clone() };
    options.pipeline.fragment = None;
    let whole = match compiler.compile(super::original(compiled), &options) {
        Ok(whole) => whole,
        // A machine may have room for packed colours alone.
        Err(failure) if matches!(failure.exit_code(), 3 | 4 | 6) => {
            summary.whole = Whole::Skipped(failure.summary().to_owned());
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    // Orders and errors of functions were tried, and passes compared.
    let steps = asked.steps.saturating_sub(summary.taken);
    let asked = Plan { orders: 0, errors: 0, pass_inputs: 0, steps, ..*asked };
    let found = plan(compiler, &whole, source, &options, &asked)?;
    summary.mismatches += found.mismatches;
    summary.first = found.first.clone().map(|mut first| {
        first.who += " without targets";
        first
    });
    summary.whole = Whole::Tried(Box::new(found));
    Ok(())
}
