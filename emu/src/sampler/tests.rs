use super::*;
use crate::format::Format;
use crate::image::Extent;

/// A 4x1 row of 0, 1, 2, 3 with a second level of 10, 20.
fn row() -> Image {
    let extent = Extent { levels: 2, ..Extent::plane(4, 1) };
    let mut image = Image::new(Format::R32Float, extent).expect("fits");
    for x in 0..4 {
        image.store(Texel { x, ..Texel::default() }, [(x as f32).to_bits(), 0, 0, 0]);
    }
    for x in 0..2 {
        let v = 10.0 * (x + 1) as f32;
        image.store(Texel { x, level: 1, ..Texel::default() }, [v.to_bits(), 0, 0, 0]);
    }
    image
}

fn at(s: f32, level: f32) -> Lookup {
    Lookup {
        position: Position::Normalized([s, 0.5, 0.0]),
        layer: 0,
        level: Level::Given(level),
        reference: None,
        offset: [0; 3],
    }
}

fn red(image: &Image, sampler: &Sampler, lookup: &Lookup) -> f32 {
    f32::from_bits(sample(image, sampler, lookup)[0])
}

#[test]
fn nearest_takes_the_texel_that_holds_the_point() {
    let image = row();
    let s = Sampler::nearest(Wrap::Repeat);
    let picks: Vec<f32> =
        [0.0, 0.24, 0.25, 0.99, 1.0, -0.01, 1.3].map(|u| red(&image, &s, &at(u, 0.0))).to_vec();
    assert_eq!(picks, [0.0, 0.0, 1.0, 3.0, 0.0, 3.0, 1.0]);
}

#[test]
fn linear_mixes_neighbours_by_distance_of_centres() {
    let image = row();
    let clamp = Sampler { mip: MipFilter::Nearest, ..Sampler::linear(Wrap::Clamp) };
    let repeat = Sampler { mip: MipFilter::Nearest, ..Sampler::linear(Wrap::Repeat) };
    // Centres at 1/8, 3/8, 5/8, 7/8.
    assert_eq!(red(&image, &clamp, &at(0.5, 0.0)), 1.5);
    assert_eq!(red(&image, &clamp, &at(0.125, 0.0)), 0.0);
    assert_eq!(red(&image, &clamp, &at(0.0, 0.0)), 0.0);
    // Halfway between texel 3 and texel 0.
    assert_eq!(red(&image, &repeat, &at(0.0, 0.0)), 1.5);
    assert_eq!(red(&image, &repeat, &at(1.0, 0.0)), 1.5);
    // A quarter of the way from 1 to 2.
    assert_eq!(red(&image, &repeat, &at(0.4375, 0.0)), 1.25);
}

#[test]
fn linear_tells_256_places_within_a_texel_apart() {
    let image = row();
    let clamp = Sampler { mip: MipFilter::Nearest, ..Sampler::linear(Wrap::Clamp) };
    let texels = |texels: f32| red(&image, &clamp, &at(texels / 4.0, 0.0));
    // A centre that arithmetic missed by less than half of a place is the centre.
    for off in [-0.0019, -1e-6, 1e-6, 0.0019] {
        assert_eq!(texels(1.5 + off), 1.0, "{off}");
    }
    // Half of a place is rounded upwards.
    assert_eq!(texels(1.5 + 0.5 / STEPS), 1.0 + 1.0 / STEPS);
    assert_eq!(texels(1.5 - 0.5 / STEPS), 1.0);
    assert_eq!(texels(1.5 - 1.0 / STEPS), 1.0 - 1.0 / STEPS);
    // What has no place is the last texel, or the first one for NaN, as it is without a fraction.
    assert_eq!(texels(f32::MAX), 3.0);
    assert_eq!(texels(f32::INFINITY), 3.0);
    assert_eq!(texels(f32::NAN), 0.0);
}

