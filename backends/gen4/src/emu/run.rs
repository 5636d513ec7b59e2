//! What bounds a run, and who listens to it.

/// A run: its steps are shared by all threads of a batch.
pub struct Run<'a> {
    /// Instructions that may still be executed.
    pub steps: &'a mut u64,
    /// Takes a line an instruction.
    pub trace: Option<&'a mut dyn FnMut(&str)>,
}
