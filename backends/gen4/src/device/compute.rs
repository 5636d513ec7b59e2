//! Workgroups by the media pipeline in generic mode: an object for each, which is a root thread. isa/gen4-pipeline.md 6.

use super::chip::Chip;
use super::{Machine, scratch, surfaces};
use crate::describe::{INTERFACE, VFE};
use crate::emu::Model;
use gpucc_emu::device::{Stop, invocations};
use gpucc_emu::world::Bindings;

/// Objects that are sent in one batch.
const OBJECTS: usize = 512;
/// Bytes of scratch of all threads that are in flight together, as far as there is more than one.
const SCRATCH: u32 = 1 << 19;

/// All groups in the order in which threads start.
fn groups_of([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

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
        invocations(groups, size.iter().fold(1u32, |all, &n| all.saturating_mul(n)))?;
        let mut chip = self.chip();
        let described = (&self.compiled.expanded, &self.compiled.described);
        let tables = surfaces::bind(&mut chip, described, bindings, &[])?;
        let program = chip.put_program(&self.compiled.code)?;
        let most = match chip.model {
            Model::I965 | Model::Gm965 => 32,
            Model::G45 => 50,
        };
        let bytes = scratch(self.word(VFE, 0));
        let count = groups.iter().fold(1u32, |all, &n| all.saturating_mul(n));
        let threads = (SCRATCH / bytes).min(count).clamp(1, most);
        let memory = chip.map(threads * bytes, 1024)?;
        let interface = [0, 1, 2, 3].map(|at| self.word(INTERFACE, at));
        let [d0, d1, d2, d3] = interface;
        let interface =
            chip.put_words(&[d0 | program, d1, d2 | tables.samplers, d3 | tables.surfaces])?;
        // An entry of two rows for each thread: a row of inline data.
        let front =
            [self.word(VFE, 0) | memory, self.word(VFE, 1) | (threads - 1) << 25 | threads << 9];
        let front = chip.put_words(&[front[0], front[1], interface])?;
        let constants = self.constants(bindings, groups, None);
        let units = Chip::constant_units(constants.len());
        chip.begin(true);
        chip.fence([None, None, None, None, Some(threads), Some(threads + units)]);
        chip.constants(&constants)?;
        chip.command(&[0x7000_0001, 0, front]);
        let all: Vec<[u32; 3]> = groups_of(groups).collect();
        let mut number = 0;
        for part in all.chunks(OBJECTS) {
            for [x, y, z] in part {
                chip.command(&[0x7100_000a, 0, 0, 0]);
                chip.command(&[*x, *y, *z, number, groups[0], groups[1], groups[2], 0]);
                number += 1;
            }
            let ran = self.run(|run| chip.submit(run));
            if ran.is_err() {
                tables.read_back(&mut chip, bindings)?;
                return ran;
            }
        }
        tables.read_back(&mut chip, bindings)
    }
}
