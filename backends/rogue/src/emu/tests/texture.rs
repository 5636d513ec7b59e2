//! Texture operations by words in registers and texels in memory. 2.9, 4.5.

use super::bench::{Bench, DATA, WAIT};
use crate::emu::Stage::{Compute, Fragment};
use crate::emu::core::Core;
use crate::emu::rule::Rule;

/// Where texels are, from the data's start.
const TEXELS: u64 = 0x400;

/// Words of a texture's state: type, format, size, levels, and whether rows follow each other by so many texels.
struct Words {
    kind: u64,
    format: u64,
    size: [u64; 3],
    levels: u64,
    stride: Option<u64>,
}

impl Words {
    fn state(&self) -> [u32; 4] {
        let swizzle = 1 << 11 | 2 << 8 | 3 << 5;
        let first = (self.size[1] - 1) << 48
            | (self.size[0] - 1) << 34
            | self.format << 27
            | swizzle
            | self.kind;
        let address = (DATA + TEXELS) >> 2 << 16;
        let second = match self.stride {
            Some(stride) => address | (stride - 1),
            None => address | 1 << 15 | (self.size[2] - 1) << 4 | self.levels,
        };
        [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
    }
}

/// A sampler: filters, mip filter, address mode on every axis.
fn sampler(filter: u64, mip: u64, wrap: u64) -> [u32; 4] {
    let word = 959 << 23
        | 4095
        | filter << 36
        | filter << 38
        | mip << 40
        | wrap << 41
        | wrap << 44
        | wrap << 56;
    [word as u32, (word >> 32) as u32, 0, 0]
}

/// A plane of 4 by 4 texels of four bytes: texel (x, y) is x + 16 y in red.
fn plane() -> Words {
    Words { kind: 4, format: 12, size: [4, 4, 1], levels: 1, stride: Some(4) }
}

fn bench(words: &Words, sampler: [u32; 4]) -> Bench {
    let mut bench = Bench::new(Fragment);
    bench.tasks[0].fragments.covered = u32::MAX;
    for (at, word) in words.state().into_iter().chain(sampler).enumerate() {
        bench = bench.share(at, word);
    }
    for y in 0..4u64 {
        for x in 0..4u64 {
            let texel = [(x + 16 * y) as u8, 255, 0, 128];
            bench.memory.write(DATA + TEXELS + 4 * (4 * y + x), &texel).expect("is mapped");
        }
    }
    bench
}

/// A texture operation of these bytes: S0 = sh0, S1 = r16, S2 = sh4, S4 = r0.
fn smp(bytes: &str) -> String {
    let assist = 3 + bytes.split_whitespace().count();
    let used = assist + 5 + 2 + 1;
    let words = used.div_ceil(2);
    let odd = if used % 2 == 1 { " ff" } else { "" };
    format!("{assist:x}{words:x} a0 00 {bytes} 80 70 80 04 88 80 a0 00{odd}")
}

fn unorm(byte: u32) -> u32 {
    (byte as f32 / 255.0).to_bits()
}

#[test]
fn texels_are_loaded_by_number() {
    // smp.2d.fcnorm.nncoords.replace.pplod of four channels, at (lane % 4, lane / 4 % 4), level 0.
    let load = smp("f4 5e 88");
    let mut bench = bench(&plane(), sampler(0, 0, 2))
        .temp(16, |lane| ((lane % 4) as f32).to_bits())
        .temp(17, |lane| ((lane / 4 % 4) as f32).to_bits())
        .temp(18, |_| 0);
    bench.run(&[&load, WAIT]).unwrap_or_else(|trap| panic!("{load}: {trap}"));
    for lane in 0..32 {
        let red = (lane % 4 + 16 * (lane / 4 % 4)) as u32;
        let found = [0, 1, 2, 3].map(|channel| bench.result(channel)[lane]);
        assert_eq!(found, [unorm(red), unorm(255), unorm(0), unorm(128)]);
    }
}

#[test]
fn integers_are_loaded_without_conversion() {
    let load = smp("e4 5e 88");
    let mut bench = bench(&plane(), sampler(0, 0, 2))
        .temp(16, |lane| ((lane % 4) as f32).to_bits())
        .temp(17, |_| 1f32.to_bits())
        .temp(18, |_| 0);
    bench.run(&[&load, WAIT]).expect("runs");
    for lane in 0..32 {
        assert_eq!(bench.result(0)[lane], (lane % 4 + 16) as u32);
        assert_eq!(bench.result(3)[lane], 128);
    }
}

#[test]
fn filters_mix_texels_and_wrap() {
    // smp.2d.fcnorm.replace: halfway between texels 1 and 2 of row 0, and one texture further.
    let sample = smp("f4 5e 80");
    for (wrap, u, red) in [(2u64, 0.5f32, 1.5f32), (0, 1.5, 1.5), (0, 0.0, 1.5), (2, 0.0, 0.0)] {
        let mut bench = bench(&plane(), sampler(1, 0, wrap))
            .temp(16, move |_| u.to_bits())
            .temp(17, |_| 0.125f32.to_bits())
            .temp(18, |_| 0);
        bench.run(&[&sample, WAIT]).expect("runs");
        let found = f32::from_bits(bench.result(0)[3]) * 255.0;
        assert!((found - red).abs() < 0.01, "{wrap} {u}: {found} {red}");
    }
}

#[test]
fn levels_come_from_the_quad_and_lie_one_behind_the_other() {
    // Levels of 4, 2 and 1 texels across, whose bits of row and column take turns: level n is n in green.
    let words = Words { kind: 1, format: 12, size: [4, 4, 1], levels: 3, stride: None };
    let fill = |bench: &mut Bench| {
        for texel in 0..21u64 {
            let level = if texel < 16 {
                0
            } else if texel < 20 {
                1
            } else {
                2u8
            };
            let bytes = [texel as u8, level, 0, 255];
            bench.memory.write(DATA + TEXELS + 4 * texel, &bytes).expect("is mapped");
        }
    };
    let normal = smp("f4 4c");
    for (scale, level) in [(0.25f32, 0u32), (0.5, 1), (1.0, 2), (4.0, 2)] {
        let mut bench = bench(&words, sampler(0, 0, 2))
            .temp(16, move |lane| ((lane % 2) as f32 * scale).to_bits())
            .temp(17, move |lane| ((lane / 2 % 2) as f32 * scale).to_bits());
        fill(&mut bench);
        bench.run(&[&normal, WAIT]).expect("runs");
        assert_eq!(bench.result(1)[0], unorm(level), "{scale}");
    }
    // A texel of level 0 by number: (3, 1) is the bits 1 0 1 1 of row and column by turns.
    let mut bench = bench(&words, sampler(0, 0, 2))
        .temp(16, |_| 3f32.to_bits())
        .temp(17, |_| 1f32.to_bits())
        .temp(18, |_| 0);
    fill(&mut bench);
    bench.run(&[&smp("f4 5e 88"), WAIT]).expect("runs");
    assert_eq!(bench.result(0)[0], unorm(0b1011));
    // In compute no level comes from a quad; in fragments a neighbour must be there.
    let none = || self::bench(&words, sampler(0, 0, 2));
    let mut compute = none().temp(16, |_| 0).temp(17, |_| 0);
    compute.tasks[0].stage = Compute;
    assert_eq!(compute.rule(&[&normal, WAIT]), Some(Rule::Quad));
    let alone = || {
        let mut bench = none();
        bench.tasks[0].temps.set(16, 0, 0);
        bench.tasks[0].temps.set(17, 0, 0);
        bench.tasks[0].executing = 1;
        bench
    };
    alone()
        .run(&[&normal, WAIT])
        .expect("what a neighbour holds that stands elsewhere is far away");
    let mut missing = alone();
    missing.tasks[0].valid = 1;
    assert_eq!(missing.rule(&[&normal, WAIT]), Some(Rule::Quad));
}

#[test]
fn gathers_give_four_texels_and_writes_change_one() {
    // smp.2d.fcnorm.replace.pplod.rawdata of one channel around the corner of texels (1, 1) and (2, 2).
    let mut bench = bench(&plane(), sampler(1, 0, 2))
        .temp(16, |_| 0.5f32.to_bits())
        .temp(17, |_| 0.5f32.to_bits())
        .temp(18, |_| 0);
    bench.run(&[&smp("f4 52 90"), WAIT]).expect("runs");
    let found = [0, 1, 2, 3].map(|texel| bench.result(texel)[7]);
    assert_eq!(found, [17, 18, 33, 34].map(unorm));
    // A write at (lane % 4, 2): u, v, level, then the packed texel.
    let mut bench = self::bench(&plane(), sampler(0, 0, 2))
        .temp(16, |lane| ((lane % 4) as f32).to_bits())
        .temp(17, |_| 2f32.to_bits())
        .temp(18, |_| 0)
        .temp(19, |lane| 0x0403_0201 * (lane as u32 % 4));
    for index in 20..23 {
        bench = bench.temp(index, |_| 0);
    }
    bench.run(&[&smp("f4 de 88 01"), WAIT]).expect("runs");
    for x in 0..4u32 {
        assert_eq!(bench.word(TEXELS + 4 * (8 + u64::from(x))), 0x0403_0201 * x);
    }
    assert_eq!(bench.word(TEXELS + 4 * 12) & 255, 48);
}

#[test]
fn operations_that_break_a_rule() {
    let rule = |words: &Words, filter, bytes: &str| {
        let mut bench = bench(words, filter).temp(16, |_| 0).temp(17, |_| 0).temp(18, |_| 0);
        for index in 19..32 {
            bench = bench.temp(index, |_| 0);
        }
        bench.rule(&[&smp(bytes), WAIT])
    };
    let nearest = sampler(0, 0, 2);
    assert_eq!(rule(&plane(), nearest, "f4 5e 88"), None);
    // Three coordinates of a plane; a format, a texture type and a filter that none has.
    assert_eq!(rule(&plane(), nearest, "f4 7e 88"), Some(Rule::TextureWords));
    let format = Words { format: 127, ..plane() };
    assert_eq!(rule(&format, nearest, "f4 5e 88"), Some(Rule::TextureWords));
    let kind = Words { kind: 7, ..plane() };
    assert_eq!(rule(&kind, nearest, "f4 5e 88"), Some(Rule::TextureWords));
    assert_eq!(rule(&plane(), sampler(3, 0, 2), "f4 5e 88"), Some(Rule::TextureWords));
    // A border without its table; an address without a level's word.
    assert_eq!(rule(&plane(), sampler(0, 0, 4), "f4 5e 88"), Some(Rule::TextureWords));
    assert_eq!(rule(&plane(), nearest, "f4 5c 89"), Some(Rule::TextureData));
    // A filter over texels by number.
    assert_eq!(rule(&plane(), sampler(1, 0, 2), "f4 5e 88"), Some(Rule::Undocumented));
    // Extension C on a core without it.
    let mut old = bench(&plane(), nearest).temp(16, |_| 0).temp(17, |_| 0).temp(18, |_| 0);
    old.core = Core { extended_lookup: false, ..Core::GX6250 };
    let extended = smp("f4 de 88 80 01");
    assert_eq!(old.rule(&[&extended, WAIT]), Some(Rule::TextureFeature));
}

#[test]
fn words_of_chance_end_or_name_a_rule() {
    let mut dice = super::Dice::new(31);
    let mut rules = std::collections::BTreeMap::new();
    let kinds = [
        Words { kind: 1, format: 12, size: [4, 4, 1], levels: 3, stride: None },
        Words { kind: 0, format: 18, size: [16, 1, 1], levels: 1, stride: None },
        Words { kind: 2, format: 28, size: [4, 4, 4], levels: 1, stride: None },
        Words { kind: 3, format: 12, size: [4, 4, 1], levels: 1, stride: None },
        plane(),
    ];
    let operations = [
        "f4 5e 88",
        "f4 4c",
        "f4 3e 80",
        "f4 7e 80",
        "f4 6c",
        "f4 52 90",
        "f4 de 88 01",
        "f4 4f",
        "f4 5e 89",
        "f4 5c 48",
    ];
    for round in 0..6000 {
        let words = &kinds[dice.below(5) as usize];
        let mut bench = bench(words, sampler(dice.below(2), dice.below(2), dice.below(4)));
        bench.seed = round;
        let changed = dice.below(9) as usize;
        if changed < 8 {
            let word = bench.shared.read(changed).expect("is written");
            bench.shared.set(changed, word ^ 1 << dice.below(32));
        }
        for index in 16..32 {
            let value = match dice.below(3) {
                0 => dice.next() as u32,
                1 => (dice.below(8) as f32).to_bits(),
                _ => (dice.below(100) as f32 / 100.0).to_bits(),
            };
            bench = bench.temp(index, move |_| value);
        }
        let operation = operations[dice.below(operations.len() as u64) as usize];
        *rules.entry(bench.rule(&[&smp(operation), WAIT])).or_insert(0) += 1;
    }
    assert!(rules.len() > 4 && rules[&None] > 500, "{rules:?}");
}