#[test]
fn wrap_modes_number_texels_as_documented() {
    let row = |mode| (-6..10).map(|i| wrap(mode, i, 4)).collect::<Vec<_>>();
    let some = |v: [u32; 16]| v.map(Some).to_vec();
    assert_eq!(row(Wrap::Repeat), some([2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1]));
    assert_eq!(row(Wrap::Mirror), some([2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1]));
    assert_eq!(row(Wrap::Clamp), some([0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3]));
    assert_eq!(row(Wrap::MirrorOnce), some([3, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3]));
    assert_eq!(row(Wrap::Border)[5..11], [None, Some(0), Some(1), Some(2), Some(3), None]);
    assert_eq!(row(Wrap::MirrorOnceBorder)[1..3], [None, Some(3)]);
}

#[test]
fn levels_are_chosen_and_mixed() {
    let image = row();
    let nearest = Sampler::nearest(Wrap::Clamp);
    assert_eq!(red(&image, &nearest, &at(0.1, 0.49)), 0.0);
    assert_eq!(red(&image, &nearest, &at(0.1, 0.5)), 10.0);
    assert_eq!(red(&image, &nearest, &at(0.9, 7.0)), 20.0);
    let linear = Sampler::linear(Wrap::Clamp);
    // Level 0 at 0.5 gives 1.5, level 1 gives 15: a quarter of the way is 4.875.
    assert_eq!(red(&image, &linear, &at(0.5, 0.25)), 4.875);
    let none = Sampler { mip: MipFilter::None, ..nearest };
    assert_eq!(red(&image, &none, &at(0.9, 7.0)), 3.0);
    let floor = Sampler { lod_min: 1.0, ..nearest };
    assert_eq!(red(&image, &floor, &at(0.0, 0.0)), 10.0);
}

#[test]
fn gradients_of_one_texel_are_level_zero() {
    let image = row();
    let lookup = |dx: f32, dy: f32, bias: f32| Lookup {
        level: Level::Gradient { ddx: [dx, 0.0, 0.0], ddy: [dy, 0.0, 0.0], bias },
        ..at(0.0, 0.0)
    };
    let s = Sampler { lod_min: -100.0, ..Sampler::default() };
    assert_eq!(level_of_detail(&image, &s, &lookup(0.25, 0.0, 0.0)), 0.0);
    assert_eq!(level_of_detail(&image, &s, &lookup(0.25, 0.5, 0.0)), 1.0);
    assert_eq!(level_of_detail(&image, &s, &lookup(1.0, 0.5, -0.5)), 1.5);
    assert_eq!(level_of_detail(&image, &s, &lookup(0.125, 0.0, 0.0)), -1.0);
    assert_eq!(level_of_detail(&image, &s, &lookup(0.0, 0.0, 0.0)), -100.0);
    assert_eq!(level_of_detail(&image, &s, &lookup(f32::NAN, 0.0, 0.0)), 0.0);
}

#[test]
fn the_logarithm_truncates_to_eight_bits() {
    assert_eq!(log2_256(1.0), 0.0);
    assert_eq!(log2_256(0.5), -1.0);
    assert_eq!(log2_256(8.0), 3.0);
    // log2 3 = 1.58496...; 405 / 256 = 1.58203..., 406 / 256 = 1.5859...
    assert_eq!(log2_256(3.0), 405.0 / 256.0);
    assert_eq!(log2_256(f32::from_bits(1)), -149.0);
    for n in 1..2000u32 {
        let x = n as f32 * 0.37;
        let exact = f64::from(x).log2();
        let got = f64::from(log2_256(x));
        assert!(got <= exact + 1e-6 && got > exact - 1.0 / 256.0 - 1e-6, "{x}: {got} {exact}");
    }
}

#[test]
fn integers_are_never_mixed() {
    let extent = Extent::plane(2, 1);
    let mut image = Image::new(Format::R32Uint, extent).expect("fits");
    image.store(Texel::default(), [7, 0, 0, 0]);
    image.store(Texel { x: 1, ..Texel::default() }, [9, 0, 0, 0]);
    assert_eq!(sample(&image, &Sampler::linear(Wrap::Clamp), &at(0.6, 0.0)), [9, 0, 0, 1]);
}

