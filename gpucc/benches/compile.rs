//! `cargo bench -p gpucc`: our own time from SSA to bytes, for the samples and over sizes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gpucc::{Choice, Compiler, Func, Options, Source, Target};
use std::fmt::Write;
use std::path::Path;

/// Entry points of a source, front end done.
fn entries(compiler: &Compiler, source: Source<'_>, options: &Options) -> Vec<Func> {
    compiler
        .parse(source, Choice::default(), options)
        .expect("a valid source")
        .entries
        .into_iter()
        .map(|entry| entry.func.expect("a supported entry point"))
        .collect()
}

fn samples(criterion: &mut Criterion) {
    let compiler = Compiler::new(Target::R700, None).expect("r700 is built");
    let options = Options::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut group = criterion.benchmark_group("samples");
    for name in ["color", "saxpy", "phong", "noise", "quaternion", "raymarch"] {
        let text = std::fs::read_to_string(folder.join(name).with_extension("wgsl"))
            .expect("the sample is there");
        let funcs = entries(&compiler, Source::Wgsl(&text), &options);
        group.bench_function(name, |bench| {
            bench.iter(|| {
                for func in &funcs {
                    compiler.compile(func, &options).expect("it compiles");
                }
            });
        });
    }
    group.finish();
}

/// A compute function of about this many instructions: chains of arithmetic that end in stores.
fn text_of(instructions: usize) -> String {
    let mut text = String::from(
        "func \"main\" compute workgroup 64 1 1 trusted {\n  res0 = \"out\" group 0 binding 0 storage 0 stride 4 \
         load store as f32\n  in0 = \"id\" u32 x 3 builtin global_invocation_id\n} body {\n  %0: b32 = \
         input in0.0\n  %1: b32 = const 4\n  %2: b32 = imul %0, %1\n  %3: b32 = buffer_load res0, %2\n",
    );
    let mut last = 3;
    while last < instructions {
        let (a, b) = (last, last - (last % 3));
        let op = ["fadd", "fmul", "fsub", "fmax"][last % 4];
        let _ = writeln!(text, "  %{}: b32 = {op} %{a}, %{b}", last + 1);
        last += 1;
        if last % 64 == 0 {
            let _ = writeln!(text, "  buffer_store res0, %2, %{last}");
        }
    }
    let _ = writeln!(text, "  buffer_store res0, %2, %{last}\n  yield\n}}");
    text
}

fn sizes(criterion: &mut Criterion) {
    let compiler = Compiler::new(Target::R700, None).expect("r700 is built");
    let options = Options::default();
    let mut group = criterion.benchmark_group("sizes");
    group.sample_size(10);
    for instructions in [1_000usize, 4_000, 16_000] {
        let text = text_of(instructions);
        let funcs = entries(&compiler, Source::Ir(&text), &options);
        group.throughput(Throughput::Elements(instructions as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(instructions),
            &funcs,
            |bench, funcs| {
                bench.iter(|| compiler.compile(&funcs[0], &options).expect("it compiles"));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, samples, sizes);
criterion_main!(benches);
