//! The second proof of colours of which a program leaves less than their words: the same entry point compiled without targets
//! leaves all of them.

use super::{Plan, Summary, plan};
use crate::compiler::{Compiled, Compiler, Options};
use crate::{Failure, SourceText};

/// Proves the whole words of a program that packs its colours, where the machine has room for them. What is compared counts with the rest.
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
    let packs = compiled.program.as_ref().is_some_and(|program| !program.kept().is_empty());
    if !packs || summary.mismatches > 0 {
        return Ok(());
    }
    let mut options = Options { keep_steps: false, dump_after: Vec::new(), ..options.clone() };
    options.pipeline.fragment = None;
    let original = compiled.steps.first().map_or(&compiled.ssa, |step| &step.func);
    let whole = match compiler.compile(original, &options) {
        Ok(whole) => whole,
        // A machine may have room for packed colours alone.
        Err(failure) if matches!(failure.exit_code(), 3 | 6) => return Ok(()),
        Err(failure) => return Err(failure),
    };
    // Orders and errors of functions were tried, and passes compared.
    let asked = Plan { orders: 0, errors: 0, pass_inputs: 0, ..*asked };
    let found = plan(compiler, &whole, source, &options, &asked)?;
    summary.words += found.words;
    summary.owed += found.owed;
    summary.proved += found.proved;
    summary.racy_words += found.racy_words;
    summary.mismatches += found.mismatches;
    if summary.first.is_none() {
        summary.first = found.first.map(|mut first| {
            first.who += " without targets";
            first
        });
    }
    Ok(())
}
