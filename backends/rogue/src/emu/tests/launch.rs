//! Words of launches by the layouts, with random fields, and what the emulator reads in them.

use super::Dice;
use crate::emu::gpu::pbe::Emission;
use crate::emu::gpu::pixels::Varying;
use crate::emu::gpu::{Words, compute, vertices};
use crate::emu::memory::Memory;
use crate::emu::pds::{Action, Pds};
use crate::emu::rule::{Refused, Rule};
use crate::emu::texture::state::{Description, sampler};
use crate::words::{self, pds, pixel, streams, texture};
use gpucc_isa::{FieldId, Inst, Op};

/// A word with random values in every field that takes them.
fn filled(dice: &mut Dice, word: &'static Op) -> Inst {
    let mut inst = Inst::new(word);
    for field in word.format.fields().filter(|field| !word.is_fixed(field)) {
        let most = if field.width() == 32 { u32::MAX } else { (1 << field.width()) - 1 };
        let value = dice.next() as u32 & most;
        if field.accepts(value) {
            inst = inst.with(field.id, value);
        }
    }
    inst
}

fn low(inst: &Inst) -> u32 {
    inst.bits() as u32
}

fn halves(inst: &Inst) -> [u32; 2] {
    [low(inst), (inst.bits() >> 32) as u32]
}

fn memory(at: u64, words: &[u32]) -> Memory {
    let mut memory = Memory::default();
    memory.map(at, (4 * words.len()).max(4)).expect("is free");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(at, &bytes).expect("is mapped");
    memory
}

const DATA: u64 = 0x1000;
const CODE: u64 = 0x2000;

/// What a program of one instruction does with these constants.
fn sequenced(constants: &[u32], code: u32) -> Result<Vec<Action>, Refused> {
    let mut memory = memory(DATA, constants);
    memory.map(CODE, 8)?;
    memory.write(CODE, &code.to_le_bytes())?;
    // HALT.
    memory.write(CODE + 4, &low(&pds::sp::word().with(pds::sp::OP, 6)).to_le_bytes())?;
    // Memory that transfers read.
    memory.map(0x10_0000, 0x1_0000)?;
    let mut temps = [None; 32];
    temps[3] = Some(5);
    let mut program = Pds {
        memory: &memory,
        data: DATA,
        constants: constants.len() as u32,
        code: CODE,
        temps,
        persistent: [None; 32],
        count: 32,
        if0: true,
        if1: false,
    };
    program.run(&mut 1_000_000)
}

/// DOUT of the constants 2 and 3, and 4.
fn out(to: u32) -> u32 {
    let word = pds::dout::word().with(pds::dout::DST, to).with(pds::dout::END, 1);
    low(&word.with(pds::dout::SRC0, 1).with(pds::dout::SRC1, 4))
}

fn constants(first: &Inst, second: u32) -> Vec<u32> {
    let [lo, hi] = halves(first);
    vec![0, 0, lo, hi, second, 0]
}

#[test]
fn starts_and_varyings_of_the_sequencer() {
    let mut dice = Dice::new(11);
    for _ in 0..300 {
        use pds::{douti, doutu};
        let start = filled(&mut dice, &doutu::WORD).with(doutu::DUAL_PHASE, 0);
        let action = Action::Start {
            entry: 4 * start.get(doutu::EXE_OFF),
            temps: 4 * start.get(doutu::TEMPS),
            rate: start.get(doutu::SAMPLE_RATE),
        };
        assert_eq!(sequenced(&constants(&start, 0), out(2)), Ok(vec![action]));

        let word = filled(&mut dice, &douti::WORD);
        let done = sequenced(&constants(&word, 0), out(4)).expect("an output");
        let [Action::Iterate { source, set, last }] = done[..] else { panic!("{done:?}") };
        assert_eq!((set, last), (word.get(douti::DEST), word.flag(douti::LAST)));
        let built = [douti::F16, douti::DEPTH_BIAS, douti::WRAP_U, douti::WRAP_V, douti::WRAP_S];
        let other = built.into_iter().any(|id| word.flag(id));
        match Varying::read((source, set)) {
            Err((Rule::NotBuilt, _)) => assert!(other),
            Err((Rule::State, _)) => assert_eq!(word.get(douti::F32_OFF) % 2, 1),
            Err(refused) => panic!("{refused:?}"),
            Ok(varying) => {
                assert!(!other);
                assert_eq!(2 * varying.first, word.get(douti::F32_OFF));
                // SIZE holds one less.
                assert_eq!(varying.count, word.get(douti::SIZE) + 1);
                assert_eq!(varying.perspective, word.flag(douti::PERSPECTIVE));
                let shade = word.get(douti::SHADE_MODEL);
                assert_eq!(varying.flat, (shade < 3).then_some(shade as usize));
                assert_eq!(varying.set, set as usize);
                assert_eq!(varying.point, word.flag(douti::POINT_SPRITE));
                assert_eq!(varying.primitive, word.flag(douti::PRIMITIVE_ID));
            }
        }
    }
}

