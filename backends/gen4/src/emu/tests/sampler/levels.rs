//! The level of detail, comparisons, borders and wrap modes. 4.2.1.5, 4.2.4, 4.4, 4.7.4.

use super::*;

/// A plane of 8 by 8 texels of one component in four levels; each level has its own value: 0, 1/5 and so on.
fn levels(code: u32) -> Bench {
    let bytes = if code == R8 { 1 } else { 2 };
    let mut bench = Bench::new(Model::G45, Kind::Plane, code, [8, 8, 1, 4], 32);
    // Where they begin: level 1 below, 2 right of it, 3 below 2. Columns in fours, rows in twos.
    let places = [[0, 0], [0, 8], [4, 8], [4, 10]];
    for (level, [left, top]) in places.into_iter().enumerate() {
        let size = 8 >> level;
        for y in 0..size {
            for x in 0..size {
                let texel = 51 * level as u16 * if code == R8 { 1 } else { 257 };
                bench.texel([left + x, top + y], &texel.to_le_bytes()[..bytes]);
            }
        }
    }
    bench
}

/// The level that is taken: the value by fives.
fn taken(bench: &mut Bench, level: f32) -> f32 {
    bench.at([0.5, 0.5, 0.0], level) * 5.0
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() < 1e-5
}

#[test]
fn a_level_is_rounded_mixed_or_not_asked() {
    for code in [R8, R16] {
        let mut bench = levels(code);
        bench.sampler[0] = filters(LINEAR, LINEAR, 1);
        for (level, right) in
            [(-1.0, 0.0), (0.0, 0.0), (0.25, 0.0), (0.75, 1.0), (1.25, 1.0), (2.5, 3.0), (9.0, 3.0)]
        {
            assert!(close(taken(&mut bench, level), right), "nearest {level}");
        }
        bench.sampler[0] = filters(LINEAR, LINEAR, 3);
        for (level, right) in [(-1.0, 0.0), (0.25, 0.25), (1.75, 1.75), (2.5, 2.5), (9.0, 3.0)] {
            assert!(close(taken(&mut bench, level), right), "linear {level}");
        }
        bench.sampler[0] = filters(LINEAR, LINEAR, 0);
        assert!(close(taken(&mut bench, 2.5), 0.0), "none");
    }
}

/// S4.6 of the state is added to every level, a parameter's among them. 4.2.1.2, 4.2.1.5.
#[test]
fn the_bias_of_the_state_is_unconditional() {
    let mut bench = levels(R8);
    let biased = |bias: i32| filters(LINEAR, LINEAR, 3) | ((bias as u32) & 0x7ff) << 3;
    bench.sampler[0] = biased(64 + 32);
    assert!(close(taken(&mut bench, 0.5), 2.0));
    bench.sampler[0] = biased(-32);
    assert!(close(taken(&mut bench, 1.0), 0.5));
    // Where the level is forced to 0, biases are added still.
    bench.sampler[0] = biased(64);
    bench.control = 1 << 16;
    assert!(close(bench.sixteen(0, &[0.5, 0.5]).unwrap()[0] * 5.0, 1.0));
    assert!(close(bench.sixteen(0, &[0.5, 0.5, 0.0, 0.5]).unwrap()[0] * 5.0, 1.5));
    // A parameter of bias lies from -16 up to 16.
    assert_eq!(bench.sixteen(0, &[0.5, 0.5, 0.0, 16.0]), Err(Rule::SamplerForm));
    assert_eq!(bench.sixteen(0, &[0.5, 0.5, 0.0, -16.5]), Err(Rule::SamplerForm));
    assert!(bench.sixteen(0, &[0.5, 0.5, 0.0, -16.0]).is_ok());
}

#[test]
fn the_least_level_goes_before_the_most() {
    let mut bench = levels(R8);
    let range = |least: u32, most: u32| (64 * least) << 22 | (64 * most) << 12 | 0o222;
    bench.sampler[0] = filters(LINEAR, LINEAR, 3);
    for (least, most, level, right) in
        [(1, 2, 0.0, 1.0), (1, 2, 3.0, 2.0), (2, 1, 0.0, 2.0), (2, 1, 3.0, 2.0), (0, 9, 9.0, 3.0)]
    {
        bench.sampler[1] = range(least, most);
        assert!(close(taken(&mut bench, level), right), "{least} {most} {level}");
    }
    // Without a filter between levels it is the least one.
    bench.sampler[0] = filters(LINEAR, LINEAR, 0);
    bench.sampler[1] = range(2, 3);
    assert!(close(taken(&mut bench, 0.0), 2.0));
}

/// A greatest level with a part below one half is one too large beside the nearest level, unless it is clamped before.
#[test]
fn a_part_of_the_greatest_level_counts_as_a_level() {
    let mut bench = levels(R8);
    bench.sampler[0] = filters(LINEAR, LINEAR, 1);
    bench.sampler[1] = (64 + 16) << 12 | 0o222;
    assert!(close(taken(&mut bench, 9.0), 1.0));
    bench.sampler[0] &= !(1 << 28);
    assert!(close(taken(&mut bench, 9.0), 2.0));
}

