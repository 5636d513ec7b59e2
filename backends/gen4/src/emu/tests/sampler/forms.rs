//! Payloads, replies, masks and what is refused. 4.8.1.1 to 4.8.2.3.

use super::*;

/// A plane of 4 by 4 floats in four components: column, row, 10, 20.
fn plane(model: Model) -> Bench {
    let mut bench = Bench::new(model, Kind::Plane, RGBA32F, [4, 4, 1, 1], 64);
    for y in 0..4 {
        for x in 0..4 {
            let texel = [x as f32, y as f32, 10.0, 20.0].map(f32::to_bits);
            bench.texel([x, y], &bytes(&texel));
        }
    }
    bench
}

/// The middle of column n, row n of 4.
fn middle(n: usize) -> f32 {
    (n % 4) as f32 / 4.0 + 0.125
}

#[test]
fn sixteen_channels_have_two_registers_a_parameter_and_a_component() {
    for model in BOTH {
        let mut bench = plane(model);
        let row = |from: usize| std::array::from_fn(|n| middle(from + n).to_bits());
        let column = |from: usize| std::array::from_fn(|n| middle((from + n) / 4).to_bits());
        let reply = bench.send(0, &[row(0), row(8), column(0), column(8)], 8).unwrap();
        for channel in 0..16 {
            let word = |component: usize| {
                let (register, written) = &reply.registers[2 * component + channel / 8];
                assert_eq!(*written, 0xff);
                f32::from_bits(register.words[channel % 8])
            };
            let right = [(channel % 4) as f32, (channel / 4) as f32, 10.0, 20.0];
            assert_eq!([0, 1, 2, 3].map(word), right, "{channel}");
        }
    }
}

#[test]
fn eight_channels_have_one_register_a_parameter() {
    for model in BOTH {
        let mut bench = plane(model);
        bench.enabled = 0x5a;
        let row = std::array::from_fn(|n| middle(n).to_bits());
        let column = std::array::from_fn(|n| middle(n / 4).to_bits());
        let reply = bench.send(0, &[row, column, [0; 8]], 4).unwrap();
        for channel in 0..8 {
            for (component, right) in
                [(channel % 4) as f32, (channel / 4) as f32, 10.0, 20.0].into_iter().enumerate()
            {
                let (register, written) = &reply.registers[component];
                assert_eq!(*written, 0x5a);
                if 0x5a >> channel & 1 == 1 {
                    assert_eq!(register.words[channel], right.to_bits());
                }
            }
        }
    }
}

/// Sixteen channels lose the registers of what is masked, eight have them and do not write them.
#[test]
fn masked_components_are_dropped_from_sixteen_channels_and_left_of_eight() {
    let mut bench = plane(Model::G45);
    // Red and alpha alone: bits 14 and 13 mask blue and green.
    bench.control = 3 << 13;
    let wide = vec![[0.375f32.to_bits(); 8]; 4];
    let reply = bench.send(0, &wide, 4).unwrap();
    assert_eq!(reply.registers.len(), 4);
    assert_eq!(reply.registers[0].0.words[0], 1.0f32.to_bits());
    assert_eq!(reply.registers[2].0.words[0], 20.0f32.to_bits());
    assert_eq!(bench.send(0, &wide, 8), Err(Rule::SamplerForm));
    bench.enabled = 0xff;
    let reply = bench.send(0, &wide[..3], 4).unwrap();
    let written: Vec<u8> = reply.registers.iter().map(|(_, written)| *written).collect();
    assert_eq!(written, [0xff, 0, 0, 0xff]);
    bench.control = 15 << 12;
    assert_eq!(bench.send(0, &wide[..3], 4), Err(Rule::SamplerForm));
}

