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
    /// All bytes of a binding: those in front of what the program sees, what it sees, and those behind.
    pub(crate) fn pieces(&self, program: usize, resource: Resource, element: u32) -> [&[u8]; 3] {
        let seen = match self.bindings[program].get(resource, element) {
            Bound::Image(image) => image.bytes(),
            bound => bound.bytes(),
        };
        match self.around.get(&(program, resource, element)) {
            Some(around) => [&around.before, seen, &around.behind],
            None => [&[], seen, &[]],
        }
    }

    /// The failure of a run. Where the state has other words than gpucc's, what the machine's manual forbids is the caller's
    /// error.
    pub(crate) fn blame(&self, failure: Failure) -> Failure {
        match failure.kind {
            FailureKind::Internal { .. } if !self.words.is_empty() => failure
                .users_own()
                .note("words of the state are those that gpucc_device_set_words was given"),
            _ => failure,
        }
    }

    /// Gives a setting of a program the caller's words.
    fn set_words(&mut self, stage: Option<Stage>, name: &str, words: &[u32]) -> Reply<()> {
        let asked = |program: usize| {
            let made = self.made(program).map(|made| made.compiled.stage);
            made.is_some_and(|own| stage.is_none_or(|stage| stage == own))
        };
        let program = match [asked(0), asked(1)] {
            [true, false] => 0,
            [false, true] => 1,
            _ => return Err(Failure::usage("name the stage of one program of the device")),
        };
        let made = match (program, &mut self.fragment) {
            (1, Some(fragment)) => fragment,
            _ => &mut self.first,
        };
        let Some(made) = &mut Arc::make_mut(made).compiled.binary.program else {
            return Err(Failure::usage("the interpreter has no state"));
        };
        if !made.set_words(name, words)? {
            return Ok(());
        }
        let own = self.own[program].as_ref().and_then(|own| own.compiled.program.as_ref());
        match own.and_then(|own| own.words(name)) == made.words(name) {
            true => self.words.remove(&(program, name.to_owned())),
            false => self.words.insert((program, name.to_owned())),
        };
        Ok(())
    }

    fn set_range(&mut self, place: &gpucc_place, offset: u64, size: u64) -> Reply<()> {
        let found = self.find(place, &[Sort::Buffer])?;
        if let [(program, resource)] = found[..]
            && self.is_one(program, resource, place.element)
        {
            let message = "gpucc_place.stage: both stages have this buffer: name none of them";
            return Err(Failure::usage(message));
        }
        let mut ranges = Vec::new();
        for &(program, resource) in &found {
            let whole = self.pieces(program, resource, place.element).concat();
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
/// gpucc_info.settings. `name` is that of the gpucc_setting; a register has one word, a descriptor has `word_count`. The
/// other kinds are facts of the program and no words of the hardware: they are GPUCC_USAGE. Bits that the setting's mask
/// lacks are the driver's own, and no emulated machine looks at them. Bits within the mask that the emulated machine does not
/// look at are GPUCC_NOT_YET where they change:
/// - r600, r700: registers of units that are not emulated. SQ_PGM_START_* is taken: a driver writes there where the code is.
/// - valhall: all but when depth is tested and written, what the program does to coverage, depth and stencil, how a target
///   takes colours (not its equation), warps of half the width, helper threads, and whether workgroups share a warp.
/// - gen4, g45: of a SURFACE_STATE that is bound all but its type; the SURFACE_STATE of targets, 3DSTATE_DEPTH_BUFFER and the
///   blending of COLOR_CALC_STATE. These come of the image and of the draw.
/// - rogue: PROGRAM_HEADER, and PPP_OUTPUT_SEL and PPP_VARYING0 of a vertex program.
///
/// All other bits of the mask are taken. Words that the manual forbids for the program are GPUCC_USAGE when it runs, with the
/// rule and the place.
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
        device.set_words(stage, &name, &words)?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callback::{Log, User};
    use crate::compiler::gpucc_compiler;
    use crate::device::{gpucc_device_create, gpucc_device_destroy};
    use crate::result::{Made, gpucc_result};
    use gpucc::described::Setting;
    use gpucc::{Choice, Compiler, Options, Source, SourceText, Target};
    use std::ptr::{null, null_mut};
    use std::time::Duration;

    const TEXT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn m() { o[0] = 1u; }";

    fn made() -> gpucc_result {
        let target = Target::by_name("r700").expect("there is one");
        let compiler = Compiler::new(target, None).expect("it has a chip");
        let options = Options::default();
        let parsed = compiler.parse(Source::Wgsl(TEXT), Choice::default(), &options);
        let func = parsed.expect("it is right").entries[0].func.clone().expect("it is right");
        let made = Made {
            compiled: compiler.compile(&func, &options).expect("it fits"),
            compiler: compiler.clone(),
            options,
            source: SourceText::new("m", Some(TEXT.to_owned())),
            warnings: Vec::new(),
            frontend: Duration::ZERO,
            properties: None,
        };
        let log = Log { tell: None, user: User(null_mut()) };
        gpucc_result::new(made, &gpucc_compiler { compiler, log })
    }

    #[test]
    fn a_failure_is_the_callers_as_long_as_the_state_is() {
        let (result, mut place) = (made(), null_mut());
        // SAFETY: they lead to what they say, and the device is used by nobody else.
        let device = unsafe {
            let status = gpucc_device_create(&result, null(), &mut place);
            assert_eq!(status, gpucc_status::GPUCC_OK);
            &mut *place
        };
        let program = device.first.compiled.program.as_ref().expect("r700 has code");
        let mut state = program.compiled().described.state.iter();
        let is_usable = |setting: &Setting| match *setting {
            Setting::Register { value, mask, .. } if mask != 0 => Some((value, mask)),
            _ => None,
        };
        let found = state.find_map(|(name, setting)| Some((name.to_string(), is_usable(setting)?)));
        let (name, (value, mask)) = found.expect("it has registers");
        let other = value ^ (mask & mask.wrapping_neg());
        let kind = |device: &gpucc_device| device.blame(Failure::internal("rule", "what")).kind;
        let ours = FailureKind::Internal { pass: "rule".to_owned() };
        assert_eq!(kind(device), ours);
        for (word, expected) in [
            (value, &ours),
            (other, &FailureKind::Usage),
            (other, &FailureKind::Usage),
            (value, &ours),
        ] {
            device.set_words(None, &name, &[word]).expect("the setting is there");
            assert_eq!(kind(device), *expected, "{name} = {word:#x}");
        }
        // SAFETY: nobody uses it any more.
        unsafe { gpucc_device_destroy(place) };
    }
}