/// Which filter: by the level before clamps, or behind them where the state says so. 4.2.1.3, 4.2.1.4.
#[test]
fn the_clamp_before_decides_between_filters() {
    let mut bench = Bench::new(Model::G45, Kind::Plane, R8, [2, 1, 1, 2], 32);
    bench.texel([0, 0], &[0]);
    bench.texel([1, 0], &[255]);
    let mut at = |d0: u32, least: u32| {
        bench.sampler = [d0, least << 22 | 832 << 12 | 0o222, 0, 0];
        // A quarter to the right of the middle of the first texel; level 0.
        bench.at([0.375, 0.5, 0.0], 0.0)
    };
    let smooth = filters(LINEAR, NEAREST, 0);
    assert!(close(at(smooth, 0), 0.25));
    // Half a level at least: minified where the clamp comes first; the level is 0 still.
    assert!(close(at(smooth, 32), 0.0));
    assert!(close(at(smooth & !(1 << 28), 32), 0.25));
    // A base level of 1 counts up to level 1 as magnified.
    assert!(close(at(smooth | 2 << 22, 32), 0.25));
}

/// Half of the texels of level 0 a pixel to the right: level 2 for all four pixels, from the upper left one.
#[test]
fn the_level_comes_from_the_upper_left_pixel_and_its_neighbours() {
    let mut bench = levels(R8);
    bench.sampler[0] = filters(NEAREST, NEAREST, 1);
    bench.enabled = 0xff;
    let f = f32::to_bits;
    let u = [0.0, 0.5, 0.0, 9.0, 0.0, 0.125, 0.0, 0.25].map(f);
    let v = [0.0, 0.0, 0.25, 9.0, 0.0, 0.0, 0.0, 0.0].map(f);
    let reply = bench.send(0, &[u, v, [0; 8]], 4).unwrap();
    let found = reply.registers[0].0.words.map(|word| (f32::from_bits(word) * 5.0).round());
    assert_eq!(found, [2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    // Along y the greater counts.
    let v = [0.0, 0.0, 1.0, 9.0, 0.0, 0.0, 0.5, 0.0].map(f);
    let reply = bench.send(0, &[u, v, [0; 8]], 4).unwrap();
    let found = reply.registers[0].0.words.map(|word| (f32::from_bits(word) * 5.0).round());
    assert_eq!(found, [3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0]);
    // Slopes as parameters, u v dudx dvdx dudy dvdy: 2 texels, then 4.
    for (slopes, right) in [([0.25, 0.0, 0.0, 0.125], 1.0), ([0.0, 0.25, 0.5, 0.0], 2.0)] {
        let [a, b, c, d] = slopes;
        let found = bench.eight(2, &[0.5, 0.5, a, b, c, d]).unwrap();
        assert_eq!((found[0] * 5.0).round(), right);
    }
    // With a third coordinate: u v r, three slopes along x, three along y.
    let found = bench.eight(2, &[0.5, 0.5, 0.0, 0.0, 0.0, 9.0, 0.0, 0.25, 9.0]).unwrap();
    assert_eq!((found[0] * 5.0).round(), 1.0);
}

/// The pixels whose neighbours give the level must have coordinates, where a level is asked.
#[test]
fn neighbours_are_asked_for_a_level_alone() {
    for (d0, asked) in [(filters(LINEAR, LINEAR, 0), false), (filters(NEAREST, NEAREST, 1), true)] {
        let mut bench = levels(R8);
        bench.sampler[0] = d0;
        // A volume's r comes in the third register: only channel 3 is enabled, and it alone differs.
        bench.enabled = 8;
        let u: [u32; 8] = [0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0].map(f32::to_bits);
        let reply = bench.send(0, &[u, [0; 8], [0; 8]], 4).unwrap();
        let found = f32::from_bits(reply.registers[0].0.words[3]) * 5.0;
        assert_eq!(found.round(), if asked { 3.0 } else { 0.0 });
    }
}

/// A surface's first level is added to a level that is told. SURFACE_STATE d4 31:28.
#[test]
fn the_first_level_of_a_surface_is_added() {
    let mut bench = levels(R8);
    // Two levels from level 1 on.
    bench.surface[2] = 7 << 19 | 7 << 6 | 1 << 2;
    bench.surface[4] = 1 << 28;
    bench.sampler[0] = filters(NEAREST, NEAREST, 1);
    for (level, right) in [(0.0, 1.0), (1.0, 2.0), (5.0, 2.0)] {
        assert!(close(taken(&mut bench, level), right), "{level}");
    }
    let alpha = |bench: &mut Bench, level: u32| {
        bench.load([0, 0, 0, level]).map(|found| (f32::from_bits(found[0]) * 5.0).round())
    };
    assert_eq!(alpha(&mut bench, 0), Ok(1.0));
    assert_eq!(alpha(&mut bench, 1), Ok(2.0));
    assert_eq!(alpha(&mut bench, 2), Ok(0.0));
    let reply = bench.words(2 << 12, &[[0; 8], [1; 8]], 8).unwrap();
    let size = |half: usize| [0, 2, 4, 6].map(|at: usize| reply.registers[at + half].0.words[0]);
    assert_eq!((size(0), size(1)), ([4, 4, 0, 2], [2, 2, 0, 2]));
}

/// The table of 4.4: what holds is 0, between the texel and the reference, before filtering.
#[test]
fn comparisons_that_hold_are_zero() {
    type Holds = fn(f32, f32) -> bool;
    let table: [Holds; 8] = [
        |_, _| true,
        |_, _| false,
        |texel, reference| texel < reference,
        |texel, reference| texel == reference,
        |texel, reference| texel <= reference,
        |texel, reference| texel > reference,
        |texel, reference| texel != reference,
        |texel, reference| texel >= reference,
    ];
    for model in BOTH {
        for (function, holds) in (0..).zip(table) {
            for reference in [0.25, 0.5, 0.75, f32::NAN] {
                let mut bench = Bench::new(model, Kind::Plane, R32F, [2, 1, 1, 1], 64);
                bench.float([0, 0], 0.5);
                bench.sampler[0] |= function;
                let right = if holds(0.5, reference) { 0.0 } else { 1.0 };
                let found = bench.eight(1, &[0.25, 0.5, 0.0, 0.0, reference]).unwrap();
                assert_eq!(found, [right, 0.0, 0.0, 1.0], "{function} {reference}");
                let found = bench.sixteen(2, &[0.25, 0.5, 0.0, reference]).unwrap();
                assert_eq!(found[0], right);
                let found = bench.eight(0, &[0.25, 0.5, 0.0, 0.0, reference]).unwrap();
                assert_eq!(found[0], right);
            }
        }
        // Filtered: one of two texels holds.
        let mut bench = Bench::new(model, Kind::Plane, R32F, [2, 1, 1, 1], 64);
        bench.float([0, 0], 0.25);
        bench.float([1, 0], 0.75);
        bench.sampler[0] = filters(LINEAR, LINEAR, 0) | 2;
        let found = bench.eight(1, &[0.5, 0.5, 0.0, 0.0, 0.5]).unwrap();
        assert_eq!(found[0], 0.5);
    }
}

/// Four texels of a line by each wrap mode; beyond them u goes on to both sides.
#[test]
fn wrap_modes_are_those_of_the_manual() {
    let nan = f32::NAN;
    let cases = [
        (REPEAT, [3.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0]),
        (1, [0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 0.0, 0.0]),
        (CLAMP, [0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
        (4, [9.0, 0.0, 1.0, 2.0, 3.0, 9.0, 9.0, 9.0, 9.0, 9.0]),
        (5, [0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
    ];
    for (mode, right) in cases {
        let mut bench = Bench::new(Model::G45, Kind::Line, R32F, [4, 1, 1, 1], 64);
        bench.border = [9.0, nan, nan, nan];
        for x in 0..4 {
            bench.float([x, 0], x as f32);
        }
        bench.sampler[1] = 832 << 12 | mode << 6;
        for (n, right) in (-1..9).zip(right) {
            let found = bench.sixteen(1, &[n as f32 / 4.0 + 0.125, 0.0, 0.0, 0.0]).unwrap();
            // What the format lacks is not the border's.
            assert_eq!(found, [right, 0.0, 0.0, 1.0], "{mode} {n}");
        }
        if mode == 5 {
            // Mirrored about 0, then clamped.
            assert_eq!(bench.at([-0.375, 0.0, 0.0], 0.0), 1.0);
            assert_eq!(bench.at([-1.5, 0.0, 0.0], 0.0), 3.0);
        }
    }
    // The border of a line leaks where v has it too.
    let mut bench = Bench::new(Model::G45, Kind::Line, R32F, [4, 1, 1, 1], 64);
    bench.sampler[1] = 832 << 12 | 4 << 6 | 4 << 3;
    assert_eq!(bench.sixteen(1, &[0.0; 4]), Err(Rule::SamplerState));
}

/// A neighbour that is not enabled need not have coordinates; one that is enabled must.
#[test]
fn a_level_that_lacks_a_neighbour_is_no_level() {
    let mut bench = levels(R8);
    bench.sampler[0] = filters(NEAREST, NEAREST, 1);
    // Four texels from channel 0 to channel 1: level 2.
    let u = [0.25, 0.75, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75].map(f32::to_bits);
    let v = [0.5f32.to_bits(); 8];
    let second = 15 << 4;
    for (enabled, undefined, level) in [
        (0xffff, 0, Ok(2.0)),
        (0xfffd, 0, Ok(2.0)),
        (0xfdfd, second, Ok(0.0)),
        (0xfffd, second, Err(Rule::Undefined)),
    ] {
        (bench.enabled, bench.undefined) = (enabled, undefined);
        let reply = bench.send(0, &[u, u, v, v], 8);
        let found = reply.map(|reply| (components(&reply, 2)[0] * 5.0).round());
        assert_eq!(found, level, "{enabled:#x}");
    }
}
