//! The library on a thread with a quarter of a MiB of stack: any caller's thread will do.

use gpucc::{Choice, Compiler, Options, Source, Target};

const STACK: usize = 256 << 10;

/// Runs a test as a driver's small thread would.
fn on_small_thread(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let joined = thread.expect("a thread can be started").join();
    joined.unwrap_or_else(|payload| std::panic::resume_unwind(payload));
}

/// Functions that each call the one before within `around`, where `$f` is the call and `$k` the number.
fn nested(levels: usize, around: &str) -> String {
    let mut text = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 512>;\nfn g0() { o[0] += 1u; }\n".to_owned();
    for k in 1..=levels {
        let body = around.replace("$f", &format!("g{}()", k - 1));
        text.push_str(&format!("fn g{k}() {{ {} }}\n", body.replace("$k", &k.to_string())));
    }
    text + &format!("@compute @workgroup_size(1) fn main() {{ g{levels}(); }}\n")
}

#[test]
fn deep_loops_are_read_compiled_and_printed() {
    on_small_thread(|| {
        let options = Options::default();
        // R700's stack of a stage has 128 entries.
        for (target, levels) in [(Target::R700, 100), (Target::VALHALL, 200), (Target::Interp, 200)]
        {
            let around = "for (var i = 0u; i < o[$k]; i++) { if (o[i] > 3u) { $f; } }";
            let text = nested(levels, around);
            let compiler = Compiler::new(target, None).expect("the target is built");
            let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
            let parsed = parsed.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            let entry = parsed.entries.into_iter().next().expect("an entry point");
            let func = entry.func.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            let compiled = compiler.compile(&func, &options);
            let compiled = compiled.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            assert_eq!(compiled.program.is_some(), target != Target::Interp);
            assert!(gpucc::cfg(&compiled.ssa).contains("digraph"));
            // What was printed is read again.
            let printed = gpucc::print_ir(&compiled.ssa);
            let again = compiler.parse(Source::Ir(&printed), Choice::default(), &options);
            let again = again.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            let func = again.entries.into_iter().next().expect("an entry point").func;
            let func = func.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            assert_eq!(func.live_insts(), compiled.ssa.live_insts());
        }
    });
}

#[test]
fn every_sample_compiles() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
    for file in std::fs::read_dir(folder).expect("the samples") {
        let path = file.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "wgsl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        on_small_thread(move || {
            for target in [Target::R700, Target::VALHALL] {
                let compiler = Compiler::new(target, None).expect("the target is built");
                let options = Options::default();
                let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
                let parsed = parsed.unwrap_or_else(|failure| panic!("{}", failure.summary()));
                for func in parsed.entries.into_iter().filter_map(|entry| entry.func.ok()) {
                    if let Err(failure) = compiler.compile(&func, &options) {
                        assert_ne!(failure.exit_code(), 101, "{}", failure.summary());
                    }
                }
            }
        });
    }
}

/// A stack beyond the share of a stage is refused, and never written into its neighbour.
#[test]
fn loops_deeper_than_the_stack_are_a_limit() {
    let text = nested(240, "for (var i = 0u; i < o[$k]; i++) { if (o[i] > 3u) { $f; } }");
    let compiler = Compiler::new(Target::R700, None).expect("it is built");
    let options = Options::default();
    let mut parsed =
        compiler.parse(Source::Wgsl(&text), Choice::default(), &options).expect("it parses");
    let func = parsed.entries.remove(0).func.expect("it lowers");
    let failure = compiler.compile(&func, &options).err().expect("too deep");
    assert_eq!(failure.exit_code(), 4);
    assert!(failure.summary().contains("stack entries"), "{failure}");
}

#[test]
fn brackets_and_operators_up_to_the_limits_are_read() {
    on_small_thread(|| {
        let compiler = Compiler::new(Target::Interp, None).expect("it is built");
        let sum = "+ o ".repeat(900);
        let deep = format!("{}o{}", "(".repeat(100), ")".repeat(100));
        for expression in [format!("o {sum}"), deep, format!("{}o", "- ".repeat(900))] {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> o: i32;\n@compute @workgroup_size(1) fn main() {{ o = {expression}; }}\n"
            );
            let parsed =
                compiler.parse(Source::Wgsl(&text), Choice::default(), &Options::default());
            let parsed = parsed.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            let entry = parsed.entries.into_iter().next().expect("an entry point");
            let func = entry.func.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            assert!(compiler.compile(&func, &Options::default()).is_ok());
        }
    });
}

/// A compute shader of SPIR-V with so many selections, each in the one before.
fn nested_selections(count: u32) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100 + 2 * count, 0];
    let mut inst = |code: u32, operands: &[u32]| {
        words.push((operands.len() as u32 + 1) << 16 | code);
        words.extend(operands);
    };
    inst(17, &[1]);
    inst(14, &[0, 1]);
    inst(15, &[5, 5, u32::from_le_bytes(*b"main"), 0]);
    inst(16, &[5, 17, 1, 1, 1]);
    inst(19, &[1]);
    inst(33, &[2, 1]);
    inst(20, &[3]);
    inst(41, &[3, 4]);
    inst(54, &[1, 5, 0, 2]);
    inst(248, &[6]);
    for k in 0..count {
        let (then, merge) = (100 + 2 * k, 101 + 2 * k);
        inst(247, &[merge, 0]);
        inst(250, &[4, then, merge]);
        inst(248, &[then]);
    }
    for k in (0..count).rev() {
        inst(249, &[101 + 2 * k]);
        inst(248, &[101 + 2 * k]);
    }
    inst(253, &[]);
    inst(56, &[]);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn selections_of_spirv_are_read_with_a_thread_and_without() {
    on_small_thread(|| {
        let compiler = Compiler::new(Target::Interp, None).expect("it is built");
        // The first are read on the caller's thread.
        for count in [1, 15, 16, 200] {
            let mut module = nested_selections(count);
            for order in 0..2 {
                let source = Source::SpirV(&module);
                let parsed = compiler.parse(source, Choice::default(), &Options::default());
                let parsed = parsed.unwrap_or_else(|failure| panic!("{}", failure.summary()));
                assert!(parsed.entries[0].func.is_ok(), "{count} in order {order}");
                module.chunks_exact_mut(4).for_each(<[u8]>::reverse);
            }
        }
    });
}

/// Commas and assignments of GLSL nest, and what is kept of such a text is dropped by the caller's thread.
#[test]
fn rows_of_commas_and_assignments_are_read_kept_and_dropped() {
    on_small_thread(|| {
        let head = "#version 450\nlayout(constant_id = 0) const int n = 1;\nlayout(location = 0) out vec4 o;\n";
        for row in [", a".repeat(4000), " = a".repeat(400)] {
            let text =
                format!("{head}void main() {{ float a = 0.5; a{row}; o = vec4(a * float(n)); }}");
            let compiler = Compiler::new(Target::R700, None).expect("the target is built");
            let source = Source::Glsl(&text, gpucc::Stage::Fragment);
            let (kept, parsed) = compiler.read(source, &Options::default());
            parsed.unwrap_or_else(|failure| panic!("{}", failure.summary()));
            drop(kept.expect("it has a constant"));
        }
    });
}