/// Two samples a register: parameters 0 to 3 of sample 0 in words 0 to 3, of sample 1 in words 4 to 7. A sample is
/// active where one of its four channels is.
#[test]
fn two_vertices_have_four_parameters_each_in_a_register() {
    let (f, zero) = (f32::to_bits, 0);
    for model in BOTH {
        let mut bench = plane(model);
        bench.enabled = 0x42;
        let both = [f(0.375), f(0.625), zero, zero, f(0.875), f(0.125), zero, zero];
        let reply = bench.send(1, &[both], 1).unwrap();
        let (register, written) = &reply.registers[0];
        assert_eq!(*written, 0xff);
        let right = [1.0f32, 2.0, 10.0, 20.0, 3.0, 0.0, 10.0, 20.0].map(f32::to_bits);
        assert_eq!(register.words, right);
        // Sample 1 is inactive; green is masked.
        (bench.enabled, bench.control) = (0x04, 1 << 13);
        let reply = bench.send(1, &[both], 1).unwrap();
        assert_eq!(reply.registers[0].1, 0b1101);
        // Texels by number; sizes by the level in parameter 3.
        (bench.enabled, bench.control) = (0xff, 0);
        let reply = bench.send(3, &[[2, 1, 0, 0, 3, 3, 0, 0]], 1).unwrap();
        let right = [2.0f32, 1.0, 10.0, 20.0, 3.0, 3.0, 10.0, 20.0].map(f32::to_bits);
        assert_eq!(reply.registers[0].0.words, right);
        let told = if model == Model::G45 { 2 << 12 } else { 2 << 14 | 2 << 12 };
        let reply = bench.words(told, &[[9, 9, 9, 0, 9, 9, 9, 1]], 1).unwrap();
        assert_eq!(reply.registers[0].0.words, [4, 4, 0, 1, 0, 0, 0, 1]);
        // Slopes stand in words 0 to 2 of the second and third register.
        let slope = [f(0.0); 8];
        let reply = bench.send(2, &[both, slope, slope], 1).unwrap();
        assert_eq!(reply.registers[0].0.words[4], 3.0f32.to_bits());
    }
}

/// The 965 is told the kind of numbers; G45 knows it. 4.8.1.1.
#[test]
fn the_return_format_is_that_of_the_surface() {
    for (code, right) in [(R32F, 0), (0xcb, 2), (0xd6, 3)] {
        let mut bench = Bench::new(Model::I965, Kind::Plane, code, [4, 4, 1, 1], 64);
        for told in 0..4 {
            let ended = bench.words(3 << 14 | told << 12, &[[0; 8]; 4], 8);
            assert_eq!(ended.is_ok(), told == right, "{code:#x} {told}");
        }
    }
    // Sizes come as numbers or floats, whatever the surface.
    let mut bench = Bench::new(Model::I965, Kind::Plane, R32F, [4, 2, 1, 1], 64);
    let mut told = |told: u32| {
        let reply = bench.words(2 << 14 | told << 12, &[[0; 8]; 2], 8);
        reply.map(|reply| [0, 2].map(|at: usize| reply.registers[at].0.words[0]))
    };
    assert_eq!(told(2), Ok([4, 2]));
    assert_eq!(told(0), Ok([4.0f32, 2.0].map(f32::to_bits)));
    assert_eq!(told(3), Err(Rule::SamplerForm));
}

#[test]
fn pairs_of_type_and_length_are_those_of_the_table() {
    // Lengths of 1 to 15 registers by type; 4 registers of type 1 kill pixels, which is not built.
    let table: [&[usize]; 4] =
        [&[2, 3, 4, 5, 6, 7, 9], &[2, 3, 6, 9], &[2, 3, 4, 7, 9, 10], &[2, 3, 4, 5, 7, 9]];
    for (kind, lengths) in table.iter().enumerate() {
        for length in 1..16 {
            let mut bench = plane(Model::G45);
            bench.enabled = 0xff;
            let payload = vec![[0; 8]; length - 1];
            let known = [8, 4, 1].into_iter().any(|response| {
                let ended = bench.send(kind as u32, &payload, response);
                !matches!(ended, Err(Rule::SamplerForm | Rule::NotBuilt))
            });
            // Comparisons and levels of two vertices have more rules: below.
            let more = matches!((kind, length), (0, 2 | 6) | (1, 3 | 6) | (2, 9));
            assert_eq!(known, lengths.contains(&length) && !more, "{kind} {length}");
        }
    }
}

