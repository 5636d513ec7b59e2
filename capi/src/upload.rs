//! What a driver changes between two draws: ranges of push constants, dynamic offsets, words of the state.

use crate::abi::{self, Reply, gpucc_bytes, gpucc_text};
use crate::device::{Sort, gpucc_device, gpucc_place, least};
use crate::entry::entry;
use crate::handle::change;
use crate::status::gpucc_status;
use gpucc::{Failure, FailureKind, Stage};
use gpucc_emu::world::Bound;
use gpucc_ir::ssa::{Resource, ResourceKind};
use std::sync::Arc;

/// What lies around the bytes of a buffer that a program sees.
#[derive(Default)]
pub(crate) struct Around {
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl gpucc_device {
    /// All bytes of a binding: those that the program sees, and those around them.
    pub(crate) fn whole(&self, program: usize, resource: Resource, element: u32) -> Vec<u8> {
        let seen = match self.bindings[program].get(resource, element) {
            Bound::Image(image) => image.bytes(),
            bound => bound.bytes(),
        };
        match self.around.get(&(program, resource, element)) {
            Some(around) => [&around.before, seen, &around.behind].concat(),
            None => seen.to_vec(),
        }
    }

    /// The failure of a run. Where the caller made the state, what the machine's manual forbids is the caller's error.
    pub(crate) fn blame(&self, failure: Failure) -> Failure {
        match failure.kind {
            FailureKind::Internal { .. } if self.has_words => {
                Failure::usage(failure.summary().to_owned())
                    .note("words of the state are those that gpucc_device_set_words was given")
            }
            _ => failure,
        }
    }

    fn set_range(&mut self, place: &gpucc_place, offset: u64, size: u64) -> Reply<()> {
        let found = self.find(place, &[Sort::Buffer])?;
        if let [(program, resource)] = found[..]
            && self.alike.iter().any(|pair| pair[program] == resource && !self.apart.contains(pair))
        {
            let message = "gpucc_place.stage: both stages have this buffer: name none of them";
            return Err(Failure::usage(message));
        }
        let mut ranges = Vec::new();
        for &(program, resource) in &found {
            let whole = self.whole(program, resource, place.element);
            let left = (whole.len() as u64).checked_sub(offset);
            let size = if size == 0 { left.unwrap_or(0) } else { size };
            let Some(end) = offset.checked_add(size).filter(|&end| end <= whole.len() as u64)
            else {
                let message = format!("the range ends behind the buffer of {} bytes", whole.len());
                return Err(Failure::usage(message));
            };
            let kind = self.kind(program, resource);
            let needed = least(kind) as u64;
            if matches!(kind, ResourceKind::Immediate { .. })
                || !offset.is_multiple_of(4)
                || size < needed
            {
                let message = format!(
                    "a range is of a buffer, begins at a multiple of 4, and has at least {needed} bytes here"
                );
                return Err(Failure::usage(message));
            }
            ranges.push((whole, offset as usize, end as usize));
        }
        for (&(program, resource), (mut whole, start, end)) in found.iter().zip(ranges) {
            let behind = whole.split_off(end);
            let seen = whole.split_off(start);
            self.around
                .insert((program, resource, place.element), Around { before: whole, behind });
            self.bindings[program].set_element(resource, place.element, Bound::Buffer(seen));
        }
        Ok(())
    }

    fn push(&mut self, stage: Option<Stage>, offset: usize, data: &[u8]) -> Reply<()> {
        let mut found = false;
        for program in 0..2 {
            let Some(made) = self.made(program) else { continue };
            if stage.is_some_and(|stage| stage != made.compiled.stage) {
                continue;
            }
            let mut resources = made.compiled.ssa.resources.iter();
            let is_it = resources
                .find(|(_, data)| matches!(data.kind, ResourceKind::Immediate { .. }))
                .map(|(resource, _)| resource);
            let Some(resource) = is_it else { continue };
            found = true;
            if let Some(Bound::Buffer(bytes)) = self.bindings[program].get_mut(resource, 0) {
                // What is beyond belongs to the other stage.
                let places = bytes.get_mut(offset..).unwrap_or_default();
                places.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
            }
        }
        match found {
            true => Ok(()),
            false => Err(Failure::usage("no program has push constants")),
        }
    }
}

/// Lets programs see `size` bytes of a bound buffer from byte `offset` on: the dynamic offset of a descriptor. 0 is all that
/// there is behind the offset. Code does not depend on it: a driver adds the offset to the base address wherever
/// gpucc_info has the binding, in its slots and its driver constants, and takes the range's size for that of the buffer.
/// What is bound anew has no range.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_set_range(
    device: *mut gpucc_device,
    place: *const gpucc_place,
    offset: u64,
    size: u64,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, place) = unsafe { (change(device, "device")?, abi::read(place)?) };
        device.set_range(&place, offset, size)?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Overwrites push constants from byte `offset` on, as vkCmdPushConstants does: those of `stage`, a gpucc_stage, or of each
/// stage that has some. Bytes beyond what a program declares are dropped.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_push(
    device: *mut gpucc_device,
    stage: u32,
    offset: u32,
    data: gpucc_bytes,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, data) = unsafe { (change(device, "device")?, abi::bytes(data, "data")?) };
        let stage = crate::input::stage(stage, "gpucc_device_push: stage")?;
        device.push(stage, offset as usize, data)?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Gives a setting of a program the words that a driver made of it: dispatches and draws take these in place of
/// gpucc_info.settings. `name` is that of the gpucc_setting; a register and a number have one word, a descriptor has
/// `word_count`. Bits that the setting's mask lacks are the driver's own, and no emulated machine looks at them. Words that
/// the manual forbids for the program are GPUCC_USAGE when it runs.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_set_words(
    device: *mut gpucc_device,
    stage: u32,
    name: gpucc_text,
    words: *const u32,
    word_count: usize,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, name, words) = unsafe {
            let words = abi::numbers(words, word_count, 1 << 12, "words")?;
            (change(device, "device")?, abi::text(name, "name")?, words)
        };
        let stage = crate::input::stage(stage, "gpucc_device_set_words: stage")?;
        let programs = [Some(&mut device.first), device.fragment.as_mut()];
        let asked = |stage: Option<Stage>, own| stage.is_none_or(|stage| stage == own);
        let mut programs =
            programs.into_iter().flatten().filter(|made| asked(stage, made.compiled.stage));
        let (Some(made), None) = (programs.next(), programs.next()) else {
            return Err(Failure::usage("name the stage of one program of the device"));
        };
        match &mut Arc::make_mut(made).compiled.binary.program {
            Some(program) => program.set_words(&name, &words)?,
            None => return Err(Failure::usage("the interpreter has no state")),
        }
        device.has_words = true;
        Ok(gpucc_status::GPUCC_OK)
    })
}
