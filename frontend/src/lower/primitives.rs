//! What geometry shaders say of themselves: checked once for SPIR-V and GLSL.

use super::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::{Corners, Emits, Geometry, MAX_EMITTED, MAX_INVOCATIONS};

/// The parts of a [`Geometry`], as far as a text says them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub takes: Option<Corners>,
    pub emits: Option<Emits>,
    pub most: Option<u32>,
    pub invocations: Option<u32>,
}

impl Said {
    /// All of it. One invocation is what a text need not say.
    ///
    /// # Errors
    /// What is missing, and more than a program may have.
    pub fn whole(&self) -> Result<Geometry> {
        let missing = |what: &str| Stop::invalid(format!("a geometry shader does not say {what}"));
        let takes = self.takes.ok_or_else(|| missing("which primitives it takes"))?;
        let emits = self.emits.ok_or_else(|| missing("which primitives it emits"))?;
        let most = self.most.ok_or_else(|| missing("how many vertices it emits at most"))?;
        let invocations = self.invocations.unwrap_or(1);
        if invocations == 0 {
            return Err(Stop::invalid("a geometry shader has no invocations"));
        }
        for (what, needed, most, hint) in [
            ("vertices of a geometry shader", most, MAX_EMITTED, "emit fewer vertices"),
            ("invocations of a geometry shader", invocations, MAX_INVOCATIONS, "use fewer of them"),
        ] {
            if needed > most {
                return Err(Stop::limit(what, needed.into(), most.into(), hint));
            }
        }
        Ok(Geometry { takes, emits, most, invocations })
    }
}
