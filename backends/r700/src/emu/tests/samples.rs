//! Texture instructions on one quad, on both families: a 2x2 image of floats, two levels, every value worked out by hand.

use super::build::*;
use super::r600::{of, r600_state, zeros};
use crate::Chip;
use crate::api::Family;
use crate::emu::AluOp::{KILLE_INT, KILLGT_INT};
use crate::emu::{FetchResource, PixelBatch, Rule, Stage, State, Trap, address, run_pixels};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{Compare, Filter, Sampler};
use gpucc_ir::ssa::Dim;

const CHIPS: [Chip; 2] = [Chip::Rv770, Chip::Rv670];

/// Level 0 is 1, 2 / 3, 4 in x; level 1 is 10. Resource 1; 3 is a cube of two layers whose faces hold their number.
fn state(chip: Chip) -> State {
    let mut state = r600_state(chip);
    state.stage = Stage::Pixel;
    state.registers.insert(address::SQ_PGM_RESOURCES_PS, 8 | 4 << 8 | 1 << 21);
    let extent = Extent { levels: 2, ..Extent::plane(2, 2) };
    let mut image = Image::new(Format::Rgba32Float, extent).expect("fits");
    let mut put = |x, y, level, value: f32| {
        let at = Texel { x, y, level, ..Texel::default() };
        image.store(at, [value.to_bits(), 0, 0, 0]);
    };
    for (n, (x, y)) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate() {
        put(x, y, 0, n as f32 + 1.0);
    }
    put(0, 0, 1, 10.0);
    let mut flat = Image::new(Format::Rgba32Float, Extent::plane(2, 2)).expect("fits");
    flat.store(Texel::default(), [1f32.to_bits(), 0, 0, 0]);
    state.resources.insert(1, FetchResource::Texture(image));
    state.resources.insert(2, FetchResource::Texture(flat));
    let cubes = Extent { dim: Dim::Cube, layers: 12, ..Extent::plane(1, 1) };
    {
        let mut image = Image::new(Format::Rgba32Float, cubes).expect("fits");
        for layer in 0..12 {
            let at = Texel { layer, ..Texel::default() };
            image.store(at, [(layer as f32).to_bits(), 0, 0, 0]);
        }
        state.resources.insert(3, FetchResource::Texture(image));
    }
    state.samplers.insert(0, Sampler::default());
    state.samplers.insert(1, Sampler { mag: Filter::Linear, ..Sampler::default() });
    state.samplers.insert(2, Sampler { compare: Some(Compare::Less), ..Sampler::default() });
    state
}

/// What pixel 0 exported as colour 0 after these instructions; R0 is the pixel's coordinate, steps of 0.5 from 0.25, and
/// (level or bias) 1 in w.
fn colour(list: &[Cf], state: &mut State) -> Result<[u32; 4], Trap> {
    let mut all = list.to_vec();
    all.push(export(true, 0, 0, 1, [0, 1, 2, 3], true));
    let place = |n: u32| 0.25 + 0.5 * n as f32;
    let batch = PixelBatch {
        covered: vec![0b1111],
        front: vec![true],
        position: vec![[0.5, 0.5, 0.0, 1.0]; 4],
        point: vec![],
        sample: vec![],
        components: vec![4],
        parameters: (0..4)
            .map(|n| [place(n & 1), place(n >> 1), 0.0, 1.0].map(f32::to_bits))
            .collect(),
        semantics: Vec::new(),
    };
    let launched = run_pixels(&link(&all), state, &batch, None)?;
    Ok(launched.export(0, 0).expect("exported").values[0])
}

/// A texture instruction R1 from R0, normalised, with its resource and sampler.
fn tex(op: u32, resource: u32, sampler: u32, select: [u32; 4]) -> [u32; 4] {
    let [x, y, z, w] = select;
    [
        op | resource << 8,
        1 | 1 << 12 | 2 << 15 | 3 << 18 | 15 << 28,
        sampler << 15 | x << 20 | y << 23 | z << 26 | w << 29,
        0,
    ]
}

const XYZW: [u32; 4] = [0, 1, 2, 3];

