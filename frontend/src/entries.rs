//! Entry points that are lowered one after the other, within one budget.

use crate::stop::Stop;
use crate::{Diagnostic, Limits, Options};
use gpucc_ir::budget::MADE;
use gpucc_ir::ssa::Func;

/// What has been lowered.
#[derive(Default)]
pub struct Entries {
    /// One function per entry point.
    pub funcs: Vec<Func>,
    /// What was inferred, each once.
    pub notes: Vec<Diagnostic>,
    /// Entry points that failed, with their names.
    pub failed: Vec<(String, Stop)>,
    /// Instructions of the entry points before: all are held at once.
    made: u64,
}

impl Entries {
    /// The limits of the next entry point.
    pub fn limits(&self, options: &Options) -> Limits {
        let mut limits = options.limits;
        limits.budget = limits.budget.beside(self.made, MADE);
        limits
    }

    /// Keeps what lowering of the entry point `name` gave.
    ///
    /// # Errors
    /// Its failure, unless [`Options::keep_going`] is set.
    pub fn add(
        &mut self,
        name: &str,
        result: Result<(Func, Vec<Diagnostic>), Stop>,
        options: &Options,
    ) -> Result<(), Stop> {
        match result {
            Ok((func, notes)) => {
                self.made += func.insts.len() as u64;
                self.funcs.push(func);
                for note in notes {
                    if !self.notes.contains(&note) {
                        self.notes.push(note);
                    }
                }
            }
            Err(stop) => {
                let mut stop = stop.with_note(format!("in the entry point `{name}`"));
                let made = self.made;
                if made > 0 && stop.is_limit() {
                    stop = stop.with_note(format!(
                        "the entry points before it have {made} instructions; choose one to compile it alone"
                    ));
                }
                if !options.keep_going {
                    return Err(stop);
                }
                self.failed.push((name.to_owned(), stop));
            }
        }
        Ok(())
    }
}
