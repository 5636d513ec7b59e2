//! A pass by name, over SSA or over machine IR, and which passes a caller leaves out.

/// Why a step may change a function.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It changes no result: over SSA `verify` runs the interpreter before and after it, and compares bits.
    Exact,
    /// It uses a freedom that the source language gives; says which, with the section. Results may differ in bits.
    Licence(&'static str),
    /// Operations become others of a stated accuracy, or resources are viewed in another form. Tests beside the
    /// expansion keep the accuracy.
    Expansion,
}

/// A pass by name. `R` is what runs it: a function over SSA ([`crate::Pass`]), a function over a machine's program
/// ([`crate::mach::runner::Pass`]), or nothing, for lists ([`Listed`]).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pass<R> {
    /// Name on the command line.
    pub name: &'static str,
    /// What it makes better, in one line.
    pub doc: &'static str,
    /// Later stages rely on it: it runs without fuel and cannot be skipped.
    pub required: bool,
    /// What shows that it is right.
    pub proof: Proof,
    /// Rewrites what it is given.
    pub run: R,
}

/// A pass as lists show it.
pub type Listed = Pass<()>;

impl<R> Pass<R> {
    /// What lists show of it.
    pub const fn listed(&self) -> Listed {
        Pass { name: self.name, doc: self.doc, required: self.required, proof: self.proof, run: () }
    }
}

/// Which passes a caller leaves out, and whether the last one that it wants has run. It goes from the passes over SSA to
/// those over machine IR.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Passes to leave out.
    pub skip: Vec<String>,
    /// No optional pass runs after the first run of this one.
    pub stop_after: Option<String>,
    /// That pass has run.
    pub stopped: bool,
}

impl Gate {
    /// Whether an optional pass may run.
    pub fn admits(&self, name: &str) -> bool {
        !self.stopped && !self.skip.iter().any(|skip| skip == name)
    }

    /// A pass has run.
    pub fn ran(&mut self, name: &str) {
        self.stopped |= self.stop_after.as_deref() == Some(name);
    }

    /// A pass that is to be left out though later stages rely on it.
    pub fn required(&self, passes: &[Listed]) -> Option<&'static str> {
        let skipped =
            |pass: &&Listed| pass.required && self.skip.iter().any(|skip| skip == pass.name);
        passes.iter().find(skipped).map(|pass| pass.name)
    }
}