fn first(op: u32, resource: u32, sampler: u32, select: [u32; 4], chip: Chip) -> f32 {
    let list = [Cf::Fetch(1, vec![tex(op, resource, sampler, select)])];
    let found = colour(&list, &mut state(chip));
    f32::from_bits(found.unwrap_or_else(|trap| panic!("{op}: {trap}"))[0])
}

#[test]
pub fn samples_take_their_level_from_where_they_say() {
    for chip in CHIPS {
        // One texel a pixel: level 0. The texel of pixel 0 is 1.
        assert_eq!(first(16, 1, 0, XYZW, chip), 1.0);
        // W is 1: as a level and as a bias the second level.
        assert_eq!(first(17, 1, 0, XYZW, chip), 10.0);
        assert_eq!(first(18, 1, 0, XYZW, chip), 10.0);
        assert_eq!(first(19, 1, 0, XYZW, chip), 1.0);
        // Against the reference in W, 0 or 1: is it less than 1.0? (Z where W has the level: 0 < 10.)
        assert_eq!(first(24, 1, 2, [0, 1, 2, 4], chip), 1.0);
        assert_eq!(first(24, 1, 2, XYZW, chip), 0.0);
        assert_eq!(first(27, 1, 2, [0, 1, 2, 4], chip), 1.0);
        assert_eq!(first(25, 1, 2, XYZW, chip), 1.0);
        assert_eq!(first(26, 1, 2, XYZW, chip), 1.0);
    }
}

#[test]
pub fn gradients_are_set_got_and_kept() {
    for chip in CHIPS {
        let run = |list: Vec<[u32; 4]>| {
            let found = colour(&[alu(&[of(chip, &zeros())]), Cf::Fetch(1, list)], &mut state(chip));
            f32::from_bits(found.unwrap_or_else(|trap| panic!("{trap}"))[0])
        };
        // The slope of x is 0.5 a pixel, of y nothing.
        assert_eq!(run(vec![tex(7, 1, 0, XYZW)]), 0.5);
        assert_eq!(run(vec![tex(8, 1, 0, XYZW)]), 0.0);
        // Gradients of 1.0 a pixel are two texels: the second level. Of 0.0: the first.
        let set = |select: [u32; 4]| vec![tex(11, 1, 0, select), tex(12, 1, 0, select)];
        let sample = |op: u32, sampler: u32| tex(op, 1, sampler, XYZW);
        let wide = [set([5, 5, 4, 4]), vec![sample(20, 0)]].concat();
        let narrow = [set([4, 4, 4, 4]), vec![sample(20, 0)]].concat();
        assert_eq!((run(wide), run(narrow)), (10.0, 1.0));
        let set = |select: [u32; 4]| vec![tex(11, 1, 2, select), tex(12, 1, 2, select)];
        let wide = [set([5, 5, 4, 4]), vec![sample(28, 2)]].concat();
        assert_eq!(run(wide), 1.0);
        if chip.family() == Family::R700 {
            // Kept ones are the coordinate's own: the first level.
            let mut keep = tex(10, 1, 0, XYZW);
            keep[1] |= 7 << 9 | 7 << 12 | 7 << 15 | 7 << 18;
            assert_eq!(run(vec![keep, sample(20, 0)]), 1.0);
        }
    }
}

#[test]
pub fn queries_and_loads_read_the_image_itself() {
    for chip in CHIPS {
        let run = |inst: [u32; 4]| {
            let found = colour(&[Cf::Fetch(1, vec![inst])], &mut state(chip));
            found.unwrap_or_else(|trap| panic!("{trap}"))
        };
        // LD takes integers: texel (0, 0) of level 0.
        assert_eq!(run(tex(3, 1, 0, [4; 4]))[0], 1f32.to_bits());
        assert_eq!(run(tex(4, 1, 0, [4; 4])), [2, 2, 1, 2]);
        assert_eq!(run(tex(5, 1, 0, [4; 4]))[3], 1);
        // One texel a pixel: level 0, and log2(1) = 0 before the clamp.
        assert_eq!(run(tex(6, 1, 0, XYZW))[..2], [0, 0]);
        // 0.25 of two texels less a half: between texels -1 and 0 nothing of the second is missing.
        assert_eq!(run(tex(9, 2, 1, XYZW))[..2], [0, 0]);
        assert_eq!(run(tex(9, 2, 1, [4; 4]))[0], 0.5f32.to_bits());
        assert_eq!(run(tex(13, 1, 0, XYZW))[3], 1f32.to_bits());
    }
}

