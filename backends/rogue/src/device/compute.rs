//! Workgroups by a control stream: an upload of shared registers, the kernel, a fence. isa/rogue-pipeline.md 4.3, 5.2.

use super::Machine;
use super::heap::{BOTH, DOUTC_END, DOUTU, DOUTW, HALT, HIGH, Heap, LOW, TEMP_PAIR};
use super::heap::{dout, start, transfer};
use crate::abi::{ARRIVED, GROUP_COUNT, GROUP_ID, MET};
use crate::describe::{COEFFICIENTS, INPUTS, SHAREDS, TEMPS};
use gpucc_emu::device::{Stop, invocations};
use gpucc_emu::world::Bindings;

/// Instances of a task.
const TASK: u32 = 32;
/// The end of a stream.
const TERMINATE: u32 = 2 << 30;

/// The seven words of a kernel. 5.2.
fn kernel(
    sizes: [u32; 4],
    flags: u32,
    [data, code]: [u32; 2],
    groups: [u32; 3],
    width: u32,
) -> [u32; 7] {
    let [common, inputs, temps, constants] = sizes;
    let fence = flags & 1;
    let first = common.div_ceil(16) << 18
        | inputs.div_ceil(4) << 12
        | temps.div_ceil(4) << 8
        | constants.div_ceil(4) << 2
        | fence;
    let [x, y, z] = groups.map(|count| count - 1);
    [first, data | flags & !1, code, x, y, z, (width - 1) << 18]
}

/// K1: the kernel uploads shared registers; it starts a program that has some. 5.2.
const UPLOADS: u32 = 2;
const HAS_SHARED: u32 = 2 << 2;
const FENCE: u32 = 1;

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
        let mut stream = Vec::new();
        if !shared.is_empty() {
            let [data, code, constants] = heap.upload(&shared)?;
            let sizes = [self.number(SHAREDS), 0, 4, constants];
            stream.extend(kernel(sizes, UPLOADS, [data, code], [1; 3], 1));
        }
        let [x, y, z] = groups;
        let [entry, temps] = start(0, self.number(TEMPS));
        let (id, count) = (u32::from(GROUP_ID), u32::from(GROUP_COUNT));
        let constants = [
            entry,
            temps,
            transfer(BOTH, id, true, false),
            transfer(HIGH, id + 2, true, false),
            transfer(LOW, 0, false, true),
            0,
            x,
            y,
            z,
            0,
            transfer(BOTH, count, true, false),
            transfer(LOW, count + 2, true, false),
            transfer(LOW, ARRIVED.into(), true, false),
            transfer(LOW, MET.into(), true, true),
            0,
            0,
        ];
        let data = heap.put_pds(&constants)?;
        // A coefficient task runs the next seven words, instances those behind.
        let bra = 0xc000_0000 | 2 << 24 | 1 << 23 | 8 << 19 | 8;
        let code = [
            bra,
            dout(0, 0, 2, TEMP_PAIR, DOUTW),
            dout(0, 0, 3, TEMP_PAIR + 1, DOUTW),
            dout(0, 0, 10, 3, DOUTW),
            dout(0, 0, 11, 4, DOUTW),
            dout(0, 0, 12, 7, DOUTW),
            dout(0, 0, 13, 7, DOUTW),
            HALT,
            dout(0, 0, 4, TEMP_PAIR, DOUTW),
            dout(1, 1, 0, 0, DOUTU),
            HALT,
        ];
        let code = heap.put_pds(&code)?;
        let sizes = [self.number(COEFFICIENTS), self.number(INPUTS), 4, constants.len() as u32];
        let flags = if shared.is_empty() { 0 } else { HAS_SHARED };
        let width = flat.next_multiple_of(TASK);
        stream.extend(kernel(sizes, flags, [data, code], groups, width));
        let fence = heap.put_pds(&[DOUTC_END, HALT, 0, 0])?;
        stream.extend(kernel([0, 0, 4, 4], FENCE, [fence, fence], [1; 3], 1));
        stream.push(TERMINATE);
        let at = heap.put_stream(&stream)?;
        let ran = self.run(|run| heap.gpu.compute(at, run));
        heap.read_back(bindings)?;
        ran
    }
}
