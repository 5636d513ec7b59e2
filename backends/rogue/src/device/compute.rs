//! Workgroups by a control stream: an upload of shared registers, the kernel, a fence. isa/rogue-pipeline.md 4.3, 5.2.

use super::heap::Heap;
use super::{Machine, fill};
use crate::state::{CDM, FENCE, KERNEL_CODE, KERNEL_DATA};
use gpucc_emu::device::{Stop, invocations};
use gpucc_emu::world::Bindings;

/// The words of a kernel, and which of them hold its programs and how many workgroups there are.
const KERNEL: usize = 7;
const DATA: usize = 1;
const CODE: usize = 2;
const GROUPS: usize = 3;
/// The words of a kernel's data that hold how many workgroups there are.
const COUNTS: usize = 2;

impl Machine {
    /// Runs a dispatch.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn workgroups(
        &mut self,
        bindings: &mut Bindings,
        groups: [u32; 3],
    ) -> Result<(), Stop> {
        let size = self.compiled.described.dispatch.map_or([1; 3], |told| told.workgroup_size);
        let flat = size.iter().fold(1u32, |all, &n| all.saturating_mul(n));
        if invocations(groups, flat)? == 0 {
            return Ok(());
        }
        let mut heap = Heap::new(self)?;
        let shared = heap.bind(self, bindings)?;
        let mut stream = self.words(CDM)?;
        let mut at = 0;
        if !shared.is_empty() {
            let [data, code] = heap.upload(self, &shared)?;
            fill(&mut stream, DATA, data)?;
            fill(&mut stream, CODE, code)?;
            at = KERNEL;
        }
        // The code of the core begins at the base of its heap.
        let mut constants = self.words(KERNEL_DATA)?;
        for (axis, count) in groups.into_iter().enumerate() {
            fill(&mut constants, COUNTS + axis, count)?;
            fill(&mut stream, at + GROUPS + axis, count - 1)?;
        }
        let data = heap.put_pds(constants.words())?;
        let code = heap.put_pds(self.words(KERNEL_CODE)?.words())?;
        fill(&mut stream, at + DATA, data)?;
        fill(&mut stream, at + CODE, code)?;
        let fence = heap.put_pds(self.words(FENCE)?.words())?;
        fill(&mut stream, at + KERNEL + CODE, fence)?;
        let at = heap.put_stream(stream.words())?;
        let ran = self.run(|run| heap.gpu.compute(at, run));
        heap.read_back(bindings)?;
        ran
    }
}