#[test]
fn messages_have_rules_by_their_surface() {
    let shadow = |model, of, depth| {
        Bench::new(model, of, R16, [4, if of == Kind::Line { 1 } else { 4 }, depth, 1], 64)
    };
    for model in BOTH {
        // Comparisons: neither volumes nor arrays, nor formats without.
        assert!(shadow(model, Kind::Plane, 1).eight(1, &[0.0; 5]).is_ok());
        assert!(shadow(model, Kind::Line, 1).eight(1, &[0.0; 5]).is_ok());
        for (of, depth) in [(Kind::Plane, 2), (Kind::Line, 2), (Kind::Volume, 2)] {
            assert_eq!(shadow(model, of, depth).eight(1, &[0.0; 5]), Err(Rule::SamplerForm));
        }
        assert_eq!(plane(model).eight(1, &[0.0; 5]), Err(Rule::SamplerForm));
        // Two vertices have no level of their own, and the 965 does not compare them.
        let mut bench = shadow(model, Kind::Plane, 1);
        bench.enabled = 0xff;
        assert_eq!(bench.send(0, &[[0; 8]], 1), Err(Rule::SamplerForm));
        bench.control = 1 << 16;
        assert!(bench.send(0, &[[0; 8]], 1).is_ok());
        assert_eq!(bench.send(1, &[[0; 8]; 2], 1).is_ok(), model == Model::G45);
        // Integers are loaded, not sampled; cubes are sampled, not loaded.
        let mut bench = Bench::new(model, Kind::Plane, R32U, [4, 4, 1, 1], 64);
        assert_eq!(bench.sixteen(0, &[0.0, 0.0]), Err(Rule::SamplerForm));
        assert!(bench.load([0; 4]).is_ok());
        let mut bench = Bench::new(model, Kind::Cube, R32F, [4, 4, 1, 1], 64);
        assert_eq!(bench.load([0; 4]), Err(Rule::SamplerForm));
        // Buffers are loaded alone.
        let mut bench = Bench::new(model, Kind::Buffer, R32F, [4, 1, 1, 1], 4);
        assert_eq!(bench.sixteen(0, &[0.0]), Err(Rule::SamplerForm));
        let info = if model == Model::G45 { 2 << 12 } else { 2 << 14 | 2 << 12 };
        assert_eq!(bench.words(info, &[[0; 8]; 2], 8), Err(Rule::SamplerForm));
    }
}

/// Offsets are 0 along axes that the surface lacks. 4.8.1.2.
#[test]
fn offsets_are_those_of_the_surface() {
    for (of, allowed) in
        [(Kind::Line, 0xf00), (Kind::Plane, 0xff0), (Kind::Volume, 0xfff), (Kind::Buffer, 0)]
    {
        for control in [0x100, 0x010, 0x001] {
            let height = if matches!(of, Kind::Line | Kind::Buffer) { 1 } else { 4 };
            let depth = if of == Kind::Volume { 4 } else { 1 };
            let pitch = if of == Kind::Buffer { 4 } else { 64 };
            let mut bench = Bench::new(Model::G45, of, R32F, [4, height, depth, 1], pitch);
            bench.control = control;
            assert_eq!(bench.load([0; 4]).is_ok(), control & allowed != 0, "{of:?} {control:#x}");
        }
    }
}

/// What eight channels and two vertices do not use of u, v and r is 0. 4.8.1.4, errata.
#[test]
fn unused_coordinates_of_short_loads_are_zero() {
    let mut line = Bench::new(Model::G45, Kind::Line, R32F, [4, 1, 1, 1], 64);
    line.enabled = 0xff;
    assert!(line.send(3, &[[1; 8], [0; 8], [0; 8]], 4).is_ok());
    assert_eq!(line.send(3, &[[1; 8], [1; 8], [0; 8]], 4), Err(Rule::SamplerForm));
    let mut plane = plane(Model::G45);
    plane.enabled = 0xff;
    assert!(plane.send(3, &[[1; 8], [1; 8], [0; 8]], 4).is_ok());
    assert_eq!(plane.send(3, &[[1; 8], [1; 8], [1; 8]], 4), Err(Rule::SamplerForm));
    assert!(plane.load([1, 1, 1, 0]).is_ok());
}

