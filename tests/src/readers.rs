//! Our reader of SPIR-V beside naga's: modules that both read give equal words on the interpreter, and how long reading
//! takes.

pub mod glsl;
mod interface;

use crate::corpus::{Module, producer};
use gpucc::verify::verify;
use gpucc::{Compiler, Kept, Options, SourceText};
use gpucc_frontend::{Parsed, Source, parse};
use gpucc_ir::ssa::{Func, ImageAccess, ResourceKind, SampleType, Scalar};
use gpucc_passes::Proof;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Modules that naga reads wrongly, or whose words SPIR-V leaves undefined, by the end of their path.
const NAGA_IS_WRONG: &[(&str, &str)] = &[
    ("bug__dawn__504511706-2.spv", "nothing writes the position"),
    ("EmitFunctions_Function_EntryPoint_Vertex.spv", "nothing writes the position"),
    ("only-initializer-frag-depth.asm.frag.spv", "an output's initializer counts (OpVariable)"),
    (
        "instancing__instancing.frag.spv",
        "a layer is rounded to nearest (Vulkan, array layer selection)",
    ),
    ("indirectdraw__indirectdraw.frag.spv", "as above"),
    ("complex-link-by-name.asm.vert.spv", "a structure without a block has a location (Location)"),
    ("global-builtin.sso.asm.vert.spv", "as above"),
    ("load-packed-no-forwarding-2.asm.comp.spv", "RowMajor counts (OpMemberDecorate)"),
    (
        "struct-array-data-as-loop-iterator__variant_fragment_shader.spv",
        "elements are read that nothing wrote",
    ),
    (
        "int_uclamp__0-opt.spv",
        "an instruction says whether its operands have a sign, not their types",
    ),
    ("int_umin__test.spv", "as above"),
    ("uint_sabs__0-opt.spv", "as above"),
    ("uint_sclamp__0-opt.spv", "as above"),
    ("uint_smax__0-opt.spv", "as above"),
    ("uint_smin__0-opt.spv", "as above"),
    ("srem.asm.frag.spv", "as above"),
    ("atomic-min-max-sign.asm.comp.spv", "as above, of atomics"),
    ("int_atomicumin__test.spv", "as above, of atomics"),
    ("uint_atomicsmin__test.spv", "as above, of atomics"),
];

/// What was found.
#[derive(Debug, Default)]
pub struct Tally {
    /// Modules that naga reads.
    pub modules: usize,
    /// Entry points that both read, with equal words.
    pub equal: usize,
    /// Of these without a word to compare on any input.
    pub silent: usize,
    /// Entry points whose words differ, or that one reader alone has.
    pub wrong: Vec<String>,
    /// Entry points of [`NAGA_IS_WRONG`] whose words differ.
    pub listed: usize,
    /// Entry points whose bindings, inputs or outputs differ, so that their words are not the same words.
    pub apart: usize,
    /// How long naga and ours took for each module, passes left out, by its producer.
    pub times: BTreeMap<&'static str, Vec<(Duration, Duration)>>,
}

fn read(bytes: &[u8], by_naga: bool) -> (Option<Parsed>, Duration) {
    let options = gpucc_frontend::Options {
        overrides_default: Some(1.0),
        keep_going: true,
        by_naga,
        ..Default::default()
    };
    let start = Instant::now();
    let parsed = parse(Source::SpirV(bytes), "module", &options);
    (parsed.ok(), start.elapsed())
}

/// What a binding is from outside; how it is accessed, and whether its texels are depths, the functions say.
fn outside(kind: ResourceKind) -> String {
    let mut kind = kind;
    if let ResourceKind::Storage { access, .. } | ResourceKind::StorageTexture { access, .. } =
        &mut kind
    {
        *access = ImageAccess { load: true, store: true, atomic: false };
    }
    if let ResourceKind::Texture { sample: sample @ SampleType::Depth, .. } = &mut kind {
        *sample = SampleType::Float;
    }
    if let ResourceKind::Sampler { .. } = kind {
        return "Sampler".to_owned();
    }
    format!("{kind:?}")
}

