//! Pixels: what the interpolator hands over, and what blending and the tests get.

use super::{LOCATION, Machine};
use crate::emu::{self, PixelVarying, Pixels, QuadStart, Sampled};
use gpucc_emu::device::FragmentOut;
use gpucc_emu::draw::QuadBatch;
use gpucc_ir::ssa::numerics::{f16_to_f64, f64_to_f16};
use gpucc_ir::ssa::{InputKind, Interpolation, Sampling, Scalar};
use gpucc_machine::described::{Memory, OutputPlace};

impl Machine {
    /// The batch as the interpolator has it.
    pub(super) fn pixels(&self, batch: &QuadBatch) -> Pixels {
        let mut pixels = Pixels { preload: self.program(0).preload, ..Pixels::default() };
        // abi-valhall: State. A program that needs no neighbours gets none.
        pixels.helpers = self.program_word(0).is_none_or(|word| word >> 28 & 1 == 1);
        for quad in &batch.quads {
            pixels.quads.push(QuadStart {
                covered: quad.covered,
                front: quad.front,
                at: [quad.x, quad.y],
                primitive: quad.primitive,
                depth_w: quad.position.map(|p| [p[2], p[3]]),
                point: quad.point,
                masks: [0, 1, 2, 3].map(|pixel| quad.mask(pixel)),
                sample: quad.sample(),
            });
        }
        for slot in &self.compiled.described.inputs {
            let Some(input) = slot.input else { continue };
            let data = &self.func().inputs[input];
            let InputKind::Location { location, .. } = data.kind else {
                continue;
            };
            let offset = LOCATION * location;
            let Some(varying) = self.varying_of(input) else {
                continue;
            };
            let half = data.scalar == Scalar::F16;
            let linear = slot.interpolation == Some(Interpolation::Linear);
            let sampled = match slot.sampling {
                Some(Sampling::Centroid) => Sampled::Centroid,
                Some(Sampling::Sample) => Sampled::Sample,
                _ => Sampled::Center,
            };
            let same = |own: &PixelVarying| own.offset == offset && own.sampled == sampled;
            let known = pixels.varyings.iter().position(same);
            let place = match known {
                Some(place) => place,
                None => {
                    pixels.varyings.push(PixelVarying {
                        offset,
                        half,
                        flat: slot.interpolation == Some(Interpolation::Flat),
                        sampled,
                        values: vec![[0; 4]; 4 * batch.quads.len()],
                    });
                    pixels.varyings.len() - 1
                }
            };
            let values = &mut pixels.varyings[place].values;
            for (n, value) in values.iter_mut().enumerate() {
                let words = batch.varying(n / 4, n % 4, varying);
                // v9 interpolates with perspective: the plane times w. abi-valhall: Vertex.
                let w = 1.0 / batch.quads[n / 4].position[n % 4][3];
                for k in 0..usize::from(data.components).min(4) {
                    value[k] = match (half, linear) {
                        (false, false) => words[k],
                        (false, true) => (f32::from_bits(words[k]) * w).to_bits(),
                        (true, false) => words[k] & 0xFFFF,
                        (true, true) => {
                            let wide = f16_to_f64(words[k] as u16) * f64::from(w);
                            u32::from(f64_to_f16(wide))
                        }
                    };
                }
            }
        }
        for slot in self.outs() {
            if let OutputPlace::Blend { index: target, source, .. } = slot.place {
                let needed = &mut pixels.needed[target as usize & 7];
                if source == 0 {
                    *needed = slot.components;
                }
                pixels.dual |= source == 1;
            }
        }
        pixels
    }

    pub(super) fn pixel_out(&self, pixel: &emu::PixelOut, covered: bool) -> FragmentOut {
        let mut outputs = vec![[0; 4]; self.func().outputs.len()];
        for slot in self.outs() {
            let data = &self.func().outputs[slot.output];
            let words = &mut outputs[slot.output.as_u32() as usize];
            match slot.place {
                OutputPlace::Blend { index: target, source, .. } => {
                    let handed = pixel.colors.get(&(target as u8, source as u8));
                    if let Some(colour) = handed {
                        *words = *colour;
                        if data.scalar == Scalar::F16 {
                            for word in words.iter_mut() {
                                let value = f64::from(f32::from_bits(*word));
                                *word = u32::from(f64_to_f16(value));
                            }
                        }
                    }
                }
                OutputPlace::Single { place: Memory::Depth } => words[0] = pixel.depth.unwrap_or(0),
                OutputPlace::Single { place: Memory::Stencil } => {
                    words[0] = pixel.stencil.unwrap_or(0);
                }
                OutputPlace::Single { place: Memory::Coverage } => {
                    words[0] = pixel.coverage.unwrap_or(0)
                }
                _ => {}
            }
        }
        // A mask of nothing and a discard leave the same coverage, and the same nothing.
        FragmentOut { discarded: covered && (pixel.killed || pixel.coverage == Some(0)), outputs }
    }
}
