//! State of primitives, pixels and targets by the layouts, with random fields, and what the emulator reads in it.

use super::Dice;
use crate::emu::gpu::pbe::Surface;
use crate::emu::gpu::vertices::{Upload, upload_state};
use crate::emu::gpu::{PixelState, Words};
use crate::emu::memory::Memory;
use crate::emu::rule::Rule;
use crate::emu::texture::state::{Description, sampler};
use crate::words::{self, pixel, ppp, streams, texture};
use gpucc_isa::{Inst, Op};

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

/// ISPCTL, both words A, programs, varyings, uniforms, outputs, two counts.
const HEADER: u32 = 1 | 1 << 1 | 1 << 3 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 17 | 1 << 18 | 1 << 19;
const AT: u64 = 0x1000;

/// What an update of these words leaves.
fn update(words: &[u32]) -> Result<PixelState, Rule> {
    let mut memory = Memory::default();
    memory.map(AT, 4 * words.len()).expect("is free");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(AT, &bytes).expect("is mapped");
    let mut state = PixelState::default();
    state.update(&memory, AT, words.len() as u32).map_err(|(rule, _)| rule)?;
    Ok(state)
}

/// The layouts of the words behind the header; places of programs have none.
fn layouts() -> [Option<&'static Op>; 12] {
    [
        Some(&ppp::ispctl::WORD),
        Some(&ppp::ispa::WORD),
        Some(&ppp::ispa::WORD),
        None,
        None,
        Some(&ppp::sizeinfo1::WORD),
        Some(&ppp::sizeinfo2::WORD),
        None,
        None,
        Some(&ppp::output_sel::WORD),
        Some(&ppp::varying::WORD),
        Some(&ppp::varying::WORD),
    ]
}

#[test]
fn a_header_names_the_words_that_the_layout_says() {
    use ppp::header as h;
    let header = h::word()
        .with(h::ISPCTL, 1)
        .with(h::FRONT_A, 1)
        .with(h::BACK_A, 1)
        .with(h::PDS0, 1)
        .with(h::PDS1, 1)
        .with(h::PDS3, 1)
        .with(h::OUTPUTS, 1)
        .with(h::VARYING0, 1)
        .with(h::VARYING1, 1);
    assert_eq!(header.bits() as u32, HEADER);
}

#[test]
fn state_of_primitives_and_pixels() {
    let (mut dice, mut refused) = (Dice::new(41), 0);
    for _ in 0..2_000 {
        let mut words = vec![HEADER];
        for layout in layouts() {
            words.push(match layout {
                Some(layout) => filled(&mut dice, layout).bits() as u32,
                None => dice.next() as u32 & !15,
            });
        }
        let state = update(&words).expect("a state");
        let found = [
            state.control,
            state.faces[0],
            state.faces[1],
            state.shader,
            state.uniform_code,
            state.sizes[0],
            state.sizes[1],
            state.varyings,
            state.uniforms,
            state.outputs,
            state.counts[0],
            state.counts[1],
        ];
        assert_eq!(found, words[1..]);
        // One other bit: the word is one for both readings or for none.
        let at = dice.below(12) as usize;
        let bit = dice.below(32) as u32;
        words[1 + at] ^= 1 << bit;
        let known = match layouts()[at] {
            Some(layout) => words::decode(layout, words[1 + at].into()).is_ok(),
            None => bit > 3,
        };
        let read = update(&words);
        assert_eq!(read.is_ok(), known, "word {at}, bit {bit}");
        if let Err(rule) = read {
            assert!(matches!(rule, Rule::StreamReserved | Rule::State), "{rule:?}");
            refused += 1;
        }
    }
    assert!(refused > 150, "only {refused} words");
    // A pass type that none is, and an update that is cut.
    assert_eq!(update(&[2, 7 << 24]).err(), Some(Rule::State));
    assert_eq!(update(&[2, 6 << 24, 0]).err(), Some(Rule::State));
    assert!(update(&[2, 6 << 24]).is_ok());
}

