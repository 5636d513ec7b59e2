//! Vertices by a control stream of draws. isa/rogue-pipeline.md 4.1, 5.3.

use super::Machine;
use gpucc_emu::device::{Stop, VertexOut, VertexRun};
use gpucc_emu::world::Bindings;

impl Machine {
    /// Runs vertices.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn points(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let _ = (bindings, run);
        Err(Stop::TooLarge("vertices".into()))
    }
}