#[test]
fn sampler_states_have_rules() {
    type Change = fn(&mut Bench);
    let cases: &[(&str, Rule, Change)] = &[
        ("bit 30", Rule::SamplerState, |b| b.sampler[0] |= 1 << 30),
        ("bit 27", Rule::SamplerState, |b| b.sampler[0] |= 1 << 27),
        ("between levels 2", Rule::SamplerState, |b| b.sampler[0] |= 2 << 20),
        ("filter 3", Rule::SamplerState, |b| b.sampler[0] |= 3 << 17),
        ("filter 7", Rule::SamplerState, |b| b.sampler[0] |= 7 << 14),
        ("base level", Rule::SamplerState, |b| b.sampler[0] |= 31 << 22),
        ("least level", Rule::SamplerState, |b| b.sampler[1] |= 833 << 22),
        ("most level", Rule::SamplerState, |b| b.sampler[1] |= 0x3ff << 12),
        ("bit 10 of word 1", Rule::SamplerState, |b| b.sampler[1] |= 1 << 10),
        ("wrap 6", Rule::SamplerState, |b| b.sampler[1] |= 6),
        ("cube wrap", Rule::SamplerState, |b| b.sampler[1] |= 1),
        ("the border's pointer", Rule::SamplerState, |b| b.sampler[2] |= 4),
        ("reserved bits of word 3", Rule::SamplerState, |b| b.sampler[3] |= 1),
        ("a linear filter of floats", Rule::SamplerState, |b| b.sampler[0] |= LINEAR << 14),
        ("linear levels of floats", Rule::SamplerState, |b| b.sampler[0] |= 3 << 20),
        ("disabled", Rule::NotBuilt, |b| b.sampler[0] |= 1 << 31),
        ("DX9", Rule::NotBuilt, |b| b.sampler[0] |= 1 << 29),
        ("a key", Rule::NotBuilt, |b| b.sampler[3] |= 1 << 25),
        ("slopes", Rule::NotBuilt, |b| b.sampler[0] |= 2 << 14),
        ("no memory", Rule::Mapped, |b| b.surface[1] = 0x9000_0000),
        ("no format", Rule::NotBuilt, |b| b.surface[0] |= 0x1ff << 18),
        ("a null surface", Rule::SurfaceState, |b| b.surface[0] |= 7 << 29),
        ("levels without end", Rule::SurfaceState, |b| b.surface[2] |= 13 << 2),
        ("a pitch", Rule::SurfaceState, |b| b.surface[3] -= 8),
    ];
    for (what, rule, change) in cases {
        for model in BOTH {
            let mut bench = plane(model);
            bench.surface[0] |= R32F << 18;
            bench.surface[3] = 15 << 3;
            change(&mut bench);
            assert_eq!(bench.sixteen(0, &[0.0, 0.0]), Err(*rule), "{what}");
        }
    }
    // The anisotropic filter has no slopes to follow where the level is told.
    let mut bench = Bench::new(Model::I965, Kind::Plane, R8, [4, 4, 1, 1], 64);
    bench.sampler[0] |= 2 << 14 | 2 << 17;
    assert!(bench.sixteen(1, &[0.0; 4]).is_ok());
    bench.control = 1 << 16;
    assert_eq!(bench.sixteen(0, &[0.0; 2]), Err(Rule::NotBuilt));
    bench.model = Model::G45;
    assert!(bench.sixteen(0, &[0.0; 2]).is_ok());
}

/// The sampler's cache is its own: what is rendered is seen behind a flush, and what the processor writes too.
#[test]
fn the_sampler_reads_through_its_own_cache() {
    let mut bench = plane(Model::G45);
    assert_eq!(bench.at([0.125, 0.125, 0.0], 0.0), 0.0);
    bench.texel([0, 0], &bytes(&[7.0f32.to_bits()]));
    assert_eq!(bench.at([0.125, 0.125, 0.0], 0.0), 0.0);
    bench.textures.clear();
    assert_eq!(bench.at([0.125, 0.125, 0.0], 0.0), 7.0);
    bench.memory.render(TEXELS, &bytes(&[8.0f32.to_bits()])).unwrap();
    assert_eq!(bench.sixteen(0, &[0.0, 0.0]), Err(Rule::Stale));
    bench.textures.clear();
    assert_eq!(bench.sixteen(0, &[0.0, 0.0]), Err(Rule::Stale));
    bench.memory.flush();
    assert_eq!(bench.at([0.125, 0.125, 0.0], 0.0), 8.0);
}