#[test]
fn transfers_of_the_sequencer() {
    let mut dice = Dice::new(12);
    for _ in 0..300 {
        use pds::{ddmad, ddmad_to, doutd, doutd_to, doutw_to};
        let (at, count) = (0x10_0000 + 4 * dice.below(999) as u32, dice.below(64) as u32);
        let from = filled(&mut dice, &doutd::WORD)
            .with(doutd::SBASE_LO, at)
            .with(doutd::SBASE_HI, 0)
            .with(doutd::DOFFSET, 0);
        let to = filled(&mut dice, &doutd_to::WORD)
            .with(doutd_to::BSIZE, count)
            .with(doutd_to::REPEAT, 0)
            .with(doutd_to::WORDSIZE, 0);
        let done = sequenced(&constants(&from, low(&to)), out(0)).expect("a transfer");
        let [Action::Words { common, register, words, last }] = &done[..] else { panic!() };
        assert_eq!(*common, to.flag(doutd_to::DEST));
        assert_eq!(*register, to.get(doutd_to::A0));
        assert_eq!(words.len(), count as usize);
        assert_eq!(*last, to.flag(doutd_to::LAST));

        // The temporary 3 is 5, the factor 12, and the base 60 below.
        let wide = filled(&mut dice, &ddmad_to::WORD)
            .with(ddmad_to::BSIZE, count)
            .with(ddmad_to::REPEAT, 0)
            .with(ddmad_to::WORDSIZE, 0)
            .with(ddmad_to::TEST, 0);
        let [lo, hi] = halves(&wide);
        let code = ddmad::word()
            .with(ddmad::END, 1)
            .with(ddmad::SRC0, 0)
            .with(ddmad::SRC1, 3)
            .with(ddmad::SRC2, 1)
            .with(ddmad::SRC3, 2);
        let done = sequenced(&[12, 0, at - 60 + 120, 0, lo, hi], low(&code)).expect("a transfer");
        let [Action::Words { common, register, words, last }] = &done[..] else { panic!() };
        assert_eq!(*common, wide.flag(ddmad_to::DEST));
        assert_eq!(*register, wide.get(ddmad_to::A0));
        assert_eq!(words.len(), count as usize);
        assert_eq!(*last, wide.flag(ddmad_to::LAST));

        let to = filled(&mut dice, &doutw_to::WORD);
        let to = to.with(doutw_to::A0, to.get(doutw_to::A0) & !1);
        let done = sequenced(&[0, 0, 7, 8, low(&to), 0], out(1)).expect("words");
        let [Action::Words { common, register, words, last }] = &done[..] else { panic!() };
        let sizes: [&[u32]; 4] = [&[7], &[8], &[7, 8], &[]];
        assert_eq!(words, sizes[to.get(doutw_to::BSIZE) as usize]);
        assert_eq!(*register, to.get(doutw_to::A0));
        assert_eq!((*common, *last), (to.flag(doutw_to::DEST), to.flag(doutw_to::LAST)));
    }
}

