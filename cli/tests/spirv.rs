//! SPIR-V that compilers make seldom: pointers as values, wide inputs, texel buffers, and built-in values where they are
//! not.

use crate::common::{Folder, gpucc, pixels, text, verified};
use gpucc::{Options, Source, Stage, Target};

const MACHINES: [Target; 3] = [Target::Interp, Target::R700, Target::VALHALL];

fn path(name: &str) -> String {
    format!("{}/tests/languages/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn pointers_are_values() {
    let module = include_bytes!("languages/far.spv");
    for target in MACHINES {
        verified(target, Options::default(), "far.spv", Source::SpirV(module));
    }
    // a, b, and n of both kinds: what was read, the next, a sum, equality, a difference, a null, the next again, and what
    // a function chose.
    let cases = [
        ("1", "11 12 60 1 3 0 12 10", "10 77 12 13", "20 21 19 23"),
        ("0", "19 23 118 0 3 1 23 21", "10 11 12 13", "20 21 77 23"),
    ];
    for (n, out, a, b) in cases {
        for target in ["interp", "r700", "valhall"] {
            let n = format!("0.3=i32:{n}");
            let path = path("far.spv");
            let sets = ["0.0=i32:10,11,12,13", "0.1=i32:20,21,19,23", "0.2=zeros:32", &n];
            let mut args = vec!["run", &path, "--target", target, "--groups", "1"];
            args.extend(sets.iter().flat_map(|set| ["--set", set]));
            args.extend(["0.0:u32", "0.1:u32", "0.2:u32"].iter().flat_map(|dump| ["--dump", dump]));
            let done = gpucc(&args);
            let shown = String::from_utf8_lossy(&done.stdout).into_owned();
            for line in [format!("0.0: {a}"), format!("0.1: {b}"), format!("0.2: {out}")] {
                assert!(shown.contains(&line), "{target}: no {line} in {shown}{}", text(&done));
            }
        }
    }
}

#[test]
fn functions_of_amd_s_sets_are_what_they_are_in_glsl() {
    let module = include_bytes!("languages/amd.comp.spv");
    for target in MACHINES {
        verified(target, Options::default(), "amd.comp.spv", Source::SpirV(module));
    }
    // Of 7, -2 and 3; of 6, 5 and 9; of 0.5, -2 and 1, of which y is the longest: face 3, s and t of half of x and -z.
    for file in ["amd.comp.spv", "amd.comp"] {
        let path = path(file);
        let sets = ["--set", "0.0=i32:7,-2,3,6,0,0,0,0", "--set", "0.1=f32:0.5,-2,1,0"];
        let args = ["run", &path, "--target", "interp", "--groups", "1", "--dump", "0.0:i32"];
        let done = gpucc(&[&args[..], &sets[..]].concat());
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(shown.trim(), "0.0: -127 -2 3 6 2 3 62 25", "{file}: {}", text(&done));
    }
}

#[test]
fn a_structure_does_not_hold_itself_by_a_pointer_that_is_none() {
    let done = gpucc(&[&path("cycle.spv"), "--target", "interp"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    assert!(text(&done).contains("OpTypeForwardPointer"), "{}", text(&done));
}

/// Bytes 16, 48, 80 and 96 of physical storage have two nodes, three integers and a tail of pairs; upper words are 1.
#[test]
fn pointers_to_physical_storage_lead_into_one_buffer() {
    let module = include_bytes!("languages/physical.comp.spv");
    let source = include_str!("languages/physical.comp");
    for target in MACHINES {
        verified(target, Options::default(), "physical.comp.spv", Source::SpirV(module));
        let text = Source::Glsl(source, Stage::Compute);
        verified(target, Options::default(), "physical.comp", text);
    }
    let nodes =
        "0,0,0,0, 48,1,100,1,2,3, 0,0, 0,0,200,4,5,6, 0,0, 10,11,12, 0, 0,0, 0,0,0,0x41100000,0,0";
    let nodes = format!("4294967294.0=i32:{}", nodes.replace(' ', ""));
    // Pointers, n, and what is made of them: 100 + 200, many[1] of the second, 11, 10, 9.0, 200, and 48 - 16.
    let out = "0.0: 16 1 80 1 96 1 1 300 5 11 10 9 200 32 0 0";
    // many[1] of the first is 5 + 1, the integers are 10 + 5 and 7, and the pair is 3.0 and 4.0.
    let left = "4294967294.0: 0 0 0 0 48 1 100 1 6 3 0 0 0 0 200 4 5 6 0 0 15 11 7 0 0 0 0 0 1077936128 1082130432 0 0";
    for file in ["physical.comp.spv", "physical.comp"] {
        for target in ["interp", "r700", "valhall"] {
            let path = path(file);
            let given = "0.0=i32:16,1,80,1,96,1,1,0,0,0,0,0,0,0,0,0";
            let args = ["run", &path, "--target", target, "--groups", "1", "--set", given];
            let dumps = ["--set", &nodes, "--dump", "0.0:i32", "--dump", "4294967294.0:i32"];
            let done = gpucc(&[&args[..], &dumps[..]].concat());
            let shown = String::from_utf8_lossy(&done.stdout).into_owned();
            assert!(
                shown.contains(out) && shown.contains(left),
                "{file}, {target}: {}",
                text(&done)
            );
        }
    }
}

#[test]
fn arrays_of_arrays_of_bindings_are_one_array() {
    let module = include_bytes!("languages/squares.frag.spv");
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "squares.frag.spv", Source::SpirV(module));
    }
}

#[test]
fn a_texture_with_a_sampler_has_the_type_of_its_texture() {
    let done = gpucc(&[&path("mixed.spv"), "--target", "interp"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
}

#[test]
fn integers_of_64_bits_cross_locations_and_texel_buffers_are_textures() {
    let module = include_bytes!("languages/wide.spv");
    for target in MACHINES {
        verified(target, Options::default(), "wide.spv", Source::SpirV(module));
    }
}

#[test]
fn uniforms_of_opengl_outside_of_blocks_lie_by_std140_in_the_order_of_their_locations() {
    for name in ["opengl.vert.spv", "opengl.frag.spv", "opengl.comp.spv"] {
        let module = std::fs::read(path(name)).expect("a module");
        for target in MACHINES {
            verified(target, Options::default(), name, Source::SpirV(&module));
        }
    }
    // Three gains 16 bytes apart, a truth value, and two lights of 64 bytes: direction, gain, two columns, a truth value.
    let uniforms = "5,0,0,0, 6,0,0,0, 7,0,0,0, 1,0,0,0, 1,2,3,2, 1,0,0,0, 0,1,0,0, 1,0,0,0, 9,9,9,9, 9,9,9,9, 9,9,9,9, 0,0,0,0";
    let uniforms = format!("0.1=f32:{}", uniforms.replace(' ', ""));
    for target in ["interp", "r700", "valhall"] {
        let path = path("opengl.comp.spv");
        let args = ["run", &path, "--target", target, "--groups", "1", "--set", "0.0=f32:0,2,0"];
        let done = gpucc(&[&args[..], &["--set", &uniforms, "--dump", "0.0"]].concat());
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(shown.trim(), "0.0: 12 7 1", "{target}: {}", text(&done));
    }
}

#[test]
fn specialization_constants_are_computed_at_every_width() {
    let path = path("special.spv");
    let run = |more: &[&str]| {
        let args = ["run", &path, "--target", "interp", "--groups", "1", "--set", "0.0=zeros:16"];
        let done = gpucc(&[&args[..], &["--dump", "0.0:i32"], more].concat());
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    // -3 + 4294967293 is -6 in the low word and 0 in the high one.
    assert_eq!(run(&[]), "0.0: 0 -6 9 49");
    assert_eq!(run(&["--override", "3=5"]), "0.0: 0 10 25 49");
}

#[test]
fn a_built_in_value_of_another_stage_is_the_users_error_where_it_is_used() {
    let done = gpucc(&[&path("alien.spv"), "--target", "valhall"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    let rule = "the built-in value Position is not an output of a fragment shader";
    assert!(text(&done).contains(rule), "{}", text(&done));
    // It may be named by an entry point that does not touch it.
    let module = include_bytes!("languages/layer.spv");
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "layer.spv", Source::SpirV(module));
    }
    let done = gpucc(&[&path("layer.spv"), "--target", "r700"]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done));
    assert!(text(&done).contains("layers outside of geometry shaders"), "{}", text(&done));
}

/// Inputs of each vertex, indexed while the program runs, distances, blocks, two invocations and a buffer.
#[test]
fn geometry_shaders_are_read_from_both_languages_and_refused_where_they_are_not_built() {
    let text_of = include_str!("languages/strips.geom");
    verified(
        Target::Interp,
        Options::default(),
        "strips.geom",
        Source::Glsl(text_of, Stage::Geometry),
    );
    let module = include_bytes!("languages/strips.geom.spv");
    verified(Target::Interp, Options::default(), "strips.geom.spv", Source::SpirV(module));
    for (target, code) in [("valhall", 3), ("r700", 6), ("rogue", 6)] {
        for file in ["strips.geom", "strips.geom.spv"] {
            let done = gpucc(&[&path(file), "--target", target]);
            assert_eq!(done.status.code(), Some(code), "{target}: {}", text(&done));
            assert!(text(&done).contains("geometry shaders"), "{}", text(&done));
        }
    }
}

/// R700 reads textures of several samples, and stores to none. Valhall lacks neither.
#[test]
fn texels_of_several_samples_are_refused_for_the_silicon_where_they_are_stored_to() {
    for ending in ["comp", "comp.spv"] {
        for (file, target, code) in [
            ("samples_read", "r700", 6),
            ("samples_written", "r700", 3),
            ("samples_written", "r600", 3),
            ("samples_written", "g45", 3),
            ("samples_read", "valhall", 6),
            ("samples_written", "valhall", 6),
        ] {
            let done = gpucc(&[&path(&format!("{file}.{ending}")), "--target", target]);
            let shown = text(&done);
            assert_eq!(done.status.code(), Some(code), "{file}.{ending}, {target}: {shown}");
            let words = ["multisampled storage images", "storing texels of several samples"];
            assert!(shown.contains(words[usize::from(code == 3)]), "{shown}");
        }
    }
}

#[test]
fn what_the_silicon_lacks_is_said_in_the_words_of_its_table() {
    // Header, capabilities, memory model, entry point, LocalSize, a type, and a body with one instruction.
    let module = |instruction: &[u32]| -> Vec<u8> {
        let mut words = vec![0x0723_0203, 0x0001_0300, 0, 10, 0];
        words.extend([2 << 16 | 17, 1, 3 << 16 | 14, 0, 1]);
        words.extend([5 << 16 | 15, 4, 2, u32::from_le_bytes(*b"main"), 0]);
        words.extend([3 << 16 | 16, 2, 7, 2 << 16 | 19, 1, 3 << 16 | 33, 3, 1]);
        words.extend([5 << 16 | 54, 1, 2, 0, 3, 2 << 16 | 248, 4]);
        words.extend(instruction);
        words.extend([1 << 16 | 253, 1 << 16 | 56]);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    let folder = Folder::new("lacks");
    let path = folder.write("lack.spv", module(&[1 << 16 | 5364]));
    for target in ["r700", "valhall"] {
        let done = gpucc(&[&path, "--target", target]);
        assert_eq!(done.status.code(), Some(3), "{}", text(&done));
        assert!(text(&done).contains("fragment shader interlock"), "{}", text(&done));
    }
}

/// What the sources of the reader say that they lack: the words of each call, with `…` for what is put in.
pub fn lacks_of(source: &str) -> Vec<String> {
    let quoted = |text: &str| text.split('"').nth(1).map(str::to_owned);
    let mut found = Vec::new();
    for (call, plain) in [("Stop::unsupported(", false), ("lacking(\"", true)] {
        for (at, _) in source.match_indices(call) {
            let (before, behind) = (&source[..at], source[at + call.len()..].trim_start());
            let text = if plain {
                behind.split('"').next().map(str::to_owned)
            } else if behind.starts_with('"') || behind.starts_with("format!(") {
                quoted(behind)
            } else if behind.starts_with('*') {
                None
            } else {
                before.rsplit('"').nth(1).map(str::to_owned)
            };
            found.extend(text);
        }
    }
    let dotted = |text: String| {
        let mut out = String::new();
        let mut inside = false;
        for c in text.chars() {
            match c {
                '{' => out.push('…'),
                '}' => {}
                c if !inside => out.push(c),
                _ => {}
            }
            inside = c == '{' || inside && c != '}';
        }
        out
    };
    found.into_iter().map(dotted).collect()
}

#[test]
fn the_page_of_spirv_lists_what_the_reader_lacks() {
    let root = format!("{}/..", env!("CARGO_MANIFEST_DIR"));
    let folder = std::fs::read_dir(format!("{root}/frontend/src/spirv")).expect("it is there");
    let mut lacks = std::collections::BTreeSet::new();
    for file in folder {
        let path = file.expect("readable").path();
        lacks.extend(lacks_of(&std::fs::read_to_string(path).expect("text")));
    }
    // What the readers share is the page's too.
    for file in ["located", "narrow", "quads"] {
        let path = format!("{root}/frontend/src/lower/{file}.rs");
        lacks.extend(lacks_of(&std::fs::read_to_string(path).expect("text")));
    }
    let page = std::fs::read_to_string(format!("{root}/docs/spirv.md")).expect("it is there");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let rows = rows.filter(|row| *row != "what").map(str::to_owned);
    let rows: std::collections::BTreeSet<String> = rows.collect();
    assert!(lacks.len() > 30, "few are found: {lacks:?}");
    let missing: Vec<_> = lacks.difference(&rows).collect();
    let stale: Vec<_> = rows.difference(&lacks).collect();
    assert!(missing.is_empty() && stale.is_empty(), "no row: {missing:#?}; no code: {stale:#?}");
}

/// What a module of `languages` leaves in a buffer of integers on each target.
#[track_caller]
fn leaves(file: &str, sets: &[&str], dump: &str, targets: &[&str], wanted: &str) {
    for target in targets {
        let path = path(file);
        let mut args = vec!["run", &path, "--target", target, "--groups", "1", "--dump", dump];
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        let done = gpucc(&args);
        let shown = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        assert_eq!(shown, wanted, "{file} on {target}: {}", text(&done));
    }
}

const ALL: [&str; 4] = ["interp", "r700", "valhall", "g45"];

#[test]
fn operations_on_constants_read_and_make_every_composite() {
    // Lanes of zeros and of no vector, insertion into an array of structures, remainders of both kinds, a choice of whole
    // vectors, conversions, shifts, logic; the bits of 1.5 within a matrix; a component of a computed vector.
    let wanted = "0.0: -7 0 3 -7 0 0 2 -1 -2 3 -7 -7 15 -4 6 7 3 0 1431655763 -6 1069547520 6";
    leaves("composites.spv", &["0.0=zeros:88"], "0.0:i32", &ALL, wanted);
}

#[test]
fn dot_products_of_integers_are_exact_and_saturate() {
    // Worked out by hand from the bytes 5, 127, -1, -128 and 127, 1, -128, -2.
    let wanted = "0.0: -2130739451 -25165441 1146 65914 -31878 2147483647 -2147481854 -1 32539 -31878 32767 50134300 -2147483648";
    let set = "0.0=u32:2164227845,4269801855,0,0,0,0,0,0,0,0,0,0,0";
    leaves("dots.spv", &[set], "0.0:i32", &ALL, wanted);
}

#[test]
fn votes_and_ballots_of_the_first_extensions_are_read() {
    for file in ["votes.comp.spv", "votes.comp"] {
        let sets = ["0.0=i32:3,8,5,1", "0.1=zeros:128"];
        let wanted = "0.1: 13 0 1 0 13 0 1 0 13 0 1 0 13 0 1 0 1 5 3 0 1 5 3 0 1 5 3 0 1 5 3 0";
        leaves(file, &sets, "0.1:i32", &["interp", "valhall"], wanted);
    }
}

#[test]
fn each_counter_of_opengl_is_a_buffer_of_its_own_in_both_languages() {
    for file in ["counters.comp.spv", "counters.comp"] {
        let sets = ["0.0=zeros:24", "0.1=u32:40", "0.2=u32:50,60,70"];
        leaves(file, &sets, "0.0:i32", &["interp", "valhall"], "0.0: 40 69 60 41 65 50");
    }
}

#[test]
fn exponents_of_8_and_64_bits_have_their_signs() {
    let module = include_bytes!("languages/powers.spv");
    for target in MACHINES {
        verified(target, Options::default(), "powers.spv", Source::SpirV(module));
    }
    let path = path("powers.spv");
    for (word, powers) in [("-1", "0.75 0"), ("1", "3 inf"), ("0", "1.5 1.5")] {
        let word = format!("0.0=i32:{word}");
        let args = ["run", &path, "--target", "interp", "--groups", "1", "--dump", "0.1:f32"];
        let done = gpucc(&[&args[..], &["--set", &word, "--set", "0.1=zeros:8"]].concat());
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(shown.trim(), format!("0.1: {powers}"), "{word}: {}", text(&done));
    }
}

#[test]
fn blocks_of_workgroup_memory_are_views_of_the_same_bytes() {
    for target in MACHINES {
        // It writes nothing that could be compared.
        let done = gpucc(&[&path("shared.spv"), "--target", target.name()]);
        assert!(done.status.success(), "{}: {}", target.name(), text(&done));
    }
    // Halves, bytes, words behind both were written, the middle of 64 bits, words behind 64 bits were, and a row-major matrix.
    let wanted = "0.0: 770 1798 2826 3854 4 7 10 13 10547200 10613008 10678816 10744624 986637 151 10547200 117835012";
    for file in ["overlaid.comp.spv", "overlaid.comp"] {
        leaves(file, &["0.0=zeros:64"], "0.0:u32", &["interp", "valhall", "g45"], wanted);
    }
}

#[test]
fn fragments_read_the_distances_that_vertices_clip_by() {
    let folder = Folder::new("distances");
    for target in ["interp", "r700", "valhall", "g45"] {
        let (module, picture) = (path("distances.spv"), folder.path("picture.png"));
        let args = ["--target", target, "--size", "8x8", "--draw", "3", "-o", &picture];
        let done = gpucc(&[&["render", &module], &args[..]].concat());
        assert!(done.status.success(), "{target}: {}", text(&done));
        let pixels = pixels(&picture);
        for (number, pixel) in pixels.chunks(4).enumerate() {
            let at = |n: usize| (n as f32 + 0.5) / 4.0 - 1.0;
            let (x, y) = (at(number % 8), -at(number / 8));
            // Clipped by x and by y + 1 / 2, which it shows as green, blue and red.
            let level = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round();
            let wanted = match x >= 0.0 && y + 0.5 >= 0.0 {
                true => [level(y + 0.5), level(x), level(x), 255.0],
                false => continue,
            };
            for (own, wanted) in pixel.iter().zip(wanted) {
                let apart = (f32::from(*own) - wanted).abs();
                assert!(apart <= 1.0, "{target}, pixel {number}: {pixel:?}, {wanted}");
            }
        }
        let corner = &pixels[4 * 63..];
        let cut = [&pixels[..4], corner];
        assert!(cut.iter().all(|pixel| pixel[..3] == [0; 3]), "{target}: {cut:?}");
    }
}