#[test]
pub fn a_cube_is_chosen_by_its_face_and_the_index_that_was_set() {
    for chip in CHIPS {
        let run = |list: Vec<[u32; 4]>| {
            let found = colour(&[Cf::Fetch(1, list)], &mut state(chip));
            f32::from_bits(found.unwrap_or_else(|trap| panic!("{trap}"))[0])
        };
        // (1, 1) is the middle of a face, z its number.
        let cube = |face: u32| tex(19, 3, 0, [5, 5, face, 4]);
        assert_eq!(run(vec![cube(4)]), 0.0);
        assert_eq!(run(vec![cube(5)]), 1.0);
        let index = tex(14, 3, 0, [4, 4, 5, 4]);
        assert_eq!(run(vec![index, cube(5)]), 7.0);
    }
}

#[test]
pub fn kills_end_their_clause_and_no_pixel_comes_back() {
    for chip in CHIPS {
        let run = |cf: Cf| {
            let mut all = vec![alu(&[of(chip, &zeros())]), cf];
            all.push(export(true, 0, 0, 1, [0, 1, 2, 3], true));
            let batch = PixelBatch {
                covered: vec![0b1111],
                front: vec![true],
                position: vec![[0.5, 0.5, 0.0, 1.0]; 4],
                point: vec![],
                sample: vec![],
                components: vec![],
                parameters: vec![],
                semantics: Vec::new(),
            };
            run_pixels(&link(&all), &mut state(chip), &batch, None).map(|left| left.valid)
        };
        let kill = |op, a: u32, b: u32| {
            let inst = i(op, 0, 0, &[lit(a), lit(b)]).mask();
            alu(&[of(chip, &group(&[inst], &[1, 2]))])
        };
        assert_eq!(run(kill(KILLE_INT, 0, 0)), Ok(vec![false; 4]));
        assert_eq!(run(kill(KILLGT_INT, 0, 1)), Ok(vec![true; 4]));
        assert_eq!(run(Cf::Flow(24, 0, 0)), Ok(vec![false; 4]));
        for (code, ops) in [(1f32.to_bits(), 44..48), (1, 64..66), (1, 70..74)] {
            for op in ops {
                let op = crate::emu::AluOp::op2(op).expect("a kill");
                let greater = i(op, 0, 0, &[lit(0), zero()]).mask();
                let words = of(chip, &group(&[greater], &[code]));
                let equal = matches!(op, crate::emu::AluOp::KILLE | KILLE_INT);
                assert_eq!(run(alu(&[words])), Ok(vec![equal; 4]), "{}", op.name());
            }
        }
    }
}

#[test]
pub fn clauses_through_the_texture_cache_fetch_vertices() {
    for chip in [Chip::Rv710, Chip::Rv610] {
        let mut state = state(chip);
        let bytes: Vec<u8> = (0..64).collect();
        let buffer = crate::emu::BufferResource {
            source: crate::emu::FetchSource::Bytes(bytes),
            stride: 0,
            format: None,
        };
        state.resources.insert(0, FetchResource::Buffer(buffer));
        let fetch =
            [2 << 5 | 3 << 26, 1 | 4 << 12 | 4 << 15 | 4 << 18 | 13 << 22 | 1 << 28, 1 << 19, 0];
        let run = |number: u32, state: &mut State| {
            colour(&[Cf::Fetch(number, vec![fetch])], state).map_err(|trap| trap.rule)
        };
        assert_eq!(run(3, &mut state), Ok([0x0302_0100, 0, 0, 0]));
        assert_eq!(run(2, &mut state), Err(Rule::Stage));
    }
}
