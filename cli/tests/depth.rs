//! Depth tests before and behind fragment programs: which pixels store, and what the picture and the depths are.

use gpucc::execute::shade::{Draw, Program};
use gpucc::{Choice, Compiler, Options, Source, SourceText, Target};
use gpucc_emu::draw::{self, DepthState, Targets};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::Compare;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::ResourceKind;

const SIZE: u32 = 16;

/// What becomes of a third of the pixels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// They are drawn as the others are.
    Drawn,
    /// They are discarded.
    Discarded,
    /// They leave no sample of their mask.
    Masked,
}

/// Three triangles, one behind the other's back, cover the target: in the middle, behind it, before it. Each pixel that runs
/// counts itself in a number of its own for each triangle.
fn scene(early: bool, fate: Fate, depth: bool) -> String {
    let attribute = if early { "@early_depth_test(force)" } else { "" };
    let gone = "(at + at / 16u + n) % 3u == 0u";
    let discard = match fate {
        Fate::Discarded => format!("if ({gone}) {{ discard; }}"),
        _ => String::new(),
    };
    let (member, value) = match (depth, fate) {
        (true, _) => ("@builtin(frag_depth) depth: f32", "1.0 - p.z * 0.5".to_owned()),
        (false, Fate::Masked) => {
            ("@builtin(sample_mask) mask: u32", format!("select(1u, 0u, {gone})"))
        }
        (false, _) => ("@location(1) other: f32", "p.z".to_owned()),
    };
    format!(
        "struct V {{ @builtin(position) p: vec4f, @location(0) @interpolate(flat) n: u32 }}
        @vertex fn vs(@builtin(vertex_index) v: u32, @builtin(instance_index) n: u32) -> V {{
            let z = select(select(0.25, 0.75, n == 1u), 0.5, n == 0u);
            return V(vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, z, 1.0), n);
        }}
        struct F {{ @location(0) color: vec4f, {member} }}
        @group(0) @binding(0) var<storage, read_write> ran: array<u32, 768>;
        @fragment {attribute} fn fs(@builtin(position) p: vec4f, @location(0) @interpolate(flat) n: u32) -> F {{
            let at = u32(p.y) * 16u + u32(p.x);
            ran[n * 256u + at] = n + 1u;
            {discard}
            return F(vec4f(f32(n) / 3.0, 1.0, 0.0, 1.0), {value});
        }}"
    )
}

/// Bytes of the colours, of the depths, and of what was counted.
fn drawn(target: Target, chip: Option<&str>, source: &str) -> [Vec<u8>; 3] {
    let compiler = Compiler::new(target, chip).expect("built");
    let options = Options::default();
    let parsed = compiler.parse(Source::Wgsl(source), Choice::default(), &options).expect("valid");
    let text = SourceText::new("depth.wgsl", Some(source.to_owned()));
    let compiled: Vec<_> = parsed
        .entries
        .iter()
        .map(|entry| {
            let func = entry.func.as_ref().expect("lowered");
            compiler.compile(func, &options).expect("compiles")
        })
        .collect();
    let mut executors: Vec<_> =
        compiled.iter().map(|compiled| compiler.executor(compiled, &options, &text)).collect();
    let [vertex, fragment] = &mut executors[..] else { panic!("two programs") };
    let mut bindings = Bindings::default();
    let resources = &compiled[1].ssa.resources;
    let stored =
        resources.iter().find(|(_, data)| matches!(data.kind, ResourceKind::Storage { .. }));
    let (stored, _) = stored.expect("the program stores");
    bindings.set(stored, Bound::Buffer(vec![0; 3 * 256 * 4]));
    let mut pair = Draw::new(
        Program::new(&compiled[0], vertex, Bindings::default()),
        Program::new(&compiled[1], fragment, bindings),
        &[],
    )
    .expect("links");
    let plane = |format| Image::new(format, Extent::plane(SIZE, SIZE)).expect("small");
    let colors = (0..pair.color_targets()).map(|_| plane(Format::Rgba32Float)).collect();
    let mut depth = plane(Format::Depth32Float);
    depth.fill([1f32.to_bits(); 4]);
    let mut targets = Targets { colors, depth: Some(depth) };
    let mut state = draw::Draw::new(3, 3, SIZE, SIZE);
    state.varyings = pair.varyings();
    state.depth = Some(DepthState { compare: Compare::Less, write: true });
    draw::draw(&state, &mut pair, &mut targets).expect("runs");
    let colors = targets.colors[0].bytes().to_vec();
    let depths = targets.depth.expect("given").bytes().to_vec();
    [colors, depths, pair.fragment.bindings.get(stored, 0).bytes().to_vec()]
}

/// Pixels of each triangle that ran.
fn ran(counted: &[u8]) -> [usize; 3] {
    let words: Vec<u8> = counted.chunks(4).map(|word| word[0]).collect();
    [0, 1, 2].map(|n| words[n * 256..][..256].iter().filter(|&&word| word != 0).count())
}

#[test]
fn pictures_depths_and_stores_are_the_same_whenever_depth_is_tested() {
    // Chips of Rogue differ in their output registers: what has none is in memory.
    let machines = [
        (Target::R700, None),
        (Target::VALHALL, None),
        (Target::ROGUE, None),
        (Target::ROGUE, Some("axe1_16m")),
        (Target::ROGUE, Some("bxs_4_64")),
    ];
    for (early, fate, depth) in [
        (false, Fate::Drawn, false),
        (false, Fate::Discarded, false),
        (false, Fate::Masked, false),
        (false, Fate::Drawn, true),
        (true, Fate::Drawn, false),
        (true, Fate::Discarded, false),
        (true, Fate::Masked, false),
        (true, Fate::Discarded, true),
    ] {
        let source = scene(early, fate, depth);
        let reference = drawn(Target::Interp, None, &source);
        // The middle one hides the one behind it, but for the pixels that the first test does not know of.
        let hidden = if early { 0 } else { 256 };
        assert_eq!(ran(&reference[2]), [256, hidden, 256], "early {early}, {fate:?}");
        for (target, chip) in machines {
            let machine = drawn(target, chip, &source);
            if target == Target::R700 && early && fate != Fate::Drawn {
                // docs/abi-r700.md: the depth of a pixel that may be killed is written behind the program. So the middle
                // triangle hides what it leaves something of, and no more.
                assert!(machine[1] != reference[1]);
                let stored = |n: usize, at: usize| machine[2][4 * (256 * n + at)] != 0;
                for at in 0..256 {
                    let is_left = (at + at / 16) % 3 != 0;
                    assert_eq!(stored(1, at), !is_left, "{fate:?}: {at}");
                    assert!(stored(0, at) && stored(2, at));
                }
                continue;
            }
            let which = ["colours", "depths", "stores"];
            for (n, what) in which.into_iter().enumerate() {
                let name = target.name();
                assert!(
                    machine[n] == reference[n],
                    "{what} on {name} ({chip:?}): early {early}, {fate:?}, own depth {depth}"
                );
            }
        }
    }
}
