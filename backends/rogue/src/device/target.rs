//! The end of a tile by the state words of its targets: pixels of quads become texels in memory. isa/rogue-pipeline.md 4.6.

use super::heap::{Heap, refused};
use super::{Machine, fill, untold};
use crate::color::Color;
use crate::describe::OUTPUT_REGISTERS;
use crate::emu::{Pixel, Render, Shaded, TargetState};
use crate::state::{EOT_CODE, EOT_DATA, EOT_PROGRAM, PBE_REGISTERS, PBE_STATE};
use gpucc_emu::device::Stop;
use gpucc_ir::ssa::Scalar;
use gpucc_ir::ssa::numerics::half_bits;

/// Texels that lie in memory of their own: a row of them.
struct Row {
    color: Color,
    address: u64,
}

/// The number of an output, and its words in each pixel.
pub(super) type Texels = (usize, Vec<[u32; 4]>);

impl Machine {
    /// The colours that the program packs.
    fn colors(&self) -> Vec<Color> {
        let registers = self.number(OUTPUT_REGISTERS) as u16;
        let compiled = &self.compiled;
        crate::color::colors(&compiled.expanded, &compiled.pipeline, registers)
    }

    /// What the colours of pixels are in their targets: for each colour its output, and the words of each pixel. A pixel that does not
    /// live leaves zeros.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn targets(
        &mut self,
        heap: &mut Heap,
        shaded: &[(&Shaded, bool)],
    ) -> Result<Vec<Texels>, Stop> {
        let colors = self.colors();
        if colors.is_empty() {
            return Ok(Vec::new());
        }
        let count = shaded.len() as u32;
        let program = heap.put_code(self.words(EOT_PROGRAM)?.words())?;
        let mut data = self.words(EOT_DATA)?;
        fill(&mut data, 0, program)?;
        let mut rows = Vec::new();
        let mut targets = Vec::new();
        for (at, color) in colors.into_iter().enumerate() {
            let bytes = (color.format.bytes() * count) as usize;
            let address = heap.put(&vec![0; bytes])?;
            let mut state = self.words(&format!("{PBE_STATE} {}", color.location))?;
            // The address counts words.
            fill(&mut state, 0, (address >> 2) as u32)?;
            fill(&mut state, 1, (address >> 34) as u32)?;
            for (word, bits) in state.words().iter().enumerate() {
                fill(&mut data, 2 + 2 * at + word, *bits)?;
            }
            let mut registers = self.words(&format!("{PBE_REGISTERS} {}", color.location))?;
            // The last column; there is one row.
            fill(&mut registers, 3, count - 1)?;
            let words = registers.words();
            let pair = |at: usize| {
                let [low, high] = [at, at + 1].map(|at| words.get(at).copied().unwrap_or(0));
                u64::from(low) | u64::from(high) << 32
            };
            let index = color.location as usize & 7;
            targets.resize(targets.len().max(index + 1), [0; 3]);
            targets[index] = [pair(0), pair(2), pair(4)];
            rows.push(Row { color, address });
        }
        let constants = data.words().len() as u32;
        let (data, code) =
            (heap.put_pds(data.words())?, heap.put_pds(self.words(EOT_CODE)?.words())?);
        let shared = 2 * rows.len() as u32;
        let state = TargetState { program: (data, constants, code), targets, shared };
        let empty = Pixel { outputs: [Some(0); 8], depth: 1.0, stencil: 0 };
        let mut render = Render::new(count, 1, empty);
        for (pixel, (shaded, lives)) in render.pixels.iter_mut().zip(shaded) {
            if *lives {
                pixel.outputs = shaded.outputs;
            }
        }
        self.run(|run| heap.gpu.end(&state, &render, run))?;
        rows.iter().map(|row| self.texels(heap, row, count)).collect()
    }

    /// The texels of a row, as words of the output.
    fn texels(&self, heap: &mut Heap, row: &Row, count: u32) -> Result<Texels, Stop> {
        let Row { color, address } = row;
        let func = &self.compiled.expanded;
        let half = func.outputs[color.output].scalar == Scalar::F16;
        let size = color.format.bytes() as usize;
        let bytes = heap.gpu.memory().read(*address, size * count as usize).map_err(refused)?;
        let texels = bytes.chunks_exact(size).map(|texel| {
            let words = color.format.decode(texel);
            match half {
                true => words.map(half_bits),
                false => words,
            }
        });
        let index = func.outputs.keys().position(|output| output == color.output);
        let index = index.ok_or_else(|| untold("a colour that is no output".into()))?;
        Ok((index, texels.collect()))
    }
}