/// A word is an instruction of the sequencer for both readings or for none.
#[test]
fn instructions_of_the_sequencer() {
    let instructions = [
        &pds::dout::WORD,
        &pds::ddmad::WORD,
        &pds::add32::WORD,
        &pds::add64::WORD,
        &pds::mad::WORD,
        &pds::cmp::WORD,
        &pds::bra::WORD,
        &pds::sp::WORD,
        &pds::limm::WORD,
        &pds::sftlp32::WORD,
    ];
    let (mut dice, mut seen) = (Dice::new(13), [0; 2]);
    for _ in 0..4_000 {
        let row = instructions[dice.below(10) as usize];
        let mut word = low(&filled(&mut dice, row));
        if dice.below(2) == 0 {
            word ^= 1 << dice.below(32);
        }
        let known = |op: &&&'static Op| words::decode(op, word.into()).is_ok();
        let known = instructions.iter().any(|op| known(&op));
        // The operands of outputs are words of their own: zeros are in order.
        let found = sequenced(&[0; 128], word).err().map(|refused| refused.0);
        match found {
            Some(Rule::PdsCode) => assert!(!known, "{word:#010x}"),
            // What nobody has made public, whether it has a layout or not.
            Some(Rule::Undocumented) => {}
            found => assert!(known, "{word:#010x}: {found:?}"),
        }
        seen[usize::from(known)] += 1;
    }
    assert!(seen[0] > 300 && seen[1] > 500, "{seen:?}");
}

#[test]
fn kernels_of_the_compute_stream() {
    use streams as s;
    let mut dice = Dice::new(14);
    for _ in 0..500 {
        let first = filled(&mut dice, &s::cdm_kernel0::WORD)
            .with(s::cdm_kernel0::EVENT, 0)
            .with(s::cdm_kernel0::OFFSETS, 0)
            .with(s::cdm_kernel0::INDIRECT, 0);
        let data = filled(&mut dice, &s::cdm_kernel1::WORD);
        let code = filled(&mut dice, &s::cdm_kernel2::WORD);
        let groups = [dice.next() as u32 >> 1, dice.next() as u32 >> 1, 0];
        let size = filled(&mut dice, &s::cdm_kernel8::WORD);
        let words = [low(&data), low(&code), groups[0], groups[1], groups[2], low(&size)];
        let memory = memory(DATA, &words);
        let mut read = Words { memory: &memory, at: DATA };
        let kernel = compute::kernel(low(&first), &mut read).expect("a kernel");
        let get = |id: FieldId| first.get(id);
        assert_eq!(kernel.fence, first.flag(s::cdm_kernel0::FENCE));
        assert_eq!(kernel.uploads, data.flag(s::cdm_kernel1::COMMON_SHARED));
        assert_eq!(kernel.common, 16 * get(s::cdm_kernel0::COMMON));
        assert_eq!(u32::from(kernel.inputs), 4 * get(s::cdm_kernel0::UNIFIED));
        assert_eq!(kernel.pds_temps, 4 * get(s::cdm_kernel0::PDS_TEMP));
        assert_eq!(kernel.pds_data, 4 * get(s::cdm_kernel0::PDS_DATA));
        assert_eq!(kernel.data, 16 * data.get(s::cdm_kernel1::DATA_ADDR));
        assert_eq!(kernel.code, 16 * code.get(s::cdm_kernel2::CODE_ADDR));
        assert_eq!(kernel.groups, groups.map(|count| count + 1));
        let fields = [s::cdm_kernel8::X, s::cdm_kernel8::Y, s::cdm_kernel8::Z];
        assert_eq!(kernel.size, fields.map(|id| size.get(id) + 1));
        assert_eq!(read.at, DATA + 24);
    }
}