#[test]
fn comparison_happens_before_mixing() {
    let mut image = Image::new(Format::Depth32Float, Extent::plane(2, 1)).expect("fits");
    image.store(Texel::default(), [0.25f32.to_bits(), 0, 0, 0]);
    image.store(Texel { x: 1, ..Texel::default() }, [0.75f32.to_bits(), 0, 0, 0]);
    let sampler = Sampler { compare: Some(Compare::Less), ..Sampler::linear(Wrap::Clamp) };
    let lookup = Lookup { reference: Some(0.5), ..at(0.5, 0.0) };
    // 0.5 < 0.25 fails, 0.5 < 0.75 passes; half way.
    assert_eq!(red(&image, &sampler, &lookup), 0.5);
    let taps = gather(&image, &sampler, &lookup, 0).map(f32::from_bits);
    assert_eq!(taps, [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn gather_starts_at_the_lower_left() {
    let mut image = Image::new(Format::Rgba8Uint, Extent::plane(4, 4)).expect("fits");
    for y in 0..4 {
        for x in 0..4 {
            image.store(Texel { x, y, ..Texel::default() }, [0, 10 * y + x, 0, 0]);
        }
    }
    let lookup = Lookup { position: Position::Normalized([0.5, 0.5, 0.0]), ..at(0.0, 0.0) };
    let sampler = Sampler::nearest(Wrap::Clamp);
    assert_eq!(gather(&image, &sampler, &lookup, 1), [21, 22, 12, 11]);
}

#[test]
fn layers_clamp_and_offsets_count_texels() {
    let extent = Extent { layers: 3, ..Extent::plane(2, 2) };
    let mut image = Image::new(Format::R8Uint, extent).expect("fits");
    for layer in 0..3 {
        for x in 0..2 {
            let value = [layer * 10 + x, 0, 0, 0];
            image.store(Texel { x, layer, ..Texel::default() }, value);
        }
    }
    let sampler = Sampler::nearest(Wrap::Clamp);
    let take = |layer, offset| {
        let position = Position::Normalized([0.1, 0.1, 0.0]);
        sample(&image, &sampler, &Lookup { position, layer, offset, ..at(0.0, 0.0) })[0]
    };
    assert_eq!(take(-5, [0; 3]), 0);
    assert_eq!(take(1, [1, 0, 0]), 11);
    assert_eq!(take(99, [0; 3]), 20);
}

#[test]
fn each_axis_points_to_its_face() {
    let faces = [
        ([1.0, 0.1, 0.2], 0),
        ([-1.0, 0.1, 0.2], 1),
        ([0.1, 1.0, 0.2], 2),
        ([0.1, -1.0, 0.2], 3),
        ([0.1, 0.2, 1.0], 4),
        ([0.1, 0.2, -1.0], 5),
        ([1.0, 1.0, 1.0], 4),
        ([1.0, 1.0, 0.5], 2),
    ];
    for (direction, face) in faces {
        assert_eq!(cube_face(direction).2, face, "{direction:?}");
    }
    // Face +x: s runs along -z, t along -y; direction (2, 1, 0.5) is at s = 1.5 - 0.125, t = 1.5 - 0.25.
    assert_eq!(cube_face([2.0, 1.0, 0.5]), (1.375, 1.25, 0, 0.25));
}

#[test]
fn faces_and_directions_agree() {
    for face in 0..6 {
        for (a, b) in [(0.3, -0.6), (-0.9, 0.2), (0.0, 0.0)] {
            let d = face_direction(face, a, b).map(|v| v as f32);
            let (s, t, found, _) = cube_face(d);
            assert_eq!(found, face);
            assert!((f64::from(s) - 1.5 - a / 2.0).abs() < 1e-6);
            assert!((f64::from(t) - 1.5 - b / 2.0).abs() < 1e-6);
        }
    }
}

#[test]
fn footprints_cross_the_edges_of_a_cube() {
    // Right of +z (s towards +x) lies +x, whose left column it meets in the same row.
    assert_eq!(cross_edges(4, 4, 2, 4), (0, 0, 2));
    assert_eq!(cross_edges(0, -1, 2, 4), (4, 3, 2));
    // Above +z lies +y, whose last row it meets.
    assert_eq!(cross_edges(4, 1, -1, 4), (2, 1, 3));
    for n in [1, 2, 5, 64] {
        for face in 0..6 {
            for i in 0..n {
                for (x, y) in [(-1, i), (n, i), (i, -1), (i, n)] {
                    let (next, nx, ny) = cross_edges(face, x, y, n);
                    assert_ne!(next, face);
                    assert_ne!(next, face ^ 1);
                    // It comes back to the texel it left from.
                    let (nx, ny) = (i64::from(nx), i64::from(ny));
                    let home = (face, x.clamp(0, n - 1) as u32, y.clamp(0, n - 1) as u32);
                    let back = [(nx - 1, ny), (nx + 1, ny), (nx, ny - 1), (nx, ny + 1)];
                    let out = |&(x, y): &(i64, i64)| !(0..n).contains(&x) || !(0..n).contains(&y);
                    let found = back
                        .iter()
                        .filter(|p| out(p))
                        .any(|&(x, y)| cross_edges(next, x, y, n) == home);
                    assert!(found, "face {face} {x},{y} of {n}");
                }
            }
        }
    }
}

#[test]
fn three_dimensions_mix_slices_last() {
    let extent = Extent { dim: Dim::D3, depth: 2, ..Extent::plane(1, 1) };
    let mut image = Image::new(Format::R32Float, extent).expect("fits");
    image.store(Texel { z: 1, ..Texel::default() }, [8f32.to_bits(), 0, 0, 0]);
    let position = Position::Normalized([0.5, 0.5, 0.375]);
    let lookup = Lookup { position, ..at(0.0, 0.0) };
    // u = 0.75: a quarter of the way from slice 0 to slice 1.
    assert_eq!(red(&image, &Sampler::linear(Wrap::Clamp), &lookup), 2.0);
}

#[test]
fn wild_coordinates_do_not_panic() {
    let image = row();
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -0.0, 1e30];
    let modes = [
        Wrap::Repeat,
        Wrap::Mirror,
        Wrap::Clamp,
        Wrap::MirrorOnce,
        Wrap::Border,
        Wrap::MirrorOnceBorder,
    ];
    for mode in modes {
        for &u in &wild {
            for &level in &wild {
                let _ = sample(&image, &Sampler::linear(mode), &at(u, level));
                let _ = gather(&image, &Sampler::linear(mode), &at(u, level), 0);
            }
        }
    }
}

#[test]
fn base_clamp_keeps_half_a_texel_from_the_edge() {
    let image = row();
    assert_eq!(clamp_to_edge(&image, [0.0, 2.0, 0.0])[..2], [0.125, 0.5]);
    assert_eq!(clamp_to_edge(&image, [f32::NAN, 0.5, 0.0])[0], 0.125);
    assert_eq!(clamp_to_edge(&image, [0.99, 0.5, 0.0])[0], 0.875);
}

#[test]
fn a_gradient_on_one_face_is_the_difference_of_its_places() {
    let (own, other) = (FacePoint::of([4.0, 1.0, 0.0]), FacePoint::of([4.0, 2.0, 1.0]));
    assert_eq!(own, FacePoint { s: 1.5, t: 1.375, face: 0 });
    assert_eq!(own.gradient(&other), [-0.125, -0.125, 0.0]);
}

#[test]
fn a_gradient_across_an_edge_goes_on_in_the_plane_of_the_own_face() {
    // Both lie on the x-z plane at height 0, one sixteenth of a face from the edge of +x and +z.
    let own = FacePoint::of([8.0, 0.0, 7.0]);
    let other = FacePoint::of([7.0, 0.0, 8.0]);
    assert_eq!((own.face, other.face), (0, 4));
    let [ds, dt, _] = own.gradient(&other);
    // s runs against z: 7/8 from the middle and 8/7 behind the edge.
    assert!((ds - (-8.0f32 / 7.0 + 7.0 / 8.0) / 2.0).abs() < 1e-6, "{ds}");
    assert_eq!(dt, 0.0);
    assert_eq!(
        own.gradient(&FacePoint::of([-1.0, 0.0, 0.0])),
        [1.0, 1.0, 0.0],
        "what is behind the face counts as one face away"
    );
}

/// Worked out by hand, on a square of 2 x 2 texels 0 1 / 10 11: each axis has a mode of its own.
#[test]
fn each_axis_wraps_in_its_own_way() {
    let mut image = Image::new(Format::R32Float, Extent::plane(2, 2)).expect("fits");
    for n in 0..4 {
        let (x, y) = (n % 2, n / 2);
        let at = Texel { x, y, ..Texel::default() };
        image.store(at, [((x + 10 * y) as f32).to_bits(), 0, 0, 0]);
    }
    let lookup = |s: f32, t: f32| Lookup {
        position: Position::Normalized([s, t, 0.0]),
        layer: 0,
        level: Level::Given(0.0),
        reference: None,
        offset: [0; 3],
    };
    let sampler = |x, y| Sampler { wrap: [x, y, Wrap::Border], ..Sampler::default() };
    // Column 2 is 0 repeated and 1 clamped; so is row 2.
    let repeat_clamp = sampler(Wrap::Repeat, Wrap::Clamp);
    assert_eq!(red(&image, &repeat_clamp, &lookup(1.25, 1.25)), 10.0);
    let clamp_repeat = sampler(Wrap::Clamp, Wrap::Repeat);
    assert_eq!(red(&image, &clamp_repeat, &lookup(1.25, 1.25)), 1.0);
    // Gathers wrap as samples do: of the four around (2, 2) the one to the lower left is column 1, row 2.
    let corner = |sampler| f32::from_bits(gather(&image, &sampler, &lookup(1.0, 1.0), 0)[0]);
    assert_eq!(corner(repeat_clamp), 11.0);
    assert_eq!(corner(clamp_repeat), 1.0);
}

#[test]
fn comparisons_are_those_of_numbers_and_fail_without_one() {
    let numbers = [-1.0, 0.0, -0.0, 0.5, 2.0, f32::INFINITY, f32::NAN];
    for a in numbers {
        for b in numbers {
            let order = a.partial_cmp(&b);
            for (compare, holds) in [
                (Compare::Never, false),
                (Compare::Less, order.is_some_and(|order| order.is_lt())),
                (Compare::Equal, order.is_some_and(|order| order.is_eq())),
                (Compare::LessEqual, order.is_some_and(|order| order.is_le())),
                (Compare::Greater, order.is_some_and(|order| order.is_gt())),
                (Compare::NotEqual, order.is_none_or(|order| order.is_ne())),
                (Compare::GreaterEqual, order.is_some_and(|order| order.is_ge())),
                (Compare::Always, true),
            ] {
                assert_eq!(compare.test(a, b), holds, "{a} {compare:?} {b}");
            }
        }
    }
}

/// A cube's face has the width of its gradients: what a direction's derivative says is what neighbouring places on the face say.
#[test]
fn the_level_of_a_direction_is_that_of_its_way_over_the_face() {
    let extent = Extent { dim: Dim::Cube, layers: 6, ..Extent::plane(64, 64) };
    let cube = Image::new(Format::R8Unorm, extent).expect("fits");
    let mut rng = gpucc_ir::ssa::random::Rng::new(4);
    let mut compared = 0;
    for _ in 0..3000 {
        let mut number = || rng.below(2001) as f32 / 1000.0 - 1.0;
        let direction: [f32; 3] = std::array::from_fn(|_| number());
        let steps: [[f32; 3]; 2] =
            std::array::from_fn(|_| std::array::from_fn(|_| number() / 512.0));
        let here = FacePoint::of(direction);
        let ways = steps.map(|step| {
            let there = FacePoint::of(std::array::from_fn(|axis| direction[axis] + step[axis]));
            (there.face == here.face).then_some([there.s - here.s, there.t - here.t, 0.0])
        });
        let longest = direction.iter().fold(0.0f32, |m, c| m.max(c.abs()));
        let ([Some(ddx), Some(ddy)], true) = (ways, longest > 0.25) else {
            continue;
        };
        let from_direction =
            computed_level(&cube, Position::Normalized(direction), steps[0], steps[1]);
        let from_face = computed_level(&cube, here.position(), ddx, ddy);
        assert!(
            (from_direction - from_face).abs() < 0.1 || from_face < -6.0,
            "{direction:?} {steps:?}: {from_direction} and {from_face}"
        );
        compared += 1;
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn a_reference_is_clamped_to_what_a_normalised_texel_can_hold() {
    let compared = |format: Format, texel: [u32; 4], compare: Compare, reference: f32| {
        let mut image = Image::new(format, Extent::plane(1, 1)).expect("fits");
        image.fill(texel);
        let sampler = Sampler { compare: Some(compare), ..Sampler::nearest(Wrap::Clamp) };
        let lookup = Lookup { reference: Some(reference), ..at(0.5, 0.0) };
        red(&image, &sampler, &lookup)
    };
    let one = [1f32.to_bits(), 0, 0, 0];
    for (reference, in_unorm, in_float) in
        [(2.0, 1.0, 0.0), (1.0, 1.0, 1.0), (0.25, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    {
        let equal = |format| compared(format, one, Compare::Equal, reference);
        assert_eq!(equal(Format::R8Unorm), in_unorm, "{reference}");
        assert_eq!(equal(Format::R32Float), in_float, "{reference}");
    }
    for (reference, in_unorm) in [(-1.0, 1.0), (0.0, 1.0), (f32::NAN, 1.0), (0.25, 0.0)] {
        let equal = compared(Format::R8Unorm, [0; 4], Compare::Equal, reference);
        assert_eq!(equal, in_unorm, "{reference}");
    }
    let less = |reference| compared(Format::R8Unorm, one, Compare::GreaterEqual, reference);
    assert_eq!([less(0.5), less(1.0)], [0.0, 1.0]);
}

#[test]
fn a_queried_level_is_what_a_sample_would_take() {
    // Half a texel of four each pixel across, so level log2(0.5) = -1; with a bias of 3.25 it is 2.25, and the row has levels 0
    // and 1.
    let image = row();
    let lookup = |per_pixel: f32, bias: f32| {
        let level = Level::Gradient { ddx: [per_pixel, 0.0, 0.0], ddy: [0.0; 3], bias };
        Lookup { level, ..at(0.5, 0.0) }
    };
    let asked = |sampler: &Sampler, per_pixel, bias| {
        let found = queried_level(&image, sampler, &lookup(per_pixel, bias));
        (found.taken, found.clamped, found.computed, found.rounded)
    };
    let linear = Sampler::linear(Wrap::Clamp);
    assert_eq!(asked(&linear, 0.125, 0.0), (0.0, 0.0, -1.0, false));
    assert_eq!(asked(&linear, 0.125, 3.25), (1.0, 1.0, 2.25, false));
    assert_eq!(asked(&linear, 0.25, 0.75), (0.75, 0.75, 0.75, false));
    let biased = Sampler { lod_bias: 0.25, lod_min: 0.625, lod_max: 0.875, ..linear };
    assert_eq!(asked(&biased, 0.25, 0.0), (0.625, 0.625, 0.25, false));
    assert_eq!(asked(&biased, 0.25, 0.5), (0.75, 0.75, 0.75, false));
    assert_eq!(asked(&biased, 1.0, 0.0), (0.875, 0.875, 2.25, false));
    let nearest = Sampler { mip: MipFilter::Nearest, ..linear };
    assert_eq!(asked(&nearest, 0.25, 0.75), (1.0, 0.75, 0.75, true));
    assert_eq!(asked(&nearest, 0.25, 0.25), (0.0, 0.25, 0.25, true));
    assert_eq!(asked(&nearest, 0.5, 0.0), (1.0, 1.0, 1.0, false));
    let none = Sampler { mip: MipFilter::None, ..linear };
    assert_eq!(asked(&none, 0.5, 0.0), (0.0, 1.0, 1.0, true));
}
