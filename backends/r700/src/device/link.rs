//! Which export is which output, and which parameter which input: read from the registers' words.

use super::Machine;
use super::words::{declared, differs, semantic};
use crate::emu::{Launched, PixelBatch, model};
use gpucc_emu::device::{GARBAGE, Stop};
use gpucc_emu::draw::QuadBatch;
use gpucc_ir::ssa::{Input, InputKind, Output, OutputKind};
use gpucc_machine::described::{Export, InputPlace, OutputPlace, Setting, StageOutput};
use std::collections::BTreeMap;

/// Number of an export kind. See [`emu::Export`].
pub(super) const fn kind(export: Export) -> u32 {
    match export {
        Export::Pixel | Export::Depth => 0,
        Export::Position => 1,
        Export::Parameter => 2,
    }
}

/// An output's export.
#[derive(Copy, Clone)]
pub(super) struct Slot {
    pub output: Output,
    pub components: u32,
    pub export: Export,
    pub index: u32,
    channel: u32,
}

pub(super) fn slot_of(told: &StageOutput) -> Option<Slot> {
    let OutputPlace::Export { export, index, channel, .. } = told.place else {
        return None;
    };
    Some(Slot { output: told.output?, components: told.components, export, index, channel })
}

impl Machine {
    /// The export of each output of the report: parameters by what SPI_VS_OUT_ID says, the others by their numbers.
    pub(super) fn exports(&self) -> Result<Vec<u32>, Stop> {
        let registers = self.registers();
        let of = |slot: Slot| match self.func().outputs[slot.output].kind {
            OutputKind::Location { location, .. } if slot.export == Export::Parameter => {
                model::parameter_of(&registers, semantic(location)).ok_or_else(|| {
                    let message = format!("no parameter has the semantic of location {location}");
                    differs("SPI_VS_OUT_ID", message)
                })
            }
            _ => Ok(slot.index),
        };
        self.slots().map(of).collect()
    }

    pub(super) fn registers(&self) -> BTreeMap<u32, u32> {
        let state = self.compiled.described.state.iter();
        state
            .filter_map(|(_, setting)| match *setting {
                Setting::Register { address, value, .. } => Some((address, value)),
                _ => None,
            })
            .collect()
    }

    /// What a thread exported, by the function's outputs; `exports` says where.
    pub(super) fn outputs(
        &self,
        launched: &Launched,
        exports: &[u32],
        thread: usize,
    ) -> Vec<[u32; 4]> {
        let mut outputs = vec![[0; 4]; self.func().outputs.len()];
        for (slot, &number) in self.slots().zip(exports) {
            let Some(export) = launched.export(kind(slot.export), number) else {
                continue;
            };
            let words = &mut outputs[slot.output.as_u32() as usize];
            let components = slot.components.min(4) as usize;
            for (component, word) in words.iter_mut().enumerate().take(components) {
                let channel = slot.channel as usize + component;
                let written = channel < 4 && export.written[thread] >> channel & 1 == 1;
                // What the program owes and does not export is anything.
                *word = if written { export.values[thread][channel] } else { GARBAGE };
            }
        }
        outputs
    }

    /// The batch as the interpolator has it: a parameter for each location, by its semantic.
    pub(super) fn pixels(&self, batch: &QuadBatch) -> Result<PixelBatch, Stop> {
        let mut pixels = PixelBatch::default();
        let order: Vec<(Input, u32)> = self
            .func()
            .inputs
            .iter()
            .filter_map(|(input, data)| match data.kind {
                InputKind::Location { location, .. } => Some((input, location)),
                InputKind::Builtin(_) | InputKind::Corner { .. } => None,
            })
            .collect();
        let entries = model::input_entries(&self.registers());
        // `(varying, parameter, channel, components)` of each input that the program reads.
        let mut reads = Vec::new();
        for (input, slot) in self.inputs() {
            let varying = order.iter().position(|&(other, _)| other == input);
            let &InputPlace::Channel { register: Some(_), channel } = &slot.place else {
                continue;
            };
            let Some(varying) = varying else { continue };
            let semantic = semantic(order[varying].1);
            let data = &self.func().inputs[input];
            declared(&data.kind, &entries, semantic)?;
            let own = match data.kind {
                InputKind::Location { sampling, .. } => (semantic, sampling),
                InputKind::Builtin(_) | InputKind::Corner { .. } => continue,
            };
            let known = pixels.semantics.iter().position(|&known| known == own);
            let parameter = known.unwrap_or(pixels.semantics.len());
            if known.is_none() {
                pixels.semantics.push(own);
                pixels.components.push(0);
            }
            let (channel, components) = (channel as usize, usize::from(data.components));
            let end = (channel + components).min(4) as u8;
            pixels.components[parameter] = pixels.components[parameter].max(end);
            reads.push((varying, parameter, channel, components));
        }
        let count = pixels.semantics.len();
        for (index, quad) in batch.quads.iter().enumerate() {
            pixels.covered.push(quad.covered);
            pixels.front.push(quad.front);
            for pixel in 0..4 {
                let [x, y, z, reciprocal] = quad.position[pixel];
                // The unit gives w, the language 1/w. isa/r700.md 2.1.
                pixels.position.push([x, y, z, 1.0 / reciprocal]);
                pixels.point.push(quad.point[pixel]);
                pixels.sample.push(quad.sample());
                let mut words = vec![[0; 4]; count];
                for &(varying, parameter, channel, components) in &reads {
                    let value = batch.varying(index, pixel, varying);
                    let count = components.min(4 - channel);
                    words[parameter][channel..channel + count].copy_from_slice(&value[..count]);
                }
                pixels.parameters.extend(words);
            }
        }
        Ok(pixels)
    }
}