/// Words with one other bit, which a layout refuses: the emulator does too.
fn reserved(
    dice: &mut Dice,
    words: &[&Inst],
    read: impl Fn(u32, &mut Words<'_>) -> Result<(), Refused>,
) -> usize {
    let (at, bit) = (dice.below(words.len() as u64) as usize, 1 << dice.below(29));
    let mut bits: Vec<u32> = words.iter().map(|word| low(word)).collect();
    bits[at] ^= bit;
    if words::decode(words[at].op(), bits[at].into()).is_ok() {
        return 0;
    }
    let memory = memory(DATA, &bits[1..]);
    let found = read(bits[0], &mut Words { memory: &memory, at: DATA });
    let found = found.err().map(|refused| refused.0);
    let known = matches!(found, Some(Rule::StreamReserved | Rule::Stream));
    assert!(known, "{} {:#010x}: {found:?}", words[at].op().name, bits[at]);
    1
}

#[test]
fn reserved_bits_of_streams() {
    use streams as s;
    let (mut dice, mut seen) = (Dice::new(18), 0);
    for _ in 0..2_000 {
        let first = filled(&mut dice, &s::cdm_kernel0::WORD)
            .with(s::cdm_kernel0::EVENT, 0)
            .with(s::cdm_kernel0::OFFSETS, 0)
            .with(s::cdm_kernel0::INDIRECT, 0);
        let data = filled(&mut dice, &s::cdm_kernel1::WORD);
        let code = filled(&mut dice, &s::cdm_kernel2::WORD);
        let zero = s::cdm_groups::word();
        let size = filled(&mut dice, &s::cdm_kernel8::WORD);
        seen += reserved(
            &mut dice,
            &[&first, &data, &code, &zero, &zero, &zero, &size],
            |first, words| compute::kernel(first, words).map(|_| ()),
        );
        let first = filled(&mut dice, &s::vdm_state0::WORD)
            .with(s::vdm_state0::CUT_PRESENT, 1)
            .with(s::vdm_state0::DATA_PRESENT, 1)
            .with(s::vdm_state0::OTHER_PRESENT, 1);
        let rows = [
            &s::vdm_state1::WORD,
            &s::vdm_state2::WORD,
            &s::vdm_state3::WORD,
            &s::vdm_state4::WORD,
            &s::vdm_state5::WORD,
        ];
        let [cut, data, code, size, last] = rows.map(|row| filled(&mut dice, row));
        let words = [&first, &cut, &data, &code, &size, &last];
        seen += reserved(&mut dice, &words, |first, words| {
            vertices::vertex_state(first, words).map(|_| ())
        });
        let first = filled(&mut dice, &s::vdm_index_list::WORD)
            .with(s::vdm_index_list::INDIRECT_PRESENT, 0)
            .with(s::vdm_index_list::SPLIT_PRESENT, 0);
        let mut words = vec![&first];
        words.extend([&zero; 6]);
        seen +=
            reserved(&mut dice, &words, |first, words| vertices::list(first, words).map(|_| ()));
    }
    assert!(seen > 300, "only {seen} words");
}

#[test]
fn programs_and_lists_of_the_vertex_stream() {
    use streams as s;
    let mut dice = Dice::new(15);
    for _ in 0..500 {
        let first = filled(&mut dice, &s::vdm_state0::WORD)
            .with(s::vdm_state0::CUT_PRESENT, 1)
            .with(s::vdm_state0::DATA_PRESENT, 1)
            .with(s::vdm_state0::OTHER_PRESENT, 1);
        let rows = [
            &s::vdm_state1::WORD,
            &s::vdm_state2::WORD,
            &s::vdm_state3::WORD,
            &s::vdm_state4::WORD,
            &s::vdm_state5::WORD,
        ];
        let [cut, data, code, size, last] = rows.map(|row| filled(&mut dice, row));
        let words = [&cut, &data, &code, &size, &last].map(low);
        let memory = memory(DATA, &words);
        let mut read = Words { memory: &memory, at: DATA };
        let vertex = vertices::vertex_state(low(&first), &mut read).expect("a program");
        let enabled = first.flag(s::vdm_state0::CUT_ENABLE);
        assert_eq!(vertex.cut, enabled.then_some(cut.get(s::vdm_state1::CUT_INDEX)));
        assert_eq!(vertex.flat, first.get(s::vdm_state0::FLATSHADE));
        assert_eq!(vertex.data, 16 * data.get(s::vdm_state2::DATA_ADDR));
        assert_eq!(vertex.code, 16 * code.get(s::vdm_state3::CODE_ADDR));
        assert_eq!(vertex.size, size.get(s::vdm_state4::OUTPUT_SIZE));
        assert_eq!(u32::from(vertex.inputs), 4 * last.get(s::vdm_state5::UNIFIED));
        assert_eq!(vertex.pds_temps, 4 * last.get(s::vdm_state5::PDS_TEMP));
        assert_eq!(vertex.pds_data, 4 * last.get(s::vdm_state5::PDS_DATA));
        index_list(&mut dice);
    }
}

fn index_list(dice: &mut Dice) {
    use streams::vdm_index_list as l;
    let first = filled(dice, &l::WORD).with(l::INDIRECT_PRESENT, 0).with(l::SPLIT_PRESENT, 0);
    let numbers = [11, 12, 13, 14, 15, 16];
    let memory = memory(DATA, &numbers);
    let mut read = Words { memory: &memory, at: DATA };
    let list = vertices::list(low(&first), &mut read).expect("a list");
    let mut rest = numbers.into_iter();
    let mut next = |there: bool, other| if there { rest.next().expect("a number") } else { other };
    let address = next(first.flag(l::ADDR_PRESENT), 0);
    let place = u64::from(first.get(l::BASE_HI)) << 32 | u64::from(address);
    let bytes = 1 << first.get(l::INDEX_SIZE);
    assert_eq!(list.indices, first.flag(l::ADDR_PRESENT).then_some((place, bytes)));
    assert_eq!(list.topology, first.get(l::TOPOLOGY));
    assert_eq!(list.count, next(first.flag(l::COUNT_PRESENT), 0));
    assert_eq!(list.instances, next(first.flag(l::INSTANCES_PRESENT), 1));
    assert_eq!(list.offset, next(first.flag(l::OFFSET_PRESENT), 0));
    assert_eq!(list.start, next(first.flag(l::START_PRESENT), 0));
    assert_eq!(list.start_instance, next(first.flag(l::START_PRESENT), 0));
}

#[test]
fn textures_and_samplers() {
    use texture::{image0, image1, sampler0};
    let (mut dice, mut seen) = (Dice::new(16), 0);
    for _ in 0..2_000 {
        let first = filled(&mut dice, &image0::WORD)
            .with(image0::FORMAT, 12)
            .with(image0::GAMMA, 0)
            .with(image0::MINLOD, 0);
        let second = filled(&mut dice, &image1::WORD)
            .with(image1::ALPHA_MSB, 0)
            .with(image1::COMPRESSION, 0);
        let ([a, b], [c, d]) = (halves(&first), halves(&second));
        let kind = first.get(image0::TEXTYPE);
        let Some(dimensions) = [1, 2, 3, 3].get(kind as usize) else { continue };
        let read = Description::read(&[a, b, c, d], true, *dimensions);
        let mapped = second.flag(image1::MIPMAPS_PRESENT);
        let levels = if mapped { second.get(image1::LEVELS) } else { 1 };
        if levels == 0 {
            assert!(read.is_err());
            continue;
        }
        let read = read.expect("a texture");
        seen += 1;
        assert_eq!(read.width, first.get(image0::WIDTH) + 1);
        let height = if kind == 0 { 1 } else { first.get(image0::HEIGHT) + 1 };
        assert_eq!(read.height, height);
        assert_eq!(read.depth, second.get(image1::DEPTH) + 1);
        assert_eq!((read.levels, read.samples), (levels, 1 << first.get(image0::SMPCNT)));
        assert_eq!(read.base_level, second.get(image1::BASELEVEL));
        let address = u64::from(second.get(image1::TEXADDR_HI)) << 32;
        assert_eq!(read.address, (address | u64::from(second.get(image1::TEXADDR_LO))) << 2);
        let names = ["src0", "src1", "src2", "src3", "one", "zero"];
        let swizzles = [image0::SWIZ0, image0::SWIZ1, image0::SWIZ2, image0::SWIZ3];
        for (own, id) in read.swizzle.into_iter().zip(swizzles) {
            use crate::emu::texture::state::Swizzle;
            let name = match own {
                Swizzle::Component(at) => names[usize::from(at)],
                Swizzle::One => "one",
                Swizzle::Zero => "zero",
            };
            assert_eq!(name, names[first.get(id) as usize]);
        }
    }
    assert!(seen > 500, "only {seen} textures");
    for _ in 0..300 {
        let word = filled(&mut dice, &sampler0::WORD)
            .with(sampler0::CMP_MODE, 0)
            .with(sampler0::LUMAKEY, 0)
            .with(sampler0::LUMAKEY_ALPHA, 0)
            .with(sampler0::ANISOCTL, 0)
            .with(sampler0::NON_NORM, 0);
        let [a, b] = halves(&word);
        let asked = std::cell::Cell::new(None);
        let border = |index| {
            asked.set(Some(index));
            Ok([0; 4])
        };
        let Ok(read) = sampler(&[a, b, 0, 0], border) else {
            let ids = [sampler0::ADDRMODE_U, sampler0::ADDRMODE_V, sampler0::ADDRMODE_W];
            let clamped = ids.into_iter().any(|id| word.get(id) == 5);
            let bicubic = [sampler0::MINFILTER, sampler0::MAGFILTER].map(|id| word.get(id));
            assert!(clamped || bicubic.contains(&2));
            continue;
        };
        use gpucc_emu::sampler::Wrap;
        let modes = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp, Wrap::MirrorOnce, Wrap::Border];
        let ids = [sampler0::ADDRMODE_U, sampler0::ADDRMODE_V, sampler0::ADDRMODE_W];
        assert_eq!(read.wrap, ids.map(|id| modes[word.get(id) as usize]));
        let bordered = read.wrap.contains(&Wrap::Border);
        assert_eq!(asked.get(), bordered.then_some(word.get(sampler0::BORDER_INDEX)));
        assert_eq!(read.lod_min, word.get(sampler0::MINLOD) as f32 / 64.0);
        assert_eq!(read.lod_max, word.get(sampler0::MAXLOD) as f32 / 64.0);
        assert_eq!(read.lod_bias, (word.get(sampler0::DADJUST) as f32 - 4095.0) / 256.0);
        use gpucc_emu::sampler::{Filter, MipFilter};
        let filters = [Filter::Nearest, Filter::Linear];
        assert_eq!(read.min, filters[word.get(sampler0::MINFILTER) as usize]);
        assert_eq!(read.mag, filters[word.get(sampler0::MAGFILTER) as usize]);
        assert_eq!(read.mip == MipFilter::Linear, word.flag(sampler0::MIPFILTER));
    }
}

#[test]
fn states_of_the_pixel_back_end() {
    use pixel::{state0, state1};
    let mut dice = Dice::new(17);
    for _ in 0..500 {
        let first = filled(&mut dice, &state0::WORD);
        let second = filled(&mut dice, &state1::WORD)
            .with(state1::YUV_PMODE, 0)
            .with(state1::DOWNSCALE, 0)
            .with(state1::EMPTYTILE, 0);
        let read = Emission::read([low(&first), low(&second)]).expect("a state");
        let address = u64::from(second.get(state1::ADDRESS_HI)) << 32;
        assert_eq!(read.address, (address | u64::from(first.get(state0::ADDRESS_LO))) << 2);
        let beyond = 4 * second.get(state1::SOURCE_POS_128);
        assert_eq!(read.source as u32, second.get(state1::SOURCE_POS) + beyond);
        assert_eq!(read.halves, second.get(state1::SOURCE_FORMAT) == 0);
        assert_eq!(read.normal, second.flag(state1::NORM));
        assert_eq!(read.pack, second.get(state1::PACKMODE));
        assert_eq!(read.target as u32, second.get(state1::MRT_INDEX));
    }
}