/// What a machine sees of a function from outside; integers of either sign, and depth textures and others, are alike.
fn interface(func: &Func) -> String {
    let mut text = String::new();
    for data in func.resources.values() {
        let mut kind = outside(data.kind);
        if let ResourceKind::Sampler { comparison } = data.kind {
            let _ = write!(kind, " {comparison}");
        }
        let _ = write!(text, "{}.{} {kind} {:?};", data.group, data.binding, data.count);
    }
    for data in func.inputs.values() {
        let scalar = if data.scalar == Scalar::I32 { Scalar::U32 } else { data.scalar };
        let _ = write!(text, "in {:?} {} {scalar:?};", data.kind, data.components);
    }
    for data in func.outputs.values() {
        let _ = write!(text, "out {:?} {} {:?};", data.kind, data.components, data.scalar);
    }
    text
}

/// Compares the readers on the modules that naga reads, on so many inputs of each entry point.
pub fn run(compiler: &Compiler, corpus: &Path, modules: &[Module], inputs: u32) -> Tally {
    let mut tally = Tally::default();
    let options = Options::default();
    for module in modules {
        let Ok(bytes) = std::fs::read(corpus.join(&module.path)) else {
            tally.wrong.push(format!("{}: cannot be read", module.path));
            continue;
        };
        let (Some(theirs), slow) = read(&bytes, true) else {
            continue;
        };
        tally.modules += 1;
        let (Some(ours), fast) = read(&bytes, false) else {
            tally.wrong.push(format!("{}: naga alone reads it", module.path));
            continue;
        };
        tally.times.entry(producer(&bytes)).or_default().push((slow, fast));
        for mut their in theirs.module.funcs {
            let name = format!("{} {}", module.path, their.name);
            let own = ours.module.funcs.iter();
            let mut own = own.filter(|own| own.name == their.name && own.stage == their.stage);
            let Some(own) = own.next() else {
                tally.wrong.push(format!("{name}: naga alone lowers it"));
                continue;
            };
            let mut own = own.clone();
            let are_named = interface::align(&mut their, &mut own);
            if !are_named || interface(&own) != interface(&their) {
                tally.apart += 1;
                continue;
            }
            match compare(compiler, &options, &their, &own, inputs) {
                Ok(true) => tally.equal += 1,
                Ok(false) => {
                    tally.equal += 1;
                    tally.silent += 1;
                }
                Err(_) if NAGA_IS_WRONG.iter().any(|(end, _)| module.path.ends_with(end)) => {
                    tally.listed += 1;
                }
                Err(message) => tally.wrong.push(format!("{name}: {message}")),
            }
        }
    }
    tally
}

/// Runs both on the same inputs; whether any word was compared.
fn compare(
    compiler: &Compiler,
    options: &Options,
    their: &Func,
    own: &Func,
    inputs: u32,
) -> Result<bool, String> {
    let compiled = compiler.compile(their, options);
    let mut compiled = compiled.map_err(|failure| failure.summary().to_owned())?;
    let kept = |name, func: &Func| Kept { name, proof: Proof::Exact, func: func.clone() };
    compiled.steps = vec![kept("naga", their), kept("ours", own)];
    compiled.ssa = own.clone();
    let source = SourceText::new("module", None);
    let found = verify(compiler, &compiled, &source, options, inputs, 1);
    let found = found.map_err(|failure| failure.summary().to_owned())?;
    match &found.first {
        Some(first) => Err(format!("MISMATCH {first}")),
        None => Ok(found.words > 0),
    }
}

impl Tally {
    /// The table.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let Tally { modules, equal, silent, listed, wrong, apart, .. } = self;
        let _ = writeln!(
            text,
            "{modules} modules that naga reads: {equal} entry points with equal words ({silent} of them with none to compare), {} wrong, {listed} where naga is, {} with another interface",
            wrong.len(),
            apart,
        );
        for line in wrong {
            let _ = writeln!(text, "  {line}");
        }
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            times.get(times.len() / 2).copied().unwrap_or_default().as_micros()
        };
        let mut line = |what: &str, times: &[(Duration, Duration)]| {
            let naga = median(times.iter().map(|pair| pair.0).collect());
            let ours = median(times.iter().map(|pair| pair.1).collect());
            let count = times.len();
            let _ = writeln!(
                text,
                "{what}: median {naga} us by naga, {ours} us by ours, {count} modules"
            );
        };
        for (producer, times) in &self.times {
            line(producer, times);
        }
        let all: Vec<_> = self.times.values().flatten().copied().collect();
        line("reading, without passes", &all);
        text
    }

    /// Nothing differs.
    pub fn holds(&self) -> bool {
        self.wrong.is_empty() && self.equal > 0
    }
}