#[test]
fn registers_of_targets() {
    use pixel::{reg0, reg1};
    let (mut dice, mut refused) = (Dice::new(42), 0);
    for _ in 0..1_000 {
        let first = filled(&mut dice, &reg0::WORD)
            .with(reg0::TILERELATIVE, 0)
            .with(reg0::SIZE_Z, 0)
            .with(reg0::ROTATION, 0)
            .with(reg0::MEMLAYOUT, 0)
            .with(reg0::TWOCOMP_GAMMA, 0)
            .with(reg0::COMPRESSION, 0)
            .with(reg0::COMPRESS_SIZE, 0)
            .with(reg0::Y_FLIP, 0);
        let second = filled(&mut dice, &reg1::WORD);
        let read = Surface::read([first.bits() as u64, second.bits() as u64, 0]);
        let swizzle = [reg0::SWIZ0, reg0::SWIZ1, reg0::SWIZ2, reg0::SWIZ3];
        let expected = Surface {
            // A field of one less, in units of two pixels.
            stride: 2 * (u64::from(first.get(reg0::LINESTRIDE)) + 1),
            swizzle: swizzle.map(|id| first.get(id)),
            gamma: first.flag(reg0::GAMMA),
            clip: [
                first.get(reg0::MINCLIP_X),
                second.get(reg1::MINCLIP_Y),
                second.get(reg1::MAXCLIP_X),
                second.get(reg1::MAXCLIP_Y),
            ],
        };
        assert_eq!(read, Ok(expected));
        // What the layout has no bit of is refused, and so is what is not built.
        let bits = first.bits() as u64 ^ 1 << dice.below(64);
        let known = words::decode(&reg0::WORD, bits.into());
        match Surface::read([bits, 0, 0]) {
            Err((Rule::State, _)) => {
                assert!(known.is_err(), "{bits:#x}");
                refused += 1;
            }
            Err((Rule::NotBuilt, _)) | Ok(_) => assert!(known.is_ok(), "{bits:#x}"),
            Err(refused) => panic!("{refused:?}"),
        }
    }
    assert!(refused > 60, "only {refused} words");
    assert!(matches!(Surface::read([0, 0, 1 << 47]), Err((Rule::State, _))));
}

/// PDS_STATE of the vertex stream.
#[test]
fn uploads_of_the_vertex_stream() {
    use streams::{vdm_pds0 as a, vdm_pds1 as b, vdm_pds2 as c};
    let (mut dice, mut refused) = (Dice::new(43), 0);
    for _ in 0..1_000 {
        let rows = [&a::WORD, &b::WORD, &c::WORD].map(|row| filled(&mut dice, row));
        let mut bits = rows.map(|row| row.bits() as u32);
        let read = |bits: [u32; 3]| {
            let mut memory = Memory::default();
            memory.map(AT, 8).expect("is free");
            memory.write(AT, &bits[1].to_le_bytes()).expect("is mapped");
            memory.write(AT + 4, &bits[2].to_le_bytes()).expect("is mapped");
            upload_state(bits[0], &mut Words { memory: &memory, at: AT })
        };
        let [first, data, code] = rows;
        let expected = Upload {
            common: 16 * first.get(a::COMMON),
            pds_temps: 4 * first.get(a::PDS_TEMP),
            pds_data: 4 * first.get(a::PDS_DATA),
            data: 16 * data.get(b::DATA_ADDR),
            code: 16 * code.get(c::CODE_ADDR),
        };
        assert_eq!(read(bits), Ok(expected));
        // The block's number is read before.
        let (at, bit) = (dice.below(3) as usize, dice.below(29));
        bits[at] ^= 1 << bit;
        let known = words::decode(rows[at].op(), bits[at].into()).is_ok();
        let found = read(bits).map_err(|(rule, _)| rule);
        assert_eq!(found.is_ok(), known, "word {at}, bit {bit}: {found:?}");
        refused += usize::from(!known);
    }
    assert!(refused > 60, "only {refused} words");
}

/// Textures whose rows follow each other, and second words of samplers.
#[test]
fn rows_of_texels_and_planes() {
    use texture::{image0, sampler0, sampler1, stride_image1 as rows};
    let (mut dice, mut seen) = (Dice::new(44), [0; 2]);
    for _ in 0..1_000 {
        let width = dice.below(1 << 14) as u32;
        let first = image0::word()
            .with(image0::WIDTH, width)
            .with(image0::HEIGHT, dice.below(1 << 14) as u32)
            .with(image0::FORMAT, 24)
            .with(image0::TEXTYPE, 4);
        let second = filled(&mut dice, &rows::WORD).with(rows::ALPHA_MSB, 0);
        let halves = |word: &Inst| [word.bits() as u32, (word.bits() >> 32) as u32];
        let ([a, b], [c, d]) = (halves(&first), halves(&second));
        let read = Description::read(&[a, b, c, d], false, 2).map_err(|(rule, _)| rule);
        let expected = match (second.flag(rows::MIPMAPS_PRESENT), second.get(rows::STRIDE) < width)
        {
            (true, _) => Err(Rule::NotBuilt),
            (false, true) => Err(Rule::TextureWords),
            (false, false) => Ok(second.get(rows::STRIDE) + 1),
        };
        seen[usize::from(expected.is_ok())] += 1;
        assert_eq!(read.as_ref().map(|read| read.stride), expected.as_ref().map(|n| Some(*n)));
        if let Ok(read) = read {
            let address = u64::from(second.get(rows::TEXADDR_HI)) << 32;
            let address = address | u64::from(second.get(rows::TEXADDR_LO));
            assert_eq!((read.width, read.address), (width + 1, address << 2));
        }
        let [a, b] = halves(&sampler0::word());
        let [c, d] = halves(&filled(&mut dice, &sampler1::WORD));
        let read = sampler(&[a, b, c, d], |_| Ok([0; 4])).map_err(|(rule, _)| rule);
        assert_eq!(read.is_ok(), [c, d] == [0; 2]);
    }
    assert!(seen.into_iter().all(|count| count > 100), "{seen:?}");
}
